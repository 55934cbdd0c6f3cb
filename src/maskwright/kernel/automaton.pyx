# The automaton: a pushdown automaton over bytes, determinised lazily and shared by all requests.
#
# The idea. Earley's recogniser (1970) keeps at each position a set of items whose origins are
# positions. Here origins are *states*: the set itself is interned, so the same situation is the same
# State wherever and in whichever request it arises, and `step(state, byte)` is a table look-up from
# its second use on. A matcher is a pointer; rollback pops, fork copies.
#
# Identity. A state is identified by its kernel: the items that survived the last byte, with lexemes
# that can only end replaced by what follows them, up through every caller that has nothing left to
# do. The closure (predictions, waiting callers) is computed once, when a kernel is new. So
# `{"a":1}` and `{"b":[2]}` lead to the same state after the brace, and a list that is written
# right-recursively stays flat.
#
# Origins. An item's `ret` names a prediction of the state in which its rule was predicted. Callers
# wait there (`Wait`). A call with nothing after it (a tail call) hands on its own `ret` instead of
# waiting, which is what keeps right recursion from growing.
#
# Nullable rules. A rule predicted and finished in the same state is remembered in `pred_done`, and
# callers that arrive later are advanced at once (the remedy of Aycock and Horspool, 2002).
#
# Laziness. A call of a rule that has no nodes yet abandons the step with CODE_EXPAND; Python expands
# it (holding no lock) and the step is made again. Nothing has changed in between.
#
# Rejected: a graph-structured stack (GLR). It shares work among parallel parses of one input, but
# not among inputs, and its nodes belong to positions, so nothing can be cached across requests.
#
# Locking. `step` and everything it calls expect the table's lock; a published State may be read by
# anyone. `targets` and `mask` are published with release stores.

from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memset
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair

from .nodes cimport CODE_EXPAND, CODE_FULL, CODE_LIMIT, NODE_EMPTY, NODE_EPSILON, OP_CONCAT, OP_LITERAL, Node
from .network cimport EDGE_CALL, EDGE_DEAD, EDGE_EPSILON, EDGE_FRESH, EDGE_TOKENS, NetEdge, NetNode

cdef extern from *:
    """
    #define MW_LOAD_STATE(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
    #define MW_STORE_STATE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
    """
    void MW_STORE_STATE(State* place, State* value) noexcept nogil
    void MW_STORE_ROW "MW_STORE_STATE"(State** place, State** value) noexcept nogil

# The row of all states that no byte has been stepped from: most of those that masks look ahead to.
ctypedef State* state_pointer

cdef state_pointer[256] empty_row

# States are allocated this many at a time and never move.
cdef int32_t CHUNK = 64
# Items in one state. An ambiguous grammar can need many; this many is a runaway.
cdef size_t MAX_ITEMS = 200_000
# Below this many visited positions a linear scan beats a hash set.
cdef size_t SCAN_LIMIT = 24


cdef bint item_less(const Item& left, const Item& right) noexcept nogil:
    if left.edge != right.edge:
        return left.edge < right.edge
    if left.lex != right.lex:
        return left.lex < right.lex
    if left.ret != right.ret:
        return left.ret < right.ret
    return left.reg < right.reg


cdef inline uint64_t mix(uint64_t value, uint64_t more) noexcept nogil:
    value = (value ^ more) * <uint64_t>0x9E3779B97F4A7C15
    return value ^ (value >> 29)


cdef class Automaton:
    """One generation of states over a network.

    Args:
        network: The rules.
        max_bytes: Memory for states and items; beyond it a slow step reports CODE_FULL and the
            owner starts a new generation.
    """

    def __cinit__(self, Network network, size_t max_bytes=256 << 20):
        self.network = network
        self.table = network.table
        self.max_bytes = max_bytes
        self.slots.assign(64, NULL)
        self.ret_states.push_back(NULL)
        self.dead = self.new_state()
        self.start = NULL

    def __dealloc__(self):
        cdef size_t i
        cdef int32_t j, used
        for i in range(self.chunks.size()):
            used = self.chunk_used if i + 1 == self.chunks.size() else CHUNK
            for j in range(used):
                if (self.chunks[i] + j).targets != empty_row:
                    free((self.chunks[i] + j).targets)
            free(self.chunks[i])
        for i in range(self.masks.size()):
            if self.masks[i].owns_base:
                free(self.masks[i].base)
            free(self.masks[i].extra)
            free(self.masks[i].removed)
            free(self.masks[i])

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held by states, items and masks."""
        return self.bytes_used + self.slots.capacity() * sizeof(State*)

    # ---- stepping --------------------------------------------------------------------------------

    cdef State* start_state(self) noexcept nogil:
        """The state before the first byte; NULL with `error` set if a rule must be expanded."""
        if self.start == NULL:
            if self.network.rule_start[self.network.root] < 0:
                self.pending_rule = self.network.root
                self.error = CODE_EXPAND
                return NULL
            self.kernel.clear()
            self.returned.clear()
            self.push_node(self.network.rule_start[self.network.root], RET_ROOT, 0)
            self.start = self.intern_kernel()
        return self.start

    cdef State* step(self, State* state, uint8_t byte) noexcept nogil:
        """State after one byte; `dead` if the byte is illegal; NULL with `error` set."""
        cdef State* target = state.targets[state.classes[byte]] if state.targets != NULL else self.dead
        return target if target != NULL else self.slow_step(state, byte)

    cdef State* slow_step(self, State* state, uint8_t byte) noexcept nogil:
        cdef int32_t i, lex, register
        cdef Item item
        cdef State* target
        self.kernel.clear()
        self.returned.clear()
        for i in range(state.n_items):
            item = self.items[state.item_off + i]
            if item.lex < 0:
                continue
            lex = self.table.step(item.lex, byte)
            if lex == NODE_EMPTY:
                continue
            if lex < 0:
                self.error = lex
                return NULL
            item.ret = resolved(state, item.ret)
            if self.network.edges[item.edge].kind == EDGE_FRESH:
                item.reg = self.network.extend_text(item.reg, byte)
            if lex == NODE_EPSILON:
                register = self.register_after(&item)
                if register < 0:
                    self.error = CODE_LIMIT
                    return NULL
                self.push_node(self.network.edges[item.edge].target, item.ret, register)
            else:
                item.lex = lex
                self.kernel.push_back(item)
        target = self.intern_kernel()
        if target != NULL:
            if state.targets == empty_row:
                self.give_row(state)
            MW_STORE_STATE(state.targets[state.classes[byte]], target)
        return target

    cdef void give_row(self, State* state) noexcept nogil:
        cdef State** row = <State**>malloc(state.n_classes * sizeof(State*))
        memset(row, 0, state.n_classes * sizeof(State*))
        self.bytes_used += state.n_classes * sizeof(State*)
        MW_STORE_ROW(state.targets, row)

    cdef State* step_token(self, State* state, int32_t token, State* as_text) noexcept nogil:
        """State after a token that the grammar may name by id; `as_text` is where its bytes lead."""
        cdef int32_t i
        cdef size_t j
        cdef Item item
        cdef vector[int32_t]* members
        self.kernel.clear()
        self.returned.clear()
        for i in range(as_text.n_kernel):
            self.kernel.push_back(self.kernels[as_text.kernel_off + i])
        for i in range(state.n_items):
            item = self.items[state.item_off + i]
            if item.lex >= 0:
                continue
            members = &self.network.token_sets[self.network.edges[item.edge].label]
            for j in range(members.size()):
                if members[0][j] == token:
                    self.push_node(
                        self.network.edges[item.edge].target, resolved(state, item.ret), item.reg
                    )
                    break
        return self.intern_kernel()

    cdef State* continuation(self, State* state, Item* item, bint any_text) noexcept nogil:
        """State in which only this item of `state` has matched its lexeme, and nothing else is open.

        What a Fresh edge matched is not remembered in it. With `any_text` what follows is what may follow some text
        or other; masks see to the difference.
        """
        cdef Item copy = item[0]
        if any_text and self.network.edges[copy.edge].kind == EDGE_FRESH:
            copy.reg = self.network.remember_any(copy.reg, &self.network.edges[copy.edge])
        self.kernel.clear()
        self.returned.clear()
        self.push_node(self.network.edges[copy.edge].target, resolved(state, copy.ret), copy.reg)
        return self.intern_kernel()

    cdef State* coasted(self, State* state, int32_t count) noexcept nogil:
        """The state `count` repetitions on from one that has a `coast`; NULL with `error` set."""
        cdef Item item = self.items[state.item_off]
        cdef Node node = self.table.nodes[item.lex]
        cdef int32_t rest = NODE_EPSILON
        if node.op == OP_CONCAT:
            rest = node.b
            node = self.table.nodes[node.a]
        item.lex = self.table.concat(self.table.repeat(node.a, node.b, node.c - count), rest)
        if item.lex < 0:
            self.error = item.lex
            return NULL
        item.ret = resolved(state, item.ret)
        self.kernel.clear()
        self.returned.clear()
        self.kernel.push_back(item)
        return self.intern_kernel()

    cdef int32_t register_after(self, Item* item) noexcept nogil:
        """The register of an item whose lexeme ends here; negative if it could not be made."""
        cdef NetEdge* edge = &self.network.edges[item.edge]
        return self.network.remember(item.reg, edge) if edge.kind == EDGE_FRESH else item.reg

    # ---- kernels ---------------------------------------------------------------------------------

    cdef void push_node(self, int32_t node, int32_t ret, int32_t reg) noexcept nogil:
        """Add "at this node" to the kernel; a node with nothing left to do stands for its callers."""
        cdef Item item
        if self.network.nodes[node].last:
            self.push_return(ret)
            return
        item.edge = -1 - node
        item.lex = 0
        item.ret = ret
        item.reg = reg
        self.kernel.push_back(item)

    cdef void push_return(self, int32_t ret) noexcept nogil:
        """A rule instance is over: put its callers in the kernel, and theirs if they are over too."""
        cdef Item item
        cdef size_t i
        cdef int32_t j, pred
        cdef State* origin
        cdef Wait wait
        # A list of work instead of recursion: a chain of callers can be as long as the output.
        self.ending.push_back(ret)
        while not self.ending.empty():
            ret = self.ending.back()
            self.ending.pop_back()
            # Callers can form a cycle (a rule that is its own last part).
            if self.has_returned(ret):
                continue
            if ret == RET_ROOT:
                item.edge = EDGE_DONE
                item.lex = 0
                item.ret = RET_ROOT
                item.reg = 0
                self.kernel.push_back(item)
                continue
            origin = self.ret_states[ret]
            pred = ret - origin.ret_base
            for j in range(origin.n_waits):
                wait = self.waits[origin.wait_off + j]
                if wait.pred != pred:
                    continue
                item.edge = self.network.edges[wait.edge].target
                item.ret = resolved(origin, wait.ret)
                if self.network.nodes[item.edge].last:
                    self.ending.push_back(item.ret)
                else:
                    item.edge = -1 - item.edge
                    item.lex = 0
                    item.reg = wait.reg
                    self.kernel.push_back(item)

    cdef bint has_returned(self, int32_t ret) noexcept nogil:
        """Whether this return address was handled in the current slow step; remembers it."""
        cdef size_t i
        if self.returned.size() < SCAN_LIMIT:
            for i in range(self.returned.size()):
                if self.returned[i] == ret:
                    return True
        else:
            if self.returned.size() == SCAN_LIMIT:
                self.returned_keys.clear()
                self.returned_keys.insert(self.returned.begin(), self.returned.end())
            if not self.returned_keys.insert(ret).second:
                return True
        self.returned.push_back(ret)
        return False

    cdef State* intern_kernel(self) noexcept nogil:
        """The state of the kernel in scratch, closed if it is new."""
        cdef size_t i, kept, size, mask, slot
        cdef uint64_t hash_ = 0x6D61736B
        cdef State* state
        if self.kernel.empty():
            return self.dead
        if self.kernel.size() > 1:
            sort(self.kernel.begin(), self.kernel.end(), item_less)
            kept = 1
            for i in range(1, self.kernel.size()):
                if memcmp(&self.kernel[i], &self.kernel[kept - 1], sizeof(Item)) != 0:
                    self.kernel[kept] = self.kernel[i]
                    kept += 1
            self.kernel.resize(kept)
        size = self.kernel.size()
        for i in range(size):
            hash_ = mix(hash_, (<uint64_t><uint32_t>self.kernel[i].edge << 32) | <uint32_t>self.kernel[i].lex)
            hash_ = mix(hash_, (<uint64_t><uint32_t>self.kernel[i].ret << 32) | <uint32_t>self.kernel[i].reg)
        mask = self.slots.size() - 1
        slot = hash_ & mask
        while self.slots[slot] != NULL:
            state = self.slots[slot]
            if (
                state.hash == hash_
                and <size_t>state.n_kernel == size
                and memcmp(&self.kernels[state.kernel_off], &self.kernel[0], size * sizeof(Item)) == 0
            ):
                return state
            slot = (slot + 1) & mask
        return self.close(hash_)

    # ---- closure ---------------------------------------------------------------------------------

    cdef State* close(self, uint64_t hash_) noexcept nogil:
        """Make the state of the kernel in scratch: predictions and waiting callers included."""
        cdef State* state
        cdef size_t i, mask, slot
        cdef int32_t classes
        if self.bytes_used > self.max_bytes:
            self.error = CODE_FULL
            return NULL
        if not self.close_items():
            return NULL
        if self.new_items.empty() and not self.new_accepting:
            return self.dead
        classes = self.classes_of_items()
        if classes < 0:
            self.error = CODE_LIMIT
            return NULL
        state = self.new_state()
        state.classes = self.table.maps[classes]
        state.n_classes = self.table.map_sizes[classes]
        state.targets = empty_row
        state.accepting = self.new_accepting
        state.hash = hash_
        state.kernel_off = <int32_t>self.kernels.size()
        state.n_kernel = <int32_t>self.kernel.size()
        self.kernels.insert(self.kernels.end(), self.kernel.begin(), self.kernel.end())
        state.item_off = <int32_t>self.items.size()
        state.n_items = <int32_t>self.new_items.size()
        self.items.insert(self.items.end(), self.new_items.begin(), self.new_items.end())
        state.wait_off = <int32_t>self.waits.size()
        state.n_waits = <int32_t>self.new_waits.size()
        self.waits.insert(self.waits.end(), self.new_waits.begin(), self.new_waits.end())
        state.ret_base = <int32_t>self.ret_states.size()
        state.n_preds = <int32_t>self.preds.size()
        for i in range(self.preds.size()):
            self.ret_states.push_back(state)
        for i in range(self.new_items.size()):
            if self.new_items[i].lex < 0:
                state.has_tokens = 1
        self.bytes_used += (
            (self.kernel.size() + self.new_items.size() + self.new_waits.size()) * sizeof(Item)
            + self.preds.size() * sizeof(State*)
        )
        mask = self.slots.size() - 1
        slot = hash_ & mask
        while self.slots[slot] != NULL:
            slot = (slot + 1) & mask
        self.slots[slot] = state
        if <size_t>self.n_states * 2 > self.slots.size():
            self.grow()
        return state

    cdef int32_t classes_of_items(self) noexcept nogil:
        """The byte classes of `new_items` together; CODE_LIMIT if they could not be made."""
        cdef uint64_t[4] first_bytes
        cdef const Node* rec
        cdef size_t i
        cdef int32_t classes = self.table.one_class, more
        cdef int byte
        memset(first_bytes, 0, sizeof(first_bytes))
        for i in range(self.new_items.size()):
            if self.new_items[i].lex < 0:
                continue
            if self.network.edges[self.new_items[i].edge].kind == EDGE_FRESH:
                # What was matched is remembered, so no two bytes lead to the same state.
                return self.table.each_byte
            rec = &self.table.nodes[self.new_items[i].lex]
            if rec.op == OP_LITERAL:
                # An object's names are many: each of their first bytes is a class.
                byte = self.table.pool[rec.a]
                first_bytes[byte >> 6] |= <uint64_t>1 << (byte & 63)
                continue
            more = self.table.class_map(self.new_items[i].lex, 0)
            classes = self.table.meet(classes, more) if more >= 0 else more
            if classes < 0:
                return CODE_LIMIT
        return self.table.meet(classes, self.classes_apart(first_bytes))

    cdef int32_t classes_apart(self, const uint64_t* members) noexcept nogil:
        """The byte classes that tell each byte of a set from all others."""
        cdef pair[pair[uint64_t, uint64_t], pair[uint64_t, uint64_t]] key
        cdef uint8_t[256] classes
        cdef int byte, count = 0
        key.first.first = members[0]
        key.first.second = members[1]
        key.second.first = members[2]
        key.second.second = members[3]
        if self.apart.find(key) == self.apart.end():
            memset(classes, 0, sizeof(classes))
            for byte in range(256):
                if (members[byte >> 6] >> (byte & 63)) & 1:
                    # Of 256 the last gets the number of the others, of which there are none.
                    count += 1
                    classes[byte] = <uint8_t>count
            self.apart[key] = self.table.intern_map(classes)
            self.bytes_used += sizeof(key) + 64
        return self.apart[key]

    cdef bint close_items(self) noexcept nogil:
        """Fill `new_items` and `new_waits` from the kernel. False with `error` set if it cannot."""
        cdef size_t i
        cdef Item item
        cdef Visit at
        cdef int32_t register
        self.new_items.clear()
        self.new_waits.clear()
        self.preds.clear()
        self.pred_done.clear()
        self.work.clear()
        self.visited.clear()
        self.returned.clear()
        self.new_accepting = 0
        for i in range(self.kernel.size()):
            item = self.kernel[i]
            if item.edge == EDGE_DONE:
                self.new_accepting = 1
            elif item.edge < 0:
                self.visit(-1 - item.edge, item.ret, item.reg)
            else:
                self.new_items.push_back(item)
                if self.table.nodes[item.lex].nullable:
                    register = self.register_after(&item)
                    if register < 0:
                        self.error = CODE_LIMIT
                        return False
                    self.visit(self.network.edges[item.edge].target, item.ret, register)
        while not self.work.empty():
            at = self.work.back()
            self.work.pop_back()
            if self.network.nodes[at.node].final:
                self.finish_rule(at.ret)
            if not self.follow_edges(at):
                return False
            if self.visited.size() > MAX_ITEMS:
                self.error = CODE_LIMIT
                return False
        return True

    cdef void visit(self, int32_t node, int32_t ret, int32_t reg) noexcept nogil:
        """Queue a position unless it was queued before."""
        cdef Visit at
        at.node = node
        at.ret = ret
        at.reg = reg
        self.n_visits += 1
        if not self.is_visited(at):
            self.visited.push_back(at)
            self.work.push_back(at)

    cdef bint is_visited(self, const Visit& at) noexcept nogil:
        """Whether a position is in `visited`; if it is not, it is about to be added."""
        cdef size_t i, slot, size = 64
        if self.visited.size() < SCAN_LIMIT:
            for i in range(self.visited.size()):
                if is_same(self.visited[i], at):
                    return True
            return False
        # Made anew whenever it would be half full, from all that is there.
        while size <= 2 * self.visited.size():
            size *= 2
        if self.visited.size() == SCAN_LIMIT or size != self.visit_slots.size():
            self.visit_slots.assign(size, 0)
            for i in range(self.visited.size()):
                self.visit_slots[self.visit_slot(self.visited[i])] = <int32_t>i + 1
        slot = self.visit_slot(at)
        if self.visit_slots[slot]:
            return True
        self.visit_slots[slot] = <int32_t>self.visited.size() + 1
        return False

    cdef size_t visit_slot(self, const Visit& at) noexcept nogil:
        """Where in `visit_slots` a position is, or would be put."""
        cdef size_t mask = self.visit_slots.size() - 1
        cdef size_t slot = mix(mix(<uint32_t>at.node, <uint32_t>at.ret), <uint32_t>at.reg) & mask
        while self.visit_slots[slot] and not is_same(self.visited[self.visit_slots[slot] - 1], at):
            slot = (slot + 1) & mask
        return slot

    cdef bint follow_edges(self, Visit at) noexcept nogil:
        cdef NetNode node = self.network.nodes[at.node]
        cdef NetEdge* edge
        cdef Item item
        cdef Wait wait
        cdef int32_t i, start, register
        cdef int live
        cdef size_t pred
        for i in range(node.first, node.first + node.count):
            edge = &self.network.edges[i]
            if edge.kind == EDGE_DEAD:
                continue
            if edge.kind == EDGE_EPSILON:
                register = self.network.apply(at.reg, edge)
                if register >= 0:
                    self.visit(edge.target, at.ret, register)
                continue
            if edge.kind != EDGE_CALL:
                item.edge = i
                item.lex = edge.label if edge.kind != EDGE_TOKENS else -1
                if edge.kind == EDGE_FRESH:
                    item.lex = self.network.fresh_lexeme(at.reg, edge)
                    live = self.table.is_live(item.lex) if item.lex >= 0 else -1
                    if live < 0:
                        self.error = CODE_LIMIT
                        return False
                    if not live:
                        continue
                item.ret = at.ret
                item.reg = at.reg
                self.new_items.push_back(item)
                if item.lex >= 0 and self.table.nodes[item.lex].nullable:
                    register = self.register_after(&item)
                    if register < 0:
                        self.error = CODE_LIMIT
                        return False
                    self.visit(edge.target, at.ret, register)
                continue
            start = self.network.rule_start[edge.label]
            if start < 0:
                self.pending_rule = edge.label
                self.error = CODE_EXPAND
                return False
            if edge.tail:
                self.visit(start, at.ret, 0)
                continue
            pred = 0
            while pred < self.preds.size() and self.preds[pred] != edge.label:
                pred += 1
            if pred == self.preds.size():
                self.preds.push_back(edge.label)
                self.pred_done.push_back(0)
            wait.pred = <int32_t>pred
            wait.edge = i
            wait.ret = at.ret
            wait.reg = at.reg
            self.new_waits.push_back(wait)
            self.visit(start, RET_SELF - <int32_t>pred, 0)
            if self.pred_done[pred]:
                self.visit(edge.target, at.ret, at.reg)
        return True

    cdef void finish_rule(self, int32_t ret) noexcept nogil:
        """A rule instance may end here: advance whoever waits for it."""
        cdef State* origin
        cdef Wait wait
        cdef size_t i
        cdef int32_t j, pred
        if ret == RET_ROOT:
            self.new_accepting = 1
            return
        if ret < 0:
            pred = RET_SELF - ret
            if self.pred_done[pred]:
                return
            self.pred_done[pred] = 1
            for i in range(self.new_waits.size()):
                wait = self.new_waits[i]
                if wait.pred == pred:
                    self.visit(self.network.edges[wait.edge].target, wait.ret, wait.reg)
            return
        if self.has_returned(ret):
            return
        origin = self.ret_states[ret]
        pred = ret - origin.ret_base
        for j in range(origin.n_waits):
            wait = self.waits[origin.wait_off + j]
            if wait.pred == pred:
                self.visit(self.network.edges[wait.edge].target, resolved(origin, wait.ret), wait.reg)

    # ---- storage ---------------------------------------------------------------------------------

    cdef State* new_state(self) noexcept nogil:
        if self.chunks.empty() or self.chunk_used == CHUNK:
            self.chunks.push_back(<State*>malloc(CHUNK * sizeof(State)))
            self.chunk_used = 0
            self.bytes_used += CHUNK * sizeof(State)
        cdef State* state = self.chunks.back() + self.chunk_used
        self.chunk_used += 1
        self.n_states += 1
        memset(state, 0, sizeof(State))
        return state

    cdef void grow(self) noexcept nogil:
        cdef size_t i, mask = self.slots.size() * 2 - 1, slot
        cdef State* state
        cdef vector[State*] old = self.slots
        self.slots.assign(mask + 1, NULL)
        for i in range(old.size()):
            state = old[i]
            if state != NULL:
                slot = state.hash & mask
                while self.slots[slot] != NULL:
                    slot = (slot + 1) & mask
                self.slots[slot] = state


cdef inline bint is_same(const Visit& left, const Visit& right) noexcept nogil:
    return left.node == right.node and left.ret == right.ret and left.reg == right.reg
