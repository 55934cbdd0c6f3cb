"""Which tokens are control tokens, and which of those end a turn.

Tokenizer files say which tokens were *added* to a vocabulary, but not reliably what for: one
model marks ``<tool_call>`` as special, the next does not, and a third adds plain runs of spaces.
This module holds the two rules that every loader shares, so that all of them answer alike.

It does not look at files and knows nothing about any one model.

Rejected: trusting the ``special`` flag alone. It would leave ``<think>`` or ``<tool_call>`` legal
inside a JSON string, where an engine takes them for the start of a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["CHAT_END_TOKENS", "XGRAMMAR_STOP_TOKENS", "chat_end_ids", "is_marker"]

#: Found by exact text when a vocabulary is given as a bare list: the set that XGrammar looks for.
XGRAMMAR_STOP_TOKENS: Final[frozenset[str]] = frozenset(
    {
        "</s>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<eos>",
        "<|eos|>",
        "<end_of_turn>",
        "<｜end▁of▁sentence｜>",
    }
)

#: Ends of a turn or text in the chat formats in use. Only tokens that are *special* count.
CHAT_END_TOKENS: Final[frozenset[str]] = XGRAMMAR_STOP_TOKENS | {
    "<|im_end|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|EOT|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|END_OF_TURN_TOKEN|>",
    "<turn|>",
}

# In the channel format `<|end|>` closes one message of several; the turn goes on after it.
_CHANNEL_TOKEN: Final = "<|channel|>"
_MESSAGE_END: Final = "<|end|>"

_BARRED = re.compile(r"<?[|｜][^|｜]+[|｜]>?")
_ANGLED = re.compile(r"</?([A-Za-z][^<>\s]*)/?>")
_SQUARE = re.compile(r"\[/?[A-Za-z][A-Za-z0-9_]*\]")
_HALF_BARRED = re.compile(r"<\|[^<>|\s]+>|<[^<>|\s]+\|>")

# Some vocabularies add HTML tags as ordinary text pieces: a model writes them, nothing reads them.
_HTML_TAG = re.compile(
    r"a|abbr|b|blockquote|body|br|button|caption|code|col|dd|del|div|dl|dt|em|footer|form|h[1-6]|head|header"
    r"|hr|html|i|img|input|label|li|link|main|meta|nav|ol|option|p|pre|q|script|section|select|small|span"
    r"|strike|strong|style|sub|summary|sup|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|video",
    re.IGNORECASE,
)


def is_marker(text: str) -> bool:
    """Whether an added token that its file does not call special is a control token by its shape.

    True for ``<|name|>``, ``<｜name｜>``, ``<name>``, ``</name>``, ``[NAME]``; false for HTML tags,
    white space and ordinary words. (``<s>`` is both; as a token it is a start-of-text mark.)

    >>> [is_marker(t) for t in ("<tool_call>", "<|im_end|>", "[INST]", "<table>", "    ", "word")]
    [True, True, True, False, False, False]
    """
    angled = _ANGLED.fullmatch(text)
    if angled is not None:
        return _HTML_TAG.fullmatch(angled[1].rstrip("/")) is None
    return any(shape.fullmatch(text) is not None for shape in (_BARRED, _HALF_BARRED, _SQUARE))


def chat_end_ids(special: Mapping[str, int] | Iterable[tuple[str, int]]) -> list[int]:
    """The ids among the special tokens whose text ends a turn, in ascending order.

    Args:
        special: Text and id of every special token.
    """
    pairs = list(special.items() if isinstance(special, Mapping) else special)
    names = set(CHAT_END_TOKENS)
    if any(text == _CHANNEL_TOKEN for text, _ in pairs):
        names.discard(_MESSAGE_END)
    return sorted(token_id for text, token_id in pairs if text in names)
