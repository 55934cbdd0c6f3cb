# Shortest completions: the fewest bytes that make an output whole.
#
# The idea. A* search (Hart, Nilsson and Raphael, 1968) over automaton states. What remains from a state is
# estimated by what the network says without its registers: the shortest string of the lexeme that an item
# stands in, then the cheapest way to the end of its rule, then of each caller. Counts and sets can
# only make that longer, so the estimate never exceeds the truth and the first completion found is a
# shortest one.
#
# Rejected: breadth-first search. White space and optional members make it visit every shorter output.

import heapq

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ..errors import MatcherError
from .automaton cimport RET_ROOT, RET_SELF, Item, State, Wait
from .matcher cimport MatcherCore
from .network cimport EDGE_CALL, EDGE_DEAD, EDGE_FRESH, EDGE_LEXEME, NetEdge, NetNode
from .trie cimport Trie, trie_child
from .walking cimport UNBOUNDED

# More than any completion that a search can find.
cdef int64_t FAR = <int64_t>1 << 40


cdef class Search:
    """One search from one matcher."""

    cdef MatcherCore matcher
    cdef vector[int64_t] node_costs                 # bytes from a network node to the end of its rule
    cdef unordered_map[int32_t, int64_t] ret_costs  # bytes from the end of a rule instance to the end of all

    def __init__(self, MatcherCore matcher):
        self.matcher = matcher
        self._find_node_costs()

    def _find_node_costs(self):
        """Least fixpoint over the rules expanded so far; rules that are not are taken to cost nothing."""
        cdef int32_t i, j
        cdef int64_t cost
        cdef NetNode node
        cdef bint changed = True
        network = self.matcher.core.network
        self.node_costs.assign(self.matcher.core.network.nodes.size(), FAR)
        while changed:
            changed = False
            for i in range(<int32_t>self.node_costs.size()):
                node = self.matcher.core.network.nodes[i]
                cost = 0 if node.final else FAR
                for j in range(node.first, node.first + node.count):
                    cost = min(cost, self.edge_cost(&self.matcher.core.network.edges[j]))
                if cost < self.node_costs[i]:
                    self.node_costs[i] = cost
                    changed = True

    cdef int64_t edge_cost(self, NetEdge* edge):
        cdef int64_t cost = self.node_costs[edge.target]
        cdef int32_t start
        if edge.kind == EDGE_DEAD:
            return FAR
        if edge.kind == EDGE_LEXEME or edge.kind == EDGE_FRESH:
            return cost + self.lexeme_cost(edge.label)
        if edge.kind == EDGE_CALL:
            start = self.matcher.core.network.rule_start[edge.label]
            return cost + (self.node_costs[start] if start >= 0 else 0)
        return cost

    cdef int64_t lexeme_cost(self, int32_t lexeme):
        cdef int32_t found
        with nogil:
            self.matcher.core.enter()
            found = self.matcher.core.masks.summaries.distance(lexeme)
            self.matcher.core.leave()
        # A search that gave up proves nothing, not even that the lexeme is long.
        return found if found != UNBOUNDED else 0

    cdef int64_t state_cost(self, State* state):
        """A lower bound of the bytes that complete the output from a state."""
        cdef int64_t best = 0 if state.accepting else FAR
        cdef Item item
        cdef int32_t i
        for i in range(state.n_items):
            item = self.matcher.automaton.items[state.item_off + i]
            best = min(
                best,
                (self.lexeme_cost(item.lex) if item.lex >= 0 else 0)
                + self.cost_at(self.matcher.core.network.edges[item.edge].target)
                + self.ret_cost(item.ret if item.ret >= 0 else state.ret_base + (RET_SELF - item.ret)),
            )
        return best

    cdef int64_t cost_at(self, int32_t node):
        # Rules expanded during the search are not in the table; they cost nothing as far as it knows.
        return self.node_costs[node] if node < <int32_t>self.node_costs.size() else 0

    cdef int64_t ret_cost(self, int32_t ret):
        """The same from the end of a rule instance: the cheapest of its callers."""
        cdef int64_t best = FAR
        cdef State* origin
        cdef Wait wait
        cdef int32_t i
        if ret == RET_ROOT:
            return 0
        if self.ret_costs.find(ret) != self.ret_costs.end():
            return self.ret_costs[ret]
        # A rule that waits for itself is no way out.
        self.ret_costs[ret] = FAR
        origin = self.matcher.automaton.ret_states[ret]
        for i in range(origin.n_waits):
            wait = self.matcher.automaton.waits[origin.wait_off + i]
            if wait.pred == ret - origin.ret_base:
                best = min(
                    best,
                    self.cost_at(self.matcher.core.network.edges[wait.edge].target)
                    + self.ret_cost(wait.ret if wait.ret >= 0 else origin.ret_base + (RET_SELF - wait.ret)),
                )
        self.ret_costs[ret] = best
        return best

    def run(self, int64_t max_states) -> bytes | None:
        """The bytes, or None if that many states were visited first or a token by id is needed."""
        cdef vector[State*] seen
        cdef vector[int64_t] parents
        cdef vector[uint8_t] through
        cdef State* target
        cdef int64_t here, order = 0, n_bytes
        seen.push_back(self.matcher.state)
        parents.push_back(-1)
        through.push_back(0)
        closed = {}
        queue = [(self.state_cost(self.matcher.state), 0, 0, 0)]
        while queue:
            _, _, n_bytes, here = heapq.heappop(queue)
            if closed.setdefault(<size_t>seen[here], here) != here:
                continue
            if seen[here].accepting:
                spelled = bytearray()
                while here > 0:
                    spelled.append(through[here])
                    here = parents[here]
                spelled.reverse()
                return bytes(spelled)
            if len(closed) > max_states:
                return None
            for byte in self._bytes_apart(here, seen):
                target = self.matcher.step_byte(seen[here], <uint8_t>byte)
                if target == self.matcher.automaton.dead or <size_t>target in closed:
                    continue
                order -= 1  # the newest first among equals: straight to the end
                seen.push_back(target)
                parents.push_back(here)
                through.push_back(<uint8_t>byte)
                entry = (n_bytes + 1 + self.state_cost(target), order, n_bytes + 1, <int64_t>seen.size() - 1)
                heapq.heappush(queue, entry)
        return None

    cdef list _bytes_apart(self, int64_t here, vector[State*]& seen):
        """One byte of each class that the state tells apart; readable ones where there is a choice."""
        cdef int32_t[256] first
        cdef int32_t i
        cdef State* state = seen[here]
        memset(first, 0xFF, sizeof(first))
        for i in range(255, -1, -1):
            if (self.matcher.core.table.alphabet[i >> 6] >> (i & 63)) & 1:
                if first[state.classes[i]] < 0 or i >= 0x20:
                    first[state.classes[i]] = i
        return [first[i] for i in range(state.n_classes) if first[i] >= 0]


def shortest_completion(MatcherCore matcher, int64_t max_states) -> bytes | None:
    """A shortest byte string that completes the output; None if the search gave up.

    The matcher does not change.
    """
    if matcher.stopped:
        raise MatcherError("nothing can follow a stop token", hint="roll back or reset first")
    return Search(matcher).run(max_states)


def fewest_tokens(MatcherCore matcher, bytes text) -> int | None:
    """The least number of text tokens that spell `text`; None if none do."""
    cdef Trie* trie = &matcher.core.vocabulary.trie
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
