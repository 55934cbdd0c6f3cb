"""Matchers of one compiled grammar, used from many threads at once, from cold."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import maskwright
from maskwright import lexeme as lx
from maskwright.rules import Alt, Call, Expr, Lex, Repeat, Rule, Seq
from tests.kernel.pairs import compile_rule, filled_row, token_ids
from tests.strategies import SmallVocabulary

N_THREADS = 8


def text(value: bytes) -> Lex:
    return Lex(lx.literal(value))


def nested_lists(depth: int) -> Rule:
    """Lists of words and lists. Every level is a lazy rule, so that threads expand them at once."""

    def body() -> Expr:
        word = Lex(lx.repeat(lx.byte_range(0x61, 0x7A), 1, 5))
        item = Alt((word, Call(nested_lists(depth - 1)))) if depth else word
        return Seq((text(b"["), item, Repeat(Seq((text(b","), item)), 0, 7), text(b"]")))

    return Rule(f"lists{depth}", body)


def vocabulary() -> SmallVocabulary:
    letters = [bytes([letter]) for letter in range(0x61, 0x7B)]
    pieces = [b"[", b"]", b",", b"[[", b"]]", b"],[", b"abc", b",a", b"x]", *letters]
    return SmallVocabulary([b"", b"</s>", *pieces], 2 + len(pieces), [1], [0])


def walk(compiled, seed: int, size: int) -> list[list[int]]:
    """The masks along a random way, which the seed decides; with rollbacks."""
    matcher = maskwright.GrammarMatcher(compiled)
    random_numbers = random.Random(seed)
    rows = []
    for number in range(120):
        row = filled_row(matcher, size)
        rows.append(row.tolist())
        assert matcher.accept_token(random_numbers.choice(token_ids(row)))
        if matcher.is_terminated():
            break
        if number % 10 == 9:
            matcher.rollback(3)
    return rows


def test_all_threads_see_the_masks_that_one_thread_sees():
    vocab = vocabulary()
    alone = compile_rule(nested_lists(6), vocab)
    expected = [walk(alone, seed, vocab.vocab_size) for seed in range(N_THREADS * 4)]
    for _ in range(5):
        shared = compile_rule(nested_lists(6), vocab)
        barrier = threading.Barrier(N_THREADS)

        def work(first: int, shared=shared, barrier=barrier) -> list[list[list[int]]]:
            barrier.wait(timeout=30)
            return [walk(shared, seed, vocab.vocab_size) for seed in range(first, N_THREADS * 4, N_THREADS)]

        with ThreadPoolExecutor(N_THREADS) as pool:
            found = list(pool.map(work, range(N_THREADS)))
        for first, walks in enumerate(found):
            assert walks == expected[first::N_THREADS]


def test_a_matcher_may_move_between_threads():
    vocab = vocabulary()
    compiled = compile_rule(nested_lists(3), vocab)
    matcher, other = maskwright.GrammarMatcher(compiled), maskwright.GrammarMatcher(compiled)
    with ThreadPoolExecutor(1) as pool:
        for token_id in (vocab.decoded_vocab.index(piece) for piece in (b"[", b"abc", b",", b"[", b"x]")):
            assert pool.submit(matcher.accept_token, token_id).result()
            assert other.accept_token(token_id)
            assert (
                filled_row(matcher, vocab.vocab_size).tolist() == filled_row(other, vocab.vocab_size).tolist()
            )
