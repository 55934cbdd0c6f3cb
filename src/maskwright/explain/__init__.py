"""Why a token is not legal: how far it got, what was expected there, and what would have been legal.

`GrammarMatcher.explain` is the way in. An `Explanation` is data; ``str`` of it is for people.

It asks the automaton the same questions as `accept_token` and the masks do, on a fork, so that it cannot
disagree with them. What it adds is names: those of rules, of keys, and of the schema's places.
"""

from __future__ import annotations

import codecs
import heapq
import operator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..bitmask import allocate_token_bitmask
from ..kernel.explaining import walk
from .expecting import Expected, Kind, Surroundings, expected_at, quoted, spelled

if TYPE_CHECKING:
    from ..matcher import GrammarMatcher
    from ..vocabulary import TokenizerInfo

__all__ = ["Expected", "Explanation", "Kind", "LegalToken", "Reason", "explain"]

#: Items that are looked at: an ambiguous grammar can have very many, and a schema that many keys.
_MAX_ITEMS: Final = 256
_MAX_EXAMPLES: Final = 8
#: Legal tokens among which examples are looked for.
_MAX_CANDIDATES: Final = 1000
#: Things expected, rules and pointers that the text names.
_MAX_LINES: Final = 12
_MAX_NAMES: Final = 4
#: Characters around the place that the text shows.
_BEFORE, _AFTER = 60, 40


class Reason(StrEnum):
    """Why a token or text is legal or not."""

    LEGAL = "legal"
    WRONG_BYTE = "wrong byte"  #: no legal output has this byte here
    SPECIAL_TOKEN = "special token"  #: it never matches text, and the grammar does not name it here
    NOT_COMPLETE = "not complete"  #: the output may not end here
    COMPLETE = "complete"  #: the output is complete and nothing may follow but a stop token
    AFTER_STOP = "after stop"  #: a stop token was accepted before
    UNKNOWN_ID = "unknown id"  #: no id of the vocabulary
    OVER_BUDGET = "over budget"  #: it fits, but leaves too few of `max_tokens` to finish
    NO_COMPLETION = "no completion"  #: it fits, but the vocabulary cannot complete the output after it


_SENTENCES: Final = {
    Reason.LEGAL: "{what} is legal",
    Reason.WRONG_BYTE: "{what} is not legal: {wrong} cannot come here",
    Reason.SPECIAL_TOKEN: "{what} is a special token: it never matches text, and no rule names it here",
    Reason.NOT_COMPLETE: "{what} is not legal: the output is not complete",
    Reason.COMPLETE: "{what} is not legal: the output is complete, and only a stop token may follow",
    Reason.AFTER_STOP: "{what} comes after a stop token",
    Reason.UNKNOWN_ID: "{what} is outside the vocabulary of {size} tokens",
    Reason.OVER_BUDGET: "{what} fits, but leaves too few tokens to finish",
    Reason.NO_COMPLETION: "{what} fits, but the vocabulary cannot complete the output after it",
}


class LegalToken(NamedTuple):
    """A token that would have been legal: its id and its bytes."""

    token_id: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a matcher says about a token, a text, or the end of the output.

    Attributes:
        legal: Whether the matcher accepts it.
        reason: Why, or why not.
        token_id: The token; None for a text and for the end.
        text: Its bytes; empty for the end and for ids outside the vocabulary.
        n_bytes_legal: How many of these bytes, from the first, some legal output has here.
        output: The bytes that were accepted before.
        pointer: JSON pointer of the place after the legal bytes: the value that is due or begun, the object
            whose key is, or the container whose comma or end is. None where the output is not JSON.
        expected: What may come there, instead of the byte that is not legal.
        n_legal: Number of tokens that are legal in its stead.
        examples: Some of them; those that begin like it come first.
        vocab_size: Number of tokens of the vocabulary.
    """

    legal: bool
    reason: Reason
    token_id: int | None
    text: bytes
    n_bytes_legal: int
    output: bytes
    pointer: str | None
    expected: tuple[Expected, ...]
    n_legal: int
    examples: tuple[LegalToken, ...]
    vocab_size: int

    @property
    def offset(self) -> int:
        """Bytes before the place after the legal bytes."""
        return len(self.output) + self.n_bytes_legal

    @property
    def line(self) -> int:
        """Line of the place after the legal bytes, from 1."""
        return self._fitting.count("\n") + 1

    @property
    def column(self) -> int:
        """Its column, from 1, in code points. Inside a character, that of the character."""
        return len(self._fitting.rpartition("\n")[2]) + 1

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        what = self._what()
        rest = self.text[self.n_bytes_legal :]
        char = rest.decode(errors="replace")[:1]
        wrong = f"the byte {rest[:1].hex()}" if char == "\ufffd" else repr(char)
        fits = f"; its first {self.n_bytes_legal} of {len(self.text)} bytes fit" if self.n_bytes_legal else ""
        sentence = _SENTENCES[self.reason].format(what=what, wrong=wrong, size=self.vocab_size)
        return sentence + fits * (self.reason in (Reason.WRONG_BYTE, Reason.COMPLETE))

    def where(self) -> str:
        """Line, column and pointer, and the line of the output with a caret under the place.

        ``~`` stands under the legal beginning of the token or text and ``^`` under what is not legal.
        """
        fitting = self._fitting
        before = fitting.rpartition("\n")[2][-_BEFORE:]
        after, broken, _ = (self.output + self.text).decode(errors="replace")[len(fitting) :].partition("\n")
        shown = "".join(map(_printable, before + after[:_AFTER] + "\u21b5" * bool(broken)))
        n_own = min(len(fitting) - len(_decoded(self.output)), len(before))
        caret = " " * (len(before) - n_own) + "~" * n_own + "^" * (not self.legal)
        place = "" if self.pointer is None else f", JSON pointer {self.pointer!r}"
        lines = [f"line {self.line}, column {self.column} (offset {self.offset}){place}", f"  {shown}"]
        return "\n".join(lines + [f"  {caret}"] * bool(caret.strip()))

    def __str__(self) -> str:
        lines = [self.headline]
        if self.reason is not Reason.UNKNOWN_ID:
            lines.append(self.where())
        if self.expected:
            lines.append("expected next:" if self.legal else "expected instead:")
            lines.extend(f"  - {_with_places(each)}" for each in self.expected[:_MAX_LINES])
            if len(self.expected) > _MAX_LINES:
                lines.append(f"  - and {len(self.expected) - _MAX_LINES} more")
        if self.reason is not Reason.AFTER_STOP:
            examples = ", ".join(quoted(each.text) for each in self.examples)
            such = f", for example {examples}" if examples else ""
            lines.append(f"legal in its place: {self.n_legal} of {self.vocab_size} tokens{such}")
        return "\n".join(lines)

    @property
    def _fitting(self) -> str:
        """The output and the legal bytes as text, up to the last whole character."""
        return _decoded(self.output + self.text[: self.n_bytes_legal])

    def _what(self) -> str:
        if self.token_id is None:
            return f"the text {quoted(self.text)}" if self.text else "to end here"
        return f"token {self.token_id}" + (f" {quoted(self.text)}" if self.text else "")


def explain(matcher: GrammarMatcher, token: int | str | bytes | None) -> Explanation:
    """See `GrammarMatcher.explain`."""
    core, grammar = matcher.core, matcher.compiled_grammar.grammar
    info = matcher.compiled_grammar.tokenizer_info
    token_id = None if token is None or isinstance(token, (str, bytes)) else operator.index(token)
    text = _bytes_of(token_id, info) if token_id is not None else _as_bytes(token)
    ends = (token_id is None and not text) or token_id in matcher.stop_token_ids
    # What never matches text fails before its first byte, whatever it is called.
    is_text = not ends and (token_id is None or _matches_text(matcher, token_id))
    before = walk(matcher.fork(), text if is_text else b"")
    n_legal, examples = (0, ()) if before.has_stopped else _legal_tokens(matcher, text[: before.n_fit])
    after = matcher.fork()
    if token_id is not None:
        legal = after.accept_token(token_id)
    else:
        legal = after.accept_string(text) and (not ends or after.is_completed())
    place = walk(after, b"") if legal else before
    items = place.items(_MAX_ITEMS)
    around = Surroundings.of(items, core.network.rules, grammar.root, place.output + text[: place.n_fit])
    expected: list[Expected] = []
    if not (before.has_stopped or place.has_stopped):
        expected = expected_at(
            place, items, core, around, lambda each: f"[{each}] {quoted(_bytes_of(each, info))}"
        )
    if legal:
        reason = Reason.LEGAL
    elif before.has_stopped:
        reason = Reason.AFTER_STOP
    elif token_id is not None and not 0 <= token_id < info.vocab_size:
        reason = Reason.UNKNOWN_ID
    elif not is_text:
        reason = Reason.NOT_COMPLETE if ends else Reason.SPECIAL_TOKEN
    elif before.n_fit == len(text):
        reason = Reason.NO_COMPLETION if matcher.tokens_left is None else Reason.OVER_BUDGET
    else:
        is_complete = all(each.kind is Kind.END for each in expected)
        reason = Reason.COMPLETE if is_complete else Reason.WRONG_BYTE
    return Explanation(
        legal=legal,
        reason=reason,
        token_id=token_id,
        text=text,
        n_bytes_legal=len(text) if legal else before.n_fit,
        output=before.output,
        pointer=None if around.place is None else around.place.pointer,
        expected=tuple(expected),
        n_legal=n_legal,
        examples=examples,
        vocab_size=info.vocab_size,
    )


def _matches_text(matcher: GrammarMatcher, token_id: int) -> bool:
    vocabulary = matcher.core.vocabulary
    return 0 <= token_id < vocabulary.vocab_size and vocabulary.token_bytes(token_id) is not None


def _legal_tokens(matcher: GrammarMatcher, beginning: bytes) -> tuple[int, tuple[LegalToken, ...]]:
    """How many tokens are legal, and a few: first those that begin like this, then those one can read."""
    info = matcher.compiled_grammar.tokenizer_info
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    matcher.fork().fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: info.vocab_size]
    legal = np.flatnonzero(bits).tolist()
    alike = [token for token in legal if _bytes_of(token, info).startswith(beginning)] if beginning else []
    chosen = heapq.nsmallest(
        _MAX_EXAMPLES,
        dict.fromkeys(alike[:_MAX_CANDIDATES] + legal[:_MAX_CANDIDATES]),
        key=lambda token: (
            not _bytes_of(token, info).startswith(beginning),
            _is_hard_to_read(_bytes_of(token, info)),
            token,
        ),
    )
    return len(legal), tuple(LegalToken(token, _bytes_of(token, info)) for token in chosen)


def _bytes_of(token_id: int, info: TokenizerInfo) -> bytes:
    """The bytes of a token, special tokens included; empty for padding and unknown ids."""
    return info.decoded_vocab[token_id] if 0 <= token_id < len(info.decoded_vocab) else b""


def _as_bytes(text: int | str | bytes | None) -> bytes:
    return text.encode() if isinstance(text, str) else text if isinstance(text, bytes) else b""


def _decoded(text: bytes) -> str:
    """A beginning as text, up to its last whole character."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(text)


def _printable(char: str) -> str:
    return char if char.isprintable() else "\N{MIDDLE DOT}"


def _is_hard_to_read(text: bytes) -> bool:
    shown = text.decode(errors="replace")
    return not shown.isprintable() or shown.isspace() or "\ufffd" in shown


def _with_places(expected: Expected) -> str:
    """One thing expected, with what of it is there, an example and where it comes from."""
    text = expected.text
    in_json = expected.kind in (Kind.KEY, Kind.STRING, Kind.NUMBER)
    if expected.begun:
        text += f", begun: {spelled(expected.begun) if in_json else quoted(expected.begun)}"
    example = expected.examples[0] if expected.examples else expected.begun
    if example != expected.begun and expected.kind in (Kind.PATTERN, Kind.STRING, Kind.NUMBER):
        text += f", for example {spelled(example) if in_json else quoted(example)}"
    places = [f"rule {expected.rule}"] if expected.rule else []
    places += expected.schema[:_MAX_NAMES]
    return f"{text}  ({', '.join(places)})" if places else text
