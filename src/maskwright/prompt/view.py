"""A JSON Schema as a writer of descriptions sees it: references followed, allOf merged, names remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from referencing._core import Resolver  # the class is public only through Registry.resolver

__all__ = ["SchemaView", "kinds", "options", "prefix_items", "rest"]

_MAX_CHAIN: Final = 12  # references to references


class SchemaView:
    """Follows references, and remembers which subschemas have been described."""

    def __init__(self, root: dict[str, Any] | bool) -> None:
        self._described: set[str] = {"#"}
        self._root = root
        self._resolver: Resolver[Any] | None = None

    def peek(self, schema: Any) -> tuple[dict[str, Any], str, bool]:
        """`follow` without counting the subschema as described."""
        before = set(self._described)
        try:
            return self.follow(schema)
        finally:
            self._described = before

    def follow(self, schema: Any) -> tuple[dict[str, Any], str, bool]:
        """The subschema behind references, its name, and whether it has been described before.

        Keywords beside a reference win over those behind it: a description at the place of use says more.
        """
        if not isinstance(schema, dict):
            return {}, "", False
        name = ""
        for _ in range(_MAX_CHAIN):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                break
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            name = reference.rsplit("/", 1)[-1].lstrip("#")
            if reference in self._described:
                return beside, name or "the whole", True
            self._described.add(reference)
            target = self._look_up(reference)
            schema = {**target, **beside}
        return self._merge_all_of(schema), name, False

    def _merge_all_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The parts of an allOf as one, as far as a description goes."""
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema.get("allOf", ()):
            body, _, _ = self.follow(part)
            properties = {**body.get("properties", {}), **whole.get("properties", {})}
            required = [*body.get("required", ()), *whole.get("required", ())]
            whole = {**body, **whole}
            if properties:
                whole["properties"], whole["required"] = properties, required
        return whole

    def _look_up(self, reference: str) -> dict[str, Any]:
        """What a reference stands for; nothing, if it is not inside the schema."""
        from referencing import Registry, Resource  # only when there are references
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        if self._resolver is None:
            resource = Resource.from_contents(self._root, default_specification=DRAFT202012)
            uri = resource.id() or ""
            self._resolver = Registry().with_resource(uri, resource).resolver(uri)
        try:
            contents = self._resolver.lookup(reference).contents
        except Unresolvable:
            return {}
        return contents if isinstance(contents, dict) else {}


def kinds(schema: dict[str, Any]) -> list[str]:
    """The types of a schema; for schemas that do not say, the one that their keywords are about."""
    found = schema.get("type")
    if found is None:
        if "properties" in schema or "additionalProperties" in schema:
            return ["object"]
        return ["array"] if "items" in schema or "prefixItems" in schema else []
    return [found] if isinstance(found, str) else list(found)


def options(schema: dict[str, Any]) -> list[Any]:
    """The branches of an anyOf or a oneOf."""
    found = schema.get("anyOf", schema.get("oneOf", ()))
    return list(found) if isinstance(found, (list, tuple)) else []


def prefix_items(schema: dict[str, Any]) -> list[Any]:
    """The schemas of the first items, in today's spelling or that of older drafts."""
    items = schema.get("prefixItems", schema.get("items"))
    return items if isinstance(items, list) else []


def rest(schema: dict[str, Any]) -> Any:
    """The schema of properties that are not named, when it says something."""
    found = schema.get("additionalProperties")
    return found if isinstance(found, dict) and found else None
