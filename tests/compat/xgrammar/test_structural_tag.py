"""What maskwright does not have: imported by name, refused when used."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright.compat.xgrammar as xgr
from maskwright.compat.xgrammar import (
    builtin_structural_tag,
    openai_tool_call_schema,
    structural_tag,
    testing,
)
from maskwright.compat.xgrammar.exception import UnsupportedError

CALLS: list[Any] = [
    lambda: xgr.StructuralTag(format={"type": "any_text"}),
    lambda: xgr.StructuralTag.from_json('{"format": {"type": "any_text"}}'),
    lambda: xgr.StructuralTag.from_legacy_structural_tag([], []),
    lambda: xgr.StructuralTag.model_validate({}),
    lambda: xgr.StructuralTag.model_validate_json("{}"),
    lambda: xgr.StructuralTagItem(begin="<a>", schema={}, end="</a>"),
    lambda: xgr.Grammar.from_structural_tag({"format": {"type": "any_text"}}),
    lambda: xgr.Grammar.from_lark("start: /a/"),
    lambda: xgr.get_model_structural_tag("qwen_3"),
    lambda: xgr.get_builtin_structural_tag("qwen_3"),
    lambda: xgr.normalize_tool_choice(),
    lambda: xgr.register_model_structural_tag("mine"),
    lambda: builtin_structural_tag.get_qwen_3_coder_structural_tag(),
    lambda: testing._print_grammar_fsms(xgr.Grammar.from_regex("a")),
    lambda: testing._json_schema_to_ebnf({}, json_format="qwen_xml"),
]


@pytest.mark.parametrize("call", CALLS)
def test_refused_by_name(call: Any) -> None:
    with pytest.raises(UnsupportedError, match="not supported") as caught:
        call()
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.hint


@pytest.mark.parametrize("module", [structural_tag, openai_tool_call_schema])
def test_every_class_can_be_imported_and_tested_for(module: Any) -> None:
    assert len(module.__all__) > 10
    for name in module.__all__:
        kind = getattr(module, name)
        assert (kind.__name__, kind.__module__) == (name, module.__name__)
        assert not isinstance("text", kind)
        with pytest.raises(UnsupportedError, match=name):
            kind()


def test_names_that_are_none() -> None:
    with pytest.raises(AttributeError):
        _ = builtin_structural_tag.something_else
