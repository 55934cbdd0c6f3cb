# Budgets: which tokens still leave enough tokens to finish.
#
# The idea. After a token the output needs some number of tokens more (completion.pyx). Under a budget, those after which
# it would need more than are left are taken out of the mask, and no others. The most that any legal token of a
# state leads to is kept with the state (`loose_at`): as long as more than that is left, a budget costs one
# comparison.
#
# The tokens of a state are priced item by item, as its mask is made. Those that leave the lexeme they begin in: by
# the leftover suffixes, of which many tokens share one. Those of a narrow lexeme: each on its own. Those that stay
# inside a wide lexeme (the body of a string): by the state in which they leave it (residuals.pyx); as long as
# even the farthest state of the lexeme can be afforded, these sets are not made at all. Where there would be too
# many of them, only the tokens that spell the shortest way on are allowed once the budget binds. A token that several
# items allow may be taken if it can be afforded by way of one.
#
# Where a Fresh edge is open, what follows depends on the text of each token, because it is remembered. The sets are
# priced as if it were not. At most one text of the plan turns out to be taken then, and has to be replaced by
# one more fresh text; the room for that is asked for beforehand (`margin_of`). Without it only the tokens that spell
# the shortest way on are allowed, each walked.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref

from .automaton cimport resolved
from .completion cimport NEVER
from .masks cimport write_mask
from .network cimport EDGE_FRESH, NetEdge
from .nodes cimport CODE_EXPAND, CODE_LIMIT, NODE_EMPTY, NODE_EPSILON
from .residuals cimport Partition, common_tokens
from .shortest cimport MW_FAR, Shortest, Way
from .summaries cimport ExitGroup, Summary, has_bit, holds
from .trie cimport TokenTrie, Trie, trie_child

# Tokens of a set that are tried to find the state that it leads to.
cdef size_t SAMPLES = 256
# Tokens more that a text may take where it stands than its bytes: tokens that reached over its borders come apart.
cdef int32_t BORDER_TOKENS = 16


# Where the suffix of a token stands.
cdef struct Place:
    int32_t node
    State* state


cdef class Budgets(Completions):
    """What tokens cost in the states of one generation of an automaton."""

    def __init__(self, TokenTrie vocabulary, Automaton automaton, Shortest shortest, MaskBuilder masks):
        super().__init__(vocabulary, automaton, shortest)
        self.masks = masks
        self.residuals = masks.residuals

    cdef int restrict(self, Automaton automaton, State* state, uint32_t* row, int64_t limit) noexcept nogil:
        """Clear the tokens of a state's mask after which more than `limit` tokens are needed.

        Args:
            row: The state's mask, without stop tokens.

        Returns:
            0, or a code below 0: expand a rule, or start a new generation, and fill the row again.
        """
        cdef int code = 0
        cdef Prices* prices = self.prices_of(automaton, state, &code)
        cdef size_t i
        cdef int32_t word, worst = 0
        if prices == NULL:
            return code
        if state.loose_at - 1 <= limit:
            return 0
        if not prices.grouped:
            self.row.assign(row, row + self.masks.n_words)
            code = self.group(automaton, state, prices)
            if code < 0:
                return code
            if self.all_priced(prices, row):
                for i in range(prices.singles.size()):
                    worst = max(worst, prices.singles[i].need)
                for i in range(prices.groups.size()):
                    worst = max(worst, prices.groups[i].need)
                state.loose_at = worst + 1
        self.afford(prices, limit)
        for word in range(self.masks.n_words):
            row[word] &= self.row[word]
        return 0

    cdef void afford(self, Prices* prices, int64_t limit) noexcept nogil:
        """Put into `self.row` the tokens after which some item needs no more than `limit` tokens."""
        cdef Residual* residual
        cdef size_t i, j
        cdef int32_t word
        self.row.assign(self.masks.n_words, 0)
        for i in range(prices.groups.size()):
            if prices.groups[i].need > limit:
                continue
            residual = prices.groups[i].residual
            if residual.bits != NULL:
                for word in range(self.masks.n_words):
                    self.row[word] |= residual.bits[word]
            for j in range(residual.tokens.size()):
                self.row[residual.tokens[j] >> 5] |= <uint32_t>1 << (residual.tokens[j] & 31)
        for i in range(prices.singles.size()):
            if prices.singles[i].need <= limit:
                self.row[prices.singles[i].token >> 5] |= <uint32_t>1 << (prices.singles[i].token & 31)

    cdef bint all_priced(self, Prices* prices, const uint32_t* row) noexcept nogil:
        """Whether every token of a mask has a price."""
        cdef int32_t word
        self.afford(prices, NEVER)
        for word in range(self.masks.n_words):
            if row[word] & ~self.row[word]:
                return False
        return True

    # ---- what tokens cost ------------------------------------------------------------------------

    cdef Prices* prices_of(self, Automaton automaton, State* state, int* code) noexcept nogil:
        """Prices of a state's legal tokens, found at the first call; its mask must exist. NULL with `code` set."""
        cdef unordered_map[size_t, Prices].iterator known = self.prices.find(<size_t>state)
        cdef Prices prices
        cdef Item item
        cdef size_t i
        cdef int32_t worst = 0, bound
        if known != self.prices.end():
            return &deref(known).second
        prices.grouped = False
        self.row.assign(self.masks.n_words, 0)
        write_mask(state.mask, &self.row[0], self.masks.n_words)
        for i in range(<size_t>state.n_items):
            item = automaton.items[state.item_off + i]
            code[0] = self.add_item(automaton, state, &item, &prices)
            if code[0] < 0:
                return NULL
        for i in range(prices.singles.size()):
            worst = max(worst, prices.singles[i].need)
        for i in range(prices.wide.size()):
            bound = self.bound_of(automaton, &prices.wide[i])
            if bound < 0:
                code[0] = bound
                return NULL
            worst = max(worst, bound)
        state.loose_at = worst + 1
        automaton.bytes_used += sizeof(Prices) + prices.singles.size() * sizeof(Single)
        self.prices[<size_t>state] = prices
        return &self.prices[<size_t>state]

    cdef int add_item(self, Automaton automaton, State* state, Item* item, Prices* prices) noexcept nogil:
        """Price the tokens that one item allows. Returns a code below 0 if it cannot."""
        cdef int32_t ret = resolved(state, item.ret)
        cdef int32_t frame = self.frame_of(ret, 0, 0, 0), need
        cdef int64_t margin
        cdef int code
        cdef size_t i
        cdef vector[int32_t]* members
        cdef Item wide
        cdef Summary* summary
        if item.lex < 0:
            need = self.least_of(automaton, self.cell_at(automaton.network.edges[item.edge].target, item.reg, frame))
            if need < 0:
                return need
            members = &automaton.network.token_sets[automaton.network.edges[item.edge].label]
            for i in range(members.size()):
                self.add_single(members[0][i], need, prices)
            return 0
        summary = self.masks.summaries.of(item.lex)
        if summary == NULL:
            return CODE_LIMIT
        if summary.bits != NULL:
            wide = item[0]
            wide.ret = ret
            prices.wide.push_back(wide)
        margin = self.margin_of(automaton, item)
        if margin < 0:
            return <int>margin
        for i in range(summary.exits.size()):
            code = self.add_exits(automaton, state, item, &summary.exits[i], margin, prices)
            if code < 0:
                return code
        return self.add_inner(automaton, item, frame, summary, margin, prices) if summary.bits == NULL else 0

    cdef int add_exits(
        self, Automaton automaton, State* state, Item* item, ExitGroup* group, int64_t margin, Prices* prices
    ) noexcept nogil:
        """Tokens in which the item's lexeme ends: what is left of them is walked from what follows it."""
        cdef Trie* trie = &group.exits.trie
        cdef vector[Place] places
        cdef Place at, below
        cdef int32_t child, need, i
        cdef bint all_count = group.barred.empty() and group.least == 0 and group.most >= group.exits.max_count
        at.node = 0
        at.state = automaton.continuation(state, item, False)
        if at.state == NULL:
            return automaton.error
        places.push_back(at)
        while not places.empty():
            at = places.back()
            places.pop_back()
            for child in range(trie.nodes[at.node].first, trie.nodes[at.node].first + trie.nodes[at.node].count):
                below.node = child
                below.state = automaton.step(at.state, trie.bytes[child])
                if below.state == NULL:
                    return automaton.error
                if below.state == automaton.dead:
                    continue
                if trie.nodes[child].own > trie.nodes[child].low:
                    need = self.need(automaton, below.state)
                    if need < 0:
                        return need
                    for i in range(trie.nodes[child].low, trie.nodes[child].own):
                        if all_count or (
                            group.least <= group.exits.counts[i] <= group.most
                            and not holds(group.barred, trie.ids[i])
                        ):
                            self.add_single(trie.ids[i], need + margin, prices)
                if trie.nodes[child].count:
                    places.push_back(below)
        return 0

    cdef int add_inner(
        self, Automaton automaton, Item* item, int32_t frame, Summary* summary, int64_t margin, Prices* prices
    ) noexcept nogil:
        """Tokens that stay inside a narrow lexeme, by the state in which they leave it."""
        cdef int32_t lex, need
        cdef size_t i
        for i in range(summary.inner.size()):
            lex = self.lexeme_after(item.lex, summary.inner[i])
            if lex < 0:
                return lex
            if lex != NODE_EMPTY:
                need = self.least_of(automaton, self.cell_inside(item.edge, lex, frame, item.reg))
                if need < 0:
                    return need
                self.add_single(summary.inner[i], need + margin, prices)
        return 0

    cdef int32_t lexeme_after(self, int32_t lex, int32_t token) noexcept nogil:
        """Lexeme state after the bytes of a token; a code below 0 if it could not be made."""
        cdef const uint8_t* text = &self.vocabulary.flat[self.vocabulary.offsets[2 * token]]
        cdef int64_t i
        for i in range(self.vocabulary.offsets[2 * token + 1]):
            if lex > NODE_EMPTY:
                lex = self.table.step(lex, text[i])
        return lex

    cdef int add_spelled(self, Automaton automaton, State* state, Item* item, Prices* prices) noexcept nogil:
        """The tokens that begin the shortest way on from an item, each walked."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[int32_t] candidates
        cdef State* after
        cdef int32_t node = 0, cell = self.cell_of(state, item), place, need
        cdef int32_t n_hops = 0
        cdef size_t i
        need = self.least_of(automaton, cell)
        if need < 0:
            return need
        while node >= 0 and n_hops < 256:
            n_hops += 1
            for place in range(self.cells[cell].length):
                node = trie_child(trie, node, self.pool[self.cells[cell].text + place])
                if node < 0:
                    break
                candidates.insert(
                    candidates.end(), trie.ids.begin() + trie.nodes[node].low, trie.ids.begin() + trie.nodes[node].own
                )
            if self.cells[cell].n_next == 0:
                break
            cell = self.nexts[self.cells[cell].next]
        for i in range(candidates.size()):
            after = self.masks.walk_token(automaton, state, candidates[i])
            if after == NULL:
                return automaton.error
            if after != automaton.dead:
                need = self.need(automaton, after)
                if need < 0:
                    return need
                self.add_single(candidates[i], need, prices)
        return 0

    cdef void add_single(self, int32_t token, int64_t need, Prices* prices) noexcept nogil:
        cdef Single single
        # What the mask has taken out as a dead end stays out.
        if has_bit(&self.row[0], token):
            single.token = token
            single.need = <int32_t>min(need, <int64_t>NEVER)
            prices.singles.push_back(single)

    cdef int32_t least_of(self, Automaton automaton, int32_t cell) noexcept nogil:
        """The fewest tokens from a cell; a code below 0 if a rule is missing."""
        cdef int code = self.evaluate(automaton, cell)
        return code if code < 0 else self.leasts[self.cells[cell].least]

    cdef int32_t bound_of(self, Automaton automaton, Item* item) noexcept nogil:
        """A number of tokens that suffices after every token that stays inside a wide item; a code below 0."""
        cdef int64_t reach, margin
        cdef int32_t least
        cdef bint exact
        # What follows the lexeme.
        least = self.least_of(automaton, self.cell_inside(item.edge, NODE_EPSILON, self.frame_of(item.ret, 0, 0, 0), item.reg))
        if least < 0:
            return least
        if not self.vocabulary.byte_complete:
            return NEVER
        reach = self.residuals.reach(self.residuals.base_of(item.lex, &exact), self.shortest)
        if not exact:
            reach = self.residuals.reach(item.lex, self.shortest)
        margin = self.margin_of(automaton, item)
        if margin < 0:
            return <int32_t>margin
        if reach >= MW_FAR or margin >= MW_FAR or least >= NEVER:
            return NEVER
        # Byte by byte to the end of the lexeme.
        return least + <int32_t>reach + <int32_t>margin

    cdef int64_t margin_of(self, Automaton automaton, Item* item) noexcept nogil:
        """Tokens that one more text of a Fresh edge may take after the plan of its rule; 0 for other edges, a code below
        0 if a rule is missing."""
        cdef NetEdge* edge = &automaton.network.edges[item.edge]
        cdef Way way
        cdef int64_t cost
        cdef int32_t node = edge.target, register, lex
        if edge.kind != EDGE_FRESH:
            return 0
        register = self.shortest.after_fresh(edge, item.lex, item.reg)
        while register >= 0:
            cost = self.shortest.way(node, register, &way)
            if cost == CODE_EXPAND:
                automaton.pending_rule = self.shortest.needed
                return CODE_EXPAND
            if cost >= MW_FAR:
                return MW_FAR
            if way.edge < 0:
                lex = self.network.fresh_lexeme(register, edge)
                cost = self.shortest.distance(lex) if lex >= 0 else MW_FAR
                return cost + BORDER_TOKENS if cost < MW_FAR else MW_FAR
            node = automaton.network.edges[way.edge].target
            register = way.register
        return MW_FAR

    cdef int group(self, Automaton automaton, State* state, Prices* prices) noexcept nogil:
        """Make the groups of the wide items, and price the ways on through Fresh edges; `self.row` is the mask."""
        cdef Partition* partition
        cdef vector[int32_t] samples
        cdef int32_t lex
        cdef int code
        cdef int64_t margin
        cdef bint exact
        cdef Group group
        cdef Item item
        cdef size_t i, j, k
        prices.groups.clear()
        for i in range(<size_t>state.n_items):
            item = automaton.items[state.item_off + i]
            if automaton.network.edges[item.edge].kind == EDGE_FRESH:
                code = self.add_spelled(automaton, state, &item, prices)
                if code < 0:
                    return code
        for i in range(prices.wide.size()):
            item = prices.wide[i]
            margin = self.margin_of(automaton, &item)
            if margin < 0:
                return <int>margin
            partition = self.residuals.of(self.residuals.base_of(item.lex, &exact))
            if partition == NULL or not exact:
                # Some tokens will have no price. Those of the plan must.
                code = self.add_spelled(automaton, state, &item, prices)
                if code < 0:
                    return code
            if partition == NULL or margin >= MW_FAR:
                continue
            for j in range(partition.residuals.size()):
                group.residual = &partition.residuals[j]
                common_tokens(
                    group.residual, &self.row[0], self.masks.n_words, 1 if exact else SAMPLES, samples
                )
                if samples.empty():
                    continue
                lex = group.residual.lex if exact else NODE_EMPTY
                k = 0
                # Those that are legal by way of another item lead nowhere here.
                while lex == NODE_EMPTY and k < samples.size():
                    lex = self.lexeme_after(item.lex, samples[k])
                    k += 1
                if lex < 0:
                    return lex
                if lex == NODE_EMPTY:
                    continue
                group.need = self.least_of(
                    automaton, self.cell_inside(item.edge, lex, self.frame_of(item.ret, 0, 0, 0), item.reg)
                )
                if group.need < 0:
                    return group.need
                group.need = min(group.need + <int32_t>margin, <int32_t>NEVER)
                prices.groups.push_back(group)
        prices.grouped = True
        return 0
