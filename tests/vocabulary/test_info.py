"""`TokenizerInfo` itself: kinds of tokens, widths, storing, errors."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo, VocabType
from tests.vocabulary.test_table import tokens_of


def text_ids(info: TokenizerInfo) -> list[int]:
    return sorted(token_id for _, token_id in tokens_of(info._token_table()))


def test_a_bare_list_has_only_empty_and_padding_ids_special() -> None:
    info = TokenizerInfo(["a", "", "<|im_start|>", "</s>"], vocab_size=6)
    assert info.special_token_ids == [1, 4, 5]
    assert info.stop_token_ids == [3]
    assert text_ids(info) == [0, 2]
    assert info.vocab_size == 6
    assert len(info.decoded_vocab) == 4


def test_given_special_tokens_are_not_text_and_keep_their_name() -> None:
    info = TokenizerInfo(["Ġa", "<｜User｜>", "é"], VocabType.BYTE_LEVEL, special_token_ids=[1, 2])
    assert info.decoded_vocab == [b" a", "<｜User｜>".encode(), "é".encode()]
    assert text_ids(info) == [0]


def test_empty_tokens_stay_special_when_none_are_wished() -> None:
    assert TokenizerInfo(["", "a"], special_token_ids=[]).special_token_ids == [0]


@pytest.mark.parametrize(
    "name",
    [
        "</s>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<eos>",
        "<|eos|>",
        "<end_of_turn>",
        "<｜end▁of▁sentence｜>",
    ],
)
def test_stop_tokens_are_detected_by_text(name: str) -> None:
    for kind in (VocabType.RAW, VocabType.BYTE_LEVEL):
        info = TokenizerInfo(["a", name, name + " "], kind)
        assert info.stop_token_ids == [1]
        assert text_ids(info) == [0, 2]


def test_given_stop_tokens_replace_the_detected_ones() -> None:
    tokens = ["a", "</s>", "b"]
    assert TokenizerInfo(tokens, stop_token_ids=2).stop_token_ids == [2]
    assert TokenizerInfo(tokens, stop_token_ids=[2, 0, 2]).stop_token_ids == [2, 0]
    none = TokenizerInfo(tokens, stop_token_ids=[])
    assert none.stop_token_ids == []
    assert text_ids(none) == [0, 1, 2]


def test_a_stop_token_may_lie_in_the_padding() -> None:
    info = TokenizerInfo(["a"], vocab_size=3, stop_token_ids=[2])
    assert info.stop_token_ids == [2]
    assert text_ids(info) == [0]


def test_a_narrower_width_drops_tokens_and_their_stops() -> None:
    info = TokenizerInfo(["a", "b", "</s>"], vocab_size=2)
    assert (info.vocab_size, info.decoded_vocab, info.stop_token_ids) == (2, [b"a", b"b"], [])
    assert text_ids(info) == [0, 1]


def test_an_empty_vocabulary_works() -> None:
    info = TokenizerInfo([])
    assert (info.vocab_size, info.decoded_vocab, info.special_token_ids) == (0, [], [])
    assert tokens_of(info._token_table()) == []
    assert TokenizerInfo.deserialize_json(info.serialize_json()) == info
    assert TokenizerInfo([], vocab_size=40).special_token_ids == list(range(40))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop_token_ids": [2]}, "stop token id 2 is outside the vocabulary of 2 tokens"),
        ({"stop_token_ids": -1}, "stop token id -1 is outside"),
        ({"special_token_ids": [5]}, "special token id 5 is outside"),
        ({"stop_token_ids": ["</s>"]}, "stop_token_ids must be token ids"),
        ({"stop_token_ids": "x"}, "stop_token_ids must be token ids"),
        ({"special_token_ids": [0.5]}, "special_token_ids must be token ids"),
        ({"vocab_size": -1}, "vocab_size must be a whole number"),
        ({"vocab_size": 2.5}, "vocab_size must be a whole number"),
        ({"vocab_size": 2**31}, "vocab_size must be a whole number"),
        ({"vocab_type": 3}, "3 is not a vocabulary type"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message) as caught:
        TokenizerInfo(["a", "b"], **arguments)
    assert caught.value.hint


def test_find_tokens_puts_special_tokens_first() -> None:
    info = TokenizerInfo(["<x>", "a", "<x>", "a"], special_token_ids=[2])
    assert info.find_tokens("<x>") == [2, 0]
    assert info.find_tokens(b"a") == [1, 3]
    assert info.find_tokens("nothing") == []


def test_lists_that_are_handed_out_do_not_lead_back() -> None:
    info = TokenizerInfo(["a", "", "</s>"])
    for ids in (info.stop_token_ids, info.special_token_ids, info.find_tokens("a")):
        ids.append(99)
    assert (info.stop_token_ids, info.special_token_ids, info.find_tokens("a")) == ([2], [1], [0])


# ---- content hash, storing ------------------------------------------------------------------------

TOKENS = st.lists(st.binary(max_size=4), min_size=1, max_size=12)


@st.composite
def infos(draw: st.DrawFn) -> TokenizerInfo:
    tokens = draw(TOKENS)
    size = draw(st.integers(0, len(tokens) + 3))
    ids = st.lists(st.integers(0, size - 1), max_size=3) if size else st.just([])
    return TokenizerInfo(
        tokens,
        vocab_size=size,
        stop_token_ids=draw(ids),
        special_token_ids=draw(ids),
        add_prefix_space=draw(st.booleans()),
    )


def content(info: TokenizerInfo) -> tuple[object, ...]:
    return (
        info.decoded_vocab,
        info.vocab_size,
        info.vocab_type,
        info.add_prefix_space,
        info.stop_token_ids,
        info.special_token_ids,
        info.fingerprint,
    )


@given(infos())
def test_every_way_of_storing_gives_the_same_vocabulary(info: TokenizerInfo) -> None:
    assert content(TokenizerInfo.deserialize_json(info.serialize_json())) == content(info)
    assert content(pickle.loads(pickle.dumps(info))) == content(info)
    again = TokenizerInfo.from_vocab_and_metadata(info.decoded_vocab, info.dump_metadata())
    assert content(again) == content(info)


@given(infos(), infos())
def test_fingerprints_are_equal_iff_the_contents_are(one: TokenizerInfo, other: TokenizerInfo) -> None:
    def meaning(info: TokenizerInfo) -> tuple[object, ...]:
        return info.decoded_vocab, info.vocab_size, set(info.stop_token_ids), info.special_token_ids

    assert (one.fingerprint == other.fingerprint) == (meaning(one) == meaning(other))
    assert (one == other) == (meaning(one) == meaning(other))


def test_the_fingerprint_is_stable() -> None:
    """A stored fingerprint must stay valid: change the number in its prefix if this has to change."""
    info = TokenizerInfo([b"a", b"\xff\x00", b"</s>", b""], vocab_size=6)
    assert info.fingerprint == ("b993ce31bff0325fb8375de39114d6f89777765a1e2739ac0444bdd101e2a67e")


def test_the_boundary_between_tokens_counts() -> None:
    assert TokenizerInfo(["ab", "c"]) != TokenizerInfo(["a", "bc"])


def test_equality_with_other_things() -> None:
    info = TokenizerInfo(["a"])
    assert info != "a"
    assert hash(info) == hash(TokenizerInfo(["a"]))


def test_metadata_written_by_xgrammar_is_accepted() -> None:
    metadata = '{"vocab_type":1,"vocab_size":4,"add_prefix_space":true,"stop_token_ids":[2]}'
    info = TokenizerInfo.from_vocab_and_metadata(["▁a", "<0x0A>", "</s>"], metadata)
    assert (info.decoded_vocab, info.vocab_size) == ([b" a", b"\n", b"</s>"], 4)
    assert (info.stop_token_ids, info.special_token_ids, info.add_prefix_space) == ([2], [3], True)
    assert set(json.loads(metadata)) < set(json.loads(info.dump_metadata()))


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "[]",
        "{}",
        '{"vocab_type":"RAW","vocab_size":1,"add_prefix_space":false,"stop_token_ids":[]}',
        "null",
    ],
)
def test_bad_metadata(metadata: str) -> None:
    with pytest.raises(VocabularyError, match="vocabulary metadata"):
        TokenizerInfo.from_vocab_and_metadata(["a"], metadata)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a stored vocabulary"),
        ({"version": 99}, "version 99"),
        ({"metadata": None}, "no metadata"),
        ({"token_lengths": [1, 2]}, "damaged"),
        ({"token_lengths": [2, -1, 1]}, "damaged"),
        ({"token_bytes": "!!"}, "damaged"),
        ({"token_bytes": "Yg=="}, "does not match its fingerprint"),
        ({"fingerprint": "0"}, "does not match its fingerprint"),
    ],
)
def test_a_damaged_store_is_noticed(change: dict[str, Any], message: str) -> None:
    stored = json.loads(TokenizerInfo(["a"]).serialize_json())
    with pytest.raises(VocabularyError, match=message):
        TokenizerInfo.deserialize_json(json.dumps({**stored, **change}))


@pytest.mark.parametrize("text", ["", "{", "3", "[]"])
def test_text_that_is_no_store(text: str) -> None:
    with pytest.raises(VocabularyError, match="a stored vocabulary"):
        TokenizerInfo.deserialize_json(text)


def test_repr_is_short() -> None:
    assert repr(TokenizerInfo(["a", "</s>"])) == (
        "TokenizerInfo(vocab_size=2, vocab_type=RAW, special=0, stop_token_ids=[1])"
    )
