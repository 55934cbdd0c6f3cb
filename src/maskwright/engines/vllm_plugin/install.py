"""Takes xgrammar's place inside vLLM, which has no registration point for backends.

Five names are replaced, and nothing else of vLLM is repeated here, so that its own checks (nesting, NUL
characters, empty texts, one constraint per request) keep working as they change:

* ``SamplingParams._validate_structured_outputs``: what it does for the backend xgrammar, also where the
  configuration says auto, so that a schema that we refuse is refused and not passed to another library;
* ``validate_xgrammar_grammar``, but only inside that call: vLLM also asks it whether xgrammar could take a
  constraint into a structural tag;
* ``XgrammarBackend``, in the two modules that it is taken from;
* ``StructuredOutputManager._create_grammar``: it alone sees the request, within whose ``max_tokens`` our
  matcher is to finish.

Rejected: a backend name of our own. The configuration's type is a closed list that the command line, the
engine's arguments and the configuration object each check.
"""

from __future__ import annotations

import contextvars
import copy
import functools
import logging
from typing import Any

from ...errors import MaskwrightError
from .requests import STRUCTURAL_TAG, budget, check_options, check_spec

__all__ = ["install"]

logger = logging.getLogger(__name__)

#: Backends of vLLM's configuration in whose place maskwright serves. Another one was asked for by name.
_REPLACED_BACKENDS = frozenset({"auto", "xgrammar"})

#: While a request is validated: whether JSON is compact. None outside.
_compact: contextvars.ContextVar[bool | None] = contextvars.ContextVar(
    "maskwright_vllm_compact", default=None
)


def install() -> None:
    """Replace the names, once per process.

    Raises:
        RuntimeError: This version of vLLM does not have them.
    """
    try:
        import vllm.v1.structured_output as manager_module
        import vllm.v1.structured_output.backend_xgrammar as xgrammar_module
        from vllm.sampling_params import SamplingParams

        validate = SamplingParams._validate_structured_outputs
        validate_grammar = xgrammar_module.validate_xgrammar_grammar
        original_class = manager_module.XgrammarBackend
        create_grammar = manager_module.StructuredOutputManager._create_grammar
    except (ImportError, AttributeError) as error:
        raise RuntimeError(
            f"maskwright cannot serve this version of vLLM ({error}); unset MASKWRIGHT_VLLM to do without"
        ) from error

    from .backend import MaskwrightBackend

    if original_class is MaskwrightBackend:
        return
    MaskwrightBackend.original_class = original_class
    SamplingParams._validate_structured_outputs = _validating(validate)
    xgrammar_module.validate_xgrammar_grammar = _validating_grammar(validate_grammar)
    manager_module.XgrammarBackend = MaskwrightBackend
    manager_module.StructuredOutputManager._create_grammar = _within_budget(create_grammar)
    xgrammar_module.XgrammarBackend = MaskwrightBackend
    logger.info("structured outputs are served by maskwright")


def _within_budget(original: Any) -> Any:
    """The replacement of ``StructuredOutputManager._create_grammar``."""

    @functools.wraps(original)
    def create_grammar(self: Any, request: Any) -> Any:
        # With a reasoning parser nobody knows what thinking leaves of the limit, so it is not kept to.
        params = request.sampling_params
        limit = None if params is None or self.reasoner_cls is not None else params.max_tokens
        token = budget.set(limit)
        try:
            return original(self, request)
        finally:
            budget.reset(token)

    return create_grammar


def _validating(original: Any) -> Any:
    """The replacement of ``SamplingParams._validate_structured_outputs``."""

    @functools.wraps(original)
    def validate(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        config = structured_outputs_config
        if config is None or config.backend not in _REPLACED_BACKENDS:
            original(self, model_config, config, tokenizer)
            return
        as_xgrammar = copy.copy(config)
        as_xgrammar.backend = "xgrammar"
        token = _compact.set(bool(config.disable_any_whitespace))
        try:
            original(self, model_config, as_xgrammar, tokenizer)
        finally:
            _compact.reset(token)

    return validate


def _validating_grammar(original: Any) -> Any:
    """The replacement of ``validate_xgrammar_grammar``."""

    @functools.wraps(original)
    def validate_grammar(sampling_params: Any) -> None:
        compact = _compact.get()
        params = sampling_params.structured_outputs
        if compact is None or params is None:
            original(sampling_params)
            return
        from vllm.exceptions import VLLMValidationError
        from vllm.v1.structured_output.request import get_structured_output_key

        kind, spec = get_structured_output_key(params)
        if kind.name == STRUCTURAL_TAG:
            original(sampling_params)
            return
        try:
            check_options(kind.name, params, compact=compact)
            check_spec(kind.name, spec, compact=compact)
        except MaskwrightError as error:
            raise VLLMValidationError(str(error), parameter="structured_outputs") from error

    return validate_grammar
