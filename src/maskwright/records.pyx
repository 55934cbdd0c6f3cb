# Records: lexemes and the expressions of rules, which front-ends make by the hundred for each schema.
#
# Plain data that nobody changes, compiled because making one takes a fifth of the time, and reading one in the kernel
# no look-up. What they mean, and how they are put together, is in `lexeme.py` and `rules.py`.


cdef class Lexeme:
    """One regular language over bytes. Build with the functions of `maskwright.lexeme`.

    Attributes:
        op: What kind of expression this is, an `Op`.
        args: Operands, as documented at `Op`.
    """

    def __init__(self, op, tuple args=()):
        self.op = op
        self.args = args
        self.node = self.other_node = -1

    def __repr__(self):
        if self.op.name == "BYTES":
            return f"Lexeme(BYTES, {self.args[0]:#x})"
        return f"Lexeme({self.op.name}{', ' if self.args else ''}{', '.join(map(repr, self.args))})"


cdef class Expr:
    """Base of the expressions."""

    def __repr__(self):
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__match_args__)
        return f"{type(self).__name__}({inner})"


cdef class Lex(Expr):
    """Bytes that are in a regular language."""

    __match_args__ = ("lexeme",)

    def __init__(self, Lexeme lexeme not None):
        self.lexeme = lexeme


cdef class Call(Expr):
    """An instance of another rule, with a fresh register."""

    __match_args__ = ("rule",)

    def __init__(self, rule):
        self.rule = rule


cdef class Seq(Expr):
    """The parts one after another; no parts: the empty text."""

    __match_args__ = ("parts",)

    def __init__(self, tuple parts not None):
        self.parts = parts


cdef class Alt(Expr):
    """Any of the options; no options: nothing can match."""

    __match_args__ = ("options",)

    def __init__(self, tuple options not None):
        self.options = options


cdef class Repeat(Expr):
    """The body ``low`` to ``high`` times (None: no upper bound). Counted, never unrolled.

    The body must not contain an `Act`: the count takes a register of its own.
    """

    __match_args__ = ("body", "low", "high")

    def __init__(self, Expr body not None, int32_t low, high):
        self.body = body
        self.low = low
        self.high = high


cdef class Tokens(Expr):
    """One token out of a set of ids, whatever its text (special tokens are reached only so).

    Not for lazy rules: which tokens a grammar names is asked before anything is expanded.
    """

    __match_args__ = ("ids",)

    def __init__(self, tuple ids not None):
        self.ids = ids


cdef class Fresh(Expr):
    """Bytes that are in a regular language and that no `Fresh` of the same slot has matched before in this
    rule instance. What it matches is remembered in the register.

    With ``any_order`` two JSON texts that differ only in the order of the members of some objects are the
    same; all `Fresh` of a slot agree about that. White space and spellings are compared as they are, and so
    is a text that is not JSON.
    With ``again`` it is the other way round: bytes that some `Fresh` of the slot has matched before.

    The language must be a prefix code or end where something else begins, as for any lexeme; whoever makes
    the rules sees to it that there is always something fresh left, or another way on.
    """

    __match_args__ = ("lexeme", "slot", "any_order", "again")

    def __init__(self, Lexeme lexeme not None, int32_t slot, bint any_order=False, bint again=False):
        self.lexeme = lexeme
        self.slot = slot
        self.any_order = any_order
        self.again = again


cdef class Act(Expr):
    """A zero-width test and update of the register of the rule instance it stands in; ``action`` is an `Action`."""

    __match_args__ = ("action", "a", "b", "c")

    def __init__(self, action, int32_t a, int32_t b=0, int32_t c=0):
        self.action = action
        self.a = a
        self.b = b
        self.c = c
