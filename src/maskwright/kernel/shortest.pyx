# Shortest ways: the fewest bytes that end a lexeme, a rule, or a rule from the middle.
#
# The idea. What ends an output from some place is put together from parts that do not depend on the output:
# a shortest string of a lexeme state (distances.pyx), a cheapest way through a rule from a node and a register, and, for a
# call, the cheapest way through the rule that is called. Each part is found once per grammar. The costs of
# rules that call each other are the least solution of equations with sums and minima (Knuth, "A
# generalization of Dijkstra's algorithm", 1977); they are solved for the rules that a way can profit from,
# so a lazy rule is expanded only if everything cheaper has been tried.
#
# One string for each state. A lexeme state has one first byte of its shortest string, a place in the network
# one edge to go on with. Whoever follows a shortest way is therefore on the shortest way of every place that
# it passes: a promise made at one place ("this many tokens suffice") can be kept from the next.
#
# Costs. Bytes, times CALL_UNIT, plus the number of calls. Calls break ties, so that a rule that may call itself
# without a byte in between never seems to get anywhere by doing so.
#
# Rejected: A* over automaton states. It needs no network, but between "has 9,999 items" and "has 10,000"
# lie all the ways of writing an item.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libcpp.utility cimport pair
from libcpp.queue cimport priority_queue

from .network cimport EDGE_CALL, EDGE_DEAD, EDGE_EPSILON, EDGE_FRESH, EDGE_TOKENS, NetNode, RegisterValue
from .nodes cimport CODE_EXPAND, CODE_LIMIT, CODE_UNKNOWN, NODE_EMPTY

from ..rules import Action

cdef int _AT_LEAST = Action.AT_LEAST
cdef int _HAS = Action.HAS

cdef int64_t CALL_UNIT = <int64_t>1 << 20
# Lexeme states that a search may look at: where an output must end, a long search is better than none.
cdef size_t LEXEME_LIMIT = 50_000
# What a token by id counts for, in bytes.
cdef int64_t TOKEN_BYTES = 4
# Places of one rule that are visited in order of cost. Any subset of a large object's members is a place of its
# own, so beyond this many the search heads for what the rule's end asks for.
cdef size_t EXACT_LIMIT = 4_096
cdef size_t PROGRESS_LIMIT = 400_000

cdef enum:
    STOP_NODE
    STOP_CALL
    STOP_END


cdef inline pair[int64_t, int64_t] entry(int64_t cost, size_t index) noexcept nogil:
    """For a queue that pops the largest: the cheapest first, the newest of equals."""
    return pair[int64_t, int64_t](-cost, <int64_t>index)


cdef inline uint64_t place_key(int32_t node, int32_t register) noexcept nogil:
    return (<uint64_t>node << 32) | <uint64_t>register


cdef class Shortest:
    """Shortest ways through one network."""

    def __cinit__(self, Distances distances, Network network):
        self.distances = distances
        self.table = distances.table
        self.network = network

    # ---- lexemes ---------------------------------------------------------------------------------

    cdef int64_t distance(self, int32_t lex) noexcept nogil:
        """Bytes of a shortest string of a lexeme state; MW_FAR if there is none or it was not found."""
        cdef int32_t found = self.distances.of(lex)
        if found == UNBOUNDED and self.long_searches.insert(lex).second:
            found = self.distances.search(lex, LEXEME_LIMIT)
        return found if found != UNBOUNDED else MW_FAR

    cdef int first_byte(self, int32_t lex) noexcept nogil:
        """First byte of the shortest string of a state that has one, which is not the empty one; -1 if none is found.

        The first that leads nearer to the end, printable ones before others. It is kept: the same state always has
        the same.
        """
        cdef unordered_map[int32_t, int16_t].iterator known = self.first_bytes.find(lex)
        cdef int64_t nearer
        cdef int32_t child
        cdef int turn, byte, found = -1
        cdef bint by_search
        if known != self.first_bytes.end():
            return deref(known).second
        nearer = self.distance(lex) - 1
        # States on a way that a search has found know their distance; others need a search of their own.
        for by_search in range(2):
            for turn in range(256):
                byte = (turn + 0x20) & 0xFF
                if not (self.table.alphabet[byte >> 6] >> (byte & 63)) & 1 or found >= 0:
                    continue
                child = self.table.step(lex, <uint8_t>byte)
                if child <= NODE_EMPTY:
                    continue
                if (self.distance(child) if by_search else self.distances.noted(child)) == nearer:
                    found = byte
        self.first_bytes[lex] = <int16_t>found
        return found

    # ---- rules -----------------------------------------------------------------------------------

    cdef int64_t way(self, int32_t node, int32_t register, Way* found) noexcept nogil:
        """The cheapest way from a place to the end of its rule.

        Returns:
            Its cost, MW_FAR if there is none, or CODE_EXPAND with `needed` set: expand that rule, then ask again.
        """
        cdef unordered_map[uint64_t, Way].iterator known
        cdef int64_t cost
        if not self.open_rules.empty() or not self.provisional.empty():
            # Another thread was interrupted in the middle of this.
            cost = self.solve()
            if cost < 0:
                return cost
        known = self.ways.find(place_key(node, register))
        while known == self.ways.end():
            cost = self.cheapest(node, register, True)
            if cost == CODE_UNKNOWN:
                self.open_rules.push_back(self.needed)
                cost = self.solve()
                if cost < 0:
                    return cost
                continue
            if cost >= MW_FAR:
                found.cost = MW_FAR
                found.edge = -1
                found.register = register
                self.ways[place_key(node, register)] = found[0]
                return MW_FAR
            known = self.ways.find(place_key(node, register))
        found[0] = deref(known).second
        return found.cost

    cdef int64_t solve(self) noexcept nogil:
        """Find the costs of `open_rules`, the last first, and of the rules that these need.

        A rule that is met again while it is open costs MW_FAR at first. If that has happened, all rules found since
        are searched anew until nothing gets cheaper: the costs only fall, and end at the least solution.

        Returns:
            0, or CODE_EXPAND with `needed` set.
        """
        cdef int32_t rule
        cdef int64_t cost
        cdef size_t i = 0
        cdef bint changed
        while True:
            while not self.open_rules.empty():
                rule = self.open_rules.back()
                if self.rule_costs.size() < self.network.rule_start.size():
                    self.rule_costs.resize(self.network.rule_start.size(), CODE_UNKNOWN)
                    self.is_open.resize(self.network.rule_start.size(), 0)
                if self.network.rule_start[rule] < 0:
                    self.needed = rule
                    return CODE_EXPAND
                self.rule_costs[rule] = MW_FAR
                self.is_open[rule] = 1
                cost = self.cheapest(self.network.rule_start[rule], 0, False)
                if cost == CODE_UNKNOWN:
                    self.open_rules.push_back(self.needed)
                    continue
                self.rule_costs[rule] = cost
                self.is_open[rule] = 0
                self.provisional.push_back(rule)
                self.open_rules.pop_back()
            changed = False
            if self.recursive:
                i = 0
                while i < self.provisional.size() and self.open_rules.empty():
                    rule = self.provisional[i]
                    cost = self.cheapest(self.network.rule_start[rule], 0, False)
                    if cost == CODE_UNKNOWN:
                        self.open_rules.push_back(self.needed)
                    elif cost < self.rule_costs[rule]:
                        self.rule_costs[rule] = cost
                        changed = True
                    i += 1
            if not changed and self.open_rules.empty():
                self.provisional.clear()
                self.recursive = False
                return 0

    cdef int64_t cheapest(self, int32_t node, int32_t register, bint keep) noexcept nogil:
        """The cost by `search`, in order of cost or, where that meets too many places, of progress; MW_FAR or
        CODE_UNKNOWN as there."""
        cdef int64_t cost = self.search(node, register, keep, False)
        if cost == CODE_LIMIT:
            cost = self.search(node, register, keep, True)
        return cost if cost != CODE_LIMIT else MW_FAR

    cdef int64_t search(self, int32_t node, int32_t register, bint keep, bint by_progress) noexcept nogil:
        """Dijkstra's algorithm over nodes and registers of one rule.

        Args:
            keep: Put the way into `ways`.
            by_progress: Go first where most of what the rule's end asks for is done.

        Returns:
            The cost, MW_FAR if no way leads to the end, CODE_UNKNOWN with `needed` set if the cost of that rule has to
            be found first, CODE_LIMIT if too many places were met.
        """
        cdef priority_queue[pair[int64_t, int64_t]] queue
        cdef unordered_set[uint64_t] closed
        cdef unordered_map[uint64_t, Way].iterator known
        cdef size_t limit = PROGRESS_LIMIT if by_progress else EXACT_LIMIT
        cdef Stop stop, more
        cdef int64_t here, cost
        cdef int32_t i, rule
        cdef NetNode at
        cdef NetEdge* edge
        self.stops.clear()
        if by_progress:
            self.find_goals(node)
        stop.cost = 0
        stop.node = node
        stop.register = register
        stop.parent = stop.edge = -1
        stop.kind = STOP_NODE
        self.stops.push_back(stop)
        queue.push(entry(0, 0))
        while not queue.empty():
            here = queue.top().second
            queue.pop()
            stop = self.stops[here]
            if stop.kind == STOP_END:
                if keep:
                    self.keep_ways(stop.parent, stop.cost)
                return stop.cost
            if stop.kind == STOP_CALL:
                rule = self.network.edges[stop.edge].label
                if <size_t>rule >= self.rule_costs.size() or self.rule_costs[rule] == CODE_UNKNOWN:
                    self.needed = rule
                    return CODE_UNKNOWN
                if self.is_open[rule]:
                    self.recursive = True
                if self.rule_costs[rule] >= MW_FAR:
                    continue
                stop.cost += self.rule_costs[rule] + 1
                stop.kind = STOP_NODE
                self.stops.push_back(stop)
                cost = stop.cost - (self.progress(stop.register) if by_progress else 0)
                queue.push(entry(cost, self.stops.size() - 1))
                continue
            if not closed.insert(place_key(stop.node, stop.register)).second:
                continue
            if closed.size() > limit:
                return CODE_LIMIT
            at = self.network.nodes[stop.node]
            known = self.ways.find(place_key(stop.node, stop.register))
            if at.final or known != self.ways.end():
                more = stop
                more.parent = <int32_t>here
                more.kind = STOP_END
                if not at.final:
                    if deref(known).second.cost >= MW_FAR:
                        continue
                    more.cost += deref(known).second.cost
                self.stops.push_back(more)
                cost = more.cost - (MW_FAR if by_progress else 0)
                queue.push(entry(cost, self.stops.size() - 1))
                continue
            for i in range(at.first, at.first + at.count):
                edge = &self.network.edges[i]
                more.register = stop.register
                cost = self.edge_cost(edge, &more.register)
                if cost >= MW_FAR:
                    continue
                more.cost = stop.cost + cost
                more.node = edge.target
                more.parent = <int32_t>here
                more.edge = i
                more.kind = STOP_CALL if edge.kind == EDGE_CALL else STOP_NODE
                self.stops.push_back(more)
                cost = more.cost - (self.progress(more.register) if by_progress else 0)
                queue.push(entry(cost, self.stops.size() - 1))
        return MW_FAR

    cdef int64_t edge_cost(self, NetEdge* edge, int32_t* register) noexcept nogil:
        """Cost of an edge without that of the rule it calls, and the register after it."""
        cdef int64_t length
        cdef int32_t lex
        if edge.kind == EDGE_EPSILON:
            register[0] = self.network.apply(register[0], edge)
            return 0 if register[0] >= 0 else MW_FAR
        if edge.kind == EDGE_CALL:
            return 0
        if edge.kind == EDGE_TOKENS:
            return TOKEN_BYTES * CALL_UNIT
        if edge.kind == EDGE_DEAD:
            return MW_FAR
        lex = edge.label
        if edge.kind == EDGE_FRESH:
            lex = self.network.fresh_lexeme(register[0], edge)
            if lex < 0:
                return MW_FAR
        length = self.distance(lex)
        # Longer than any output. Bytes are counted in the upper bits, so the sum of several must fit.
        if length >= CALL_UNIT:
            return MW_FAR
        if edge.kind == EDGE_FRESH:
            register[0] = self.after_fresh(edge, lex, register[0])
            if register[0] < 0:
                return MW_FAR
        return length * CALL_UNIT

    cdef int32_t after_fresh(self, NetEdge* edge, int32_t lex, int32_t register) noexcept nogil:
        """The register after a Fresh edge went on from `lex` with the shortest string; negative if it could not be made."""
        cdef int byte
        while lex > NODE_EMPTY and not self.table.nodes[lex].nullable:
            byte = self.first_byte(lex)
            if byte < 0:
                return CODE_LIMIT
            register = self.network.extend_text(register, <uint8_t>byte)
            lex = self.table.step(lex, <uint8_t>byte)
        return self.network.remember(register, edge) if lex > NODE_EMPTY else CODE_LIMIT

    cdef void keep_ways(self, int32_t last, int64_t total) noexcept nogil:
        """Every place on a way that was found has its own: the rest of it."""
        cdef Stop stop = self.stops[last]
        cdef Stop before
        cdef Way way
        if self.network.nodes[stop.node].final:
            way.cost = 0
            way.edge = -1
            way.register = stop.register
            self.ways[place_key(stop.node, stop.register)] = way
        while stop.parent >= 0:
            before = self.stops[stop.parent]
            way.cost = total - before.cost
            way.edge = stop.edge
            way.register = stop.register
            self.ways[place_key(before.node, before.register)] = way
            stop = before

    # ---- heading for the end ---------------------------------------------------------------------

    cdef void find_goals(self, int32_t node) noexcept nogil:
        """What the tests reachable from a node ask of the register: members, and least counts."""
        cdef vector[int32_t] work
        cdef unordered_set[int32_t] met
        cdef NetEdge* edge
        cdef int32_t i
        self.members.clear()
        self.counters.clear()
        work.push_back(node)
        while not work.empty():
            node = work.back()
            work.pop_back()
            if not met.insert(node).second:
                continue
            for i in range(self.network.nodes[node].first, self.network.nodes[node].first + self.network.nodes[node].count):
                edge = &self.network.edges[i]
                if edge.action == _HAS:
                    self.members.push_back(edge.a)
                elif edge.action == _AT_LEAST:
                    self.counters.push_back(edge.a)
                    self.counters.push_back(edge.b)
                work.push_back(edge.target)

    cdef int64_t progress(self, int32_t register) noexcept nogil:
        """How much of it a register has, weighed so that it comes before any difference in cost."""
        cdef RegisterValue value = self.network.value_of(register)
        cdef int64_t done = 0
        cdef size_t i, word
        for i in range(self.members.size()):
            word = <size_t>self.members[i] >> 6
            if word < value.members.size() and (value.members[word] >> (self.members[i] & 63)) & 1:
                done += 1
        for i in range(0, self.counters.size(), 2):
            if <size_t>self.counters[i] < value.counters.size():
                done += min(value.counters[self.counters[i]], self.counters[i + 1])
        return done * (CALL_UNIT << 20)
