# The network: a recursive transition network over lexemes, expanded rule by rule.
#
# What it does. It holds, for each rule expanded so far, numbered nodes and the edges between them
# (Woods, "Transition network grammars", 1970). A rule is expanded by Python, and its
# expression lowered to a fragment (`lowering`), when the automaton first predicts it; the kernel only reports
# which rule it needs.
#
# Registers. Each rule instance owns one register: counters and a set of small integers. An item
# carries one int32 for it. Values below REGISTER_BASE are counter 0 itself, because nearly every
# register is just "how many array items so far"; anything richer is interned here and the int is
# its index plus REGISTER_BASE.
#
# Remembered texts. `Fresh` edges keep what they matched in the register too: texts and sets of texts are
# numbered lists that share their beginnings, so they roll back and fork like everything else.

from cython.operator cimport dereference as deref
from libcpp.algorithm cimport reverse

from .lowering cimport Fragment, LocalEdge
from .nodes cimport CODE_LIMIT, NODE_EMPTY, NODE_EPSILON
from .orders cimport all_orders

from ..rules import Action

cdef int32_t REGISTER_BASE = 1 << 30

cdef int _COUNT = Action.COUNT
cdef int _AT_LEAST = Action.AT_LEAST
cdef int _MARK = Action.MARK
cdef int _ADD = Action.ADD
cdef int _HAS = Action.HAS
cdef int _LACKS = Action.LACKS


cdef class Network:
    """Nodes and edges of all rules expanded so far.

    Args:
        table: Where the lexemes live.
        root: The rule that a whole output must match.
        guards_checked: As for `maskwright.Grammar`.
        refused_token_ids: As for `CompiledCore`.
    """

    def __init__(self, LexemeTable table, root, bint guards_checked, frozenset refused_token_ids):
        self.guards_checked = guards_checked
        self.refused_token_ids = refused_token_ids
        self.table = table
        cdef Text no_text
        cdef TextSet no_texts
        no_text.before = 0
        no_text.byte = 0
        self.texts.push_back(no_text)
        no_texts.before = 0
        no_texts.text = 0
        no_texts.lexeme = NODE_EMPTY
        no_texts.is_open = False
        self.text_sets.push_back(no_texts)
        self.rules = []
        self.rule_ids = {}
        self.fragile = False
        self.root = self.rule_id(root)

    cdef int32_t rule_id(self, rule):
        found = self.rule_ids.get(id(rule))
        if found is None:
            found = len(self.rules)
            self.rules.append(rule)
            self.rule_ids[id(rule)] = found
            self.rule_start.push_back(-1)
        return found

    def is_expanded(self, int32_t rule) -> bool:
        """Whether a rule has its nodes."""
        return self.rule_start[rule] >= 0

    cdef int install(self, int32_t rule, Fragment fragment) except -1:
        """Add the nodes and edges of one rule. The caller holds the table's lock."""
        cdef int32_t base = <int32_t>self.nodes.size()
        cdef NetNode node
        cdef int32_t i, j
        cdef bint may_fail = not self.guards_checked and self.rules[rule].name != "repeat#"
        for i in range(fragment.n_nodes):
            node.first = <int32_t>self.edges.size()
            node.final = i == 1
            for j in range(fragment.first[i], fragment.first[i + 1]):
                self._install_edge(fragment, &fragment.edges[j], base, may_fail)
            node.count = <int32_t>self.edges.size() - node.first
            node.last = node.final and node.count == 0
            self.nodes.push_back(node)
        self.rule_start[rule] = base
        return 0

    cdef int _install_edge(self, Fragment fragment, LocalEdge* local, int32_t base, bint may_fail) except -1:
        """Add one edge, unless this vocabulary cannot spell what it stands for."""
        cdef NetEdge edge
        edge.kind = local.kind
        edge.target = base + local.target
        edge.action = local.action
        edge.a = local.a
        edge.b = local.b
        edge.c = local.c
        edge.label = 0
        # Node 1 is the end and, by construction, has no outgoing edges.
        edge.tail = edge.kind == EDGE_CALL and local.target == 1
        if edge.action:
            self.has_counts = True
            if may_fail:
                self.fragile = self.has_guards = True
        label = fragment.labels[local.label] if local.label >= 0 else None
        if edge.kind == EDGE_LEXEME or edge.kind == EDGE_FRESH:
            edge.label = self._joined(label)
            if edge.label == NODE_EMPTY or not self._can_match(edge.label):
                edge.label = -1
            elif edge.kind == EDGE_FRESH and self.table.nodes[edge.label].nullable:
                self.may_skip_fresh = True
        elif edge.kind == EDGE_CALL:
            edge.label = self.rule_id(label)
        elif edge.kind == EDGE_TOKENS:
            edge.label = self._token_set(label)
        if edge.label < 0:
            self.fragile = self.has_cuts = True
        else:
            self.edges.push_back(edge)
        return 0

    cdef int32_t _joined(self, label) except -4:
        """Node of a lexeme, or of several, one after another."""
        if type(label) is not list:
            return self.table.intern(label)
        cdef list parts = label
        cdef Py_ssize_t i = len(parts) - 1
        cdef int32_t node = self.table.intern(parts[i])
        while i > 0 and node >= 0:
            i -= 1
            node = self.table.concat(self.table.intern(parts[i]), node)
        if node < 0:
            self.table._raise_limit()
        return node

    def prune(self) -> bool:
        """Cut the edges from which no rule can end. All rules must be expanded.

        The least fixpoint of "can end" over nodes and rules. Only vocabularies that lack bytes or
        named tokens need it: front-ends make no such edges, but a terminal that cannot be spelled is
        empty here.

        Returns:
            Whether the root can end.
        """
        cdef vector[uint8_t] ends
        cdef size_t i
        cdef int32_t j
        cdef NetEdge* edge
        cdef bint changed = True
        ends.assign(self.nodes.size(), 0)
        while changed:
            changed = False
            for i in range(self.nodes.size()):
                if ends[i]:
                    continue
                ends[i] = self.nodes[i].final
                for j in range(self.nodes[i].first, self.nodes[i].first + self.nodes[i].count):
                    edge = &self.edges[j]
                    if ends[edge.target] and (
                        edge.kind != EDGE_CALL or ends[self.rule_start[edge.label]]
                    ):
                        ends[i] = 1
                        break
                changed = changed or ends[i]
        for i in range(self.edges.size()):
            edge = &self.edges[i]
            if not ends[edge.target] or (edge.kind == EDGE_CALL and not ends[self.rule_start[edge.label]]):
                edge.kind = EDGE_DEAD
                self.has_cuts = True
        # Where something was cut, a count may never be reached: the fixpoint does not count.
        self.fragile = self.has_guards or (self.has_cuts and self.has_counts)
        return bool(ends[self.rule_start[self.root]])

    cdef bint _can_match(self, int32_t lexeme) except -1:
        cdef int live = self.table.is_live(lexeme)
        if live < 0:
            self.table._raise_limit()
        return live

    cdef int32_t _token_set(self, tuple ids):
        """Number of the set of those ids that are not refused; -1 if none is left."""
        cdef vector[int32_t] members
        for token in sorted(set(ids) - self.refused_token_ids):
            members.push_back(token)
        if members.empty():
            return -1
        self.token_sets.push_back(members)
        return <int32_t>self.token_sets.size() - 1

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held by nodes and edges."""
        return self.nodes.capacity() * sizeof(NetNode) + self.edges.capacity() * sizeof(NetEdge)

    # ---- registers -------------------------------------------------------------------------------

    cdef int32_t apply(self, int32_t register, NetEdge* edge) noexcept nogil:
        """The register after an action, or -1 if its test fails."""
        if edge.action == 0:
            return register
        if register < REGISTER_BASE and edge.a == 0:
            if edge.action == _COUNT:
                if edge.b >= 0 and register >= edge.b:
                    return -1
                return register + 1 if register < edge.c else register
            if edge.action == _AT_LEAST:
                return register if register >= edge.b else -1
        return self.apply_to_value(register, edge)

    cdef int32_t apply_to_value(self, int32_t register, NetEdge* edge) noexcept nogil:
        cdef RegisterValue value
        cdef int32_t count
        cdef size_t word = <size_t>edge.a >> 6
        cdef uint64_t bit = <uint64_t>1 << (edge.a & 63)
        cdef bint present
        value = self.value_of(register)
        if edge.action == _COUNT or edge.action == _AT_LEAST:
            if value.counters.size() <= <size_t>edge.a:
                value.counters.resize(edge.a + 1, 0)
            count = value.counters[edge.a]
            if edge.action == _AT_LEAST:
                return register if count >= edge.b else -1
            if edge.b >= 0 and count >= edge.b:
                return -1
            if count < edge.c:
                value.counters[edge.a] = count + 1
            return self.intern_register(value)
        present = word < value.members.size() and (value.members[word] & bit) != 0
        if edge.action == _HAS:
            return register if present else -1
        if edge.action == _LACKS or (edge.action == _MARK and present):
            return -1 if present else register
        if present:
            return register
        if value.members.size() <= word:
            value.members.resize(word + 1, 0)
        value.members[word] |= bit
        return self.intern_register(value)

    cdef RegisterValue value_of(self, int32_t register) noexcept nogil:
        cdef RegisterValue value
        if register >= REGISTER_BASE:
            return self.registers[register - REGISTER_BASE]
        value.counters.push_back(register)
        value.pending = 0
        return value

    # ---- remembered texts ------------------------------------------------------------------------

    cdef int32_t fresh_lexeme(self, int32_t register, NetEdge* edge) noexcept nogil:
        """The edge's lexeme without the texts that its slot remembers, or of these alone; a negative code if it failed."""
        cdef vector[int32_t] parts
        cdef vector[int32_t]* texts
        cdef int32_t known = NODE_EMPTY
        if register >= REGISTER_BASE:
            texts = &self.registers[register - REGISTER_BASE].texts
            if <size_t>edge.a < texts.size():
                if edge.c and self.text_sets[texts[0][edge.a]].is_open:
                    return edge.label
                known = self.text_sets[texts[0][edge.a]].lexeme
        if known == NODE_EMPTY:
            return NODE_EMPTY if edge.c else edge.label
        parts.push_back(edge.label)
        parts.push_back(known if edge.c else self.table.not_of(known))
        return self.table.and_of(parts)

    cdef int32_t extend_text(self, int32_t register, uint8_t byte) noexcept nogil:
        """The register after one more byte of the open Fresh."""
        cdef RegisterValue value = self.value_of(register)
        cdef uint64_t key = (<uint64_t>value.pending << 8) | byte
        cdef unordered_map[uint64_t, int32_t].iterator found = self.text_ids.find(key)
        cdef Text text
        if found != self.text_ids.end():
            value.pending = deref(found).second
        else:
            text.before = value.pending
            text.byte = byte
            value.pending = <int32_t>self.texts.size()
            self.texts.push_back(text)
            self.text_ids[key] = value.pending
        return self.intern_register(value)

    cdef int32_t remember(self, int32_t register, NetEdge* edge) noexcept nogil:
        """The register after the open Fresh has ended: its text joins the slot's; negative if it failed."""
        cdef RegisterValue value = self.value_of(register)
        cdef int32_t before
        cdef uint64_t key
        cdef unordered_map[uint64_t, int32_t].iterator found
        cdef vector[int32_t] parts
        cdef TextSet more
        if value.texts.size() <= <size_t>edge.a:
            value.texts.resize(edge.a + 1, 0)
        before = value.texts[edge.a]
        key = (<uint64_t>before << 32) | (<uint32_t>value.pending << 1) | <uint32_t>edge.b
        found = self.text_set_ids.find(key)
        if found != self.text_set_ids.end():
            value.texts[edge.a] = deref(found).second
        else:
            more.before = before
            more.text = value.pending
            more.is_open = self.text_sets[before].is_open
            parts.push_back(self.text_sets[before].lexeme)
            parts.push_back(self.lexeme_of(value.pending, edge.b))
            more.lexeme = self.table.union_of(parts)
            if more.lexeme < 0:
                return CODE_LIMIT
            value.texts[edge.a] = <int32_t>self.text_sets.size()
            self.text_sets.push_back(more)
            self.text_set_ids[key] = value.texts[edge.a]
        value.pending = 0
        return self.intern_register(value)

    cdef int32_t remember_any(self, int32_t register, NetEdge* edge) noexcept nogil:
        """The register after the open Fresh has ended with a text that is not known.

        What may follow then is at least what may follow any text: nothing more is taken away, and everything may be
        what must be repeated.
        """
        cdef RegisterValue value = self.value_of(register)
        cdef int32_t before
        cdef uint64_t key
        cdef unordered_map[uint64_t, int32_t].iterator found
        cdef TextSet more
        value.pending = 0
        if value.texts.size() <= <size_t>edge.a:
            value.texts.resize(edge.a + 1, 0)
        before = value.texts[edge.a]
        if not self.text_sets[before].is_open:
            # No text has this number.
            key = (<uint64_t>before << 32) | <uint32_t>-1
            found = self.text_set_ids.find(key)
            if found == self.text_set_ids.end():
                more.before = before
                more.text = 0
                more.lexeme = self.text_sets[before].lexeme
                more.is_open = True
                self.text_set_ids[key] = <int32_t>self.text_sets.size()
                self.text_sets.push_back(more)
            value.texts[edge.a] = self.text_set_ids[key]
        return self.intern_register(value)

    cdef int32_t lexeme_of(self, int32_t text, bint any_order) noexcept nogil:
        """Lexeme node of exactly one text, or of all orders in which the members of its objects may stand."""
        cdef vector[uint8_t] spelled
        while text > 0:
            spelled.push_back(self.texts[text].byte)
            text = self.texts[text].before
        reverse(spelled.begin(), spelled.end())
        if any_order:
            return all_orders(self.table, spelled)
        return self.table.literal_before(spelled.data(), spelled.size(), NODE_EPSILON)

    cdef int32_t intern_register(self, RegisterValue& value) noexcept nogil:
        """Number of a register value; trailing zeros never make two values differ."""
        while value.counters.size() > 1 and value.counters.back() == 0:
            value.counters.pop_back()
        while not value.members.empty() and value.members.back() == 0:
            value.members.pop_back()
        while not value.texts.empty() and value.texts.back() == 0:
            value.texts.pop_back()
        if value.members.empty() and value.texts.empty() and not value.pending and value.counters.size() == 1:
            return value.counters[0]
        cdef string key = string(<char*>&value.counters[0], value.counters.size() * sizeof(int32_t))
        key.push_back(0)
        if not value.members.empty():
            key.append(<char*>&value.members[0], value.members.size() * sizeof(uint64_t))
        # The lengths of the parts go last, so that no two splits look alike.
        if not value.texts.empty():
            key.append(<char*>&value.texts[0], value.texts.size() * sizeof(int32_t))
        cdef int32_t[3] tail
        tail[0] = value.pending
        tail[1] = <int32_t>value.counters.size()
        tail[2] = <int32_t>value.texts.size()
        key.append(<char*>tail, sizeof(tail))
        cdef unordered_map[string, int32_t].iterator found = self.register_ids.find(key)
        if found != self.register_ids.end():
            return deref(found).second
        cdef int32_t index = REGISTER_BASE + <int32_t>self.registers.size()
        self.registers.push_back(value)
        self.register_ids[key] = index
        return index
