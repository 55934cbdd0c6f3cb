"""Five schemas, one small model, five answers that fit. Run by `make demo`.

SmolLM2-135M is small enough to be wrong about nearly everything; that its answers have the right form
all the same is the point. Each answer is checked by a validator that knows nothing of maskwright.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema_rs

from maskwright import GrammarCompiler
from maskwright.cli.models import Model, load_model
from maskwright.cli.sampling import Sampler, Statistics, generate_text
from maskwright.prompt import describe

HERE = Path(__file__).parent
SEED = 1
TEMPERATURE = 0.05
MAX_TOKENS = 400


def answer(model: Model, compiler: GrammarCompiler, schema: object, prompt: str) -> tuple[str, Statistics]:
    """Print an answer as it comes; return it with what it cost."""
    compiled = compiler.compile_json_schema(schema)
    message = f"{prompt}\n\nAnswer with JSON only, one value of this form:\n{describe(schema)}"
    statistics = Statistics()
    sampler = Sampler(temperature=TEMPERATURE, seed=SEED)
    text = ""
    for piece in generate_text(
        model,
        compiled,
        model.encode_chat(message),
        sampler=sampler,
        max_tokens=MAX_TOKENS,
        statistics=statistics,
    ):
        print(piece, end="", flush=True)
        text += piece
    print()
    return text, statistics


def main() -> int:
    model = load_model(None)
    compiler = GrammarCompiler(model.info)
    prompts = json.loads((HERE / "prompts.json").read_text())
    n_valid = 0
    for name, prompt in prompts.items():
        schema = json.loads((HERE / "schemas" / f"{name}.json").read_text())
        print(f"\n== {name}: {prompt}")
        text, statistics = answer(model, compiler, schema, prompt)
        valid = statistics.finished and jsonschema_rs.validator_for(schema).is_valid(json.loads(text))
        n_valid += valid
        print(f"   {'valid' if valid else 'NOT VALID'} (jsonschema-rs); {statistics.summary()}")
    print(f"\n{n_valid} of {len(prompts)} answers fit their schemas")
    return 0 if n_valid == len(prompts) else 1


if __name__ == "__main__":
    sys.exit(main())
