"""The SGLang plug-in in SGLang's own registry, grammar manager, sampler set-up and draft-tree walk.

Real here: plug-in loading, the registry, `GrammarManager`, `ReasonerGrammarBackend`, `SamplingBatchInfo`'s
mask step, `traverse_tree`, and what the scheduler does with sampled tokens. Played here: the scheduler's
loop and the model, which draws tokens at random among those that the mask allows.
"""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from tests.engines.sglang_here import sglang_module

pytestmark = pytest.mark.filterwarnings("ignore")  # SGLang's own, of which there are many

torch = pytest.importorskip("torch")

NAME = "maskwright"
VOCAB_SIZE = 320  # wider than the tokenizer, as many models are
ENDS = {"<|im_end|>", "</think>", "<think>"}
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer", "minimum": 0, "maximum": 9}, "y": {"enum": ["up", "down"]}},
    "required": ["x", "y"],
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A byte-level tokenizer with a few longer tokens and the markers of a thinking model."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: token for token, symbol in enumerate(alphabet)}
    merges = [("{", '"'), ('"', ":"), ("u", "p"), ("d", "o"), ("do", "w"), ("dow", "n")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    raw = Tokenizer(models.BPE(vocabulary, merges))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(text, special=True) for text in sorted(ENDS)])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>")


@pytest.fixture
def server() -> Any:
    """Publishes a server configuration, as SGLang's own tests do, with our backend chosen."""
    sglang_module("sglang.srt.plugins").load_plugins()
    if NAME not in sglang_module("sglang.srt.constrained.base_grammar_backend").GRAMMAR_BACKEND_REGISTRY:
        pytest.skip("SGLang does not find the plug-in: entry points need an installed maskwright")
    context = sglang_module("sglang.srt.runtime_context").get_context()
    published = []

    def publish(**settings: Any) -> Any:
        override = context.override_server_args(**{"grammar_backend": NAME, **settings})
        published.append(override)
        return override.install()

    yield publish
    for override in reversed(published):
        override.restore()


def manager_of(server: Any, tokenizer: Any, **settings: Any) -> Any:
    """SGLang's grammar manager, on what it takes of a scheduler."""
    arguments = server(**settings)
    group = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    model = SimpleNamespace(
        vocab_size=VOCAB_SIZE, hf_eos_token_id={tokenizer.eos_token_id}, think_end_ids=None
    )
    scheduler = SimpleNamespace(
        server_args=arguments,
        tokenizer=tokenizer,
        model_config=model,
        dp_tp_cpu_group=None,
        dp_tp_group=group,
        pp_group=None,
    )
    parallel = sglang_module("sglang.srt.runtime_context").get_parallel()
    with parallel.override(pp_rank=0, pp_size=1):
        return sglang_module("sglang.srt.constrained.grammar_manager").GrammarManager(scheduler)


class Request:
    """What the grammar manager and the result processor touch of a request."""

    def __init__(self, reasoning: bool = False, **constraint: str) -> None:
        fields = {"json_schema": None, "regex": None, "ebnf": None, "structural_tag": None, **constraint}
        self.sampling_params = SimpleNamespace(custom_params=None, ebnf_full_assistant=False, **fields)
        self.origin_input_ids: list[int] = []
        self.require_reasoning = reasoning
        self.grammar: Any = None
        self.grammar_key: Any = None
        self.grammar_wait_ct = 0
        self.rid = "a request"
        self.error: str | None = None
        self.to_finish: Any = None
        self.output: list[int] = []

    def set_finish_with_abort(self, message: str) -> None:
        self.error = message
        self.grammar = None

    def finished(self) -> bool:
        return self.error is not None


def prepare(manager: Any, *requests: Request) -> None:
    """From arrival to the point at which the scheduler may run the requests."""
    for request in requests:
        manager.process_req_with_grammar(request)
    while manager.has_waiting_grammars():
        manager.get_ready_grammar_requests()


def mask_of(requests: list[Request]) -> Any:
    """SGLang's own step from grammars to a mask on the device."""
    info_module = sglang_module("sglang.srt.sampling.sampling_batch_info")
    info = SimpleNamespace(
        grammars=[request.grammar for request in requests],
        temperatures=[1.0] * len(requests),
        vocab_size=VOCAB_SIZE,
        device="cpu",
        grammar_mask=None,
    )
    info_module.SamplingBatchInfo.update_regex_vocab_mask(info)
    return info.grammar_mask


def generate(requests: list[Request], seed: int = 0, max_tokens: int = 600) -> None:
    """A scheduler's decode loop with a model that knows nothing."""
    processor = sglang_module("sglang.srt.managers.scheduler_components.batch_result_processor")
    accept = processor.SchedulerBatchResultProcessor._accept_grammar_tokens
    source = torch.Generator().manual_seed(seed)
    for _ in range(max_tokens):
        running = [request for request in requests if request.grammar and not request.grammar.is_terminated()]
        if not running:
            return
        logits = torch.randn(len(running), VOCAB_SIZE, generator=source)
        mask_of(running).apply(logits)
        for request, row in zip(running, logits, strict=True):
            token = int(row.argmax())
            assert row[token] > float("-inf")
            request.output += accept(None, request, token)
            assert request.to_finish is None
    raise AssertionError("the outputs do not end")


def text_of(tokenizer: Any, request: Request) -> str:
    assert request.output[-1] == tokenizer.eos_token_id
    return tokenizer.decode(request.output[:-1])


def test_the_plug_in_is_found_and_adds_a_choice(server: Any) -> None:
    choices = sglang_module("sglang.srt.arg_groups.choices").GRAMMAR_BACKEND_CHOICES
    base = sglang_module("sglang.srt.constrained.base_grammar_backend")
    from maskwright.engines.sglang_plugin import register

    register()
    register()
    assert choices.count(NAME) == 1
    assert NAME in base.GRAMMAR_BACKEND_REGISTRY
    assert choices[:4] == ["xgrammar", "outlines", "llguidance", "none"]


def test_a_batch_of_different_constraints(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer, constrained_json_disable_any_whitespace=True)
    requests = [
        Request(json_schema=json.dumps(POINT)),
        Request(regex="[0-9]{3}-(ab|cd)+e{2}"),
        Request(ebnf='root ::= "up" " "? ("down" | "up")'),
        Request(
            json_schema=json.dumps(
                {
                    "type": "array",
                    "items": {"enum": [1, 2, 3]},
                    "uniqueItems": True,
                    "minItems": 2,
                    "maxItems": 3,
                }
            )
        ),
    ]
    prepare(manager, *requests)
    generate(requests)
    point, code, words, numbers = (text_of(tokenizer, request) for request in requests)
    jsonschema_rs.validate(POINT, json.loads(point))
    assert point == json.dumps(json.loads(point))
    assert code[3] == "-"
    assert code.endswith("ee")
    assert words in {"upup", "up up", "updown", "up down"}
    assert len(set(json.loads(numbers))) == len(json.loads(numbers)) in {2, 3}


def test_requests_end_within_their_limit(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer, constrained_json_disable_any_whitespace=True)
    schema = json.dumps({"type": "array", "items": {"type": "string"}, "minItems": 2})
    requests = [Request(json_schema=schema) for _ in range(4)]
    for request, limit in zip(requests, (9, 10, 20, 8), strict=True):
        request.sampling_params.max_new_tokens = limit
    prepare(manager, *requests)
    assert "9 tokens are needed" in (requests[3].error or "")
    generate(requests[:3])
    for request, limit in zip(requests[:3], (9, 10, 20), strict=True):
        assert len(json.loads(text_of(tokenizer, request))) >= 2
        assert len(request.output) <= limit


def test_any_json(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    request = Request(json_schema="$$ANY$$")
    prepare(manager, request)
    for token in tokenizer.encode('{"a": [1, {}]}'):
        request.grammar.accept_token(token)
    request.grammar.accept_token(tokenizer.eos_token_id)
    assert request.grammar.is_terminated()


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({"json_schema": '{"properties": {"a": {"type": "strin"}}}'}, "#/properties/a/type"),
        ({"json_schema": "{"}, "not JSON"),
        ({"regex": "(a"}, "never closed"),
        ({"ebnf": "root ::= missing"}, "missing"),
    ],
)
def test_a_bad_constraint_fails_its_request_with_our_message(
    server: Any, tokenizer: Any, constraint: dict[str, str], message: str
) -> None:
    manager = manager_of(server, tokenizer)
    bad, good = Request(**constraint), Request(regex="ab")
    prepare(manager, bad, good)
    assert message in (bad.error or "")
    generate([good])
    assert text_of(tokenizer, good) == "ab"
    again = Request(**constraint)  # from SGLang's table of what failed
    prepare(manager, again)
    assert message in (again.error or "")


def test_equal_requests_share_a_grammar_and_not_a_state(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    first = Request(regex="[ab]{4}")
    prepare(manager, first)
    first.grammar.accept_token(tokenizer.encode("a")[0])
    second = Request(regex="[ab]{4}")
    prepare(manager, second)
    assert second.grammar.matcher.n_steps == 0
    assert second.grammar.grammar_stats.is_cache_hit
    assert second.grammar.matcher.compiled_grammar is first.grammar.matcher.compiled_grammar
    generate([first, second])
    assert {len(first.output), len(second.output)} == {4, 5}


def test_an_illegal_token_aborts_one_request(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    request = Request(regex="ab")
    prepare(manager, request)
    processor = sglang_module("sglang.srt.managers.scheduler_components.batch_result_processor")
    kept = processor.SchedulerBatchResultProcessor._accept_grammar_tokens(
        None, request, tokenizer.encode("ax")
    )
    assert kept == tokenizer.encode("a")
    assert request.to_finish is not None


def test_rollback_and_the_end(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    request = Request(regex="ab?")
    prepare(manager, request)
    grammar = request.grammar
    grammar.accept_token(tokenizer.encode("a")[0])
    grammar.accept_token(tokenizer.eos_token_id)
    assert grammar.is_terminated()
    grammar.accept_token(tokenizer.encode("z")[0])  # after the end nothing counts
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.accept_token(tokenizer.encode("b")[0])
    assert grammar.try_jump_forward(tokenizer) is None


def test_forced_text_and_other_tokens_for_it(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    request = Request(regex="go (down|down!)x")
    prepare(manager, request)
    grammar = request.grammar
    helper = grammar.try_jump_forward(tokenizer)
    assert grammar.jump_forward_str_state(helper) == ("go down", -1)
    old = [tokenizer.encode(letter)[0] for letter in "go dow"]
    for token in old:
        grammar.accept_token(token)
    grammar.jump_and_retokenize(old, tokenizer.encode("go down"), -1)
    assert grammar.try_jump_forward(tokenizer) is None  # "x" and "!" are both possible
    grammar.accept_token(tokenizer.encode("x")[0])


def brute_force_rows(grammar: Any, tree: list[tuple[int, int]]) -> list[set[int] | None]:
    """Per node (parent, token): what may follow it, by forking at each node; None if it is illegal."""
    import numpy as np

    matchers: list[Any] = []
    rows: list[set[int] | None] = []
    for parent, token in tree:
        matcher = grammar.matcher.fork() if parent < 0 else (matchers[parent] and matchers[parent].fork())
        if parent >= 0 and matcher and not matcher.accept_token(token):
            matcher = None
        matchers.append(matcher)
        if not matcher or matcher.is_terminated():
            rows.append(None)
            continue
        words = np.zeros(-(-VOCAB_SIZE // 32), dtype=np.int32)
        matcher.fill_next_token_bitmask(words)
        rows.append({token for token in range(VOCAB_SIZE) if words[token >> 5] >> (token & 31) & 1})
    return rows


def test_draft_trees(server: Any, tokenizer: Any) -> None:
    spec = sglang_module("sglang.srt.speculative.spec_utils")
    manager = manager_of(server, tokenizer)
    request = Request(json_schema=json.dumps(POINT))
    prepare(manager, request)
    dice = random.Random(5)
    letters = [tokenizer.encode(text)[0] for text in ('{"', "{", '"', "x", '":', ":", "3", " ", "up")]
    for _ in range(20):
        tree = [(-1, 0)]
        for node in range(1, 12):
            tree.append((dice.randrange(node), dice.choice(letters)))
        children = {
            node: [child for child, (parent, _) in enumerate(tree) if parent == node] for node in range(12)
        }
        first = [kids[0] if kids else -1 for kids in children.values()]
        sibling = [-1] * 12
        for kids in children.values():
            for left, right in itertools.pairwise(kids):
                sibling[left] = right
        columns = (torch.tensor(column)[None] for column in (first, sibling, [token for _, token in tree]))
        mask, _ = spec.generate_token_bitmask([request], *columns, VOCAB_SIZE)
        for node, expected in enumerate(brute_force_rows(request.grammar, tree)):
            if expected is not None:
                allowed = {
                    token for token in range(VOCAB_SIZE) if int(mask[node, token // 32]) >> (token % 32) & 1
                }
                assert allowed == expected
        assert request.grammar.matcher.n_steps == 0


def test_thinking_is_free_and_the_answer_is_not(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer, reasoning_parser="qwen3")
    reasoner = sglang_module("sglang.srt.constrained.reasoner_grammar_backend")
    assert isinstance(manager.grammar_backend, reasoner.ReasonerGrammarBackend)
    thinking, answering = Request(reasoning=True, regex="ab"), Request(reasoning=False, regex="ab")
    prepare(manager, thinking, answering)
    for token in tokenizer.encode("so what"):
        thinking.grammar.accept_token(token)
    mask = mask_of([thinking, answering]).vocab_mask
    assert (mask[0] == -1).all()
    assert not (mask[1] == -1).any()
    thinking.grammar.accept_token(tokenizer.convert_tokens_to_ids("</think>"))
    assert not (mask_of([thinking, answering]).vocab_mask[0] == -1).any()
    generate([thinking, answering])
    assert text_of(tokenizer, thinking) == text_of(tokenizer, answering) == "ab"
    cached = Request(reasoning=True, regex="ab")
    prepare(manager, cached)
    assert (mask_of([cached]).vocab_mask[0] == -1).all()


def test_strict_thinking_filters_tokens(server: Any, tokenizer: Any) -> None:
    environ = sglang_module("sglang.srt.environ").envs
    with environ.SGLANG_MAX_THINK_TOKENS.override(2):
        manager = manager_of(server, tokenizer, reasoning_parser="qwen3", enable_strict_thinking=True)
        request = Request(reasoning=True, regex="ab")
        prepare(manager, request)
        end = tokenizer.convert_tokens_to_ids("</think>")
        for token in tokenizer.encode("so")[:2]:
            request.grammar.accept_token(token)
        mask = mask_of([request]).vocab_mask[0]
    allowed = [token for token in range(VOCAB_SIZE) if int(mask[token // 32]) >> (token % 32) & 1]
    assert allowed == [end]


def test_structural_tags_are_sglangs_own_and_share_a_batch(server: Any, tokenizer: Any) -> None:
    pytest.importorskip("xgrammar")
    own = sglang_module("sglang.srt.constrained.xgrammar_backend")
    manager = manager_of(server, tokenizer)
    tag = {"structures": [{"begin": "<f>", "schema": POINT, "end": "</f>"}], "triggers": ["<f>"]}
    tagged, ours = Request(structural_tag=json.dumps(tag)), Request(regex="[0-9]{5}")
    prepare(manager, tagged, ours)
    assert isinstance(tagged.grammar, own.XGrammarGrammar)
    assert (
        tagged.grammar.allocate_vocab_mask(VOCAB_SIZE, 1, "cpu").shape
        == ours.grammar.allocate_vocab_mask(VOCAB_SIZE, 1, "cpu").shape
    )
    for text in ("<f>", '{"x"'):
        for token in tokenizer.encode(text):
            tagged.grammar.accept_token(token)
    for batch in ([tagged, ours], [ours, tagged]):
        mask = mask_of(batch).vocab_mask
        row = mask[batch.index(ours)]
        allowed = [token for token in range(VOCAB_SIZE) if int(row[token // 32]) >> (token % 32) & 1]
        assert tokenizer.decode(allowed) == "0123456789"


def test_a_pattern_for_white_space_is_refused_at_the_start(server: Any, tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="whitespace-pattern"):
        manager_of(server, tokenizer, constrained_json_whitespace_pattern="[ ]?")


def test_a_failing_grammar_ends_only_its_own_request(server: Any, tokenizer: Any) -> None:
    manager = manager_of(server, tokenizer)
    failing, fine = Request(regex="[a-z]{2,9}"), Request(regex="ab")
    prepare(manager, failing, fine)

    class Broken:
        """A matcher that raises where a mask is made."""

        stop_token_ids = failing.grammar.matcher.stop_token_ids

        def fill_next_token_bitmask(self, *arguments: Any) -> None:
            raise RuntimeError("broken on purpose")

        def is_terminated(self) -> bool:
            return False

    failing.grammar.matcher = Broken()
    mask = mask_of([failing, fine]).vocab_mask
    allowed = [token for token in range(VOCAB_SIZE) if int(mask[0, token // 32]) >> (token % 32) & 1]
    assert allowed == [tokenizer.eos_token_id]
    with pytest.raises(ValueError, match="could not be followed"):
        failing.grammar.accept_token(tokenizer.eos_token_id)
    generate([fine])
    assert text_of(tokenizer, fine) == "ab"


def test_the_table_of_grammars_is_bounded(
    server: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import maskwright.engines.sglang_plugin.backend as module

    monkeypatch.setattr(module, "_CACHE_LIMIT_ENTRIES", 3)
    manager = manager_of(server, tokenizer)
    for length in range(6):
        prepare(manager, Request(regex=f"a{{{length + 1}}}"))
    assert [key[1] for key in manager.grammar_backend.cache] == ["a{4}", "a{5}", "a{6}"]
    manager.clear()
    assert not manager.grammar_backend.cache
