# Matcher: where one output stands in its grammar, and what may come next.
#
# What it does. A matcher is a pointer to an automaton state and the list of states it came from, so
# rollback pops and fork copies. The fast paths (known transition, known mask) read published states
# without a lock and without leaving the GIL; the slow paths release the GIL, take the table's lock
# and, if a lazy rule must be expanded, let go of both, call Python, and try again.
#
# The lock is never waited for while the GIL is held, and the GIL never while the lock is held by a
# thread that others wait for with the GIL: two threads cannot block each other.
#
# Generations. When the automaton is full, the compiled grammar starts an empty one. A matcher keeps its
# old generation alive until its next slow step, then replays its own tokens into the new one, the way
# RE2 resets its lazy DFA (Cox, 2010).

from cpython.buffer cimport (
    PyBUF_FORMAT,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from libc.string cimport memset

from time import monotonic

from ..errors import BitmaskError, GrammarError, LimitExceeded, MatcherError
from .automaton cimport Item
from .lexemes cimport CODE_EXPAND, CODE_FULL, NODE_EMPTY, OP_LITERAL
from .masks cimport write_mask
from .trie cimport Trie, trie_child

cdef extern from *:
    """
    #define MW_TARGET(state, byte) __atomic_load_n(&(state)->targets[(state)->classes[byte]], __ATOMIC_ACQUIRE)
    #define MW_POPCOUNT(word) __builtin_popcount(word)
    #define MW_MASK(state) __atomic_load_n(&(state)->mask, __ATOMIC_ACQUIRE)
    """
    int MW_POPCOUNT(uint32_t word) noexcept nogil
    State* MW_TARGET(State* state, uint8_t byte) noexcept nogil
    Mask* MW_MASK(State* state) noexcept nogil


# Rules of a grammar that are expanded at once for a vocabulary that lacks bytes.
MAX_PRUNED_RULES = 20_000


class Renew(Exception):
    """The automaton is full; the matcher must move to a new generation. Never leaves this module."""


cdef class CompiledCore:
    """A root rule, a vocabulary, and the automaton between them.

    Args:
        vocabulary: The token trie.
        table: Lexeme table; shared by all grammars of a compiler.
        masks: Mask builder for the same vocabulary and table.
        root: Rule of the whole output.
        guards_checked: As for `maskwright.Grammar`.
        lower: Function that turns a rule into a fragment of the network.
        max_bytes: Memory of one generation of the automaton.
    """

    def __init__(
        self,
        TokenTrie vocabulary,
        LexemeTable table,
        MaskBuilder masks,
        root,
        bint guards_checked,
        lower,
        size_t max_bytes,
    ):
        self.vocabulary = vocabulary
        self.table = table
        self.masks = masks
        self.network = Network(table, root, guards_checked)
        self.automaton = Automaton(self.network, max_bytes)
        self.lower = lower
        self.max_bytes = max_bytes
        self.check_live = not vocabulary.byte_complete
        self.expand(self.network.root)
        if not vocabulary.spells_utf8:
            self._prune()

    def _prune(self) -> None:
        """Cut what this vocabulary cannot spell out of the network, which takes all of its rules."""
        rule_id = 0
        while rule_id < len(self.network.rules):
            if rule_id > MAX_PRUNED_RULES:
                raise LimitExceeded(
                    "the grammar is too large for a vocabulary that lacks bytes",
                    resource="rules",
                    limit=MAX_PRUNED_RULES,
                    hint="use the model's full vocabulary: it has a token for every byte",
                )
            self.expand(rule_id)
            rule_id += 1
        if not self.network.prune():
            raise GrammarError(
                "no output can be completed with the tokens of this vocabulary",
                hint="the grammar needs bytes that no token holds",
            )

    def expand(self, int32_t rule_id) -> None:
        """Give a rule its nodes. Runs front-end code; holds no lock while it does."""
        if self.network.is_expanded(rule_id):
            return
        n_nodes, fragment = self.lower(self.network.rules[rule_id])
        with nogil:
            self.table.lock.lock()
        try:
            if not self.network.is_expanded(rule_id):
                self.network.install(rule_id, n_nodes, fragment)
        finally:
            self.table.lock.unlock()

    def renew(self, Automaton old) -> None:
        """Start a new generation, unless another matcher already did."""
        with nogil:
            self.table.lock.lock()
        try:
            if self.automaton is old:
                self.automaton = Automaton(self.network, self.max_bytes)
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
            limit=self.table.max_nodes,
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


cdef class MatcherCore:
    """Follows one output. See `maskwright.GrammarMatcher`, its public face."""

    def __init__(self, CompiledCore core, stop_token_ids, bint terminate_without_stop_token):
        cdef int32_t token
        self.core = core
        self.strings = []
        self.terminate_without_stop_token = terminate_without_stop_token
        self.is_stop.assign(core.vocabulary.vocab_size, 0)
        for token in stop_token_ids:
            if not 0 <= token < core.vocabulary.vocab_size:
                raise MatcherError(
                    f"stop token {token} is outside the vocabulary of {core.vocabulary.vocab_size} tokens"
                )
            self.stop_tokens.push_back(token)
            self.is_stop[token] = 1
        self.renewed_at = -1
        self.automaton = core.automaton
        try:
            self.state = self.start()
        except Renew:
            self.renew()

    # ---- moving between states -------------------------------------------------------------------

    cdef State* start(self) except NULL:
        cdef State* state
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        while True:
            with nogil:
                self.core.table.lock.lock()
                state = automaton.start_state()
                error = automaton.error
                pending = automaton.pending_rule
                self.core.table.lock.unlock()
            if state == automaton.dead:
                raise GrammarError(
                    "no output can be legal",
                    hint="the grammar is empty, or the vocabulary cannot spell what it requires",
                )
            if state != NULL:
                return self.checked_start(state)
            self.core.resolve(automaton, error, pending)

    cdef State* checked_start(self, State* state) except NULL:
        if self.core.check_live or self.core.network.fragile:
            if self.checked_live(state) == self.automaton.dead:
                raise GrammarError(
                    "no output can be completed with the tokens of this vocabulary",
                    hint="the grammar needs bytes that no token holds",
                )
        return state

    cdef State* step_byte(self, State* state, uint8_t byte) except NULL:
        """State after one byte, possibly the dead one. Raises `Renew` or a limit."""
        cdef State* target
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        if state == automaton.dead:
            return state
        target = MW_TARGET(state, byte)
        while target == NULL:
            with nogil:
                self.core.table.lock.lock()
                target = automaton.step(state, byte)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.table.lock.unlock()
            if target == NULL:
                self.core.resolve(automaton, error, pending)
        return target

    cdef State* step_bytes(self, State* state, const uint8_t* text, int64_t length) except NULL:
        cdef int64_t i
        cdef State* target
        cdef State* dead = self.automaton.dead
        for i in range(length):
            if state == dead:
                break
            target = MW_TARGET(state, text[i])
            state = target if target != NULL else self.step_byte(state, text[i])
        return state

    cdef State* after_token(self, State* state, int32_t token) except NULL:
        """State after one token, the dead one if it is illegal. Stop tokens are not looked at."""
        cdef TokenTrie vocabulary = self.core.vocabulary
        cdef Automaton automaton = self.automaton
        cdef State* after = automaton.dead
        cdef State* as_text
        cdef int error
        cdef int32_t pending
        if state == automaton.dead:
            return state
        if vocabulary.is_text[token] and not self.is_stop[token]:
            after = self.step_bytes(
                state, &vocabulary.flat[vocabulary.offsets[2 * token]], vocabulary.offsets[2 * token + 1]
            )
        if state.has_tokens and not self.is_stop[token]:
            as_text = after
            while True:
                with nogil:
                    self.core.table.lock.lock()
                    after = automaton.step_token(state, token, as_text)
                    error = automaton.error
                    pending = automaton.pending_rule
                    self.core.table.lock.unlock()
                if after != NULL:
                    break
                self.core.resolve(automaton, error, pending)
        if self.core.check_live or self.core.network.fragile:
            return self.checked_live(after)
        return after

    cdef State* checked_live(self, State* state) except NULL:
        """The state itself, or the dead one if no sequence of tokens completes it."""
        cdef int live = 0
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        if state == automaton.dead or state.accepting or state.live == 1:
            return state
        while True:
            with nogil:
                self.core.table.lock.lock()
                live = self.core.masks.token_live(automaton, state)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.table.lock.unlock()
            if live >= 0:
                return state if live else automaton.dead
            self.core.resolve(automaton, error, pending)

    cdef const Mask* mask_at(self, State* state) except NULL:
        cdef Mask* mask = MW_MASK(state)
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        while mask == NULL:
            with nogil:
                self.core.table.lock.lock()
                mask = self.core.masks.mask_of(automaton, state)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.table.lock.unlock()
            if mask == NULL:
                self.core.resolve(automaton, error, pending)
        return mask

    cdef int renew(self) except -1:
        """Move to an empty generation by replaying the history. On failure the matcher stays as it was.

        Raises:
            LimitExceeded: One generation cannot hold this output, or not the step that is being tried.
        """
        cdef Automaton old = self.automaton
        if self.renewed_at == <int64_t>self.history.size():
            # The step was tried in a generation that held nothing but this output's own states.
            self.renewed_at = -1
            raise self._too_large()
        self.core.renew(old)
        self.automaton = self.core.automaton
        try:
            self.replay()
        except Renew:
            self.automaton = old
            raise self._too_large() from None
        except BaseException:
            self.automaton = old
            raise
        self.renewed_at = <int64_t>self.history.size()
        return 0

    def _too_large(self):
        return LimitExceeded(
            "one output needs more automaton states than the memory limit allows",
            resource="automaton bytes",
            limit=self.core.max_bytes,
            hint="raise GrammarCompiler(automaton_limit_bytes=...)",
        )

    cdef int replay(self) except -1:
        """Walk the history in `self.automaton`; its states are taken over only when all are there."""
        cdef vector[State*] before
        cdef size_t i
        cdef State* state = self.start()
        cdef bytes text
        for i in range(self.history.size()):
            before.push_back(state)
            if self.history[i].token < 0:
                text = self.strings[-1 - self.history[i].token]
                state = self.step_bytes(state, <const uint8_t*>text, len(text))
            elif not self.is_stop[self.history[i].token]:
                state = self.after_token(state, self.history[i].token)
        for i in range(self.history.size()):
            self.history[i].before = before[i]
        self.state = state
        return 0

    # ---- accepting -------------------------------------------------------------------------------

    def accept_token(self, long long token_id, *, bint strict=False, bint debug_print=False) -> bool:
        """Advance by one token.

        Args:
            token_id: Any integer; ids outside the vocabulary are refused like any illegal token.
            strict: Raise instead of returning False.
            debug_print: Accepted for compatibility; has no effect.

        Returns:
            Whether the token was legal. If not, nothing has changed.

        Raises:
            MatcherError: The token is not legal (only if `strict`); nothing has changed.
            LimitExceeded: The grammar outgrew its memory; nothing has changed.
        """
        if self.take_token(token_id):
            return True
        if strict:
            raise MatcherError(self._why_not(token_id))
        return False

    def _why_not(self, long long token_id) -> str:
        if self.stopped:
            return f"token {token_id} comes after a stop token"
        if not 0 <= token_id < self.core.vocabulary.vocab_size:
            return (
                f"token {token_id} is outside the vocabulary of {self.core.vocabulary.vocab_size} tokens"
            )
        if self.is_stop[token_id]:
            return f"stop token {token_id} is not legal: the output is not complete"
        text = self.core.vocabulary.token_bytes(token_id)
        if text is None:
            return f"token {token_id} is a special token and never matches text"
        return f"token {token_id} ({text!r}) is not legal here"

    cdef bint take_token(self, int64_t token_id) except -1:
        cdef State* after
        cdef Step step
        if self.stopped or token_id < 0 or token_id >= self.core.vocabulary.vocab_size:
            return False
        step.before = self.state
        step.token = <int32_t>token_id
        step.stopped = False
        if self.is_stop[token_id]:
            if not self.state.accepting:
                return False
            self.stopped = True
            self.history.push_back(step)
            return True
        try:
            after = self.after_token(self.state, <int32_t>token_id)
        except Renew:
            self.renew()
            return self.take_token(token_id)
        if after == self.automaton.dead:
            return False
        self.history.push_back(step)
        self.state = after
        return True

    def accept_string(self, text, *, bint debug_print=False) -> bool:
        """Advance by a text, as one step of `rollback`.

        Args:
            text: str (taken as UTF-8) or bytes, of any length; need not end at a token boundary.

        Returns:
            Whether the whole text is legal here. If not, nothing has changed.
        """
        cdef bytes data
        if isinstance(text, str):
            data = text.encode()
        elif isinstance(text, (bytes, bytearray, memoryview)):
            data = bytes(text)
        else:
            raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
        cdef State* after
        cdef Step step
        if self.stopped:
            return False
        try:
            after = self.step_bytes(self.state, <const uint8_t*>data, len(data))
            if self.core.check_live or self.core.network.fragile:
                after = self.checked_live(after)
        except Renew:
            self.renew()
            return self.accept_string(data)
        if after == self.automaton.dead:
            return False
        self.strings.append(data)
        step.before = self.state
        step.token = -<int32_t>len(self.strings)
        step.stopped = False
        self.history.push_back(step)
        self.state = after
        return True

    def validate_tokens(self, token_ids) -> int:
        """How many of the tokens, from the first, would be accepted one after another.

        The matcher does not change. A stop token counts if it is legal there; nothing after it does.
        """
        cdef State* state
        cdef State* after
        cdef int32_t token
        cdef int n_accepted
        while True:
            state = self.state
            n_accepted = 0
            try:
                if self.stopped:
                    return 0
                for token_id in token_ids:
                    if not 0 <= token_id < self.core.vocabulary.vocab_size:
                        break
                    token = token_id
                    if self.is_stop[token]:
                        return n_accepted + (1 if state.accepting else 0)
                    after = self.after_token(state, token)
                    if after == self.automaton.dead:
                        break
                    state = after
                    n_accepted += 1
                return n_accepted
            except Renew:
                self.renew()

    # ---- masks -----------------------------------------------------------------------------------

    cdef bint write_row(self, State* state, int32_t* row, int32_t n_words) except -1:
        """Write a state's mask with stop tokens; returns whether any token is illegal."""
        cdef const Mask* mask = self.mask_at(state)
        cdef uint32_t* words = <uint32_t*>row
        cdef int32_t own = self.core.masks.n_words
        cdef size_t i
        write_mask(mask, words, own)
        if n_words > own:
            memset(words + own, 0, (n_words - own) * sizeof(uint32_t))
        for i in range(self.stop_tokens.size()):
            if state.accepting:
                words[self.stop_tokens[i] >> 5] |= <uint32_t>1 << (self.stop_tokens[i] & 31)
            else:
                words[self.stop_tokens[i] >> 5] &= ~(<uint32_t>1 << (self.stop_tokens[i] & 31))
        if mask.n_legal + <int64_t>self.stop_tokens.size() < self.core.vocabulary.vocab_size:
            return True
        return count_bits(words, own) < self.core.vocabulary.vocab_size

    def fill_next_token_bitmask(self, bitmask, int32_t index=0, *, bint debug_print=False) -> bool:
        """Write which tokens are legal next into one row of a bitmask.

        Args:
            bitmask: int32, shape (words,) or (rows, words), at least ceil(vocab_size / 32) words; a
                numpy array or a torch tensor on the CPU. Bit t of a row (least significant first) is
                1 if token t is legal. Bits beyond the vocabulary become 0.
            index: The row.
            debug_print: Accepted for compatibility; has no effect.

        Returns:
            Whether the mask must be applied, that is, whether some token is illegal.

        Raises:
            BitmaskError: Wrong type, dtype, device, shape or index.
            MatcherError: A stop token was accepted: nothing comes next.
        """
        cdef int32_t n_words = 0
        cdef int32_t* row
        if self.stopped:
            raise MatcherError("the output has ended", hint="check is_terminated() before filling a mask")
        row = self.core.row(bitmask, index, &n_words)
        try:
            return self.write_row(self.state, row, n_words)
        except Renew:
            self.renew()
            return self.write_row(self.state, row, n_words)

    # ---- history ---------------------------------------------------------------------------------

    def rollback(self, int num_tokens=1) -> None:
        """Undo the last steps (each accepted token or string is one), stop tokens included.

        Raises:
            MatcherError: Fewer steps were made.
        """
        cdef Step step
        if num_tokens < 0 or <size_t>num_tokens > self.history.size():
            raise MatcherError(f"cannot undo {num_tokens} of {self.history.size()} steps")
        for _ in range(num_tokens):
            step = self.history.back()
            self.history.pop_back()
            if step.token < 0:
                self.strings.pop()
            self.state = step.before
            self.stopped = step.stopped

    def reset(self) -> None:
        """Back to the start."""
        if not self.history.empty():
            self.state = self.history[0].before
        self.history.clear()
        self.strings.clear()
        self.stopped = False

    def _copy_into(self, MatcherCore other) -> None:
        other.core = self.core
        other.terminate_without_stop_token = self.terminate_without_stop_token
        other.stop_tokens = self.stop_tokens
        other.is_stop = self.is_stop
        other.automaton = self.automaton
        other.state = self.state
        other.history = self.history
        other.strings = self.strings.copy()
        other.stopped = self.stopped
        other.renewed_at = -1

    def is_completed(self) -> bool:
        """Whether the output so far is a whole sentence of the grammar."""
        return bool(self.state.accepting)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted, or, with ``terminate_without_stop_token``, whether the
        output is complete."""
        return self.stopped or (self.terminate_without_stop_token and bool(self.state.accepting))

    @property
    def n_steps(self) -> int:
        """Number of steps that `rollback` could undo."""
        return self.history.size()

    @property
    def stop_token_ids(self) -> list:
        """The stop tokens in force, ascending."""
        return sorted(self.stop_tokens)

    # ---- forced text -----------------------------------------------------------------------------

    def find_jump_forward_bytes(self) -> bytes:
        """The longest byte string that every continuation starts with.

        It ends where the output is complete, where two bytes are possible, or where the grammar wants
        a token by id. The matcher does not change.

        Raises:
            MatcherError: A stop token was accepted.
        """
        cdef State* state
        cdef int byte
        if self.stopped:
            raise MatcherError("nothing can follow a stop token", hint="roll back or reset first")
        while True:
            forced = bytearray()
            state = self.state
            try:
                if self.core.check_live:
                    return self.forced_by_tokens()
                while not state.accepting and not state.has_tokens:
                    byte = self.only_byte(state)
                    if byte < 0:
                        break
                    forced.append(byte)
                    state = self.step_byte(state, <uint8_t>byte)
                    if len(forced) > 1_000_000:
                        break
                return bytes(forced)
            except Renew:
                self.renew()

    cdef int only_byte(self, State* state) except -2:
        """The one byte that may come next, or -1 if there are several."""
        cdef int32_t[256] first
        cdef int32_t[256] members
        cdef int32_t i, found = -1
        memset(members, 0, sizeof(members))
        for i in range(256):
            # A byte that no token holds cannot come next.
            if (self.core.table.alphabet[i >> 6] >> (i & 63)) & 1:
                if members[state.classes[i]] == 0:
                    first[state.classes[i]] = i
                members[state.classes[i]] += 1
        for i in range(state.n_classes):
            if members[i] and self.step_byte(state, <uint8_t>first[i]) != self.automaton.dead:
                if found >= 0 or members[i] > 1:
                    return -1
                found = first[i]
        return found

    cdef bytes forced_by_tokens(self):
        """`find_jump_forward_bytes` where some byte has no token of its own.

        A byte is forced if all texts that legal tokens can spell from here go on with it, so the walk
        keeps, beside the state by bytes, every place at which a spelling may stand: the state before
        its last token, and the part of that token that is spelled.
        """
        cdef State* by_bytes = self.state
        forced = bytearray()
        places = {(<size_t>self.state, b"")}
        legal = {}
        while not by_bytes.accepting and len(forced) < 1_000_000:
            following = {}
            for address, begun in places:
                if not begun and (<State*><size_t>address).has_tokens:
                    return bytes(forced)
                if address not in legal:
                    legal[address] = self.legal_texts(<State*><size_t>address)
                for token, text in legal[address]:
                    if len(text) > len(begun) and text.startswith(begun):
                        goes_on = following.setdefault(text[len(begun)], set())
                        if len(text) == len(begun) + 1:
                            after = self.after_token(<State*><size_t>address, token)
                            goes_on.add((<size_t>after, b""))
                        else:
                            goes_on.add((address, text[: len(begun) + 1]))
            if len(following) != 1:
                break
            ((byte, places),) = following.items()
            forced.append(byte)
            by_bytes = self.step_byte(by_bytes, <uint8_t>byte)
        return bytes(forced)

    cdef list legal_texts(self, State* state):
        """(id, bytes) of every text token that is legal in a state."""
        cdef int32_t token
        cdef const Mask* mask = self.mask_at(state)
        cdef vector[uint32_t] row
        row.assign(self.core.masks.n_words, 0)
        write_mask(mask, &row[0], self.core.masks.n_words)
        found = []
        for token in range(self.core.vocabulary.vocab_size):
            if (row[token >> 5] >> (token & 31)) & 1 and not self.is_stop[token]:
                text = self.core.vocabulary.token_bytes(token)
                if text is not None:
                    found.append((token, text))
        return found

    def find_jump_forward_tokens(self) -> list:
        """Tokens for the forced bytes, as far as their boundaries are certain.

        Longest match first. It stops where some token would cover the rest of the forced bytes and
        more, because what follows may then be merged with it.
        """
        cdef bytes forced = self.find_jump_forward_bytes()
        cdef Trie* trie = &self.core.vocabulary.trie
        cdef int32_t node, child, best
        cdef Py_ssize_t start = 0, end, best_end
        tokens = []
        while start < len(forced):
            node = 0
            end = start
            best = -1
            best_end = start
            while end < len(forced):
                child = trie_child(trie, node, <uint8_t>forced[end])
                if child < 0:
                    break
                node = child
                end += 1
                if trie.nodes[node].own > trie.nodes[node].low:
                    best = trie.ids[trie.nodes[node].low]
                    best_end = end
            if best < 0 or (end == len(forced) and trie.nodes[node].count > 0):
                break
            tokens.append(best)
            start = best_end
        return tokens

    # ---- many at once ----------------------------------------------------------------------------

    def _fill_tree(self, list order, list parents, list tokens, bitmask, double deadline) -> bool:
        """Fill one row per node of a draft tree given in an order in which parents come first.

        Args:
            order: Node numbers; the first is the root, whose token was accepted before.
            parents: For each entry of `order` the position of its parent in it; -1 for the root.
            tokens: For each entry its token.
            bitmask: int32 with a row for every node; unreachable and illegal nodes get zeros.
            deadline: `time.monotonic()` after which to give up; 0 for never.

        Returns:
            Whether all rows were filled in time.
        """
        cdef vector[State*] states
        cdef State* state
        cdef State* dead
        cdef int32_t n_words = 0, n_nodes = len(order), i, token
        cdef int32_t* row
        while True:
            try:
                states.clear()
                dead = self.automaton.dead
                for i in range(n_nodes):
                    if deadline and monotonic() > deadline:
                        return False
                    state = dead
                    if parents[i] < 0:
                        state = dead if self.stopped else self.state
                    elif states[parents[i]] != dead:
                        token = tokens[i]
                        if 0 <= token < self.core.vocabulary.vocab_size and not self.is_stop[token]:
                            state = self.after_token(states[parents[i]], token)
                    if state != dead and self.terminate_without_stop_token and state.accepting:
                        state = dead
                    states.push_back(state)
                    row = self.core.row(bitmask, order[i], &n_words)
                    if state == dead:
                        memset(row, 0, n_words * sizeof(int32_t))
                    else:
                        self.write_row(state, row, n_words)
                return True
            except Renew:
                self.renew()


def fill_rows(list matchers, bitmask, indices) -> list:
    """Fill one row per matcher where the mask exists already, in one stretch without the GIL.

    Args:
        matchers: `MatcherCore` objects; terminated ones get a row of zeros.
        bitmask: int32, shape (rows, words).
        indices: Row of each matcher.

    Returns:
        The (matcher, row) pairs whose mask has yet to be made.
    """
    cdef vector[Pending] ready
    cdef Pending job
    cdef MatcherCore matcher
    cdef int32_t n_words = 0
    cdef size_t i
    slow = []
    for matcher, index in zip(matchers, indices, strict=True):
        job.row = <uint32_t*>matcher.core.row(bitmask, index, &n_words)
        job.n_words = matcher.core.masks.n_words
        job.all_words = n_words
        job.mask = MW_MASK(matcher.state)
        if matcher.stopped:
            memset(job.row, 0, n_words * sizeof(uint32_t))
        elif job.mask == NULL:
            slow.append((matcher, index))
        else:
            job.accepting = matcher.state.accepting
            job.stop_tokens = &matcher.stop_tokens[0] if matcher.stop_tokens.size() else NULL
            job.n_stop = <int32_t>matcher.stop_tokens.size()
            ready.push_back(job)
    with nogil:
        for i in range(ready.size()):
            write_job(&ready[i])
    return slow


cdef struct Pending:
    Mask* mask
    uint32_t* row
    int32_t n_words
    int32_t all_words
    int32_t* stop_tokens
    int32_t n_stop
    uint8_t accepting


cdef void write_job(Pending* job) noexcept nogil:
    cdef int32_t i, token
    write_mask(job.mask, job.row, job.n_words)
    if job.all_words > job.n_words:
        memset(job.row + job.n_words, 0, (job.all_words - job.n_words) * sizeof(uint32_t))
    for i in range(job.n_stop):
        token = job.stop_tokens[i]
        if job.accepting:
            job.row[token >> 5] |= <uint32_t>1 << (token & 31)
        else:
            job.row[token >> 5] &= ~(<uint32_t>1 << (token & 31))


cdef int64_t count_bits(const uint32_t* words, int32_t n_words) noexcept nogil:
    cdef int64_t total = 0
    cdef int32_t i
    for i in range(n_words):
        total += MW_POPCOUNT(words[i])
    return total
