"""`Generator`: ask a model for an object and get the object.

    generate = maskwright.Generator(model, Person)
    person = generate("Who wrote Faust?")

The model is what its engine made (see `models`), the type is what the answer must be (see `outputs`).
The engine's own loop runs; nothing here decodes tokens one by one where the engine can do it faster.
Every answer is checked against its grammar before it is parsed, whichever engine masked it: an
answer that was cut off is an `OutputError`, never half an object.
"""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, overload

from ..compiler import GrammarCompiler
from ..errors import MaskwrightError
from ..matcher import GrammarMatcher
from ..prompt import Style
from .models import Chat, Settings, open_model
from .outputs import Output, read_output

if TYPE_CHECKING:
    from ..report import Report, StepRecorder

__all__ = ["Answer", "Generator", "OutputError", "Progress"]

_T = TypeVar("_T")
_V = TypeVar("_V")
#: Ways to go on that the error of an incomplete answer names.
_MAX_MISSING: Final = 3


class OutputError(MaskwrightError):
    """An answer is not complete, or the type refuses what its schema allows.

    Attributes:
        text: The answer as far as it came.
        report: How far to trust what came of it, from a `Generator` that makes reports; else None.
    """

    report: Report | None = None

    def __init__(self, message: str, *, text: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.text = text


@dataclass(frozen=True, slots=True)
class Answer(Generic[_T]):
    """What a `Generator` with ``report=True`` answers.

    Attributes:
        value: The object.
        text: The text that it was read from.
        report: How far to trust it, value by value.
    """

    value: _T
    text: str
    report: Report


@dataclass(frozen=True, slots=True)
class Progress(Generic[_T]):
    """One step of a streamed answer.

    Attributes:
        delta: The text that is new.
        text: The answer so far.
        partial: For JSON answers, what can be read of it so far as plain Python values, None before there is
            anything; strings that are not complete are as long as they are. None for other answers.
        value: The answer as an object, at the last step; None before.
        finished: Whether this is the last step.
    """

    delta: str
    text: str
    partial: Any = None
    value: _T | None = None
    finished: bool = False


class Generator(Generic[_T]):
    """Makes a model answer with objects of one type.

    Args:
        model: A transformers ``(model, tokenizer)`` pair, a `llama_cpp.Llama` or a `vllm.LLM`.
        output_type: A pydantic model, dataclass, TypedDict or any other type that pydantic knows; a
            `Literal` or `Enum` (the answer is the bare text of a member); a compiled regular expression
            (`re.compile`); a JSON Schema as a dict; or a `Grammar`.
        describe: Whether to say in the prompt what is asked for: the model never sees the grammar. The name
            of a style of `maskwright.prompt.describe` says it in that style.
        compiler: To share compiled grammars; by default one for the model's vocabulary.
        report: Whether to answer with an `Answer`, which has a report beside the object. Each token then
            costs a millisecond or so more. Not for vLLM, which masks out of sight.
        **schema_options: For JSON answers, as for `GrammarCompiler.compile_json_schema`.

    Raises:
        TypeError: The model or the type is of no known kind, or the model cannot report.
        GrammarError: The type's grammar is malformed or cannot be enforced.
        VocabularyError: The model's vocabulary cannot be read.
    """

    # A type gives objects of that type; whatever else says what to write (a schema, a pattern), anything.
    @overload
    def __init__(
        self: Generator[_V],
        model: Any,
        output_type: type[_V],
        *,
        report: Literal[False] = False,
        describe: bool | Style = True,
        compiler: GrammarCompiler | None = None,
        **schema_options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Generator[Answer[_V]],
        model: Any,
        output_type: type[_V],
        *,
        report: Literal[True],
        describe: bool | Style = True,
        compiler: GrammarCompiler | None = None,
        **schema_options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Generator[Any],
        model: Any,
        output_type: Any,
        *,
        report: Literal[False] = False,
        describe: bool | Style = True,
        compiler: GrammarCompiler | None = None,
        **schema_options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Generator[Answer[Any]],
        model: Any,
        output_type: Any,
        *,
        report: Literal[True],
        describe: bool | Style = True,
        compiler: GrammarCompiler | None = None,
        **schema_options: Any,
    ) -> None: ...

    def __init__(
        self,
        model: Any,
        output_type: Any,
        *,
        report: bool = False,
        describe: bool | Style = True,
        compiler: GrammarCompiler | None = None,
        **schema_options: Any,
    ) -> None:
        style = describe if isinstance(describe, str) else "list"
        self._output: Output = read_output(output_type, schema_options, style)
        self._model = open_model(model)
        if report and not self._model.records:
            raise TypeError(
                "reports need the logits, which this engine does not show; "
                "pass a transformers (model, tokenizer) pair or a llama_cpp.Llama"
            )
        self._reports = report
        self._compiler = compiler or GrammarCompiler(self._model.info)
        self._compiled = self._output.compile(self._compiler)
        self._describe = bool(describe)

    @overload
    def __call__(self, prompt: str | Chat, **options: Any) -> _T: ...

    @overload
    def __call__(self, prompt: Sequence[str] | Sequence[Chat], **options: Any) -> list[_T]: ...

    def __call__(
        self,
        prompt: str | Chat | Sequence[str] | Sequence[Chat],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int | None = None,
        return_exceptions: bool = False,
        **engine_options: Any,
    ) -> _T | list[_T]:
        """The answer to a prompt, or the answers to several in the same order.

        Args:
            prompt: A text; a chat (messages with ``role`` and ``content``); or a list of either, which
                the engine answers as one batch where it can.
            max_tokens: Tokens of an answer, stop token included. The answer is complete within them: tokens
                that would leave too few are masked. (vLLM needs the plug-in for that; without it an answer
                that is too long is cut off.)
            temperature: 0 for the best legal token always; 1 for the model's own distribution.
            seed: Makes sampled answers repeatable.
            return_exceptions: For a list: put an `OutputError` in the place of an answer that failed
                instead of raising it.
            **engine_options: For the engine: keywords of transformers' `generate`, of
                `Llama.generate`, or of vLLM's `SamplingParams`.

        Raises:
            OutputError: An answer is not complete, or the type refuses it.
            BudgetError: No answer fits into `max_tokens`.
        """
        single = _is_single(prompt)
        prompts = [prompt] if single else list(prompt)
        recorder = self._recorder()
        settings = Settings(max_tokens, temperature, seed, engine_options, recorder)
        chats = [self._chat(each) for each in prompts]
        answers: list[Any] = []
        for number, tokens in enumerate(
            self._model.answer_all(chats, self._output.request, self._compiled, settings)
        ):
            try:
                answers.append(self._answer(self._text(tokens), tokens, number, recorder))
            except OutputError as error:
                if single or not return_exceptions:
                    raise
                answers.append(error)
        return answers[0] if single else answers

    def stream(
        self,
        prompt: str | Chat,
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int | None = None,
        **engine_options: Any,
    ) -> Iterator[Progress[_T]]:
        """The answer while it is being written. The last step has the object.

        Closing the iterator early stops the engine. Arguments and errors as for a call.
        """
        recorder = self._recorder()
        settings = Settings(max_tokens, temperature, seed, engine_options, recorder)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may span tokens
        vocabulary = self._model.info.decoded_vocab
        stops = set(self._model.info.stop_token_ids)
        text, seen = "", list[int]()
        tokens = self._model.answer(self._chat(prompt), self._output.request, self._compiled, settings)
        with contextlib.closing(tokens):
            for token in tokens:
                seen.append(token)
                if token in stops:
                    break
                delta = decoder.decode(vocabulary[token])
                if delta:
                    text += delta
                    yield Progress(delta, text, self._output.partial(text))
        delta = decoder.decode(b"", final=True)
        text += delta
        value = self._answer(text, seen, 0, recorder)
        yield Progress(delta, text, self._output.partial(text), value, finished=True)

    def _chat(self, prompt: Any) -> list[dict[str, str]]:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        if not self._describe or not self._output.words or not messages:
            return messages
        last = messages[-1]
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{self._output.words}"}]

    def _recorder(self) -> StepRecorder | None:
        if not self._reports:
            return None
        from ..report import StepRecorder  # not needed otherwise

        return StepRecorder()

    def _answer(self, text: str, tokens: Sequence[int], number: int, recorder: StepRecorder | None) -> Any:
        """The object of an answer, in an `Answer` if there is a recorder."""
        if recorder is None:
            return self._read(text)
        tokens = tokens[: self._n_written(tokens) + 1]  # the stop token too; not what a batch pads with
        try:
            value = self._read(text)
        except OutputError as error:
            if GrammarMatcher(self._compiled).validate_tokens(tokens) == len(tokens):
                error.report = self._report(tokens, number, recorder)
            raise
        return Answer(value, text, self._report(tokens, number, recorder))

    def _report(self, tokens: Sequence[int], number: int, recorder: StepRecorder) -> Report:
        from ..report import make_report

        steps = recorder.steps(recorder.prompts[number], tokens)
        return make_report(self._compiled, steps, is_json=self._output.is_json)

    def _n_written(self, tokens: Sequence[int]) -> int:
        """Tokens before the stop token."""
        stops = set(self._model.info.stop_token_ids)
        return next((place for place, token in enumerate(tokens) if token in stops), len(tokens))

    def _text(self, tokens: Sequence[int]) -> str:
        vocabulary = self._model.info.decoded_vocab
        written = tokens[: self._n_written(tokens)]
        return b"".join(vocabulary[token] for token in written).decode(errors="replace")

    def _read(self, text: str) -> Any:
        matcher = GrammarMatcher(self._compiled)
        if not matcher.accept_string(text):
            explanation = matcher.explain(text)
            raise OutputError(
                "the answer does not match its grammar: it was cut inside a character, or the engine did "
                f"not use the grammar\n{explanation.headline}\n{explanation.where()}",
                text=text,
                hint="raise max_tokens; for vLLM, look at the backend of structured outputs",
            )
        if not matcher.is_completed():
            missing = ", or ".join(map(str, matcher.explain(None).expected[:_MAX_MISSING]))
            raise OutputError(
                f"the answer is not complete; it must go on with {missing}",
                text=text,
                hint="raise max_tokens",
            )
        try:
            return self._output.parse(text)
        except ValueError as error:  # pydantic's validation error is one
            raise OutputError(f"the type refuses the answer: {error}", text=text) from error


def _is_single(prompt: Any) -> bool:
    """Whether a prompt is one text or one chat, and not a list of them."""
    return isinstance(prompt, str) or (bool(prompt) and isinstance(prompt[0], dict))
