"""Random lexemes, grammars, vocabularies and prefixes, small enough for the reference engine.

Every new kind of expression must join here, so that the kernel is compared on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.lexeme import Lexeme
from maskwright.reference import ReferenceMatcher
from maskwright.rules import NOTHING, Act, Action, Alt, Call, Expr, Lex, Never, Repeat, Rule, Seq, Tokens
from maskwright.syntax.walk import named_tokens

#: The bytes that grammars are made of. The last two are a lead byte and a continuation byte of UTF-8.
ALPHABET = b"ab" + "é".encode()

#: A special token and a stop token stand at the end of each vocabulary: see `vocabularies`.
N_SPECIAL = 2


def texts(max_size: int = 3, alphabet: bytes = ALPHABET) -> st.SearchStrategy[bytes]:
    """Short texts over the alphabet, biased to its first letters."""
    return st.lists(st.sampled_from(alphabet), max_size=max_size).map(bytes)


# -- lexemes --------------------------------------------------------------------------------------


@st.composite
def automata(draw: st.DrawFn) -> Lexeme:
    """A random DFA of up to three states, some of them dead."""
    n_states = draw(st.integers(1, 3))
    rows = []
    for _ in range(n_states):
        letters = draw(st.lists(st.sampled_from(sorted(ALPHABET)), unique=True, max_size=3))
        rows.append([(letter, letter, draw(st.integers(0, n_states - 1))) for letter in letters])
    accepting = draw(st.sets(st.integers(0, n_states - 1)))
    return lx.automaton(rows, accepting)


def simple_lexemes() -> st.SearchStrategy[Lexeme]:
    """Lexemes without operands."""
    return st.one_of(
        texts().map(lx.literal),
        st.sets(st.sampled_from(sorted(ALPHABET)), min_size=1).map(lx.byte_set),
        st.sets(texts(), max_size=4).map(lx.literals),
        automata(),
        st.sampled_from([lx.EMPTY, lx.EPSILON, lx.any_byte, lx.byte_range(0x61, 0x62)]),
    )


def _repeated(part: st.SearchStrategy[Lexeme]) -> st.SearchStrategy[Lexeme]:
    bounds = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3))
    return st.builds(
        lambda body, bound: lx.repeat(body, bound[0], None if bound[1] is None else sum(bound)), part, bounds
    )


def _full(part: Lexeme) -> Lexeme:
    """A lexeme without the empty string, as arrangements want it."""
    return lx.intersection(part, lx.plus(lx.any_byte))


@st.composite
def arrangements(draw: st.DrawFn) -> Lexeme:
    """Simple parts: what arrangements of arrangements come to has too many states for the laws of sets."""
    parts = draw(st.lists(simple_lexemes().map(_full), min_size=1, max_size=3))
    required = draw(st.sets(st.integers(0, len(parts) - 1)))
    separator, close = draw(st.sampled_from([(b"a", b"b"), (b"b", b"b"), (b"ab", b"a")]))
    low, more = draw(st.integers(1, 2)), draw(st.none() | st.integers(0, 2))
    high = None if more is None else low + more
    return lx.arrangement(
        parts, lx.literal(separator), lx.literal(close), required=required, low=low, high=high
    )


def _combined(part: st.SearchStrategy[Lexeme]) -> st.SearchStrategy[Lexeme]:
    return st.one_of(
        st.builds(lx.concat, part, part),
        st.builds(lx.union, part, part),
        st.builds(lx.intersection, part, part),
        st.builds(lx.difference, part, part),
        st.builds(lx.complement, part),
        _repeated(part),
        arrangements(),
    )


def lexemes(max_leaves: int = 6) -> st.SearchStrategy[Lexeme]:
    """Lexemes of every kind, nested."""
    return st.recursive(simple_lexemes(), _combined, max_leaves=max_leaves)


# -- grammars -------------------------------------------------------------------------------------


@dataclass
class RuleKit:
    """What the expressions of one rule may use.

    All tests of one counter use one limit and one saturation: what two limits on one counter would
    mean beyond the smaller one is nothing that a front-end asks for.
    """

    rules: list[Rule]
    limits: tuple[int, int] = (-1, -1)
    token_ids: tuple[int, ...] = ()
    acts: bool = True
    lexemes: st.SearchStrategy[Lexeme] = field(default_factory=lambda: lexemes(max_leaves=3))

    def without_acts(self) -> RuleKit:
        """For the bodies of repetitions."""
        return RuleKit(self.rules, self.limits, self.token_ids, False, self.lexemes)


#: Counters stop growing here; every limit and threshold is smaller.
SATURATION = 4


@st.composite
def actions(draw: st.DrawFn, kit: RuleKit) -> Act:
    """One test or update of the register."""
    action = draw(st.sampled_from([*[Action.COUNT, Action.ADD, Action.MARK, Action.LACKS] * 2, *Action]))
    slot = draw(st.integers(0, 1))
    if action is Action.COUNT:
        return Act(action, slot, kit.limits[slot], SATURATION)
    if action is Action.AT_LEAST:
        return Act(action, slot, draw(st.sampled_from([0, 1, 1, 2])))
    return Act(action, slot)


def _leaves(kit: RuleKit) -> st.SearchStrategy[Expr]:
    # Plain text first, since hypothesis shrinks towards it, and often, so that most grammars have texts.
    options: list[st.SearchStrategy[Expr]] = [
        st.builds(Lex, texts().map(lx.literal)),
        st.builds(Lex, st.sets(st.sampled_from(sorted(ALPHABET)), min_size=2).map(lx.byte_set).map(lx.plus)),
        st.builds(Lex, kit.lexemes),
        st.sampled_from(kit.rules).map(Call),
        st.sampled_from([*[NOTHING] * 5, Never]),
    ]
    if kit.token_ids:
        ids = st.lists(st.sampled_from(kit.token_ids), min_size=1, max_size=2, unique=True)
        options.append(st.builds(Tokens, ids.map(tuple)))
    return st.one_of(options)


def _composites(part: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    parts = st.lists(part, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Seq, parts), st.builds(Alt, parts))


def _repeats(body: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    bounds = st.tuples(st.integers(0, 2), st.none() | st.integers(0, 2))
    return st.builds(
        lambda inner, bound: Repeat(inner, bound[0], None if bound[1] is None else sum(bound)), body, bounds
    )


def expressions(kit: RuleKit) -> st.SearchStrategy[Expr]:
    """Bodies of rules. Acts stand anywhere but inside repetitions."""
    plain = st.recursive(_leaves(kit), lambda part: _composites(part) | _repeats(part), max_leaves=4)
    if not kit.acts:
        return plain
    nested = st.recursive(plain | actions(kit), _composites, max_leaves=5)
    # A long run of tests, updates and text: what is remembered over a call, and what is not.
    run = st.lists(actions(kit) | actions(kit) | _leaves(kit), min_size=3, max_size=7).map(tuple)
    return nested | st.builds(Seq, run)


@st.composite
def grammars(draw: st.DrawFn, token_ids: tuple[int, ...] = (), acts: bool = True) -> Rule:
    """The root of one to three rules that call each other at will; some are lazy."""
    rules = [Rule(f"rule{number}") for number in range(draw(st.integers(1, 3)))]
    for rule in rules:
        limits = draw(st.tuples(st.integers(-1, 3), st.integers(-1, 3)))
        body = draw(expressions(RuleKit(rules, limits, token_ids, acts)))
        lazy = draw(st.booleans()) and not named_tokens(Rule("", body))
        rule.define((lambda made=body: made) if lazy else body)
    return rules[0]


def _seq(*parts: Expr | bytes) -> Seq:
    return Seq(tuple(Lex(lx.literal(part)) if isinstance(part, bytes) else part for part in parts))


def _left() -> Expr:
    rule = Rule("left")
    rule.define(Alt((_seq(Call(rule), b"a"), _seq(b"b"))))
    return Call(rule)


def _right() -> Expr:
    rule = Rule("right")
    rule.define(Alt((_seq(b"a", Call(rule)), NOTHING)))
    return Call(rule)


def _mutual() -> Expr:
    even, odd = Rule("even"), Rule("odd")
    even.define(Alt((NOTHING, _seq(b"a", Call(odd)))))
    odd.define(Alt((_seq(b"b", Call(even)), _seq(Call(even), b"b"))))
    return Call(even)


def _ambiguous() -> Expr:
    rule = Rule("ambiguous")
    rule.define(Alt((_seq(b"a"), _seq(Call(rule), Call(rule)), NOTHING)))
    return Call(rule)


def _nullable_cycle() -> Expr:
    one, two = Rule("one"), Rule("two")
    one.define(Alt((Call(two), _seq(b"a"))))
    two.define(Alt((Call(one), NOTHING, _seq(Call(two), b"b", Call(one)))))
    return Call(one)


def _unordered() -> Expr:
    """a, b and é in any order, each at most once, b required: how objects are written."""
    member = Alt(
        tuple(_seq(Act(Action.MARK, mark), text) for mark, text in enumerate((b"a", b"b", "é".encode())))
    )
    # Members share a register only within one rule instance, so the turns are written out.
    return Call(
        Rule(
            "unordered",
            _seq(member, Alt((NOTHING, _seq(member, Alt((NOTHING, member))))), Act(Action.HAS, 1)),
        )
    )


def _centre() -> Expr:
    rule = Rule("centre")
    rule.define(Alt((_seq(b"a", Call(rule), b"a"), _seq(b"b", Repeat(Call(rule), 0, 2), b"b"), NOTHING)))
    return Call(rule)


#: Shapes that random drawing rarely makes.
SHAPES: list[Callable[[], Expr]] = [_left, _right, _mutual, _ambiguous, _nullable_cycle, _unordered, _centre]


@st.composite
def shaped_grammars(draw: st.DrawFn, token_ids: tuple[int, ...] = ()) -> Rule:
    """A known hard shape, put into a random surrounding or left alone."""
    shape = Rule("shape", draw(st.sampled_from(SHAPES))())
    if draw(st.booleans()):
        return shape
    kit = RuleKit([shape], token_ids=token_ids)
    return Rule("around", draw(st.builds(lambda *parts: Seq(parts), expressions(kit), st.just(Call(shape)))))


def any_grammars(token_ids: tuple[int, ...] = ()) -> st.SearchStrategy[Rule]:
    """What most tests want."""
    return grammars(token_ids=token_ids) | shaped_grammars(token_ids=token_ids)


def describe(root: Rule) -> str:
    """A grammar as text, one rule a line: what a failing test shows."""
    names: dict[Rule, str] = {root: f"{root.name}'0"}
    lines = []

    def show(expr: Expr) -> str:
        match expr:
            case Lex(lexeme):
                return repr(lexeme)
            case Call(rule):
                return names.setdefault(rule, f"{rule.name}'{len(names)}")
            case Seq(parts):
                return f"Seq({', '.join(map(show, parts))})"
            case Alt(options):
                return f"Alt({', '.join(map(show, options))})"
            case Repeat(body, low, high):
                return f"Repeat({show(body)}, {low}, {high})"
            case Act(action, a, b, c):
                return f"{action.name}({a}, {b}, {c})"
        return repr(expr)

    done: set[Rule] = set()
    while todo := [rule for rule in names if rule not in done]:
        done.add(todo[0])
        lines.append(f"{names[todo[0]]} = {show(todo[0].expand())}")
    return "\n".join(lines)


# -- vocabularies ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallVocabulary:
    """What the reference engine needs of a vocabulary. Tests of the kernel make a `TokenizerInfo` of it."""

    decoded_vocab: list[bytes]
    vocab_size: int
    stop_token_ids: list[int]
    special_token_ids: list[int]


#: Ids at the start of each vocabulary: specials with and without text, then a stop token.
SPECIAL_IDS = (0, 1)
STOP_ID = 2
#: What `Tokens` expressions of random grammars name: the specials, and the first text tokens.
NAMED_IDS = (0, 1, 3, 4)


@st.composite
def vocabularies(
    draw: st.DrawFn, complete: bool | None = None, single_bytes: bool = False
) -> SmallVocabulary:
    """Up to a dozen text tokens behind two special tokens and a stop token, then padding.

    Args:
        complete: Whether every byte (of all 256) is a token, so that nothing is out of reach; None: either.
        single_bytes: Leave bytes out, but make every byte that occurs in any token a token too.
    """
    pieces = draw(st.lists(texts(4).filter(len), max_size=6))
    # Most of the letters: a grammar about letters that are all missing tells nothing.
    pieces += [bytes([letter]) for letter in ALPHABET if draw(st.integers(0, 3))]
    if complete is None:
        complete = draw(st.booleans())
    if complete:
        pieces += [bytes([byte]) for byte in range(256)]
    elif single_bytes:
        pieces += [bytes([byte]) for byte in sorted(set(b"".join(pieces)))]
    if not pieces:
        pieces = [b"a"]  # a vocabulary without any text is for strings alone, whose bytes are all possible
    decoded = [b"", b"ab", b"a", *pieces]
    padding = draw(st.integers(0, 3))
    size = len(decoded) + padding
    return SmallVocabulary(decoded, size, [STOP_ID], [*SPECIAL_IDS, *range(len(decoded), size)])


# -- prefixes -------------------------------------------------------------------------------------


@st.composite
def choices(draw: st.DrawFn, max_size: int = 6) -> list[int]:
    """Numbers that pick legal tokens: see `walk`."""
    size = draw(st.integers(0, max_size).map(lambda less: max_size - less))
    return draw(st.lists(st.integers(0, 999), min_size=size, max_size=size))


def walk(matcher: ReferenceMatcher, picks: list[int]) -> list[int]:
    """Legal tokens one after another, each picked by a number; ends early where generation ends.

    Text is preferred to the stop token, so that walks get somewhere.
    """
    taken: list[int] = []
    for pick in picks:
        legal = matcher.legal_token_ids()
        going_on = [token_id for token_id in legal if token_id not in matcher.stop_token_ids] or legal
        if not going_on:
            break
        token_id = going_on[pick % len(going_on)]
        assert matcher.accept_token(token_id)
        taken.append(token_id)
        if matcher.is_terminated():
            break
    return taken
