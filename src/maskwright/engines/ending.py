"""What a server's plug-in does with a request whose grammar cannot go on: let it end, and nothing else.

A mask of zeros would make the sampler choose at random or divide by nothing; an exception in a scheduler's
loop would end the server. A row that allows the stop tokens alone does neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import GrammarMatcher

__all__ = ["allow_only_the_end"]


def allow_only_the_end(matcher: GrammarMatcher, bitmask: Any, row: int) -> None:
    """Write a mask row that allows the matcher's stop tokens alone.

    Args:
        matcher: Whose stop tokens.
        bitmask: int32 torch tensor on the CPU, shape (rows, words).
        row: Which row.
    """
    words = bitmask[row].numpy().view(np.uint32)
    words.fill(0)
    for token in matcher.stop_token_ids:
        words[token >> 5] |= np.uint32(1 << (token & 31))
