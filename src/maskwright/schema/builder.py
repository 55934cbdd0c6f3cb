"""The builder: sets of obligations to lazy rules, memoised.

One `Builder` serves one compilation. A value position is a frozenset of obligations (and, when the layout
is indented, a depth); equal sets are the same `Rule`, so recursion closes. A rule's body is made
when the automaton first predicts it: expand the set into branches, and write each branch as its types.

Plain scalars and what is made of them are written where they stand instead of as a call (`plain`), so that an
ordinary object costs one rule. References that say nothing else are followed at once, so that all uses of a
definition share a rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from ..errors import LimitExceeded
from ..lexeme import EMPTY, Lexeme, either, intersection, literals, union
from ..regex.encoding import JSON_STRING
from ..rules import Alt, Call, Expr, Lex, Never, Rule
from .arrays import array_expr
from .branches import AnyOf, Branch, Expander, Obligation, Unfinished
from .dialect import SILENT, Dialect
from .distinct import Distinct
from .duals import negate
from .emptiness import has_no_text
from .finite import value_expr, value_meets
from .inspection import Inspection
from .keywords import assert_node
from .nodes import Documents, Node
from .numeric import any_integer, numbers_lexeme
from .objects import object_expr
from .options import SchemaOptions
from .plain import Later, inline_expr, name_of, plain_expr, plain_object
from .preflight import preflight
from .propagate import Judge
from .pruning import pruned_objects
from .report import Report, Status
from .satisfiable import Satisfiability
from .shapes import ArrayShape, ObjectShape, Obligations, array_shape, object_shape
from .spelling import any_number, layout_of
from .strings import plainly_has_text, string_lexeme
from .values import ANY, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, type_bit

__all__ = ["Builder"]

_WORDS: Final = {
    NULL: Lex(literals([b"null"])),
    BOOLEAN: Lex(literals([b"true", b"false"])),
    NULL | BOOLEAN: Lex(literals([b"true", b"false", b"null"])),
}
_NOTHING: Final[Obligations] = frozenset()
#: A chain of references longer than this is a cycle that says nothing.
_MAX_CHAIN: Final = 64
#: Rules that a complete expansion may make.
_MAX_RULES: Final = 100_000


class Builder:
    """Makes rules from the schema of some documents.

    Attributes:
        documents: Where nodes come from.
        options: How values are spelled and schemas read.
        report: What became of each keyword.
        layout: Whitespace and separators.
        distinct: Arrays of unique items, per shape and depth.
        made: The rules of values so far, and what each of them has to meet.
        below: What stands for schemas that `plain` wrote where they stand.
    """

    def __init__(self, schema: Any, options: SchemaOptions, report: Report | None = None) -> None:
        self._findings = preflight(schema, lenient=options.lenient)
        self.options = options
        self.report = report or Report()
        self.layout = layout_of(options)
        self.documents = Documents(schema, options.registry, is_dynamic=self._findings.is_dynamic)
        self.satisfiability = Satisfiability(self)
        self._branches: dict[Obligations, list[Branch]] = {}
        self._expanding: set[Obligations] = set()
        self._rules: dict[tuple[Obligations, int], Expr] = {}
        self.made: list[tuple[Obligations | Later, Rule]] = []
        self.below: dict[Hashable, Expr] = {}
        self._unions: dict[frozenset[Obligation], AnyOf] = {}
        self._followed: dict[Node, Node] = {}
        self._alone: dict[Node, Obligations] = {}
        self._arrays: dict[tuple[Branch, bool], ArrayShape] = {}
        self._objects: dict[tuple[Branch, bool], ObjectShape | None] = {}
        self._plain: dict[Obligations, ObjectShape | None] = {}
        self._strings: dict[Branch, Lexeme] = {}
        self.distinct: dict[tuple[ArrayShape, int], Distinct] = {}

    @cached_property
    def anything(self) -> Node:
        """A node that every value meets."""
        return self.documents.node(True, self.documents.root.resource, (), "#", ())

    @cached_property
    def expander(self) -> Expander:
        """Works branches out. Many a schema is plain throughout, and needs none."""
        return Expander(self.options, self.report, Judge(self), assert_node, negate)

    # -- obligations -------------------------------------------------------------------------------

    def obligations(self, node: Node) -> Obligations:
        """The set that says that one node holds."""
        schema = node.schema
        if schema is True or schema == {}:
            return _NOTHING
        if schema is False or "$ref" not in schema:
            return frozenset(((node, True),))
        return frozenset(((self._follow(node), True),))

    def obligation(self, obligation: Obligation) -> Obligation:
        """An obligation in its shared form."""
        node, positive = obligation
        return (node if isinstance(node, AnyOf) else self._follow(node), positive)

    def cleaned(self, obligations: Iterable[Obligation]) -> Obligations:
        """A set of obligations without those that every value meets."""
        found = map(self.obligation, obligations)
        return frozenset(
            (node, positive)
            for node, positive in found
            if isinstance(node, AnyOf) or not _says_nothing(node.schema, positive)
        )

    def any_of(self, obligations: frozenset[Obligation]) -> AnyOf:
        """The shared disjunction of some obligations."""
        return self._unions.setdefault(obligations, AnyOf(obligations))

    def _follow(self, node: Node) -> Node:
        found = self._followed.get(node)
        if found is None:
            found = node
            for _ in range(_MAX_CHAIN):
                schema = found.schema
                if not isinstance(schema, dict) or "$ref" not in schema or "$id" in schema:
                    break
                if not found.resource.dialect.ref_overrides and not (schema.keys() - {"$ref"} <= SILENT):
                    break
                if not isinstance(schema["$ref"], str):
                    break
                found = self.documents.resolve(found, schema["$ref"])
            self._followed[node] = found
            if found is not node:
                self.report.saw(node)
        return found

    # -- what a set of obligations means --------------------------------------------------------------

    def branches(self, obligations: Obligations) -> list[Branch]:
        """The branches of a set that are not plainly impossible.

        Raises:
            Unfinished: They are being worked out, and what they are was asked on the way.
        """
        found = self._branches.get(obligations)
        if found is None:
            if obligations in self._expanding:
                raise Unfinished
            self._expanding.add(obligations)
            try:
                found = self._branches[obligations] = self.expander.expand(obligations)
            finally:
                self._expanding.discard(obligations)
        return found

    def satisfiable(self, obligations: Obligations) -> bool:
        """Whether some value meets all of them."""
        return self.satisfiability.of(obligations)

    def meets(self, obligations: Obligations, value: Any) -> bool:
        """Whether a given value meets all of them."""
        return any(value_meets(self, branch, value) for branch in self.branches(obligations))

    def all_strings(self, obligations: Obligations) -> Lexeme:
        """The strings among the values of a set, quotes included."""
        found = [self.strings_of(branch) for branch in self.branches(obligations)]
        return union(*found)

    def strings_of(self, branch: Branch) -> Lexeme:
        """The strings of a branch, quotes included."""
        if not branch.types & STRING:
            return EMPTY
        lexeme = self._strings.get(branch)
        if lexeme is None:
            lexeme = string_lexeme(branch, self.layout.encoding)
            if branch.values is not None:
                texts = [value for value in branch.values.values() if isinstance(value, str)]
                texts = [text for text in texts if text not in branch.excluded]
                listed = self.layout.string_literals(texts)
                lexeme = listed if not branch.strings else intersection(lexeme, listed)
            self._strings[branch] = lexeme
        return lexeme

    def has_string(self, branch: Branch) -> bool:
        """Whether a branch that allows strings has some."""
        if plainly_has_text(branch):
            return True
        lexeme = self.strings_of(branch)
        return lexeme.op is not EMPTY.op and not (branch.strings and has_no_text(lexeme))

    def array_of(self, branch: Branch, *, strict: bool | None = None) -> ArrayShape:
        """The arrays of a branch."""
        key = (branch, self.options.strict_mode if strict is None else strict)
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = array_shape(self, branch, strict=key[1])
        return found

    def object_of(self, branch: Branch, *, strict: bool | None = None) -> ObjectShape | None:
        """The objects of a branch; None if there plainly are none."""
        key = (branch, self.options.strict_mode if strict is None else strict)
        if key not in self._objects:
            self._objects[key] = object_shape(self, branch, strict=key[1])
        return self._objects[key]

    def plain_object(self, obligations: Obligations) -> ObjectShape | None:
        """The objects of a plain schema without its branches; None if it is not one."""
        if obligations not in self._plain:
            self._plain[obligations] = plain_object(self, obligations)
        return self._plain[obligations]

    # -- rules ---------------------------------------------------------------------------------------

    def value(self, obligations: Obligations, depth: int) -> Expr:
        """The expression for a value that meets all obligations."""
        if not obligations:
            return self.layout.any_value(depth)
        key = (obligations, depth)
        found = self._rules.get(key)
        if found is None:
            found = inline_expr(self, obligations, depth)
            if found is None:
                rule = Rule(name_of(obligations), lambda: self.body(obligations, depth))
                self.made.append((obligations, rule))
                found = Call(rule)
            self._rules[key] = found
        return found

    def scalars(self, dialect: Dialect) -> dict[str, Expr]:
        """The expressions of the scalar types, by name."""
        return _scalars(self.options.integer_spelling if dialect.float_integers else "plain")

    def body(self, obligations: Obligations, depth: int) -> Expr:
        """The body of the rule of a set of obligations.

        Raises:
            LimitExceeded: The schema is nested too deeply to be worked out.
        """
        try:
            expr = plain_expr(self, obligations, depth)
            if expr is not None:
                return expr
            plain = self.plain_object(obligations)
            if plain is not None:
                options = [object_expr(self, one, depth) for one in pruned_objects(self, plain)]
            else:
                options = []
                for branch in self.branches(obligations):
                    options.extend(self._branch(branch, depth))
        except RecursionError:
            raise LimitExceeded(
                f"the schema is nested too deeply at {name_of(obligations)}",
                resource="nesting of schemas",
                limit=_MAX_CHAIN,
            ) from None
        if len(options) == 1:
            return options[0]
        return Alt(tuple(options)) if options else Never

    def _branch(self, branch: Branch, depth: int) -> list[Expr]:
        if branch.values is not None:
            return self._finite(branch, depth)
        types = branch.types
        if types == ANY and branch.is_free():
            return [self.layout.any_value(depth)]
        found: list[Expr] = []
        words = types & (NULL | BOOLEAN)
        if words:
            expr = self.words_of(branch, words)
            found.extend([expr] if expr is not None else [])
        if types & STRING and self.has_string(branch):
            found.append(Lex(self.strings_of(branch)))
        if types & NUMBER:
            lexeme = numbers_lexeme(branch, self.options.integer_spelling, self.report)
            if lexeme.op is not EMPTY.op:
                found.append(Lex(lexeme))
        if types & ARRAY:
            found.extend(self._array(branch, depth))
        if types & OBJECT:
            found.extend(self._object(branch, depth))
        return found

    def words_of(self, branch: Branch, words: int) -> Lex | None:
        """Null and the booleans of a branch, out of some types."""
        if not branch.excluded:
            return _WORDS[words]
        texts = {None: b"null", (True,): b"true", (False,): b"false"}
        kinds = {None: NULL, (True,): BOOLEAN, (False,): BOOLEAN}
        kept = [t for key, t in texts.items() if words & kinds[key] and key not in branch.excluded]
        return Lex(literals(kept)) if kept else None

    def _finite(self, branch: Branch, depth: int) -> list[Expr]:
        assert branch.values is not None
        scalars: list[Lexeme] = []
        found: list[Expr] = []
        texts: list[str] = []
        plain = not (branch.strings or branch.excluded)
        digits_only = any(kind == "plain" for kind, _, _ in branch.numbers)
        for value in branch.values.values():
            kind = type_bit(value)
            if kind == STRING and plain and branch.types & STRING:
                texts.append(value)
            elif value_meets(self, branch, value):
                if kind == STRING:
                    texts.append(value)
                elif kind in (ARRAY, OBJECT):
                    found.append(value_expr(self, value, depth))
                else:
                    scalars.append(self.layout.scalar(value, digits_only=digits_only))
        if texts:
            scalars.append(self.layout.string_literals(texts))
        if scalars:
            found.append(Lex(either(scalars)))
        return found

    def _array(self, branch: Branch, depth: int) -> list[Expr]:
        if not branch.arrays:
            return [self.layout.any_array(depth)]
        expr = array_expr(self, self.array_of(branch), depth)
        return [] if expr is None else [expr]

    def _object(self, branch: Branch, depth: int) -> list[Expr]:
        if not (branch.objects or branch.required or branch.lacks):
            return [self.layout.any_object(depth)]
        shape = self.object_of(branch)
        shapes = [] if shape is None else pruned_objects(self, shape)
        return [object_expr(self, one, depth) for one in shapes]

    # -- the whole -----------------------------------------------------------------------------------

    def root(self) -> Rule:
        """The rule of the root schema.

        Raises:
            SchemaError: No value at all meets it.
        """
        node = self.documents.root
        obligations = self.obligations(node)
        expr = self.value(obligations, 0)
        try:
            # What is written straight from the text has a value, and is what generation begins with.
            plain = plain_expr(self, obligations, 0)
            possible = plain is not None or self.satisfiable(obligations)
        except RecursionError:
            raise LimitExceeded(
                "the schema is nested too deeply", resource="nesting of schemas", limit=_MAX_CHAIN
            ) from None
        if not possible:
            raise self.satisfiability.conflict(node)
        if plain is not None and isinstance(expr, Call):
            expr.rule.define(lambda: plain)
        self.report.when_completing(self._complete)
        if self._findings.is_risky:
            self._inspect()
        # The rule of "any value" belongs to all schemas of the process.
        rule = expr.rule if isinstance(expr, Call) and obligations else Rule("root", expr)
        rule.origin = node
        return rule

    def _inspect(self) -> None:
        """Expand what may not be enforceable."""
        builder = self._flat() if self.layout.is_indented else self
        Inspection(builder, self._findings).run()

    def _complete(self) -> None:
        """Expand all rules of values, up to a limit."""
        if self.layout.is_indented:
            flat = self._flat()
            flat.value(flat.obligations(flat.documents.root), 0)
            flat._complete()
            return
        n_rules = 0
        while n_rules < min(len(self.made), _MAX_RULES):
            self.made[n_rules][1].expand()
            n_rules += 1

    def _flat(self) -> Builder:
        """A builder of the same schema without indentation.

        Rules that know their depth have no end where the schema recurs; what they mean does not depend on it.
        """
        return Builder(self.documents.root.schema, replace(self.options, indent=None), self.report)

    def widen(self, node: Node, keyword: str, why: str, hint: str | None = None) -> None:
        """Drop a keyword that cannot be enforced: noted when lenient, an error otherwise.

        Raises:
            SchemaError: The options are not lenient.
        """
        if not self.options.lenient:
            raise node.error(why, keyword, hint or "lenient=True widens it and reports that")
        self.report.note(node.pointer, keyword, Status.WIDENED, why)


@lru_cache(maxsize=2)
def _scalars(integer_spelling: Literal["plain", "json"]) -> dict[str, Expr]:
    return {
        "string": Lex(JSON_STRING),
        "integer": any_integer(integer_spelling),
        "number": Lex(any_number()),
        "boolean": _WORDS[BOOLEAN],
        "null": _WORDS[NULL],
    }


def _says_nothing(schema: Any, positive: bool) -> bool:
    """Whether every value meets an obligation plainly."""
    return schema is True or schema == {} if positive else schema is False
