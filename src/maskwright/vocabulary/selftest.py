"""Looks for what is wrong with a vocabulary, and says so in words.

A wrong vocabulary does not crash: it makes masks that no text can satisfy, or that forbid the
tokens a model wants. The faults seen in practice each leave a trace that can be tested:

* tokens taken as *decoded text*: several ids with replacement characters, the same bytes twice;
* tokens taken as the tokenizer *spells* them (``▁word``, ``Ġword``): no token holds a space;
* a library that shifts ids: encoding a text and joining the bytes gives another text;
* bytes that no token can spell: some characters can never be produced.

An **error** makes masks wrong or generation endless; a **warning** is worth knowing and harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from maskwright.vocabulary.decoding import VocabType

if TYPE_CHECKING:
    from maskwright.vocabulary.info import TokenizerInfo

__all__ = ["SAMPLES", "Problem", "SelfTestReport", "run_self_test"]

#: Texts for the round trip: JSON, runs of white space, several scripts, a combining emoji, code.
SAMPLES: Final = (
    'The quick brown fox: {"name": "Ada", "age": 36, "tags": ["x", "y"]}',
    "a  b   c\n\n    indented\ttab",
    "naïve café, Grüße, Ελληνικά, русский, 中文字符, 日本語, 한국어",
    "👩‍👩‍👧 and 🏳️‍🌈",
    'def f(x):\n    return [x ** 2 for _ in range(10)]  # "quoted" \\ back',
)

#: Bytes that occur in valid UTF-8: all but 0xC0, 0xC1 and 0xF5 to 0xFF.
_UTF8_BYTES: Final = frozenset({*range(0x00, 0xC0), *range(0xC2, 0xF5)})
#: Without these ordinary text suffers; the others are control characters and unused planes.
_NEEDED_BYTES: Final = frozenset({0x0A, *range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC2, 0xF1)})
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    Attributes:
        severity: ``"error"`` or ``"warning"``.
        check: ``"round trip"``, ``"bijection"``, ``"coverage"``, ``"spelling"`` or ``"stop tokens"``.
        explanation: What is wrong, with examples.
        hint: What to do about it.
        token_ids: Some of the tokens concerned.
    """

    severity: Literal["error", "warning"]
    check: str
    explanation: str
    hint: str
    token_ids: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.check}: {self.explanation}\n  hint: {self.hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTestReport:
    """The outcome of `TokenizerInfo.self_test`; ``str()`` of it is meant to be read.

    Attributes:
        vocab_size: Width of the logits.
        n_text_tokens: Tokens that text can match.
        n_special_tokens: Special ids, padding included.
        single_byte_tokens: The bytes that have a token of their own.
        missing_bytes: Bytes of valid UTF-8 that no text token contains.
        duplicates: Ids of text tokens with the same bytes, one tuple for each such byte string.
        round_trip: How many sample texts were encoded and compared; 0 if none could be.
        problems: Errors and warnings.
    """

    vocab_size: int
    n_text_tokens: int
    n_special_tokens: int
    single_byte_tokens: frozenset[int]
    missing_bytes: frozenset[int]
    duplicates: tuple[tuple[int, ...], ...]
    round_trip: int
    problems: tuple[Problem, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether there is no error (warnings are fine)."""
        return all(problem.severity != "error" for problem in self.problems)

    def __str__(self) -> str:
        trip = f"{self.round_trip} texts" if self.round_trip else "not run (no tokenizer at hand)"
        head = (
            f"vocabulary self-test: {'ok' if self.ok else 'FAILED'}\n"
            f"  {self.vocab_size} ids: {self.n_text_tokens} text, {self.n_special_tokens} special\n"
            f"  {len(self.single_byte_tokens)} of 256 bytes have their own token; round trip: {trip}"
        )
        return "\n".join([head, *map(str, self.problems)])


def run_self_test(info: TokenizerInfo, encode: Callable[[str], Sequence[int]] | None) -> SelfTestReport:
    """Run every check; `encode` turns text into ids without special tokens, if there is such a thing."""
    excluded = {*info.special_token_ids, *info.stop_token_ids}
    text_tokens = [(i, raw) for i, raw in enumerate(info.decoded_vocab) if i not in excluded]
    single = frozenset(raw[0] for _, raw in text_tokens if len(raw) == 1)
    missing = _UTF8_BYTES - frozenset(b"".join([raw for _, raw in text_tokens]))
    duplicates = _duplicates(text_tokens)
    problems = [
        *_stop_problems(info),
        *_spelling_problems(info, text_tokens),
        *_coverage_problems(single, missing),
        *_duplicate_problems(info, duplicates),
    ]
    if encode is not None:
        problems += _round_trip_problems(info, encode)
    return SelfTestReport(
        vocab_size=info.vocab_size,
        n_text_tokens=len(text_tokens),
        n_special_tokens=len(info.special_token_ids),
        single_byte_tokens=single,
        missing_bytes=missing,
        duplicates=tuple(duplicates),
        round_trip=len(SAMPLES) if encode is not None else 0,
        problems=tuple(problems),
    )


def _duplicates(text_tokens: Sequence[tuple[int, bytes]]) -> list[tuple[int, ...]]:
    ids_of: dict[bytes, list[int]] = {}
    for token_id, raw in text_tokens:
        ids_of.setdefault(raw, []).append(token_id)
    return [tuple(ids) for ids in ids_of.values() if len(ids) > 1]


def _stop_problems(info: TokenizerInfo) -> Iterator[Problem]:
    if not info.stop_token_ids:
        yield Problem(
            "error",
            "stop tokens",
            "no token ends generation, so a finished output cannot be ended by the model",
            "pass stop_token_ids, or match with terminate_without_stop_token=True",
        )


def _spelling_problems(info: TokenizerInfo, text_tokens: Sequence[tuple[int, bytes]]) -> Iterator[Problem]:
    has_space = any(b" " in raw for _, raw in text_tokens)
    for mark, wanted in (("▁", VocabType.BYTE_FALLBACK), ("Ġ", VocabType.BYTE_LEVEL)):
        marked = [i for i, raw in text_tokens if raw.startswith(mark.encode())]
        if marked and not has_space:
            yield Problem(
                "error",
                "spelling",
                f"no token contains a space, but {len(marked)} start with {mark!r}: the tokens are "
                f"spelled as the tokenizer stores them, not decoded ({info.vocab_type.name})",
                f"pass VocabType.{wanted.name}, or use the from_* constructor of the tokenizer's library",
                tuple(marked[:_SHOWN]),
            )
    broken = [i for i, raw in text_tokens if _REPLACEMENT in raw and raw != _REPLACEMENT]
    doubled = [i for i, raw in text_tokens if raw == _REPLACEMENT]
    if len(doubled) > 1:
        yield Problem(
            "error",
            "spelling",
            f"{len(doubled) + len(broken)} tokens hold the replacement character U+FFFD: they were decoded "
            "to text one by one, which loses the bytes of cut characters",
            "take the bytes from the tokenizer's backend: use a from_* constructor",
            tuple((doubled + broken)[:_SHOWN]),
        )


def _coverage_problems(single: frozenset[int], missing: frozenset[int]) -> Iterator[Problem]:
    if missing:
        needed = missing & _NEEDED_BYTES
        yield Problem(
            "error" if needed else "warning",
            "coverage",
            f"no text token contains the bytes {_byte_list(missing)}: text with them cannot be produced",
            "use the model's full vocabulary, or keep these characters out of schemas and grammars"
            if needed
            else "these are control characters or rare planes; small models lack some",
        )
    alone = _UTF8_BYTES - single - missing
    if alone:
        yield Problem(
            "warning",
            "coverage",
            f"the bytes {_byte_list(alone)} have no token of their own: "
            "they occur only in the combinations that longer tokens offer",
            "nothing to do if the tokenizer has no byte tokens",
        )


def _duplicate_problems(info: TokenizerInfo, duplicates: Sequence[tuple[int, ...]]) -> Iterator[Problem]:
    decoded = info.decoded_vocab
    # SentencePiece has each ASCII character twice: as a byte token and as a piece.
    expected = info.vocab_type is VocabType.BYTE_FALLBACK
    odd = [ids for ids in duplicates if not (expected and len(decoded[ids[0]]) == 1 and len(ids) == 2)]
    if odd:
        shown = ", ".join(f"{decoded[ids[0]]!r} ({', '.join(map(str, ids))})" for ids in odd[:_SHOWN])
        yield Problem(
            "warning",
            "bijection",
            f"{len(odd)} byte strings have more than one id: {shown}{', ...' if len(odd) > _SHOWN else ''}",
            "all of them are legal wherever one is; if there are hundreds, the ids or bytes are wrong",
            tuple(ids[0] for ids in odd[:_SHOWN]),
        )


def _round_trip_problems(info: TokenizerInfo, encode: Callable[[str], Sequence[int]]) -> Iterator[Problem]:
    for sample in SAMPLES:
        try:
            ids = [int(token_id) for token_id in encode(sample)]
        except Exception as error:  # any tokenizer library may be behind it
            yield Problem(
                "error",
                "round trip",
                f"encoding {sample!r} failed: {type(error).__name__}: {error}",
                "the tokenizer object is broken or was closed",
            )
            return
        outside = tuple(i for i in ids if not 0 <= i < len(info.decoded_vocab))
        if outside:
            yield Problem(
                "error",
                "round trip",
                f"encoding {sample!r} gives ids beyond the vocabulary: {list(outside[:_SHOWN])}",
                "vocab_size is too small for this tokenizer",
                outside[:_SHOWN],
            )
            continue
        yield from _compare(info, sample, ids)


def _compare(info: TokenizerInfo, sample: str, ids: Sequence[int]) -> Iterator[Problem]:
    joined = b"".join([info.decoded_vocab[token_id] for token_id in ids])
    expected = sample.encode()
    if joined == expected or (info.add_prefix_space and joined == b" " + expected):
        return
    pairs = enumerate(zip(joined, expected, strict=False))
    at = next((i for i, (x, y) in pairs if x != y), min(len(joined), len(expected)))
    start = 0
    culprit = ids[-1] if ids else -1
    for token_id in ids:
        start += len(info.decoded_vocab[token_id])
        if start > at:
            culprit = token_id
            break
    yield Problem(
        "error",
        "round trip",
        f"{sample!r} comes back as {joined.decode(errors='replace')!r}; "
        f"they part at byte {at}, in token {culprit}",
        "the bytes of some tokens are wrong, or the tokenizer rewrites text (lower case, Unicode forms)",
        (culprit,),
    )


def _byte_list(values: frozenset[int]) -> str:
    """Bytes in hexadecimal, runs joined: ``00-08 0B 80-BF``."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return " ".join(f"{a:02X}" if a == b else f"{a:02X}-{b:02X}" for a, b in runs)
