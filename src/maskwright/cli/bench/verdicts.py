"""Verdicts of engines on instances, counted and written down: the document of `bench conformance`.

For each instance: *right*; *false accept* (invalid, taken); *false reject* (valid, not taken);
*refused* (the schema did not compile); *failed* (time-out or crash). An engine that says that a
schema is unsatisfiable has given a verdict, "no instance is valid", and is judged by it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .tables import markdown

__all__ = ["CaseOutcome", "render"]

#: Kinds of answer, in the order of the columns.
KINDS = ("right", "false accept", "false reject", "refused", "failed")
#: At most so many single misses are listed in one section.
LIST_LIMIT = 200


@dataclass
class CaseOutcome:
    """One schema, judged by one engine.

    Attributes:
        engine: The engine.
        draft: Folder of the official suite, or `maskbench`.
        file: File of the suite, or group of MaskBench.
        case: Description of the schema.
        tests: Description of each instance.
        valid: What each instance is.
        accepted: Whether the engine took it; empty when there is no verdict.
        refused: The engine's message when it did not compile the schema.
        unsatisfiable: The message says that nothing satisfies the schema.
        failure: `timeout`, `crash` or `error` (an exception that is not the engine's refusal).
        message: The last line of an error.
    """

    engine: str
    draft: str
    file: str
    case: str
    tests: tuple[str, ...]
    valid: tuple[bool, ...]
    accepted: tuple[bool, ...] = ()
    refused: str | None = None
    unsatisfiable: bool = False
    failure: str | None = None
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def kinds(self) -> list[str]:
        """The kind of answer for each instance."""
        if self.failure is not None:
            return ["failed"] * len(self.valid)
        if self.refused is not None and not self.unsatisfiable:
            return ["refused"] * len(self.valid)
        accepted = self.accepted or (False,) * len(self.valid)
        return [_kind(valid, taken) for valid, taken in zip(self.valid, accepted, strict=True)]

    def schema_kind(self) -> str:
        """One word for the whole schema, as MaskBench counts."""
        kinds = self.kinds()
        if self.failure is not None:
            return self.failure
        if self.refused is not None and not self.unsatisfiable:
            return "refused"
        if "false accept" in kinds:
            return "invalid accepted"
        return "valid refused" if "false reject" in kinds else "passing"


def _kind(valid: bool, taken: bool) -> str:
    if valid == taken:
        return "right"
    return "false reject" if valid else "false accept"


def render(
    outcomes: Sequence[CaseOutcome], specs: Sequence[str], versions: Mapping[str, str], command: str
) -> str:
    """The document, as Markdown."""
    named = ", ".join(f"{spec} {versions[spec]}" for spec in specs)
    parts = [
        "# Conformance",
        f"Written by `{command}`. Engines: {named}.\n"
        "Each instance is judged in its `json.dumps` text over a vocabulary of single bytes, properties\n"
        "in any order where the engine can be told. *Refused*: the engine said\n"
        "that it cannot compile the schema; one that says *unsatisfiable* is judged by that verdict.",
    ]
    suite = [outcome for outcome in outcomes if outcome.draft != "maskbench"]
    maskbench = [outcome for outcome in outcomes if outcome.draft == "maskbench"]
    if suite:
        parts += _suite_sections(suite, specs)
    if maskbench:
        parts += _maskbench_sections(maskbench, specs)
    return "\n\n".join(parts) + "\n"


def _suite_sections(suite: Sequence[CaseOutcome], specs: Sequence[str]) -> list[str]:
    drafts = sorted({outcome.draft for outcome in suite}, key=_draft_age)
    parts = ["## Official JSON Schema test suite", _totals(suite, specs, drafts)]
    for draft in drafts:
        mine = [outcome for outcome in suite if outcome.draft == draft]
        parts += [f"### {draft}", f"{' / '.join(KINDS)}; zeros at the end left out.", _by_file(mine, specs)]
    parts += ["### Misses", _misses([o for o in suite if o.engine == specs[0]], specs[0])]
    return parts


def _draft_age(draft: str) -> float:
    match = re.search(r"\d+", draft)
    return -float(match.group()) if match else 0.0


def _totals(suite: Sequence[CaseOutcome], specs: Sequence[str], drafts: Sequence[str]) -> str:
    rows = []
    for draft in drafts:
        for label, optional in (("required", False), ("optional", True)):
            mine = [o for o in suite if o.draft == draft and o.file.startswith("optional/") == optional]
            for spec in specs:
                counts = _count(o for o in mine if o.engine == spec)
                if counts.total():
                    share = f"{100 * counts['right'] / counts.total():.1f} %"
                    cells = [str(counts[kind]) for kind in KINDS]
                    rows.append([f"{draft} {label}", spec, str(counts.total()), *cells, share])
    return markdown(["", "engine", "instances", *KINDS, "share right"], rows)


def _by_file(outcomes: Sequence[CaseOutcome], specs: Sequence[str]) -> str:
    grouped: dict[str, dict[str, list[CaseOutcome]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        grouped[outcome.file][outcome.engine].append(outcome)
    order = sorted(grouped, key=lambda file: (file.startswith("optional/"), file))
    rows = [[file, *(_short(_count(grouped[file][spec])) for spec in specs)] for file in order]
    return markdown(["file", *specs], rows)


def _count(outcomes: Iterable[CaseOutcome]) -> Counter[str]:
    return Counter(kind for outcome in outcomes for kind in outcome.kinds())


def _short(counts: Counter[str]) -> str:
    values = [counts[kind] for kind in KINDS]
    while len(values) > 1 and not values[-1]:
        values.pop()
    return "/".join(map(str, values))


def _misses(outcomes: Sequence[CaseOutcome], spec: str) -> str:
    return "\n\n".join(_exceptions(outcomes, spec, lambda o: f"{o.draft}/{o.file}: {o.case}", ": "))


def _exceptions(
    outcomes: Sequence[CaseOutcome], spec: str, place: Callable[[CaseOutcome], str], before_test: str
) -> list[str]:
    """What is wrong or failed, and what is refused."""
    wrong = [
        f"- {place(o)}{before_test}{test}: **{kind}**"
        for o in outcomes
        for test, kind in zip(o.tests, o.kinds(), strict=True)
        if kind in ("false accept", "false reject")
    ]
    wrong += [f"- {place(o)}: **{o.failure}** {o.message}" for o in outcomes if o.failure]
    refused = [(place(o), o.refused) for o in outcomes if _is_refused(o)]
    return [_listed(f"Wrong or failed, {spec}", wrong), _reasons(refused, f"Refused, {spec}")]


def _is_refused(outcome: CaseOutcome) -> bool:
    return outcome.refused is not None and not outcome.unsatisfiable


def _listed(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return f"{title}: none."
    rest = f"\n- ... and {len(lines) - LIST_LIMIT} more" if len(lines) > LIST_LIMIT else ""
    return f"{title} ({len(lines)}):\n\n" + "\n".join(lines[:LIST_LIMIT]) + rest


def _reasons(refused: Sequence[tuple[str, str | None]], title: str) -> str:
    """Refusals grouped by reason, each with its number and one example."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for where, message in refused:
        grouped[_reason(message or "")].append(where)
    if not grouped:
        return f"{title}: none."
    order = sorted(grouped, key=lambda reason: -len(grouped[reason]))
    rows = [[reason, str(len(grouped[reason])), grouped[reason][0]] for reason in order[:LIST_LIMIT]]
    return f"{title} ({len(refused)} schemas), by reason:\n\n" + markdown(
        ["reason", "schemas", "first"], rows
    )


def _reason(message: str) -> str:
    line = message.strip().splitlines()[0] if message.strip() else "no message"
    late = line.startswith("while matching: ")
    # The pointer differs from schema to schema.
    line = re.sub(r"#[^\s:]*:? ?", "", line.removeprefix("while matching: "))
    return line[:100] + (" (found late, while matching)" if late else "")


def _maskbench_sections(outcomes: Sequence[CaseOutcome], specs: Sequence[str]) -> list[str]:
    kinds = ("passing", "refused", "invalid accepted", "valid refused", "timeout", "crash", "error")
    rows = []
    for spec in specs:
        mine = [outcome for outcome in outcomes if outcome.engine == spec]
        schemas = Counter(outcome.schema_kind() for outcome in mine)
        instances = _count(mine)
        rows.append(
            [spec, *(str(schemas[kind]) for kind in kinds), *(str(instances[kind]) for kind in KINDS)]
        )
    first = [outcome for outcome in outcomes if outcome.engine == specs[0]]
    return [
        "## MaskBench",
        f"{len(first)} schemas. The first columns up to *error* count schemas, the rest instances.",
        markdown(["engine", *kinds, *KINDS], rows),
        *_exceptions(first, specs[0], lambda o: o.case, ", "),
    ]
