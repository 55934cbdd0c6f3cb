"""Nodes: one schema at one place of a document, and what its references lead to.

A node knows its document (base URI, dialect), its pointer, and the dynamic scope that ``$dynamicRef``
needs; equal (schema, document, scope) is the same `Node`, so sets of nodes can be compared. URIs,
anchors and remote documents are looked up by the `referencing` library; only a plain ``#/a/b`` inside
one resource is walked here, because importing and crawling cost more than compiling a small schema.

The dynamic scope keeps only resources with a dynamic anchor, each once, in order of first entry: the
outermost one decides, so later entries cannot matter, and recursion stays finite.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from ..errors import SchemaError
from ..pointers import pointer_of, unescape
from .dialect import DEFAULT, Dialect, dialect_of_uri, with_vocabularies

__all__ = ["Documents", "Node", "Resource"]


class Resource:
    """A schema document, or the part of one that an ``$id`` sets apart.

    Attributes:
        contents: Its root schema.
        uri: Its base URI, ``""`` when it has none.
        dialect: How it is read.
        is_dynamic: Whether it has a dynamic or recursive anchor.
    """

    __slots__ = ("contents", "dialect", "is_dynamic", "uri")

    def __init__(self, contents: Any, uri: str, dialect: Dialect, is_dynamic: bool) -> None:
        self.contents = contents
        self.uri = uri
        self.dialect = dialect
        self.is_dynamic = is_dynamic


class Node:
    """One schema in its context. Made by `Documents` only; compares by identity."""

    __slots__ = (
        "_key",
        "_origin",
        "_parent",
        "_place",
        "_pointer",
        "documents",
        "resource",
        "schema",
        "scope",
        "surfaces",
        "tasks",
    )

    def __init__(
        self,
        documents: Documents,
        schema: Any,
        resource: Resource,
        scope: tuple[Resource, ...],
        parent: Node | str,
        key: tuple[str | int, ...],
        origin: Any = None,
    ) -> None:
        self.documents = documents
        self.schema = schema
        self.resource = resource
        self.scope = scope
        self.tasks: Any = None  # what the expander remembers about it
        self.surfaces: dict[int, Any] | None = None  # what `disjoint` remembers about it
        self._parent = parent
        self._key = key
        self._origin = origin  # the contents that the key leads through if there is no parent
        self._pointer: str | None = None
        self._place: tuple[str | int, ...] | None = None

    @property
    def place(self) -> tuple[str | int, ...]:
        """Sorts nodes in the order in which a reader of their document meets them."""
        if self._place is None:
            if isinstance(self._parent, str):
                place: tuple[str | int, ...] = (self._parent,)
                schema = self._origin
            else:
                place, schema = self._parent.place, self._parent.schema
            for part in self._key:
                place = (*place, part if isinstance(part, int) else list(schema).index(part))
                schema = schema[part]
            self._place = place
        return self._place

    @property
    def pointer(self) -> str:
        """JSON pointer with the document's URI in front when that is not the root's."""
        if self._pointer is None:
            parent = self._parent
            base = parent if isinstance(parent, str) else parent.pointer
            self._pointer = base + pointer_of(self._key)
        return self._pointer

    @property
    def name(self) -> str:
        """The end of the pointer: a short name that costs nothing."""
        return "/".join(map(str, self._key)) or "root"

    def child(self, *key: str | int) -> Node:
        """The subschema at a keyword (and a name or index below it)."""
        schema = self.schema
        for part in key:
            schema = schema[part]
        return self.documents.node(schema, self.resource, self.scope, self, key)

    def error(self, message: str, keyword: str, hint: str | None = None) -> SchemaError:
        """A `SchemaError` at this node's keyword."""
        return SchemaError(message, pointer=f"{self.pointer}/{keyword}", keyword=keyword, hint=hint)

    def __repr__(self) -> str:
        return f"Node({self.pointer})"


class Documents:
    """All nodes of one compilation, and the registry behind them."""

    def __init__(self, schema: Any, registry: Any = None, *, is_dynamic: bool = True) -> None:
        self._nodes: dict[tuple[int, int, tuple[Resource, ...]], Node] = {}
        self._resolved: dict[tuple[Resource, tuple[Resource, ...], str], Node] = {}
        self._resources: dict[tuple[int, str], Resource] = {}
        self._given_registry = registry
        self._registry: Any = None
        self._schema = schema
        self._root_uri = ""
        self._kept: list[Any] = []  # contents whose id() is a key must stay alive
        self.root = self._root_node(schema, is_dynamic)

    def node(
        self,
        schema: Any,
        resource: Resource,
        scope: tuple[Resource, ...],
        parent: Node | str,
        key: tuple[str | int, ...],
    ) -> Node:
        """The node of a schema; enters the resource that its ``$id`` names."""
        place = (id(schema), id(resource), scope)
        node = self._nodes.get(place)
        if node is not None:
            return node
        inner_place = place
        origin = resource.contents
        if isinstance(schema, dict):
            inner = self._entered(schema, resource) if "$id" in schema or "id" in schema else None
            if inner is not None:
                resource = inner
                if inner.is_dynamic and inner not in scope:
                    scope = (*scope, inner)
                inner_place = (id(schema), id(resource), scope)
                node = self._nodes.get(inner_place)
        elif not isinstance(schema, bool):
            pointer = Node(self, schema, resource, scope, parent, key).pointer
            raise SchemaError(
                f"a schema is an object, true or false, not {type(schema).__name__}",
                pointer=pointer,
                keyword=str(key[-1]) if key else None,
            )
        if node is None:
            node = Node(self, schema, resource, scope, parent, key, origin)
        self._nodes[place] = self._nodes[inner_place] = node
        return node

    def made(self, schema: dict[str, Any], near: Node) -> Node:
        """The node of a schema that no document holds; it reports the place of another node."""
        plain = Resource(schema, near.resource.uri, DEFAULT, False)
        self._kept.append((schema, plain))
        return self.node(schema, plain, (), near, ())

    def resolve(self, node: Node, ref: str, keyword: str = "$ref") -> Node:
        """The node that a reference in ``node`` leads to.

        Raises:
            SchemaError: There is no such place, or its document is not in the registry.
        """
        # What it leads to depends on where the document begins and was entered, not on the node.
        place = (node.resource, node.scope, ref)
        found = self._resolved.get(place)
        if found is None:
            found = self._resolved[place] = self._resolve(node, ref, keyword)
        return found

    def _resolve(self, node: Node, ref: str, keyword: str) -> Node:
        resource = node.resource
        if ref == "#":
            return self._at(resource.contents, resource, node.scope, ())
        if ref.startswith("#/"):
            found = self._local(node, ref, keyword)
            if found is not None:
                return found
        uri, fragment = _split(resource.uri, ref)
        target = self._document(node, uri, ref, keyword)
        if fragment == "":
            return self._at(target.contents, target, node.scope, ())
        if fragment.startswith("/"):
            found = self._walk(node, target, fragment, keyword, crawl=True)
            assert found is not None
            return found
        return self._anchor(node, target, fragment, ref, keyword)

    def _local(self, node: Node, ref: str, keyword: str) -> Node | None:
        """A pointer into the node's resource.

        Many documents give parts of themselves an id and still count pointers from the top. Such a
        pointer has no meaning by the standard; the reading that its author had in mind is taken.
        """
        try:
            return self._walk(node, node.resource, ref[1:], keyword, crawl=False)
        except SchemaError:
            if node.resource is self.root.resource:
                raise
            return self._walk(node, self.root.resource, ref[1:], keyword, crawl=True)

    def resolve_dynamic(self, node: Node, ref: str) -> Node:
        """The node that ``$dynamicRef`` leads to in the node's dynamic scope."""
        fragment = _split(node.resource.uri, ref)[1]
        first = self.resolve(node, ref, "$dynamicRef")
        schema = first.schema
        if not isinstance(schema, dict) or schema.get("$dynamicAnchor") != fragment or not fragment:
            return first
        for resource in node.scope:
            anchor = self._dynamic_anchor(resource, fragment)
            if anchor is not None:
                return self._at(anchor, resource, node.scope, ("$dynamicAnchor", fragment))
        return first

    def resolve_recursive(self, node: Node) -> Node:
        """The node that ``$recursiveRef`` leads to in the node's dynamic scope."""
        contents = node.resource.contents
        if isinstance(contents, dict) and contents.get("$recursiveAnchor") is True:
            for resource in node.scope:
                if resource.contents.get("$recursiveAnchor") is True:
                    return self._at(resource.contents, resource, node.scope, ())
        return self._at(contents, node.resource, node.scope, ())

    # -- documents ---------------------------------------------------------------------------------

    def _root_node(self, schema: Any, is_dynamic: bool) -> Node:
        dialect = self._dialect(schema, DEFAULT)
        uri = ""
        if isinstance(schema, dict):
            own = schema.get(dialect.id_keyword)
            if isinstance(own, str) and not (dialect.ref_overrides and "$ref" in schema):
                uri = urldefrag(own)[0]
        self._root_uri = uri
        resource = Resource(schema, uri, dialect, is_dynamic)
        self._resources[(id(schema), uri)] = resource
        scope = (resource,) if resource.is_dynamic else ()
        return self.node(schema, resource, scope, "#", ())

    def _resource(self, contents: Any, uri: str, outer: Dialect) -> Resource:
        key = (id(contents), uri)
        resource = self._resources.get(key)
        if resource is None:
            dialect = self._dialect(contents, outer)
            resource = Resource(contents, uri, dialect, _has_dynamic(contents))
            self._resources[key] = resource
            self._kept.append(contents)
        return resource

    def _entered(self, schema: dict[str, Any], resource: Resource) -> Resource | None:
        """The resource that starts at this schema, when its id sets it apart."""
        dialect = resource.dialect
        own = schema.get("$id") if "$id" in schema else schema.get("id")
        if not isinstance(own, str) or schema is resource.contents:
            return None
        if "$schema" in schema:
            dialect = self._dialect(schema, dialect)
        own = schema.get(dialect.id_keyword)
        if not isinstance(own, str) or own.startswith("#"):
            return None
        if dialect.ref_overrides and "$ref" in schema:
            return None
        return self._resource(schema, urldefrag(urljoin(resource.uri, own))[0], resource.dialect)

    def _dialect(self, contents: Any, outer: Dialect) -> Dialect:
        uri = contents.get("$schema") if isinstance(contents, dict) else None
        if not isinstance(uri, str):
            return outer
        known = dialect_of_uri(uri)
        if known is not None:
            return known
        meta = self._given(uri)
        if not isinstance(meta, dict):
            return DEFAULT
        base = self._dialect(meta, DEFAULT) if meta.get("$schema") != uri else DEFAULT
        vocabularies = meta.get("$vocabulary")
        return with_vocabularies(base, uri, vocabularies) if isinstance(vocabularies, dict) else base

    def _given(self, uri: str) -> Any:
        """A document of the caller's registry, or None."""
        if self._given_registry is None:
            return None
        from referencing.exceptions import Unresolvable, Unretrievable

        try:
            return self._given_registry.get_or_retrieve(urldefrag(uri)[0]).value.contents
        except (Unresolvable, Unretrievable, KeyError):
            return None

    def _full_registry(self) -> Any:
        """The caller's registry with this schema and the meta-schemas in it, crawled."""
        if self._registry is None:
            from referencing import Registry
            from referencing.jsonschema import specification_with

            dialect = self.root.resource.dialect
            specification = specification_with(dialect.uri) if dialect_of_uri(dialect.uri) else None
            if specification is None:
                specification = specification_with(DEFAULT.uri)
            mine = specification.create_resource(self._schema)
            given = self._given_registry if self._given_registry is not None else Registry()
            known = _meta_schemas().combine(given)
            self._registry = known.with_resource(self._root_uri, mine).crawl()
        return self._registry

    def _document(self, node: Node, uri: str, ref: str, keyword: str) -> Resource:
        from referencing.exceptions import Unresolvable, Unretrievable

        if uri == self._root_uri:
            return self.root.resource
        try:
            retrieved = self._full_registry().get_or_retrieve(uri)
        except (Unresolvable, Unretrievable, KeyError):
            raise node.error(
                f"the reference {ref!r} leads to {uri!r}, which is not in the registry",
                keyword,
                hint="pass registry=referencing.Registry(...) with that document",
            ) from None
        self._registry = retrieved.registry
        return self._resource(retrieved.value.contents, uri, node.resource.dialect)

    # -- places ------------------------------------------------------------------------------------

    def _at(
        self, schema: Any, resource: Resource, scope: tuple[Resource, ...], key: tuple[str | int, ...]
    ) -> Node:
        if resource.is_dynamic and resource not in scope:
            scope = (*scope, resource)
        prefix = "#" if resource.uri == self._root_uri else f"{resource.uri}#"
        return self.node(schema, resource, scope, prefix, key)

    def _walk(
        self, node: Node, resource: Resource, fragment: str, keyword: str, *, crawl: bool
    ) -> Node | None:
        """Follow a JSON pointer; None when an ``$id`` on the way asks for the registry."""
        schema: Any = resource.contents
        key: list[str | int] = []
        for raw in (unquote(fragment) if "%" in fragment else fragment).split("/")[1:]:
            part: str | int = unescape(raw) if "~" in raw else raw
            is_apart = isinstance(schema, dict) and ("$id" in schema or "id" in schema)
            if is_apart and schema is not resource.contents:
                inner = self._entered(schema, resource)
                if inner is not None:
                    if not crawl:
                        return None
                    if self._is_resource(inner):
                        resource = inner
                        key = []
            if isinstance(schema, list) and raw.isdigit() and int(raw) < len(schema):
                part = int(raw)
            elif not isinstance(schema, dict) or part not in schema:
                raise node.error(f"the reference leads to nothing: {fragment!r} has no {raw!r}", keyword)
            schema = schema[part]
            key.append(part)
        if not isinstance(schema, (dict, bool)):
            raise node.error(f"the reference leads to {type(schema).__name__}, not a schema", keyword)
        return self._at(schema, resource, node.scope, tuple(key))

    def _is_resource(self, inner: Resource) -> bool:
        from referencing.exceptions import Unresolvable, Unretrievable

        try:
            found = self._full_registry().get_or_retrieve(inner.uri).value.contents
        except (Unresolvable, Unretrievable, KeyError):
            return False
        return found is inner.contents

    def _anchor(self, node: Node, target: Resource, name: str, ref: str, keyword: str) -> Node:
        from referencing.exceptions import NoSuchAnchor, Unresolvable, Unretrievable

        try:
            retrieved = self._full_registry().anchor(target.uri, name)
        except (NoSuchAnchor, Unresolvable, Unretrievable, KeyError):
            raise node.error(f"the reference {ref!r} names no anchor {name!r}", keyword) from None
        anchor = retrieved.value
        return self._at(anchor.resource.contents, target, node.scope, (f"${name}",))

    def _dynamic_anchor(self, resource: Resource, name: str) -> Any:
        from referencing.exceptions import NoSuchAnchor, Unresolvable, Unretrievable
        from referencing.jsonschema import DynamicAnchor

        try:
            anchor = self._full_registry().anchor(resource.uri, name).value
        except (NoSuchAnchor, Unresolvable, Unretrievable, KeyError):
            return None
        return anchor.resource.contents if isinstance(anchor, DynamicAnchor) else None


def _split(base: str, ref: str) -> tuple[str, str]:
    if ref.startswith("#"):
        return base, unquote(ref[1:]) if not ref.startswith("#/") else ref[1:]
    uri, fragment = urldefrag(urljoin(base, ref))
    return uri, fragment


def _meta_schemas() -> Any:
    """The meta-schemas of all drafts where the package that has them is installed."""
    try:
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ImportError:
        from referencing import Registry

        return Registry()
    return REGISTRY


def _has_dynamic(contents: Any) -> bool:
    """Whether a dynamic anchor is anywhere in a document (one too many does no harm)."""
    stack = [contents]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "$dynamicAnchor" in value or "$recursiveAnchor" in value:
                return True
            stack.extend(v for v in value.values() if isinstance(v, (dict, list)))
        elif isinstance(value, list):
            stack.extend(v for v in value if isinstance(v, (dict, list)))
    return False
