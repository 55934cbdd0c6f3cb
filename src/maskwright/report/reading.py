"""Finds the values in an answer, and what each token says about each of them.

A token belongs to every value of which it holds a byte, quotes included. A number has no closing
character, so the token after it belongs to it too: it decided that the number is over. (So does the stop
token, to a number or a text that is the whole answer.)

A token at the border of a value also holds something else: white space, a comma, the next key. What
counts there is only what it *says* about the value: the bytes of the value in it, and whether they end it.
``"``, ``",`` and ``"}`` all say that a string is over. Tokens that hold nothing of the value say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..pointers import pointer_of
from .json_scanner import JsonScanner, Kind
from .steps import Step

__all__ = ["NOT_JSON", "Reading", "Said", "Span", "read_json", "read_text"]


class Said(NamedTuple):
    """What a token says about a value: bytes of it, and whether it is over with them."""

    text: bytes
    ends: bool


_NO_TOKEN: Final = b"\xff"  # logits may be padded beyond the vocabulary, and a model may want one of those

#: What is said by a token that is no JSON where it stands.
NOT_JSON: Final = Said(_NO_TOKEN, False)

_KINDS: Final = {b'"': "string", b"t": "boolean", b"f": "boolean", b"n": "null", b"{": "empty", b"[": "empty"}


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value is.

    Attributes:
        path: Keys and indices from the root.
        kind: See `Leaf`.
        start, end: In bytes.
        tokens: Those that belong to it.
        complete: Whether it is over.
    """

    path: tuple[str | int, ...]
    kind: str
    start: int
    end: int
    tokens: range
    complete: bool

    @property
    def pointer(self) -> str:
        return pointer_of(self.path)

    def value(self, text: str) -> Any:
        """The value that a text stands for; the text itself for what is no JSON."""
        return json.loads(text, strict=False) if self.kind != "text" else text


class Reading:
    """An answer cut into tokens and values.

    Attributes:
        text: Its bytes.
        steps: Its steps.
        pieces: The bytes of each token, none for stop tokens.
        starts: Where each token starts, in bytes.
        spans: Its values.
    """

    def __init__(self, steps: Sequence[Step], vocabulary: Sequence[bytes], stops: frozenset[int]) -> None:
        self.steps: Final = steps
        self._vocabulary = vocabulary
        self._stops = stops
        self.pieces: Final = [self.piece(step.token_id) for step in steps]
        self.text: Final = b"".join(self.pieces)
        self.starts: Final = _starts(self.pieces)
        self.spans: list[Span] = []
        self._scanners: list[JsonScanner] | None = None

    def piece(self, token_id: int) -> bytes:
        """The bytes of a token, none for stop tokens."""
        if token_id in self._stops:
            return b""
        return self._vocabulary[token_id] if token_id < len(self._vocabulary) else _NO_TOKEN

    def name(self, token_id: int) -> str:
        """A token for a person to read, stop tokens too."""
        known = token_id < len(self._vocabulary)
        return self._vocabulary[token_id].decode(errors="replace") if known else f"<{token_id}>"

    def n_characters(self, n_bytes: int) -> int:
        """How many characters the first bytes of the text are."""
        return len(self.text[:n_bytes].decode(errors="replace"))

    def scanner(self, position: int, n_bytes: int = 0) -> JsonScanner | None:
        """The place in the text at a token, and some bytes of it further on; None for what is no JSON."""
        if self._scanners is None:
            return None
        scanner = self._scanners[position].copy()
        for byte in self.pieces[position][:n_bytes]:
            scanner.feed(byte)
        return scanner

    def said(self, span: Span, position: int, token_id: int) -> Said | None:
        """What a token, taken or not, says about a value at some place of the answer; None for nothing."""
        piece, stops = self.piece(token_id), token_id in self._stops
        scanner = self.scanner(position)
        if scanner is None:
            return Said(piece, stops)
        begun = self.starts[position] > span.start
        said = b""
        for byte in piece:
            kind = scanner.feed(byte)
            if kind is Kind.WRONG:
                return NOT_JSON
            if not begun:
                begins = kind in (Kind.INSIDE, Kind.LAST) or (kind is Kind.OUTSIDE and scanner.just_opened)
                if not begins or scanner.path != span.path:
                    continue
                begun = True
            if kind is Kind.AFTER:
                return Said(said, True)
            said += bytes((byte,))
            if kind is not Kind.INSIDE:
                return Said(said, kind is Kind.LAST)
        return Said(said, stops) if begun else None

    def all_said(self, span: Span, position: int) -> list[tuple[Said | None, float, int]]:
        """What each of the likely legal tokens of a step says, its probability and its id."""
        step = self.steps[position]
        pairs = zip(step.legal_ids.tolist(), step.legal_probabilities.tolist(), strict=True)
        return [(self.said(span, position, token), probability, token) for token, probability in pairs]


def read_text(steps: Sequence[Step], vocabulary: Sequence[bytes], stops: frozenset[int]) -> Reading:
    """An answer that is one value: its text."""
    reading = Reading(steps, vocabulary, stops)
    over = bool(steps) and steps[-1].token_id in stops
    reading.spans = [Span((), "text", 0, len(reading.text), range(len(steps)), over)]
    return reading


def read_json(steps: Sequence[Step], vocabulary: Sequence[bytes], stops: frozenset[int]) -> Reading:
    """An answer that is JSON, or the beginning of it."""
    reading = Reading(steps, vocabulary, stops)
    scanner = JsonScanner()
    scanners, ends = [], _Spans(reading)
    for start, piece in zip(reading.starts, reading.pieces, strict=True):
        scanners.append(scanner.copy())
        for place, byte in enumerate(piece, start=start):
            opened = scanner.just_opened
            ends.feed(place, scanner.feed(byte), scanner, closed=opened and byte in b"]}")
    over = bool(steps) and steps[-1].token_id in stops
    ends.finish(scanner, over)
    reading._scanners = scanners
    return reading


class _Spans:
    """Collects the values of a text from what its bytes are."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._start: int | None = None  # of the value being read
        self._path: tuple[str | int, ...] = ()
        self._opened = 0  # where the object or array began that has nothing in it so far

    def feed(self, place: int, kind: Kind, scanner: JsonScanner, *, closed: bool) -> None:
        if kind in (Kind.INSIDE, Kind.LAST) and self._start is None:
            self._start = place
        if self._start is not None and kind in (Kind.LAST, Kind.AFTER):
            path = scanner.path if kind is Kind.LAST else self._path
            self._add(path, self._start, place + (kind is Kind.LAST), complete=True)
            self._start = None
        elif closed:
            self._add(scanner.path, self._opened, place + 1, complete=True)
        if scanner.just_opened and kind is not Kind.INSIDE and self._reading.text[place] in b"{[":
            self._opened = place
        self._path = scanner.path

    def finish(self, scanner: JsonScanner, over: bool) -> None:
        if self._start is not None:
            self._add(scanner.path, self._start, len(self._reading.text), complete=over)

    def _add(self, path: tuple[str | int, ...], start: int, end: int, *, complete: bool) -> None:
        reading = self._reading
        kind = _KINDS.get(reading.text[start : start + 1], "number")
        starts = reading.starts
        tokens = [
            position
            for position, (first, piece) in enumerate(zip(starts, reading.pieces, strict=True))
            if first < end and first + len(piece) > start
        ]
        last = tokens[-1] + 1
        ends_with_token = last == len(starts) or starts[last] == end
        if kind == "number" and complete and ends_with_token and last < len(starts):
            last += 1
        reading.spans.append(Span(path, kind, start, end, range(tokens[0], last), complete))


def _starts(pieces: Sequence[bytes]) -> list[int]:
    starts, place = [], 0
    for piece in pieces:
        starts.append(place)
        place += len(piece)
    return starts
