"""The program whose instructions `maskwright bench instructions` counts; run it as `python -m`.

usage: hotpaths STAGES   (how many of `STAGES` to go through, in their order; 0 for the set-up alone)

The stages build on each other, so that the count of one is the difference of two runs. The last line
printed is JSON: operations done in each stage. The vocabulary is made from the texts below, so that
the counts need no package and are the same everywhere; it is large enough to be warmed up as real ones are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import maskwright

__all__ = ["STAGES", "Work", "make_vocabulary"]

_TEXTS = (
    "the quick brown fox jumps over the lazy dog while many customers order green shirts and blue shoes",
    "name status items product quantity price customer address street number city country currency amount",
    "created updated cancelled shipped delivered refused pending review comment rating reference priority",
    "January February March April May June July August September October November December Monday Sunday",
)
_ENDS = ("", " ", '"', '",', '":', '": ', '", "', '"}', '"]', ",", ":", "}", "]", ".", "_", "-", "s", "ing")
#: Schemas that the stages use, each new to the process by its number.
_N_SCHEMAS = 12
_WARM_VISITS = 40
_BATCH_ROWS = 64
_BATCH_STEPS = 50


def make_vocabulary() -> list[bytes]:
    """Single bytes, then the pieces of the texts' words with what may stand around them."""
    tokens = dict.fromkeys(bytes([value]) for value in range(256))
    words = sorted({word for text in _TEXTS for word in text.split()})
    pieces = sorted({word[:length] for word in words for length in range(2, len(word) + 1)})
    for piece in pieces:
        for start in ("", " "):
            tokens.update(dict.fromkeys(f"{start}{piece}{end}".encode() for end in _ENDS))
    numbers = [f"{start}{value}" for value in range(1000) for start in ("", " ")]
    runs = [start + " " * length for length in range(1, 17) for start in ("", "\n", "{", '{"', ",\n", '",\n')]
    tokens.update(
        dict.fromkeys(text.encode() for text in (*numbers, *runs, '{"', '["', "true", "false", "null"))
    )
    return list(tokens)


def _schema(number: int) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": {
            f"product_{number}": {"type": "string", "minLength": 3, "maxLength": 30 + number},
            "quantity": {"type": "integer", "minimum": 1, "maximum": 20 + number},
            "price": {"type": "number", "minimum": 0},
        },
        "required": [f"product_{number}", "quantity", "price"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            f"customer_{number}": {"type": "string"},
            "status": {"enum": ["new", "paid", f"shipped {number}"]},
            "reference": {"type": "string", "pattern": f"^[A-Z]{{2,{4 + number}}}-[0-9]+$"},
            "date": {"type": "string", "format": "date"},
            "items": {"type": "array", "minItems": 1, "maxItems": 3 + number, "items": item},
        },
        "required": [f"customer_{number}", "status", "items"],
        "additionalProperties": False,
    }


def _document(number: int) -> str:
    names = ("green shirts", "blue shoes", "brown fox")
    items = [
        {f"product_{number}": name, "quantity": 7 + place, "price": 12.5} for place, name in enumerate(names)
    ]
    body = {
        f"customer_{number}": "many customers jump over the lazy dog",
        "status": "paid",
        "reference": "AB-2024",
        "date": "2024-02-29",
        "items": items,
    }
    return json.dumps(body)


class Work:
    """The set-up, and the stages as methods; each gives the number of operations that it did."""

    def __init__(self) -> None:
        vocabulary = make_vocabulary()
        self._longest = max(map(len, vocabulary))
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        info = maskwright.TokenizerInfo([*vocabulary, b"</s>"], stop_token_ids=[len(vocabulary)])
        self._compiler = maskwright.GrammarCompiler(info)
        self._schemas = [_schema(number) for number in range(_N_SCHEMAS)]
        self._texts = [self._encode(_document(number)) for number in range(_N_SCHEMAS)]
        self._bitmask = maskwright.allocate_token_bitmask(_BATCH_ROWS, info.vocab_size)
        # Imports and tables that the first schema of a process makes.
        self._walk(
            self._compiler.compile_json_schema(_schema(_N_SCHEMAS)), self._encode(_document(_N_SCHEMAS))
        )
        self._compiled: list[maskwright.CompiledGrammar] = []

    def _encode(self, text: str) -> list[int]:
        """Longest match, which is deterministic and near enough to a tokenizer."""
        data, found = text.encode(), []
        place = 0
        while place < len(data):
            length = next(n for n in range(self._longest, 0, -1) if data[place : place + n] in self._ids)
            token = data[place : place + length]
            found.append(self._ids[token])
            place += len(token)
        return found

    def _walk(self, compiled: maskwright.CompiledGrammar, tokens: list[int]) -> int:
        matcher = maskwright.GrammarMatcher(compiled)
        fill, accept, row = matcher.fill_next_token_bitmask, matcher.accept_token, self._bitmask
        for token in tokens:
            fill(row, 0)
            if not accept(token):
                raise RuntimeError("a valid document is not accepted")
        return len(tokens)

    def compile(self) -> int:
        """Schemas that are new to the process; per schema."""
        self._compiled = [self._compiler.compile_json_schema(schema) for schema in self._schemas]
        return len(self._compiled)

    def cold(self) -> int:
        """The first walk through each of them; per token."""
        return sum(map(self._walk, self._compiled, self._texts))

    def warm(self) -> int:
        """The same walk again; per token."""
        return sum(self._walk(self._compiled[0], self._texts[0]) for _ in range(_WARM_VISITS))

    def batch(self) -> int:
        """Filling the rows of many sequences with one call; per row."""
        filler = maskwright.BatchGrammarMatcher(max_threads=1)
        matchers = [maskwright.GrammarMatcher(self._compiled[i % _N_SCHEMAS]) for i in range(_BATCH_ROWS)]
        for number, matcher in enumerate(matchers):
            for token in self._texts[number % _N_SCHEMAS][: number % 23]:
                matcher.accept_token(token)
        for _ in range(_BATCH_STEPS):
            filler.batch_fill_next_token_bitmask(matchers, self._bitmask)
        return _BATCH_ROWS * _BATCH_STEPS


#: Name of each stage and what does it, in order.
STAGES: dict[str, Callable[[Work], int]] = {
    "compile of a schema": Work.compile,
    "fill + accept, cold, per token": Work.cold,
    "fill + accept, warm, per token": Work.warm,
    "batch fill, per row": Work.batch,
}


def _main(n_stages: int) -> None:
    # A collection in the middle of a stage would be counted there.
    import gc

    gc.disable()
    work = Work()
    done = {name: stage(work) for name, stage in list(STAGES.items())[:n_stages]}
    print(json.dumps({"operations": done}), flush=True)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
