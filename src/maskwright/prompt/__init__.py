"""Says in words what a JSON Schema asks for, to be put into the prompt.

A mask never tells the model anything: the model sees its prompt and the tokens so far, not the grammar.
Without the field names, descriptions and choices in its prompt, a model is led through a form it cannot
read: the result fits the schema and means little. `describe` writes them down briefly.

It does not check the schema (the compiler does, and says where it is wrong) and leaves out what helps
a validator more than a writer. A named subschema is described where it is first used and named after
that, which also ends recursion. Sending the schema itself was rejected: it costs several times the
tokens, most of them syntax, and small models copy the syntax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from .form import write_form
from .listing import write_list
from .phrases import Detail

__all__ = ["Style", "ask", "describe"]

#: How a description looks.
Style = Literal["list", "form"]

_WRITERS: Final = {"list": write_list, "form": write_form}

#: From everything to next to nothing; the first that fits an allowance is taken.
_DETAILS: Final = (
    Detail(),
    Detail(n_remark=120),
    Detail(n_remark=50, n_choices=20),
    Detail(n_remark=0, n_choices=20),
    Detail(n_remark=0, n_choices=8, depth=3),
    Detail(n_remark=0, n_choices=4, depth=2),
    Detail(n_remark=0, n_choices=3, depth=1),
)

_REQUEST: Final = "Answer with JSON only, one value of this form:\n"

_BYTES_PER_TOKEN: Final = 3  # of such texts with usual vocabularies: 3.2 to 4.5; to be on the safe side


def describe(
    schema: dict[str, Any] | bool,
    *,
    style: Style = "list",
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> str:
    """A short description of the values that a JSON Schema allows.

    Args:
        schema: The schema as parsed JSON. Local references are followed; others are named only.
        style: ``"list"``, one line for the value, then one line for each property; or ``"form"``, JSON
            with types in the place of values, in the spelling of TypeScript.
        max_tokens: The most tokens it may have. To fit, it says less: first shorter descriptions, then
            none, fewer choices, fewer levels, and at last only its first lines.
        count_tokens: How many tokens a text has, for a model's own count; by default an estimate that
            errs upwards.

    Returns:
        Lines of text without a final line break.

    Raises:
        ValueError: There is no such style, or `max_tokens` is below 1.

    Example:
        >>> schema = {
        ...     "type": "object",
        ...     "properties": {
        ...         "name": {"type": "string", "description": "Full name"},
        ...         "role": {"enum": ["admin", "user"]},
        ...         "weight": {"type": "number", "minimum": 0, "unit": "kg"},
        ...         "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        ...     },
        ...     "required": ["name", "role"],
        ... }
        >>> print(describe(schema))
        object:
        - "name": string. Full name
        - "role": one of "admin", "user"
        - "weight": number in kg (at least 0), optional
        - "tags": array of string, at most 3 items, optional
        >>> print(describe(schema, style="form"))
        {
          "name": string,  // Full name
          "role": "admin" | "user",
          "weight"?: number,  // in kg; at least 0
          "tags"?: [string, ...],  // at most 3 items
        }
    """
    if style not in _WRITERS:
        raise ValueError(f"there is no style {style!r}; there are {', '.join(_WRITERS)}")
    write = _WRITERS[style]
    if max_tokens is None:
        return write(schema, _DETAILS[0])
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
    count = count_tokens or _estimate
    for detail in _DETAILS:
        text = write(schema, detail)
        if count(text) <= max_tokens:
            return text
    return _first_lines(text, max_tokens, count)


def ask(
    schema: dict[str, Any] | bool,
    *,
    style: Style = "list",
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> str:
    """What to write behind a question that is to be answered with JSON: the request and the description.

    Arguments and errors as for `describe`; what is counted is the whole text.
    """
    count = count_tokens or _estimate
    words = describe(
        schema, style=style, max_tokens=max_tokens, count_tokens=lambda text: count(f"{_REQUEST}{text}")
    )
    return f"{_REQUEST}{words}"


def _estimate(text: str) -> int:
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)


def _first_lines(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """As many lines as fit, and that there are more; the first line, cut, if not even that fits."""
    lines = text.split("\n")
    for n_lines in range(len(lines) - 1, 0, -1):
        shorter = "\n".join([*lines[:n_lines], "…"])
        if count(shorter) <= max_tokens:
            return shorter
    first = lines[0]
    while len(first) > 1 and count(first) > max_tokens:
        first = first[: len(first) * 3 // 4]
    return first
