"""maskwright as the structured-output backend of vLLM: the entry point of ``vllm.general_plugins``.

vLLM calls `register` in every process that it starts. With ``MASKWRIGHT_VLLM=1`` in the environment it
takes xgrammar's place (the default one) for JSON schemas, regexes, choices and EBNF; without, it returns
before it imports anything. Structural tags, and a server told to use another backend, stay vLLM's own.

Rejected: a logits processor plug-in, which vLLM has an interface for. It cannot see ``response_format``
and is refused together with speculative decoding.
"""

from __future__ import annotations

import os

__all__ = ["ENABLE_VARIABLE", "register"]

#: The environment variable that turns the plug-in on.
ENABLE_VARIABLE = "MASKWRIGHT_VLLM"

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"", "0", "false", "no", "off"})


def register() -> None:
    """Serve this process's structured outputs with maskwright if the environment says so. Idempotent.

    Raises:
        ValueError: The variable holds neither yes nor no.
        RuntimeError: This vLLM lacks what the plug-in replaces. Going on would quietly constrain nothing
            or use another library, so the server does not start.
    """
    setting = os.environ.get(ENABLE_VARIABLE, "").strip().lower()
    if setting in _OFF:
        return
    if setting not in _ON:
        raise ValueError(f"{ENABLE_VARIABLE} is 1 or 0, not {setting!r}")
    from .install import install

    install()
