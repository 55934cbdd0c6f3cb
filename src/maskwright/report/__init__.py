"""How far to trust an answer: for each of its values the probability, the runner-up, and what the mask did.

    recorder = StepRecorder()           # hand it to the logits processor of the engine
    ...                                 # generate
    report = make_report(compiled, recorder.steps(prompt, answer))
    print(report.as_text())

`steps` writes down what the model wanted, `reading` finds the values in the tokens, `leaves` and `members`
weigh what else they might have been, `contents` is the result, and `text`, `json_` and `html_` show it.
`Generator(..., report=True)` and `maskwright generate --report` do all of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..compiler import CompiledGrammar
from .contents import Leaf, Member, Outside, Push, Report, RunnerUp
from .leaves import LeafReader, find_pushes
from .reading import Reading, read_json, read_text
from .steps import Step, StepRecorder

__all__ = ["Leaf", "Member", "Outside", "Push", "Report", "RunnerUp", "Step", "StepRecorder", "make_report"]


def make_report(compiled: CompiledGrammar, steps: Sequence[Step], *, is_json: bool = True) -> Report:
    """The report of one answer.

    Args:
        compiled: The grammar that the answer was held to.
        steps: The answer's steps, from `StepRecorder.steps`. It may have been cut off.
        is_json: Whether the grammar's texts are JSON. If not, the whole answer is one leaf.
    """
    info = compiled.tokenizer_info
    read = read_json if is_json else read_text
    reading = read(steps, info.decoded_vocab, frozenset(info.stop_token_ids))
    reader = LeafReader(reading, compiled)
    leaves = tuple(reader.leaf(span) for span in reading.spans)
    return Report(
        text=reading.text.decode(errors="replace"),
        complete=reader.is_complete(),
        leaves=leaves,
        outside=_outside(reading, reader.pushed),
        steps=steps,
        pieces=tuple(piece.decode(errors="replace") for piece in reading.pieces),
        owners=tuple(
            tuple(number for number, span in enumerate(reading.spans) if position in span.tokens)
            for position in range(len(steps))
        ),
        spans=tuple(
            (reading.n_characters(span.start), reading.n_characters(span.end)) for span in reading.spans
        ),
    )


def _outside(reading: Reading, pushed: set[int]) -> Outside:
    inside = {position for span in reading.spans for position in span.tokens}
    steps = [step for position, step in enumerate(reading.steps) if position not in inside]
    pushes = find_pushes(reading, [place for place in range(len(reading.steps)) if place not in pushed])
    return Outside(
        n_tokens=len(steps),
        n_forced=sum(step.is_forced for step in steps),
        removed=tuple(step.removed for step in steps),
        pushed=max(pushes.values(), key=lambda push: push.removed, default=None),
    )
