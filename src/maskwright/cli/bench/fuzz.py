"""`maskwright bench fuzz`: random schemas and instances, judged beside `jsonschema-rs`.

A *pair* is a schema and a text. The texts are random values, texts that a random walk through the masks
has finished, and those texts with one place changed; the same verdict is asked of both sides. On the way
each mask must leave a way on, and say of each token (of a sample) what accepting it says.

A difference is made small by taking pieces out of the schema as long as it stays, and printed. Schemas
that are refused by name are counted, and so are valid texts that the documentation says are left out (see
`_is_left_out`). Nothing else is let pass.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import maskwright
from maskwright.errors import GrammarError, SchemaError

from . import vocabularies
from .engines import EngineMissing
from .random_schemas import DRAFTS, SchemaMaker, mutated, random_value

__all__ = ["add_arguments", "run"]

Ids: TypeAlias = NDArray[np.intp]

#: Tokens of more than a byte, so that walks end terminals in the middle of tokens.
_PIECES: Final = (
    '": | ": {"| ": [|":|", "|{"|"}|"]|}}|]]|[[|[{|}, {|], [|true|false|null|al|ue|ab|abc|x_|_1'
    '|"a|"b|a"|12|10|0.|.5|1,|  |é|\\n|\\"|, |]}|":"|e1|-1'
)
#: The standard's meaning, in any order and spelling: what instances are judged with.
_STANDARD: Final = {
    "strict_mode": False,
    "any_order": True,
    "integer_spelling": "json",
    "any_spelling": True,
}
#: What walks are made with: a finished text is valid whatever the options.
_LAYOUTS: Final[tuple[dict[str, Any], ...]] = (
    _STANDARD,
    {},
    {"any_whitespace": False},
    {"any_whitespace": False, "indent": 1, "strict_mode": False},
    {"any_order": True},
)
_INSTANCES: Final = 6
_WALKS: Final = 2
_CHANGES: Final = 3
_MOST_TOKENS: Final = 120
#: Tokens of each mask, and as many of the others, that are compared with accepting them.
_CHECKED: Final = 10
#: Of more legal tokens than this some are drawn first.
_MANY: Final = 500
#: More differences than this are not worth printing one by one.
_SHOWN: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of schema and text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--vocabulary",
        default="pieces",
        choices=("pieces", *vocabularies.NAMES),
        help="what walks choose from (pieces: single bytes, and some of JSON)",
    )


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; differences, and a line of summary."""
    try:
        import jsonschema_rs
    except ImportError:
        raise EngineMissing("the judge is missing: pip install jsonschema-rs") from None
    began = time.monotonic()
    counts: Counter[str] = Counter()
    found: list[str] = []
    tokens = None if args.vocabulary == "pieces" else vocabularies.load(args.vocabulary).tokens
    fuzzer = Fuzzer(jsonschema_rs.validator_for, counts, tokens)
    while counts["pairs"] < args.pairs:
        # Each schema has a seed of its own, so that one difference can be looked at alone.
        seed = f"{args.seed}/{counts['schemas']}"
        found += [f"seed {seed}: {difference}" for difference in fuzzer.one_schema(random.Random(seed))]
    args.exit_code = 1 if found else 0
    rest = [f"... and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "\n".join(
        [*found[:_SHOWN], *rest, _summary(args.seed, counts, len(found), time.monotonic() - began)]
    )


def _summary(seed: int, counts: Counter[str], n_found: int, seconds: float) -> str:
    return (
        f"seed {seed}: {counts['schemas']:,} schemas ({counts['refused']:,} refused by name, "
        f"{counts['empty']:,} without a value), {counts['pairs']:,} pairs "
        f"({counts['valid']:,} valid, {counts['walks']:,} of them finished walks), "
        f"{counts['left out']:,} valid texts left out as documented, {n_found:,} differences, {seconds:.0f} s"
    )


class Fuzzer:
    """Judges schemas one by one.

    Args:
        judge: Schema to an object with `is_valid(value)`.
        counts: Where to count.
        tokens: Bytes of each id that walks may choose; by default single bytes, and some pieces of JSON.
    """

    def __init__(
        self, judge: Callable[[Any], Any], counts: Counter[str], tokens: Sequence[bytes] | None = None
    ) -> None:
        self.judge = judge
        self.counts = counts
        pieces = [piece.encode() for piece in _PIECES.split("|")]
        self.tokens = [bytes([byte]) for byte in range(256)] + pieces if tokens is None else list(tokens)
        self.stop = len(self.tokens)
        info = maskwright.TokenizerInfo([*self.tokens, "</s>"], stop_token_ids=[self.stop])
        self.compiler = maskwright.GrammarCompiler(info, cache_enabled=False)
        self.row = maskwright.allocate_token_bitmask(1, info.vocab_size)

    def one_schema(self, rng: random.Random) -> list[str]:
        """Draw a schema and texts, compare; the differences found, as text."""
        draft = rng.choices(list(DRAFTS), [often for _, often in DRAFTS.values()])[0]
        schema = SchemaMaker(rng, draft).schema()
        self.counts["schemas"] += 1
        try:
            ours = self.compiled(schema, _STANDARD)
            if ours is None:
                self.counts["refused"] += 1
                return []
            self.counts["empty"] += ours is False
            pair = partial(self.compare, schema, self.judge(schema), ours)
            differences = [pair(text, finished=finished) for text, finished in self.texts(schema, rng)]
            return [difference for difference in differences if difference is not None]
        except GrammarError:  # in a rule that was expanded only now
            self.counts["refused"] += 1
            return []
        except (AssertionError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return [f"{type(error).__name__}: {error} in {json.dumps(schema)}"]

    # ---- texts -----------------------------------------------------------------------------------

    def texts(self, schema: Any, rng: random.Random) -> Iterator[tuple[str, bool]]:
        """Spelled values, finished walks (True), and those with one place changed."""
        for _ in range(_INSTANCES):
            yield _spelled(random_value(rng)), False
        compiled = self.compiled(schema, rng.choice(_LAYOUTS))
        if not isinstance(compiled, maskwright.CompiledGrammar):
            return
        for _ in range(_WALKS):
            walked = self.walk(compiled, rng)
            if walked is None or _is_rounded(walked):
                continue
            self.counts["walks"] += 1
            value = json.loads(walked)
            yield _spelled(value), True
            for _ in range(_CHANGES):
                yield _spelled(mutated(rng, value)), False

    def compiled(
        self, schema: Any, options: dict[str, Any]
    ) -> maskwright.CompiledGrammar | Literal[False] | None:
        """The grammar; False if no value meets the schema, None if it is refused by name."""
        try:
            return self.compiler.compile_json_schema(schema, **options)
        except SchemaError as error:
            return False if error.message.startswith("no value can meet") else None
        except GrammarError:
            return None

    def walk(self, compiled: maskwright.CompiledGrammar, rng: random.Random) -> bytes | None:
        """A random text of the grammar; None when it has not ended in time.

        Raises:
            AssertionError: A mask without a token, or one that says something else than accepting does.
        """
        matcher = maskwright.GrammarMatcher(compiled)
        text = bytearray()
        for _ in range(_MOST_TOKENS):
            legal = self.legal(matcher)
            if not len(legal):
                raise AssertionError(f"dead end after {bytes(text)!r}")
            self.check_mask(matcher, legal, rng, text)
            if legal[-1] == self.stop:
                if len(legal) == 1 or rng.random() < 0.5:
                    return bytes(text)
                legal = legal[:-1]
            token = rng.choice(self.preferred(legal, rng))
            matcher.accept_token(token, strict=True)
            text += self.tokens[token]
        return None

    def check_mask(
        self, matcher: maskwright.GrammarMatcher, legal: Ids, rng: random.Random, text: bytearray
    ) -> None:
        """Compare a mask with what accepting says, for a sample of tokens."""
        for token in {*_drawn(legal, rng, _CHECKED), *rng.choices(range(self.stop), k=_CHECKED)}:
            is_legal = bool((legal == token).any())
            if (matcher.validate_tokens([token]) == 1) is not is_legal:
                shown = self.tokens[token] if token < self.stop else "stop"
                raise AssertionError(
                    f"{shown!r} is {'' if is_legal else 'not '}in the mask after {bytes(text)!r}"
                )

    def preferred(self, legal: Ids, rng: random.Random) -> list[int]:
        """Tokens that get somewhere: those that close something, or else text that people write."""
        some = legal.tolist() if len(legal) <= _MANY else _drawn(legal, rng, _MANY)
        closing = [token for token in some if self.tokens[token][-1:] in b'"}],:']
        plain = [
            token for token in some if 32 < self.tokens[token][0] < 127 and b"\\" not in self.tokens[token]
        ]
        return closing if closing and rng.random() < 0.4 else plain or some

    def legal(self, matcher: maskwright.GrammarMatcher) -> Ids:
        """The ids that the mask allows, ascending."""
        matcher.fill_next_token_bitmask(self.row)
        return np.flatnonzero(np.unpackbits(self.row.view(np.uint8), bitorder="little"))

    # ---- verdicts --------------------------------------------------------------------------------

    def compare(self, schema: Any, judge: Any, ours: Any, text: str, *, finished: bool = False) -> str | None:
        """The difference about one pair, or None.

        Args:
            schema: The schema.
            judge: Its validator.
            ours: What `compiled` says of it.
            text: The text.
            finished: Whether the text is a finished walk, perhaps under narrower options.
        """
        valid, taken = bool(judge.is_valid(json.loads(text))), _takes(ours, text)
        self.counts["pairs"] += 1
        self.counts["valid"] += valid
        if finished and not valid:
            return f"a walk has finished {text}, which is invalid: {json.dumps(schema, ensure_ascii=False)}"
        if valid == taken:
            return None
        if valid and _is_left_out(schema, text):
            self.counts["left out"] += 1
            return None

        def differs(smaller: Any) -> bool:
            # A piece that is missed (a definition, say) makes the schema malformed for either side.
            try:
                again = self.compiled(smaller, _STANDARD)
                return again is not None and (
                    bool(self.judge(smaller).is_valid(json.loads(text))),
                    _takes(again, text),
                ) == (valid, taken)
            except ValueError:
                return False

        said = f"{'valid' if valid else 'invalid'}, but {'taken' if taken else 'not taken'}"
        return f"{text} is {said}: {json.dumps(shrunk(schema, differs), ensure_ascii=False)}"


def _takes(compiled: maskwright.CompiledGrammar | Literal[False], text: str) -> bool:
    if compiled is False:
        return False
    matcher = maskwright.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def _drawn(ids: Ids, rng: random.Random, count: int) -> list[int]:
    """So many ids out of some, perhaps one several times."""
    return [int(ids[rng.randrange(len(ids))]) for _ in range(count)]


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_rounded(text: bytes) -> bool:
    """Whether a text has a number that the judge, which uses binary floats, would round."""
    return re.search(rb"[eE][-+]?[0-9]{3,}|[0-9]{15}|[0-9.]{16}", text) is not None


def _is_left_out(schema: Any, text: str) -> bool:
    """Whether a valid text may be missed: unique items that are containers have one spelling, and in draft 4
    "not an integer" leaves whole numbers with a point out."""

    def has_containers(part: Any) -> bool:
        if isinstance(part, dict):
            return any(map(has_containers, part.values()))
        return isinstance(part, list) and any(
            (isinstance(item, (dict, list)) and item) or has_containers(item) for item in part
        )

    if schema.get("$schema") == DRAFTS["4"][0] and re.search(r"\d\.0\b", text):
        return True
    return '"uniqueItems": true' in json.dumps(schema) and has_containers(json.loads(text))


def shrunk(schema: Any, keeps: Callable[[Any], bool]) -> Any:
    """A smaller schema of which `keeps` still holds: pieces are taken out, or put in the place of what
    they were in, until nothing more can go."""
    going_on = True
    while going_on:
        going_on = False
        for smaller in _smaller(schema):
            if keeps(smaller):
                schema, going_on = smaller, True
                break
    return schema


def _smaller(value: Any) -> Iterator[Any]:
    """Copies of a JSON value with one piece less, large pieces first."""
    if not isinstance(value, (dict, list)):
        return
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    yield from (value[key] for key in keys if isinstance(value[key], dict))
    for key in keys:
        if key != "$schema":
            less = copy.copy(value)
            del less[key]
            yield less
    for key in keys:
        for inner in _smaller(value[key]):
            changed = copy.copy(value)
            changed[key] = inner
            yield changed
