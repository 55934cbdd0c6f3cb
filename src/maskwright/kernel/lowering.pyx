# Lowering: the expression of one rule becomes nodes and edges of the network.
#
# One pass, Thompson's construction (1968) with two savings: consecutive lexemes are joined into one
# while everything before the last is narrow (so `"name": ` and the quote of its value are one
# terminal), and a counted repetition becomes a hidden rule of its own, because a rule instance has
# one register to count in.
#
# A lexeme is narrow if exactly one byte string starts it. A run of white space is not: inside it almost half
# of a vocabulary can follow, and its summary is shared by all schemas only as long as nothing particular comes
# after it.
#
# Rejected: joining whatever is regular. A string body followed by the rest of its object would be a
# different lexeme at each property, and the summary of "inside a string" could no longer be shared.

from ..lexeme import Op
from ..records cimport Act, Alt, Call, Fresh, Lex, Repeat, Seq, Tokens
from ..rules import Action, Rule

from .network cimport EDGE_CALL, EDGE_EPSILON, EDGE_FRESH, EDGE_LEXEME, EDGE_TOKENS

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except -1
    void Py_LeaveRecursiveCall()

cdef object _LITERAL = Op.LITERAL
cdef object _EPSILON = Op.EPSILON
cdef int _COUNT = Action.COUNT
cdef int _AT_LEAST = Action.AT_LEAST

# Kinds of edges by the names of `Fragment.list_edges`.
cdef tuple _KINDS = ("epsilon", "lexeme", "call", "tokens", "dead", "fresh")


cdef Fragment lower(rule):
    """Nodes and edges of a rule; expands it if it is lazy, which runs front-end code."""
    body = rule.expand()
    cdef Fragment fragment = Fragment()
    if type(body) is Repeat and rule.name.endswith("#"):
        fragment.counted(body)
    else:
        fragment.build(body, 0, 1)
    fragment.sort()
    return fragment


cdef class Fragment:
    """The nodes and edges of one rule, before they have a place in a network. Made by `lower`."""

    def __cinit__(self):
        self.n_nodes = 2
        self.labels = []

    @staticmethod
    def of(rule) -> Fragment:
        """What `lower` makes of a rule, for tests and documentation.

        Raises:
            TypeError: The rule's body is not an expression.
        """
        return lower(rule)

    def list_edges(self) -> list:
        """All edges as ``(source, kind, target, label)``; the label is a list of lexemes for kind "lexeme"."""
        cdef LocalEdge edge
        cdef list found = []
        for edge in self.edges:
            label = self.labels[edge.label] if edge.label >= 0 else None
            if edge.kind == EDGE_LEXEME and type(label) is not list:
                label = [label]
            found.append((edge.source, _KINDS[edge.kind], edge.target, label))
        return found

    cdef inline int32_t node(self) noexcept:
        self.n_nodes += 1
        return self.n_nodes - 1

    cdef void add(self, int32_t source, int32_t kind, int32_t target, label):
        cdef LocalEdge edge
        edge.source = source
        edge.target = target
        edge.kind = kind
        edge.label = -1
        edge.action = edge.a = edge.b = edge.c = 0
        if label is not None:
            edge.label = <int32_t>len(self.labels)
            self.labels.append(label)
        self.edges.push_back(edge)

    cdef void act(self, int32_t source, int32_t target, int action, int32_t a, int32_t b, int32_t c):
        self.add(source, EDGE_EPSILON, target, None)
        cdef LocalEdge* edge = &self.edges.back()
        edge.action = action
        edge.a = a
        edge.b = b
        edge.c = c

    cdef int build(self, expr, int32_t source, int32_t target) except -1:
        """Add edges so that the expression leads from one node to the other."""
        cdef LocalEdge* edge
        kind = type(expr)
        if kind is Lex:
            self.add(source, EDGE_LEXEME, target, (<Lex>expr).lexeme)
        elif kind is Call:
            self.add(source, EDGE_CALL, target, (<Call>expr).rule)
        elif kind is Act:
            self.act(source, target, (<Act>expr).action, (<Act>expr).a, (<Act>expr).b, (<Act>expr).c)
        elif kind is Tokens:
            self.add(source, EDGE_TOKENS, target, (<Tokens>expr).ids)
        elif kind is Fresh:
            self.add(source, EDGE_FRESH, target, (<Fresh>expr).lexeme)
            edge = &self.edges.back()
            edge.a = (<Fresh>expr).slot
            edge.b = (<Fresh>expr).any_order
            edge.c = (<Fresh>expr).again
        else:
            Py_EnterRecursiveCall(" in an expression")
            try:
                self.build_parts(expr, source, target)
            finally:
                Py_LeaveRecursiveCall()
        return 0

    cdef int build_parts(self, expr, int32_t source, int32_t target) except -1:
        """The same for an expression of others."""
        kind = type(expr)
        if kind is Seq:
            self.sequence((<Seq>expr).parts, source, target)
        elif kind is Alt:
            for option in (<Alt>expr).options:
                self.build(option, source, target)
        elif kind is Repeat:
            self.repetition(expr, source, target)
        else:
            raise TypeError(f"not an expression: {expr!r}")
        return 0

    cdef int sequence(self, tuple parts, int32_t source, int32_t target) except -1:
        """One part after another, runs of narrow lexemes joined to the lexeme that follows them."""
        cdef list run = []          # narrow lexemes that have no edge yet
        cdef Py_ssize_t last = len(parts) - 1, place
        cdef int32_t middle
        while last >= 0 and type(parts[last]) is Seq and not (<Seq>parts[last]).parts:
            last -= 1
        for place in range(last + 1):
            part = parts[place]
            kind = type(part)
            if kind is Lex:
                op = (<Lex>part).lexeme.op
                run.append((<Lex>part).lexeme)
                if op is _LITERAL or op is _EPSILON:
                    continue
            elif kind is Seq and not (<Seq>part).parts:
                continue
            elif run:
                middle = self.node()
                self.add(source, EDGE_LEXEME, middle, run)
                run = []
                source = middle
            middle = target if place == last else self.node()
            if kind is Lex:
                self.add(source, EDGE_LEXEME, middle, run)
                run = []
            elif kind is Call:
                self.add(source, EDGE_CALL, middle, (<Call>part).rule)
            else:
                self.build(part, source, middle)
            source = middle
        if run:
            self.add(source, EDGE_LEXEME, target, run)
        elif last < 0:
            self.add(source, EDGE_EPSILON, target, None)
        return 0

    cdef int repetition(self, Repeat expr, int32_t source, int32_t target) except -1:
        cdef int32_t low = expr.low, loop, after
        high = expr.high
        if high == 0:
            self.add(source, EDGE_EPSILON, target, None)
        elif high == 1:
            self.build(expr.body, source, target)
            if low == 0:
                self.add(source, EDGE_EPSILON, target, None)
        elif high is None and low <= 1:
            loop = self.node()
            after = self.node()
            self.add(source, EDGE_EPSILON, loop, None)
            self.build(expr.body, loop, after)
            self.add(after, EDGE_EPSILON, loop, None)
            self.add(after, EDGE_EPSILON, target, None)
            if low == 0:
                self.add(source, EDGE_EPSILON, target, None)
        else:
            self.add(source, EDGE_CALL, target, Rule("repeat#", expr))
        return 0

    cdef int counted(self, Repeat expr) except -1:
        """The body of a hidden rule that counts in its register."""
        cdef int32_t low = expr.low, loop = self.node(), again = self.node()
        cdef int32_t limit = -1 if expr.high is None else expr.high
        # Without an upper bound the count stops mattering at the lower one, so all later states meet.
        cdef int32_t cap = low if limit < 0 else limit
        self.add(0, EDGE_EPSILON, loop, None)
        self.act(loop, again, _COUNT, 0, limit, cap)
        self.build(expr.body, again, loop)
        self.act(loop, 1, _AT_LEAST, 0, low, 0)
        return 0

    cdef void sort(self) noexcept nogil:
        """Edges by their source, in the order in which they were added."""
        cdef vector[LocalEdge] edges
        cdef size_t i
        self.first.assign(self.n_nodes + 1, 0)
        for i in range(self.edges.size()):
            self.first[self.edges[i].source + 1] += 1
        for i in range(<size_t>self.n_nodes):
            self.first[i + 1] += self.first[i]
        edges.resize(self.edges.size())
        for i in range(self.edges.size()):
            edges[self.first[self.edges[i].source]] = self.edges[i]
            self.first[self.edges[i].source] += 1
        # Each entry has moved on to where the next node begins.
        for i in range(<size_t>self.n_nodes, 0, -1):
            self.first[i] = self.first[i - 1]
        self.first[0] = 0
        self.edges.swap(edges)

    cdef list calls(self):
        """The rules that may be called, those of `first_calls` among them."""
        cdef LocalEdge edge
        cdef list found = []
        for edge in self.edges:
            if edge.kind == EDGE_CALL:
                found.append(self.labels[edge.label])
        return found

    cdef list first_calls(self):
        """The rules that may be called before anything else happens, tests of the register included."""
        cdef vector[int32_t] starts
        cdef vector[uint8_t] seen
        cdef size_t at = 0
        cdef int32_t i
        cdef LocalEdge* edge
        cdef list found = []
        seen.assign(self.n_nodes, False)
        seen[0] = True
        starts.push_back(0)
        while at < starts.size():
            for i in range(self.first[starts[at]], self.first[starts[at] + 1]):
                edge = &self.edges[i]
                if edge.kind == EDGE_CALL:
                    found.append(self.labels[edge.label])
                elif edge.kind == EDGE_EPSILON and not edge.action and not seen[edge.target]:
                    seen[edge.target] = True
                    starts.push_back(edge.target)
            at += 1
        return found
