"""The helpers that tests written for XGrammar call.

Those that look inside XGrammar's automata (`_print_grammar_fsms` and the like) have nothing to look at here
and refuse.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import maskwright
from maskwright import errors

from ._refusals import refused_class, refused_function
from .compiler import GrammarCompiler
from .exception import BitmaskError, as_runtime_error
from .grammar import Grammar
from .matcher import GrammarMatcher
from .tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    import torch

__all__ = ["GrammarFunctor", "bitmask_to_bool_mask", "bool_mask_to_bitmask"]

_WORD_BITS: Final = 32
_WHAT: Final = "XGrammar's internals"
_HINT: Final = "test what a grammar accepts: _is_grammar_accept_string()"

GrammarFunctor = refused_class("GrammarFunctor", __name__, _WHAT, _HINT)
_generate_float_regex = refused_function("_generate_float_regex", __name__, _WHAT, _HINT)
_generate_range_regex = refused_function("_generate_range_regex", __name__, _WHAT, _HINT)
_get_allow_empty_rule_ids = refused_function("_get_allow_empty_rule_ids", __name__, _WHAT, _HINT)
_is_rule_fsm_accept_string = refused_function("_is_rule_fsm_accept_string", __name__, _WHAT, _HINT)
_print_grammar_fsms = refused_function("_print_grammar_fsms", __name__, _WHAT, _HINT)


def _json_schema_to_ebnf(schema: Any, *, json_format: str = "json", **options: Any) -> str:
    """A schema's grammar as EBNF text. The text is maskwright's: same language, other rules.

    Raises:
        GrammarError: EBNF cannot say it (the grammar counts or remembers), or another format than JSON.
    """
    if json_format != "json":
        refused_function("_json_schema_to_ebnf", __name__, f"arguments in {json_format}", _HINT)()
    return str(Grammar.from_json_schema(schema, **options))


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """A pattern as EBNF text: a whole grammar, or only the body of its root.

    Raises:
        RegexError: Malformed or not regular.
    """
    text = str(Grammar.from_regex(regex))
    return text if with_rule_name else text.removeprefix("root ::= ").removesuffix("\n")


def _ebnf_to_grammar_no_normalization(ebnf_string: str, root_rule_name: str = "root") -> Grammar:
    """EBNF text as a grammar; there is no step of normalisation to leave out."""
    return Grammar.from_ebnf(ebnf_string, root_rule_name=root_rule_name)


def _get_matcher_from_grammar(grammar: maskwright.Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher for strings: its vocabulary has one token for each byte."""
    return _get_matcher_from_grammar_and_tokenizer_info(grammar, None, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: maskwright.Grammar | str, tokenizer_info: maskwright.TokenizerInfo | None = None, **kwargs: Any
) -> GrammarMatcher:
    """A matcher, by default over single bytes; keyword arguments as for `GrammarMatcher`."""
    if tokenizer_info is None:
        # Not an empty one: what no token can spell is a dead end, and all outputs of this grammar are.
        tokenizer_info = TokenizerInfo([bytes([byte]) for byte in range(256)])
    compiled = GrammarCompiler(tokenizer_info, cache_enabled=False).compile_grammar(grammar)
    return GrammarMatcher(compiled, **kwargs)


def _is_grammar_accept_string(
    grammar: maskwright.Grammar | str,
    input_str: str,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Whether a text is an output of a grammar, or begins one if it need not be complete."""
    matcher = _get_matcher_from_grammar(grammar, terminate_without_stop_token=True)
    start = time.monotonic()
    accepted = matcher.accept_string(input_str)
    if print_time:
        print(f"{len(input_str)} characters took {(time.monotonic() - start) * 1e6:.0f} us")
    return accepted and (matcher.is_terminated() or not require_termination)


def _get_masked_tokens_from_bitmask(bitmask: torch.Tensor, vocab_size: int, index: int = 0) -> list[int]:
    """Ids that a row does not allow, ascending."""
    allowed = bitmask_to_bool_mask(_row(bitmask, index), vocab_size)[0]
    return [token for token, is_allowed in enumerate(allowed.tolist()) if not is_allowed]


def _is_single_token_bitmask(bitmask: torch.Tensor, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Whether a row allows exactly one token, and which; -1 if not."""
    allowed = bitmask_to_bool_mask(_row(bitmask, index), vocab_size)[0].nonzero().flatten().tolist()
    return (True, allowed[0]) if len(allowed) == 1 else (False, -1)


def _row(bitmask: torch.Tensor, index: int) -> torch.Tensor:
    import torch

    rows = torch.atleast_2d(bitmask)
    if not 0 <= index < len(rows):
        raise BitmaskError(f"row {index} is not one of the bitmask's {len(rows)}")
    return rows[index : index + 1]


def bool_mask_to_bitmask(bool_mask: torch.Tensor) -> torch.Tensor:
    """A mask of truth values as a bitmask; the bits beyond its width are 1.

    Args:
        bool_mask: bool, shape (batch, width).

    Returns:
        int32, shape (batch, ceil(width / 32)).
    """
    import torch

    n_rows, width = bool_mask.shape
    padded = torch.ones(n_rows, -(-width // _WORD_BITS) * _WORD_BITS, dtype=torch.int64)
    padded[:, :width] = bool_mask
    bits = padded.view(n_rows, -1, _WORD_BITS) << torch.arange(_WORD_BITS)
    words = bits.sum(dim=-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def bitmask_to_bool_mask(bit_mask: torch.Tensor, vocab_size: int | None = None) -> torch.Tensor:
    """A bitmask as truth values, True for allowed.

    Args:
        bit_mask: int32, shape (batch, words).
        vocab_size: Width of the answer, by default all bits.

    Returns:
        bool, shape (batch, vocab_size).
    """
    import torch

    bits = (bit_mask.unsqueeze(-1) >> torch.arange(_WORD_BITS, device=bit_mask.device)) & 1
    mask = bits.flatten(1).to(torch.bool)
    return mask if vocab_size is None else mask[:, :vocab_size]


def _traverse_draft_tree(
    retrieve_next_token: torch.Tensor,
    retrieve_next_sibling: torch.Tensor,
    draft_tokens: torch.Tensor,
    matcher: maskwright.GrammarMatcher,
    allocate_token_bitmask: torch.Tensor,
    time_threshold: float = -1.0,
) -> bool:
    """`GrammarMatcher.traverse_draft_tree`, under its older name."""
    try:
        return matcher.traverse_draft_tree(
            retrieve_next_token, retrieve_next_sibling, draft_tokens, allocate_token_bitmask, time_threshold
        )
    except errors.MaskwrightError as error:
        raise as_runtime_error(error) from None
