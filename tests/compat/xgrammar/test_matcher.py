"""Matchers and bitmasks as XGrammar's programs use them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import maskwright
import maskwright.compat.xgrammar as xgr

torch = pytest.importorskip("torch", reason="torch is not installed")

#: a, b, an empty token, the stop token, a control token that is text; two ids of padding.
INFO = xgr.TokenizerInfo(["a", "b", "", "</s>", "<|x|>"], vocab_size=7)
COMPILED = xgr.GrammarCompiler(INFO).compile_grammar('root ::= "a" "b"*')


def bits(bitmask: Any, row: int = 0) -> list[int]:
    """Allowed ids of a row."""
    return [token for token in range(7) if int(bitmask[row, 0]) >> token & 1]


def test_a_run() -> None:
    matcher = xgr.GrammarMatcher(COMPILED)
    assert [matcher.accept_token(token) for token in (1, 0, 1, 99, -1, 2, 3, 3)] == [
        *(False, True, True, False, False, False, True, False)
    ]
    assert matcher.is_terminated()
    assert matcher.find_jump_forward_tokens() == []
    bitmask = xgr.allocate_token_bitmask(1, 7)
    with pytest.raises(RuntimeError, match="the output has ended"):
        matcher.fill_next_token_bitmask(bitmask)
    with pytest.raises(RuntimeError, match="stop token"):
        matcher.find_jump_forward_string()
    matcher.rollback()
    assert matcher.is_completed()
    assert not matcher.is_terminated()
    assert matcher.fill_next_token_bitmask(bitmask)
    assert bits(bitmask) == [1, 3]
    with pytest.raises(RuntimeError, match="cannot undo 3 of 2"):
        matcher.rollback(3)
    matcher.reset()
    assert matcher.find_jump_forward_string() == "a"
    assert matcher.find_jump_forward_tokens() == [0]
    assert matcher.accept_string(b"ab")
    assert not matcher.accept_string("a")
    assert "complete" in matcher._debug_print_internal_state()


def test_properties_and_fork() -> None:
    matcher = xgr.GrammarMatcher(COMPILED)
    assert (matcher.temperature, matcher.stop_token_ids, matcher.max_rollback_tokens) == (None, [3], -1)
    assert matcher.get_captures() == matcher.get_captures(deduplicate=False) == []
    warm = xgr.GrammarMatcher(COMPILED, default_temperature=0.5, override_stop_tokens=4)
    twin = warm.fork()
    assert type(twin) is xgr.GrammarMatcher
    assert (twin.temperature, twin.stop_token_ids) == (0.5, [4])
    twin.accept_token(0)
    assert twin.is_completed()
    assert not warm.is_completed()


def test_what_rules_say_about_captures_and_temperatures_is_refused_when_asked_for() -> None:
    plain = xgr.Grammar.from_ebnf('root ::= "[capture]" "temperature"')
    captures = xgr.Grammar.from_ebnf('root[capture="temperature, lazy"] ::= "a"')
    both = xgr.Grammar.union(
        plain, xgr.Grammar.concat(captures, xgr.Grammar.from_ebnf('root [temperature=0.5] ::= "b"'))
    )
    compiler = xgr.GrammarCompiler(INFO)
    info = xgr.TokenizerInfo([bytes([byte]) for byte in range(256)])
    for grammar, captured, heated in [(plain, False, False), (captures, True, False), (both, True, True)]:
        matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_grammar(grammar))
        for asked, refused in [
            (matcher.get_captures, captured),
            (partial(getattr, matcher, "temperature"), heated),
        ]:
            if refused:
                with pytest.raises(xgr.exception.UnsupportedError, match="not supported"):
                    asked()
            else:
                assert not asked()
    matcher = xgr.GrammarMatcher(compiler.compile_grammar('root[capture] ::= "a"'))
    assert matcher.accept_token(0)
    with pytest.raises(RuntimeError, match="captures"):
        matcher.get_captures()


def test_terminates_without_a_stop_token() -> None:
    matcher = xgr.GrammarMatcher(COMPILED, terminate_without_stop_token=True)
    assert matcher.accept_token(0)
    assert matcher.is_terminated()
    bitmask = xgr.allocate_token_bitmask(1, 7)
    assert matcher.fill_next_token_bitmask(bitmask)


@pytest.mark.parametrize(
    "options",
    [
        {"override_stop_tokens": []},
        {"override_stop_tokens": [99]},
        {"default_temperature": -1.0},
        {"default_temperature": math.nan},
        {"default_temperature": math.inf},
    ],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError):
        xgr.GrammarMatcher(COMPILED, **options)


def test_wrong_types() -> None:
    with pytest.raises(ValueError, match="needs a CompiledGrammar"):
        xgr.GrammarMatcher(5)  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="max_rollback_tokens"):
        xgr.GrammarMatcher(COMPILED, max_rollback_tokens=5)
    matcher = xgr.GrammarMatcher(COMPILED)
    with pytest.raises(TypeError):
        matcher.accept_token("a")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="str or bytes"):
        matcher.accept_string(5)  # type: ignore[arg-type]


def test_bitmasks() -> None:
    assert xgr.get_bitmask_shape(2, 33) == (2, 2)
    bitmask = xgr.allocate_token_bitmask(2, 33)
    assert (bitmask.dtype, bitmask.device.type, bitmask.tolist()) == (torch.int32, "cpu", [[-1, -1]] * 2)
    bitmask.zero_()
    xgr.reset_token_bitmask(bitmask)
    assert (bitmask == -1).all()
    matcher = xgr.GrammarMatcher(COMPILED)
    rows = xgr.allocate_token_bitmask(2, 7)
    assert matcher.fill_next_token_bitmask(rows, 1)
    assert rows.tolist() == [[-1], [1]]
    one = np.zeros(1, dtype=np.int32)
    matcher.fill_next_token_bitmask(one)
    assert one.tolist() == [1]
    for wrong, row in [(rows, 2), (rows, -1), (rows.long(), 0), (torch.zeros(1, 0, dtype=torch.int32), 0)]:
        with pytest.raises(RuntimeError):
            matcher.fill_next_token_bitmask(wrong, row)
    with pytest.raises(RuntimeError):
        xgr.allocate_token_bitmask(-1, 5)


def test_apply_masks_the_tail_without_a_warning() -> None:
    logits = torch.zeros(2, 40)
    xgr.apply_token_bitmask_inplace(logits, torch.full((2, 1), -1, dtype=torch.int32))
    assert torch.isinf(logits).sum(dim=1).tolist() == [8, 8]
    logits = torch.zeros(2, 40)
    xgr.apply_token_bitmask_inplace(
        logits, xgr.allocate_token_bitmask(2, 40), vocab_size=30, indices=[1], backend="torch_native"
    )
    assert torch.isinf(logits).sum(dim=1).tolist() == [0, 10]


@pytest.mark.parametrize(
    ("bitmask", "options"),
    [
        (torch.zeros(2, 2, dtype=torch.int32), {"backend": "zz"}),
        (torch.zeros(2, 2, dtype=torch.int64), {}),
        (torch.zeros(2, 2, dtype=torch.int32, device="meta"), {}),
        (torch.zeros(1, 2, dtype=torch.int32), {}),
        (torch.zeros(2, 2, dtype=torch.int32), {"indices": [5]}),
    ],
)
def test_apply_refuses(bitmask: Any, options: dict[str, Any]) -> None:
    logits = torch.zeros(2, 40)
    for kind in (RuntimeError, ValueError, maskwright.BitmaskError):
        with pytest.raises(kind):
            xgr.apply_token_bitmask_inplace(logits, bitmask, **options)
    assert not logits.any()


def tree(*arrays: list[int]) -> list[Any]:
    return [torch.tensor(array) for array in arrays]


def test_draft_tree() -> None:
    # 0 -> 1 (b) -> 3 (stop) -> 4 (a), and 1's sibling 2 (a).
    arrays = tree([1, 3, -1, 4, -1], [-1, 2, -1, -1, -1], [0, 1, 0, 3, 0])
    for temperature, expected in [(0.5, [0.5, 0.5, -1.0, -1.0, -1.0]), (None, [-1.0] * 5)]:
        matcher = xgr.GrammarMatcher(COMPILED, default_temperature=temperature)
        matcher.accept_token(0)
        bitmask = xgr.allocate_token_bitmask(5, 7)
        temperatures = torch.full((5,), 9.0)
        assert matcher.traverse_draft_tree(*arrays, bitmask, -1.0, temperatures)
        assert [bits(bitmask, row) for row in range(5)] == [[1, 3], [1, 3], [], [], []]
        assert temperatures.tolist() == expected
        assert matcher.is_completed()


@pytest.mark.parametrize(
    "arrays",
    [tree([1, 0], [-1, -1], [0, 1]), tree([1], [-1, -1], [0, 1]), tree([5, -1], [-1, -1], [0, 1])],
)
def test_draft_trees_that_are_none(arrays: list[Any]) -> None:
    matcher = xgr.GrammarMatcher(COMPILED)
    bitmask = xgr.allocate_token_bitmask(2, 7)
    with pytest.raises(RuntimeError):
        matcher.traverse_draft_tree(*arrays, bitmask)


def test_what_goes_with_a_draft_tree() -> None:
    matcher = xgr.GrammarMatcher(COMPILED)
    arrays = tree([1, -1], [-1, -1], [0, 1])
    for bitmask in (xgr.allocate_token_bitmask(3, 7), xgr.allocate_token_bitmask(1, 7)[0]):
        with pytest.raises(RuntimeError, match="for 2 nodes"):
            matcher.traverse_draft_tree(*arrays, bitmask)
    bitmask = xgr.allocate_token_bitmask(2, 7)
    with pytest.raises(RuntimeError, match="has a sibling"):
        matcher.traverse_draft_tree(*tree([-1, -1], [1, -1], [0, 1]), bitmask)
    with pytest.raises(RuntimeError, match="temperatures"):
        matcher.traverse_draft_tree(*arrays, bitmask, temperatures=torch.zeros(2).double())


def test_batches() -> None:
    batch = xgr.BatchGrammarMatcher()
    matchers = [xgr.GrammarMatcher(COMPILED), xgr.GrammarMatcher(COMPILED, default_temperature=0.25)]
    assert batch.batch_accept_token(matchers, [0, 1]) == [True, False]
    assert batch.batch_accept_string(matchers, ["b", b"ab"]) == [True, True]
    bitmask = xgr.allocate_token_bitmask(4, 7)
    batch.batch_fill_next_token_bitmask(matchers, bitmask, [2, 0])
    assert bits(bitmask, 0) == bits(bitmask, 2) == [1, 3]
    assert bitmask[1].tolist() == [-1]
    batch.batch_rollback(matchers, [2, 1])
    batch.batch_fill_next_token_bitmask(matchers, bitmask)
    assert bits(bitmask, 0) == bits(bitmask, 1) == [0]
    temperatures = torch.zeros(3)
    batch.batch_fill_temperature(matchers, temperatures, [2, 0])
    assert temperatures.tolist() == [0.25, 0.0, -1.0]
    batch.batch_fill_temperature(matchers, temperatures)
    assert temperatures.tolist() == [-1.0, 0.25, -1.0]


def test_batch_errors() -> None:
    batch = xgr.BatchGrammarMatcher(1)
    matcher = xgr.GrammarMatcher(COMPILED)
    bitmask = xgr.allocate_token_bitmask(1, 7)
    calls: list[Any] = [
        lambda: xgr.BatchGrammarMatcher(0),
        lambda: xgr.BatchGrammarMatcher("x"),  # type: ignore[arg-type]
        lambda: batch.batch_fill_next_token_bitmask([matcher], bitmask, [0, 1]),
        lambda: batch.batch_fill_next_token_bitmask([matcher], bitmask, [1]),
        lambda: batch.batch_accept_token([matcher], [0, 1]),
        lambda: batch.batch_accept_string([matcher], []),
        lambda: batch.batch_rollback([matcher], [1, 1]),
        lambda: batch.batch_rollback([matcher], 1),
        lambda: batch.batch_fill_temperature([matcher], torch.zeros(1), [1]),
        lambda: batch.batch_fill_temperature([matcher], torch.zeros(1), [-1]),
        lambda: batch.batch_fill_temperature([matcher], torch.zeros(1), []),
        lambda: batch.batch_fill_temperature([matcher], torch.zeros(1, 1)),
    ]
    for call in calls:
        with pytest.raises(RuntimeError):
            call()
