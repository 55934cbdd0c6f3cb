"""`GrammarCompiler` and `CompiledGrammar` with XGrammar's signatures."""

from __future__ import annotations

import json
from typing import Any

import maskwright
from maskwright import errors

from . import _serialization
from .exception import (
    DeserializeFormatError,
    GrammarError,
    MaskwrightError,
    UnsupportedError,
    as_runtime_error,
    raises_runtime_errors,
)
from .grammar import Grammar, from_source, plain_schema, schema_options

__all__ = ["CompiledGrammar", "GrammarCompiler"]


class CompiledGrammar(maskwright.CompiledGrammar):
    """A grammar made ready for one vocabulary; see `maskwright.CompiledGrammar`."""

    grammar: Grammar  # type: ignore[misc]  # narrower than the base's, and as final

    @classmethod
    def _adopt(cls, compiled: maskwright.CompiledGrammar) -> CompiledGrammar:
        """The same compiled grammar as this class; its automaton and masks are shared."""
        if isinstance(compiled, cls):
            return compiled
        twin = cls.__new__(cls)
        twin.__dict__.update(compiled.__dict__)
        twin.__dict__["grammar"] = Grammar._of(compiled.grammar)
        return twin

    def serialize_json(self) -> str:
        """JSON text for `deserialize_json`: the grammar and the metadata of the vocabulary, not its tokens.

        Raises:
            GrammarError: The grammar was not made from text.
        """
        body = {
            "grammar": self.grammar._source_dict(),
            "tokenizer_metadata": json.loads(self.tokenizer_info.dump_metadata()),
            "vocabulary": self.tokenizer_info.fingerprint,
        }
        return _serialization.dump("CompiledGrammar", body)

    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: maskwright.TokenizerInfo) -> CompiledGrammar:
        """The grammar that `serialize_json` wrote, compiled again.

        Raises:
            InvalidJSONError: Not JSON.
            DeserializeVersionError: Of another version.
            DeserializeFormatError: Damaged, or written for another vocabulary.
        """
        body = _serialization.parse("CompiledGrammar", json_str)
        if body.get("vocabulary") != tokenizer_info.fingerprint:
            raise DeserializeFormatError(
                "the grammar was compiled for another vocabulary",
                hint="pass the vocabulary it was compiled for",
            )
        return GrammarCompiler(tokenizer_info).compile_grammar(from_source(body.get("grammar")))


class GrammarCompiler(maskwright.GrammarCompiler):
    """Compiles grammars for one vocabulary and remembers them; see `maskwright.GrammarCompiler`.

    Args:
        tokenizer_info: The vocabulary.
        max_threads: Has no effect: compiling is short and lazy.
        cache_enabled: Whether equal requests share what is compiled.
        cache_limit_bytes: Memory for remembered grammars, in bytes; -1, the default as in XGrammar, for no
            limit. A server that compiles its clients' schemas should set one.
        enable_dynamic_compilation: Has no effect: compiling is always lazy.

    Raises:
        MaskwrightError: `tokenizer_info` is not a `TokenizerInfo`, or the limit is below -1.
    """

    def __init__(
        self,
        tokenizer_info: maskwright.TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        enable_dynamic_compilation: bool = False,
    ) -> None:
        if not isinstance(tokenizer_info, maskwright.TokenizerInfo):
            raise MaskwrightError(
                f"a compiler needs a TokenizerInfo, not a {type(tokenizer_info).__name__}",
                hint="TokenizerInfo.from_huggingface(tokenizer) makes one",
            )
        if cache_limit_bytes < -1:
            raise MaskwrightError(f"cache_limit_bytes is {cache_limit_bytes}", hint="-1 means no limit")
        super().__init__(tokenizer_info, cache_enabled=cache_enabled, cache_limit_bytes=cache_limit_bytes)

    def compile_json_schema(  # type: ignore[override]  # what XGrammar does not have is not passed through
        self,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
    ) -> CompiledGrammar:
        """Compile a JSON Schema; arguments and errors as for `Grammar.from_json_schema`."""
        try:
            options = schema_options(
                any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order
            )
            # A type has no text; as a dict it can be remembered and serialized.
            args = (plain_schema(schema),)
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from None
        return self._adopted("compile_json_schema", args, options, Grammar.from_json_schema)

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Compile the grammar of any JSON object or array."""
        return self._adopted("compile_builtin_json_grammar", (), {}, Grammar.builtin_json_grammar)

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compile a regular expression; errors as for `Grammar.from_regex`."""
        return self._adopted("compile_regex", (regex,), {}, Grammar.from_regex)

    @raises_runtime_errors
    def compile_grammar(
        self, grammar: str | maskwright.Grammar, *, root_rule_name: str = "root"
    ) -> CompiledGrammar:
        """Compile a `Grammar`, or EBNF text.

        Raises:
            GrammarSyntaxError: The text does not parse.
            GrammarError: Neither a string nor a grammar.
        """
        if isinstance(grammar, maskwright.Grammar):
            return CompiledGrammar._adopt(super().compile_grammar(grammar))
        if not isinstance(grammar, str):
            raise GrammarError(f"a grammar is EBNF text or a Grammar, not a {type(grammar).__name__}")
        options = {"root_rule_name": root_rule_name}
        return self._adopted("compile_grammar", (grammar,), options, Grammar.from_ebnf)

    def compile_lark(
        self, lark_string: str, *, named_grammars: dict[str, Any] | None = None
    ) -> CompiledGrammar:
        """Refused: maskwright does not read Lark.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("Lark grammars are not supported", hint="write the grammar as EBNF")

    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar:
        """Refused: maskwright has no structural tags.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "structural tags are not supported", hint="concatenate and unite grammars for the same text"
        )

    @raises_runtime_errors
    def _adopted(
        self, method: str, args: tuple[Any, ...], options: dict[str, Any], build: Any
    ) -> CompiledGrammar:
        return CompiledGrammar._adopt(self._compile(method, args, options, build))
