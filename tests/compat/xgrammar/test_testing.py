"""The helpers of `xgrammar.testing`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwright.compat.xgrammar as xgr
from maskwright.compat.xgrammar import testing

EBNF = 'root ::= "a" "b"*'


def test_accepting_strings(capsys: pytest.CaptureFixture[str]) -> None:
    accepts = testing._is_grammar_accept_string
    assert accepts(EBNF, "abb")
    assert accepts(xgr.Grammar.from_ebnf(EBNF), "a", print_time=True)
    assert "1 characters took" in capsys.readouterr().out
    assert not accepts(EBNF, "b")
    assert not accepts('root ::= "ab"', "a")
    assert accepts('root ::= "ab"', "a", require_termination=False)
    assert accepts('root ::= "é"+', "éé")


def test_matchers() -> None:
    matcher = testing._get_matcher_from_grammar(EBNF, terminate_without_stop_token=True)
    assert matcher.accept_string("ab")
    assert matcher.is_terminated()
    info = xgr.TokenizerInfo(["a", "ab"])
    matcher = testing._get_matcher_from_grammar_and_tokenizer_info(EBNF, info)
    assert matcher.accept_token(1)
    assert isinstance(matcher, xgr.GrammarMatcher)


def test_printing() -> None:
    assert testing._regex_to_ebnf("a+b") == 'root ::= "a"+ "b"\n'
    assert testing._regex_to_ebnf("a+b", False) == '"a"+ "b"'
    text = testing._json_schema_to_ebnf({"const": "x"}, any_whitespace=False)
    assert testing._is_grammar_accept_string(text, '"x"')
    grammar = testing._ebnf_to_grammar_no_normalization("start ::= [a-c]", "start")
    assert testing._is_grammar_accept_string(grammar, "b")


def test_bitmasks() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    bitmask = torch.tensor([[5, 1], [4, 0]], dtype=torch.int32)
    assert testing._get_masked_tokens_from_bitmask(bitmask, 35) == [1, *range(3, 32), 33, 34]
    assert testing._get_masked_tokens_from_bitmask(bitmask[0], 3) == [1]
    assert testing._is_single_token_bitmask(bitmask, 35) == (False, -1)
    assert testing._is_single_token_bitmask(bitmask, 35, 1) == (True, 2)
    assert testing._is_single_token_bitmask(bitmask, 2, 1) == (False, -1)
    with pytest.raises(RuntimeError, match="row 2"):
        testing._get_masked_tokens_from_bitmask(bitmask, 35, 2)
    assert testing.bool_mask_to_bitmask(torch.tensor([[True, False, True]])).tolist() == [[-3]]
    assert testing.bitmask_to_bool_mask(bitmask[1:], 3).tolist() == [[False, False, True]]
    assert testing.bitmask_to_bool_mask(bitmask).shape == (2, 64)


@given(
    st.lists(st.lists(st.booleans(), min_size=70, max_size=70), min_size=1, max_size=3), st.integers(0, 70)
)
def test_masks_and_back(rows: list[list[bool]], width: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    mask = torch.tensor(rows)[:, :width]
    bitmask = testing.bool_mask_to_bitmask(mask)
    assert bitmask.dtype == torch.int32
    assert torch.equal(testing.bitmask_to_bool_mask(bitmask, width), mask)
    assert testing.bitmask_to_bool_mask(bitmask)[:, width:].all()


def test_draft_tree() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matcher = testing._get_matcher_from_grammar_and_tokenizer_info(EBNF, xgr.TokenizerInfo(["a", "b"]))
    matcher.accept_token(0)
    bitmask = xgr.allocate_token_bitmask(1, 2)
    arrays = [torch.tensor(values) for values in ([-1], [-1], [0])]
    assert testing._traverse_draft_tree(*arrays, matcher, bitmask)
    assert bitmask.tolist() == [[2]]
    with pytest.raises(RuntimeError):
        testing._traverse_draft_tree(arrays[0].int(), *arrays[1:], matcher, bitmask)
