"""Given values: whether one meets a branch, and how it is written.

`value_meets` is a validator over branches and shapes, used to filter ``enum`` and ``const`` by what
stands beside them and to judge known names against ``propertyNames``. Each scalar is compared exactly;
strings are looked up in the same lexemes that generation uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lexeme import Lexeme, concat, literal
from ..regex.encoding import is_spellable
from ..rules import Call, Expr, Lex, Rule, Seq
from .branches import Branch
from .emptiness import holds_text
from .groups import Literal
from .members import Asked, cut_key
from .numeric import number_meets
from .shapes import ArrayShape, ObjectShape, Obligations
from .values import ARRAY, NUMBER, OBJECT, STRING, json_key, string_text, type_bit

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["value_expr", "value_meets"]


def value_meets(builder: Builder, branch: Branch, value: Any) -> bool:
    """Whether a value is in the language of a branch, as the standard means it (not ``strict_mode``)."""
    kind = type_bit(value)
    if not branch.types & kind or not _is_spellable(value):
        return False
    if branch.values is not None or branch.excluded:
        key = json_key(value)
        if key in branch.excluded or (branch.values is not None and key not in branch.values):
            return False
    if kind == STRING:
        if not branch.strings:
            return True
        return holds_text(builder.strings_of(branch), string_text(value))
    if kind & NUMBER:
        return number_meets(branch, value)
    if kind == ARRAY:
        return not branch.arrays or _meets_array(builder, builder.array_of(branch, strict=False), value)
    if kind == OBJECT:
        if not (branch.objects or branch.required or branch.lacks):
            return True
        shape = builder.object_of(branch, strict=False)
        return shape is not None and _meets_object(builder, shape, value)
    return True


def _is_spellable(value: Any) -> bool:
    """Whether all texts in a value have UTF-8."""
    if isinstance(value, str):
        return is_spellable(value)
    if isinstance(value, dict):
        return all(is_spellable(key) and _is_spellable(inner) for key, inner in value.items())
    return not isinstance(value, list) or all(map(_is_spellable, value))


def _meets(builder: Builder, obligations: Obligations, value: Any) -> bool:
    return not obligations or builder.meets(obligations, value)


def _meets_array(builder: Builder, shape: ArrayShape, value: list[Any]) -> bool:
    if len(value) < shape.low or (shape.high is not None and len(value) > shape.high):
        return False
    for index, item in enumerate(value):
        owed = shape.prefix[index] if index < len(shape.prefix) else shape.rest
        if not _meets(builder, owed, item):
            return False
    for count in shape.counts:
        owed = builder.cleaned([count.obligation])
        n_found = sum(_meets(builder, owed, item) for item in value[count.start :])
        if n_found < count.low or (count.high is not None and n_found > count.high):
            return False
    if shape.unique is not None:
        return (len({json_key(item) for item in value}) == len(value)) is shape.unique
    return True


def _meets_object(builder: Builder, shape: ObjectShape, value: dict[str, Any]) -> bool:
    if len(value) < shape.low or (shape.high is not None and len(value) > shape.high):
        return False
    members = {member.name: member for member in shape.members}
    if any(member.required and member.name not in value for member in shape.members):
        return False
    for name, item in value.items():
        if name in shape.known:
            if name not in members or not _meets(builder, members[name].obligations, item):
                return False
        elif not any(_meets(builder, owed, item) for owed in _owed(builder, shape, name)):
            return False
    for clause in shape.clauses:
        if not any(_meets_literal(builder, shape, literal, value) for literal in clause):
            return False
    return all(_meets_literal(builder, shape, one, value) for one in shape.asked)


def _meets_asked(builder: Builder, shape: ObjectShape, one: Asked, name: str, item: Any) -> bool:
    if name in shape.known:
        fits = name in one.named
    else:
        text = string_text(name)
        fits = any(holds_text(cut_key(builder, one.has, cell.key), text) for cell in one.opened)
    return fits and _meets(builder, one.owed, item)


def _meets_literal(
    builder: Builder, shape: ObjectShape, literal: Literal | Asked, value: dict[str, Any]
) -> bool:
    if isinstance(literal, Asked):
        return any(_meets_asked(builder, shape, literal, *item) for item in value.items())
    name, is_there, owed = literal
    if (name in value) is not is_there:
        return False
    return owed is None or _meets(builder, builder.cleaned([owed]), value[name])


def _owed(builder: Builder, shape: ObjectShape, name: str) -> list[Obligations]:
    text = string_text(name)
    return [cell.obligations for cell in shape.cells if holds_text(cell.key, text)]


# -- writing -----------------------------------------------------------------------------------------


def value_expr(builder: Builder, value: Any, depth: int) -> Expr:
    """A given value, spelled as the layout has it; objects in any order when the options say so."""
    if builder.options.any_order and _has_order(value):
        return _ordered_freely(builder, value, depth)
    return Lex(_written(builder, value, depth))


def _has_order(value: Any) -> bool:
    if isinstance(value, dict):
        return len(value) > 1 or any(map(_has_order, value.values()))
    return isinstance(value, list) and any(map(_has_order, value))


def _written(builder: Builder, value: Any, depth: int) -> Lexeme:
    """The value as one lexeme, members in the schema's order."""
    layout = builder.layout
    if not isinstance(value, (dict, list)):
        return layout.scalar(value)
    brackets = b"{}" if isinstance(value, dict) else b"[]"
    if not value:
        if layout.is_indented:
            return literal(brackets)
        return concat(layout.opening(brackets[:1], depth).lexeme, literal(brackets[1:]))
    parts = [layout.opening(brackets[:1], depth).lexeme]
    inner = layout.below(depth)
    for index, item in enumerate(value.items() if isinstance(value, dict) else value):
        if index:
            parts.append(layout.separator(depth).lexeme)
        if isinstance(value, dict):
            parts.extend(part.lexeme for part in layout.key(item[0]))
            parts.append(_written(builder, item[1], inner))
        else:
            parts.append(_written(builder, item, inner))
    return concat(*parts, layout.closing(brackets[1:], depth).lexeme)


def _ordered_freely(builder: Builder, value: Any, depth: int) -> Expr:
    """The value as an expression in which the members of each object come in any order."""
    from .objects import any_order_expr

    layout = builder.layout
    inner = layout.below(depth)
    if isinstance(value, dict):
        members = [(name, value_expr(builder, item, inner), True) for name, item in value.items()]
        # A rule of its own: the register of the enclosing object must not see these members.
        return Call(Rule("given object", any_order_expr(builder, members, None, 0, None, depth)))
    parts: list[Expr] = []
    for item in value:
        if parts:
            parts.append(layout.separator(depth))
        parts.append(value_expr(builder, item, inner))
    parts.append(layout.closing(b"]", depth))
    return layout.container(b"[]", depth, Seq(tuple(parts)), empty=False)
