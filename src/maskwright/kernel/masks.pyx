# Masks: which tokens are legal in an automaton state.
#
# The idea. The mask of a state is the union over its items. What an item allows falls into two parts:
#   - tokens that stay inside its lexeme. They depend on the lexeme state and the vocabulary alone, so
#     a *summary* is made once per lexeme state and serves every grammar on the table;
#   - tokens in which the lexeme ends and something follows. The summary keeps the leftover suffixes
#     as a small trie (`exits`); they are walked from the item's continuation state.
# "Inside a JSON string", the state in which most tokens are legal, is therefore a pointer to a shared
# bitmask and a walk over some hundred suffixes that begin right after a quote.
#
# A mask is kept as base + extra - removed: the base is usually such a shared bitmask, so a state costs
# a few token ids and not the 16 KB of its full row.
#
# Vocabularies that cannot spell every byte (a dozen tokens, a pruned model) can make dead ends that
# the grammar does not have. For those alone, tokens after which no sequence of tokens completes the
# output are removed, by a breadth-first search over states that remembers its answers.
#
# Rejected: walking the vocabulary trie with automaton states. It makes states for every position
# inside every lexeme of every look-ahead; lexeme states are shared and far fewer.
#
# Locking. Everything expects the table's lock, except `write_mask` on a published mask.

from libc.stdint cimport int16_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort
from libcpp.string cimport string
from libcpp.utility cimport pair

from .automaton cimport RET_SELF, Coast, Item
from .network cimport EDGE_FRESH, NetEdge
from .nodes cimport CODE_LIMIT, CODE_UNKNOWN, LIVE_YES, NODE_EMPTY, NODE_EPSILON, OP_LITERAL, Node
from .summaries cimport ExitGroup, Summary, has_bit, holds, self_owned
from .trie cimport Trie, trie_child

cdef extern from *:
    """
    #define MW_STORE_MASK(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
    """
    void MW_STORE_COAST "MW_STORE_MASK"(Coast* place, Coast* value) noexcept nogil
    void MW_STORE_MASK(Mask* place, Mask* value) noexcept nogil

# Tokens that a mask may add to its base. To set their bits at each fill costs less than to copy a base that no other
# mask has brought into the cache.
cdef size_t EXTRA_LIMIT = 512
# Below this many tasks a linear scan beats a set.
cdef size_t SCAN_LIMIT = 24
# More items than this are asked for their first byte before they are walked.
cdef int32_t FEW_ITEMS = 8
# Items of a state whose mask may be shared; more would make finding it as dear as making it.
cdef int32_t SHARED_ITEMS = 4
# States that one search for a completion in tokens may look at, and positions in all of them: in an ambiguous grammar
# each state can have very many.
cdef size_t COMPLETION_LIMIT = 2_000
cdef int64_t COMPLETION_VISITS = 20_000_000


cdef void write_mask(const Mask* mask, uint32_t* row, int32_t n_words) noexcept nogil:
    """Write a mask's bits over `row`."""
    cdef int32_t i
    if mask.base != NULL:
        memcpy(row, mask.base, n_words * sizeof(uint32_t))
    else:
        memset(row, 0, n_words * sizeof(uint32_t))
    for i in range(mask.n_removed):
        row[mask.removed[i] >> 5] &= ~(<uint32_t>1 << (mask.removed[i] & 31))
    for i in range(mask.n_extra):
        row[mask.extra[i] >> 5] |= <uint32_t>1 << (mask.extra[i] & 31)


cdef inline bint is_same(const Task* left, const Task* right) noexcept nogil:
    return (
        left.state == right.state
        and left.group == right.group
        and left.node == right.node
        and left.doubt == right.doubt
    )


cdef inline pair[pair[size_t, size_t], size_t] key_of(const Task* task) noexcept nogil:
    cdef pair[pair[size_t, size_t], size_t] key
    key.first.first = <size_t>task.state
    key.first.second = <size_t>task.group
    key.second = 4 * <size_t>task.node + task.doubt
    return key


cdef int32_t* copied(vector[int32_t]& values) noexcept nogil:
    cdef int32_t* copy = <int32_t*>malloc(values.size() * sizeof(int32_t) + 1)
    if not values.empty():
        memcpy(copy, &values[0], values.size() * sizeof(int32_t))
    return copy


cdef class MaskBuilder:
    """Summaries of one vocabulary over one lexeme table, and the masks made from them."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.summaries = SummaryTable(vocabulary, table)
        self.residuals = ResidualTable(self.summaries)
        self.n_words = self.summaries.n_words

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held by summaries; the masks of a grammar are counted with the grammar."""
        return self.summaries.memory_size_bytes + self.residuals.memory_size_bytes

    # ---- masks -----------------------------------------------------------------------------------

    cdef Mask* mask_of(self, Automaton automaton, State* state) noexcept nogil:
        """The state's mask, built at the first call; NULL with `automaton.error` set."""
        cdef Mask* mask = state.mask
        cdef string key
        if mask != NULL:
            return mask
        if self.may_share(automaton, state, key):
            mask = automaton.shared_masks[key]
        if mask == NULL:
            mask = self.build(automaton, state)
            if mask == NULL:
                return NULL
            automaton.masks.push_back(mask)
            if not self.doubtful.empty():
                key.clear()
            if not key.empty():
                automaton.shared_masks[key] = mask
                automaton.bytes_used += key.size() + 64
        if not key.empty():
            self.note_coast(automaton, state)
        MW_STORE_MASK(state.mask, mask)
        return mask

    cdef void note_coast(self, Automaton automaton, State* state) noexcept nogil:
        """Let matchers pass over the states that share this one's mask, if it is alone in a string far from its bound."""
        cdef Coast coast
        if state.n_items == 1 and automaton.network.edges[automaton.items[state.item_off].edge].kind != EDGE_FRESH:
            coast.selected = self.summaries.coast(automaton.items[state.item_off].lex, &coast.slack)
            if coast.selected != NULL:
                automaton.coasts.push_back(coast)
                MW_STORE_COAST(state.coast, &automaton.coasts.back())

    cdef bint may_share(self, Automaton automaton, State* state, string& key) noexcept nogil:
        """Whether a state's mask may be another's; what it depends on is put into `key`.

        That is the edges, the summaries of their lexeme states, and what comes after them. All counts of a string
        whose bound is far away are such states, and all beginnings of a text that must differ from others.
        """
        cdef Item item
        cdef NetEdge* edge
        cdef Summary* summary
        cdef bint common = False
        cdef int32_t i
        if state.n_items > SHARED_ITEMS or not self.vocabulary.byte_complete or automaton.network.fragile:
            return False
        for i in range(state.n_items):
            item = automaton.items[state.item_off + i]
            edge = &automaton.network.edges[item.edge]
            # An item whose caller is the state itself goes on differently in each state.
            if item.lex < 0 or item.ret <= RET_SELF:
                key.clear()
                return False
            if edge.kind == EDGE_FRESH:
                # As long as no token is doubtful, what the edge has matched so far does not matter.
                item.reg = automaton.network.remember_any(item.reg, edge)
                common = True
            summary = self.summaries.of(item.lex)
            if summary == NULL:
                key.clear()
                return False
            common = common or summary.common
            key.append(<char*>&item.edge, sizeof(int32_t))
            key.append(<char*>&item.ret, sizeof(int32_t))
            key.append(<char*>&item.reg, sizeof(int32_t))
            key.append(<char*>&summary, sizeof(Summary*))
        if not common:
            key.clear()
        return common

    cdef Mask* build(self, Automaton automaton, State* state) noexcept nogil:
        cdef uint32_t* base = NULL
        cdef bint owned = False
        cdef Mask* mask
        cdef size_t i, kept
        if not self.collect(automaton, state, &base):
            return NULL
        if self.tokens.size() > EXTRA_LIMIT:
            base = self_owned(base, False, self.removed, self.n_words)
            owned = True
            for i in range(self.tokens.size()):
                base[self.tokens[i] >> 5] |= <uint32_t>1 << (self.tokens[i] & 31)
            self.n_wide += self.tokens.size()
            self.tokens.clear()
        elif base != NULL:
            kept = 0
            for i in range(self.tokens.size()):
                if not has_bit(base, self.tokens[i]) or not self.removed.empty():
                    self.tokens[kept] = self.tokens[i]
                    kept += 1
            self.tokens.resize(kept)
        mask = <Mask*>malloc(sizeof(Mask))
        mask.n_legal = self.tokens.size() + self.n_wide
        mask.base = base
        mask.owns_base = owned
        mask.n_extra = <int32_t>self.tokens.size()
        mask.extra = copied(self.tokens)
        mask.n_removed = <int32_t>self.removed.size()
        mask.removed = copied(self.removed)
        automaton.bytes_used += sizeof(Mask) + (mask.n_extra + mask.n_removed) * sizeof(int32_t)
        if owned:
            automaton.bytes_used += self.n_words * sizeof(uint32_t)
        return mask

    cdef bint collect(self, Automaton automaton, State* state, uint32_t** base) noexcept nogil:
        """Gather the tokens of all items: wide summaries into `base` and `removed`, others in `tokens`."""
        cdef int32_t i
        cdef size_t j
        cdef Item item
        cdef Summary* summary
        cdef State* after
        cdef int doubt
        self.tokens.clear()
        self.doubtful.clear()
        self.removed.clear()
        self.wide.clear()
        self.tasks.clear()
        self.seen_tasks.clear()
        for i in range(state.n_items):
            item = automaton.items[state.item_off + i]
            if item.lex < 0:
                self.tokens.insert(
                    self.tokens.end(),
                    automaton.network.token_sets[automaton.network.edges[item.edge].label].begin(),
                    automaton.network.token_sets[automaton.network.edges[item.edge].label].end(),
                )
                continue
            summary = self.summaries.of(item.lex)
            if summary == NULL:
                automaton.error = CODE_LIMIT
                return False
            self.tokens.insert(self.tokens.end(), summary.inner.begin(), summary.inner.end())
            if summary.bits != NULL:
                self.wide.push_back(summary)
            if summary.exits.empty():
                continue
            after = automaton.continuation(state, &item, True)
            if after == NULL:
                return False
            doubt = self.doubt_after(automaton, SURE, &item)
            for j in range(summary.exits.size()):
                self.add_task(after, &summary.exits[j], 0, doubt)
            if not self.run_tasks(automaton):
                return False
        if not self.check_doubtful(automaton, state):
            return False
        self.n_wide = self.summaries.wide_union(self.wide, base, self.removed)
        if not self.vocabulary.byte_complete or automaton.network.fragile:
            if base[0] != NULL:
                sort(self.removed.begin(), self.removed.end())
                for i in range(self.vocabulary.vocab_size):
                    if has_bit(base[0], i) and not holds(self.removed, i):
                        self.tokens.push_back(i)
                self.removed.clear()
                base[0] = NULL
            self.n_wide = 0
            return self.drop_dead_ends(automaton, state)
        return True

    cdef void add_task(self, State* state, ExitGroup* group, int32_t node, int doubt) noexcept nogil:
        cdef Task task
        if group.exits.trie.nodes[node].count == 0 or state.n_items == 0:
            return
        task.state = state
        task.group = group
        task.node = node
        task.doubt = doubt
        if not self.is_seen(&task):
            self.seen_tasks.push_back(task)
            self.tasks.push_back(task)

    cdef bint is_seen(self, const Task* task) noexcept nogil:
        """Whether there has been such a task. Compared whole: one taken for another would lose its tokens."""
        cdef size_t i
        if self.seen_tasks.size() < SCAN_LIMIT:
            for i in range(self.seen_tasks.size()):
                if is_same(&self.seen_tasks[i], task):
                    return True
            return False
        if self.seen_tasks.size() == SCAN_LIMIT:
            self.seen_keys.clear()
            for i in range(SCAN_LIMIT):
                self.seen_keys.insert(key_of(&self.seen_tasks[i]))
        return not self.seen_keys.insert(key_of(task)).second

    cdef bint run_tasks(self, Automaton automaton) noexcept nogil:
        cdef Task task
        cdef Trie* trie
        cdef const Node* rec
        cdef uint64_t[4] starts
        cdef int32_t i, lex
        cdef uint8_t byte
        cdef bint many
        while not self.tasks.empty():
            task = self.tasks.back()
            self.tasks.pop_back()
            trie = &task.group.exits.trie
            # Of many items, the names of an object's members say, few begin with a byte that goes on here.
            many = task.state.n_items > FEW_ITEMS
            if many:
                memset(starts, 0, sizeof(starts))
                for i in range(trie.nodes[task.node].first, trie.nodes[task.node].first + trie.nodes[task.node].count):
                    starts[trie.bytes[i] >> 6] |= <uint64_t>1 << (trie.bytes[i] & 63)
            for i in range(task.state.n_items):
                lex = automaton.items[task.state.item_off + i].lex
                if lex < 0:
                    continue
                rec = &self.table.nodes[lex]
                if many and rec.op == OP_LITERAL:
                    byte = self.table.pool[rec.a]
                    if not (starts[byte >> 6] >> (byte & 63)) & 1:
                        continue
                if not self.walk_item(automaton, &task, i):
                    return False
        return True

    cdef bint walk_item(self, Automaton automaton, Task* task, int32_t which) noexcept nogil:
        """Add the tokens below a trie node that one item of a state allows."""
        cdef Item item = automaton.items[task.state.item_off + which]
        cdef Trie* trie = &task.group.exits.trie
        cdef State* after = NULL
        cdef int doubt
        cdef Spot spot, deeper
        cdef int32_t child, last, lex
        cdef const uint8_t* classes = NULL
        cdef int32_t* targets = NULL
        cdef bint has_row
        self.spots.clear()
        spot.node = task.node
        spot.lex = item.lex
        self.spots.push_back(spot)
        while not self.spots.empty():
            spot = self.spots.back()
            self.spots.pop_back()
            child = trie.nodes[spot.node].first
            last = child + trie.nodes[spot.node].count
            has_row = False
            if self.table.nodes[spot.lex].op == OP_LITERAL:
                child = trie_child(trie, spot.node, self.table.pool[self.table.nodes[spot.lex].a])
                last = child + 1 if child >= 0 else child
            else:
                has_row = self.table.row(spot.lex, &classes, &targets)
            while child < last:
                deeper.node = child
                child += 1
                # Most children lead nowhere, and that is known after the first visit: no call for those.
                lex = targets[classes[trie.bytes[deeper.node]]] if has_row else CODE_UNKNOWN
                if lex == NODE_EMPTY:
                    continue
                if lex < 0 or (lex != NODE_EPSILON and self.table.nodes[lex].live != LIVE_YES):
                    lex = self.table.step(spot.lex, trie.bytes[deeper.node])
                    if lex < 0:
                        automaton.error = lex
                        return False
                    if lex == NODE_EMPTY:
                        continue
                if trie.nodes[deeper.node].own > trie.nodes[deeper.node].low:
                    doubt = self.doubt_within(automaton, task.doubt, &item, lex)
                    self.emit(task, deeper.node, doubt == DOUBTFUL)
                if not trie.nodes[deeper.node].count:
                    continue
                if self.table.nodes[lex].nullable:
                    if after == NULL:
                        after = automaton.continuation(task.state, &item, True)
                        if after == NULL:
                            return False
                    self.add_task(after, task.group, deeper.node, self.doubt_after(automaton, task.doubt, &item))
                if lex != NODE_EPSILON:
                    deeper.lex = lex
                    self.spots.push_back(deeper)
        return True

    cdef int doubt_within(self, Automaton automaton, int doubt, Item* item, int32_t lex) noexcept nogil:
        """How sure it is that a token may end in the lexeme state `lex` of an item.

        Where one text is taken away that is not known, something is left of a state with two texts; where all orders of
        one are, of a state with endlessly many.
        """
        cdef NetEdge* edge = &automaton.network.edges[item.edge]
        if doubt != OPEN or edge.kind != EDGE_FRESH:
            return doubt
        return SURE if not edge.c and self.summaries.differences.plenty.has(lex, edge.b) else DOUBTFUL

    cdef int doubt_after(self, Automaton automaton, int doubt, Item* item) noexcept nogil:
        """How sure what follows is once an item's lexeme has ended inside a token."""
        if automaton.network.edges[item.edge].kind != EDGE_FRESH:
            return doubt
        # An edge that may match nothing may be passed by without being seen here.
        return OPEN if doubt == SURE and not automaton.network.may_skip_fresh else DOUBTFUL

    cdef void emit(self, Task* task, int32_t node, bint doubtful) noexcept nogil:
        """Add a trie node's own tokens, as far as the group of exits lets them count."""
        cdef ExitGroup* group = task.group
        cdef Trie* trie = &group.exits.trie
        cdef vector[int32_t]* tokens = &self.doubtful if doubtful else &self.tokens
        cdef int32_t i
        cdef int16_t count
        if group.barred.empty() and group.least == 0 and group.most >= group.exits.max_count:
            tokens.insert(
                tokens.end(), trie.ids.begin() + trie.nodes[node].low, trie.ids.begin() + trie.nodes[node].own
            )
            return
        for i in range(trie.nodes[node].low, trie.nodes[node].own):
            count = group.exits.counts[i]
            if group.least <= count <= group.most and not holds(group.barred, trie.ids[i]):
                tokens.push_back(trie.ids[i])

    cdef bint check_doubtful(self, Automaton automaton, State* state) noexcept nogil:
        """Keep the doubtful tokens that are legal after all. They are few, so each is walked."""
        cdef vector[int32_t] doubtful = self.doubtful
        cdef State* after
        cdef size_t i
        sort(doubtful.begin(), doubtful.end())
        for i in range(doubtful.size()):
            if i and doubtful[i] == doubtful[i - 1]:
                continue
            after = self.walk_token(automaton, state, doubtful[i])
            if after == NULL:
                return False
            if after != automaton.dead:
                self.tokens.push_back(doubtful[i])
        return True

    # ---- completions in tokens -------------------------------------------------------------------

    cdef State* walk_token(self, Automaton automaton, State* state, int32_t token) noexcept nogil:
        """State after a token's bytes, and after the token itself where the grammar names it."""
        cdef int64_t i
        cdef uint8_t* text
        cdef State* after = automaton.dead
        if self.vocabulary.is_text[token]:
            after = state
            text = &self.vocabulary.flat[self.vocabulary.offsets[2 * token]]
            for i in range(self.vocabulary.offsets[2 * token + 1]):
                after = automaton.step(after, text[i])
                if after == NULL:
                    return NULL
                if after == automaton.dead:
                    break
        return automaton.step_token(state, token, after) if state.has_tokens else after

    cdef bint drop_dead_ends(self, Automaton automaton, State* state) noexcept nogil:
        """Remove from `tokens` those after which no sequence of tokens completes the output."""
        cdef vector[int32_t] candidates = self.tokens
        cdef vector[int32_t] kept
        cdef size_t i
        cdef State* after
        cdef int live
        sort(candidates.begin(), candidates.end())
        for i in range(candidates.size()):
            if i and candidates[i] == candidates[i - 1]:
                continue
            after = self.walk_token(automaton, state, candidates[i])
            if after == NULL:
                return False
            live = self.token_live(automaton, after)
            if live < 0:
                return False
            if live:
                kept.push_back(candidates[i])
        self.tokens = kept
        return True

    cdef int token_live(self, Automaton automaton, State* state) noexcept nogil:
        """1 if some sequence of tokens completes the output, 0 if none does, -1 with `error` set."""
        cdef vector[State*] seen
        cdef vector[int32_t] parents
        cdef unordered_set[uint64_t] known
        cdef size_t here = 0, i
        cdef int32_t token, up, n_steps
        cdef bint by_bytes = self.vocabulary.byte_complete
        cdef int64_t most_visits = automaton.n_visits + COMPLETION_VISITS
        cdef State* after
        if state.live:
            return state.live == 1
        seen.push_back(state)
        parents.push_back(-1)
        known.insert(<uint64_t><size_t>state)
        while here < seen.size():
            up = <int32_t>here
            if seen[here].accepting or seen[here].live == 1:
                while up >= 0:
                    seen[up].live = 1
                    up = parents[up]
                return 1
            if seen[here].live != 2:
                # With a token for every byte, whatever bytes complete can be spelled: fewer to try.
                n_steps = 256 if by_bytes and not seen[here].has_tokens else self.vocabulary.vocab_size
                for token in range(n_steps):
                    if by_bytes and not seen[here].has_tokens:
                        after = automaton.step(seen[here], <uint8_t>token)
                    else:
                        after = self.walk_token(automaton, seen[here], token)
                    if after == NULL:
                        return -1
                    if after == automaton.dead or not known.insert(<uint64_t><size_t>after).second:
                        continue
                    seen.push_back(after)
                    parents.push_back(up)
            here += 1
            if seen.size() > COMPLETION_LIMIT or automaton.n_visits > most_visits:
                automaton.error = CODE_LIMIT
                return -1
        for i in range(seen.size()):
            seen[i].live = 2
        return 0
