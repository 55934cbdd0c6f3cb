# Completions: how an output may end from here, as bytes and as the fewest tokens that spell them.
#
# The idea. A completion is a chain of cells: the rest of the lexeme that an item stands in, then piece by piece the
# shortest way (shortest.pyx) to the end of its rule, then of each caller. A cell is known by its place, so
# completions share their ends, and from the end backwards each position learns the fewest tokens that spell what
# remains: the shortest-path form of tokenisation, with tokens that reach over the borders of pieces. An item
# costs a handful of trie walks, whatever the depth of nesting or the number of items still to come.
#
# What is promised. `need` of a state is the number of tokens that suffices to complete the output, and that a
# token is on the way means that the state after it needs at least one token less: a plan made here is one of the
# plans seen from there. It is the fewest tokens over the shortest completions of the state's items; a completion
# longer in bytes may take fewer.
#
# Left recursion lets a rule wait for itself. Such cells are evaluated together, again and again, until nothing
# gets smaller.
#
# Locking. Everything under `Completions` expects the table's lock.

from .automaton cimport RET_ROOT, Wait, resolved
from .network cimport EDGE_CALL, EDGE_EPSILON, EDGE_FRESH, EDGE_TOKENS, NetEdge
from .nodes cimport CODE_EXPAND, NODE_EMPTY
from .shortest cimport MW_FAR, Way
from .trie cimport Trie, trie_child

# Bytes of one shortest string.
cdef int32_t TEXT_LIMIT = 200_000
# Cells after which they are made anew.
cdef size_t MAX_CELLS = 1_000_000
cdef size_t MAX_LEASTS = 20_000_000
# Long strings are cut into pieces of so many bytes.
cdef int32_t CHUNK_BYTES = 64

cdef enum:
    CELL_TEXT           # its text, then one of `nexts`
    CELL_TOKEN          # one token by id, then its `nexts`
    CELL_END            # the output is complete
    CELL_NEVER          # no way on from here

cdef enum:
    STAGE_NEW
    STAGE_BUILT         # knows its text and what follows
    STAGE_WAITING       # in `work`
    STAGE_DONE

# Where the spelling of a token stands: a node of the trie, a cell, and a position in its text.
cdef struct Spelling:
    int32_t node
    int32_t cell
    int32_t place


cdef inline pair[uint64_t, uint64_t] key_of(int32_t a, int32_t b, int32_t c, int32_t d) noexcept nogil:
    return pair[uint64_t, uint64_t](
        (<uint64_t><unsigned int>a << 32) | <unsigned int>b, (<uint64_t><unsigned int>c << 32) | <unsigned int>d
    )


cdef class Completions:
    """Completions of the outputs of one generation of an automaton."""

    def __init__(self, TokenTrie vocabulary, Automaton automaton, Shortest shortest):
        self.vocabulary = vocabulary
        self.table = shortest.table
        self.network = automaton.network
        self.shortest = shortest

    cdef void forget(self) noexcept nogil:
        """Drop all cells, which can be made again at any time."""
        self.frames.clear()
        self.frame_ids.clear()
        self.cells.clear()
        self.cell_ids.clear()
        self.item_ids.clear()
        self.pool.clear()
        self.chunks.clear()
        self.nexts.clear()
        self.leasts.clear()
        self.work.clear()
        self.evaluated.clear()

    # ---- cells -----------------------------------------------------------------------------------

    cdef int32_t frame_of(self, int32_t ret, int32_t node, int32_t register, int32_t up) noexcept nogil:
        cdef pair[uint64_t, uint64_t] key = key_of(ret, node, register, up)
        cdef Frame frame
        if self.frame_ids.find(key) == self.frame_ids.end():
            frame.ret = ret
            frame.node = node
            frame.register = register
            frame.up = up
            self.frame_ids[key] = <int32_t>self.frames.size()
            self.frames.push_back(frame)
        return self.frame_ids[key]

    cdef int32_t new_cell(self, int32_t node, int32_t register, int32_t frame) noexcept nogil:
        cdef Cell cell
        cell.node = node
        cell.register = register
        cell.frame = frame
        cell.kind = CELL_TEXT
        cell.stage = STAGE_NEW
        cell.text = cell.length = cell.next = cell.n_next = 0
        cell.least = -1
        cell.n_bytes = MW_FAR
        self.cells.push_back(cell)
        return <int32_t>self.cells.size() - 1

    cdef int32_t cell_at(self, int32_t node, int32_t register, int32_t frame) noexcept nogil:
        cdef pair[uint64_t, uint64_t] key = key_of(node, register, frame, 0)
        if self.cell_ids.find(key) == self.cell_ids.end():
            self.cell_ids[key] = self.new_cell(node, register, frame)
        return self.cell_ids[key]

    cdef int32_t cell_of(self, State* state, Item* item) noexcept nogil:
        """The cell of an item: the rest of its lexeme, then what follows its edge."""
        return self.cell_inside(item.edge, item.lex, self.frame_of(resolved(state, item.ret), 0, 0, 0), item.reg)

    cdef int32_t cell_inside(self, int32_t edge, int32_t lex, int32_t frame, int32_t register) noexcept nogil:
        """The cell of a place inside an edge: a piece of the shortest string of the lexeme state, and what follows it."""
        cdef pair[uint64_t, uint64_t] key = key_of(edge, lex, frame, register)
        cdef int32_t kind = self.network.edges[edge].kind, found, i
        cdef Chunk chunk
        if self.item_ids.find(key) != self.item_ids.end():
            return self.item_ids[key]
        found = self.new_cell(-1, 0, frame)
        self.item_ids[key] = found
        self.cells[found].stage = STAGE_BUILT
        if lex < 0:
            self.cells[found].kind = CELL_TOKEN
            self.add_next(found, self.cell_at(self.network.edges[edge].target, register, frame))
            return found
        chunk = self.chunk_of(lex)
        if kind == EDGE_FRESH:
            for i in range(chunk.length):
                register = self.network.extend_text(register, self.pool[chunk.text + i])
        if chunk.length < 0:
            self.cells[found].kind = CELL_NEVER
            return found
        self.cells[found].text = chunk.text
        self.cells[found].length = chunk.length
        if not self.table.nodes[chunk.state].nullable:
            self.add_next(found, self.cell_inside(edge, chunk.state, frame, register))
            return found
        if kind == EDGE_FRESH:
            register = self.network.remember(register, &self.network.edges[edge])
        if register < 0:
            self.cells[found].kind = CELL_NEVER
        else:
            self.add_next(found, self.cell_at(self.network.edges[edge].target, register, frame))
        return found

    cdef void add_next(self, int32_t cell, int32_t following) noexcept nogil:
        if self.cells[cell].n_next == 0:
            self.cells[cell].next = <int32_t>self.nexts.size()
        self.nexts.push_back(following)
        self.cells[cell].n_next += 1

    cdef Chunk chunk_of(self, int32_t lex) noexcept nogil:
        """The shortest string of a lexeme state, or as much of it as goes to the next multiple of CHUNK_BYTES from its
        end: states in the middle of a long string share the rest of it."""
        cdef Chunk chunk
        cdef int byte
        cdef int64_t left
        if self.chunks.find(lex) != self.chunks.end():
            return self.chunks[lex]
        chunk.text = <int32_t>self.pool.size()
        chunk.length = 0
        chunk.state = lex
        left = self.shortest.distance(lex)
        if left > TEXT_LIMIT:
            chunk.length = -1
        while chunk.length >= 0 and left > 0 and (chunk.length == 0 or left % CHUNK_BYTES):
            byte = self.shortest.first_byte(chunk.state)
            if byte >= 0:
                chunk.state = self.table.step(chunk.state, <uint8_t>byte)
            if byte < 0 or chunk.state <= NODE_EMPTY:
                chunk.length = -1
                break
            self.pool.push_back(<uint8_t>byte)
            chunk.length += 1
            left -= 1
        self.chunks[lex] = chunk
        return chunk

    cdef int build(self, Automaton automaton, int32_t cell) noexcept nogil:
        """Find a cell's text and what follows it. CODE_EXPAND with `automaton.pending_rule` if a rule is missing."""
        cdef int32_t node = self.cells[cell].node, register = self.cells[cell].register
        cdef int32_t frame = self.cells[cell].frame, lex, following, i
        cdef Frame above
        cdef Way way
        cdef NetEdge* edge
        cdef State* origin
        cdef Wait wait
        cdef int64_t cost = self.shortest.way(node, register, &way)
        if cost == CODE_EXPAND:
            automaton.pending_rule = self.shortest.needed
            return CODE_EXPAND
        self.cells[cell].stage = STAGE_BUILT
        if cost >= MW_FAR:
            self.cells[cell].kind = CELL_NEVER
            return 0
        if way.edge < 0:
            above = self.frames[frame]
            if above.ret == RET_ROOT:
                self.cells[cell].kind = CELL_END
            elif above.ret < 0:
                self.add_next(cell, self.cell_at(above.node, above.register, above.up))
            else:
                origin = automaton.ret_states[above.ret]
                for i in range(origin.n_waits):
                    wait = automaton.waits[origin.wait_off + i]
                    if wait.pred == above.ret - origin.ret_base:
                        following = self.frame_of(resolved(origin, wait.ret), 0, 0, 0)
                        self.add_next(
                            cell, self.cell_at(self.network.edges[wait.edge].target, wait.reg, following)
                        )
            return 0
        edge = &self.network.edges[way.edge]
        if edge.kind == EDGE_CALL:
            if not edge.tail:
                frame = self.frame_of(-1, edge.target, way.register, frame)
            self.add_next(cell, self.cell_at(self.network.rule_start[edge.label], 0, frame))
            return 0
        if edge.kind == EDGE_EPSILON:
            self.add_next(cell, self.cell_at(edge.target, way.register, frame))
            return 0
        lex = edge.label
        if edge.kind == EDGE_TOKENS:
            lex = -1
        elif edge.kind == EDGE_FRESH:
            lex = self.network.fresh_lexeme(register, edge)
        # The register before the edge: what a Fresh edge matches is remembered inside.
        self.add_next(cell, self.cell_inside(way.edge, lex, frame, register))
        return 0

    # ---- counting tokens -------------------------------------------------------------------------

    cdef int evaluate(self, Automaton automaton, int32_t cell) noexcept nogil:
        """Count the tokens from a cell and from all that may follow it; a code below 0 if a rule is missing."""
        cdef int32_t here, i, following
        cdef int code
        cdef size_t j
        cdef bint changed = True
        if not self.work.empty():
            # An evaluation was left when a rule was missing.
            for j in range(self.work.size()):
                if self.cells[self.work[j]].stage == STAGE_WAITING:
                    self.cells[self.work[j]].stage = STAGE_BUILT
            for j in range(self.evaluated.size()):
                self.cells[self.evaluated[j]].stage = STAGE_BUILT
            self.work.clear()
        if self.cells[cell].stage == STAGE_DONE:
            return 0
        self.evaluated.clear()
        self.cyclic = False
        self.work.push_back(cell)
        while not self.work.empty():
            here = self.work.back()
            if self.cells[here].stage == STAGE_DONE:
                self.work.pop_back()
            elif self.cells[here].stage == STAGE_WAITING:
                self.compute(here)
                self.cells[here].stage = STAGE_DONE
                self.evaluated.push_back(here)
                self.work.pop_back()
            else:
                if self.cells[here].stage == STAGE_NEW:
                    code = self.build(automaton, here)
                    if code < 0:
                        return code
                self.cells[here].stage = STAGE_WAITING
                for i in range(self.cells[here].n_next):
                    following = self.nexts[self.cells[here].next + i]
                    if self.cells[following].stage == STAGE_WAITING:
                        self.cyclic = True
                    elif self.cells[following].stage != STAGE_DONE:
                        self.work.push_back(following)
        while self.cyclic and changed:
            changed = False
            for j in range(self.evaluated.size()):
                changed = self.compute(self.evaluated[j]) or changed
        self.evaluated.clear()
        return 0

    cdef bint compute(self, int32_t cell) noexcept nogil:
        """Count anew; returns whether anything has become smaller."""
        cdef int32_t i, place, least = NEVER, following
        cdef int64_t n_bytes = MW_FAR
        cdef bint changed = False
        if self.cells[cell].least < 0:
            self.cells[cell].least = <int32_t>self.leasts.size()
            self.leasts.resize(self.leasts.size() + self.cells[cell].length + 1, NEVER)
        if self.cells[cell].kind == CELL_END:
            least = 0
            n_bytes = 0
        for i in range(self.cells[cell].n_next):
            following = self.nexts[self.cells[cell].next + i]
            n_bytes = min(n_bytes, self.cells[following].n_bytes)
            if self.cells[following].least >= 0:
                least = min(least, self.leasts[self.cells[following].least])
        if self.cells[cell].kind == CELL_TOKEN:
            least = min(least + 1, <int32_t>NEVER)
            n_bytes = MW_FAR
        if n_bytes < MW_FAR and n_bytes + self.cells[cell].length < self.cells[cell].n_bytes:
            self.cells[cell].n_bytes = n_bytes + self.cells[cell].length
            changed = True
        for place in range(self.cells[cell].length, -1, -1):
            if place < self.cells[cell].length:
                least = self.fewest_from(cell, place)
            if least < self.leasts[self.cells[cell].least + place]:
                self.leasts[self.cells[cell].least + place] = least
                changed = True
        return changed

    cdef int32_t fewest_from(self, int32_t cell, int32_t place) noexcept nogil:
        """The fewest tokens from a position in a text: one token more than from the best place that one leads to."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Spelling] others
        cdef Spelling at, more
        cdef int32_t best = NEVER, i
        cdef size_t j = 0, k
        cdef bint met
        at.node = 0
        at.cell = cell
        at.place = place
        while True:
            while at.node >= 0 and at.place < self.cells[at.cell].length:
                at.node = trie_child(trie, at.node, self.pool[self.cells[at.cell].text + at.place])
                at.place += 1
                if at.node >= 0 and trie.nodes[at.node].own > trie.nodes[at.node].low:
                    if self.cells[at.cell].least >= 0:
                        best = min(best, self.leasts[self.cells[at.cell].least + at.place] + 1)
            if at.node >= 0 and trie.nodes[at.node].count > 0 and self.cells[at.cell].kind == CELL_TEXT:
                for i in range(self.cells[at.cell].n_next):
                    more.node = at.node
                    more.cell = self.nexts[self.cells[at.cell].next + i]
                    more.place = 0
                    # Cells without text may lead back to each other.
                    met = False
                    for k in range(others.size()):
                        met = met or (others[k].cell == more.cell and others[k].node == more.node)
                    if not met:
                        others.push_back(more)
            if j == others.size():
                return best
            at = others[j]
            j += 1

    # ---- states ----------------------------------------------------------------------------------

    cdef int32_t need(self, Automaton automaton, State* state) noexcept nogil:
        """The number of tokens that suffices to complete the output from a state, without a stop token.

        Returns:
            NEVER if no number is known to; a code below 0 if a rule is missing.
        """
        cdef int32_t best = NEVER, i, cell
        cdef int code
        cdef Item item
        if state.need > 0:
            return state.need - 1
        if state.accepting:
            best = 0
        else:
            if self.cells.size() > MAX_CELLS or self.leasts.size() > MAX_LEASTS:
                self.forget()
            for i in range(state.n_items):
                item = automaton.items[state.item_off + i]
                cell = self.cell_of(state, &item)
                code = self.evaluate(automaton, cell)
                if code < 0:
                    return code
                best = min(best, self.leasts[self.cells[cell].least])
        state.need = best + 1
        return best

    cdef int32_t cheapest(self, Automaton automaton, State* state) noexcept nogil:
        """The cell with which the fewest bytes complete the output; -1 if there is none, a code below that as above."""
        cdef int32_t i, cell, best = -1
        cdef int code
        cdef Item item
        for i in range(state.n_items):
            item = automaton.items[state.item_off + i]
            cell = self.cell_of(state, &item)
            code = self.evaluate(automaton, cell)
            if code < 0:
                return code
            if self.cells[cell].n_bytes < MW_FAR and (best < 0 or self.cells[cell].n_bytes < self.cells[best].n_bytes):
                best = cell
        return best

    def text_from(self, int32_t cell) -> bytes:
        """The bytes of the shortest completion that begins with a cell. The caller holds the table's lock."""
        cdef int32_t i, following, best
        cdef int64_t n_bytes = self.cells[cell].n_bytes
        spelled = bytearray()
        while self.cells[cell].kind != CELL_END:
            for i in range(self.cells[cell].length):
                spelled.append(self.pool[self.cells[cell].text + i])
            best = -1
            for i in range(self.cells[cell].n_next):
                following = self.nexts[self.cells[cell].next + i]
                if best < 0 or self.cells[following].n_bytes < self.cells[best].n_bytes:
                    best = following
            cell = best
        assert len(spelled) == n_bytes
        return bytes(spelled)


def fewest_tokens(TokenTrie vocabulary, bytes text) -> int | None:
    """The least number of text tokens that spell `text`; None if none do."""
    cdef Trie* trie = &vocabulary.trie
    cdef Py_ssize_t length = len(text), start, end
    cdef int32_t node
    cdef vector[int32_t] best
    best.assign(length + 1, -1)
    best[0] = 0
    for start in range(length):
        if best[start] < 0:
            continue
        node = 0
        for end in range(start + 1, length + 1):
            node = trie_child(trie, node, <uint8_t>text[end - 1])
            if node < 0:
                break
            if trie.nodes[node].own > trie.nodes[node].low and (best[end] < 0 or best[start] + 1 < best[end]):
                best[end] = best[start] + 1
    return best[length] if best[length] >= 0 else None
