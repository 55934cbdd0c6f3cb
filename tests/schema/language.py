"""What the schema tests ask: is this text in the language of this schema?

The vocabulary is the 256 bytes, so that the answer is the kernel's, without tokens in the way.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.schema import SchemaOptions, rules_from_schema

STOP = 256
#: The standard's meaning, whatever the order and the spelling of a valid instance.
STANDARD = {"strict_mode": False, "any_order": True, "integer_spelling": "json"}


@lru_cache(maxsize=1)
def _compiler() -> GrammarCompiler:
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[STOP])
    return GrammarCompiler(info, cache_enabled=False)


class Language:
    """The texts that a schema accepts."""

    def __init__(self, schema: Any, **options: Any) -> None:
        rule, self.report = rules_from_schema(schema, options=SchemaOptions(**options))
        self._compiled = _compiler().compile_grammar(Grammar(rule, guards_checked=True))

    def holds(self, text: str | bytes) -> bool:
        """Whether a text is in the language."""
        matcher = GrammarMatcher(self._compiled)
        return matcher.accept_string(text) and matcher.is_completed()

    def takes(self, value: Any) -> bool:
        """Whether the canonical text of a value is in the language."""
        return self.holds(json.dumps(value, ensure_ascii=False))

    def next_bytes(self, text: str | bytes) -> set[str]:
        """The characters (of ASCII) that may follow a text; ``"$"`` when it may end."""
        matcher = GrammarMatcher(self._compiled)
        assert matcher.accept_string(text)
        return {"$" if token == STOP else chr(token) for token in _legal(matcher)}

    def walk(self, rng: random.Random, most: int = 400) -> bytes | None:
        """A random text of the language; None when it has not ended after ``most`` bytes.

        Raises:
            AssertionError: A state without a legal token, or a legal token that is not accepted.
        """
        matcher = GrammarMatcher(self._compiled)
        text = bytearray()
        for _ in range(most):
            legal = _legal(matcher)
            assert legal, f"dead end after {bytes(text)!r}"
            if STOP in legal:
                if len(legal) == 1 or rng.random() < 0.5:
                    return bytes(text)
                legal.remove(STOP)
            closing = [token for token in legal if token in b'"}]:,']
            plain = [token for token in legal if 32 <= token < 127 and token != 92]
            pool = closing if closing and rng.random() < 0.4 else plain or legal
            token = rng.choice(pool)
            assert matcher.accept_token(token), f"{token} is masked in but refused after {bytes(text)!r}"
            text.append(token)
        return None


def _legal(matcher: GrammarMatcher) -> list[int]:
    bitmask = allocate_token_bitmask(1, STOP + 1)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(np.asarray(bitmask).view(np.uint8), bitorder="little")[: STOP + 1]
    return [int(token) for token in np.flatnonzero(bits)]


def is_rounded(text: bytes) -> bool:
    """Whether a text has a number that the judges of values, which use binary floats, would round."""
    return re.search(rb"[eE][-+]?[0-9]{3,}|[0-9]{15}", text) is not None


def holds(schema: Any, text: str, **options: Any) -> bool:
    """Whether a text is in the language of a schema."""
    return Language(schema, **options).holds(text)


@lru_cache(maxsize=1)
def official_suite(folder: Path) -> dict[str, Any]:
    """The official JSON Schema test suite: ``suites`` by file and ``remotes`` by path."""
    path = folder / "json-schema-test-suite.json.xz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the optional data")
    with lzma.open(path, "rt") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded
