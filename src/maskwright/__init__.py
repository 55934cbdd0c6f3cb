"""maskwright: exact constrained decoding of language models."""
