"""`maskwright generate`: a model's answer that fits, token by token as it comes.

The answer goes to standard output and nothing else does; the summary and a report go to standard error, or
the report to a file. Only ``--report-file -`` puts the report, which holds the answer, in its place.
"""

from __future__ import annotations

import time
from typing import Any

import click

from .constraint import constraint_options, read_constraint
from .exits import INCOMPLETE, Failure
from .reporting import ReportCommand, check_report, report_options, write_report

__all__ = ["generate"]


@click.command(cls=ReportCommand, short_help="Let a model answer, in the form you ask for.")
@click.argument("prompt")
@constraint_options
@click.option("--model", metavar="PATH", help="GGUF file or transformers folder.  [default: SmolLM2-135M]")
@click.option("--max-tokens", type=click.IntRange(min=1), default=512, show_default=True)
@click.option(
    "--finish/--no-finish",
    default=True,
    show_default=True,
    help="Complete the answer within --max-tokens, whatever the model prefers; or let it be cut off there.",
)
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True, help="0: the best token."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--schema-in-prompt/--no-schema-in-prompt",
    default=True,
    show_default=True,
    help="Tell the model in words what is asked for. It never sees the schema otherwise.",
)
@click.option(
    "--schema-style",
    type=click.Choice(["list", "form"]),
    default="list",
    show_default=True,
    help="How to tell it: a list of the properties, or JSON with types in the place of values.",
)
@click.option("--show-prompt", is_flag=True, help="Print the prompt that is sent, on standard error.")
@report_options
def generate(
    prompt: str,
    model: str | None,
    max_tokens: int,
    finish: bool,
    temperature: float,
    seed: int,
    schema_in_prompt: bool,
    schema_style: str,
    show_prompt: bool,
    report: str | None,
    report_file: str | None,
    **constraint: Any,
) -> None:
    """Answer PROMPT with text that fits a schema, model, regex, grammar or list.

    The answer is printed as it comes. A line on standard error says how many tokens it had, the time
    per token and the time spent on masks. Exit code 5: no answer fits into --max-tokens, or with
    --no-finish it came first.
    """
    check_report(report, report_file)
    wanted = read_constraint(**constraint)
    from .. import GrammarCompiler
    from ..report import StepRecorder, make_report
    from .models import load_model
    from .sampling import Sampler, Statistics, generate_text

    engine = load_model(model)
    start = time.perf_counter()
    compiled = wanted.compile(GrammarCompiler(engine.info))
    compile_time = time.perf_counter() - start
    message = prompt
    if schema_in_prompt:
        words = wanted.in_words(
            style=schema_style,
            max_tokens=max(1, engine.context - max_tokens),
            count_tokens=lambda text: len(engine.encode_chat(f"{prompt}\n\n{text}")),
        )
        message = f"{prompt}\n\n{words}".rstrip()
    if show_prompt:
        click.echo(message, err=True)
    tokens = engine.encode_chat(message)
    if len(tokens) + max_tokens > engine.context:
        raise click.UsageError(
            f"the prompt has {len(tokens)} tokens, and {max_tokens} more do not fit into the model's "
            f"{engine.context}; lower --max-tokens, or shorten the prompt (--no-schema-in-prompt)"
        )
    statistics = Statistics()
    recorder = StepRecorder() if report else None
    sampler = Sampler(temperature=temperature, seed=seed)
    shown = report_file != "-"
    for piece in generate_text(
        engine,
        compiled,
        tokens,
        sampler=sampler,
        max_tokens=max_tokens,
        statistics=statistics,
        finish=finish,
        recorder=recorder,
    ):
        if shown:
            click.echo(piece, nl=False)
    if shown:
        click.echo()
    click.echo(f"{engine.name}: compiled in {1e3 * compile_time:.1f} ms; {statistics.summary()}", err=True)
    if report is not None and recorder is not None:
        steps = recorder.steps(tokens, statistics.answer)
        made = make_report(compiled, steps, is_json=wanted.kind == "schema")
        write_report(made, report, report_file, title=engine.name, prompt=prompt)
    if not statistics.finished:
        raise Failure(f"the answer is not complete after --max-tokens {max_tokens}", INCOMPLETE)
