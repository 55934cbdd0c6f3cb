"""A kernel-backed matcher and the reference at the same place, and random cases for both."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

import maskwright
from maskwright.reference import ReferenceMatcher
from maskwright.rules import Rule
from tests.strategies import SPECIAL_IDS, SmallVocabulary, any_grammars, choices, describe, vocabularies


def tokenizer_info(vocabulary: SmallVocabulary) -> Any:
    return maskwright.TokenizerInfo(
        vocabulary.decoded_vocab,
        vocab_size=vocabulary.vocab_size,
        stop_token_ids=vocabulary.stop_token_ids,
        special_token_ids=vocabulary.special_token_ids,
    )


def compile_rule(rule: Rule, vocabulary: SmallVocabulary) -> Any:
    compiler = maskwright.GrammarCompiler(tokenizer_info(vocabulary))
    return compiler.compile_grammar(maskwright.Grammar(rule))


def _rejecting(method: Any) -> Any:
    """Discard the example if the kernel gives up its bounded search for a completion in tokens.

    That search only happens for vocabularies that cannot spell every byte. The reference decides such
    cases by a fixpoint; the kernel raises `LimitExceeded`, which is allowed, and never guesses.
    """

    @functools.wraps(method)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return method(*args, **options)
        except maskwright.LimitExceeded:
            reject()

    return called


class _Matcher(maskwright.GrammarMatcher):
    __init__ = _rejecting(maskwright.GrammarMatcher.__init__)
    accept_token = _rejecting(maskwright.GrammarMatcher.accept_token)
    accept_string = _rejecting(maskwright.GrammarMatcher.accept_string)
    fill_next_token_bitmask = _rejecting(maskwright.GrammarMatcher.fill_next_token_bitmask)
    validate_tokens = _rejecting(maskwright.GrammarMatcher.validate_tokens)
    traverse_draft_tree = _rejecting(maskwright.GrammarMatcher.traverse_draft_tree)
    find_jump_forward_bytes = _rejecting(maskwright.GrammarMatcher.find_jump_forward_bytes)


def kernel_matcher(rule: Rule, vocabulary: SmallVocabulary, **options: Any) -> Any:
    return _Matcher(compile_rule(rule, vocabulary), **options)


def new_row(vocab_size: int) -> np.ndarray:
    """A row of ones: whatever is not written shows."""
    return np.full(-(-vocab_size // 32), -1, np.int32)


def filled_row(matcher: Any, vocab_size: int) -> np.ndarray:
    row = new_row(vocab_size)
    matcher.fill_next_token_bitmask(row)
    return row


def token_ids(row: np.ndarray) -> list[int]:
    """The ids whose bits are set, also those beyond the vocabulary."""
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


def legal(matcher: Any, vocab_size: int) -> list[int]:
    return token_ids(filled_row(matcher, vocab_size))


class Case:
    """A grammar that is not empty, a vocabulary that can spell one of its texts, and a way through it."""

    # Not a dataclass: hypothesis would print the fields, and a rule's name says nothing.
    def __init__(self, rule: Rule, vocabulary: SmallVocabulary, picks: list[int]) -> None:
        self.rule = rule
        self.vocabulary = vocabulary
        self.picks = picks

    def __repr__(self) -> str:
        return f"Case({self.vocabulary}, picks={self.picks},\n{describe(self.rule)})"

    def reference(self, **options: Any) -> ReferenceMatcher:
        return ReferenceMatcher(self.rule, self.vocabulary, **options)

    def kernel(self, **options: Any) -> Any:
        return kernel_matcher(self.rule, self.vocabulary, **options)


@st.composite
def cases(
    draw: st.DrawFn,
    complete: bool = False,
    single_bytes: bool = True,
    max_picks: int = 6,
    named_ids: tuple[int, ...] = SPECIAL_IDS,
) -> Case:
    """Random cases. The arguments are those of `vocabularies`, `choices` and `any_grammars`."""
    vocabulary = draw(vocabularies(complete=complete, single_bytes=single_bytes))
    case = Case(draw(any_grammars(named_ids)), vocabulary, draw(choices(max_picks)))
    assume(case.reference().legal_token_ids())
    return case


def step(reference: ReferenceMatcher, kernel: Any, pick: int) -> bool:
    """Take one legal token on both sides. Returns whether generation goes on."""
    tokens = reference.legal_token_ids()
    going_on = [token_id for token_id in tokens if token_id not in reference.stop_token_ids] or tokens
    token_id = going_on[pick % len(going_on)]
    assert kernel.accept_token(token_id), token_id
    assert reference.accept_token(token_id)
    return not reference.is_terminated()
