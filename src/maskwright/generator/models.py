"""The engines behind a `Generator`: tokens of answers from a transformers, llama.cpp or vLLM model.

A model is recognised by what it can do, so no engine is imported to find out which one it is.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..vocabulary import TokenizerInfo

if TYPE_CHECKING:
    from ..compiler import CompiledGrammar
    from ..report.steps import StepRecorder

__all__ = ["Chat", "Model", "Settings", "open_model"]

#: Messages with ``role`` and ``content``.
Chat = Sequence[dict[str, str]]

#: Token ids as they come. Closing it stops the engine.
Tokens = Generator[int, None, None]

#: Makes the keywords of vLLM's `StructuredOutputsParams`.
Request = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to sample (see `Generator.__call__`), and who is told of every step."""

    max_tokens: int = 512
    temperature: float = 0.0
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    recorder: StepRecorder | None = None


class Model(Protocol):
    """What a `Generator` asks of an engine. Answers may end with a stop token, and may be cut off."""

    info: TokenizerInfo
    records: bool  #: whether the recorder in the settings is told of the steps

    def answer_all(
        self, chats: Sequence[Chat], request: Request, grammar: CompiledGrammar, settings: Settings
    ) -> list[list[int]]:
        """The tokens of an answer to each chat."""

    def answer(self, chat: Chat, request: Request, grammar: CompiledGrammar, settings: Settings) -> Tokens:
        """The tokens of an answer as they come."""


def open_model(model: Any) -> Model:
    """The engine of a model object.

    Raises:
        TypeError: It is of no known kind.
        VocabularyError: Its vocabulary cannot be read.
    """
    if isinstance(model, tuple) and len(model) == 2 and hasattr(model[0], "generate"):
        return TransformersModel(*model)
    if hasattr(model, "n_vocab") and hasattr(model, "tokenize"):
        return LlamaCppModel(model)
    if hasattr(model, "llm_engine") and hasattr(model, "get_tokenizer"):
        return VllmModel(model)
    raise TypeError(
        f"a {type(model).__qualname__} is no model: pass a transformers (model, tokenizer) pair, "
        "a llama_cpp.Llama or a vllm.LLM"
    )


def _encode(tokenizer: Any, chat: Chat) -> list[int]:
    """Token ids of a chat through the tokenizer's template, or of its bare texts where it has none."""
    if not getattr(tokenizer, "chat_template", None):
        return list(tokenizer("\n\n".join(message["content"] for message in chat))["input_ids"])
    text = tokenizer.apply_chat_template(list(chat), add_generation_prompt=True, tokenize=False)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


class LlamaCppModel:
    """A `llama_cpp.Llama`. It holds one sequence, so a batch is answered one by one."""

    records = True

    def __init__(self, llama: Any) -> None:
        from ..engines.llama_cpp import vocabulary

        self._llama = llama
        self.info = vocabulary(llama)

    def answer_all(
        self, chats: Sequence[Chat], request: Request, grammar: CompiledGrammar, settings: Settings
    ) -> list[list[int]]:
        return [list(self.answer(chat, request, grammar, settings)) for chat in chats]

    def answer(self, chat: Chat, request: Request, grammar: CompiledGrammar, settings: Settings) -> Tokens:
        from ..engines.llama_cpp import MaskLogitsProcessor, encode_chat, generate_tokens

        prompt = encode_chat(self._llama, chat)
        if settings.recorder is not None:
            settings.recorder.prompts.append(prompt)
        return generate_tokens(
            self._llama,
            prompt,
            MaskLogitsProcessor(grammar, max_tokens=settings.max_tokens, recorder=settings.recorder),
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            seed=settings.seed,
            **settings.options,
        )


class TransformersModel:
    """A transformers model and its tokenizer; a batch is padded on the left and answered at once."""

    records = True

    def __init__(self, model: Any, tokenizer: Any) -> None:
        from ..engines.transformers import vocabulary

        self._model = model
        self._tokenizer = tokenizer
        self.info = vocabulary(model, tokenizer)

    def answer_all(
        self, chats: Sequence[Chat], request: Request, grammar: CompiledGrammar, settings: Settings
    ) -> list[list[int]]:
        if not chats:
            return []
        inputs = self._inputs(chats)
        output = self._generate(inputs, grammar, settings)
        answers: list[list[int]] = output[:, inputs["input_ids"].shape[1] :].tolist()
        return answers

    def answer(self, chat: Chat, request: Request, grammar: CompiledGrammar, settings: Settings) -> Tokens:
        import torch
        from transformers import StoppingCriteriaList

        inputs = self._inputs([chat])
        tokens, closed = _TokenQueue(), threading.Event()

        def is_closed(input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
            return torch.full((input_ids.shape[0],), closed.is_set(), device=input_ids.device)

        def work() -> None:
            try:
                criteria = StoppingCriteriaList([is_closed])
                self._generate(inputs, grammar, settings, streamer=tokens, stopping_criteria=criteria)
                tokens.items.put(None)
            except BaseException as error:  # raised where the tokens are read
                tokens.items.put(error)

        thread = threading.Thread(target=work, name="maskwright-stream", daemon=True)
        thread.start()
        try:
            while (item := tokens.items.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            closed.set()
            thread.join()

    def _inputs(self, chats: Sequence[Chat]) -> dict[str, Any]:
        import torch

        rows = [_encode(self._tokenizer, chat) for chat in chats]
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), self._pad_id)
        attention = torch.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, width - len(tokens) :] = torch.tensor(tokens)
            attention[row, width - len(tokens) :] = 1
        device = self._model.device
        return {"input_ids": ids.to(device), "attention_mask": attention.to(device)}

    @property
    def _pad_id(self) -> int:
        pad = self._tokenizer.pad_token_id
        return int(self.info.stop_token_ids[0] if pad is None else pad)

    def _generate(
        self, inputs: Mapping[str, Any], grammar: CompiledGrammar, settings: Settings, **more: Any
    ) -> Any:
        import torch

        from ..engines.transformers import MaskLogitsProcessor

        if settings.recorder is not None:
            settings.recorder.prompts.extend(inputs["input_ids"].tolist())
        processor = MaskLogitsProcessor(
            grammar,
            prompt_length=inputs["input_ids"].shape[1],
            max_tokens=settings.max_tokens,
            recorder=settings.recorder,
        )
        sampling: dict[str, Any] = {"do_sample": False}
        if settings.temperature > 0:
            # Without these the model's own defaults filter, and most legal tokens are never sampled.
            sampling = {"do_sample": True, "temperature": settings.temperature, "top_k": 0, "top_p": 1.0}
        with contextlib.ExitStack() as stack:
            if settings.seed is not None:
                stack.enter_context(torch.random.fork_rng())
                torch.manual_seed(settings.seed)
            return self._model.generate(
                **inputs,
                **{"pad_token_id": self._pad_id, **sampling, **more, **settings.options},
                max_new_tokens=settings.max_tokens,
                logits_processor=[processor],
            )


class _TokenQueue:
    """A streamer of transformers: `put` is called with the prompt and then with each token."""

    def __init__(self) -> None:
        self.items: queue.SimpleQueue[int | BaseException | None] = queue.SimpleQueue()
        self._saw_prompt = False

    def put(self, value: Any) -> None:
        if self._saw_prompt:
            for token in value.flatten().tolist():
                self.items.put(token)
        self._saw_prompt = True

    def end(self) -> None:
        """The end is told when the work is done: an exception may still follow."""


class VllmModel:
    """A `vllm.LLM`, which masks with the backend that it was started with: see `docs/engines-servers.md`."""

    records = False

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self._tokenizer = llm.get_tokenizer()
        self.info = TokenizerInfo.from_huggingface(self._tokenizer)

    def answer_all(
        self, chats: Sequence[Chat], request: Request, grammar: CompiledGrammar, settings: Settings
    ) -> list[list[int]]:
        if not chats:
            return []
        prompts = [{"prompt_token_ids": _encode(self._tokenizer, chat)} for chat in chats]
        results = self._llm.generate(prompts, self._sampling(request, settings), use_tqdm=False)
        return [list(result.outputs[0].token_ids) for result in results]

    def answer(self, chat: Chat, request: Request, grammar: CompiledGrammar, settings: Settings) -> Tokens:
        engine = self._llm.llm_engine
        prompt = {"prompt_token_ids": _encode(self._tokenizer, chat)}
        # What `add_request` returns is another, internal id; `abort_request` wants this one.
        request_id = f"maskwright-{uuid.uuid4().hex}"
        engine.add_request(request_id, prompt, self._sampling(request, settings))
        n_seen, finished = 0, False
        try:
            while not finished and engine.has_unfinished_requests():
                for result in engine.step():
                    new = list(result.outputs[0].token_ids)[n_seen:]
                    n_seen, finished = n_seen + len(new), result.finished
                    yield from new
        finally:
            if not finished:
                engine.abort_request([request_id])

    def _sampling(self, request: Request, settings: Settings) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        return SamplingParams(
            **{
                "max_tokens": settings.max_tokens,
                "temperature": settings.temperature,
                "seed": settings.seed,
                "structured_outputs": StructuredOutputsParams(**request()),
                **settings.options,
            }
        )
