# Survey: one look at every schema object that a document's root may lead to.
#
# What it does. Follows subschemas and local references from the root. Says whether the value of each keyword has its
# usual form, which schemas have a keyword that may turn out not to be enforceable (*risky*), and which schemas
# lead to one of those. What nothing refers to is not looked at, and costs nothing.
# What it does not. Know keywords (`preflight` hands in how each is read), make nodes, resolve ids and anchors,
# raise, or know places: as soon as anything is unusual it gives up, and `preflight` looks again, slowly and with places.
#
# Why compiled. It is the only part of compiling that grows with the document and not with what is visited.
#
# Each schema object is looked at once however many references lead to it, so the pass is linear, also where
# the parts of a Python value are shared or contain themselves.

from cython.operator cimport dereference as deref
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from decimal import Decimal
from urllib.parse import unquote

# How the value of a keyword is read.
cpdef enum Reading:
    TYPE = 1
    SCHEMA  # a schema
    RISKY_SCHEMA
    ITEMS  # a schema or a list of them
    MAP  # schemas by name
    PATTERN_MAP  # schemas by pattern
    DEFINITIONS  # as MAP, but looked at only where a reference leads
    DEPENDENCIES  # schemas, names or a name by name; risky
    TUPLE  # a list of schemas
    SCHEMAS  # the same, one at least
    ONE_OF  # the same; risky unless plainly apart
    NAMES
    VALUES
    PATTERN
    FORMAT  # a text; risky beside a pattern
    COUNT
    MANY_COUNT  # risky from 2 on
    NUMBER
    BOUND  # a number or, in draft 4, a flag
    RISKY_NUMBER
    RISKY_FLAG  # risky if set
    REF
    IDENTITY  # of the root only
    ODD  # always asks for a closer look

# Schema objects in one document.
cdef Py_ssize_t MAX_SCHEMAS = 2_000_000


cdef class Survey:
    """The pass over one document.

    Args:
        root: The document's root schema.
        readings: How keywords are read, by name; all others say nothing.
        types: The names of types.
        pattern_is_fine: Asked of every pattern.
        are_apart: Asked of the options of ``ONE_OF``.

    Attributes:
        is_plain: Whether all was read. If not, nothing else here means anything.
        leads_elsewhere: Whether there is a reference by name or address, whose target may be anywhere.
        risky: The ids of the risky schema objects.
    """

    cdef readonly bint is_plain
    cdef readonly bint leads_elsewhere
    cdef readonly set risky
    cdef object _root
    cdef dict _readings
    cdef frozenset _types
    cdef object _pattern_is_fine
    cdef object _are_apart
    cdef list _schemas  # in the order in which they were met; the place in it is a schema's number
    cdef unordered_map[size_t, int32_t] _numbers  # by address
    cdef vector[pair[int32_t, int32_t]] _ways  # (inner, outer)
    cdef vector[int32_t] _risky_numbers
    cdef dict _followed  # number of a reference's target
    cdef dict _holders  # what holds targets, by pointer
    cdef str _head  # the last of these pointers, with a slash behind it; None before the first
    cdef object _holder  # what is there

    def __init__(self, root, dict readings, frozenset types, pattern_is_fine, are_apart):
        self._root = root
        self._readings = readings
        self._types = types
        self._pattern_is_fine = pattern_is_fine
        self._are_apart = are_apart
        self._schemas = []
        self._followed = {}
        self._holders = {}
        self.is_plain = self._visit(root, -1) and self._run()
        self.risky = {id(self._schemas[number]) for number in self._risky_numbers}

    def leading(self) -> set:
        """The ids of all schema objects on the way to a risky one, themselves included."""
        cdef vector[vector[int32_t]] outer
        cdef vector[int32_t] stack = self._risky_numbers
        cdef int32_t number, other
        cdef size_t i
        found = set()
        outer.resize(len(self._schemas))
        for i in range(self._ways.size()):
            outer[self._ways[i].first].push_back(self._ways[i].second)
        while not stack.empty():
            number = stack.back()
            stack.pop_back()
            address = id(self._schemas[number])
            if address not in found:
                found.add(address)
                for other in outer[number]:
                    stack.push_back(other)
        return found

    cdef bint _run(self) except -1:
        """Look at all schemas, those met on the way included."""
        cdef Py_ssize_t number = 0
        cdef PyObject* reading
        cdef dict schema
        while number < len(self._schemas):
            schema = <dict>self._schemas[number]
            for keyword, value in schema.items():
                reading = PyDict_GetItem(self._readings, keyword)
                if reading != NULL and not self._read(
                    <int>(<object>reading), value, schema, <int32_t>number
                ):
                    return False
            number += 1
            if number > MAX_SCHEMAS:
                return False
        return True

    cdef bint _visit(self, value, int32_t outer) except -1:
        """Meet a subschema; False if it is none."""
        cdef size_t address = <size_t><PyObject*>value
        cdef pair[unordered_map[size_t, int32_t].iterator, bint] met
        cdef int32_t number
        cdef PyObject* kind
        if not isinstance(value, dict):
            return isinstance(value, bool)
        if len(<dict>value) == 1:
            # A type and nothing else: so is every second schema, and there is nothing more to know of it.
            kind = PyDict_GetItem(<dict>value, "type")
            if kind != NULL and isinstance(<object>kind, str):
                return <object>kind in self._types
        met = self._numbers.insert(pair[size_t, int32_t](address, <int32_t>len(self._schemas)))
        number = deref(met.first).second
        if met.second:
            self._schemas.append(value)
        if outer >= 0:
            self._ways.push_back(pair[int32_t, int32_t](number, outer))
        return True

    cdef bint _visit_items(self, list items, int32_t outer) except -1:
        for item in items:
            if not self._visit(item, outer):
                return False
        return True

    cdef bint _visit_values(self, dict values, int32_t outer) except -1:
        for value in values.values():
            if not self._visit(value, outer):
                return False
        return True

    cdef bint _read(self, int reading, value, dict schema, int32_t number) except -1:
        """Read the value of one keyword; False if it is unusual."""
        if reading == TYPE:
            return value in self._types if isinstance(value, str) else self._are_types(value)
        if reading == SCHEMA:
            return self._visit(value, number)
        if reading == MAP:
            return isinstance(value, dict) and self._visit_values(<dict>value, number)
        if reading == DEFINITIONS:
            return isinstance(value, dict)
        if reading == REF:
            return isinstance(value, str) and self._follow(<str>value, number)
        if reading == NAMES:  # draft 3 has a flag
            return _are_texts(value) or isinstance(value, bool)
        if reading == SCHEMAS or reading == ONE_OF:
            if not isinstance(value, list) or len(<list>value) == 0:
                return False
            if reading == ONE_OF and not self._are_apart(value):
                self._risky_numbers.push_back(number)
            return self._visit_items(<list>value, number)
        if reading == TUPLE:
            return isinstance(value, list) and self._visit_items(<list>value, number)
        if reading == ITEMS:
            return self._visit_items(<list>value, number) if isinstance(value, list) else self._visit(value, number)
        if reading == VALUES:
            return isinstance(value, list)
        if reading == COUNT or reading == MANY_COUNT:
            if reading == MANY_COUNT and value != 0 and value != 1:
                self._risky_numbers.push_back(number)
            return _is_count(value)
        if reading == NUMBER:
            return _is_number(value)
        if reading == BOUND:
            return _is_number(value) or isinstance(value, bool)
        if reading == PATTERN:
            return isinstance(value, str) and self._pattern_is_fine(value)
        if reading == PATTERN_MAP:
            if not isinstance(value, dict):
                return False
            for pattern in <dict>value:
                if not self._pattern_is_fine(pattern):
                    return False
            return self._visit_values(<dict>value, number)
        if reading == IDENTITY:
            return schema is self._root or not isinstance(value, str)
        return self._read_risky(reading, value, schema, number)

    cdef bint _read_risky(self, int reading, value, dict schema, int32_t number) except -1:
        """Read the value of a keyword that may be risky by itself."""
        if reading == FORMAT:
            if "pattern" in schema:  # together they may be too large an automaton
                self._risky_numbers.push_back(number)
            return isinstance(value, str)
        if reading == RISKY_FLAG:
            if value is True:
                self._risky_numbers.push_back(number)
            return isinstance(value, bool)
        self._risky_numbers.push_back(number)
        if reading == RISKY_SCHEMA:
            return self._visit(value, number)
        if reading == RISKY_NUMBER:
            return _is_number(value)
        if reading == DEPENDENCIES:
            if not isinstance(value, dict):
                return False
            for inner in (<dict>value).values():
                if not (isinstance(inner, str) or _are_texts(inner) or self._visit(inner, number)):
                    return False
            return True
        return False

    cdef bint _are_types(self, value) except -1:
        if not isinstance(value, list):
            return False
        for name in <list>value:
            if not isinstance(name, str) or name not in self._types:
                return False
        return True

    cdef bint _follow(self, str ref, int32_t number) except -1:
        """Meet the target of a local reference."""
        known = self._followed.get(ref)
        if known is not None:
            self._ways.push_back(pair[int32_t, int32_t](<int32_t>known, number))
            return True
        if ref != "#" and not ref.startswith("#/"):
            self.leads_elsewhere = True
            self._risky_numbers.push_back(number)
            return True
        target = self._target(ref)
        if not self._visit(target, number):
            return False
        if isinstance(target, dict):
            self._followed[ref] = self._numbers[<size_t><PyObject*>target]
        return True

    cdef object _target(self, str ref):
        """What a local reference leads to; None if there is nothing, or if an id on the way starts another count."""
        cdef str head, tail
        # Nearly all references lead into the same few objects, most one after the other.
        if self._head is not None and ref.startswith(self._head):
            tail = ref[len(self._head) :]
            if "/" not in tail and "%" not in tail:
                return _below(self._holder, tail)
        if "%" in ref:
            ref = unquote(ref)
        head, _, tail = ref.rpartition("/")
        if not head:
            return self._root
        holder = self._holders.get(head)
        if holder is None:
            holder = self._root
            for part in head.split("/")[1:]:
                holder = _below(holder, part)
                if isinstance(holder, dict) and _has_id(<dict>holder):
                    return None
            self._holders[head] = holder
        self._head = head + "/"
        self._holder = holder
        return _below(holder, tail)


cdef object _below(value, str part):
    """One step of a JSON pointer; None if there is nothing."""
    cdef PyObject* inner
    if "~" in part:
        part = part.replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        inner = PyDict_GetItem(<dict>value, part)
        return None if inner == NULL else <object>inner
    if isinstance(value, list) and part.isdigit() and int(part) < len(<list>value):
        return (<list>value)[int(part)]
    return None


cdef bint _has_id(dict schema) except -1:
    return isinstance(schema.get("$id"), str) or isinstance(schema.get("id"), str)


cdef bint _are_texts(value) except -1:
    if not isinstance(value, list):
        return False
    for text in <list>value:
        if not isinstance(text, str):
            return False
    return True


cdef bint _is_number(value) except -1:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


cdef bint _is_count(value) except -1:
    if isinstance(value, float):
        return value.is_integer() and value >= 0
    if isinstance(value, Decimal):
        return value.is_finite() and value >= 0 and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
