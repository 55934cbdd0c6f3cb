"""`maskwright trace`: a text token by token, and what was legal before each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .constraint import constraint_options, read_constraint
from .exits import NO, Failure
from .tokenizers import DEFAULT, open_tokenizer

if TYPE_CHECKING:
    from .. import GrammarMatcher, TokenizerInfo

__all__ = ["Step", "trace", "trace_tokens"]


@dataclass(frozen=True, slots=True)
class Step:
    """One position of a text.

    Attributes:
        token: The token there; None after the last one.
        legal: Ids of all tokens that were legal before it, ascending.
        accepted: Whether the token was one of them; for None, whether the text may end.
    """

    token: int | None
    legal: list[int]
    accepted: bool


def trace_tokens(matcher: GrammarMatcher, info: TokenizerInfo, tokens: list[int]) -> list[Step]:
    """What was legal before each token, up to the first that was not, and after the last one."""
    from .. import allocate_token_bitmask

    bitmask = allocate_token_bitmask(1, info.vocab_size)
    steps: list[Step] = []
    for token in [*tokens, None]:
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: info.vocab_size]
        legal = np.flatnonzero(bits).tolist()
        accepted = matcher.is_completed() if token is None else matcher.accept_token(token)
        steps.append(Step(token, legal, accepted))
        if not accepted:
            break
    return steps


@click.command(short_help="Follow a text token by token.")
@constraint_options
@click.option("--text", required=True, help="The text to follow.")
@click.option(
    "--tokenizer",
    "tokenizer_name",
    metavar="NAME|PATH",
    default=DEFAULT,
    show_default=True,
    help="smollm2, llama3, qwen, ...; GGUF file, tokenizer.json (or its folder), tekken.json, .model.",
)
@click.option(
    "--show", type=click.IntRange(min=0), default=5, show_default=True, help="Legal tokens per row."
)
def trace(text: str, tokenizer_name: str, show: int, **constraint: Any) -> None:
    """Show each token of a text, how many tokens were legal there, and the first few of them.

    Exit code 1: the text does not fit; the last row says where.
    """
    wanted = read_constraint(**constraint)
    from tabulate import tabulate

    from .. import GrammarCompiler, GrammarMatcher

    tokenizer = open_tokenizer(tokenizer_name)
    info = tokenizer.info
    compiled = wanted.compile(GrammarCompiler(info))
    tokens, exact = tokenizer.encode(text)
    matcher = GrammarMatcher(compiled)
    steps = trace_tokens(matcher, info, tokens)
    rows = [
        (
            position,
            "(end)" if step.token is None else repr_token(info, step.token),
            "" if step.accepted else "NO",
            len(step.legal),
            "  ".join(repr_token(info, token) for token in step.legal[:show])
            + ("  ..." if len(step.legal) > show else ""),
        )
        for position, step in enumerate(steps)
    ]
    headers = ("#", "token", "", "legal", "for example")
    click.echo(tabulate(rows, headers=headers, disable_numparse=[1, 2, 4], colalign=("right",)))
    if not exact:
        click.echo("note: the tokenizer's own encoder was of no use, so the text was cut greedily", err=True)
    if not steps[-1].accepted:
        raise Failure(_why(matcher, info, tokens, steps), NO)
    click.echo("accepted: the text fits")


def repr_token(info: TokenizerInfo, token: int) -> str:
    """A token as a person reads it: quoted text, or the name of a stop or special token in brackets."""
    raw = info.decoded_vocab[token]
    if token in info.stop_token_ids:
        return f"[stop {raw.decode(errors='replace')}]"
    try:
        return repr(raw.decode())
    except UnicodeDecodeError:
        return repr(raw)


def _why(matcher: GrammarMatcher, info: TokenizerInfo, tokens: list[int], steps: list[Step]) -> str:
    """Where exactly the text stops to fit: the byte inside the refused token, and what led there."""
    before = b"".join(info.decoded_vocab[token] for token in tokens[: len(steps) - 1])
    tail = before[-40:].decode(errors="replace")
    step = steps[-1]
    if step.token is None:
        return f"the text may not end here, after {tail!r}"
    raw = info.decoded_vocab[step.token]
    fits = next(
        (length for length in range(len(raw) - 1, 0, -1) if matcher.fork().accept_string(raw[:length])), 0
    )
    what = repr_token(info, step.token)
    inside = f"; its first {fits} bytes would still fit" if fits else ""
    return f"offset {len(before) + fits}: {what} is not legal after {tail!r}{inside}"
