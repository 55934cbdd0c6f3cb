"""Languages as finite sets of short texts: an oracle for the oracle.

Does: compute by plain set algebra every text up to a length that an expression derives. It shares
no code and no idea with the reference engine: no derivatives, no charts, no liveness.
Does not: say anything about longer texts.

Cutting at a length is exact: every part of a short text is short, so longer parts never matter.
"""

from __future__ import annotations

from itertools import permutations, product

from maskwright.lexeme import Lexeme, Op
from maskwright.rules import Act, Action, Alt, Call, Expr, Lex, Repeat, Rule, Seq

Texts = frozenset[bytes]
#: Counters and marks of a rule instance.
Memory = tuple[tuple[int, ...], frozenset[int]]
N_COUNTERS = 2
NEW: Memory = ((0,) * N_COUNTERS, frozenset())


def all_texts(alphabet: bytes, length: int) -> Texts:
    """Every text over an alphabet up to a length."""
    return frozenset(bytes(text) for n in range(length + 1) for text in product(alphabet, repeat=n))


def lexeme_texts(lexeme: Lexeme, universe: Texts) -> Texts:
    """The texts of the universe that a lexeme holds."""
    op, args = lexeme.op, lexeme.args
    if op is Op.EMPTY:
        return frozenset()
    if op is Op.EPSILON:
        return frozenset((b"",))
    if op is Op.LITERAL:
        return universe & {args[0]}
    if op is Op.BYTES:
        return frozenset(text for text in universe if len(text) == 1 and args[0] >> text[0] & 1)
    if op is Op.LITERALS:
        return universe & set(args)
    if op is Op.AUTOMATON:
        return frozenset(text for text in universe if _run(args, text))
    if op is Op.ARRANGEMENT:
        return _arranged(args, universe)
    parts = [lexeme_texts(part, universe) for part in args if isinstance(part, Lexeme)]
    if op is Op.UNION:
        return frozenset().union(*parts)
    if op is Op.INTERSECTION:
        return universe.intersection(*parts)
    if op is Op.COMPLEMENT:
        return universe - parts[0]
    if op is Op.CONCAT:
        return _concat(parts, universe)
    low, high = args[1:]
    return _repeat(parts[0], low, None if high < 0 else high, universe)


def _run(automaton: tuple, text: bytes) -> bool:
    rows, accepting = automaton
    state = 0
    for byte in text:
        targets = [target for low, high, target in rows[state] if low <= byte <= high]
        if not targets:
            return False
        state = targets[0]
    return accepting[state]


def _arranged(args: tuple, universe: Texts) -> Texts:
    parts, required, *_, low, high = args
    texts = [lexeme_texts(part, universe) for part in parts]
    separator, close = (lexeme_texts(part, universe) for part in args[2:4])
    found: set[bytes] = set()
    for n in range(low, len(parts) + 1 if high < 0 else high + 1):
        for chosen in permutations(range(len(parts)), n):
            if set(required) <= set(chosen):
                between = [one for index in chosen for one in (separator, texts[index])]
                found |= _concat([*between[1:], close], universe)
    return frozenset(found)


def _concat(parts: list[Texts], universe: Texts) -> Texts:
    texts: Texts = frozenset((b"",))
    for part in parts:
        texts = frozenset(head + tail for head in texts for tail in part) & universe
    return texts


def _repeat(part: Texts, low: int, high: int | None, universe: Texts) -> Texts:
    texts = _concat([part] * low, universe)
    found = set(texts)
    times = low
    while high is None or times < high:
        texts = _concat([texts, part], universe)
        times += 1
        if texts <= found and high is None:
            break
        found |= texts
    return frozenset(found)


def rule_texts(root: Rule, universe: Texts) -> Texts:
    """The texts of the universe that a rule derives: all rules grow together until none does."""
    known: dict[Rule, Texts] = {root: frozenset()}
    while True:
        before = dict(known)
        for rule in list(known):
            known[rule] = frozenset(text for text, _ in _derive(rule.expand(), NEW, known, universe))
        if known == before:
            return known[root]


Derived = frozenset[tuple[bytes, Memory]]


def _derive(expr: Expr, memory: Memory, known: dict[Rule, Texts], universe: Texts) -> Derived:
    """Pairs of a text and the memory after it. `Tokens` derive nothing: they have no text."""
    if isinstance(expr, Lex):
        return frozenset((text, memory) for text in lexeme_texts(expr.lexeme, universe))
    if isinstance(expr, Call):
        return frozenset((text, memory) for text in known.setdefault(expr.rule, frozenset()))
    if isinstance(expr, Act):
        after = _act(expr, memory)
        return frozenset() if after is None else frozenset(((b"", after),))
    if isinstance(expr, Alt):
        return frozenset(pair for option in expr.options for pair in _derive(option, memory, known, universe))
    if isinstance(expr, Seq):
        pairs: Derived = frozenset(((b"", memory),))
        for part in expr.parts:
            pairs = frozenset(
                (head + tail, after)
                for head, between in pairs
                for tail, after in _derive(part, between, known, universe)
                if head + tail in universe
            )
        return pairs
    if isinstance(expr, Repeat):
        once = frozenset(text for text, _ in _derive(expr.body, memory, known, universe))
        return frozenset((text, memory) for text in _repeat(once, expr.low, expr.high, universe))
    return frozenset()


def _act(act: Act, memory: Memory) -> Memory | None:
    counts, marks = memory
    match act.action:
        case Action.COUNT:
            if act.b != -1 and counts[act.a] >= act.b:
                return None
            grown = min(counts[act.a] + 1, act.c)
            return (*counts[: act.a], grown, *counts[act.a + 1 :]), marks
        case Action.AT_LEAST:
            return memory if counts[act.a] >= act.b else None
        case Action.HAS:
            return memory if act.a in marks else None
        case Action.LACKS:
            return memory if act.a not in marks else None
        case Action.MARK:
            return None if act.a in marks else (counts, marks | {act.a})
        case Action.ADD:
            return counts, marks | {act.a}
