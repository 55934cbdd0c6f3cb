# A grammar made ready for a vocabulary: network, automaton and where bitmask rows lie in memory.
#
# Shared by all matchers of the grammar, on all threads. The one thing that changes is the automaton:
# it grows under the table's lock, and is replaced by an empty one (a new generation) when it is full.
#
# Lazy rules are expanded here, by front-end code in Python, while no lock is held.

from cpython.buffer cimport (
    PyBUF_FORMAT,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)

from ..errors import BitmaskError, GrammarError, LimitExceeded
from .lowering cimport Fragment, lower
from .nodes cimport CODE_EXPAND, CODE_FULL

# Lexeme nodes that one grammar may make. The table is shared, so a pattern whose states explode must not be
# able to fill it for the others.
MAX_GRAMMAR_NODES = 1_000_000
# Rules of a grammar that are expanded at once for a vocabulary that lacks bytes.
MAX_PRUNED_RULES = 20_000
# Light rules that are expanded with the root, those nearest to it first, and how many rules are looked at for them.
# Reached one by one, each costs a mask several times as much; more of them would make first masks slow.
cdef int MOST_LIGHT = 16
cdef int MOST_LOOKED_AT = 64
# Rules whose bodies are made that are expanded with one that calls them.
cdef int MOST_AHEAD = 12


class Renew(Exception):
    """The automaton is full; the matcher must move to a new generation. Never reaches a caller."""


cdef class CompiledCore:
    """A root rule, a vocabulary, and the automaton between them.

    Args:
        vocabulary: The token trie.
        table: Lexeme table; shared by all grammars of a compiler.
        masks: Mask builder for the same vocabulary and table.
        root: Rule of the whole output.
        guards_checked: As for `maskwright.Grammar`.
        refused_token_ids: Ids that the rules name and that no output can hold: those beyond the
            vocabulary, and those that end the output.
        max_bytes: Memory of one generation of the automaton.
    """

    def __init__(
        self,
        TokenTrie vocabulary,
        LexemeTable table,
        MaskBuilder masks,
        root,
        bint guards_checked,
        frozenset refused_token_ids,
        size_t max_bytes,
    ):
        self.vocabulary = vocabulary
        self.table = table
        self.masks = masks
        self.network = Network(table, root, guards_checked, refused_token_ids)
        self.automaton = Automaton(self.network, max_bytes)
        self.shortest = Shortest(masks.summaries.distances, self.network)
        self.max_bytes = max_bytes
        self.nodes_left = MAX_GRAMMAR_NODES
        self.check_live = not vocabulary.byte_complete
        self.expand(self.network.root)
        self._expand_light()
        if not vocabulary.spells_utf8 or refused_token_ids:
            self._prune()

    cdef void enter(self) noexcept nogil:
        """Take the table's lock for a slow step on this grammar's account."""
        self.table.lock.lock()
        self.nodes_at_entry = self.table.nodes.size()
        self.table.max_nodes = <int32_t>(self.nodes_at_entry + self.nodes_left)

    cdef void leave(self) noexcept nogil:
        """Charge what the step has made, and give the lock back."""
        self.nodes_left -= <int64_t>(self.table.nodes.size() - self.nodes_at_entry)
        self.table.lock.unlock()

    cdef int _expand_light(self) except -1:
        cdef int32_t rule_id = 0
        cdef int n_expanded = 0
        while rule_id < min(<int32_t>len(self.network.rules), MOST_LOOKED_AT) and n_expanded < MOST_LIGHT:
            if not self.network.is_expanded(rule_id) and self.network.rules[rule_id].is_light:
                self.expand(rule_id)
                n_expanded += 1
            rule_id += 1
        return 0

    def _prune(self) -> None:
        """Cut what this vocabulary cannot spell out of the network, which takes all of its rules."""
        rule_id = 0
        while rule_id < len(self.network.rules):
            if rule_id > MAX_PRUNED_RULES:
                raise LimitExceeded(
                    "the grammar is too large for a vocabulary that lacks bytes or named tokens",
                    resource="rules",
                    limit=MAX_PRUNED_RULES,
                    hint="use the model's full vocabulary: it has a token for every byte",
                )
            self.expand(rule_id)
            rule_id += 1
        if not self.network.prune():
            raise GrammarError(
                "no output can be completed with the tokens of this vocabulary",
                hint="the grammar needs bytes that no token holds, or tokens that cannot be in an output",
            )

    def expand(self, int32_t rule_id) -> None:
        """Give a rule its nodes, and the rules that it begins with. Runs front-end code; holds no lock while
        it does.

        Whatever predicts a rule predicts those too, and a slow step that misses a rule is made again from its
        start: with a rule per optional property, one by one would take the square of their number. So are some of the
        rules that it calls later, if they only have to be put into the network.
        """
        cdef Fragment fragment
        cdef int n_ahead = 0
        todo = [rule_id]
        while todo:
            rule_id = todo.pop()
            if self.network.is_expanded(rule_id):
                continue
            fragment = lower(self.network.rules[rule_id])
            with nogil:
                self.enter()
            try:
                if not self.network.is_expanded(rule_id):
                    self.network.install(rule_id, fragment)
            finally:
                self.leave()
            todo.extend([self.network.rule_id(rule) for rule in fragment.first_calls()])
            for rule in fragment.calls() if n_ahead < MOST_AHEAD else ():
                rule_id = self.network.rule_id(rule)
                if n_ahead < MOST_AHEAD and not rule.is_lazy and not self.network.is_expanded(rule_id):
                    todo.append(rule_id)
                    n_ahead += 1

    @property
    def is_worn(self) -> bool:
        """Whether so little is left of the lexeme nodes it may make that matchers to come should have another one."""
        return self.nodes_left < MAX_GRAMMAR_NODES // 2

    def prepare(self, long long max_rules) -> bool:
        """Expand rules, those nearest to the root first, until all or `max_rules` have been; whether it is all."""
        while self.n_prepared < <int64_t>len(self.network.rules) and self.n_prepared < max_rules:
            self.expand(<int32_t>self.n_prepared)
            self.n_prepared += 1
        return self.n_prepared == <int64_t>len(self.network.rules)

    def renew(self, Automaton old) -> bool:
        """Start a new generation, unless another matcher already did.

        Returns:
            Whether the generation is new.
        """
        with nogil:
            self.table.lock.lock()
        try:
            if self.automaton is not old:
                return False
            self.automaton = Automaton(self.network, self.max_bytes)
            return True
        finally:
            self.table.lock.unlock()

    cdef int resolve(self, Automaton automaton, int error, int32_t pending) except -1:
        """What to do about a slow step that failed; returns if it should be made again."""
        if error == CODE_EXPAND:
            self.expand(pending)
            return 0
        if error == CODE_FULL:
            raise Renew
        raise LimitExceeded(
            "this grammar needs too many states here",
            resource="lexeme or automaton states",
            limit=MAX_GRAMMAR_NODES,
            hint="simplify it: deep ambiguity and large counted choices under look-ahead multiply states",
        )

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held for this grammar alone; lexemes and summaries are shared and not counted."""
        return self.automaton.memory_size_bytes + self.network.memory_size_bytes

    @property
    def n_states(self) -> int:
        """Automaton states of the current generation."""
        return self.automaton.n_states

    cdef int32_t* row(self, bitmask, int32_t index, int32_t* n_words) except NULL:
        """Address of one row of a bitmask, and its width. Checks type, shape and index."""
        cdef Py_buffer view
        cdef int32_t rows, words
        cdef char* base
        cdef Py_ssize_t stride
        if bitmask is self.seen_tensor:
            rows = self.seen_rows
            words = self.seen_words
            base = <char*><size_t>bitmask.data_ptr()
            stride = 4 * words
        elif PyObject_CheckBuffer(bitmask):
            try:
                PyObject_GetBuffer(bitmask, &view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE)
            except (ValueError, BufferError) as error:
                raise BitmaskError(f"the bitmask cannot be written: {error}") from None
            try:
                rows, words, stride = self._checked_layout(&view)
                base = <char*>view.buf
            finally:
                PyBuffer_Release(&view)
        else:
            rows, words = self._checked_tensor(bitmask)
            base = <char*><size_t>bitmask.data_ptr()
            stride = 4 * words
            self.seen_tensor = bitmask
            self.seen_rows = rows
            self.seen_words = words
        if index < 0 or index >= rows:
            raise BitmaskError(f"row {index} is not one of the bitmask's {rows}")
        if words < self.masks.n_words:
            raise BitmaskError(
                f"a row of {words} words is too narrow for {self.vocabulary.vocab_size} tokens",
                hint=f"allocate_token_bitmask makes rows of {self.masks.n_words} words",
            )
        n_words[0] = words
        return <int32_t*>(base + index * stride)

    cdef tuple _checked_layout(self, Py_buffer* view):
        kind = (<bytes>view.format).decode() if view.format != NULL else "B"
        if view.itemsize != 4 or kind.lstrip("@=<") not in ("i", "l"):
            raise BitmaskError(f"a bitmask holds int32, not {kind!r}", hint="use allocate_token_bitmask")
        if view.ndim == 1:
            if view.strides[0] != 4:
                raise BitmaskError("the words of a bitmask must be contiguous")
            return 1, view.shape[0], 4 * view.shape[0]
        if view.ndim != 2:
            raise BitmaskError(f"a bitmask has 1 or 2 dimensions, not {view.ndim}")
        if view.shape[1] > 1 and view.strides[1] != 4:
            raise BitmaskError("the words of a bitmask row must be contiguous")
        return view.shape[0], view.shape[1], view.strides[0]

    def _checked_tensor(self, bitmask):
        if not hasattr(bitmask, "data_ptr"):
            raise BitmaskError(
                f"a bitmask is a numpy array or a torch tensor, not {type(bitmask).__name__}"
            )
        if str(bitmask.dtype) != "torch.int32":
            raise BitmaskError(f"a bitmask holds int32, not {bitmask.dtype}")
        if bitmask.device.type != "cpu":
            raise BitmaskError(
                f"masks are filled on the CPU, not on {bitmask.device}", hint="fill, then copy to the device"
            )
        if bitmask.dim() not in (1, 2) or not bitmask.is_contiguous():
            raise BitmaskError("a bitmask is contiguous with 1 or 2 dimensions")
        return (1, bitmask.shape[0]) if bitmask.dim() == 1 else (bitmask.shape[0], bitmask.shape[1])
