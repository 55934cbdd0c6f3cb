"""Run the same requests in each real engine and print what constraining cost there.

usage: python scripts/engine_table.py [--vllm PYTHON] [--requests N]

Sixteen JSON schemas, SmolLM2-135M on the processor, greedy. An output counts as valid if it came to its
end and a validator that knows nothing of maskwright accepts it. Mask time is all that an engine spends in our
plug-in: following the tokens, filling masks, applying them (for MLX-LM and vLLM: all but applying; for vLLM
plus its own bookkeeping). The share is of the whole generation, prompts included.

An engine that is not installed gets no row. vLLM pins other versions of what the others use, so it is
run by a Python of its own, named with --vllm; `make engines` prepares both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs
from tabulate import tabulate

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the models and the schemas are those of the tests

from tests.engines import smollm2, vllm_here, vllm_runs, vllm_table  # noqa: E402

HEADERS = ["engine", "version", "how", "requests", "valid", "mask us/token", "share of time"]


class Stopwatch:
    """A logits processor that times another one."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor
        self.seconds = 0.0

    def __call__(self, tokens: Any, scores: Any) -> Any:
        start = time.perf_counter()
        masked = self._processor(tokens, scores)
        self.seconds += time.perf_counter() - start
        return masked


def compile_all(info: TokenizerInfo, schemas: list[Any]) -> list[CompiledGrammar]:
    compiler = GrammarCompiler(info)
    # As the vLLM run: small models like white space too much.
    return [compiler.compile_json_schema(schema, any_whitespace=False) for schema in schemas]


def prompts_for(schemas: list[Any]) -> list[list[dict[str, str]]]:
    return [
        vllm_runs.chat(f"Answer as JSON that fits this schema: {json.dumps(schema)}") for schema in schemas
    ]


def is_valid(schema: Any, info: TokenizerInfo, tokens: list[int]) -> bool:
    """Whether the answer ended, and what a validator says to it."""
    end = next((place for place, token in enumerate(tokens) if token in info.stop_token_ids), None)
    if end is None:
        return False
    text = b"".join(info.decoded_vocab[token] for token in tokens[:end]).decode()
    return bool(jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(json.loads(text)))


def row(
    engine: list[str],
    info: TokenizerInfo,
    schemas: list[Any],
    answers: list[list[int]],
    mask: float,
    wall: float,
) -> list[Any]:
    """One line of the table; `mask` and `wall` in seconds."""
    stops = set(info.stop_token_ids)
    # A batch goes on with padding for rows that have ended: count each answer up to its stop token.
    tokens = sum(
        next((place + 1 for place, token in enumerate(answer) if token in stops), len(answer))
        for answer in answers
    )
    verdicts = [is_valid(schema, info, answer) for schema, answer in zip(schemas, answers, strict=True)]
    for schema, answer, valid in zip(schemas, answers, verdicts, strict=True):
        if not valid:
            text = b"".join(info.decoded_vocab[token] for token in answer).decode(errors="replace")
            print(f"{engine[0]}: not valid: {text!r} for {json.dumps(schema)}", file=sys.stderr)
    cost = [f"{1e6 * mask / max(1, tokens):.0f}", f"{100 * mask / wall:.2f} %"]
    return [*engine, len(answers), sum(verdicts), *cost]


def run_llama_cpp(schemas: list[Any]) -> list[Any]:
    from maskwright.engines.llama_cpp import MaskLogitsProcessor, encode_chat, vocabulary

    llama = smollm2.llama()
    from llama_cpp import LogitsProcessorList

    info = vocabulary(llama)
    answers, mask, wall = [], 0.0, 0.0
    for chat, grammar in zip(prompts_for(schemas), compile_all(info, schemas), strict=True):
        watch = Stopwatch(MaskLogitsProcessor(grammar))
        answer: list[int] = []
        start = time.perf_counter()
        for token in llama.generate(
            encode_chat(llama, chat), temp=0.0, logits_processor=LogitsProcessorList([watch])
        ):
            answer.append(token)
            if token in info.stop_token_ids or len(answer) >= vllm_runs.MAX_TOKENS:
                break
        wall += time.perf_counter() - start
        mask += watch.seconds
        answers.append(answer)
    engine = ["llama-cpp-python", version("llama-cpp-python"), "one by one"]
    return row(engine, info, schemas, answers, mask, wall)


def run_transformers(schemas: list[Any]) -> list[Any]:
    from maskwright.engines.transformers import MaskLogitsProcessor
    from maskwright.generator.models import TransformersModel

    model, tokenizer = smollm2.transformers_pair()
    opened = TransformersModel(model, tokenizer)
    inputs = opened._inputs(prompts_for(schemas))
    watch = Stopwatch(MaskLogitsProcessor(compile_all(opened.info, schemas)))
    start = time.perf_counter()
    output = model.generate(
        **inputs,
        do_sample=False,
        max_new_tokens=vllm_runs.MAX_TOKENS,
        pad_token_id=opened.info.stop_token_ids[0],
        logits_processor=[watch],
    )
    wall = time.perf_counter() - start
    answers = output[:, inputs["input_ids"].shape[1] :].tolist()
    engine = ["transformers", version("transformers"), f"a batch of {len(schemas)}"]
    return row(engine, opened.info, schemas, answers, watch.seconds, wall)


def run_mlx(schemas: list[Any]) -> list[Any]:
    from mlx_lm import stream_generate

    from maskwright.engines.mlx import MaskLogitsProcessor, vocabulary

    model, tokenizer = smollm2.mlx_pair()
    info = vocabulary(model, tokenizer)
    answers, mask, wall = [], 0.0, 0.0
    for chat, grammar in zip(prompts_for(schemas), compile_all(info, schemas), strict=True):
        processor = MaskLogitsProcessor(grammar)
        prompt = list(tokenizer.apply_chat_template(chat, add_generation_prompt=True))
        start = time.perf_counter()
        steps = stream_generate(
            model, tokenizer, prompt, max_tokens=vllm_runs.MAX_TOKENS, logits_processors=[processor]
        )
        answers.append([step.token for step in steps])
        wall += time.perf_counter() - start
        # Not all that happens in the call: reading the ids waits for the whole step before.
        mask += processor.rows.mask_seconds
    engine = ["mlx-lm", version("mlx-lm"), "one by one"]
    return row(engine, info, schemas, answers, mask, wall)


def run_vllm(python: str, n_requests: int) -> list[Any]:
    script = ROOT / "tests" / "engines" / "vllm_runs.py"
    # Absolute, as the child runs elsewhere; not resolved, as a link in an environment names it.
    command = [os.path.abspath(python), str(script), vllm_here.model_folder(), "compact", str(n_requests)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, cwd=tempfile.gettempdir(), check=False
    )
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
            return vllm_table.row(f"a batch of {n_requests}", result)
    sys.exit(f"vLLM ended with {done.returncode}:\n{done.stderr[-4000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vllm", metavar="PYTHON", help="a Python with vLLM and maskwright installed")
    parser.add_argument("--requests", type=int, default=len(vllm_runs.SCHEMAS), metavar="N")
    arguments = parser.parse_args()
    schemas = vllm_runs.SCHEMAS[: arguments.requests]
    rows = []
    engines: list[tuple[str, Callable[[list[Any]], list[Any]]]] = [
        ("transformers", run_transformers),
        ("llama_cpp", run_llama_cpp),
        ("mlx_lm", run_mlx),
    ]
    for package, run in engines:
        if find_spec(package) is not None:
            rows.append(run(schemas))
    if arguments.vllm:
        rows.append(run_vllm(arguments.vllm, len(schemas)))
    print(tabulate(rows, HEADERS, tablefmt="github"))


if __name__ == "__main__":
    main()
