# Data dictionary of lexemes and expressions. See records.pyx.
from libc.stdint cimport int32_t

cdef class Lexeme:
    cdef readonly object op     # an Op
    cdef readonly tuple args
    # Where the kernel remembers the node that this description became: in the table that asked last, and in the one
    # before. Front-ends ask a table of their own whether lexemes are empty, then a grammar's asks.
    cdef object table
    cdef int32_t node
    cdef object other_table
    cdef int32_t other_node

cdef class Expr:
    pass

cdef class Lex(Expr):
    cdef readonly Lexeme lexeme

cdef class Call(Expr):
    cdef readonly object rule

cdef class Seq(Expr):
    cdef readonly tuple parts

cdef class Alt(Expr):
    cdef readonly tuple options

cdef class Repeat(Expr):
    cdef readonly Expr body
    cdef readonly int32_t low
    cdef readonly object high   # None: no upper bound

cdef class Tokens(Expr):
    cdef readonly tuple ids

cdef class Fresh(Expr):
    cdef readonly Lexeme lexeme
    cdef readonly int32_t slot
    cdef readonly bint any_order
    cdef readonly bint again

cdef class Act(Expr):
    cdef readonly object action
    cdef readonly int32_t a
    cdef readonly int32_t b
    cdef readonly int32_t c
