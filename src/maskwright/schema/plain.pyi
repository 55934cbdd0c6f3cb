from collections.abc import Sequence

from ..rules import Expr
from .builder import Builder
from .members import Obligations
from .shapes import ObjectShape
from .spelling import Layout

__all__ = ["declared", "inline_expr", "name_of", "plain_expr", "plain_needs", "plain_object"]

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
