"""`maskwright check`: what of a JSON Schema is enforced, keyword by keyword.

No model and no vocabulary is involved. The schema is read leniently, so that the report goes on after the
first keyword that cannot be enforced.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import IO, TYPE_CHECKING

import click

from .constraint import Constraint, read_constraint, schema_options
from .exits import NO

if TYPE_CHECKING:
    from ..schema.report import Report

__all__ = ["check", "report_of", "shortest_output"]


def report_of(constraint: Constraint) -> Report:
    """The whole report of a schema.

    Raises:
        SchemaError: The schema is malformed, or nothing can satisfy it.
    """
    from .. import Grammar

    report = Grammar.from_json_schema(constraint.source, lenient=True).report
    assert report is not None  # a schema's grammar has one
    return report.complete()


def shortest_output(constraint: Constraint, tokenizer: str | None) -> dict[str, int | None]:
    """Bytes of a shortest output, and the tokens that suffice for it in a vocabulary; None where not known.

    Raises:
        VocabularyError: The tokenizer cannot be read.
    """
    from .. import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

    if tokenizer is None:
        info = TokenizerInfo([bytes([byte]) for byte in range(256)])
    else:
        from .tokenizers import open_tokenizer

        info = open_tokenizer(tokenizer).info
    grammar = Grammar.from_json_schema(constraint.source, lenient=True)
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar))
    completion = matcher.find_shortest_completion()
    return {
        "bytes": None if completion is None else len(completion),
        "tokens": None if tokenizer is None else matcher.tokens_to_finish(),
    }


@click.command()
@schema_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--tokenizer", help="Also tell how many of this vocabulary's tokens suffice for an output.")
@click.pass_context
def check(
    context: click.Context,
    schema: IO[str] | None,
    pydantic: str | None,
    as_json: bool,
    tokenizer: str | None,
) -> None:
    """Show what of a JSON Schema is enforced.

    Exit code 1: something is not enforced, so that valid output would not be guaranteed.
    """
    constraint = read_constraint(schema=schema, pydantic=pydantic)
    report = report_of(constraint)
    shortest = shortest_output(constraint, tokenizer)
    click.echo(_as_json(report, shortest) if as_json else _as_table(report, shortest))
    if not report.is_exact:
        context.exit(NO)


def _as_json(report: Report, shortest: dict[str, int | None]) -> str:
    entries = [
        {
            "pointer": entry.pointer,
            "keyword": entry.keyword,
            "status": str(entry.status),
            "note": entry.note,
        }
        for entry in report.entries
    ]
    body = {
        "exact": report.is_exact,
        "branches": report.n_branches,
        "shortest": shortest,
        "entries": entries,
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


def _as_table(report: Report, shortest: dict[str, int | None]) -> str:
    from tabulate import tabulate

    rows = [(entry.pointer, str(entry.status), entry.note) for entry in report.entries]
    table = tabulate(rows, headers=("place", "status", "note"), disable_numparse=True)
    counts = Counter(str(entry.status) for entry in report.entries)
    summary = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no keywords"
    verdict = "everything is enforced" if report.is_exact else "NOT everything is enforced"
    known = ", ".join(f"{count} {unit}" for unit, count in shortest.items() if count is not None)
    sizes = f"{report.n_branches} branches; shortest output: {known or 'not found'}"
    return f"{table}\n\n{summary}: {verdict}\n{sizes}"
