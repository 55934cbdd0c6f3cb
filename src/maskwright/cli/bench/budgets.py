"""`maskwright bench budgets`: outputs that have to end in time, and what a token budget costs.

Walks through the masks with `max_tokens` between what a schema needs at least and 50 more. A walk does not
want to end: it takes any legal token, or always a long one, one that opens another member or item, or
white space. Every output must be complete, valid and within its budget.

The cost is what a budget adds to a mask. A second matcher without a budget follows one walk in ten and fills
the same masks: the difference of the times counts, and whether the masks differ says whether it binds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import maskwright

from . import vocabularies
from .datasets import draw_sample, find_data, read_maskbench
from .tables import markdown, number, summary
from .workers import Failure, run_jobs

__all__ = ["Outcome", "Walker", "add_arguments", "run"]

_STYLES: Final = ("uniform", "longest", "another", "blank")
#: Budgets go from the minimum to this much more.
_SLACK: Final = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument(
        "--data", type=Path, help="MaskBench file or folder; else the project's own schemas alone"
    )
    parser.add_argument("--schemas", type=int, default=500, help="schemas drawn from it (default 500)")
    parser.add_argument("--walks", type=int, default=100_000, help="walks in all (default 100,000)")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds for one schema")
    parser.add_argument("--workers", type=int, default=1)


@dataclass
class Outcome:
    """What became of one schema.

    Attributes:
        name: Of the schema.
        refused: Why there were no walks; None if there were.
        min_tokens: The least budget.
        walks: How many.
        failures: What went wrong: a dead end, a budget overrun, an output that is not valid.
        n_tokens: Tokens of all outputs.
        loose_us, binding_us: What the budget added to masks that it left as they were, and to those it
            narrowed, in microseconds, at a second fill.
        first_us: The same at the first fill of this walk, for all masks; the state may be new.
    """

    name: str
    refused: str | None = None
    min_tokens: int = 0
    walks: int = 0
    failures: list[str] = field(default_factory=list)
    n_tokens: int = 0
    loose_us: list[float] = field(default_factory=list)
    binding_us: list[float] = field(default_factory=list)
    first_us: list[float] = field(default_factory=list)


class Walker:
    """Chooses among the legal tokens of a vocabulary.

    Args:
        texts: The bytes of each token; None for special ones.
    """

    def __init__(self, texts: Sequence[bytes | None]) -> None:
        self._liked = {
            "longest": _row(texts, lambda text: len(text) >= 12),
            "another": _row(texts, lambda text: text.lstrip()[:1] in (b",", b"[", b"{")),
            "blank": _row(texts, lambda text: bool(text) and text.isspace()),
        }

    def choose(self, legal: npt.NDArray[np.int32], style: str, numbers: random.Random) -> int:
        """One of the legal tokens, by preference of the style where there is one it likes.

        Args:
            legal: int32, shape (words,): a row of a bitmask.
            style: One of the styles of walking.
            numbers: Where chance comes from.
        """
        if style in self._liked:
            liked = legal & self._liked[style]
            if liked.any():
                legal = liked
        words = legal.view(np.uint32)
        sizes = (
            np.bitwise_count(words).astype(np.int64) if hasattr(np, "bitwise_count") else _bit_counts(words)
        )
        places = sizes.cumsum()
        wanted = numbers.randrange(int(places[-1]))
        word = int(np.searchsorted(places, wanted, side="right"))
        bits = int(words[word])
        for _ in range(wanted - int(places[word] - sizes[word])):
            bits &= bits - 1
        return 32 * word + (bits & -bits).bit_length() - 1


def _bit_counts(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    bits = np.unpackbits(words.view(np.uint8)).reshape(len(words), 32)
    counts: npt.NDArray[np.int64] = bits.sum(axis=1, dtype=np.int64)
    return counts


def _row(texts: Sequence[bytes | None], wanted: Callable[[bytes], bool]) -> npt.NDArray[np.int32]:
    bits = np.zeros(-(-len(texts) // 32) * 32, np.uint8)
    for token, text in enumerate(texts):
        bits[token] = text is not None and wanted(text)
    return np.packbits(bits, bitorder="little").view(np.int32)


@dataclass(frozen=True)
class _Job:
    name: str
    schema: str
    walks: int
    seed: int


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    schemas = [(path.stem, path.read_text("utf-8")) for path in sorted(_own_schemas())]
    if args.data is not None:
        records = read_maskbench(find_data(args.data, "maskbench"))
        drawn = draw_sample(records, args.schemas, args.seed)
        schemas += [(record.name, json.dumps(record.schema)) for record in drawn]
    share, rest = divmod(args.walks, len(schemas))
    jobs = [
        _Job(name, schema, share + (number_ < rest), args.seed + number_)
        for number_, (name, schema) in enumerate(schemas)
    ]
    outcomes = []
    for job, result in run_jobs(
        jobs, partial(make_handler, args.vocabulary), n_workers=args.workers, limit_s=args.time_limit
    ):
        if isinstance(result, Failure):
            last = result.message.strip().splitlines()[-1:] or [""]
            result = Outcome(job.name, failures=[f"{result.kind} after {result.seconds:.0f} s {last[0]}"])
        outcomes.append(result)
    args.exit_code = int(any(outcome.failures for outcome in outcomes))
    return _render(args, outcomes)


def _own_schemas() -> list[Path]:
    root = Path(__file__).parents[4]
    return [*root.glob("benchmarks/schemas/*.json"), *root.glob("examples/schemas/*.json")]


def make_handler(vocabulary_name: str) -> Callable[[_Job], Outcome]:
    """In the worker: vocabulary and compiler are made once."""
    vocabulary = vocabularies.load(vocabulary_name)
    info = maskwright.TokenizerInfo(
        vocabulary.tokens,
        stop_token_ids=[vocabulary.stop_id],
        special_token_ids=sorted(vocabulary.special.values()),
    )
    return partial(walk_schema, maskwright.GrammarCompiler(info), Walker(info.decoded_vocab))


def walk_schema(compiler: maskwright.GrammarCompiler, walker: Walker, job: _Job) -> Outcome:
    """All walks over one schema."""
    import jsonschema_rs

    outcome = Outcome(job.name)
    schema = json.loads(job.schema)
    try:
        compiled = compiler.compile_json_schema(job.schema)
        validator = jsonschema_rs.validator_for(schema)
    except maskwright.MaskwrightError as error:
        outcome.refused = f"not compiled: {error.message}"
        return outcome
    except ValueError:
        outcome.refused = "the validator cannot judge it"
        return outcome
    if compiled.min_tokens is None:
        outcome.refused = "no completion known"
        return outcome
    outcome.min_tokens = compiled.min_tokens
    numbers = random.Random(job.seed)
    for number_ in range(job.walks):
        style = _STYLES[number_ % len(_STYLES)]
        budget = compiled.min_tokens + numbers.randrange(_SLACK + 1)
        try:
            text, n_tokens = _walk(compiled, walker, style, budget, numbers, outcome, timed=number_ % 10 == 0)
        except _Stuck as stuck:
            outcome.failures.append(f"{style}, budget {budget}: {stuck}")
            continue
        except maskwright.LimitExceeded as limit:
            outcome.refused = f"given up after {outcome.walks} walks: {limit.message}"
            break
        outcome.walks += 1
        outcome.n_tokens += n_tokens
        if not validator.is_valid(json.loads(text, parse_float=_finite)):
            outcome.failures.append(f"{style}, budget {budget}: not valid: {text[:200]!r}")
    return outcome


def _finite(text: str) -> float:
    """A number as the nearest double: JSON has larger ones, which the validator cannot be given."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(text)))


class _Stuck(Exception):
    """A walk did not end in time."""


def _walk(
    compiled: maskwright.CompiledGrammar,
    walker: Walker,
    style: str,
    budget: int,
    numbers: random.Random,
    outcome: Outcome,
    *,
    timed: bool,
) -> tuple[bytes, int]:
    info = compiled.tokenizer_info
    row = maskwright.allocate_token_bitmask(1, info.vocab_size)
    free = maskwright.allocate_token_bitmask(1, info.vocab_size)
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=budget)
    plain = maskwright.GrammarMatcher(compiled) if timed else None
    text = b""
    for number_ in range(budget):
        if plain is not None:
            _time_fill(matcher, plain, row, free, outcome)
        matcher.fill_next_token_bitmask(row)
        if not row.any():
            raise _Stuck(f"dead end after {number_} tokens: {text[-200:]!r}")
        token = walker.choose(row[0], style, numbers)
        if not matcher.accept_token(token):
            raise _Stuck(f"token {token} is in the mask and refused after {text[-200:]!r}")
        if plain is not None:
            plain.accept_token(token)
        if matcher.is_terminated():
            return text, number_ + 1
        text += info.decoded_vocab[token] or b""
    raise _Stuck(f"not complete: {text[-200:]!r}")


def _time_fill(
    matcher: maskwright.GrammarMatcher,
    plain: maskwright.GrammarMatcher,
    row: Any,
    free: Any,
    outcome: Outcome,
) -> None:
    """Fill the mask with and without the budget; the mask itself is there before the clock starts."""
    plain.fill_next_token_bitmask(free)
    marks = [time.perf_counter_ns()]
    for each, bitmask in ((matcher, row), (plain, free), (matcher, row)):
        each.fill_next_token_bitmask(bitmask)
        marks.append(time.perf_counter_ns())
    first, bare, second = (1e-3 * (after - before) for before, after in pairwise(marks))
    kind = outcome.loose_us if np.array_equal(row, free) else outcome.binding_us
    kind.append(second - bare)
    outcome.first_us.append(first - bare)


def _render(args: argparse.Namespace, outcomes: Sequence[Outcome]) -> str:
    walked = [outcome for outcome in outcomes if outcome.walks]
    refused = Counter(outcome.refused for outcome in outcomes if outcome.refused)
    failures = [f"{outcome.name}: {failure}" for outcome in outcomes for failure in outcome.failures]
    n_walks = sum(outcome.walks for outcome in walked)
    lines = [
        f"{n_walks:,} walks over {len(walked)} schemas ({args.vocabulary}), "
        f"{sum(outcome.n_tokens for outcome in walked):,} tokens; budgets from the minimum to {_SLACK} more.",
        f"Complete, valid and in time: {n_walks - len(failures):,}. Failures: {len(failures)}.",
        *(f"- {failure}" for failure in failures[:20]),
        *(
            f"Not walked, or not to the end: {count} schemas: {reason}"
            for reason, count in refused.most_common(10)
        ),
        "",
    ]
    kinds = {
        "first fill of a walk": [us for o in walked for us in o.first_us],
        "second fill, binding": [us for o in walked for us in o.binding_us],
        "second fill, loose": [us for o in walked for us in o.loose_us],
    }
    names = ("mean", "p50", "p90", "p99", "max")
    rows = [
        [kind, f"{len(values):,}", *(number(summary(values).get(name)) for name in names)]
        for kind, values in kinds.items()
    ]
    lines.append(markdown(["a budget adds to a mask, us", "masks", *names], rows))
    return "\n".join(lines)
