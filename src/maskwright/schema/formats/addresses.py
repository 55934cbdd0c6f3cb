"""Addresses: IP addresses, host names, mail addresses, and their internationalised forms.

Exact but for two things that no finite automaton can do, both named in the notes of `formats`: a label that
begins with ``xn--`` is not decoded from Punycode and checked, and the length limits of an internationalised
name are those of its characters, not of its encoded form.
"""

from __future__ import annotations

from typing import Final

from ...lexeme import Lexeme, concat, intersection, union
from ...regex import Encoding, compile_regex, string_of_length
from .idn import idn_name

__all__ = ["IPV4", "IPV6", "email", "hostname", "idn_email", "idn_hostname", "ipv4", "ipv6"]

# RFC 3986 section 3.2.2 (dec-octet), stricter than RFC 2673 section 3.2 in that leading zeros are refused,
# because half of the world reads them as octal.
IPV4: Final = r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"


def _ipv6() -> str:
    """RFC 4291 section 2.2, in the form of RFC 3986 section 3.2.2: where may ``::`` stand?"""
    group = "[0-9A-Fa-f]{1,4}"
    last_two = f"(?:{group}:{group}|{IPV4})"
    options = [f"(?:{group}:){{6}}{last_two}"]
    for n_after in range(5, -1, -1):
        before = f"(?:(?:{group}:){{0,{5 - n_after - 1}}}{group})?" if n_after < 5 else ""
        options.append(f"{before}::(?:{group}:){{{n_after}}}{last_two}")
    options.append(f"(?:(?:{group}:){{0,5}}{group})?::{group}")
    options.append(f"(?:(?:{group}:){{0,6}}{group})?::")
    return f"(?:{'|'.join(options)})"


IPV6: Final = _ipv6()

# RFC 1123 section 2.1 with RFC 1034 section 3.1: labels of at most 63 characters, 253 in all.
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_NAME_LENGTH: Final = 253

# RFC 5321 section 4.1.2. Control characters are not allowed even in quotes.
_ATEXT: Final = r"A-Za-z0-9!#$%&'*+/=?\^_`\{\|\}~\-"
_QUOTABLE: Final = r" !#-\[\]-~"
_BEYOND_ASCII: Final = r"\u{80}-\u{10FFFF}"  # RFC 6531 section 3.3
_LOCAL_LENGTH: Final = 64  # RFC 5321 section 4.5.3.1.1


def ipv4(encoding: Encoding) -> Lexeme:
    """``127.0.0.1``."""
    return compile_regex(IPV4, encoding=encoding)


def ipv6(encoding: Encoding) -> Lexeme:
    """``::ffff:127.0.0.1``, without zone and brackets."""
    return compile_regex(IPV6, encoding=encoding)


def hostname(encoding: Encoding) -> Lexeme:
    """``www.example.com``, ASCII only."""
    name = compile_regex(rf"{_LABEL}(?:\.{_LABEL})*", encoding=encoding)
    return intersection(name, string_of_length(1, _NAME_LENGTH, encoding))


def idn_hostname(encoding: Encoding) -> Lexeme:
    """``παράδειγμα.com``: labels of letters of any script as in RFC 5890 to 5893."""
    # RFC 3490 section 3.1 lists the other full stops; they separate labels too.
    separator = encoding.chars(tuple((ord(stop), ord(stop)) for stop in ".\u3002\uff0e\uff61"))
    return intersection(idn_name(encoding, separator), string_of_length(1, _NAME_LENGTH, encoding))


def email(encoding: Encoding) -> Lexeme:
    """RFC 5321 Mailbox: ``"joe bloggs"@[127.0.0.1]`` too."""
    return concat(_local_part(encoding, ""), _at(encoding), union(hostname(encoding), _literal(encoding)))


def idn_email(encoding: Encoding) -> Lexeme:
    """RFC 6531 Mailbox: the same with letters of all scripts."""
    domain = intersection(idn_name(encoding, encoding.text(".")), string_of_length(1, _NAME_LENGTH, encoding))
    return concat(_local_part(encoding, _BEYOND_ASCII), _at(encoding), union(domain, _literal(encoding)))


def _at(encoding: Encoding) -> Lexeme:
    return encoding.text("@")


def _local_part(encoding: Encoding, more: str) -> Lexeme:
    """Dot-string or quoted string, with more characters allowed in both."""
    atom = f"[{_ATEXT}{more}]+"
    pattern = rf'{atom}(?:\.{atom})*|"(?:[{_QUOTABLE}{more}]|\\[ -~])*"'
    return intersection(
        compile_regex(pattern, encoding=encoding), string_of_length(1, _LOCAL_LENGTH, encoding)
    )


def _literal(encoding: Encoding) -> Lexeme:
    """RFC 5321 section 4.1.3. Its third form needs a registered tag, and none is registered."""
    return compile_regex(rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]", encoding=encoding)
