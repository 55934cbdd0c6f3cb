# Orders: the texts that differ from a JSON text only in the order of the members of its objects.
#
# What it does. A text that must not be repeated is taken away from what may be written next (network.pyx). Where members
# come in any order, all its orders must be taken away. They are one lexeme: an arrangement of the members wherever there
# is an object, with the members' values arranged likewise. Separators and white space stay as the text has them.
#
# A reader that knows just enough JSON: where strings end, and what brackets, commas and colons are. It is given
# what a lexeme of JSON values has matched; a text that it cannot read is its own only order.
#
# Locking. Everything expects the table's lock.

from .arrangements cimport Arrangement
from .nodes cimport CODE_LIMIT, CODE_UNKNOWN, NODE_EPSILON

# Deeper values are taken as they are. Recursion stays far below any thread's stack.
cdef int MAX_DEPTH = 200


cdef struct Reader:
    const uint8_t* text
    size_t length
    size_t at           # the next byte


cdef inline int peek(const Reader* reader) noexcept nogil:
    """The next byte; -1 at the end."""
    return reader.text[reader.at] if reader.at < reader.length else -1


cdef int32_t all_orders(LexemeTable table, const vector[uint8_t]& text) noexcept nogil:
    """The node of all orders of one text; a negative code if the table is full."""
    cdef Reader reader
    cdef int32_t node
    reader.text = text.data()
    reader.length = text.size()
    reader.at = 0
    node = value_of(table, &reader, 0)
    if node == CODE_UNKNOWN or (node >= 0 and reader.at < reader.length):
        return table.literal_before(text.data(), text.size(), NODE_EPSILON)
    return node


cdef int32_t value_of(LexemeTable table, Reader* reader, int depth) noexcept nogil:
    """All orders of the value that stands here; CODE_UNKNOWN if there is none."""
    cdef size_t start = reader.at
    cdef int first = peek(reader)
    if depth > MAX_DEPTH:
        return CODE_UNKNOWN
    if (first == c"{" or first == c"[") and has_orders(reader):
        return container_of(table, reader, depth)
    if first == c"{" or first == c"[":
        skip_container(reader)
    elif first == c'"':
        skip_string(reader)
    else:
        while peek(reader) >= 0 and not ends_scalar(peek(reader)):
            reader.at += 1
    if reader.at == start or reader.at > reader.length:
        return CODE_UNKNOWN
    return table.literal_before(reader.text + start, reader.at - start, NODE_EPSILON)


cdef bint has_orders(const Reader* reader) noexcept nogil:
    """Whether the container that begins here holds, or is, an object of several members."""
    cdef Reader ahead = reader[0]
    return not scan_container(&ahead, True)


cdef void skip_container(Reader* reader) noexcept nogil:
    """To behind the container that begins here, or beyond the end if it does not end."""
    if not scan_container(reader, False):
        reader.at = reader.length + 1


cdef bint scan_container(Reader* reader, bint stops) noexcept nogil:
    """Whether brackets match up to the end of the container that begins here, and the reader is behind it; if it
    `stops`, False at the first comma between members of an object too."""
    cdef vector[uint8_t] closing
    cdef int byte
    while True:
        byte = peek(reader)
        if byte < 0:
            return stops
        if byte == c'"':
            skip_string(reader)
            continue
        reader.at += 1
        if byte == c"{" or byte == c"[":
            closing.push_back(c"}" if byte == c"{" else c"]")
        elif byte == c"}" or byte == c"]":
            if closing.back() != byte:
                return stops
            closing.pop_back()
            if closing.empty():
                return True
        elif stops and byte == c"," and closing.back() == c"}":
            return False


cdef int32_t container_of(LexemeTable table, Reader* reader, int depth) noexcept nogil:
    """All orders of the object or array that begins here, which is not empty."""
    cdef size_t opening = reader.at, behind, start
    cdef bint is_object = peek(reader) == c"{"
    cdef int last = c"}" if is_object else c"]"
    cdef vector[int32_t] parts
    cdef int32_t node, separator = NODE_EPSILON, close
    reader.at += 1
    skip_space(reader)
    behind = reader.at
    while True:
        start = reader.at
        if is_object:
            skip_string(reader)
            skip_space(reader)
            if peek(reader) != c":":
                return CODE_UNKNOWN
            reader.at += 1
            skip_space(reader)
        node = table.literal_before(reader.text + start, reader.at - start, NODE_EPSILON)
        close = value_of(table, reader, depth + 1)
        if close < 0:
            return close
        parts.push_back(table.concat(node, close))
        start = reader.at
        skip_space(reader)
        if peek(reader) != c",":
            break
        reader.at += 1
        skip_space(reader)
        separator = table.literal_before(reader.text + start, reader.at - start, NODE_EPSILON)
    if peek(reader) != last:
        return CODE_UNKNOWN
    reader.at += 1
    close = table.literal_before(reader.text + start, reader.at - start, NODE_EPSILON)
    node = arranged(table, parts, separator, close) if is_object else in_sequence(table, parts, separator, close)
    return table.literal_before(reader.text + opening, behind - opening, node)


cdef int32_t arranged(LexemeTable table, vector[int32_t]& parts, int32_t separator, int32_t close) noexcept nogil:
    """All parts, in any order."""
    cdef Arrangement what
    if parts.size() == 1:
        return table.concat(parts[0], close)
    what.parts = parts
    what.n_required = what.low = what.high = <int32_t>parts.size()
    what.separator = separator
    what.close = close
    return table.arrangement(what)


cdef int32_t in_sequence(LexemeTable table, vector[int32_t]& parts, int32_t separator, int32_t close) noexcept nogil:
    """All parts, one after another."""
    cdef int32_t node = close
    cdef size_t i
    for i in range(parts.size(), 0, -1):
        node = table.concat(parts[i - 1], node)
        if i > 1:
            node = table.concat(separator, node)
    return node


cdef void skip_string(Reader* reader) noexcept nogil:
    """To behind the string that begins here; nothing if none does."""
    if peek(reader) != c'"':
        return
    reader.at += 1
    while peek(reader) >= 0 and peek(reader) != c'"':
        reader.at += 2 if peek(reader) == c"\\" else 1
    reader.at += 1


cdef void skip_space(Reader* reader) noexcept nogil:
    while is_space(peek(reader)):
        reader.at += 1


cdef inline bint is_space(int byte) noexcept nogil:
    return byte == c" " or byte == c"\t" or byte == c"\n" or byte == c"\r"


cdef inline bint ends_scalar(int byte) noexcept nogil:
    return byte == c"," or byte == c"]" or byte == c"}" or byte == c":" or is_space(byte)
