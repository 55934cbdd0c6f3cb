"""`maskwright compare`: what the mask changed. The same prompts with it and without it, side by side.

`prompts` reads the questions, `runs` answers them, `verdicts` judges the answers, `tables` and `plot` show
the result.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..constraint import schema_options
from ..exits import Failure

if TYPE_CHECKING:
    from ...prompt import Style

__all__ = ["compare"]


@click.command(short_help="Ask the same with the mask and without it.")
@click.option(
    "--prompts", type=click.Path(path_type=Path), required=True, help="JSON lines: see docs/cli.md."
)
@schema_options
@click.option("--model", metavar="PATH", help="GGUF file or transformers folder.  [default: SmolLM2-135M]")
@click.option("--max-tokens", type=click.IntRange(min=1), default=160, show_default=True)
@click.option("--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--schema-in-prompt/--no-schema-in-prompt",
    default=True,
    show_default=True,
    help="Tell the model in words what is asked for, in both runs.",
)
@click.option("--schema-style", type=click.Choice(["list", "form"]), default="list", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many prompts.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw a picture (.svg, .png).")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every answer and figure.")
def compare(
    prompts: Path,
    model: str | None,
    max_tokens: int,
    temperature: float,
    seed: int,
    schema_in_prompt: bool,
    schema_style: Style,
    limit: int | None,
    plot: Path | None,
    json_file: Path | None,
    **constraint: Any,
) -> None:
    """Answer every prompt of a file twice, with the mask and without, and compare.

    Shares of valid answers and of facts that are right, tokens and seconds, what the mask took at each
    step, and where the two answers part. Lines of the file may name schemas of their own; --schema or
    --pydantic is for those that do not.
    """
    from ..constraint import read_constraint
    from ..models import load_model
    from .prompts import read_questions
    from .runs import Settings
    from .runs import compare as run
    from .tables import as_json, place_table, task_table, trust_table

    given = any(value is not None for value in constraint.values())
    questions = read_questions(prompts, read_constraint(**constraint).source if given else None)[:limit]
    engine = load_model(model)
    settings = Settings(max_tokens, temperature, seed, schema_style if schema_in_prompt else None)
    comparisons = []
    for comparison in run(engine, questions, settings):
        comparisons.append(comparison)
        if sys.stderr.isatty():
            click.echo(f"\r{len(comparisons)} of {len(questions)}", nl=False, err=True)
    if sys.stderr.isatty():
        click.echo(err=True)
    click.echo(f"{engine.name}, {len(questions)} prompts, seed {seed}, temperature {temperature:g}\n")
    click.echo(task_table(comparisons))
    click.echo()
    click.echo(place_table(comparisons))
    if any(comparison.trusted for comparison in comparisons):
        click.echo()
        click.echo(trust_table(comparisons))
    if json_file is not None:
        try:
            json_file.write_text(json.dumps(as_json(comparisons), ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise Failure(f"{json_file}: {error.strerror}", 2) from error
    if plot is not None:
        from .plot import draw

        draw(comparisons, plot, f"{engine.name}, {len(questions)} prompts")
