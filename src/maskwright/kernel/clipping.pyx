# Clipping: lexeme states that differ only in how far away their upper bounds are.
#
# The idea. Inside `[a-z]{0,61}` every character leads to another state, but as long as the bound is
# farther away than any token reaches, all of them allow the same tokens. Replacing each distant bound
# by "unbounded" gives one lexeme for them all, and the number of bytes up to which it says the same:
# a repetition takes at least a byte, so a string of at most `bound` bytes cannot pass a bound of
# `bound` repetitions, wherever in the expression it stands.
#
# Under NOT a larger language inside is a smaller one outside, and "no way on in the clipped lexeme" no longer implies
# "no way on in the lexeme". So there nothing is replaced for those who ask which tokens are illegal; who only
# asks which are legal may have it replaced.

from cython.operator cimport dereference as deref

from .nodes cimport OP_AND, OP_CONCAT, OP_LITERAL, OP_NOT, OP_REPEAT, OP_UNION, Node

cdef int32_t UNBOUNDED = 2147483647
cdef int MAX_DEPTH = 2000


cdef class Clipper:
    """Clipped forms of the nodes of one lexeme table.

    Args:
        table: The lexemes.
        near: Bounds nearer than this are kept: they are soon reached, and small ones are often structure ({4}).
        under_not: Whether bounds under NOT are dropped too. Then the clipped form may be a smaller language.
    """

    def __cinit__(self, LexemeTable table, int32_t near, bint under_not):
        self.table = table
        self.near = near
        self.under_not = under_not

    cdef Clipped clip(self, int32_t node, int depth) noexcept nogil:
        cdef unordered_map[int32_t, Clipped].iterator known = self.memo.find(node)
        cdef Clipped result
        if known != self.memo.end():
            return deref(known).second
        result = self.rebuild(node, depth)
        self.memo[node] = result
        return result

    cdef Clipped rebuild(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef Clipped result, part
        cdef vector[int32_t] kids
        cdef int32_t i
        result.node = node
        result.bound = UNBOUNDED
        if depth > MAX_DEPTH:
            return result
        if rec.op == OP_LITERAL:
            part = self.clip(rec.c, depth + 1)
            if part.node != rec.c:
                result.bound = part.bound
                result.node = part.node if part.node < 0 else self.table.make(OP_LITERAL, rec.a, rec.b, part.node)
        elif rec.op == OP_REPEAT:
            part = self.clip(rec.a, depth + 1)
            result.bound = part.bound
            if rec.c >= self.near:
                result.bound = min(result.bound, rec.c)
                rec.c = -1
            result.node = part.node if part.node < 0 else self.table.repeat(part.node, rec.b, rec.c)
        elif rec.op == OP_CONCAT:
            part = self.clip(rec.a, depth + 1)
            result = self.clip(rec.b, depth + 1)
            result.bound = min(result.bound, part.bound)
            result.node = self.table.concat(part.node, result.node)
        elif rec.op == OP_NOT and self.under_not:
            result = self.clip(rec.a, depth + 1)
            result.node = self.table.not_of(result.node)
        elif rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                part = self.clip(self.table.lists[rec.a + i], depth + 1)
                kids.push_back(part.node)
                result.bound = min(result.bound, part.bound)
            result.node = self.table.union_of(kids) if rec.op == OP_UNION else self.table.and_of(kids)
        return result
