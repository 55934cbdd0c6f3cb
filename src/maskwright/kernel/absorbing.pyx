# Absorbing: alternatives that others of a union hold already.
#
# The idea. A pattern that may match anywhere, `.*x.*`, is at every character the union of what it was and of what it
# has seen of x. Two things that such unions say twice are plain from their structure, where R is `y* rest`:
#   - `w R` with all words of w in `y*` is a part of R: once the pattern has matched, it does not matter any more;
#   - `x{m} R` is a part of `x{n} R` if n < m and x in y: of 63 more digits or 62, the 63 need not be waited for.
# Without this a state of `[0-9]{64}` would hold up to 64 alternatives, and every number of them would be another state.
#
# It is looked for whenever a union is made, so only what costs little is: a few steps along the sequences.
#
# Locking. Everything expects the table's lock.

from .nodes cimport NODE_EPSILON, OP_BYTES, OP_CONCAT, OP_LITERAL, OP_REPEAT, OP_UNION

# Factors of a sequence that are looked through, how deep in each, and alternatives in one.
cdef int MOST_FACTORS = 16
cdef int MOST_DEPTH = 6
cdef int MOST_CHOICES = 8
# Alternatives above which nothing is compared.
cdef size_t MOST_PARTS = 64

# An alternative as `x{low,} rest`.
cdef struct Head:
    int32_t part
    int32_t low
    int32_t rest

# A part that may hold others: `y* rest`, or `x{low,} y* rest` with x in y.
cdef struct Holder:
    int32_t node
    size_t place
    int32_t body                # y
    Head head                   # low is -1 for `y* rest`


cdef void absorb(const Storage& storage, vector[int32_t]& parts) noexcept nogil:
    """Remove from the parts of a union those that are plainly within another one. Their order stays."""
    cdef vector[Holder] holders
    cdef Holder holder
    cdef size_t i, j, kept = 0
    cdef bint held
    if parts.size() > MOST_PARTS:
        return
    for i in range(parts.size()):
        holder.node = parts[i]
        holder.place = i
        holder.body = body_of(storage, parts[i])
        holder.head.low = -1
        if holder.body < 0:
            if not head_of(storage, parts[i], &holder.head):
                continue
            holder.body = body_of(storage, holder.head.rest)
            if holder.body < 0 or not in_star(storage, holder.head.part, holder.body, 0):
                continue
        holders.push_back(holder)
    if holders.empty():
        return
    for i in range(parts.size()):
        held = False
        for j in range(holders.size()):
            if not held and holders[j].place != i:
                held = holds(storage, holders[j], parts[i], i)
        if not held:
            parts[kept] = parts[i]
            kept += 1
    parts.resize(kept)


cdef bint holds(const Storage& storage, const Holder& holder, int32_t node, size_t place) noexcept nogil:
    """Whether all of a part is plainly in another one. Of two that say the same the first one stays."""
    cdef Head head
    if holder.head.low < 0:
        return leads_into(storage, node, holder.node, holder.body)
    return (
        head_of(storage, node, &head)
        and head.part == holder.head.part
        and head.rest == holder.head.rest
        and (head.low > holder.head.low or (head.low == holder.head.low and place > holder.place))
    )


cdef int32_t body_of(const Storage& storage, int32_t node) noexcept nogil:
    """y of `y* rest`; -1 for other nodes."""
    cdef const Node* rec = &storage.nodes[node]
    if rec.op == OP_CONCAT:
        rec = &storage.nodes[rec.a]
    return rec.a if rec.op == OP_REPEAT and rec.b == 0 and rec.c < 0 else -1


cdef bint head_of(const Storage& storage, int32_t node, Head* head) noexcept nogil:
    """A node as `x{low,} rest`, where x is a set of bytes or repeated."""
    cdef const Node* rec = &storage.nodes[node]
    cdef const Node* first
    if rec.op != OP_CONCAT:
        return False
    first = &storage.nodes[rec.a]
    head.rest = rec.b
    head.part = rec.a
    head.low = 1
    if first.op == OP_REPEAT:
        head.part = first.a
        head.low = first.b
        return True
    return first.op == OP_BYTES


cdef bint leads_into(const Storage& storage, int32_t node, int32_t tail, int32_t body) noexcept nogil:
    """Whether a node is `w tail` with all words of w in `body*`."""
    cdef const Node* rec
    cdef int i
    for i in range(MOST_FACTORS):
        if node == tail:
            return True
        rec = &storage.nodes[node]
        if rec.op == OP_CONCAT and in_star(storage, rec.a, body, 0):
            node = rec.b
        elif rec.op == OP_LITERAL and spells(storage, rec, body):
            node = rec.c
        else:
            return False
    return False


cdef bint in_star(const Storage& storage, int32_t node, int32_t body, int depth) noexcept nogil:
    """Whether all words of a node are plainly sequences of words of `body`."""
    cdef const Node* rec = &storage.nodes[node]
    cdef const uint64_t* own
    cdef int32_t i
    if node == body or node == NODE_EPSILON or is_choice(storage, node, body):
        return True
    if depth > MOST_DEPTH:
        return False
    if rec.op == OP_REPEAT:
        return in_star(storage, rec.a, body, depth + 1)
    if rec.op == OP_CONCAT:
        return in_star(storage, rec.a, body, depth + 1) and in_star(storage, rec.b, body, depth + 1)
    if rec.op == OP_LITERAL:
        return spells(storage, rec, body) and in_star(storage, rec.c, body, depth + 1)
    if rec.op == OP_UNION and rec.b <= MOST_CHOICES:
        for i in range(rec.b):
            if not in_star(storage, storage.lists[rec.a + i], body, depth + 1):
                return False
        return True
    if rec.op == OP_BYTES:
        own = single_bytes(storage, body)
        if own != NULL:
            for i in range(4):
                if storage.sets[4 * rec.a + i] & ~own[i]:
                    return False
            return True
    return False


cdef bint is_choice(const Storage& storage, int32_t node, int32_t body) noexcept nogil:
    cdef const Node* rec = &storage.nodes[body]
    cdef int32_t i
    if rec.op == OP_UNION:
        for i in range(rec.b):
            if storage.lists[rec.a + i] == node:
                return True
    return False


cdef const uint64_t* single_bytes(const Storage& storage, int32_t body) noexcept nogil:
    """The bytes that are words of `body` by themselves; NULL if that is not plain."""
    cdef const Node* rec = &storage.nodes[body]
    cdef int32_t i
    if rec.op == OP_BYTES:
        return &storage.sets[4 * rec.a]
    if rec.op == OP_UNION:
        for i in range(rec.b):
            if storage.nodes[storage.lists[rec.a + i]].op == OP_BYTES:
                return &storage.sets[4 * storage.nodes[storage.lists[rec.a + i]].a]
    return NULL


cdef bint spells(const Storage& storage, const Node* literal, int32_t body) noexcept nogil:
    """Whether each byte of a literal is a word of `body`."""
    cdef const uint64_t* own = single_bytes(storage, body)
    cdef int32_t i
    cdef uint8_t byte
    if own == NULL:
        return False
    for i in range(literal.b):
        byte = storage.pool[literal.a + i]
        if not (own[byte >> 6] >> (byte & 63)) & 1:
            return False
    return True
