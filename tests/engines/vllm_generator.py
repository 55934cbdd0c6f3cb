"""Runs a `Generator` on a vLLM engine and prints what came out as one line of JSON; for the test.

usage: python tests/engines/vllm_generator.py MODEL_FOLDER

A process of its own, because an engine cannot be taken down completely within one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Literal


def main(folder: str) -> None:
    os.environ.update(
        MASKWRIGHT_VLLM="1",
        VLLM_ENABLE_V1_MULTIPROCESSING="0",
        VLLM_CPU_KVCACHE_SPACE="1",
        VLLM_CPU_OMP_THREADS_BIND="nobind",
        VLLM_NO_USAGE_STATS="1",
        HF_HUB_OFFLINE="1",
    )
    from vllm import LLM

    from maskwright import Generator

    llm = LLM(folder, max_model_len=512, max_num_seqs=8, enforce_eager=True)
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
        },
        "required": ["name", "age"],
    }
    person = Generator(llm, schema)
    result = {
        "batch": person(["Ann is 30 years old.", "Bob is 5."], max_tokens=80),
        "choice": Generator(llm, Literal["yes", "no"])("Is it?"),
        "pattern": Generator(llm, re.compile("[a-f]{6}", re.IGNORECASE))("Go.", temperature=1.0, seed=1),
        "stream": [
            [step.delta, step.partial, step.value]
            for step in person.stream("Ann is 30 years old.", max_tokens=80)
        ],
    }
    steps = person.stream("Ann is 30 years old.", max_tokens=80)
    next(steps)
    steps.close()
    result["after a closed stream"] = person("Bob is 5.", max_tokens=80)
    (error,) = person(["Ann"], max_tokens=3, return_exceptions=True)
    result["cut off"] = str(error)
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
