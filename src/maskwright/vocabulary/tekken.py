"""Mistral's tekken vocabularies: ``tekken.json`` or the `Tekkenizer` made from it.

Ids are the special tokens first (1,000 as a rule), then the ranked tokens: a token's id is its
rank plus the number of special tokens. The file holds more ranks than the model uses;
``default_vocab_size`` counts the ids in use, special ones included.

Older files leave out the special tokens because the library knew them; the table below has those
that all such files share. The others are fillers and get a name from their rank.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType
from maskwright.vocabulary.source import VocabularySource, read_bytes
from maskwright.vocabulary.special import chat_end_ids

__all__ = ["read_tekken"]

#: Special tokens, by rank, of the files that do not list them.
_UNLISTED: Final = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def read_tekken(tekken: Any) -> VocabularySource:
    """The vocabulary of a ``tekken.json`` (path or parsed object) or of a `Tekkenizer`."""
    if hasattr(tekken, "id_to_byte_piece"):
        return _read_tekkenizer(tekken)
    if isinstance(tekken, (str, Path)):
        document = _parse(read_bytes(tekken, "the tekken file"))
    elif isinstance(tekken, Mapping):
        document = tekken
    else:
        raise VocabularyError(
            f"a {type(tekken).__qualname__} is not a tekken vocabulary",
            hint="pass the path of a tekken.json, its parsed content, or a Tekkenizer",
        )
    return _read_document(document)


def _parse(content: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(content)
    except ValueError as error:
        raise VocabularyError(f"the tekken file is not JSON: {error}", hint="the file is damaged") from None
    if not isinstance(document, Mapping):
        raise VocabularyError("the tekken file must hold a JSON object", hint="the file is of another kind")
    return document


def _read_document(document: Mapping[str, Any]) -> VocabularySource:
    try:
        config = document["config"]
        n_special = int(config["default_num_special_tokens"])
        n_ranked = int(config["default_vocab_size"]) - n_special
        ranked = [b""] * n_ranked
        for entry in document["vocab"]:
            if 0 <= entry["rank"] < n_ranked:
                ranked[entry["rank"]] = base64.b64decode(entry["token_bytes"], validate=True)
        names = _special_names(document.get("special_tokens"), n_special)
    except (LookupError, TypeError, ValueError, binascii.Error) as error:
        raise VocabularyError(
            f"the tekken vocabulary is malformed: {type(error).__name__}: {error}",
            hint="it needs 'config' and 'vocab' as in a published tekken.json",
        ) from None
    return _source([name.encode() for name in names] + ranked, names)


def _special_names(listed: Any, n_special: int) -> list[str]:
    names = [f"<SPECIAL_{rank}>" for rank in range(n_special)]
    if listed is None:
        names[: len(_UNLISTED)] = _UNLISTED[:n_special]
    for entry in listed or []:
        rank = int(entry["rank"])
        if not 0 <= rank < n_special:
            raise IndexError(f"special token rank {rank}, of {n_special}")
        names[rank] = str(entry["token_str"])
    return names


def _read_tekkenizer(tekken: Any) -> VocabularySource:
    n_special = int(tekken.num_special_tokens)
    names = [str(tekken.id_to_piece(token_id)) for token_id in range(n_special)]
    ranked = [tekken.id_to_byte_piece(token_id) for token_id in range(n_special, tekken.n_words)]
    source = _source([name.encode() for name in names] + ranked, names)
    source.stop_token_ids = list(dict.fromkeys([int(tekken.eos_id), *source.stop_token_ids]))
    source.encode = lambda text: list(tekken.encode(text, bos=False, eos=False))
    return source


def _source(decoded: list[bytes], names: list[str]) -> VocabularySource:
    return VocabularySource(
        decoded=decoded,
        vocab_type=VocabType.RAW,
        special_token_ids=set(range(len(names))),
        stop_token_ids=chat_end_ids((name, token_id) for token_id, name in enumerate(names)),
    )
