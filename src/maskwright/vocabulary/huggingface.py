"""Tokenizers of the Hugging Face libraries, and the files that lie beside a model.

A transformers tokenizer is a shell around one of four backends, and only the backend knows bytes:

* `tokenizers` (fast): its ``tokenizer.json`` document;
* tiktoken: ranks; SentencePiece: the model proto; mistral-common: tekken or SentencePiece.

``get_vocab()`` of the shell is not used: for some backends its keys are *decoded* text, in which
hundreds of ids collide. The backend is found by what it can do, not by class name, so transformers
itself is never imported.

Stop tokens come from everywhere they are declared (tokenizer, ``tokenizer_config.json``,
``config.json``, ``generation_config.json``): published models often list only some in each.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from maskwright.errors import VocabularyError
from maskwright.vocabulary.source import PathLike, VocabularySource, as_ids, read_bytes
from maskwright.vocabulary.special import chat_end_ids, is_marker
from maskwright.vocabulary.tokenizer_json import read_document

__all__ = ["read_huggingface", "read_tokenizer_json"]


def read_tokenizer_json(path: PathLike) -> VocabularySource:
    """The vocabulary of a ``tokenizer.json`` file or of the folder that holds one."""
    file = Path(path)
    if file.is_dir():
        file = file / "tokenizer.json"
    document = _json_object(file)
    source = read_document(document)
    _add_stops(source, _declared_stops(file.parent, source))
    if importlib.util.find_spec("tokenizers") is not None:
        source.encode = _file_encoder(file)
    return source


def read_huggingface(tokenizer: Any) -> VocabularySource:
    """The vocabulary of a transformers tokenizer or a `tokenizers.Tokenizer`."""
    source = _read_backend(tokenizer)
    _merge_added_tokens(source, getattr(tokenizer, "added_tokens_decoder", None))
    stops = as_ids(getattr(tokenizer, "eos_token_id", None))
    folder = getattr(tokenizer, "name_or_path", None)
    if isinstance(folder, (str, Path)) and folder and Path(folder).is_dir():
        stops += _declared_stops(Path(folder), source)
    _add_stops(source, stops)
    return source


def _read_backend(tokenizer: Any) -> VocabularySource:
    for read in (_read_mistral, _read_fast, _read_tiktoken_backed, _read_sentencepiece_backed):
        source = read(tokenizer)
        if source is not None:
            return source
    raise VocabularyError(
        f"cannot read token bytes from a {type(tokenizer).__module__}.{type(tokenizer).__qualname__}",
        hint="supported: fast (tokenizers), tiktoken, SentencePiece and mistral-common tokenizers; "
        "for any other, pass the bytes of each id to TokenizerInfo(list)",
    )


def _read_mistral(tokenizer: Any) -> VocabularySource | None:
    """MistralCommonBackend of transformers, MistralTokenizer of mistral-common, or vLLM's wrapper."""
    from maskwright.vocabulary.sentencepiece_ import read_sentencepiece
    from maskwright.vocabulary.tekken import read_tekken

    for shell in (tokenizer, getattr(tokenizer, "tokenizer", None), getattr(tokenizer, "mistral", None)):
        inner = getattr(getattr(shell, "instruct_tokenizer", None), "tokenizer", None)
        if hasattr(inner, "id_to_byte_piece") and hasattr(inner, "num_special_tokens"):
            return read_tekken(inner)
        model = getattr(inner, "_model", None)
        if hasattr(model, "serialized_model_proto"):
            return read_sentencepiece(model)
    return None


def _read_fast(tokenizer: Any) -> VocabularySource | None:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not (hasattr(backend, "to_str") and hasattr(backend, "encode")):
        return None
    source = read_document(json.loads(backend.to_str()))
    source.encode = _backend_encoder(backend)
    return source


def _backend_encoder(backend: Any) -> Callable[[str], Sequence[int]]:
    return lambda text: list(backend.encode(text, add_special_tokens=False).ids)


def _file_encoder(file: Path) -> Callable[[str], Sequence[int]]:
    """Loads the file with `tokenizers` at the first use: a self-test is rare, a load takes 0.3 s."""
    loaded: list[Any] = []

    def encode(text: str) -> Sequence[int]:
        if not loaded:
            from tokenizers import Tokenizer

            loaded.append(Tokenizer.from_file(str(file)))
        return list(loaded[0].encode(text, add_special_tokens=False).ids)

    return encode


def _members(tokenizer: Any) -> Iterator[Any]:
    yield tokenizer
    yield from vars(tokenizer).values() if hasattr(tokenizer, "__dict__") else ()


def _read_tiktoken_backed(tokenizer: Any) -> VocabularySource | None:
    from maskwright.vocabulary.tiktoken_ import read_tiktoken

    for member in _members(tokenizer):
        if hasattr(member, "decode_single_token_bytes"):
            return read_tiktoken(member)
    return None


def _read_sentencepiece_backed(tokenizer: Any) -> VocabularySource | None:
    from maskwright.vocabulary.sentencepiece_ import read_sentencepiece

    for member in _members(tokenizer):
        if hasattr(member, "serialized_model_proto"):
            source = read_sentencepiece(member)
            if member is not tokenizer:
                _check_same_ids(tokenizer, member)
            return source
    return None


def _check_same_ids(tokenizer: Any, model: Any) -> None:
    """Some shells shift the ids of the model inside them; then its bytes belong to other ids."""
    ids = range(min(len(model), len(tokenizer)))
    added = getattr(tokenizer, "added_tokens_decoder", {})
    ours = tokenizer.convert_ids_to_tokens(list(ids))
    for token_id, name in zip(ids, ours, strict=True):
        if token_id not in added and name != model.id_to_piece(token_id):
            raise VocabularyError(
                f"the tokenizer calls token {token_id} {name!r}, its SentencePiece model calls it "
                f"{model.id_to_piece(token_id)!r}",
                hint="the tokenizer renumbers the pieces; use its fast version (tokenizer.json)",
            )


def _merge_added_tokens(source: VocabularySource, added: Any) -> None:
    """Enter tokens that the shell added on top of its backend: ``{id: AddedToken}``."""
    if not isinstance(added, Mapping):
        return
    specials: list[tuple[str, int]] = []
    for token_id, token in added.items():
        text = str(getattr(token, "content", token))
        missing = token_id - len(source.decoded) + 1
        source.decoded.extend([b""] * max(0, missing))
        if not source.decoded[token_id]:
            source.decoded[token_id] = text.encode("utf-8", "replace")
        if getattr(token, "special", False) or is_marker(text):
            source.special_token_ids.add(token_id)
            specials.append((text, token_id))
    _add_stops(source, chat_end_ids(specials))


def _add_stops(source: VocabularySource, ids: list[int]) -> None:
    merged = dict.fromkeys([*ids, *source.stop_token_ids])
    source.stop_token_ids = [token_id for token_id in merged if token_id >= 0]


def _declared_stops(folder: Path, source: VocabularySource) -> list[int]:
    """Stop ids from the configuration files in a model's folder; absent files are no error."""
    stops: list[int] = []
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        config = _optional_json(folder / name)
        token = config.get("eos_token")
        text = token.get("content") if isinstance(token, Mapping) else token
        if isinstance(text, str) and text:
            raw = text.encode("utf-8", "replace")
            same = [token_id for token_id, other in enumerate(source.decoded) if other == raw]
            special = [token_id for token_id in same if token_id in source.special_token_ids]
            stops += special or same
    for name in ("generation_config.json", "config.json"):
        config = _optional_json(folder / name)
        stops += as_ids(config.get("eos_token_id"))
        inner = config.get("text_config")
        if isinstance(inner, Mapping):  # multimodal models
            stops += as_ids(inner.get("eos_token_id"))
    return stops


def _optional_json(path: Path) -> Mapping[str, Any]:
    return _json_object(path) if path.is_file() else {}


def _json_object(path: Path) -> Mapping[str, Any]:
    raw = read_bytes(path, "the tokenizer file")
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise VocabularyError(
            f"{path.name} is not JSON: {error}", hint="the file is damaged or of another kind"
        ) from None
    if not isinstance(value, Mapping):
        raise VocabularyError(f"{path.name} must hold a JSON object", hint="the file is of another kind")
    return value
