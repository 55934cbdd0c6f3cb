"""Two programs written for XGrammar, with only the import line changed, and what they print.

Each is run with `maskwright` itself, with `maskwright.compat.xgrammar`, and as it stands (``import xgrammar
as xgr``) after `maskwright.compat.install()`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout

import pytest

import maskwright.compat
from tests.vocabulary.real import real_file

pytest.importorskip("torch", reason="torch is not installed")

LEGAL_SETS = """
import torch
import xgrammar as xgr

vocabulary = ["{", "}", '"', "name", "age", ":", ",", "42", "true", " ", "hello", "xyz"]
info = xgr.TokenizerInfo(vocabulary)
compiled = xgr.GrammarCompiler(info).compile_builtin_json_grammar()
matcher = xgr.GrammarMatcher(compiled)
bitmask = xgr.allocate_token_bitmask(1, info.vocab_size)

def show(after):
    logits = torch.zeros(1, info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    xgr.apply_token_bitmask_inplace(logits, bitmask)
    legal = [vocabulary[token] for token in torch.where(logits[0] == 0)[0].tolist()]
    print(after or "start", "->", *map(repr, legal))

show("")
for piece in ["{", '"', "name", '"', ":", "42"]:
    assert matcher.accept_string(piece)
    show(piece)
"""

LEGAL_SETS_OUTPUT = """\
start -> '{'
{ -> '}' '"' ' '
" -> '{' '}' '"' 'name' 'age' ':' ',' '42' 'true' ' ' 'hello' 'xyz'
name -> '{' '}' '"' 'name' 'age' ':' ',' '42' 'true' ' ' 'hello' 'xyz'
" -> ':' ' '
: -> '{' '"' '42' 'true' ' '
42 -> '}' ',' '42' ' '
"""

LEGAL_COUNTS = """
import base64
import torch
import xgrammar as xgr

with open(QWEN_RANKS, "rb") as file:
    ranks = dict(line.split() for line in file if line.strip())
vocabulary = [b""] * len(ranks)
for token, rank in ranks.items():
    vocabulary[int(rank)] = base64.b64decode(token)
vocabulary += [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>",
    "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
]
vocabulary = [entry.encode() if isinstance(entry, str) else entry for entry in vocabulary]
info = xgr.TokenizerInfo(vocabulary, stop_token_ids=[151645])
print(info.vocab_size, "tokens")
schema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
compiled = xgr.GrammarCompiler(info).compile_json_schema(schema, any_whitespace=False)
matcher = xgr.GrammarMatcher(compiled)
bitmask = xgr.allocate_token_bitmask(1, info.vocab_size)
for piece in ['{"', "name", '":', ' "', "Ada", '",', ' "', "age", '":', " ", "3", "6", "}"]:
    token = vocabulary.index(piece.encode())
    matcher.fill_next_token_bitmask(bitmask)
    logits = torch.zeros(1, info.vocab_size)
    xgr.apply_token_bitmask_inplace(logits, bitmask)
    print(int((logits == 0).sum()), repr(piece))
    assert matcher.accept_token(token)
assert not matcher.is_terminated() and matcher.accept_token(151645) and matcher.is_terminated()
"""

LEGAL_COUNTS_OUTPUT = """\
151665 tokens
2 '{"'
4 'name'
2 '":'
121 ' "'
147057 'Ada'
147057 '",'
2 ' "'
3 'age'
2 '":'
2 ' '
11 '3'
11 '6'
11 '}'
"""

MODULES = ["maskwright", "maskwright.compat.xgrammar", "xgrammar"]


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> Iterator[str]:
    """A name to import; ``xgrammar`` is one while it is ours."""
    name: str = request.param
    if name == "xgrammar":
        maskwright.compat.install()
    yield name
    maskwright.compat.uninstall()


def run(program: str, module: str, **names: object) -> str:
    """What a program prints."""
    source = program.replace("import xgrammar as xgr", f"import {module} as xgr")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(source, "program", "exec"), {"__name__": "program", **names})
    return printed.getvalue()


def test_legal_sets_of_twelve_tokens(module: str) -> None:
    assert run(LEGAL_SETS, module) == LEGAL_SETS_OUTPUT


def test_legal_counts_of_a_real_vocabulary(module: str) -> None:
    assert run(LEGAL_COUNTS, module, QWEN_RANKS=real_file("qwen")) == LEGAL_COUNTS_OUTPUT
