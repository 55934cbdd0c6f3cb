# Witnesses: plain proofs that some value meets a schema, from its text alone.
#
# A member of an object is written only if it can be finished, so whether it has a value is asked of every
# property of every object that is visited, long before most of them are. Here the usual schemas are answered
# without making anything: a scalar whose bounds leave room, a pattern that finds something, a container with
# what is required. True is a proof; False only means that one has to look (`satisfiable`).
#
# Why compiled. It runs for each member of each object, and goes down into what they require.

from ..errors import GrammarError
from ..regex import plain_lengths
from ..regex.encoding import is_spellable
from .dialect import SILENT

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except -1
    void Py_LeaveRecursiveCall()

__all__ = ["has_witness", "some_text_is_plain"]

#: With any of these a schema object has no obvious witness.
cdef frozenset _HARD = frozenset(
    [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "const",
        "enum",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
    ]
)
cdef frozenset _PLAIN_ENUM = SILENT | {"enum", "type"}
cdef frozenset _PLAIN_UNION = SILENT | {"anyOf"}
#: With any of these a required property may owe more than its own schema, or not fit in.
cdef frozenset _NAME_KEYWORDS = frozenset(
    ["patternProperties", "propertyNames", "maxProperties", "unevaluatedProperties"]
)
#: With any of these an item may owe more than ``items``.
cdef frozenset _ITEM_KEYWORDS = frozenset(
    ["prefixItems", "additionalItems", "uniqueItems", "unevaluatedItems", "contains"]
)
cdef frozenset _BOUNDS = frozenset(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])
#: Up to here doubles are whole numbers, and their differences exact enough.
cdef double _MAX_EXACT = 1e15


def has_witness(schema) -> bool:
    """Whether a schema plainly has a value: a scalar, or a container with what is required.

    Raises:
        RecursionError: The schema is nested too deeply.
    """
    return _has_witness(schema)


cdef bint _has_witness(schema) except -1:
    if isinstance(schema, bool):
        return schema
    Py_EnterRecursiveCall(" in a schema")
    try:
        return _has_witness_here(schema)
    finally:
        Py_LeaveRecursiveCall()


cdef bint _has_witness_here(schema) except -1:
    if not _HARD.isdisjoint(schema):
        return _is_plain_enum(schema) or _is_plain_union(schema)
    kind = schema.get("type", "null")
    if isinstance(kind, str):
        return _has_witness_of(kind, schema)
    if isinstance(kind, list):
        for one in kind:
            if isinstance(one, str) and _has_witness_of(one, schema):
                return True
    return False


def some_text_is_plain(low, high, pattern, format_name) -> bool:
    """Whether some string plainly has a length between two bounds, and a pattern or a format."""
    if high is not None and high < low:
        return False
    if format_name is not None:
        return pattern is None and low <= 1 and high is None  # every format has some text, not only ""
    if pattern is None:
        return True
    try:
        lengths = plain_lengths(pattern)
    except GrammarError:
        return False
    if lengths is None:
        return False
    shortest, longer = lengths
    return (low <= shortest or longer) and (high is None or max(low, shortest) <= high)


cdef bint _has_witness_of(str kind, schema) except -1:
    if kind == "string":
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if low.__class__ is not int or not (high is None or high.__class__ is int):
            return False
        return some_text_is_plain(low, high, schema.get("pattern"), schema.get("format"))
    if kind == "number" or kind == "integer":
        return "multipleOf" not in schema and _has_number(schema)
    if kind == "object":
        return "minProperties" not in schema and ("required" not in schema or _has_object(schema))
    if kind == "array":
        return "contains" not in schema and ("minItems" not in schema or _has_array(schema))
    return kind == "boolean" or kind == "null"


cdef bint _has_number(schema) except -1:
    """Whether bounds are missing on one side, or so far apart that a whole number lies between them."""
    if _BOUNDS.isdisjoint(schema):
        return True
    # A bool is draft 4's way to say how the other bound is meant.
    lows = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    lows = [bound for bound in lows if bound.__class__ is not bool]
    highs = [bound for bound in highs if bound.__class__ is not bool]
    if not (lows and highs):
        return True
    for bound in (*lows, *highs):
        if bound.__class__ is not int and bound.__class__ is not float:
            return False
    low, high = max(lows), min(highs)
    is_open = "exclusiveMinimum" in schema or "exclusiveMaximum" in schema
    return bool(low > -_MAX_EXACT and high < _MAX_EXACT and high - low >= (2 if is_open else 1))


cdef bint _has_object(schema) except -1:
    """Whether all required properties are listed and plainly have a value."""
    if not _NAME_KEYWORDS.isdisjoint(schema):
        return False
    listed = schema.get("properties")
    needed = schema["required"]
    if not isinstance(listed, dict) or not isinstance(needed, list):
        return False
    for name in needed:
        if name not in listed or not is_spellable(name) or not _has_witness(listed[name]):
            return False
    return True


cdef bint _has_array(schema) except -1:
    """Whether the items that are needed may all be the same plain value."""
    low, high = schema["minItems"], schema.get("maxItems")
    if low.__class__ is not int or not (high is None or (high.__class__ is int and low <= high)):
        return False
    items = schema.get("items", True)
    return low == 0 or (
        _ITEM_KEYWORDS.isdisjoint(schema) and isinstance(items, (dict, bool)) and _has_witness(items)
    )


cdef bint _is_plain_enum(schema) except -1:
    values = schema.get("enum")
    if not (isinstance(values, list) and values and schema.keys() <= _PLAIN_ENUM):
        return False
    if schema.get("type", "string") != "string":
        return False
    for value in values:
        if isinstance(value, str) and is_spellable(value):
            return True
    return False


cdef bint _is_plain_union(schema) except -1:
    options = schema.get("anyOf")
    if not isinstance(options, list) or not schema.keys() <= _PLAIN_UNION:
        return False
    for option in options:
        if isinstance(option, (dict, bool)) and _has_witness(option):
            return True
    return False
