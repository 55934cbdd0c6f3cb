"""The TensorRT-LLM pair and processor, driven as its published source drives them.

There is no wheel for machines without CUDA. The driver below makes the calls of `GuidedDecoder._build`
and `_rollback_rejected_tokens` in their order: accept the new token, fill a row, accept and fill for each draft
token, roll back what verification rejected.
"""

from __future__ import annotations

import enum
import json
import random
import sys
import types
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pytest

from maskwright import GrammarCompiler, GrammarError, GrammarMatcher, SchemaError, TokenizerInfo
from maskwright.engines import tensorrt_llm as plugin

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")


class GuideType(enum.Enum):
    JSON = 0
    JSON_SCHEMA = 1
    REGEX = 2
    EBNF_GRAMMAR = 3
    STRUCTURAL_TAG = 4


@dataclass
class Params:
    guide_type: GuideType
    guide: str | None = None


@dataclass
class Config:
    encoded_vocab: list[str] | None
    tokenizer_str: str | None
    stop_token_ids: list[int] | None


WORDS = [chr(code) for code in range(32, 127)] + ["ab", '{"', '":', "true", "</s>"]
STOP = len(WORDS) - 1
PLAIN = Config(WORDS, None, [STOP])
WIDTH = 128


@pytest.fixture
def factory() -> plugin.MaskwrightMatcherFactory:
    return plugin.MaskwrightMatcherFactory(PLAIN, WIDTH, max_num_draft_tokens=3)


def row(matcher: Any, bitmask: Any, index: int) -> set[int]:
    bitmask[index].fill_(-1)
    matcher.fill_next_token_bitmask(bitmask, index)
    words = bitmask[index].tolist()
    return {token for token in range(WIDTH) if words[token // 32] >> token % 32 & 1}


@pytest.mark.parametrize("seed", range(10))
def test_the_guided_decoders_loop_with_drafts(factory: plugin.MaskwrightMatcherFactory, seed: int) -> None:
    """Each row's mask is that of a matcher which never saw a draft."""
    dice = random.Random(seed)
    schema = {
        "type": "object",
        "properties": {"ab": {"type": "boolean"}, "n": {"type": "integer"}},
        "required": ["ab"],
    }
    matcher = factory.create(Params(GuideType.JSON_SCHEMA, json.dumps(schema)))
    plain = GrammarMatcher(factory.compiler.compile_json_schema(json.dumps(schema)))
    bitmask = torch.zeros((4, WIDTH // 32), dtype=torch.int32)
    new_token: int | None = None
    for _ in range(40):
        if new_token is not None:
            assert matcher.accept_token(new_token)
            assert plain.accept_token(new_token)
        if matcher.is_terminated():
            break
        legal = row(matcher, bitmask, 0)
        n_advanced, drafts = 0, []
        choices = sorted(legal)
        for index in range(1, 4):
            draft = dice.choice(choices) if dice.random() < 0.8 else dice.randrange(WIDTH)
            accepted = matcher.accept_token(draft)
            assert accepted == (draft in choices)
            if not accepted:
                break
            n_advanced += 1
            drafts.append(draft)
            if matcher.is_terminated():
                break
            choices = sorted(row(matcher, bitmask, index))
        n_kept = dice.randint(0, n_advanced)
        matcher.rollback(n_advanced - n_kept)
        for draft in drafts[:n_kept]:
            assert plain.accept_token(draft)
        if matcher.is_terminated():
            break
        choices = sorted(row(matcher, bitmask, 0))
        assert choices == sorted(row(plain, bitmask, 0))
        new_token = STOP if STOP in choices and dice.random() < 0.3 else dice.choice(choices)
    assert plain.is_terminated() == matcher.is_terminated()


@pytest.mark.parametrize(
    ("params", "good", "bad"),
    [
        (Params(GuideType.JSON), '{"a": [1, true]}', "{1"),
        (Params(GuideType.REGEX, "a+b"), "aab", "b"),
        (Params(GuideType.EBNF_GRAMMAR, 'root ::= "x" root "y" | "z"'), "xxzyy", "y"),
        (Params(GuideType.JSON_SCHEMA, '{"const": "ab"}'), '"ab"', "a"),
    ],
)
def test_kinds_of_guides(
    factory: plugin.MaskwrightMatcherFactory, params: Params, good: str, bad: str
) -> None:
    matcher = factory.create(params)
    assert all(matcher.accept_token(WORDS.index(char)) for char in good)
    assert matcher.accept_token(STOP)
    assert matcher.is_terminated()
    matcher.rollback(len(good) + 1)
    assert not all(matcher.accept_token(WORDS.index(char)) for char in bad)


def test_refusals_name_their_reason(factory: plugin.MaskwrightMatcherFactory) -> None:
    with pytest.raises(GrammarError, match="STRUCTURAL_TAG"):
        factory.create(Params(GuideType.STRUCTURAL_TAG, "{}"))
    with pytest.raises(SchemaError, match="#/properties/a"):
        factory.create(Params(GuideType.JSON_SCHEMA, '{"properties": {"a": {"type": "strin"}}}'))


def test_a_tokenizer_text_says_how_tokens_are_spelled() -> None:
    byte_level = {"Ġ": 0, "h": 1, "Ġh": 2, "é"[0]: 3, "<|end|>": 4}
    text = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=byte_level, merges=[("Ġ", "h")]))
    text.decoder = tokenizers.decoders.ByteLevel()
    factory = plugin.MaskwrightMatcherFactory(Config([*byte_level], text.to_str(), [4]), 64)
    info = factory.compiler.tokenizer_info
    assert info.decoded_vocab[:3] == [b" ", b"h", b" h"]
    assert (info.vocab_size, info.stop_token_ids) == (64, [4])


def test_install_and_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two modules as published: abstract classes, and the decoder that looks the factory up by name."""

    class GrammarMatcher(ABC):
        @abstractmethod
        def accept_token(self, token_id: int) -> bool: ...

    class GrammarMatcherFactory(ABC):
        @abstractmethod
        def create(self, guided_decoding_params: Any) -> GrammarMatcher: ...

    parts = types.ModuleType("tensorrt_llm._torch.pyexecutor.grammar_matcher")
    decoder = types.ModuleType("tensorrt_llm._torch.pyexecutor.guided_decoder")
    vars(parts).update(GrammarMatcher=GrammarMatcher, GrammarMatcherFactory=GrammarMatcherFactory)

    @dataclass
    class GuidedRequest:
        guided_decoding_params: Any

        @classmethod
        def from_llm_request(cls, request: Any) -> Any:
            return cls(request.guided_decoding_params)

    vars(decoder).update(XGrammarMatcherFactory="theirs", GuidedRequest=GuidedRequest)
    for name in ("tensorrt_llm", "tensorrt_llm._torch", "tensorrt_llm._torch.pyexecutor"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, parts.__name__, parts)
    monkeypatch.setitem(sys.modules, decoder.__name__, decoder)
    undo = plugin.install()
    chosen: Any = vars(decoder)["XGrammarMatcherFactory"]
    made = chosen(PLAIN, WIDTH, max_num_draft_tokens=0)
    assert isinstance(made, GrammarMatcherFactory)
    assert isinstance(made.create(Params(GuideType.REGEX, "a")), GrammarMatcher)
    for limit, expected in ((9, 9), (None, None), (3, None)):  # "[null]" and the stop take 7
        schema = Params(GuideType.JSON_SCHEMA, '{"type": "array", "items": {"type": "null"}, "minItems": 1}')
        request = types.SimpleNamespace(guided_decoding_params=schema, py_max_new_tokens=limit)
        params = GuidedRequest.from_llm_request(request).guided_decoding_params
        assert made.create(params)._matcher.tokens_left == expected
    undo()
    assert vars(decoder)["XGrammarMatcherFactory"] == "theirs"
    assert GuidedRequest.from_llm_request(request).guided_decoding_params is schema


def test_logits_processor_of_beams_that_swap() -> None:
    info = TokenizerInfo(["a", "b", "</s>"])
    processor = plugin.MaskLogitsProcessor(GrammarCompiler(info).compile_regex("ab|ba"))

    def legal(beams: list[list[int]]) -> list[list[int]]:
        logits = torch.zeros(1, len(beams), 4)
        processor(7, logits, beams, None, None)
        return [[token for token in range(4) if logits[0, beam, token] == 0] for beam in range(len(beams))]

    assert legal([[9, 9], [9, 9]]) == [[0, 1], [0, 1]]
    assert legal([[9, 9, 0], [9, 9, 1]]) == [[1], [0]]
    assert legal([[9, 9, 1, 0], [9, 9, 0, 1]]) == [[2], [2]]
