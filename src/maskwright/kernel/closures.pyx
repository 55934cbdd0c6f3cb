# Closures: which bytes can follow a lexeme state in any number and order.
#
# The idea. Inside a string nearly every character leads to a state in which nearly every character leads on. The
# largest set of characters of which that is true, for a state and all states that they reach, is found once. A token
# of such characters alone stays inside the lexeme, whatever the states in between are (a pattern's progress, say).
#
# It is found in one of five ways, the cheapest first: most states lead back to themselves; a union has the closure of an
# alternative; distant bounds are dropped (clipping.pyx); a state leads to one that leads back to itself; else all states
# that are reached are explored.
#
# Locking. Everything expects the table's lock.

from libc.string cimport memcpy
from libcpp.algorithm cimport find

from .clipping cimport Clipped
from .nodes cimport NODE_EMPTY, NODE_EPSILON, CODE_UNKNOWN, OP_AND, OP_CONCAT, OP_LITERAL, OP_UNION, Node
from .raising cimport RAISED
from .trie cimport FIRST_WIDE, group_of, groups_in, is_overlong

# A closure is looked for when subtrees of so many tokens have asked for it: it costs as much as walking them.
cdef int32_t CLOSURE_TOKENS = 128
# Bounds from which on closures are looked for without them.
cdef int32_t NEAR = 24
# All groups of characters of several bytes.
cdef uint64_t WIDE_GROUPS = ~<uint64_t>0 << FIRST_WIDE
# States that fewer single bytes than this may follow have no closure worth looking for.
cdef int32_t CLOSURE_FROM = 32
# The same for a closure that is one state: fewer bytes suffice, since it is found at once.
cdef int32_t LOOPS_FROM = 8
# States that a closure may hold.
cdef size_t CLOSURE_LIMIT = 256
# Single bytes that are neither letters nor digits nor white space.
cdef uint64_t[2] PUNCTUATION
PUNCTUATION[0] = <uint64_t>0xFC00FFFE00000000
PUNCTUATION[1] = <uint64_t>0x78000001F8000001
# States of a closure that are asked for bytes that lead nowhere.
cdef size_t FEW_STATES = 8


cdef class ClosureTable:
    """Closures of the states of one lexeme table."""

    def __cinit__(self, LexemeTable table, Distances distances):
        self.table = table
        self.distances = distances
        self.clipper = Clipper(table, NEAR, True)
        self.raiser = Raiser(table, distances)

    cdef Closure* if_due(self, int32_t lex, int32_t n_tokens) noexcept nogil:
        """The closure of a state, or NULL as long as too few tokens would profit."""
        if <size_t>lex >= self.closure_at.size():
            self.closure_at.resize(self.table.nodes.size() + 64, 0)
        if self.closure_at[lex] > 0:
            return &self.closures[self.closure_at[lex] - 1]
        self.closure_at[lex] -= n_tokens
        return self.of(lex) if self.closure_at[lex] <= -CLOSURE_TOKENS else NULL

    cdef Closure* keep(self, int32_t lex, Closure* closure) noexcept nogil:
        closure.groups = groups_in(closure.ascii) | closure.wide
        self.closures.push_back(closure[0])
        self.closure_at.resize(max(self.closure_at.size(), self.table.nodes.size()), 0)
        self.closure_at[lex] = <int32_t>self.closures.size()
        return &self.closures.back()

    cdef Closure* of(self, int32_t lex) noexcept nogil:
        """The largest set of characters that a state and all states they lead to take, without ending.

        Where most characters lead back to the state, those are it. Else the search starts from all characters that
        the state takes and drops, until nothing changes, those that some state reached does not take. What holds for the state then holds for all states on the way.
        """
        cdef Closure closure
        cdef Closure* kept
        cdef vector[int32_t] inside
        cdef size_t i
        cdef int32_t margin
        if <size_t>lex < self.closure_at.size() and self.closure_at[lex] > 0:
            return &self.closures[self.closure_at[lex] - 1]
        inside.assign(1, lex)
        if not self.loops(lex, &closure):
            # Bounds last: a search for 64 digits is also one for "at least 64", but has no bound itself.
            if self.of_union(lex, &closure) or self.of_bounded(lex, &closure) or self.of_next(lex, &closure):
                return self.keep(lex, &closure)
            closure.wide = WIDE_GROUPS
            if drop_counted(self.table, lex, &closure, self.alive_ascii(lex, &closure)) < CLOSURE_FROM:
                closure.ascii[0] = closure.ascii[1] = 0
                closure.wide = 0
            else:
                while self.explore(lex, &closure, inside):
                    pass
        closure.bound = UNBOUNDED
        closure.margin = 0
        closure.loose = 1
        closure.drop = 0
        if closure.ascii[0] | closure.ascii[1] | closure.wide:
            for i in range(inside.size()):
                margin = self.distances.of(inside[i])
                closure.margin = max(closure.margin, margin)
                closure.drop = max(closure.drop, self.raiser.drop_to_end(inside[i]))
                # A byte that changes nothing lets a state take its time.
                if self.table.nodes[inside[i]].nullable or not self.has_loop(inside[i], &closure):
                    closure.loose = 0
        kept = self.keep(lex, &closure)
        for i in range(inside.size()):
            if self.closure_at[inside[i]] <= 0:
                self.closure_at[inside[i]] = self.closure_at[lex]
        return kept

    cdef bint of_bounded(self, int32_t lex, Closure* closure) noexcept nogil:
        """The closure of a state with distant bounds from that of the state without them: both say the same of all
        strings up to some length, and a token after which a string of that length can end is legal in both."""
        cdef Clipped clipped = self.clipper.clip(lex, 0)
        if clipped.node <= NODE_EPSILON or clipped.node == lex:
            return False
        # Where bounds are raised it is asked how far they drop, which is not known without them (raising.pyx).
        if clipped.bound > RAISED // 2 and self.of_next(lex, closure):
            return True
        closure[0] = self.of(clipped.node)[0]
        closure.bound = min(closure.bound, clipped.bound)
        # That the state can be drawn out to any length is not known.
        closure.loose = 0
        return True

    cdef bint of_next(self, int32_t lex, Closure* closure) noexcept nogil:
        """The closure of a state that most characters lead to one and the same other state, from which they lead back to
        that one: those of its characters that lead there."""
        cdef Closure whole
        cdef vector[int32_t] targets
        cdef int32_t following = NODE_EMPTY, target
        cdef int byte, n_alive = self.alive_ascii(lex, &whole), n_following = 0
        cdef size_t i
        if n_alive < CLOSURE_FROM:
            return False
        for byte in range(128):
            if (whole.ascii[byte >> 6] >> (byte & 63)) & 1:
                target = self.table.derive(lex, <uint8_t>byte, 0)
                if n_following == 0:
                    following = target
                # A majority vote (Boyer and Moore 1981).
                n_following += 1 if target == following else -1
        if following <= NODE_EPSILON or following == lex or self.table.nodes[following].nullable:
            return False
        if not (<size_t>following < self.closure_at.size() and self.closure_at[following] > 0):
            if not self.loops(following, &whole):
                return False
        closure[0] = self.of(following)[0]
        n_following = 0
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                if self.table.derive(lex, <uint8_t>byte, 0) == following:
                    n_following += 1
                else:
                    closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
        if n_following < LOOPS_FROM or 2 * n_following < n_alive:
            return False
        for byte in range(FIRST_WIDE, 64):
            targets.clear()
            if (closure.wide >> byte) & 1 and not self.characters_lead_on(lex, <uint64_t>1 << byte, targets):
                closure.wide &= ~(<uint64_t>1 << byte)
            for i in range(targets.size()):
                if targets[i] != following:
                    closure.wide &= ~(<uint64_t>1 << byte)
        closure.margin = max(closure.margin, self.distances.of(lex))
        closure.drop = max(closure.drop, self.raiser.drop_to_end(lex))
        closure.loose = closure.loose and not self.table.nodes[lex].nullable and self.has_loop(lex, closure)
        return True

    cdef int alive_ascii(self, int32_t lex, Closure* closure) noexcept nogil:
        """Set `ascii` to the single bytes that a state takes; how many there are."""
        cdef int byte, n_alive = 0
        closure.ascii[0] = closure.ascii[1] = 0
        for byte in range(128):
            if self.table.step(lex, <uint8_t>byte) > NODE_EMPTY:
                closure.ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
                n_alive += 1
        return n_alive

    cdef bint loops(self, int32_t lex, Closure* closure) noexcept nogil:
        """Set the closure to the characters that lead back to the state, or to its union with what must wait; False
        if fewer than half of the single bytes that it takes do."""
        cdef vector[int32_t] targets
        cdef uint64_t group
        cdef size_t i
        cdef int byte, n_alive = self.alive_ascii(lex, closure), n_loops = 0
        cdef int32_t target, previous = NODE_EMPTY
        cdef bint good = False
        # What must wait for a byte outside the closure must do so all the more once it has lost some.
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                target = self.table.derive(lex, <uint8_t>byte, 0)
                # Bytes in a row mostly lead to one state.
                good = good if target == previous else self.contains(target, lex, 0)
                previous = target
                if not good:
                    closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
        previous = NODE_EMPTY
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                target = self.table.derive(lex, <uint8_t>byte, 0)
                good = good if target == previous else target == lex or self.holds_more(target, lex, closure)
                previous = target
                if good:
                    n_loops += 1
                else:
                    closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
        if n_loops < LOOPS_FROM or 2 * n_loops < n_alive:
            return False
        closure.wide = 0
        for byte in range(FIRST_WIDE, 64):
            targets.clear()
            group = self.characters_lead_on(lex, <uint64_t>1 << byte, targets)
            for i in range(targets.size()):
                if targets[i] != lex and not self.holds_more(targets[i], lex, closure):
                    group = 0
            closure.wide |= group
        return True

    cdef uint64_t home_groups(self, int32_t lex) noexcept nogil:
        """Groups of characters all of which lead back to the state itself; none unless most single bytes do that the
        state takes, since to look at all longer characters makes many states."""
        cdef uint64_t[2] ascii
        cdef vector[int32_t] targets
        cdef uint64_t result, group
        cdef size_t i
        cdef int byte, n_alive = 0, n_home = 0
        cdef int32_t target
        ascii[0] = ascii[1] = 0
        for byte in range(128):
            target = self.table.derive(lex, <uint8_t>byte, 0)
            n_alive += target != NODE_EMPTY
            if target == lex:
                n_home += 1
                ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
        if n_home < LOOPS_FROM or 2 * n_home < n_alive:
            return 0
        result = groups_in(ascii)
        for byte in range(FIRST_WIDE, 64):
            targets.clear()
            group = self.characters_lead_on(lex, <uint64_t>1 << byte, targets)
            for i in range(targets.size()):
                if targets[i] != lex:
                    group = 0
            result |= group
        return result

    cdef bint contains(self, int32_t large, int32_t small, int depth) noexcept nogil:
        """Whether a node plainly has all words of another one: as an alternative, in all operands of a conjunction,
        before the same rest, or since a union of both would be it alone (absorbing.pyx)."""
        cdef Node node = self.table.nodes[large], other = self.table.nodes[small]
        cdef int32_t i
        if large == small or self.absorbs(large, small):
            return True
        if depth > 4:
            return False
        if node.op == OP_UNION:
            for i in range(node.b):
                if self.table.lists[node.a + i] == small:
                    return True
        elif node.op == OP_AND:
            for i in range(node.b):
                if not self.contains(self.table.lists[node.a + i], small, depth + 1):
                    return False
            return True
        elif node.op == OP_CONCAT and other.op == OP_CONCAT and node.b == other.b:
            if self.contains(node.a, other.a, depth + 1):
                return True
        if other.op == OP_AND:
            for i in range(other.b):
                if self.contains(large, self.table.lists[other.a + i], depth + 1):
                    return True
        return False

    cdef bint absorbs(self, int32_t large, int32_t small) noexcept nogil:
        cdef vector[int32_t] both
        both.push_back(large)
        both.push_back(small)
        self.table.absorb(both)
        return both.size() == 1 and both[0] == large

    cdef bint dead_bytes(self, int32_t lex, Closure* closure, uint64_t* living, uint64_t* dead) noexcept nogil:
        """Single bytes that lead on in any number and order, and those that lead nowhere from any state on the way.

        Args:
            closure: The closure of the state; NULL for what leads back to the state itself.
            living: Set to the closure's single bytes, or to those that lead back.
            dead: Set to the others that neither the state nor any that the living ones reach takes.

        Returns False if too many states are reached to tell.
        """
        cdef vector[int32_t] inside, reached
        cdef size_t here = 0, i
        cdef int byte
        cdef int32_t target
        living[0] = living[1] = 0
        dead[0] = dead[1] = ~<uint64_t>0
        if closure != NULL:
            memcpy(living, closure.ascii, sizeof(closure.ascii))
        inside.push_back(lex)
        while here < inside.size():
            if here == FEW_STATES:
                return False
            reached.clear()
            if closure != NULL:
                self.characters_lead_on(inside[here], closure.wide, reached)
            for byte in range(128):
                target = self.table.step(inside[here], <uint8_t>byte)
                if target != NODE_EMPTY:
                    dead[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                if closure == NULL and target == lex:
                    living[byte >> 6] |= <uint64_t>1 << (byte & 63)
                elif closure != NULL and (living[byte >> 6] >> (byte & 63)) & 1:
                    reached.push_back(target)
            for i in range(reached.size()):
                if find(inside.begin(), inside.end(), reached[i]) == inside.end():
                    inside.push_back(reached[i])
            here += 1
        return True

    cdef bint has_loop(self, int32_t lex, Closure* closure) noexcept nogil:
        cdef int byte
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                if self.table.derive(lex, <uint8_t>byte, 0) == lex:
                    return True
        return False

    cdef bint explore(self, int32_t lex, Closure* closure, vector[int32_t]& inside) noexcept nogil:
        """Visit what the closure's characters reach; drops those that fail, and returns whether it did."""
        cdef unordered_map[int32_t, uint8_t] met
        cdef vector[int32_t] targets
        cdef size_t here = 0, i
        cdef int byte, previous
        cdef int32_t target, classes
        cdef uint64_t leading
        cdef bint good = True, dropped = False
        inside.assign(1, lex)
        met[lex] = 1
        while here < inside.size():
            targets.clear()
            leading = self.characters_lead_on(inside[here], closure.wide, targets)
            if leading != closure.wide:
                closure.wide = leading
                dropped = True
            classes = self.table.class_map(inside[here], 0)
            if classes < 0:
                closure.ascii[0] = closure.ascii[1] = 0
                return False
            previous = -1
            for byte in range(128):
                if not (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                    continue
                if self.table.maps[classes][byte] == previous:
                    if not good:
                        closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                    continue
                previous = self.table.maps[classes][byte]
                target = self.table.step(inside[here], <uint8_t>byte)
                # A byte that narrows what may follow (a backslash) is dropped, and not what it rules out.
                good = (
                    target > NODE_EPSILON
                    and not self.table.nodes[target].nullable
                    and (met.find(target) != met.end() or self.takes_most(target, closure))
                )
                if not good:
                    closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                    dropped = True
                elif targets.empty() or targets.back() != target:
                    targets.push_back(target)
            for i in range(targets.size()):
                if met.find(targets[i]) == met.end() and not self.holds_more(targets[i], lex, closure):
                    met[targets[i]] = 1
                    inside.push_back(targets[i])
            here += 1
            if inside.size() > CLOSURE_LIMIT // 8 and (closure.ascii[0] & PUNCTUATION[0] or closure.ascii[1] & PUNCTUATION[1]):
                # Words are most of what there is. Where marks lead into many states they are not worth exploring.
                closure.ascii[0] &= ~PUNCTUATION[0]
                closure.ascii[1] &= ~PUNCTUATION[1]
                inside.assign(1, lex)
                return True
            if inside.size() > CLOSURE_LIMIT:
                closure.ascii[0] = closure.ascii[1] = 0
                closure.wide = 0
                inside.assign(1, lex)
                return False
        return dropped

    cdef bint of_union(self, int32_t lex, Closure* closure) noexcept nogil:
        """A union leads on wherever one of its parts does, as long as no other part ends there."""
        cdef Node node = self.table.nodes[lex]
        cdef Closure* part
        cdef int32_t i
        if node.op != OP_UNION:
            return self.of_inner_union(lex, closure)
        # The part that a search pattern falls back to is the oldest node, so it comes first.
        for i in range(min(node.b, 2)):
            part = self.of(self.table.lists[node.a + i])
            if (part.ascii[0] | part.ascii[1]) and self.others_wait(node, i, part):
                closure[0] = part[0]
                return True
        return False

    cdef bint of_inner_union(self, int32_t lex, Closure* closure) noexcept nogil:
        """`(a and (b | c)) rest` leads on wherever `(a and b) rest` does, as long as it does not end there."""
        cdef Node node = self.table.nodes[lex], kid
        cdef Closure* part
        cdef vector[int32_t] kids
        cdef int32_t i, less, rest = NODE_EPSILON
        cdef bint any_union = False
        if node.op == OP_CONCAT:
            rest = node.b
            node = self.table.nodes[node.a]
        if node.op != OP_AND:
            return False
        for i in range(node.b):
            kid = self.table.nodes[self.table.lists[node.a + i]]
            if kid.op == OP_UNION:
                # The oldest alternative, as above.
                kids.push_back(self.table.lists[kid.a])
                any_union = True
            else:
                kids.push_back(self.table.lists[node.a + i])
        if not any_union:
            return False
        less = self.table.concat(self.table.and_of(kids), rest)
        if less <= NODE_EPSILON or less == lex:
            return False
        part = self.of(less)
        if not (part.ascii[0] | part.ascii[1]) or not self.waits(lex, part, 0):
            return False
        closure[0] = part[0]
        return True

    cdef bint holds_more(self, int32_t union_, int32_t part, Closure* closure) noexcept nogil:
        """Whether a node has all words of `part` and cannot end within the closure: then all that is true of
        `part` is true of it. A search pattern is in such a state whatever it has seen so far."""
        cdef Node node = self.table.nodes[union_]
        cdef int32_t i
        if node.op != OP_UNION:
            return self.contains(union_, part, 0) and self.waits(union_, closure, 0)
        for i in range(node.b):
            if self.table.lists[node.a + i] == part:
                return self.others_wait(node, i, closure)
        return False

    cdef bint others_wait(self, Node node, int32_t except_, Closure* closure) noexcept nogil:
        cdef int32_t i
        for i in range(node.b):
            if i != except_ and not self.waits(self.table.lists[node.a + i], closure, 0):
                return False
        return True

    cdef bint waits(self, int32_t lex, Closure* closure, int depth) noexcept nogil:
        """Whether every string of a node holds a single byte that is not in the closure (a string's last quote).
        False if that is not plain from its structure."""
        cdef Node node = self.table.nodes[lex]
        cdef int32_t i
        if depth > 100:
            return False
        if node.op == OP_LITERAL:
            for i in range(node.b):
                if self.table.pool[node.a + i] < 128 and not (
                    (closure.ascii[self.table.pool[node.a + i] >> 6] >> (self.table.pool[node.a + i] & 63)) & 1
                ):
                    return True
            return self.waits(node.c, closure, depth + 1)
        if node.op == OP_CONCAT:
            # The end first: that is where a string's quote is.
            return self.waits(node.b, closure, depth + 1) or self.waits(node.a, closure, depth + 1)
        if node.op == OP_UNION:
            for i in range(node.b):
                if not self.waits(self.table.lists[node.a + i], closure, depth + 1):
                    return False
            return True
        if node.op == OP_AND:
            for i in range(node.b):
                if self.waits(self.table.lists[node.a + i], closure, depth + 1):
                    return True
        return False

    cdef bint takes_most(self, int32_t lex, Closure* closure) noexcept nogil:
        """Whether a state takes at least half of the closure's single bytes."""
        cdef int byte, taken = 0, refused = 0, total = 0
        for byte in range(128):
            total += (closure.ascii[byte >> 6] >> (byte & 63)) & 1
        # The letters first: a state of few marks is soon told.
        for byte in range(127, -1, -1):
            if 2 * taken >= total or 2 * refused > total:
                break
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                if self.table.derive(lex, <uint8_t>byte, 0) > NODE_EMPTY:
                    taken += 1
                else:
                    refused += 1
        return 2 * taken >= total

    cdef uint64_t characters_lead_on(self, int32_t lex, uint64_t groups, vector[int32_t]& targets) noexcept nogil:
        """Those of the groups of characters of several bytes all of which lead on without ending; adds where to."""
        cdef vector[int32_t] reached
        cdef uint64_t result = 0
        cdef int lead = 0xC2, group
        cdef int32_t first, previous
        cdef bint good
        while lead < 0xF5:
            group = group_of[lead]
            good = (groups >> group) & 1
            reached.clear()
            previous = CODE_UNKNOWN
            while lead < 0xF5 and group_of[lead] == group:
                first = self.table.step(lex, <uint8_t>lead) if good else NODE_EMPTY
                if good and (first != previous or lead in (0xE1, 0xED, 0xEE, 0xF1, 0xF4)):
                    good = self.rest_leads_on(first, lead, reached)
                previous = first
                lead += 1
            if good:
                result |= <uint64_t>1 << group
                targets.insert(targets.end(), reached.begin(), reached.end())
        return result

    cdef bint rest_leads_on(self, int32_t lex, int lead, vector[int32_t]& targets) noexcept nogil:
        """Whether all characters that begin with `lead`, after which a state is `lex`, lead on without ending."""
        cdef vector[int32_t] states, following
        cdef int byte, previous, left = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        cdef int second = left
        cdef int32_t classes
        cdef size_t i
        states.push_back(lex)
        while left > 0:
            following.clear()
            for i in range(states.size()):
                if states[i] <= NODE_EPSILON or self.table.nodes[states[i]].nullable:
                    return False
                classes = self.table.class_map(states[i], 0)
                if classes < 0:
                    return False
                previous = -1
                for byte in range(0x80, 0xC0):
                    # Bytes of one class lead to one state.
                    if self.table.maps[classes][byte] == previous or (left == second and is_overlong(lead, byte)):
                        continue
                    previous = self.table.maps[classes][byte]
                    following.push_back(self.table.step(states[i], <uint8_t>byte))
                if following.size() > 64:
                    return False
            states.swap(following)
            left -= 1
        for i in range(states.size()):
            if states[i] <= NODE_EPSILON or self.table.nodes[states[i]].nullable:
                return False
            if targets.empty() or targets.back() != states[i]:
                targets.push_back(states[i])
        return True


cdef int drop_counted(LexemeTable table, int32_t lex, Closure* closure, int n_alive) noexcept nogil:
    """Drop single bytes that cannot be repeated, as before a near bound, until too few are left; how many are.

    Exploring finds that out too, but from all states within the bound.
    """
    cdef int byte, i
    cdef int32_t current, following
    for byte in range(128):
        if n_alive < CLOSURE_FROM:
            break
        if not (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
            continue
        current = lex
        # Bounds farther away than that have been dropped.
        for i in range(NEAR):
            following = table.step(current, <uint8_t>byte)
            if following <= NODE_EPSILON:
                closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                n_alive -= 1
                break
            if following == current:
                break
            current = following
    return n_alive
