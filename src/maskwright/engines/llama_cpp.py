"""llama-cpp-python: a logits processor, and the vocabulary of a loaded model.

The state is derived from the ids that the processor is shown. The engine's own hook for stateful samplers
is not used: its `accept`, `reset` and `clone` are never called from Python, so that a processor that
counts calls is wrong after the first prompt-cache hit.

The engine calls the processor from C, where an exception is printed and forgotten and the token is
then sampled unmasked. So a failure here leaves nothing but stop tokens, and is kept in `failure`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from .. import CompiledGrammar, TokenizerInfo, apply_token_bitmask_inplace
from .rows import RowFollower

if TYPE_CHECKING:
    from ..report.steps import StepRecorder

__all__ = ["MaskLogitsProcessor", "encode_chat", "generate_tokens", "vocabulary"]


def vocabulary(llama: Any) -> TokenizerInfo:
    """The vocabulary of a `llama_cpp.Llama`, with the stop tokens at which llama.cpp stops.

    Raises:
        VocabularyError: The object has no model file, or the file does not fit it.
    """
    return TokenizerInfo.from_llama_cpp(llama)


class MaskLogitsProcessor:
    """Keeps a `Llama` inside a grammar: ``llama(prompt, logits_processor=LogitsProcessorList([processor]))``.

    Args:
        grammar: What the answer must match.
        prompt_length: Tokens of the prompt; None to take what the first call of a generation brings.
        stop_token_ids: Stop tokens to use instead of the vocabulary's.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.
        recorder: Told of every step, for a report; costs a copy of the scores each.

    Raises:
        BudgetError: `max_tokens` is less than the grammar needs.

    Attributes:
        rows: What follows the ids; its `mask_seconds` is of interest.
        failure: The exception that ended an answer early, or None. Look at it after generating.
    """

    def __init__(
        self,
        grammar: CompiledGrammar,
        *,
        prompt_length: int | None = None,
        stop_token_ids: Sequence[int] | None = None,
        max_tokens: int | None = None,
        recorder: StepRecorder | None = None,
    ) -> None:
        self.rows: Final = RowFollower(
            grammar, prompt_length=prompt_length, stop_token_ids=stop_token_ids, max_tokens=max_tokens
        )
        self.failure: Exception | None = None
        self._recorder = recorder

    def __call__(
        self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]
    ) -> npt.NDArray[np.single]:
        """Scores with -inf for every token that is not legal.

        Args:
            input_ids: intc, shape (length,): prompt and answer so far.
            scores: float32, shape (vocab_size,). The engine passes a strided view of its own array.
        """
        masked = np.array(scores, dtype=np.single)
        try:
            rows = [np.asarray(input_ids, dtype=np.int64)]
            bitmask, ended = self.rows.next_masks(rows)
            if self._recorder is not None:
                self._recorder.observe(rows, masked[None], bitmask, ended)
            apply_token_bitmask_inplace(masked, bitmask[0])
        except Exception as error:  # C code is above us: see the head of the module
            self.failure = error
            stops = self.rows.stop_token_ids
            kept = masked[stops]
            masked.fill(-np.inf)
            masked[stops] = kept
        return masked

    def reset(self) -> None:
        """Begin a new generation with the next call, whatever its ids are."""
        self.failure = None
        self.rows.reset()


def encode_chat(llama: Any, messages: Sequence[dict[str, str]]) -> list[int]:
    """Token ids of a conversation, ready for the answer, through the chat template in the model file.

    Without a template the texts of the messages follow each other, with blank lines between them.
    """
    template = llama.metadata.get("tokenizer.chat_template")
    if template is None:
        text = "\n\n".join(message["content"] for message in messages)
        return list(llama.tokenize(text.encode(), add_bos=True, special=False))
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    names = [_name(llama, token) for token in (llama.token_eos(), llama.token_bos())]
    formatter = Jinja2ChatFormatter(template, eos_token=names[0], bos_token=names[1])
    text = formatter(messages=list(messages)).prompt
    return list(llama.tokenize(text.encode(), add_bos=False, special=True))


def _name(llama: Any, token: int) -> str:
    return llama.detokenize([token], special=True).decode(errors="replace") if token >= 0 else ""


def generate_tokens(
    llama: Any,
    prompt: Sequence[int],
    processor: MaskLogitsProcessor,
    *,
    max_tokens: int,
    temperature: float = 0.0,
    seed: int | None = None,
    **options: Any,
) -> Generator[int, None, None]:
    """The tokens of an answer as they come, the stop token included.

    Args:
        llama: The model.
        prompt: Token ids.
        processor: Its grammar.
        max_tokens: Where to stop if the answer is not complete by then.
        temperature: 0 for the best token always; 1 for the model's own distribution.
        seed: Makes a sampled answer repeatable.
        **options: Further keywords of `Llama.generate`.

    Raises:
        MaskwrightError: What the processor met and C could not report.
    """
    from llama_cpp import LogitsProcessorList

    if seed is not None:
        llama.set_seed(seed)
    processor.reset()
    stops = set(processor.rows.stop_token_ids)
    # The engine's default filters and penalties would change the distribution of the legal tokens.
    sampling: dict[str, Any] = {
        "temp": temperature,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
        **options,
    }
    tokens = llama.generate(list(prompt), logits_processor=LogitsProcessorList([processor]), **sampling)
    for count, token in enumerate(tokens, start=1):
        if processor.failure is not None:
            raise processor.failure
        yield token
        if token in stops or count >= max_tokens:
            return
