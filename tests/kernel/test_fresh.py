"""Remembered texts: masks and steps agree with plain Python, and rollback and forks take the memory along.

The language is the arrays of distinct numbers and strings in one slot, over a small vocabulary whose tokens
cross the borders of items.
"""

from __future__ import annotations

import random
import re
from itertools import compress, permutations

import numpy as np
import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.lexeme import Lexeme, arrangement, byte_set, concat, literal, literals, plus, repeat, union
from maskwright.rules import Act, Action, Alt, Call, Expr, Fresh, Lex, Repeat, Rule, Seq

TOKENS = [b"1", b"2", b"12", b"a", b'"', b",", b"[", b"]", b",1", b"1,2", b',"a"', b'"a",', b"1]", b"2,1,"]
STOP = len(TOKENS)
NUMBER = plus(byte_set(b"12"))
STRING = concat(literal(b'"'), plus(byte_set(b"a1")), literal(b'"'))


def _matcher(low: int, high: int) -> GrammarMatcher:
    """Arrays of ``low`` to ``high`` distinct items, the first a number."""
    info = TokenizerInfo([*TOKENS, b"</s>"], stop_token_ids=[STOP])

    def item(lexeme: Lexeme, *before: Expr) -> Expr:
        return Seq((Act(Action.COUNT, 0, high, high), *before, Fresh(lexeme, 0)))

    comma = Lex(literal(b","))
    more = Repeat(Alt((item(NUMBER, comma), item(STRING, comma))), 0, None)
    close = Seq((Act(Action.AT_LEAST, 0, low), Lex(literal(b"]"))))
    rule = Rule("array", Seq((Lex(literal(b"[")), item(NUMBER), more, close)))
    compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar(rule, guards_checked=True))
    return GrammarMatcher(compiled)


def _holds(text: bytes, low: int, high: int) -> bool:
    if re.fullmatch(rb'\[[12]+(,([12]+|"[a1]+"))*\]', text) is None:
        return False
    items = text[1:-1].split(b",")
    return low <= len(items) <= high and len(set(items)) == len(items)


def _is_begun(text: bytes, low: int, high: int) -> bool:
    """Whether some text of the language begins so: there is always another number."""
    if text.endswith(b"]"):
        return _holds(text, low, high)
    if re.fullmatch(rb'\[?|\[[12]+(,([12]+|"[a1]+"))*(,("[a1]*)?)?', text) is None:
        return False
    *done, last = text[1:].split(b",")
    if len(done) >= high or len(set(done)) < len(done):
        return False
    is_whole = len(last) > 2 and last.endswith(b'"')
    return not (is_whole and last in done)


def _legal(matcher: GrammarMatcher) -> set[int]:
    row = allocate_token_bitmask(1, STOP + 1)
    matcher.fill_next_token_bitmask(row)
    bits = np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")
    return {int(token) for token in np.flatnonzero(bits[: STOP + 1])}


def _expected(text: bytes, low: int, high: int) -> set[int]:
    legal = {number for number, token in enumerate(TOKENS) if _is_begun(text + token, low, high)}
    return legal | ({STOP} if _holds(text, low, high) else set())


@pytest.mark.parametrize(("low", "high"), [(0, 3), (2, 4), (3, 6), (1, 9)])
def test_masks_and_steps_are_exact(low: int, high: int) -> None:
    """One matcher after another over shared states: what one visits must not mislead the next."""
    matcher = _matcher(low, high)
    rng = random.Random(low * 10 + high)
    for _ in range(80):
        matcher.reset()
        text = b""
        for _ in range(14):
            expected = _expected(text, low, high)
            assert _legal(matcher) == expected, text
            for token in range(STOP):
                probe = matcher.fork()
                assert probe.accept_token(token) == (token in expected), (text, TOKENS[token])
            going_on = sorted(expected - {STOP})
            if not going_on:
                break
            token = rng.choice(going_on)
            assert matcher.accept_token(token)
            text += TOKENS[token]


def test_rollback_forgets_and_forks_do_not_share() -> None:
    """What is remembered belongs to the place, not to the matcher."""
    matcher = _matcher(0, 5)
    assert matcher.accept_string(b"[1,2")
    fork = matcher.fork()
    assert matcher.accept_token(TOKENS.index(b","))
    assert matcher.accept_token(TOKENS.index(b"12"))
    assert not matcher.accept_string(b",12]")
    matcher.rollback(2)
    assert _legal(matcher) == _legal(fork) == _expected(b"[1,2", 0, 5)
    assert matcher.accept_string(b",12,21]")
    assert fork.accept_string(b",21,12]")
    assert matcher.is_completed()
    assert fork.is_completed()


def test_a_text_again_is_one_of_those_remembered() -> None:
    """Distinct numbers, then one of them, in masks of tokens that cross the borders of items."""
    info = TokenizerInfo([*TOKENS, b"</s>"], stop_token_ids=[STOP])
    comma = Lex(literal(b","))
    more = Repeat(Seq((comma, Fresh(NUMBER, 0))), 0, None)
    again = Seq((comma, Fresh(NUMBER, 0, again=True), Lex(literal(b"]"))))
    rule = Rule("array", Seq((Lex(literal(b"[")), Fresh(NUMBER, 0), more, again)))
    compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar(rule, guards_checked=True))
    rng = random.Random(5)
    for _ in range(80):
        matcher = GrammarMatcher(compiled)
        text = b""
        while not text.endswith(b"]") and len(text) < 12:
            legal = _legal(matcher)
            for token, spelled in enumerate(TOKENS):
                begun = re.fullmatch(rb"\[?|\[[12]+(,[12]+)*,?(\])?", text + spelled)
                *before, last = (text + spelled).rstrip(b"]")[1:].split(b",")
                is_fine = begun is not None and len(set(before)) == len(before)
                if is_fine and begun is not None and begun[2]:
                    is_fine = last in before
                assert (token in legal) is is_fine, (text, spelled)
            token = rng.choice(sorted(legal))
            assert matcher.accept_token(token)
            text += TOKENS[token]
        assert matcher.is_completed() == text.endswith(b"]")


# -- tokens over several items -----------------------------------------------------------------------------

LETTERS = plus(byte_set(b"ab"))
TEXT = concat(literal(b'"'), LETTERS, literal(b'"'))
SHORT = concat(literal(b'"'), repeat(byte_set(b"ab"), 0, 1), literal(b'"'))
OBJECT = concat(
    literal(b"{"),
    arrangement([literal(b'"a":1'), concat(literal(b'"b":'), TEXT)], literal(b","), literal(b"}")),
)


def _counted(most: int | None) -> Act:
    return Act(Action.COUNT, 0, -1 if most is None else most, 9)


def _distinct(item: Lexeme, most: int | None, any_order: bool = False) -> Expr:
    """Arrays of at least one item, all distinct, of which there are more than ``most``."""
    fresh = Fresh(item, 0, any_order)
    more = Repeat(Seq((_counted(most), Lex(literal(b",")), fresh)), 0, None)
    return Seq((Lex(literal(b"[")), _counted(most), fresh, more, Lex(literal(b"]"))))


def _repeating(item: Lexeme, most: int | None) -> Expr:
    """Arrays of distinct items, then one of these, at most so many with it."""
    before, comma = _counted(None if most is None else most - 1), Lex(literal(b","))
    more = Repeat(Seq((before, comma, Fresh(item, 0))), 0, None)
    again = Seq((_counted(most), comma, Fresh(item, 0, again=True)))
    return Seq((Lex(literal(b"[")), before, Fresh(item, 0), more, again, Lex(literal(b"]"))))


def _members() -> Expr:
    """An object of distinct names, any of which may be an array of distinct texts."""
    value = Alt((Lex(literal(b"1")), Call(Rule("inner", _distinct(TEXT, None)))))
    member = Seq((Fresh(TEXT, 0), Lex(literal(b":")), value))
    more = Repeat(Seq((Lex(literal(b",")), member)), 0, None)
    return Seq((Lex(literal(b"{")), member, more, Lex(literal(b"}"))))


def _perhaps_nothing() -> Expr:
    """Words between semicolons, each once, the empty one among them."""
    fresh = Fresh(repeat(byte_set(b"ab"), 0, None), 0)
    return Seq(
        (Lex(literal(b"[")), fresh, Repeat(Seq((Lex(literal(b",")), fresh)), 0, None), Lex(literal(b"]")))
    )


CROSSING = {
    "endless texts": _distinct(TEXT, None),
    "numbers that may go on": _distinct(LETTERS, None),
    "three texts": _distinct(SHORT, 3),
    "objects in any order": _distinct(OBJECT, None, any_order=True),
    "a text again": _repeating(TEXT, None),
    "two items": _repeating(TEXT, 2),
    "three items of three texts": _repeating(SHORT, 3),
    "names": _members(),
    "words that may be empty": _perhaps_nothing(),
}
ITEMS = [b'"a"', b'"b"', b'""', b'"ab"', b'{"a":1}', b'{"b":"a","a":1}', b'{"a":1,"b":"a"}', b"a", b"ab", b""]


def _crossing_tokens(rng: random.Random) -> list[bytes]:
    """All bytes that matter, and pieces of arrays and of objects with few different items."""
    found = {bytes([byte]) for byte in b'[]{}:,"ab1'}
    while len(found) < 120:
        chosen = rng.choices(ITEMS, k=rng.randint(2, 4))
        text = (
            b"[%s]" % b",".join(chosen)
            if rng.random() < 0.7
            else b"{%s}" % b",".join(one + b":1" for one in chosen)
        )
        start = rng.randrange(len(text))
        found.add(text[start : start + rng.randint(2, 12)])
    return sorted(found)


@pytest.mark.parametrize("name", CROSSING)
def test_tokens_that_pass_over_items_are_judged_as_steps_judge_them(name: str) -> None:
    """A mask says what accepting says, whatever other states said before; steps know what was remembered."""
    rng = random.Random(name)
    for _ in range(4):
        tokens = _crossing_tokens(rng)
        info = TokenizerInfo([*tokens, b"</s>"], stop_token_ids=[len(tokens)])
        grammar = Grammar(Rule(name, CROSSING[name]), guards_checked=True)
        compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar)
        for _ in range(12):
            matcher = GrammarMatcher(compiled)
            for _ in range(10):
                row = allocate_token_bitmask(1, info.vocab_size)
                matcher.fill_next_token_bitmask(row)
                bits = np.unpackbits(row[0].view(np.uint8), bitorder="little")[: len(tokens)]
                accepted = [matcher.fork().accept_token(token) for token in range(len(tokens))]
                assert list(compress(tokens, bits)) == list(compress(tokens, accepted))
                if not any(accepted):
                    break
                # Long tokens more often: they make the items that others repeat.
                going_on = [token for token, ok in enumerate(accepted) if ok]
                token = max(rng.choices(going_on, k=2), key=lambda one: len(tokens[one]))
                assert matcher.accept_token(token)


# -- in any order ----------------------------------------------------------------------------------------

MEMBERS = [b'"a":1', b'"a":2', b'"b":1', b'"b":{}']
PIECES = [*b'{}[],:"ab12', *MEMBERS, b"},{", b'},{"a":1,', b'1,"b":1}', b"}]", b"1}", b'{"b":1,"a":1}']
STOP_PIECE = len(PIECES)


def _objects_matcher() -> GrammarMatcher:
    """Arrays of distinct objects: perhaps a, 1 or 2; perhaps b, 1 or an empty object; in any order."""
    pieces = [bytes([piece]) if isinstance(piece, int) else piece for piece in PIECES]
    info = TokenizerInfo([*pieces, b"</s>"], stop_token_ids=[STOP_PIECE])
    parts = [literals(MEMBERS[:2]), literals(MEMBERS[2:])]
    item = concat(literal(b"{"), union(literal(b"}"), arrangement(parts, literal(b","), literal(b"}"))))
    count, fresh = Act(Action.COUNT, 0, 9, 9), Fresh(item, 0, any_order=True)
    more = Repeat(Seq((count, Lex(literal(b",")), fresh)), 0, None)
    rule = Rule("array", Seq((Lex(literal(b"[")), count, fresh, more, Lex(literal(b"]")))))
    compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar(rule, guards_checked=True))
    return GrammarMatcher(compiled)


def _all_arrays(most: int) -> set[bytes]:
    """By enumeration; nine objects are all there are."""
    orders: dict[frozenset[bytes], list[bytes]] = {}
    for a in (None, *MEMBERS[:2]):
        for b in (None, *MEMBERS[2:]):
            members = [member for member in (a, b) if member]
            texts = [b"{%s}" % b",".join(order) for order in permutations(members)]
            orders[frozenset(members)] = texts
    arrays: set[bytes] = set()
    for n in range(1, most + 1):
        for chosen in permutations(orders.values(), n):
            begun = {b""}
            for texts in chosen:
                begun = {before + b"," + text for before in begun for text in texts}
            arrays |= {b"[%s]" % text[1:] for text in begun}
    return arrays


def test_all_orders_of_what_was_written_are_taken_away() -> None:
    """Masks against an enumeration of the language, as long as three items are enough to tell."""
    arrays = _all_arrays(3)
    beginnings = {text[:n] for text in arrays for n in range(len(text) + 1)}
    matcher = _objects_matcher()
    rng = random.Random(2)
    for _ in range(60):
        matcher.reset()
        text = b""
        while text.count(b"{") - text.count(b"{}") < 3 and len(text) < 40:
            legal = _legal_pieces(matcher)
            for number, piece in enumerate(PIECES):
                after = text + (bytes([piece]) if isinstance(piece, int) else piece)
                if after.count(b"{") <= 3 and after.count(b"},") < 3:
                    assert (number in legal) == (after in beginnings), (text, after)
            assert (STOP_PIECE in legal) == (text in arrays)
            going_on = sorted(legal - {STOP_PIECE})
            if not going_on:
                break
            token = rng.choice(going_on)
            assert matcher.accept_token(token)
            text += bytes([PIECES[token]]) if isinstance(PIECES[token], int) else PIECES[token]


def _legal_pieces(matcher: GrammarMatcher) -> set[int]:
    row = allocate_token_bitmask(1, STOP_PIECE + 1)
    matcher.fill_next_token_bitmask(row)
    bits = np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")
    return {int(token) for token in np.flatnonzero(bits[: STOP_PIECE + 1])}


def test_a_text_that_is_not_json_is_remembered_as_it_is() -> None:
    """And so is one whose strings or brackets do not end."""
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"], stop_token_ids=[256])
    odd = [b'{"a":1', b'{"a', b"[1}", b'{"a" 1}', b'"a\\', b"{1:2}", b"}", b"[,]", b'{"a":}']
    fresh = Fresh(literals(odd), 0, any_order=True)
    rule = Rule("odd", Seq((fresh, Repeat(Seq((Lex(literal(b";")), fresh)), 0, None))))
    compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar(rule, guards_checked=True))
    for text in odd:
        other = next(one for one in odd if one != text)
        matcher = GrammarMatcher(compiled)
        assert matcher.accept_string(text + b";" + other)
        assert not GrammarMatcher(compiled).accept_string(text + b";" + text + b";")
