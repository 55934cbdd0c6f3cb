"""Asks each question twice: once with the mask, once without, from the same seed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...compiler import CompiledGrammar, GrammarCompiler
from ...matcher import GrammarMatcher
from ...prompt import Style, ask
from ...report import Step, StepRecorder, make_report
from ..exits import INCOMPLETE, Failure
from ..sampling import Sampler, Statistics, generate_tokens
from .prompts import Question
from .verdicts import find_json, is_same, is_valid, n_mentioned, n_right, strict_json, validator

if TYPE_CHECKING:
    from ..models import Model

__all__ = ["Answer", "Comparison", "Settings", "Trusted", "compare"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to answer: see the options of the command."""

    max_tokens: int
    temperature: float
    seed: int
    schema_style: Style | None  # None: the prompt says nothing of the schema

    def sample(self, logits: npt.NDArray[np.float32], position: int) -> int:
        """A token. The random numbers of a position are its own: forced tokens elsewhere take none away."""
        return Sampler(temperature=self.temperature, seed=[self.seed, position])(logits)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer and what it is worth.

    Attributes:
        text: The answer.
        finished: Whether it ended by itself.
        valid: Whether the whole text is JSON that is valid.
        found_valid: Whether JSON could be cut out of it that is valid.
        n_right: Facts that this JSON has right, valid or not.
        n_mentioned: Facts that stand somewhere in the text, whatever its form.
        n_tokens: Without the stop token.
        seconds: For reading the prompt and answering.
    """

    text: str
    finished: bool
    valid: bool
    found_valid: bool
    n_right: int
    n_mentioned: int
    n_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Trusted:
    """A value of the masked answer that there is a fact for: what the report says, and if it is right."""

    pointer: str
    confidence: float
    level: str
    pushed: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question, answered with the mask and without.

    Attributes:
        question: The question.
        masked: The answer with the mask.
        free: The answer without.
        removed: Share of the probability that the mask took at each token of the masked answer.
        divergence: In nats, at each of these: see `maskwright.report.Step.divergence`.
        places: For each of these, what it belongs to: a kind of value, or ``"outside"`` for none.
        parted: The first token at which the answers differ; None if they are the same.
        left: The first token of the free answer that the grammar forbids; None if it allows all of them.
        n_leaves: Values in the masked answer.
        n_pushed: How many of them the model was pushed to.
        trusted: Those that there are facts for.
    """

    question: Question
    masked: Answer
    free: Answer
    removed: list[float]
    divergence: list[float]
    places: list[str]
    parted: int | None
    left: int | None
    n_leaves: int
    n_pushed: int
    trusted: list[Trusted]


def compare(model: Model, questions: Sequence[Question], settings: Settings) -> Iterator[Comparison]:
    """The comparisons, one after the other.

    Raises:
        SchemaError: A schema cannot be compiled.
        Failure: A prompt does not fit into the model, or there is no validator.
    """
    compiler = GrammarCompiler(model.info)
    for question in questions:
        compiled = compiler.compile_json_schema(question.schema)
        check = validator(question.schema)
        words = f"\n\n{ask(question.schema, style=settings.schema_style)}" if settings.schema_style else ""
        prompt = model.encode_chat(f"{question.prompt}{words}")
        if len(prompt) + settings.max_tokens > model.context:
            raise Failure(
                f"line {question.line}: {len(prompt)} tokens of prompt and {settings.max_tokens} more "
                f"do not fit into the model's {model.context}",
                INCOMPLETE,
            )
        yield _compare(model, question, compiled, check, prompt, settings)


def _compare(
    model: Model,
    question: Question,
    compiled: CompiledGrammar,
    check: Any,
    prompt: list[int],
    settings: Settings,
) -> Comparison:
    masked_tokens, masked_time, finished, steps = _masked(model, compiled, prompt, settings)
    free_tokens, free_time, free_finished = _free(model, prompt, settings)
    report = make_report(compiled, steps)
    return Comparison(
        question=question,
        masked=_judge(model, question, check, masked_tokens, masked_time, finished),
        free=_judge(model, question, check, free_tokens, free_time, free_finished),
        removed=[step.removed for step in steps],
        divergence=[step.divergence for step in steps],
        places=report.places(),
        parted=_first_difference(masked_tokens, free_tokens),
        left=_first_illegal(compiled, free_tokens),
        n_leaves=len(report.leaves),
        n_pushed=sum(leaf.pushed is not None for leaf in report.leaves),
        trusted=[
            Trusted(
                leaf.pointer,
                leaf.confidence,
                leaf.level,
                leaf.pushed is not None,
                is_same(leaf.value, question.facts[leaf.pointer]),
            )
            for leaf in report.leaves
            if leaf.complete and leaf.pointer in question.facts
        ],
    )


def _masked(
    model: Model, compiled: CompiledGrammar, prompt: list[int], settings: Settings
) -> tuple[list[int], float, bool, list[Step]]:
    statistics, recorder = Statistics(), StepRecorder()
    start = time.perf_counter()
    for _ in generate_tokens(
        model,
        compiled,
        prompt,
        sampler=lambda logits: settings.sample(logits, len(statistics.answer)),
        max_tokens=settings.max_tokens,
        statistics=statistics,
        finish=False,  # what a budget changes is another question
        recorder=recorder,
    ):
        pass
    seconds = time.perf_counter() - start
    return statistics.answer, seconds, statistics.finished, recorder.steps(prompt, statistics.answer)


def _free(model: Model, prompt: list[int], settings: Settings) -> tuple[list[int], float, bool]:
    """An answer without a mask; only ids that the vocabulary lacks are kept out."""
    stops = set(model.info.stop_token_ids)
    answer: list[int] = []
    unread = list(prompt)
    start = time.perf_counter()
    model.reset()
    # As in the masked run, the stop token is not counted.
    while sum(token not in stops for token in answer) < settings.max_tokens:
        logits = model.evaluate(unread)
        logits[model.info.vocab_size :] = -np.inf
        answer.append(settings.sample(logits, len(answer)))
        if answer[-1] in stops:
            return answer, time.perf_counter() - start, True
        unread = answer[-1:]
    return answer, time.perf_counter() - start, False


def _judge(
    model: Model, question: Question, check: Any, tokens: list[int], seconds: float, finished: bool
) -> Answer:
    stops = set(model.info.stop_token_ids)
    written = [token for token in tokens if token not in stops]
    text = b"".join(model.info.decoded_vocab[token] for token in written).decode(errors="replace")
    valid = found_valid = False
    right = 0
    try:
        value = find_json(text)
        found_valid = is_valid(check, value)
        right = n_right(value, question.facts)
        valid = is_valid(check, strict_json(text))
    except ValueError:
        pass
    mentioned = n_mentioned(text, question.facts)
    return Answer(text, finished, valid, found_valid, right, mentioned, len(written), seconds)


def _first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    for place, (token, twin) in enumerate(zip(one, other, strict=False)):
        if token != twin:
            return place
    return None if len(one) == len(other) else min(len(one), len(other))


def _first_illegal(compiled: CompiledGrammar, tokens: Sequence[int]) -> int | None:
    n_legal = GrammarMatcher(compiled).validate_tokens(tokens)
    return None if n_legal == len(tokens) else n_legal
