# What may come next at one place, item by item: for explanations.
#
# The idea. A state does not know the text that led to it, so the output is walked once more from its
# start; every step is a look-up, because all of its states exist. An item is then followed backwards for
# as long as the state before holds one that its byte turns into this one: that is how far into its terminal
# the output has come. Callers are read off the return addresses, and where they began off the states that
# hold the calls; a call with nothing after it left neither.
#
# Nothing here is hot, and nothing here changes a matcher: callers pass a fork, which may move to another
# generation meanwhile. What states hold is read under the table's lock.

from bisect import bisect_right

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from .automaton cimport RET_ROOT, Item, State, Wait, resolved
from .compiled cimport CompiledCore
from .compiled import Renew
from .lexemes cimport LexemeTable
from .matcher cimport MatcherCore
from .network cimport EDGE_FRESH, Network
from .nodes cimport NODE_EMPTY

# Rules that are named; those further out are left out.
cdef int MAX_RULES = 256
# The step of a token that the grammar names by id.
cdef int32_t NO_BYTE = -1


cdef class Walk:
    """The output of a matcher, state by state, and as much of a text after it as the grammar takes.

    Attributes:
        output: The bytes of the output. Tokens that the grammar named by id have none.
        n_fit: Bytes of the text that some legal output goes on with.
        accepting: Whether the output may end after them.
        has_stopped: Whether a stop token was accepted, after which nothing fits.
    """

    cdef MatcherCore matcher
    cdef vector[State*] states      # the state before each step, and at last the one in question
    cdef vector[int32_t] steps      # the byte of each step, or NO_BYTE
    cdef list rule_starts           # first nodes of the expanded rules, ascending
    cdef list rule_ids              # and which rules these are
    cdef readonly bytes output
    cdef readonly int64_t n_fit
    cdef readonly bint accepting
    cdef readonly bint has_stopped

    def __init__(self, MatcherCore matcher, bytes text):
        cdef size_t i
        self.matcher = matcher
        matcher.unfold()
        self.has_stopped = matcher.stopped
        for i in range(matcher.history.size()):
            if matcher.history[i].token < 0:
                given = matcher.strings[-1 - matcher.history[i].token]
                if given:
                    self.take(matcher.history[i].before, given)
            elif not matcher.is_stop(matcher.history[i].token):
                spelled = matcher.core.vocabulary.token_bytes(matcher.history[i].token)
                self.take(matcher.history[i].before, spelled or b"")
        self.output = bytes([self.steps[i] for i in range(self.steps.size()) if self.steps[i] >= 0])
        self.follow(b"" if self.has_stopped else text)
        starts = sorted(
            (matcher.core.network.rule_start[rule], rule)
            for rule in range(matcher.core.network.rule_start.size())
            if matcher.core.network.rule_start[rule] >= 0
        )
        self.rule_starts = [start for start, _ in starts]
        self.rule_ids = [rule for _, rule in starts]

    cdef int take(self, State* state, bytes text) except -1:
        """Add the steps of a text that was accepted; if only its token was, one step without a byte."""
        cdef size_t mark = self.states.size()
        cdef State* before = state
        cdef uint8_t byte
        for byte in text:
            if state == self.matcher.automaton.dead:
                break
            self.states.push_back(state)
            self.steps.push_back(byte)
            state = self.matcher.step_byte(state, byte)
        if not text or state == self.matcher.automaton.dead:
            self.states.resize(mark)
            self.steps.resize(mark)
            self.states.push_back(before)
            self.steps.push_back(NO_BYTE)
        return 0

    cdef int follow(self, bytes text) except -1:
        cdef State* state = self.matcher.state
        cdef State* after
        cdef uint8_t byte
        # Where every byte is a token, what cannot be completed after a byte is known at that byte.
        cdef bint checks = self.matcher.core.network.fragile and not self.matcher.core.check_live
        self.n_fit = 0
        for byte in text:
            after = self.matcher.step_byte(state, byte)
            if checks:
                after = self.matcher.checked_live(after)
            if after == self.matcher.automaton.dead:
                break
            self.states.push_back(state)
            self.steps.push_back(byte)
            state = after
            self.n_fit += 1
        self.states.push_back(state)
        self.accepting = state.accepting
        return 0

    def items(self, int64_t max_items) -> list:
        """What may come at the place that was reached, each as (lexeme node, begun, token ids, rules).

        At most `max_items` of them, in the order of their rules' edges.

        The node says what is still to come of the terminal, `begun` what of it is there; the node is -1 for
        a token by id, whose ids then are not empty. The rules are pairs of a Rule and the offset of its
        beginning in the output (-1 if that is not known), from the one that the item stands in outwards.
        """
        cdef State* state = self.states.back()
        cdef Item item
        cdef int32_t i
        cdef CompiledCore core = self.matcher.core
        cdef Network network = core.network
        found = []
        with nogil:
            core.enter()
        try:
            order = sorted(
                (self.matcher.automaton.items[state.item_off + i].edge, i) for i in range(state.n_items)
            )
            for _, i in order[:max_items]:
                item = self.matcher.automaton.items[state.item_off + i]
                item.ret = resolved(state, item.ret)
                rules = self.rules_of(item)
                if item.lex < 0:
                    found.append((-1, b"", tuple(network.token_sets[network.edges[item.edge].label]), rules))
                else:
                    found.append((item.lex, self.begun(item), (), rules))
        finally:
            core.leave()
        return found

    cdef bytes begun(self, Item item):
        """The bytes at the end of the output that this item has matched."""
        cdef Network network = self.matcher.core.network
        cdef LexemeTable table = self.matcher.core.table
        cdef bint remembers = network.edges[item.edge].kind == EDGE_FRESH
        cdef int64_t place = <int64_t>self.steps.size()
        cdef State* before
        cdef Item earlier
        cdef int32_t i
        cdef bint moved = True
        matched = bytearray()
        while moved and place > 0 and self.steps[place - 1] >= 0:
            place -= 1
            before = self.states[place]
            moved = False
            for i in range(before.n_items):
                earlier = self.matcher.automaton.items[before.item_off + i]
                if earlier.edge != item.edge or earlier.lex < 0:
                    continue
                if resolved(before, earlier.ret) != item.ret or (earlier.reg != item.reg and not remembers):
                    continue
                if table.step(earlier.lex, <uint8_t>self.steps[place]) == item.lex:
                    matched.append(self.steps[place])
                    item.lex = earlier.lex
                    item.reg = earlier.reg
                    moved = True
                    break
        matched.reverse()
        return bytes(matched)

    cdef list rules_of(self, Item item):
        """The rules that an item stands in, innermost first, each as (rule, offset of its beginning).

        Of several callers one is taken. A rule that another one ended with has no offset (-1), and the rules
        between these two are not known.
        """
        cdef Network network = self.matcher.core.network
        cdef int32_t ret = item.ret, rule = self.rule_of_edge(item.edge)
        cdef int32_t entry, edge, outer, i
        cdef int64_t place = <int64_t>self.steps.size(), offset = len(self.output) + self.n_fit
        cdef State* origin
        cdef Wait wait
        found = []
        seen = set()
        while ret not in seen and len(found) < MAX_RULES:
            seen.add(ret)
            origin = self.matcher.automaton.ret_states[ret]
            entry, edge, outer = network.root, -1, RET_ROOT
            if ret != RET_ROOT:
                for i in range(origin.n_waits):
                    wait = self.matcher.automaton.waits[origin.wait_off + i]
                    if wait.pred == ret - origin.ret_base:
                        edge = wait.edge
                        entry = network.edges[edge].label
                        outer = resolved(origin, wait.ret)
                        break
            # The rule was called where the output was last in the state that holds the call.
            while place > 0 and (ret == RET_ROOT or self.states[place] != origin):
                place -= 1
                offset -= self.steps[place] >= 0
            if entry != rule:
                found.append((network.rules[rule], -1))
            found.append((network.rules[entry], offset))
            if edge < 0:
                break
            rule = self.rule_of_edge(edge)
            ret = outer
        return found

    cdef int32_t rule_of_edge(self, int32_t edge):
        """Edges lead to nodes of their own rule, and the nodes of a rule are neighbours."""
        return self.rule_ids[bisect_right(self.rule_starts, self.matcher.core.network.edges[edge].target) - 1]


def walk(MatcherCore matcher, bytes text) -> Walk:
    """Where a text leads from where a matcher stands.

    Args:
        matcher: A fork that nobody else uses.
        text: What comes next.

    Raises:
        LimitExceeded: The grammar outgrew its memory.
    """
    while True:
        try:
            return Walk(matcher, text)
        except Renew:
            matcher.renew()


def ways_on(CompiledCore core, int32_t node) -> tuple:
    """What a terminal can go on with: whether it may end here, and [(bytes that lead on alike, node), ...].

    Only bytes that the vocabulary can spell. What the table cannot hold is left out.
    """
    cdef int32_t target
    cdef int byte
    cdef LexemeTable table = core.table
    targets = {}
    with nogil:
        core.enter()
    try:
        for byte in range(256):
            if (table.alphabet[byte >> 6] >> (byte & 63)) & 1:
                target = table.step(node, <uint8_t>byte)
                if target > NODE_EMPTY:
                    targets.setdefault(target, bytearray()).append(byte)
        ends = bool(table.nodes[node].nullable)
    finally:
        core.leave()
    return ends, [(bytes(members), target) for target, members in targets.items()]
