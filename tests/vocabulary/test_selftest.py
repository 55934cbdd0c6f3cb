"""The self-test finds each kind of fault, and nothing in a sound vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from maskwright.vocabulary import TokenizerInfo, VocabType
from maskwright.vocabulary.selftest import SAMPLES, SelfTestReport, run_self_test

BYTES = [bytes([byte]) for byte in range(256)]


def byte_encoder(text: str) -> Sequence[int]:
    return list(text.encode())


def checks(report: SelfTestReport, severity: str) -> list[str]:
    return [problem.check for problem in report.problems if problem.severity == severity]


def test_a_sound_vocabulary() -> None:
    report = run_self_test(TokenizerInfo([*BYTES, "</s>"]), byte_encoder)
    assert report.ok
    assert report.problems == ()
    assert report.round_trip == len(SAMPLES)
    assert (report.n_text_tokens, report.n_special_tokens, len(report.single_byte_tokens)) == (256, 0, 256)
    assert str(report).startswith("vocabulary self-test: ok\n  257 ids: 256 text, 0 special\n")


def test_without_an_encoder_the_round_trip_is_said_to_be_missing() -> None:
    report = TokenizerInfo([*BYTES, "</s>"]).self_test()
    assert report.ok
    assert report.round_trip == 0
    assert "not run" in str(report)


def test_no_stop_token() -> None:
    report = TokenizerInfo(BYTES).self_test()
    assert checks(report, "error") == ["stop tokens"]
    assert "terminate_without_stop_token" in str(report)


@pytest.mark.parametrize(("mark", "wanted"), [("▁", VocabType.BYTE_FALLBACK), ("Ġ", VocabType.BYTE_LEVEL)])
def test_spelled_tokens_given_as_bytes(mark: str, wanted: VocabType) -> None:
    tokens = [f"{mark}a", "b", "</s>"]
    report = TokenizerInfo(tokens).self_test()
    (problem,) = [problem for problem in report.problems if problem.check == "spelling"]
    assert problem.severity == "error"
    assert wanted.name in problem.hint
    assert problem.token_ids == (0,)
    right = TokenizerInfo(tokens, wanted).self_test()
    assert "spelling" not in checks(right, "error")


def test_tokens_that_were_decoded_to_text() -> None:
    report = TokenizerInfo([*BYTES, "\ufffd", "\ufffd", "a\ufffd", "</s>"]).self_test()
    assert "spelling" in checks(report, "error")
    assert "3 tokens hold the replacement character" in str(report)


def test_a_real_replacement_character_is_fine() -> None:
    assert TokenizerInfo([*BYTES, "\ufffd", "</s>"]).self_test().problems == ()


@pytest.mark.parametrize(
    ("byte", "severity"), [(0x01, "warning"), (0xF2, "warning"), (0x22, "error"), (0x80, "error")]
)
def test_missing_bytes(byte: int, severity: str) -> None:
    report = TokenizerInfo([*BYTES[:byte], *BYTES[byte + 1 :], "</s>"]).self_test()
    assert report.missing_bytes == {byte}
    assert checks(report, severity) == ["coverage"]
    assert f"{byte:02X}" in str(report)


def test_bytes_that_utf8_never_has_may_be_missing() -> None:
    tokens = [raw for raw in BYTES if raw[0] not in {0xC0, 0xC1, *range(0xF5, 0x100)}]
    assert TokenizerInfo([*tokens, "</s>"]).self_test().problems == ()


def test_bytes_without_a_token_of_their_own_are_listed_in_runs() -> None:
    tokens = [raw if raw not in (b"a", b"b", b"d") else raw + b"." for raw in BYTES]
    report = TokenizerInfo([*tokens, "</s>"]).self_test()
    assert report.ok
    assert "the bytes 61-62 64 have no token of their own" in str(report)


def test_duplicates() -> None:
    report = TokenizerInfo([*BYTES, "a", "xy", "xy", "</s>"]).self_test()
    assert report.ok
    assert report.duplicates == ((0x61, 256), (257, 258))
    assert checks(report, "warning") == ["bijection"]


def test_byte_fallback_has_ascii_twice_and_that_is_no_problem() -> None:
    tokens = [f"<0x{byte:02X}>" for byte in range(256)] + ["a", "▁", "</s>"]
    report = TokenizerInfo(tokens, VocabType.BYTE_FALLBACK).self_test()
    assert report.problems == ()
    assert report.duplicates == ((0x20, 257), (0x61, 256))


def test_shifted_ids_break_the_round_trip_at_the_first_token() -> None:
    report = run_self_test(TokenizerInfo([*BYTES, "</s>"]), lambda text: [byte + 1 for byte in text.encode()])
    assert checks(report, "error") == ["round trip"] * len(SAMPLES)
    assert report.problems[0].token_ids == (ord("T") + 1,)
    assert "part at byte 0" in report.problems[0].explanation


def test_a_text_that_comes_back_shorter() -> None:
    report = run_self_test(TokenizerInfo([*BYTES, "</s>"]), lambda text: list(text.encode())[:-1])
    assert f"part at byte {len(SAMPLES[0].encode()) - 1}" in report.problems[0].explanation


def test_a_prefix_space_is_allowed_only_where_it_is_declared() -> None:
    def encode(text: str) -> Sequence[int]:
        return list(f" {text}".encode())

    assert run_self_test(TokenizerInfo([*BYTES, "</s>"], add_prefix_space=True), encode).ok
    assert not run_self_test(TokenizerInfo([*BYTES, "</s>"]), encode).ok


def test_ids_beyond_the_vocabulary() -> None:
    report = run_self_test(TokenizerInfo([*BYTES, "</s>"]), lambda text: [0, 999])
    assert report.problems[0].token_ids == (999,)
    assert "vocab_size is too small" in report.problems[0].hint


def test_a_tokenizer_that_raises_is_reported_once() -> None:
    def encode(text: str) -> Sequence[int]:
        raise RuntimeError("closed")

    report = run_self_test(TokenizerInfo([*BYTES, "</s>"]), encode)
    assert [problem.check for problem in report.problems] == ["round trip"]
    assert "RuntimeError: closed" in str(report)


def test_an_empty_vocabulary() -> None:
    report = TokenizerInfo([]).self_test()
    assert set(checks(report, "error")) == {"stop tokens", "coverage"}
