from collections.abc import Sequence
from typing import Any

from ..rules import Expr
from .builder import Builder
from .members import Obligations
from .nodes import Node
from .shapes import ObjectShape
from .spelling import Layout

__all__ = ["Later", "declared", "inline_expr", "name_of", "plain_expr", "plain_needs", "plain_object"]

class Later:
    def __init__(
        self, builder: Builder, node: Node, key: tuple[str | int, ...], schema: dict[str, Any], depth: int
    ) -> None: ...
    def obligations(self) -> Obligations: ...
    def __call__(self) -> Expr: ...

def plain_object(builder: Builder, obligations: Obligations) -> ObjectShape | None: ...
def plain_needs(builder: Builder, obligations: Obligations) -> list[Obligations] | None: ...
def inline_expr(builder: Builder, obligations: Obligations, depth: int) -> Expr | None: ...
def name_of(obligations: Obligations) -> str: ...
def plain_expr(builder: Builder, obligations: Obligations, depth: int) -> Expr | None: ...
def declared(
    layout: Layout,
    members: Sequence[tuple[tuple[Expr, ...], Expr, bool]],
    start: Expr | None,
    after: Expr,
    depth: int,
    nonempty: bool,
) -> Expr: ...
