"""Which added tokens are control tokens, and which end a turn."""

from __future__ import annotations

import pytest

from maskwright.vocabulary.special import chat_end_ids, is_marker


@pytest.mark.parametrize(
    "text",
    [
        "<|im_end|>",
        "<｜User｜>",
        "｜DSML｜",
        "<think>",
        "</think>",
        "<tool_call>",
        "<unused49>",
        "[INST]",
        "[/TOOL_CALLS]",
        "[control_36]",
        "<|channel>",
        "<channel|>",
        "</s>",
    ],
)
def test_markers(text: str) -> None:
    assert is_marker(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "    ",
        "\n\n",
        "word",
        "<table>",
        "</h1>",
        "<br/>",
        "< a",
        "<a b>",
        "[]",
        "[1]",
        "<",
        "||",
        "a|b",
    ],
)
def test_text(text: str) -> None:
    assert not is_marker(text)


def test_chat_ends_are_found_by_exact_text() -> None:
    assert chat_end_ids({"<|im_end|>": 9, "<|im_start|>": 8, "</s>": 2, "<|im_end|> ": 3}) == [2, 9]


def test_a_message_end_is_no_turn_end_in_the_channel_format() -> None:
    assert chat_end_ids({"<|end|>": 1}) == [1]
    assert chat_end_ids({"<|end|>": 1, "<|channel|>": 2, "<|return|>": 3}) == [3]
