"""Extract objects from many texts with Ray Data and vLLM: one schema, any number of GPUs and machines.

usage: python examples/ray_vllm_extraction.py INPUT.jsonl OUTPUT_FOLDER MODEL

INPUT.jsonl has a line ``{"id": ..., "text": ...}`` per text. Needs GPUs and
``pip install "ray[data]" "maskwright[vllm]"``. Not run by this project's tests, which have neither Ray nor a
cluster.

Nothing of maskwright is distributed: every vLLM worker that Ray starts loads the plug-in (that is what
MASKWRIGHT_VLLM=1 in its environment does) and compiles the schema once, in about a millisecond.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel, Field

from maskwright.prompt import describe


class Invoice(BaseModel):
    """What is to be found in a text."""

    number: str = Field(pattern="^[A-Z]{2}-[0-9]{4,8}$", description="Invoice number")
    total: float = Field(ge=0, description="Amount to pay")
    currency: str = Field(pattern="^[A-Z]{3}$")
    paid: bool


SCHEMA = Invoice.model_json_schema()
QUESTION = f"Extract the invoice. Answer with JSON only, one value of this form:\n{describe(SCHEMA)}"


def ask(row: dict[str, Any]) -> dict[str, Any]:
    """The request of one text, as Ray's vLLM stage wants it."""
    return {
        "id": row["id"],
        "messages": [{"role": "user", "content": f"{row['text']}\n\n{QUESTION}"}],
        "sampling_params": {
            "temperature": 0.0,
            "max_tokens": 256,
            "structured_outputs": {"json": SCHEMA},
        },
    }


def read(row: dict[str, Any]) -> dict[str, Any]:
    """The object of one answer. One that was cut off becomes an error of its row, not of the job."""
    try:
        invoice = Invoice.model_validate_json(row["generated_text"])
    except ValueError as error:
        return {"id": row["id"], "invoice": None, "error": str(error)}
    return {"id": row["id"], "invoice": json.dumps(invoice.model_dump()), "error": None}


def main(source: str, target: str, model: str) -> None:
    import ray
    from ray.data.llm import build_llm_processor, vLLMEngineProcessorConfig

    config = vLLMEngineProcessorConfig(
        model_source=model,
        engine_kwargs={"max_model_len": 4096, "structured_outputs_config": {"backend": "xgrammar"}},
        runtime_env={"env_vars": {"MASKWRIGHT_VLLM": "1"}},
        concurrency=1,  # engines; Ray places them on the cluster's GPUs
        batch_size=64,
    )
    process = build_llm_processor(config, preprocess=ask, postprocess=read)
    process(ray.data.read_json(source)).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
