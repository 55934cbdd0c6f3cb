"""Runs vLLM's offline engine once and prints what came out as one line of JSON; for the tests and the table.

usage: python tests/engines/vllm_runs.py MODEL_FOLDER plain|compact|speculative|own [REQUESTS]

A process of its own, because an engine cannot be taken down completely within one. ``own`` leaves the
plug-in off. The engine's core runs in this process, so that masks can be timed and counted.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

MAX_TOKENS = 200


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), **more}


SCORE = {"type": "integer", "minimum": 0, "maximum": 10}
WORD = {"type": "string", "pattern": "^[a-z]{2,8}$"}

#: Sixteen schemas, most with a keyword that another backend ignores or refuses. All bound the length of what
#: fits them: a small model does not stop by itself.
SCHEMAS: list[dict[str, Any]] = [
    _object(
        {
            "name": {"type": "string", "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
        }
    ),
    _object({"color": {"enum": ["red", "green", "blue"]}, "sure": {"type": "boolean"}}),
    {"type": "integer", "minimum": 10, "maximum": 90, "multipleOf": 7},
    {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 2, "maxItems": 3},
    {"type": "array", "items": SCORE, "contains": {"const": 7}, "minItems": 2, "maxItems": 3},
    _object({"code": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$", "minLength": 5, "maxLength": 8}}),
    _object({"day": {"type": "string", "format": "date"}}),
    _object(
        {"id": SCORE},
        patternProperties={"^x_[a-z]{1,4}$": {"type": "null"}},
        additionalProperties=False,
        maxProperties=3,
    ),
    {"allOf": [_object({"low": SCORE}), _object({"high": SCORE})]},
    _object(
        {"kind": {"enum": ["cat", "dog"]}},
        **{
            "if": {"properties": {"kind": {"const": "cat"}}},
            "then": _object({"lives": {"const": 9}}),
            "else": _object({"bark": {"type": "boolean"}}),
        },
    ),
    {
        "type": "object",
        "properties": {"card": SCORE, "address": WORD},
        "dependentRequired": {"card": ["address"]},
        "minProperties": 1,
    },
    {"type": "integer", "minimum": 0, "maximum": 9, "not": {"enum": [1, 2, 3]}},
    {
        "oneOf": [
            _object({"left": SCORE}, additionalProperties=False),
            _object({"right": WORD}, additionalProperties=False),
        ]
    },
    {
        "$defs": {"point": _object({"x": SCORE, "y": SCORE})},
        "type": "array",
        "items": {"$ref": "#/$defs/point"},
        "minItems": 1,
        "maxItems": 2,
    },
    {"type": "array", "prefixItems": [WORD, SCORE, {"type": "null"}], "items": False, "minItems": 3},
    {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z]{1,6}$"},
        "additionalProperties": SCORE,
        "minProperties": 1,
        "maxProperties": 3,
    },
]

BAD_SCHEMA = _object({"a": {"type": "strin"}})


def chat(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def start(model: str, mode: str) -> Any:
    """The engine; the environment must be set before vLLM is imported."""
    os.environ.update(
        MASKWRIGHT_VLLM="0" if mode == "own" else "1",
        VLLM_ENABLE_V1_MULTIPROCESSING="0",
        VLLM_CPU_KVCACHE_SPACE="1",
        VLLM_NO_USAGE_STATS="1",
        HF_HUB_OFFLINE="1",
    )
    from vllm import LLM

    options: dict[str, Any] = {}
    if mode != "plain":
        options["structured_outputs_config"] = {"backend": "xgrammar", "disable_any_whitespace": True}
    if mode == "speculative":
        options["speculative_config"] = {
            "method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1,
        }  # fmt: skip
    return LLM(model, max_model_len=1024, max_num_seqs=16, enforce_eager=True, seed=0, **options)


def measure(llm: Any) -> dict[str, float]:
    """Counts and times what the engine asks of the grammars, from now on."""
    manager = llm.llm_engine.engine_core.engine_core.structured_output_manager
    totals = dict.fromkeys(("steps", "filled", "rolled_back", "mask_seconds"), 0.0)

    def timed(owner: Any, name: str, key: str | None) -> None:
        original = getattr(owner, name)

        def wrapper(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = original(*arguments)
            totals["mask_seconds"] += time.perf_counter() - start
            if key:
                totals[key] += 1
            return result

        setattr(owner, name, wrapper)

    timed(manager, "grammar_bitmask", "steps")
    timed(manager, "accept_tokens", None)

    def count(grammar_class: Any) -> None:
        for name, key in (("fill_bitmask", "filled"), ("rollback", "rolled_back")):
            original = getattr(grammar_class, name)

            def wrapper(self: Any, *arguments: Any, original: Any = original, key: str = key) -> Any:
                totals[key] += 1
                return original(self, *arguments)

            setattr(grammar_class, name, wrapper)

    if os.environ["MASKWRIGHT_VLLM"] == "1":
        from maskwright.engines.vllm_plugin.backend import MaskwrightGrammar

        count(MaskwrightGrammar)
    else:
        from vllm.v1.structured_output.backend_xgrammar import XgrammarGrammar

        count(XgrammarGrammar)
    return totals


def constraints(mode: str, wanted: int) -> list[tuple[str, dict[str, Any]]]:
    """(prompt, constraint) of each request."""
    requests = [
        (f"Answer as JSON that fits this schema: {json.dumps(schema)}", {"json": schema})
        for schema in SCHEMAS
    ]
    if mode == "plain":
        tag = {
            "structures": [{"begin": "<f>", "schema": _object({"n": SCORE}), "end": "</f>"}],
            "triggers": ["<f>"],
        }
        requests = [
            (requests[0][0], {"json": SCHEMAS[0]}),
            ("Is the sky blue?", {"choice": ["yes", "no", 'perhaps "so"']}),
            ("A part number?", {"regex": r"[A-F]{2}-\d{3}"}),
            ("Count.", {"grammar": 'root ::= number (", " number){2}\nnumber ::= "one" | "two" | "three"'}),
            ('Copy this: {"a": 1}', {"json_object": True}),
            ("Call f.", {"structural_tag": json.dumps(tag)}),
        ]
    if mode == "speculative":
        point = '{"name":"Bob","age":3}'
        people = {"type": "array", "items": SCHEMAS[0], "minItems": 4, "maxItems": 4}
        requests = [(f"Repeat: [{point},{point},{point},{point}]", {"json": people}), *requests[:5]]
    return requests[:wanted]


def main(model: str, mode: str, wanted: int) -> dict[str, Any]:
    llm = start(model, mode)
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams

    requests = constraints(mode, wanted)

    def params(constraint: dict[str, Any]) -> Any:
        return SamplingParams(
            temperature=0.0, max_tokens=MAX_TOKENS, structured_outputs=StructuredOutputsParams(**constraint)
        )

    refusals = []
    for constraint in ({"json": BAD_SCHEMA}, {"regex": "(a"}, {"grammar": 'start: "a"'}):
        try:
            llm.chat(chat("hello"), params(constraint), use_tqdm=False)
        except VLLMValidationError as error:
            refusals.append(str(error))
    totals = measure(llm)
    start_time = time.perf_counter()
    prompts = [chat(prompt) for prompt, _ in requests]
    outputs = llm.chat(prompts, [params(constraint) for _, constraint in requests], use_tqdm=False)
    wall = time.perf_counter() - start_time
    import vllm

    return {
        "version": vllm.__version__,
        "backend": type(llm.llm_engine.engine_core.engine_core.structured_output_manager.backend).__name__,
        "refusals": refusals,
        "answers": [
            {"constraint": constraint, "text": output.outputs[0].text, "finish": output.outputs[0].finish_reason, "tokens": len(output.outputs[0].token_ids)}
            for (_, constraint), output in zip(requests, outputs, strict=True)
        ],
        "seconds": wall,
        **totals,
    }  # fmt: skip


if __name__ == "__main__":
    folder, mode, *rest = sys.argv[1:]
    result = main(folder, mode, int(rest[0]) if rest else 16)
    print("RESULT " + json.dumps(result), flush=True)
