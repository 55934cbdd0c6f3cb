"""Random grammars as text, each with the same grammar built directly from `maskwright.rules`.

The direct twin never passes through the scanner, the parser or a pass, so that comparing languages
tests all of them.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from maskwright import lexeme as lexemes
from maskwright.rules import NOTHING, Alt, Call, Expr, Lex, Repeat, Rule, Seq

LETTERS = "ab"
NAMES = ("root", "x", "y-z")


@dataclass(frozen=True)
class Piece:
    """Text, its meaning, and how tightly the text binds (0 choice, 1 sequence, 2 repetition, 3 atom)."""

    text: str
    expr: Expr
    level: int

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"( {self.text})"


def letter_class(members: str, negated: bool) -> Piece:
    kept = [letter for letter in LETTERS + "c" if (letter in members) is not negated]
    # Texts over LETTERS only are compared, so "c" stands for all that a negated class adds.
    return Piece(f"[{'^' * negated}{members}]", Lex(lexemes.byte_set(map(ord, kept))), 3)


def leaves(rules: dict[str, Rule]) -> st.SearchStrategy[Piece]:
    literal = st.text(LETTERS, max_size=2)
    return st.one_of(
        literal.map(
            lambda text: Piece(f'"{text}"', Lex(lexemes.literal(text.encode())) if text else NOTHING, 3)
        ),
        st.builds(
            letter_class,
            st.sampled_from(["a", "b", "ab", "a-b"]).map(lambda m: m.replace("-", "")),
            st.booleans(),
        ),
        st.sampled_from(NAMES).map(lambda name: Piece(name, Call(rules[name]), 3)),
        st.just(Piece("()", NOTHING, 3)),
    )


def repetition(body: Piece, low: int, extra: int | None) -> Piece:
    high = None if extra is None else low + extra
    short = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((low, high))
    counted = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return Piece(body.at(3) + (short or counted), Repeat(body.expr, low, high), 2)


def pieces(rules: dict[str, Rule]) -> st.SearchStrategy[Piece]:
    def grow(part: st.SearchStrategy[Piece]) -> st.SearchStrategy[Piece]:
        several = st.lists(part, min_size=2, max_size=3)
        gap = st.sampled_from([" ", "  ", "\t"])
        return st.one_of(
            st.builds(
                lambda parts, between: Piece(
                    between.join(p.at(2) for p in parts), Seq(tuple(p.expr for p in parts)), 1
                ),
                several,
                gap,
            ),
            several.map(
                lambda parts: Piece(" | ".join(p.at(1) for p in parts), Alt(tuple(p.expr for p in parts)), 0)
            ),
            st.builds(repetition, part, st.integers(0, 2), st.none() | st.integers(0, 2)),
        )

    return st.recursive(leaves(rules), grow, max_leaves=6)


@st.composite
def grammar_texts(draw: st.DrawFn) -> tuple[str, Rule]:
    """Grammar text that both dialects read, and the root of its direct twin."""
    rules = {name: Rule(name) for name in NAMES}
    lines = []
    for name in NAMES:
        piece = draw(pieces(rules))
        rules[name].define(piece.expr)
        body = f"(\n  {piece.text} # a comment\n)" if draw(st.booleans()) else piece.text
        lines.append(f"{name} ::= {body}")
        lines.extend(draw(st.lists(st.sampled_from(["", "# between", "  "]), max_size=2)))
    return "\n".join(lines), rules["root"]
