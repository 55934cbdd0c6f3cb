"""Grammar text (EBNF, GBNF) to rules, and rules back to EBNF text.

The pipeline reads as a list of passes: `scanner` (text to tokens), `parser` (tokens to rules),
`prune` (rules that can never finish go away), `fuse` (regular parts become single lexemes).
`printer` goes the other way. `ebnf` and `gbnf` are the doors for one dialect each.
"""
