"""Whole grammars with texts that they must take and refuse, in the notation both dialects share."""

from typing import NamedTuple


class Sample(NamedTuple):
    name: str
    grammar: str
    accepted: tuple[str, ...]
    refused: tuple[str, ...]


JSON = Sample(
    "json",
    r"""
# Any JSON text; white space by right recursion, as old grammars spell it.
root   ::= ws value
value  ::= (object | array | string | number | "true" | "false" | "null") ws
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value
array  ::= "[" ws (value ("," ws value)*)? "]"
string ::= "\"" char* "\""
char   ::= [^"\\\u0000-\u001F] | "\\" (["\\bfnrt/] | "u" hex{4})
hex    ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= ([ \t\n\r] ws)?
""",
    ('{"a": [1, -2.5e+3, "é\\u00e9"], "b": {}}', " [ ] ", '"\\n"', "0"),
    ("{", '{"a" 1}', "01", '"\n"', "[1,]", "nul", ""),
)

ARITHMETIC = Sample(
    "arithmetic",
    r"""
root ::= sum
sum ::= sum [-+] product | product        # left recursive
product ::= power ([*/] power)*
power ::= atom ("^" power)?
atom ::= number | "(" sum ")" | "-" atom
number ::= digit+ ("." digit+)?
digit ::= [0-9]
""",
    ("1+2*3", "(1-2)^2^3", "--4.25", "((7))"),
    ("1+", "(1", "1..2", "", "a"),
)

CHESS = Sample(
    "chess",
    r"""
root ::= turn{1,3}
turn ::= [1-9] [0-9]? ". " move " " move "\n"
move ::= (pawn | piece | castle) [+#]?
pawn ::= ([a-h] "x")? square ("=" [NBRQ])?
piece ::= [NBRQK] [a-h]? [1-8]? "x"? square
castle ::= "O-O" "-O"?
square ::= [a-h] [1-8]
""",
    ("1. e4 e5\n", "1. e4 c5\n2. Nf3 d6\n12. O-O Qxd8+\n", "9. exd8=Q# O-O-O\n"),
    ("1. e9 e5\n", "1. e4\n", "0. e4 e5\n", "1. e4 e5\n" * 4),
)

C_SUBSET = Sample(
    "c-subset",
    r"""
root ::= function+
function ::= type " " name "(" (parameter (", " parameter)*)? ")" ws block ws
parameter ::= type " " name
type ::= "int" | "float" | "char" "*"?
name ::= [a-zA-Z_] [a-zA-Z_0-9]*
block ::= "{" ws (statement ws)* "}"
statement ::= (
    type " " name (" = " expression)? ";"
  | name " = " expression ";"
  | "return " expression ";"
  | "if (" expression ")" ws block (ws "else" ws block)?
  | "while (" expression ")" ws block
)
expression ::= expression " " ("+" | "-" | "*" | "<" | "==") " " expression | operand
operand ::= name | name "(" (expression (", " expression)*)? ")" | [0-9]+ | "(" expression ")"
ws ::= [ \n\t]*
""",
    (
        "int main() { return 0; }",
        "int f(int a, char* b) {\n  int c = a + g(1, (2)) * 3;\n  while (c < 9) { c = c + 1; }\n  return c;\n}\n",
        "float f() { if (a == b) { } else { x = 1; } }",
    ),
    ("int main() { return 0 }", "int 1f() {}", "main() {}", "int f() { if (a) x = 1; }"),
)

SAMPLES = (JSON, ARITHMETIC, CHESS, C_SUBSET)
