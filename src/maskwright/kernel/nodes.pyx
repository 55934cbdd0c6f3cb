# Lexeme nodes: regular languages over bytes as hash-consed expressions.
#
# What it does. A `maskwright.lexeme.Lexeme` description is interned as a node; equal structure is the
# same node, so a string body or a separator is one node in all schemas. The constructors keep the
# normal forms that make equal languages meet: concatenation leans right, a literal absorbs what
# follows it, unions and conjunctions are flat, sorted and without repetition, the empty language
# propagates. `lexemes.pyx` walks the nodes.
#
# The alphabet. Bytes that no token of the vocabulary holds are removed when byte sets and literals
# are interned, so "can end" always means "with bytes that this vocabulary can spell".
#
# Locking. Every method expects the table's lock to be held by the caller.

from cython.operator cimport dereference as deref
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset
from libcpp.algorithm cimport binary_search, sort

from math import lcm

from ..errors import LimitExceeded
from ..lexeme import Op
from .absorbing cimport Storage, absorb
from .multiples cimport PHASE_START, can_end, has_ended

# Recursion follows the nesting of an expression; 4,000 frames stay far below any thread's stack.
cdef int MAX_DEPTH = 4000

cdef int _EMPTY = Op.EMPTY
cdef int _EPSILON = Op.EPSILON
cdef int _LITERAL = Op.LITERAL
cdef int _BYTES = Op.BYTES
cdef int _LITERALS = Op.LITERALS
cdef int _CONCAT = Op.CONCAT
cdef int _UNION = Op.UNION
cdef int _INTERSECTION = Op.INTERSECTION
cdef int _COMPLEMENT = Op.COMPLEMENT
cdef int _REPEAT = Op.REPEAT
cdef int _AUTOMATON = Op.AUTOMATON
cdef int _MULTIPLES = Op.MULTIPLES
cdef int _ARRANGEMENT = Op.ARRANGEMENT


cdef inline uint64_t mix(uint64_t value, uint64_t more) noexcept nogil:
    # splitmix64's finaliser over a running value: cheap, and good in the low bits that index slots.
    value = (value ^ more) * <uint64_t>0x9E3779B97F4A7C15
    return value ^ (value >> 29)


cdef class NodePool:
    """Store of hash-consed lexeme nodes.

    Args:
        alphabet: The byte values that can occur, or None for all of them.
        max_nodes: Growth limit; beyond it constructors return CODE_LIMIT.
    """

    def __cinit__(self, alphabet=None, int32_t max_nodes=4_000_000):
        memset(self.alphabet, 0, sizeof(self.alphabet))
        for byte in range(256) if alphabet is None else sorted(alphabet):
            self.alphabet[byte >> 6] |= <uint64_t>1 << (byte & 63)
            self.alphabet_bytes.push_back(byte)
        self.max_nodes = max_nodes
        self.slots.assign(1 << 10, 0)
        self.trie_memo = {}
        self.multiples_memo = {}
        self.part_sets.resize(1)
        self.make(OP_EMPTY, 0, 0, 0)
        self.make(OP_EPSILON, 0, 0, 0)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.nodes.size()):
            free(self.nodes[i].targets)

    # ---- from descriptions ------------------------------------------------------------------

    cdef int32_t intern(self, Lexeme lexeme, int depth=0) except -4:
        """Node of a description. The caller holds the GIL and `lock`."""
        cdef int32_t node
        if lexeme.table is self:
            return lexeme.node
        if lexeme.other_table is self:
            node = lexeme.other_node
            lexeme.other_table = lexeme.table
            lexeme.other_node = lexeme.node
            lexeme.table = self
            lexeme.node = node
            return node
        if depth > MAX_DEPTH:
            raise LimitExceeded(
                "the expression is nested too deeply", resource="lexeme nesting", limit=MAX_DEPTH
            )
        cdef int op = lexeme.op
        cdef tuple args = lexeme.args
        cdef vector[int32_t] kids
        cdef uint64_t[4] words
        if op == _LITERAL:
            node = self.literal(args[0])
        elif op == _BYTES:
            mask = args[0]
            for i in range(4):
                words[i] = <uint64_t>((mask >> (64 * i)) & 0xFFFFFFFFFFFFFFFF)
            node = self.byte_set(words)
        elif op == _EMPTY:
            node = NODE_EMPTY
        elif op == _EPSILON:
            node = NODE_EPSILON
        elif op == _LITERALS:
            node = self.literal_trie(args)
        elif op == _AUTOMATON:
            node = self.explicit_automaton(args[0], args[1])
        elif op == _MULTIPLES:
            node = self.multiples_start(args)
        elif op == _ARRANGEMENT:
            node = self.arrangement_start(args)
        elif op == _REPEAT:
            node = self.intern(args[0], depth + 1)
            node = self.repeat(node, args[1], args[2])
        elif op == _COMPLEMENT:
            node = self.not_of(self.intern(args[0], depth + 1))
        else:
            for part in args:
                kids.push_back(self.intern(part, depth + 1))
            if op == _UNION:
                node = self.union_of(kids)
            elif op == _INTERSECTION:
                node = self.and_of(kids)
            else:
                node = kids.back()
                for i in range(<int>kids.size() - 2, -1, -1):
                    node = self.concat(kids[i], node)
        if node < 0:
            self._raise_limit()
        if lexeme.table is not None:
            lexeme.other_table = lexeme.table
            lexeme.other_node = lexeme.node
        lexeme.table = self
        lexeme.node = node
        return node

    cdef int32_t literal(self, bytes text):
        if not self._spellable(text):
            return NODE_EMPTY
        return self.literal_before(<const uint8_t*>text, len(text), NODE_EPSILON)

    cdef int32_t literal_before(self, const uint8_t* text, size_t length, int32_t rest) noexcept nogil:
        """A text that can be spelled, and then what another node holds."""
        cdef string key
        cdef unordered_map[string, int32_t].iterator found
        cdef int32_t offset
        if length == 0 or rest <= NODE_EMPTY:
            return rest
        key = string(<const char*>text, length)
        found = self.pool_offsets.find(key)
        if found != self.pool_offsets.end():
            offset = deref(found).second
        else:
            offset = <int32_t>self.pool.size()
            self.pool.insert(self.pool.end(), text, text + length)
            self.pool_offsets[key] = offset
        return self.make(OP_LITERAL, offset, <int32_t>length, rest)

    cdef int32_t literal_trie(self, tuple texts):
        """Trie of a sorted tuple of literals, built breadth first so that siblings are contiguous."""
        found = self.trie_memo.get(texts)
        if found is not None:
            return self.trie_leaf(found)
        spelled = [text for text in texts if self._spellable(text)]
        cdef int32_t root = self._new_trie_node(0)
        queue = [(root, 0, len(spelled), 0)]
        cdef int32_t child
        for node, low, high, depth in queue:
            if low < high and len(spelled[low]) == depth:
                self.trie_end[node] = 1
                low += 1
            groups = []
            while low < high:
                byte = spelled[low][depth]
                end = low
                while end < high and spelled[end][depth] == byte:
                    end += 1
                groups.append((byte, low, end))
                low = end
            self.trie_first[node] = <int32_t>self.trie_byte.size()
            self.trie_count[node] = len(groups)
            for byte, start, end in groups:
                child = self._new_trie_node(byte)
                queue.append((child, start, end, depth + 1))
        self.trie_memo[texts] = root
        return self.trie_leaf(root)

    cdef bint _spellable(self, bytes text):
        cdef uint8_t byte
        for byte in text:
            if not (self.alphabet[byte >> 6] >> (byte & 63)) & 1:
                return False
        return True

    cdef int32_t _new_trie_node(self, uint8_t byte):
        self.trie_byte.push_back(byte)
        self.trie_first.push_back(0)
        self.trie_count.push_back(0)
        self.trie_end.push_back(0)
        return <int32_t>self.trie_byte.size() - 1

    cdef int32_t explicit_automaton(self, tuple rows, tuple accepting):
        """Copy a DFA in, with transitions into states that cannot accept marked dead."""
        cdef int32_t base = <int32_t>self.dfa_row.size()
        cdef int32_t low, high, target, first
        cdef uint8_t ends
        live = self._live_states(rows, accepting)
        for index, row in enumerate(rows):
            first = <int32_t>self.dfa_ranges.size()
            self.dfa_row.push_back(first)
            ends = bool(accepting[index])
            self.dfa_end.push_back(ends)
            for low, high, target in row:
                if target in live:
                    self.dfa_ranges.push_back(low)
                    self.dfa_ranges.push_back(high)
                    self.dfa_ranges.push_back(base + target)
            self.dfa_count.push_back((<int32_t>self.dfa_ranges.size() - first) // 3)
        return self.dfa_leaf(base) if 0 in live else NODE_EMPTY

    cdef set _live_states(self, tuple rows, tuple accepting):
        sources = [[] for _ in rows]
        for index, row in enumerate(rows):
            for low, high, target in row:
                if self._overlaps_alphabet(low, high):
                    sources[target].append(index)
        queue = [index for index, ends in enumerate(accepting) if ends]
        live = set(queue)
        for state in queue:
            for source in sources[state]:
                if source not in live:
                    live.add(source)
                    queue.append(source)
        return live

    cdef bint _overlaps_alphabet(self, int low, int high):
        cdef int byte
        for byte in range(low, high + 1):
            if (self.alphabet[byte >> 6] >> (byte & 63)) & 1:
                return True
        return False

    cdef int32_t multiples_start(self, tuple args):
        """The node of `lexeme.multiples` in which nothing is read."""
        cdef Multiples what
        cdef int32_t which = self.multiples_memo.get(args, -1)
        if which < 0:
            wanted, unwanted, excluded, decimals, low, high, point = args
            what.wanted = wanted
            for value in unwanted:
                what.unwanted.push_back(value)
            for value in excluded:
                what.excluded.push_back(value)
            what.low = low
            what.high = high
            what.modulus = lcm(wanted, *unwanted)
            what.base = max(low, max(excluded, default=-1) + 1)
            what.unit = 10**decimals
            what.decimals = decimals
            what.point = point
            which = <int32_t>self.multiples.size()
            self.multiples.push_back(what)
            self.multiples_memo[args] = which
        cdef int found = can_end(&self.multiples[which], PHASE_START, 0)
        if found < 0:
            return CODE_LIMIT
        return self.multiples_leaf(which, PHASE_START, 0) if found else NODE_EMPTY

    cdef int32_t arrangement_start(self, tuple args) except -4:
        """The node of `lexeme.arrangement`. `LexemeTable` makes it: it can tell which parts can end."""
        raise NotImplementedError

    def _raise_limit(self):
        raise LimitExceeded(
            "a lexeme needs too many states",
            resource="lexeme states",
            limit=self.max_nodes,
            hint="simplify the pattern: long look-aheads and counted choices multiply states",
        )

    # ---- constructors: each keeps the normal form that makes equal languages meet ---------------

    cdef uint64_t hash_node(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil:
        cdef uint64_t value = mix(op, <uint32_t>b)
        cdef int32_t i
        if op == OP_UNION or op == OP_AND:
            for i in range(b):
                value = mix(value, <uint32_t>self.lists[a + i])
            return value
        return mix(mix(value, <uint32_t>a), <uint32_t>c)

    cdef bint same_node(self, int32_t node, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil:
        cdef Node* other = &self.nodes[node]
        if other.op != op or other.b != b:
            return False
        if op == OP_UNION or op == OP_AND:
            return memcmp(&self.lists[a], &self.lists[other.a], b * sizeof(int32_t)) == 0
        return other.a == a and other.c == c

    cdef int32_t make(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil:
        """The node (op, a, b, c), found or created."""
        cdef size_t mask = self.slots.size() - 1
        cdef uint64_t tag = self.hash_node(op, a, b, c) << 32
        cdef size_t slot = (tag >> 32) & mask
        # Nodes lie far apart in memory: only those whose hash fits are looked at.
        while self.slots[slot]:
            if (self.slots[slot] ^ tag) >> 32 == 0 and self.same_node(<int32_t>self.slots[slot] - 1, op, a, b, c):
                return <int32_t>self.slots[slot] - 1
            slot = (slot + 1) & mask
        cdef int32_t node = <int32_t>self.nodes.size()
        if node >= self.max_nodes:
            return CODE_LIMIT
        cdef Node fresh
        cdef int32_t i
        fresh.op = op
        fresh.a = a
        fresh.b = b
        fresh.c = c
        fresh.classes = -1
        fresh.follow = -1
        fresh.targets = NULL
        fresh.nullable = 0
        fresh.boolean = 0
        if op == OP_EPSILON:
            fresh.nullable = 1
        elif op == OP_LITERAL:
            fresh.boolean = self.nodes[c].boolean
        elif op == OP_TRIE:
            fresh.nullable = self.trie_end[a]
        elif op == OP_DFA:
            fresh.nullable = self.dfa_end[a]
        elif op == OP_CONCAT:
            fresh.nullable = self.nodes[a].nullable & self.nodes[b].nullable
            fresh.boolean = self.nodes[a].boolean | self.nodes[b].boolean
        elif op == OP_UNION:
            for i in range(b):
                fresh.nullable |= self.nodes[self.lists[a + i]].nullable
                fresh.boolean |= self.nodes[self.lists[a + i]].boolean
        elif op == OP_AND:
            fresh.nullable = 1
            fresh.boolean = 1
            for i in range(b):
                fresh.nullable &= self.nodes[self.lists[a + i]].nullable
        elif op == OP_NOT:
            fresh.nullable = 1 - self.nodes[a].nullable
            fresh.boolean = 1
        elif op == OP_REPEAT:
            fresh.nullable = 1 if b == 0 else self.nodes[a].nullable
            fresh.boolean = self.nodes[a].boolean
        elif op == OP_MULTIPLES:
            fresh.nullable = has_ended(&self.multiples[a >> 6], a & 63, multiple_value(b, c))
            # Only where all digits can be spelled is it enough that digits exist.
            fresh.boolean = not self._spells_digits(self.multiples[a >> 6].point)
        elif op == OP_ARRANGEMENT:
            # All parts can end, and the shortest string is found from theirs (distances.pyx): nothing to search for.
            fresh.boolean = 0
        if node == NODE_EMPTY:
            fresh.live = LIVE_NO
        elif fresh.nullable or not fresh.boolean or self.is_plainly_live(op, a, b, c):
            fresh.live = LIVE_YES
        else:
            fresh.live = LIVE_UNKNOWN
        self.nodes.push_back(fresh)
        self.slots[slot] = tag | <uint64_t>(node + 1)
        if <size_t>node * 2 > self.slots.size():
            self.grow_slots()
        return node

    cdef bint is_plainly_live(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil:
        """Whether a node to be made holds something because its parts are known to."""
        cdef int32_t i
        if op == OP_LITERAL:
            return self.nodes[c].live == LIVE_YES
        if op == OP_CONCAT:
            return self.nodes[a].live == LIVE_YES and self.nodes[b].live == LIVE_YES
        if op == OP_UNION:
            for i in range(b):
                if self.nodes[self.lists[a + i]].live == LIVE_YES:
                    return True
        return op == OP_ARRANGEMENT

    cdef void grow_slots(self) noexcept nogil:
        cdef size_t mask = self.slots.size() * 2 - 1
        cdef size_t slot, i
        cdef vector[uint64_t] before
        before.swap(self.slots)
        self.slots.assign(mask + 1, 0)
        for i in range(before.size()):
            if before[i]:
                slot = (before[i] >> 32) & mask
                while self.slots[slot]:
                    slot = (slot + 1) & mask
                self.slots[slot] = before[i]

    cdef int32_t make_list(self, uint8_t op, vector[int32_t]& kids) noexcept nogil:
        """UNION or AND over sorted, distinct children. The list is dropped again if it existed."""
        cdef int32_t offset = <int32_t>self.lists.size()
        cdef size_t before = self.nodes.size()
        cdef size_t i
        for i in range(kids.size()):
            self.lists.push_back(kids[i])
        cdef int32_t node = self.make(op, offset, <int32_t>kids.size(), 0)
        if self.nodes.size() == before:
            self.lists.resize(offset)
        return node

    cdef int32_t byte_set(self, uint64_t* words) noexcept nogil:
        cdef uint64_t[4] kept
        cdef int i
        for i in range(4):
            kept[i] = words[i] & self.alphabet[i]
        if not (kept[0] | kept[1] | kept[2] | kept[3]):
            return NODE_EMPTY
        cdef string key = string(<char*>kept, 32)
        cdef unordered_map[string, int32_t].iterator found = self.set_ids.find(key)
        cdef int32_t index
        if found != self.set_ids.end():
            index = deref(found).second
        else:
            index = <int32_t>(self.sets.size() >> 2)
            for i in range(4):
                self.sets.push_back(kept[i])
            self.set_ids[key] = index
        return self.make(OP_BYTES, index, 0, 0)

    cdef int32_t trie_leaf(self, int32_t trie_node) noexcept nogil:
        if self.trie_count[trie_node] == 0:
            return NODE_EPSILON if self.trie_end[trie_node] else NODE_EMPTY
        return self.make(OP_TRIE, trie_node, 0, 0)

    cdef int32_t dfa_leaf(self, int32_t dfa_state) noexcept nogil:
        if self.dfa_count[dfa_state] == 0:
            return NODE_EPSILON if self.dfa_end[dfa_state] else NODE_EMPTY
        return self.make(OP_DFA, dfa_state, 0, 0)

    cdef int32_t multiples_leaf(self, int32_t which, int32_t phase, int64_t value) noexcept nogil:
        return self.make(OP_MULTIPLES, which << 6 | phase, <int32_t><uint32_t>value, <int32_t>(value >> 32))

    cdef bint _spells_digits(self, bint point) noexcept nogil:
        """Whether the alphabet has the ten digits (bytes 48 to 57) and perhaps the point (46)."""
        cdef uint64_t needed = (<uint64_t>0x3FF << 48) | (<uint64_t>point << 46)
        return self.alphabet[0] & needed == needed

    cdef int32_t concat(self, int32_t first, int32_t rest) noexcept nogil:
        """Right-associated sequence; a literal absorbs what follows it."""
        if first < 0 or rest < 0:
            return CODE_LIMIT
        if first == NODE_EMPTY or rest == NODE_EMPTY:
            return NODE_EMPTY
        if first == NODE_EPSILON:
            return rest
        if rest == NODE_EPSILON:
            return first
        cdef Node node = self.nodes[first]
        # Not by recursion: a value that must not be repeated may have any length.
        cdef vector[int32_t] spine
        while node.op == OP_CONCAT or (node.op == OP_LITERAL and node.c != NODE_EPSILON):
            spine.push_back(first)
            first = node.b if node.op == OP_CONCAT else node.c
            node = self.nodes[first]
        if node.op == OP_LITERAL:
            rest = self.make(OP_LITERAL, node.a, node.b, rest)
        else:
            rest = self.make(OP_CONCAT, first, rest, 0)
        while rest >= 0 and not spine.empty():
            node = self.nodes[spine.back()]
            spine.pop_back()
            if node.op == OP_LITERAL:
                rest = self.make(OP_LITERAL, node.a, node.b, rest)
            else:
                rest = self.make(OP_CONCAT, node.a, rest, 0)
        return rest

    cdef int32_t union_of(self, vector[int32_t]& kids) noexcept nogil:
        cdef vector[int32_t] flat
        cdef uint64_t[4] bytes_
        cdef bint any_bytes = False, nullable_kid = False
        cdef size_t i
        cdef int32_t j
        cdef Node node
        memset(bytes_, 0, sizeof(bytes_))
        for i in range(kids.size()):
            if kids[i] < 0:
                return CODE_LIMIT
            node = self.nodes[kids[i]]
            if node.op == OP_UNION:
                for j in range(node.b):
                    flat.push_back(self.lists[node.a + j])
            elif node.op != OP_EMPTY:
                flat.push_back(kids[i])
        kids.clear()
        for i in range(flat.size()):
            node = self.nodes[flat[i]]
            if node.op == OP_BYTES:
                any_bytes = True
                for j in range(4):
                    bytes_[j] |= self.sets[4 * node.a + j]
            else:
                if node.nullable and node.op != OP_EPSILON:
                    nullable_kid = True
                if node.op == OP_NOT and node.a == NODE_EMPTY:
                    return flat[i]
                kids.push_back(flat[i])
        if any_bytes:
            kids.push_back(self.byte_set(bytes_))
        sort(kids.begin(), kids.end())
        flat.clear()
        for i in range(kids.size()):
            if kids[i] == NODE_EPSILON and nullable_kid:
                continue
            if flat.empty() or flat.back() != kids[i]:
                flat.push_back(kids[i])
        if flat.empty():
            return NODE_EMPTY
        if flat.size() > 1:
            self.absorb(flat)
        return flat[0] if flat.size() == 1 else self.make_list(OP_UNION, flat)

    cdef void absorb(self, vector[int32_t]& parts) noexcept nogil:
        cdef Storage storage
        storage.nodes = self.nodes.data()
        storage.lists = self.lists.data()
        storage.sets = self.sets.data()
        storage.pool = self.pool.data()
        absorb(storage, parts)

    cdef int32_t and_of(self, vector[int32_t]& kids) noexcept nogil:
        cdef vector[int32_t] flat
        cdef bint all_nullable = True
        cdef size_t i
        cdef int32_t j
        cdef Node node
        for i in range(kids.size()):
            if kids[i] < 0:
                return CODE_LIMIT
            node = self.nodes[kids[i]]
            if node.op == OP_EMPTY:
                return NODE_EMPTY
            if node.op == OP_AND:
                for j in range(node.b):
                    flat.push_back(self.lists[node.a + j])
            elif not (node.op == OP_NOT and node.a == NODE_EMPTY):
                flat.push_back(kids[i])
        if flat.empty():
            return self.not_of(NODE_EMPTY)
        sort(flat.begin(), flat.end())
        kids.clear()
        for i in range(flat.size()):
            if kids.empty() or kids.back() != flat[i]:
                kids.push_back(flat[i])
                all_nullable = all_nullable and self.nodes[flat[i]].nullable
        if kids[0] == NODE_EPSILON:
            return NODE_EPSILON if all_nullable else NODE_EMPTY
        if self.has_opposites(kids):
            return NODE_EMPTY
        return kids[0] if kids.size() == 1 else self.make_list(OP_AND, kids)

    cdef bint has_opposites(self, vector[int32_t]& kids) noexcept nogil:
        """Whether a node and its complement are among sorted nodes."""
        cdef size_t i
        for i in range(kids.size()):
            if self.nodes[kids[i]].op == OP_NOT:
                if binary_search(kids.begin(), kids.end(), self.nodes[kids[i]].a):
                    return True
        return False

    cdef int32_t not_of(self, int32_t part) noexcept nogil:
        if part < 0:
            return CODE_LIMIT
        if self.nodes[part].op == OP_NOT:
            return self.nodes[part].a
        return self.make(OP_NOT, part, 0, 0)

    cdef int32_t repeat(self, int32_t part, int32_t low, int32_t high) noexcept nogil:
        if part < 0:
            return CODE_LIMIT
        if high == 0 or part == NODE_EPSILON:
            return NODE_EPSILON
        if part == NODE_EMPTY:
            return NODE_EPSILON if low == 0 else NODE_EMPTY
        if low == 1 and high == 1:
            return part
        cdef Node node = self.nodes[part]
        if node.nullable:
            low = 0
        if node.op == OP_REPEAT and node.b == 0 and node.c < 0:
            return part
        return self.make(OP_REPEAT, part, low, high)
