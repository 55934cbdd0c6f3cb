"""Grammar x vocabulary -> `CompiledGrammar`, with a bounded cache.

Compiling does little: the vocabulary's trie is made once, the root rule is lowered, and everything
else happens when generation first needs it. What grammars have in common (lexemes, and the summaries of
their states) lives in one `_Engine` per vocabulary, which is replaced by an empty one when it has
grown too large; grammars compiled before keep the engine that they were compiled with.
"""

from __future__ import annotations

import functools
import json
import marshal
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .cache import GrammarCache
from .errors import GrammarError
from .grammar import Grammar
from .kernel.compiled import CompiledCore
from .kernel.lexemes import LexemeTable
from .kernel.masks import MaskBuilder
from .kernel.matcher import MatcherCore
from .kernel.trie import TokenTrie
from .vocabulary import TokenizerInfo

__all__ = ["CompiledGrammar", "GrammarCompiler"]

#: Default limit of the cache of compiled grammars. Unbounded caches let one client fill a server.
CACHE_LIMIT_BYTES: Final = 512 << 20
#: Memory of one grammar's automaton before it starts a new generation.
AUTOMATON_LIMIT_BYTES: Final = 256 << 20
#: Memory of lexemes and summaries, and lexeme nodes, before an engine is replaced.
ENGINE_LIMIT_BYTES: Final = 1 << 30
ENGINE_LIMIT_NODES: Final = 4_000_000
#: Grammars after which it is looked whether an engine is that large.
ENGINE_LOOKED_AT_EVERY: Final = 8
#: Sets of stop tokens, beside the vocabulary's, for which one grammar keeps an automaton.
OTHER_CORES: Final = 8


#: Vocabularies with fewer tokens are not warmed up: walking them takes no time.
WARM_FROM_TOKENS: Final = 4096

#: A text of each format, but for the international ones, which take longer.
_WARM_FORMATS: Final = {
    "date-time": "2024-02-29T23:59:59.5Z",
    "date": "2024-02-29",
    "time": "23:59:59Z",
    "email": "a@b.example",
    "uri": "https://b.example/c",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "hostname": "b.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri-reference": "/a?b#c",
    "duration": "P1DT2H",
    "json-pointer": "/a/b",
    "regex": "^(a[b-d]+|.)$",
}
_WARM_TEXT: Final = json.dumps(
    {
        "text": "a\n",
        "bounded": "xy",
        "short": "abc",
        "number": -1.5,
        "list": [1, 2],
        "choice": "red",
        "maybe": None,
        "formats": list(_WARM_FORMATS.values()),
        "more": {"open": [True, None]},
    }
)
_WARM_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "any text"},
        "bounded": {"type": "string", "minLength": 2, "maxLength": 100_000},
        "short": {"type": "string", "minLength": 1, "maxLength": 3},
        "number": {"type": "number"},
        "list": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 9},
        "choice": {"enum": ["red", "green"]},
        "maybe": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/part"}]},
        "formats": {
            "type": "array",
            "prefixItems": [{"type": "string", "format": name} for name in _WARM_FORMATS],
        },
    },
    "required": ["text", "bounded", "short", "number", "list", "choice", "maybe", "formats"],
    "$defs": {
        "part": {"type": "object", "properties": {"id": {"type": "string", "pattern": "^[a-z]{1,8}$"}}}
    },
}


class Source(NamedTuple):
    """The call that compiled a grammar."""

    method: str
    args: Sequence[Any]
    options: dict[str, Any]


class _Engine:
    """What all grammars of one vocabulary share.

    Args:
        info: The vocabulary.
        left_out: Text tokens that are not to be used.
        trie: The trie of the others, if there is one already.
    """

    def __init__(
        self, info: TokenizerInfo, left_out: frozenset[int] = frozenset(), trie: TokenTrie | None = None
    ) -> None:
        self.trie = trie or TokenTrie(info._token_table(left_out), info.vocab_size)
        self.table = LexemeTable(self.trie.alphabet)
        self.masks = MaskBuilder(self.trie, self.table)

        self._warm_lock = threading.Lock()
        self._warm = info.vocab_size < WARM_FROM_TOKENS

    @property
    def memory_size_bytes(self) -> int:
        return int(self.table.memory_size_bytes + self.masks.memory_size_bytes)

    @property
    def is_worn(self) -> bool:
        """Whether grammars compiled from now on should get a new engine."""
        return self.memory_size_bytes > ENGINE_LIMIT_BYTES or self.table.n_nodes > ENGINE_LIMIT_NODES

    def warm_up(self, compiler: GrammarCompiler) -> None:
        """Make the summaries that nearly every JSON Schema needs, once per vocabulary.

        They belong to the vocabulary, so their cost (some 80 ms for 128,000 tokens) is part of setting it up
        and not of the first request. A short document is followed under two schemas; what that visits is
        what stays.
        """
        with self._warm_lock:
            if self._warm:
                return
            self._warm = True
            row = np.zeros(-(-self.trie.vocab_size // 32), dtype=np.int32)
            for any_whitespace in (True, False):
                grammar = Grammar.from_json_schema(
                    _WARM_SCHEMA, strict_mode=False, any_whitespace=any_whitespace
                )
                compiled = CompiledGrammar(
                    grammar, compiler.tokenizer_info, self, AUTOMATON_LIMIT_BYTES, None
                )
                matcher = MatcherCore(compiled._core, [], True)
                for character in _WARM_TEXT:
                    matcher.fill_next_token_bitmask(row)
                    if not matcher.accept_string(character):
                        break


_engines: weakref.WeakValueDictionary[tuple[str, frozenset[int]], _Engine] = weakref.WeakValueDictionary()
_engines_lock = threading.Lock()


def _engine_for(info: TokenizerInfo, left_out: frozenset[int] = frozenset()) -> _Engine:
    """The current engine of a vocabulary without some of its tokens; equal vocabularies share one."""
    key = (info.fingerprint, left_out)
    with _engines_lock:
        engine = _engines.get(key)
        if engine is None:
            engine = _Engine(info, left_out)
        elif engine.is_worn:
            engine = _Engine(info, left_out, engine.trie)
        _engines[key] = engine
        return engine


class CompiledGrammar:
    """A grammar made ready for one vocabulary. Made by `GrammarCompiler`; immutable and shareable.

    Any number of matchers, on any number of threads, may use it at once: they share one automaton,
    so that what one request has visited is fast for all.
    """

    def __init__(
        self, grammar: Grammar, info: TokenizerInfo, engine: _Engine, limit_bytes: int, source: Source | None
    ) -> None:
        self.grammar: Final = grammar
        self.tokenizer_info: Final = info
        self._engine = engine
        self._limit_bytes: Final = limit_bytes
        self._named_token_ids: Final = grammar.named_token_ids()
        self._core = self._make_core(engine, self._refused(info.stop_token_ids))
        self._other_cores: OrderedDict[tuple[frozenset[int], frozenset[int]], CompiledCore] = OrderedDict()
        self._lock = threading.Lock()
        self._source = source

    def _make_core(self, engine: _Engine, refused: frozenset[int]) -> CompiledCore:
        return CompiledCore(
            engine.trie,
            engine.table,
            engine.masks,
            self.grammar.root,
            self.grammar.guards_checked,
            refused,
            self._limit_bytes,
        )

    def _refused(self, stop_token_ids: Iterable[int]) -> frozenset[int]:
        """What the grammar names and no output can hold."""
        if not self._named_token_ids:
            return frozenset()
        stops, size = set(stop_token_ids), self.tokenizer_info.vocab_size
        return frozenset(token for token in self._named_token_ids if token in stops or token >= size)

    def _usual_core(self) -> CompiledCore:
        """The automaton for matchers with the vocabulary's stop tokens.

        What one automaton may hold is bounded (see docs/design/013), and outputs that are never the same
        again, as arrays of unique items are, use that up in the end. Then matchers to come get a new one;
        those that are on their way keep the old one.
        """
        if self._core.is_worn:
            with self._lock:
                if self._core.is_worn:
                    if self._engine.is_worn:
                        self._engine = _engine_for(self.tokenizer_info)
                    refused = self._refused(self.tokenizer_info.stop_token_ids)
                    self._core = self._make_core(self._engine, refused)
        return self._core

    def _core_for(self, stop_token_ids: Sequence[int]) -> CompiledCore:
        """The automaton for matchers with stop tokens of their own.

        It is the usual one unless they take something away that completes outputs: text that only they can
        spell, or a token that the grammar names. Each such set has an automaton of its own, and where
        text is missing summaries of its own, so only the last few are kept.
        """
        refused = self._refused(stop_token_ids)
        left_out = self._missed_texts(stop_token_ids)
        if not left_out and refused == self._refused(self.tokenizer_info.stop_token_ids):
            return self._usual_core()
        key = (left_out, refused)
        with self._lock:
            core = self._other_cores.get(key)
            if core is None or core.is_worn:
                engine = _engine_for(self.tokenizer_info, left_out) if left_out else self._engine
                core = self._other_cores[key] = self._make_core(engine, refused)
                while len(self._other_cores) > OTHER_CORES:
                    self._other_cores.popitem(last=False)
            self._other_cores.move_to_end(key)
            return core

    def _missed_texts(self, stop_token_ids: Iterable[int]) -> frozenset[int]:
        """The stop tokens that are text, if the other tokens cannot spell all that they can."""
        trie = self._engine.trie
        texts = {token: trie.token_bytes(token) for token in stop_token_ids}
        apart = frozenset(token for token, text in texts.items() if text is not None)
        if not trie.byte_complete:
            return apart
        for text in texts.values():
            if text is not None and len(text) == 1:
                twins = self.tokenizer_info.find_tokens(text)
                if all(twin in apart or trie.token_bytes(twin) is None for twin in twins):
                    return apart
        return frozenset()

    def prepare(self, max_rules: int = 1000) -> bool:
        """Lower the grammar's rules now, nearest to the root first, and not when generation comes there.

        Compiling lowers the root alone. For who compiles beside the decoding loop (in a thread pool, while a
        prompt is processed) this takes the front-end's work out of it, where it makes most of the slow masks.

        Args:
            max_rules: How many rules to lower at most; a grammar may have any number.

        Returns:
            Whether all rules are lowered.

        Raises:
            GrammarError: What lowering a rule raises, as generation would there. The grammar stays usable.
        """
        return self._core.prepare(max_rules)

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held for this grammar alone so far. It grows with what is visited, up to a limit."""
        size = int(self._core.memory_size_bytes)
        for core in tuple(self._other_cores.values()):
            size += int(core.memory_size_bytes)
        return size

    @functools.cached_property
    def min_tokens(self) -> int | None:
        """Tokens that suffice for a whole output, a stop token included: the least `max_tokens` of a matcher.

        It is the fewest that spell a shortest output in bytes. None if no output in tokens is known.
        """
        return MatcherCore(self._core, self.tokenizer_info.stop_token_ids, False).tokens_to_finish()

    @property
    def report(self) -> Any:
        """What of a JSON Schema is enforced, as `maskwright.schema.report.Report`; None for others."""
        return self.grammar.report

    def serialize(self) -> str:
        """Text from which `deserialize` makes an equal object in another process.

        It holds the grammar's source and the fingerprint of the vocabulary, not the automaton: compiling
        again takes less time than reading one back.

        Raises:
            GrammarError: The grammar was made from rules that no source text describes.
        """
        if self._source is None:
            raise GrammarError(
                "only grammars compiled from text can be serialized",
                hint="compile with compile_json_schema, compile_regex or compile_grammar(text)",
            )
        try:
            # Key order is kept: it is the order in which properties are generated.
            return json.dumps(
                {"format": 1, "vocabulary": self.tokenizer_info.fingerprint, "source": self._source._asdict()}
            )
        except (TypeError, ValueError) as error:
            raise GrammarError(
                f"this grammar's source cannot be written as JSON: {error}",
                hint="compile from a dict or JSON text rather than from a class",
            ) from error

    @staticmethod
    def deserialize(text: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar:
        """The grammar that `serialize` wrote.

        Raises:
            GrammarError: The text is not such a grammar, or was written for another vocabulary.
        """
        try:
            body = json.loads(text)
            version, fingerprint, source = body["format"], body["vocabulary"], Source(**body["source"])
        except (ValueError, KeyError, TypeError) as error:
            raise GrammarError(f"this is no serialized grammar: {error}") from error
        if version != 1:
            raise GrammarError(f"serialized in format {version!r}; this version reads format 1")
        if fingerprint != tokenizer_info.fingerprint:
            raise GrammarError("serialized for another vocabulary")
        compiler = GrammarCompiler(tokenizer_info)
        compiled: CompiledGrammar = getattr(compiler, source.method)(*source.args, **source.options)
        return compiled

    def __repr__(self) -> str:
        return (
            f"<CompiledGrammar for {self.tokenizer_info.vocab_size} tokens, {self.memory_size_bytes} bytes>"
        )


class GrammarCompiler:
    """Compiles grammars for one vocabulary and remembers them. Safe to use from many threads.

    Args:
        tokenizer_info: The vocabulary.
        max_threads: Accepted for compatibility: compiling is short and lazy, so it uses no threads.
        cache_enabled: Whether equal requests get the same object back.
        cache_limit_bytes: Memory that remembered grammars may hold, in bytes; the least recently used go
            first. -1 for no limit.
        automaton_limit_bytes: Memory of one grammar's automaton, in bytes. When it is reached the automaton
            is dropped and rebuilt from what each matcher has accepted.

    Raises:
        TypeError: `tokenizer_info` is not a `TokenizerInfo`.

    >>> from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
    >>> info = TokenizerInfo(["a", "b", "ab", "</s>"])
    >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("(ab)+"))
    >>> [matcher.accept_token(token) for token in (2, 1, 0, 1, 3)]
    [True, False, True, True, True]
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = CACHE_LIMIT_BYTES,
        automaton_limit_bytes: int = AUTOMATON_LIMIT_BYTES,
    ) -> None:
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise TypeError(f"tokenizer_info is a TokenizerInfo, not {type(tokenizer_info).__name__}")
        if max_threads < 1 or cache_limit_bytes < -1 or automaton_limit_bytes < 1:
            raise ValueError("max_threads and the limits must be positive (cache_limit_bytes may be -1)")
        self.tokenizer_info: Final = tokenizer_info
        self.cache_limit_bytes: Final = cache_limit_bytes
        self._automaton_limit_bytes = automaton_limit_bytes
        self._cache: Final = GrammarCache(cache_limit_bytes) if cache_enabled else None
        self._engine = _engine_for(tokenizer_info)
        self._engine.warm_up(self)
        self._n_compiled = 0

    def compile_json_schema(self, schema: Any, **options: Any) -> CompiledGrammar:
        """Compile a JSON Schema.

        Args:
            schema: A dict, a bool, JSON text, a pydantic model, a dataclass or a TypedDict.
            **options: As for `Grammar.from_json_schema`.

        Raises:
            SchemaError: The schema is malformed, unsatisfiable, or holds what cannot be enforced.
        """
        return self._compile("compile_json_schema", (schema,), options, Grammar.from_json_schema)

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Compile the grammar of any JSON object or array."""
        return self._compile("compile_builtin_json_grammar", (), {}, Grammar.builtin_json_grammar)

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compile an ECMA-262 regular expression; the whole output must match.

        Raises:
            RegexError: It is malformed or not regular.
        """
        return self._compile("compile_regex", (regex,), {}, Grammar.from_regex)

    def compile_grammar(self, grammar: str | Grammar, *, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or EBNF text.

        Raises:
            GrammarSyntaxError: The text does not parse.
            TypeError: Neither a string nor a grammar.
        """
        if isinstance(grammar, Grammar):
            return CompiledGrammar(
                grammar, self.tokenizer_info, self._current_engine(), self._automaton_limit_bytes, None
            )
        if not isinstance(grammar, str):
            raise TypeError(f"a grammar is EBNF text or a Grammar, not {type(grammar).__name__}")
        options = {"root_rule_name": root_rule_name}
        return self._compile("compile_grammar", (grammar,), options, Grammar.from_ebnf)

    def clear_cache(self) -> None:
        """Forget all compiled grammars. Those in use stay valid."""
        if self._cache is not None:
            self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """Bytes held by remembered grammars."""
        return 0 if self._cache is None else self._cache.memory_size_bytes

    def _current_engine(self) -> _Engine:
        self._n_compiled += 1
        if self._n_compiled % ENGINE_LOOKED_AT_EVERY == 0 and self._engine.is_worn:
            self._engine = _engine_for(self.tokenizer_info)
            self._engine.warm_up(self)
        return self._engine

    def _compile(
        self, method: str, args: tuple[Any, ...], options: dict[str, Any], build: Callable[..., Grammar]
    ) -> CompiledGrammar:
        source = Source(method, args, options)
        key = _cache_key(source) if self._cache is not None else None
        if self._cache is not None and key is not None:
            found = self._cache.get(key)
            if found is not None:
                return found
        compiled = CompiledGrammar(
            build(*args, **options),
            self.tokenizer_info,
            self._current_engine(),
            self._automaton_limit_bytes,
            source,
        )
        if self._cache is not None and key is not None:
            self._cache.put(key, compiled)
        return compiled


def _cache_key(source: Source) -> Hashable:
    """What equal requests have in common; None if that cannot be told.

    Marshalling a large schema takes a tenth of the time of writing it as JSON. Version 2 has no references
    between objects, so equal values give equal bytes.
    """
    try:
        # Whether the values can be marshalled is what is being tried.
        return source.method, marshal.dumps((source.args, source.options), 2)  # type: ignore[arg-type]
    except ValueError:
        pass
    # A class (a pydantic model, a dataclass) is its own key.
    key = (source.method, source.args, tuple(source.options.items()))
    try:
        hash(key)
    except TypeError:
        return None
    return key
