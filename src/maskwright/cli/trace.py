"""`maskwright trace`: a text token by token, what was legal before each, and why one was not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .constraint import constraint_options, read_constraint
from .exits import NO, Failure
from .tokenizers import DEFAULT, open_tokenizer

if TYPE_CHECKING:
    from .. import GrammarMatcher, TokenizerInfo
    from ..explain import Explanation

__all__ = ["Step", "explain_tokens", "trace", "trace_tokens"]


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


def explain_tokens(
    matcher: GrammarMatcher, tokens: Iterable[int], last: int | str | None = None
) -> Explanation:
    """About the first token that is not legal; if all are, about `last` (None: the end of the text)."""
    for token in tokens:
        if not matcher.accept_token(token):
            return matcher.explain(token)
    return matcher.explain(last)


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
@click.option(
    "--why", is_flag=True, help="Instead of all rows: what was expected where the text does not fit."
)
@click.option(
    "--token",
    "asked",
    metavar="ID|TEXT",
    help="Explain this token after the whole text, whether or not it is legal.",
)
def trace(text: str, tokenizer_name: str, show: int, why: bool, asked: str | None, **constraint: Any) -> None:
    """Show each token of a text, how many tokens were legal there, and the first few of them.

    Exit code 1: the text does not fit (or the token of --token is not legal after it); the message says where
    and why.
    """
    wanted = read_constraint(**constraint)
    from .. import GrammarCompiler, GrammarMatcher

    tokenizer = open_tokenizer(tokenizer_name)
    info = tokenizer.info
    matcher = GrammarMatcher(wanted.compile(GrammarCompiler(info)))
    tokens, exact = tokenizer.encode(text)
    if not exact:
        click.echo("note: the tokenizer's own encoder was of no use, so the text was cut greedily", err=True)
    if why or asked is not None:
        explanation = explain_tokens(matcher, tokens, None if asked is None else _find_token(info, asked))
        click.echo(str(explanation))
        if not explanation.legal:
            raise click.exceptions.Exit(NO)
        return
    steps = trace_tokens(matcher, info, tokens)
    click.echo(_as_table(info, steps, show))
    if not steps[-1].accepted:
        explanation = matcher.explain(steps[-1].token)
        where = explanation.where()
        raise Failure(f"{explanation.headline}\n{where}\n  hint: --why tells what was expected there", NO)
    click.echo("accepted: the text fits")


def _find_token(info: TokenizerInfo, asked: str) -> int | str:
    """The token that a person means: by id, else by its exact text, else the text itself."""
    if asked.isdecimal():
        return int(asked)
    wanted = asked.encode()
    return next((token for token, text in enumerate(info.decoded_vocab) if text == wanted), asked)


def _as_table(info: TokenizerInfo, steps: list[Step], show: int) -> str:
    from tabulate import tabulate

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
    return str(tabulate(rows, headers=headers, disable_numparse=[1, 2, 4], colalign=("right",)))


def repr_token(info: TokenizerInfo, token: int) -> str:
    """A token as a person reads it: quoted text, or the name of a stop or special token in brackets."""
    raw = info.decoded_vocab[token]
    if token in info.stop_token_ids:
        return f"[stop {raw.decode(errors='replace')}]"
    try:
        return repr(raw.decode())
    except UnicodeDecodeError:
        return repr(raw)
