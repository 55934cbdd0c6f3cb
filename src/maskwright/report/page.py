"""A report as a page: one HTML file with its style inside, no script, nothing loaded from elsewhere.

Confidence is told three times, by a word, by a figure and by a colour with an underline of its own, so
that nobody depends on the colour. The page follows the reader's choice of light or dark.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

from .contents import Leaf, Push, Report
from .steps import Step
from .wording import LEGEND, kind, other, percent, pushed, shorten

__all__ = ["render"]

_N_MEMBERS = 12  # listed of a value that is one of few


def render(report: Report, *, title: str = "", prompt: str = "") -> str:
    """The page. See `Report.as_html`."""
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title or "an answer"),
        prompt=f'<section><h2>Prompt</h2><p class="prompt">{escape(prompt)}</p></section>' if prompt else "",
        verdict=_verdict(report),
        answer=_answer(report),
        rows="\n".join(_row(leaf, number) for number, leaf in enumerate(report.leaves)),
        outside=_outside(report),
        legend="".join(f"<li>{escape(line)}</li>" for line in LEGEND),
        tokens="\n".join(
            _token(piece, step) for piece, step in zip(report.pieces, report.steps, strict=True)
        ),
    )


def _percent(share: float) -> str:
    return percent(share).replace(" ", "\u00a0")  # on one line


def _verdict(report: Report) -> str:
    """The first thing to read: how many values are of which kind, or what is wrong."""
    levels = [leaf.level for leaf in report.leaves]
    parts = [
        f'<li class="{level}"><b>{levels.count(level)}</b> {level}</li>'
        for level in ("sure", "likely", "doubtful")
    ]
    n_pushed = sum(leaf.pushed is not None for leaf in report.leaves)
    parts.append(f'<li class="pushed"><b>{n_pushed}</b> pushed</li>')
    if not report.complete:
        parts.append("<li><b>the answer is not complete</b></li>")
    return "".join(parts)


def _answer(report: Report) -> str:
    """The text of the answer with its values marked."""
    parts, place = [], 0
    for number, (leaf, (start, end)) in enumerate(zip(report.leaves, report.spans, strict=True)):
        hint = f"{leaf.pointer or 'the answer'}: {_percent(leaf.confidence)}, {leaf.level}"
        flag = '<span class="flag" aria-label="pushed">⚑</span>' if leaf.pushed else ""
        parts += [
            escape(report.text[place:start]),
            f'<a class="{leaf.level}" href="#leaf{number}" title="{escape(hint)}">',
            f"{escape(report.text[start:end])}{flag}<sup>{_percent(leaf.confidence)}</sup></a>",
        ]
        place = end
    return "".join([*parts, escape(report.text[place:])])


def _row(leaf: Leaf, number: int) -> str:
    value = f"<code>{escape(leaf.text)}</code>" + ("" if leaf.complete else " (cut)")
    runner_up = leaf.runner_up
    second = (
        f"<code>{escape(shorten(other(runner_up), 40))}</code> {_percent(runner_up.probability)}"
        if runner_up
        else '<span class="none">–</span>'
    )
    return f"""<tr id="leaf{number}">
<th scope="row"><code>{escape(leaf.pointer or "(the answer)")}</code><small>{escape(kind(leaf))}</small></th>
<td class="value">{value}{_note(leaf.pushed)}{_members(leaf)}</td>
<td class="{leaf.level}">{_meter(leaf.confidence)}<b>{_percent(leaf.confidence)}</b> {leaf.level}</td>
<td>{second}</td>
<td>{_removed(leaf.removed)}{_percent(max(leaf.removed, default=0.0))}</td>
<td class="number">{leaf.n_tokens}<small>{leaf.n_forced} forced</small></td>
</tr>"""


def _note(push: Push | None) -> str:
    if push is None:
        return ""
    text = escape(pushed(push)).replace(" %", "\u00a0%")
    return f'<p class="note"><span class="flag">⚑ pushed</span> {text}</p>'


def _members(leaf: Leaf) -> str:
    """The values that were possible, as far as they are few."""
    if len(leaf.members) < 2:
        return ""
    items = []
    for member in leaf.members[:_N_MEMBERS]:
        share = _percent(member.at_least)
        if member.at_most - member.at_least >= 0.001:
            share += f" to {_percent(member.at_most)}"
        items.append(
            f"<li><code>{escape(shorten(member.text, 40))}</code> {_meter(member.at_least)} {share}</li>"
        )
    more = len(leaf.members) - _N_MEMBERS
    if more > 0:
        items.append(f"<li>and {more} more</li>")
    summary = f"<summary>all {len(leaf.members)} values</summary>"
    return f'<details>{summary}<ul class="members">{"".join(items)}</ul></details>'


def _meter(share: float) -> str:
    return f'<span class="meter" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'


def _removed(removed: tuple[float, ...]) -> str:
    """A bar for each token, as high as what the mask took there."""
    bars = "".join(f'<i style="height:{max(4.0, 100 * share):.0f}%"></i>' for share in removed[:60])
    figures = ", ".join(_percent(share) for share in removed)
    return f'<span class="bars" role="img" aria-label="{figures}" title="{figures}">{bars}</span>'


def _outside(report: Report) -> str:
    outside = report.outside
    return f"""<tr>
<th scope="row">around the values<small>punctuation, keys</small></th>
<td class="value">{_note(outside.pushed)}</td><td></td><td></td>
<td>{_removed(outside.removed)}{_percent(max(outside.removed, default=0.0))}</td>
<td class="number">{outside.n_tokens}<small>{outside.n_forced} forced</small></td>
</tr>"""


def _token(piece: str, step: Step) -> str:
    text = escape(shorten(piece, 30)) or "(the end)"
    removed = _percent(step.removed) + ("" if step.wanted_is_legal else " ⚑")
    cells = (f"<code>{text}</code>", _percent(step.probability), removed, f"{step.n_legal:,}")
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
