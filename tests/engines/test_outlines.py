"""The Outlines backend, in the real library, over transformers and llama.cpp models."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarError, SchemaError, TokenizerInfo, VocabularyError
from maskwright.engines.outlines import MaskLogitsProcessor, MaskwrightBackend, install, vocabulary
from tests.engines.smollm2 import PERSON, llama, transformers_pair

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    outlines = pytest.importorskip("outlines")

LETTERS = TokenizerInfo(["a", "b", "</s>"])


class FakeModel:
    tensor_library_name = "numpy"


@pytest.fixture(params=["transformers", "llama.cpp"])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "transformers":
        return outlines.from_transformers(*transformers_pair())
    return outlines.from_llamacpp(llama())


@pytest.fixture
def installed() -> Iterator[None]:
    undo = install()
    yield
    undo()


def test_the_backend_is_one_for_outlines() -> None:
    from outlines.backends.base import BaseBackend

    backend = MaskwrightBackend(FakeModel(), compiler=GrammarCompiler(LETTERS))
    assert isinstance(backend, BaseBackend)


@pytest.mark.usefixtures("installed")
def test_generator_by_name(model: Any) -> None:
    limit = {"max_new_tokens": 60} if hasattr(model, "hf_tokenizer") else {"max_tokens": 60}
    schema = outlines.json_schema(json.dumps(PERSON)) if hasattr(outlines, "json_schema") else None
    assert schema is not None
    answer = outlines.Generator(model, schema, backend="maskwright")("Ann is 30.", **limit)
    assert set(json.loads(answer)) == {"name", "age"}
    generator = outlines.Generator(model, Literal["yes", "no"], backend="maskwright")
    assert generator("Is it?", **limit) in ("yes", "no")
    assert generator("Or not?", **limit) in ("yes", "no")  # the processor again
    digits = outlines.Generator(model, outlines.regex("[0-9]{2}"), backend="maskwright")
    assert re.fullmatch("[0-9]{2}", digits("A number:", **limit))
    grammar = outlines.Generator(model, outlines.cfg('root ::= "<" [a-c]{1,3} ">"'), backend="maskwright")
    assert re.fullmatch("<[a-c]{1,3}>", grammar("Go:", **limit))


@pytest.mark.usefixtures("installed")
def test_a_batch() -> None:
    model = outlines.from_transformers(*transformers_pair())
    answers = outlines.Generator(model, Literal["yes", "no"], backend="maskwright").batch(
        ["Is it?", "Is a very long question answered?"], max_new_tokens=8
    )
    assert all(answer in ("yes", "no") for answer in answers)


def test_uninstalled_the_name_is_unknown() -> None:
    install()()
    model = outlines.from_llamacpp(llama())
    with pytest.raises(ValueError, match="maskwright"):
        outlines.Generator(model, Literal["yes"], backend="maskwright")


def test_refusals() -> None:
    backend = MaskwrightBackend(FakeModel(), compiler=GrammarCompiler(LETTERS))
    with pytest.raises(GrammarError, match="whitespace_pattern"):
        backend.get_json_schema_logits_processor("{}", " ")
    with pytest.raises(SchemaError):
        backend.get_json_schema_logits_processor('{"type": "nothing"}')
    with pytest.raises(VocabularyError, match="FakeModel"):
        vocabulary(FakeModel())
    with pytest.raises(VocabularyError, match="jax"):
        MaskLogitsProcessor(GrammarCompiler(LETTERS).compile_regex("a"), "jax")


@pytest.mark.parametrize("library", ["numpy", "torch", "mlx"])
def test_arrays_of_every_library(library: str) -> None:
    make: Any = np.array
    if library == "torch":
        make = pytest.importorskip("torch").tensor
    if library == "mlx":
        make = pytest.importorskip("mlx.core").array
    processor = MaskLogitsProcessor(GrammarCompiler(LETTERS).compile_regex("ab"), library)
    logits = [[0.0, 1.0, 2.0]]
    assert processor(make([[0, 0]]), make(logits)).tolist() == [[0.0, -np.inf, -np.inf]]
    assert processor(make([[0, 0, 0]]), make(logits)).tolist() == [[-np.inf, 1.0, -np.inf]]
    processor.reset()
    assert processor(make([1, 1]), make(logits[0])).tolist() == [0.0, -np.inf, -np.inf]
