"""maskwright as a grammar backend of SGLang: the entry point of ``sglang.srt.plugins``.

SGLang calls `register` in every process that it starts. It adds a name to the list of grammar backends,
and lets a request's grammar know its ``max_new_tokens`` (one method of SGLang's grammar manager is wrapped,
because backends see only the constraint). ``--grammar-backend maskwright`` chooses it.
"""

from __future__ import annotations

__all__ = ["BACKEND_NAME", "register"]

#: What follows ``--grammar-backend``.
BACKEND_NAME = "maskwright"


def register() -> None:
    """Make the backend known to this process. Idempotent."""
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    from .backend import create_backend, keep_requests_within_their_limits

    register_grammar_backend(BACKEND_NAME, create_backend)
    if BACKEND_NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([BACKEND_NAME])
        keep_requests_within_their_limits()
