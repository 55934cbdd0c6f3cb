"""The whole loop with a real model, using only maskwright's public names and llama-cpp-python.

Run it in the environment that `make demo` made:  .venv/bin/python examples/quickstart.py
"""

from __future__ import annotations

import llama_cpp
import numpy as np

import maskwright
from maskwright.cli.models import find_default_model

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 20},
        "country": {"enum": ["France", "Japan", "Peru"]},
        "visits": {"type": "integer", "minimum": 1, "maximum": 99},
    },
    "required": ["city", "country", "visits"],
    "additionalProperties": False,
}

path = find_default_model()
assert path is not None, "run `make demo` first: it installs the model"
model = llama_cpp.Llama(str(path), n_ctx=1024, verbose=False)

# Once per model, and once per schema:
info = maskwright.TokenizerInfo.from_llama_cpp(model)
compiled = maskwright.GrammarCompiler(info).compile_json_schema(SCHEMA)

# Once per request:
matcher = maskwright.GrammarMatcher(compiled)
bitmask = maskwright.allocate_token_bitmask(1, info.vocab_size)
prompt = "<|im_start|>user\nA trip to Paris, as JSON.<|im_end|>\n<|im_start|>assistant\n"
model.eval(model.tokenize(prompt.encode(), add_bos=False, special=True))

# Once per token:
answer = b""
while True:
    logits = np.ctypeslib.as_array(
        llama_cpp.llama_get_logits_ith(model.ctx, -1), shape=(1, model.n_vocab())
    ).copy()
    matcher.fill_next_token_bitmask(bitmask)  # which tokens are legal now
    maskwright.apply_token_bitmask_inplace(logits, bitmask)  # the others get -inf
    token = int(logits.argmax())  # any sampler will do
    matcher.accept_token(token)
    if matcher.is_terminated():  # that was a stop token, which is legal only after a complete answer
        break
    answer += info.decoded_vocab[token]
    model.eval([token])

print(answer.decode())
