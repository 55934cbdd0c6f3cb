# Plain schemas, written straight from their text.
#
# Nearly every object says which properties there are, which of them it needs, and what else may come, and no more;
# nearly every array says what its items are and how many; nearly every enum lists strings. There is one branch then,
# and its expression can be read off the keywords. The general way (`branches`, `shapes`, `pruning`, `objects`) says the
# same and takes five times as long: it was most of the work of a small schema.
#
# What calls no rule of its schema (scalars, short enums, arrays of those) is *inline*: it is written where it stands, so
# that an ordinary object costs one rule, and reaching its members costs none.
#
# Where a value might not exist, or anything else is unusual, the answer is None and the general way is gone.
#
# Why compiled. This runs for each schema that generation visits, most of it once per property. It is the part
# of the front-end where loops are, and short: what is compiled and runs once costs more to fetch than bytecode.

from json.encoder import encode_basestring

from ..lexeme import Op, either, literal, literals
from ..regex.encoding import JSON_STRING, is_spellable, json_string
from ..records cimport Alt, Call, Lex, Lexeme, Repeat, Seq
from ..rules import Rule
from .arrays import uniform_array
from .branches import AnyOf
from .dialect import SILENT
from .formats import FORMATS
from .keywords import ASSERTING, asserted_format
from .members import Cell, Member
from .preflight import plainly_apart
from .shapes import ObjectShape, open_keys
from .spelling import MAX_KEYS
from .strings import string_of_format, text_of_length
from .witness import has_witness

__all__ = ["Later", "declared", "inline_expr", "name_of", "plain_expr", "plain_needs", "plain_object"]

cdef frozenset _NOTHING = frozenset()
cdef object _CONCAT = Op.CONCAT
cdef object _COMPLEMENT = Op.COMPLEMENT
cdef object _INTERSECTION = Op.INTERSECTION
cdef object _LITERAL = Op.LITERAL
cdef object _LITERALS = Op.LITERALS
cdef object _QUOTE = literal(b'"')
# Members in one flat sequence; more go into a rule of their own, which is lowered when generation comes there.
cdef int LONGEST_SEQUENCE = 64
# Texts of an enum that is written where it stands, and arrays in one another that are.
cdef int MOST_INLINE = 16
cdef int MOST_NESTED = 16

# What a schema object says, as the sum of these over its keywords.
cdef int TYPE = 1
cdef int ENUM = 2
cdef int LENGTH = 4
cdef int ITEMS = 8
cdef int SIZE = 16
cdef int MEMBERS = 32
cdef int ANY_OF = 64
cdef int ONE_OF = 128
cdef int FORMAT = 256
cdef int CONST = 512
cdef int OTHER = 1024
cdef dict _SAYS = {
    **dict.fromkeys(ASSERTING | {"$id", "id"}, OTHER),
    "type": TYPE,
    "enum": ENUM,
    **dict.fromkeys(["minLength", "maxLength"], LENGTH),
    "items": ITEMS,
    **dict.fromkeys(["minItems", "maxItems"], SIZE),
    **dict.fromkeys(["properties", "required", "additionalProperties"], MEMBERS),
    "anyOf": ANY_OF,
    "oneOf": ONE_OF,
    "format": FORMAT,
    "const": CONST,
}
# A dialect without one of these is read in the general way.
cdef frozenset _READ = frozenset(keyword for keyword, says in _SAYS.items() if says not in (OTHER, CONST))
# Formats that take no time to make. The others are made when generation comes there.
cdef frozenset _LIGHT_FORMATS = frozenset(
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"]
)


cdef int _says(dict schema) except -1:
    cdef int found = 0
    for keyword in schema:
        says = _SAYS.get(keyword)
        if says is not None:
            found |= <int>says
    return found


cdef object _node_of(frozenset obligations):
    """The node of a set that says that one schema object holds; None for other sets, and odd dialects."""
    if len(obligations) != 1:
        return None
    ((node, positive),) = obligations
    if not positive or isinstance(node, AnyOf) or type(node.schema) is not dict:
        return None
    return node if node.resource.dialect.keywords >= _READ else None


def name_of(frozenset obligations):
    """A name for the rule of what meets some obligations."""
    cdef list parts = []
    for node, positive in obligations:
        name = "any of" if isinstance(node, AnyOf) else node.name
        parts.append(name if positive else f"not {name}")
    return parts[0] if len(parts) == 1 else " and ".join(sorted(parts))


cdef bint _is_object(dict schema) except -1:
    """Whether a schema says plainly what members objects have."""
    if schema.get("type") != "object" or not _says_only(schema, TYPE | MEMBERS):
        return False
    listed, needed = schema.get("properties"), schema.get("required")
    if not (listed or needed) or not (listed is None or type(listed) is dict):
        return False
    if needed is not None:
        if not isinstance(needed, (list, tuple)):
            return False
        for name in needed:
            if type(name) is not str:
                return False
    return True


cdef bint _says_only(dict schema, int those) except -1:
    """Whether a schema says nothing else. What its own ``$id`` does was seen to when its node was made."""
    for keyword in schema:
        says = _SAYS.get(keyword)
        if says is not None and not <int>says & those and keyword not in ("$id", "id"):
            return False
    return True


def plain_object(builder, frozenset obligations):
    """The shape of the objects that meet one plain schema; None if it is not plain.

    Whether its members have values is not asked.
    """
    node = _node_of(obligations)
    if node is None or not _is_object(node.schema):
        return None
    cdef dict schema = node.schema
    cdef dict listed = schema.get("properties") or {}
    needed = dict.fromkeys(schema.get("required") or ())
    builder.report.saw(node)
    builder.report.n_branches += 1
    members = [
        Member(name, builder.obligations(node.child("properties", name)), name in needed) for name in listed
    ]
    rest = builder.obligations(node.child("additionalProperties")) if "additionalProperties" in schema else None
    unlisted = [name for name in needed if name not in listed]
    members.extend([Member(name, rest or _NOTHING, True) for name in unlisted])
    known = [member.name for member in members]
    cells = []
    if not _is_closed(builder, schema, listed):
        cells.append(Cell(open_keys(builder, known) if known else JSON_STRING, rest or _NOTHING))
    return ObjectShape(members, set(known), cells, 0, None, node)


cdef bint _is_closed(builder, dict schema, dict listed) except -1:
    """Whether there are no members but the known ones."""
    if "additionalProperties" in schema:
        return schema["additionalProperties"] is False
    return builder.options.strict_mode and bool(listed)


def plain_needs(builder, frozenset obligations):
    """What the required members of a plain object owe, as a list of sets: it has a value if all these have.

    None if it is not plain.
    """
    node = _node_of(obligations)
    if node is None or not _is_object(node.schema):
        return None
    cdef dict listed = node.schema.get("properties") or {}
    found = []
    for name in node.schema.get("required") or ():
        if not is_spellable(name):
            return None
        if name in listed:
            found.append(builder.obligations(node.child("properties", name)))
        elif "additionalProperties" in node.schema:
            found.append(builder.obligations(node.child("additionalProperties")))
        elif _is_closed(builder, node.schema, listed):
            return None
    return found


def plain_expr(builder, frozenset obligations, int depth):
    """The expression for what meets one plain schema; None if it is not plain, or may have no value.

    Args:
        builder: The builder of the schema.
        obligations: What the value owes.
        depth: Depth of the value, where the layout depends on it.

    Raises:
        SchemaError: Whether a part has a value cannot be worked out.
    """
    node = _node_of(obligations)
    return None if node is None else _written(builder, node, (), node.schema, depth)


cdef object _written(builder, node, tuple key, dict schema, int depth):
    """The same for a schema below a node."""
    kind = schema.get("type")
    if kind == "object":
        expr = _object_expr(builder, node, key, schema, depth)
    elif kind == "array":
        expr = _array_expr(builder, node, key, schema, depth)
    elif kind is None and ("anyOf" in schema or "oneOf" in schema):
        expr = _union_expr(builder, node, key, schema, depth)
    elif "enum" in schema and _says_only(schema, TYPE | ENUM):
        expr = _enum_expr(builder, schema, schema["enum"])
    else:
        return None
    if expr is not None:
        builder.report.seen.append((node, key))
        builder.report.n_branches += 1
    return expr


def inline_expr(builder, frozenset obligations, int depth):
    """The expression for what meets one schema that calls no rule but those of "any value"; None for others.

    Args:
        builder: The builder of the schema.
        obligations: What the value owes.
        depth: Depth of the value, where the layout depends on it.
    """
    node = _node_of(obligations)
    if node is None:
        return None
    return _inline(builder, builder.scalars(node.resource.dialect), node, (), node.schema, depth)


cdef object _inline(builder, dict scalars, node, tuple key, schema, int depth):
    """The same for a schema below a node."""
    if schema is True:
        return builder.layout.any_value(depth)
    if type(schema) is not dict:
        return None
    cdef int says = _says(schema)
    expr = None
    if not says:
        expr = builder.layout.any_value(depth)
    elif says & ~(TYPE | ENUM | LENGTH | ITEMS | SIZE | FORMAT | CONST):
        return None
    elif says | TYPE == TYPE | ENUM:
        if type(schema["enum"]) is list and len(schema["enum"]) <= MOST_INLINE:
            expr = _enum_expr(builder, schema, schema["enum"])
    elif says | TYPE == TYPE | CONST:
        if "const" in node.resource.dialect.keywords:
            expr = _enum_expr(builder, schema, [schema["const"]])
    elif says == TYPE:
        expr = _of_type(builder, scalars, schema["type"], depth)
    elif says & TYPE:
        kind = schema["type"]
        if says == TYPE | FORMAT:
            expr = _formatted(builder, _of_type(builder, scalars, kind, depth), node, key, schema)
        elif says == TYPE | LENGTH and kind == "string":
            expr = _bounded_string(builder, schema)
        elif kind == "array" and not says & ~(TYPE | ITEMS | SIZE):
            expr = _inline_array(builder, scalars, node, key, schema, depth)
    if expr is not None:
        builder.report.seen.append((node, key))
    return expr


cdef object _of_type(builder, dict scalars, kind, int depth):
    """Whatever is of a type, or of one of several scalar types."""
    if type(kind) is str:
        if kind == "array":
            return builder.layout.any_array(depth)
        if kind == "object":
            return builder.layout.any_object(depth)
        return scalars.get(kind)
    if type(kind) is not list or not kind:
        return None
    options = []
    for one in <list>kind:
        option = scalars.get(one) if type(one) is str else None
        if option is None:
            return None
        options.append(option)
    return options[0] if len(options) == 1 else Alt(tuple(options))


cdef object _enum_expr(builder, dict schema, values):
    """One of some scalars; where a type is given, of strings."""
    cdef bint are_strings = "type" in schema
    if (are_strings and schema["type"] != "string") or type(values) is not list:
        return None
    cdef list texts = []
    cdef list others = []
    for value in <list>values:
        if type(value) is str:
            texts.append(value)
        elif not are_strings and (value is None or type(value) is bool or type(value) is int):
            others.append(builder.layout.scalar(value))
        else:
            return None
    found = builder.layout.string_literals(texts)
    if others:
        found = either([found, *others])
    return None if found.op is Op.EMPTY else Lex(found)


cdef object _formatted(builder, plain, node, tuple key, dict schema):
    """A scalar with a format, which may be a mere annotation."""
    name = schema["format"]
    if plain is None or type(name) is not str:
        return None
    if name not in _LIGHT_FORMATS and FORMATS.get(name) == "assert":
        return None
    if schema["type"] != "string" and FORMATS.get(name) == "assert":
        return None
    says = asserted_format(builder.expander, node.child(*key) if key else node, name)
    if says is None:
        return plain
    return None if says else Lex(string_of_format(name, builder.layout.encoding))


cdef object _bounded_string(builder, dict schema):
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if not _is_range(low, high):
        return None
    return Lex(json_string(text_of_length(low, high, builder.layout.encoding)))


cdef bint _is_range(low, high):
    return type(low) is int and low >= 0 and (high is None or (type(high) is int and low <= high))


cdef object _inline_array(builder, dict scalars, node, tuple key, dict schema, int depth):
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    if not _is_range(low, high) or high == 0 or len(key) > MOST_NESTED:
        return None
    layout = builder.layout
    item = _inline(builder, scalars, node, (*key, "items"), schema.get("items", True), layout.below(depth))
    return None if item is None else uniform_array(layout, item, low, high, depth)


cdef object _array_expr(builder, node, tuple key, dict schema, int depth):
    """An array of items that are alike."""
    items, low, high = schema.get("items"), schema.get("minItems", 0), schema.get("maxItems")
    if not _says_only(schema, TYPE | ITEMS | SIZE) or type(items) is not dict or not _is_range(low, high) or high == 0:
        return None
    layout = builder.layout
    item = _below(builder, builder.scalars(node.resource.dialect), node, (*key, "items"), items, layout.below(depth))
    return None if item is None else uniform_array(layout, item, low, high, depth)


cdef object _union_expr(builder, node, tuple key, dict schema, int depth):
    """A choice between schemas that each have a type; where it is exclusive, each its own."""
    if not (_says_only(schema, ANY_OF) or (_says_only(schema, ONE_OF) and plainly_apart(schema["oneOf"]))):
        return None
    keyword = "anyOf" if "anyOf" in schema else "oneOf"
    cdef dict scalars = builder.scalars(node.resource.dialect)
    cdef list found = []
    cdef Py_ssize_t index
    for index, option in enumerate(<list>schema[keyword]):
        place = (*key, keyword, index)
        expr = _inline(builder, scalars, node, place, option, depth)
        if expr is None:
            target = option
            if type(option) is dict and "$ref" in option:
                followed = _node_of(builder.obligations(node.child(*place)))
                target = None if followed is None else followed.schema
            # Without a type it may be a choice again, and lead back here before anything is written.
            if type(target) is not dict or type((<dict>target).get("type")) is not str:
                return None
            expr = _below(builder, scalars, node, place, option, depth)
        if expr is not None:
            found.append(expr)
    if not found:
        return None
    return found[0] if len(found) == 1 else Alt(tuple(found))


cdef object _object_expr(builder, node, tuple key, dict schema, int depth):
    if not _is_object(schema) or builder.options.any_order or not builder.layout.encoding.single:
        return None
    cdef dict listed = schema.get("properties") or {}
    cdef dict scalars = builder.scalars(node.resource.dialect)
    cdef set needed = set(schema.get("required") or ())
    layout = builder.layout
    cdef int inner = layout.below(depth)
    cdef list members = []
    cdef list texts = []
    for name in needed:
        if name not in listed:  # it stands among the open ones
            return None
    for name, value in listed.items():
        if type(name) is not str or not ((<str>name).isascii() or is_spellable(name)):
            return None
        expr = _below(builder, scalars, node, (*key, "properties", name), value, inner)
        if expr is None:
            return None
        text = encode_basestring(name).encode()
        texts.append(text)
        members.append((_key(layout, name, text), expr, name in needed))
    _, separator, close, _ = layout.marks(b"{}", depth)
    if _is_closed(builder, schema, listed):
        return declared(layout, members, None, close, depth, False)
    value = schema.get("additionalProperties", True)
    expr = _below(builder, scalars, node, (*key, "additionalProperties"), value, inner)
    if expr is None:
        return None
    member = Seq((Lex(_other_keys(layout, texts)), layout.colon, expr))
    others = Repeat(Seq((separator, member)), 0, None)
    return declared(layout, members, Seq((member, others, close)), Seq((others, close)), depth, False)


cdef object _below(builder, dict scalars, node, tuple key, schema, int depth):
    """The expression of a schema below a node; None if it may have no value.

    What is no more than a reference is looked up once for a document. What plainly has a value is a rule that knows its
    place; the node is made when generation comes there.
    """
    expr = _inline(builder, scalars, node, key, schema, depth)
    if expr is not None or type(schema) is not dict:
        return expr
    cdef dict below = builder.below
    cdef bint refers = "$ref" in <dict>schema
    what = _only_reference(<dict>schema) if refers else id(schema)
    place = (what, node.resource, node.scope, depth)
    if what is not None:
        expr = below.get(place)
        if expr is not None:
            if refers:
                builder.report.seen.append((node, key))
            return expr
    if refers or "$id" in <dict>schema or "id" in <dict>schema or not has_witness(schema):
        owed = builder.obligations(node.child(*key))
        if not builder.satisfiable(owed):
            return None
        expr = builder.value(owed, depth)
        target = _node_of(owed)
        if type(expr) is Call and target is not None and _is_light(target.schema):
            (<Call>expr).rule.is_light = True
    else:
        later = Later(builder, node, key, schema, depth)
        rule = Rule("/".join([str(part) for part in key[-2:]]), later)
        rule.is_light = _is_light(schema)
        builder.made.append((later, rule))
        expr = Call(rule)
    if what is not None:
        below[place] = expr
    return expr


cdef bint _is_light(dict schema) except -1:
    """Whether a schema speaks of what containers hold, and no terminal has to be made for it."""
    return (schema.get("type") == "object" or schema.get("type") == "array") and _says_only(
        schema, TYPE | MEMBERS | ITEMS | SIZE
    )


cdef object _only_reference(dict schema):
    """The reference of a schema that says nothing else."""
    for keyword in schema:
        if keyword != "$ref" and keyword not in SILENT:
            return None
    return schema["$ref"] if type(schema["$ref"]) is str else None


cdef class Later:
    """What a schema below a node stands for: called, the body of its rule."""

    cdef object builder
    cdef object node
    cdef tuple key
    cdef dict schema
    cdef int depth

    def __init__(self, builder, node, tuple key, dict schema, int depth):
        self.builder = builder
        self.node = node
        self.key = key
        self.schema = schema
        self.depth = depth

    def obligations(self) -> frozenset:
        """What the value owes."""
        return self.builder.obligations(self.node.child(*self.key))

    def __call__(self):
        try:
            expr = _written(self.builder, self.node, self.key, self.schema, self.depth)
        except RecursionError:
            expr = None  # the general way says so in its words
        return self.builder.body(self.obligations(), self.depth) if expr is None else expr


cdef object _other_keys(layout, list texts):
    """Strings that are none of some quoted texts; as `shapes.open_keys`."""
    if not texts:
        return JSON_STRING
    cdef list known = sorted([(<bytes>text)[1:len(<bytes>text) - 1] for text in texts])
    listed = literals(known) if len(known) == 1 else Lexeme(_LITERALS, tuple(known))
    others = Lexeme(_INTERSECTION, (layout.encoding.any_text, Lexeme(_COMPLEMENT, (listed,))))
    return Lexeme(_CONCAT, (_QUOTE, others, _QUOTE))


cdef tuple _key(layout, str name, bytes text):
    """As `Layout.key`, where keys have one spelling and the quoted name is known."""
    cdef dict keys = layout.keys
    found = keys.get(name)
    if found is not None:
        return found
    colon = layout.colon.lexeme
    if colon.op is _CONCAT:
        found = (Lex(Lexeme(_CONCAT, (Lexeme(_LITERAL, (text,)), *colon.args))),)
    else:
        found = (Lex(Lexeme(_LITERAL, (text + colon.args[0],))),)
    if len(keys) >= MAX_KEYS:
        keys.clear()
    keys[name] = found
    return found


def declared(layout, list members, start, after, int depth, bint nonempty):
    """An object with any number of members, in declared order.

    ``A(i)`` is what may follow once a member was written and the next candidate is member ``i``; ``S(i)`` is a member
    from ``i`` on. Both are shared rules where two places lead to them, so the number of edges is linear in
    the number of members, and a run of required ones is one flat sequence.

    Args:
        layout: How containers are spelled.
        members: ``(key, value, required)`` of each, the key as a tuple of expressions.
        start: ``S`` behind the last of them: one open member or more, to the end; None for no open ones.
        after: ``A`` behind the last of them.
        depth: Depth of the object.
        nonempty: Whether there has to be a member.
    """
    opening, separator, close, empty = layout.marks(b"{}", depth)
    cdef bint may_end = True  # nothing required from here on
    cdef bint required, wants_start
    cdef Py_ssize_t index
    # From the end: `after` is A(i + 1), `start` is S(i + 1).
    for index in range(len(members) - 1, -1, -1):
        key, value, required = members[index]
        member = (*key, value)
        if required:
            may_end = False
            wants_start = index == 0 or not members[index - 1][2]
            if wants_start and index:
                after = _as_rule(after)  # both A(i) and S(i) lead to it
            start = _chain(member, after) if wants_start else None
            if index:
                after = _chain((separator, *member), after)
        else:
            step = _chain(member, after)
            start = step if start is None else Alt((step, start))
            if index:
                start = _as_rule(start)  # both A(i) and S(i - 1) lead to it
                onward = Seq((separator, start))
                after = Alt((onward, close)) if may_end else onward
    may_end = may_end and not nonempty
    if layout.is_indented or start is None:
        return layout.container(b"{}", depth, start, may_end)
    return Seq((opening, Alt((empty, start)) if may_end else start))


cdef object _as_rule(expr):
    """An expression that two places lead to, as a rule."""
    if type(expr) is Call or type(expr) is Lex:
        return expr
    return Call(Rule("members", expr))


cdef object _chain(tuple member, after):
    """A member and what follows, flat while the sequence is short."""
    cdef tuple parts
    if type(after) is Seq:
        parts = after.parts
        if len(parts) < LONGEST_SEQUENCE:
            return Seq(member + parts)
        after = _as_rule(after)
    return Seq((*member, after))
