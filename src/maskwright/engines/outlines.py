"""Outlines: a backend that makes its logits processors with maskwright.

Outlines chooses a backend by name from a closed list. `install` adds the name ``"maskwright"`` to it;
without it, a backend made by hand gives processors to `outlines.Generator(model, processor=...)`.

`whitespace_pattern` is refused, as by all of Outlines' backends but its own: white space in our JSON is
free but bounded, or fixed by the compiler's options.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .. import CompiledGrammar, Grammar, GrammarCompiler, GrammarError, TokenizerInfo, VocabularyError
from .rows import RowFollower

__all__ = ["MaskLogitsProcessor", "MaskwrightBackend", "install", "vocabulary"]

_NAME: Final = "maskwright"


def vocabulary(model: Any) -> TokenizerInfo:
    """The vocabulary of an Outlines model: `Transformers`, `LlamaCpp` or `MLXLM`.

    Raises:
        VocabularyError: Another kind of model: those that run elsewhere show no logits.
    """
    from . import llama_cpp, mlx, transformers

    if hasattr(model, "hf_tokenizer"):
        return transformers.vocabulary(model.model, model.hf_tokenizer)
    if hasattr(model, "mlx_tokenizer"):
        return mlx.vocabulary(model.model, model.mlx_tokenizer)
    if hasattr(getattr(model, "model", None), "n_vocab"):
        return llama_cpp.vocabulary(model.model)
    raise VocabularyError(
        f"an Outlines model of type {type(model).__qualname__} gives no access to its logits",
        hint="supported: Transformers, LlamaCpp and MLXLM",
    )


class MaskwrightBackend:
    """An Outlines `BaseBackend`: logits processors from a JSON schema, a regex or a grammar.

    Args:
        model: An Outlines model that runs in this process.
        compiler: To share compiled grammars; by default one for the model's vocabulary.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.

    Raises:
        VocabularyError: The model's vocabulary cannot be read.
    """

    def __init__(
        self, model: Any, *, compiler: GrammarCompiler | None = None, max_tokens: int | None = None
    ) -> None:
        _register()
        self.max_tokens: Final = max_tokens
        self.tensor_library_name: Final = str(model.tensor_library_name)
        self.compiler: Final = compiler or GrammarCompiler(vocabulary(model))

    def get_json_schema_logits_processor(
        self, json_schema: str, whitespace_pattern: str | None = None
    ) -> MaskLogitsProcessor:
        """A processor for a schema as JSON text.

        Raises:
            SchemaError: It is malformed, unsatisfiable, or holds what cannot be enforced.
            GrammarError: `whitespace_pattern` is given.
        """
        if whitespace_pattern is not None:
            raise GrammarError(
                "whitespace_pattern is not supported",
                hint="white space is free but bounded; leave the pattern out",
            )
        return self._processor(self.compiler.compile_json_schema(json_schema))

    def get_regex_logits_processor(self, regex: str) -> MaskLogitsProcessor:
        """A processor for a regular expression that the whole answer must match.

        Raises:
            RegexError: It is malformed or not regular.
        """
        return self._processor(self.compiler.compile_regex(regex))

    def get_cfg_logits_processor(self, grammar: str) -> MaskLogitsProcessor:
        """A processor for a grammar in EBNF. (Outlines' own examples are Lark: see `docs/ebnf.md`.)

        Raises:
            GrammarSyntaxError: The text does not parse.
        """
        return self._processor(self.compiler.compile_grammar(Grammar.from_ebnf(grammar)))

    def _processor(self, compiled: CompiledGrammar) -> MaskLogitsProcessor:
        return MaskLogitsProcessor(compiled, self.tensor_library_name, max_tokens=self.max_tokens)


class MaskLogitsProcessor:
    """What Outlines hands to its models: takes and returns arrays of the model's library.

    Args:
        grammar: What each answer must match.
        tensor_library_name: ``"torch"``, ``"numpy"`` or ``"mlx"``.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.

    Raises:
        VocabularyError: Another array library.
        BudgetError: `max_tokens` is less than the grammar needs.
    """

    def __init__(
        self, grammar: CompiledGrammar, tensor_library_name: str, *, max_tokens: int | None = None
    ) -> None:
        if tensor_library_name not in ("torch", "numpy", "mlx"):
            raise VocabularyError(f"arrays of {tensor_library_name!r} are not supported")
        self.tensor_library_name: Final = tensor_library_name
        self.rows: Final = RowFollower(grammar, max_tokens=max_tokens)

    def reset(self) -> None:
        """Begin a new generation. Outlines calls this before each."""
        self.rows.reset()

    def __call__(self, input_ids: Any, logits: Any) -> Any:
        """Logits with -inf for every token that is not legal.

        Args:
            input_ids: Integers, shape (rows, length), or (length,) for one row.
            logits: Floats, shape (rows, width), or (width,) for one row.
        """
        ids = input_ids.cpu().numpy() if self.tensor_library_name == "torch" else np.array(input_ids)
        bitmask, _ = self.rows.next_masks(list(np.atleast_2d(ids).astype(np.int64)))
        return self._mask(logits, bitmask if logits.ndim == 2 else bitmask[0])

    def _mask(self, logits: Any, bitmask: Any) -> Any:
        if self.tensor_library_name == "torch":
            from .transformers import mask_scores

            return mask_scores(logits, bitmask)
        if self.tensor_library_name == "mlx":
            from .mlx import apply_token_bitmask

            return apply_token_bitmask(logits, bitmask)
        from .. import apply_token_bitmask_inplace

        masked = np.array(logits)
        apply_token_bitmask_inplace(masked, bitmask)
        return masked


def install() -> Callable[[], None]:
    """Make ``backend="maskwright"`` known to Outlines.

    Returns:
        A function that undoes it.

    Raises:
        ImportError: Outlines is not installed.
    """
    backends: Any = importlib.import_module("outlines.backends")
    original = backends._get_backend

    def choose(backend_name: str, model: Any) -> Any:
        return MaskwrightBackend(model) if backend_name == _NAME else original(backend_name, model)

    def undo() -> None:
        backends._get_backend = original

    backends._get_backend = choose
    return undo


def _register() -> None:
    """Let `isinstance(backend, BaseBackend)` hold, where Outlines is there to ask."""
    try:
        base = importlib.import_module("outlines.backends.base")
    except ImportError:
        return
    base.BaseBackend.register(MaskwrightBackend)
