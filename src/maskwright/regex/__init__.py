"""Regular expressions and JSON strings as lexemes: pattern text in, `maskwright.lexeme.Lexeme` out."""

from .compile import compile_regex, plain_lengths
from .ecma import check_ecma
from .encoding import (
    JSON_ANY_SPELLING,
    JSON_CANONICAL,
    JSON_STRING,
    JSON_STRING_CANONICAL,
    UTF8,
    Encoding,
    json_string,
    string_of_length,
)

__all__ = [
    "JSON_ANY_SPELLING",
    "JSON_CANONICAL",
    "JSON_STRING",
    "JSON_STRING_CANONICAL",
    "UTF8",
    "Encoding",
    "check_ecma",
    "compile_regex",
    "json_string",
    "plain_lengths",
    "string_of_length",
]
