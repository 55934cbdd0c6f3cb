"""Names of resources: URIs, IRIs, URI templates, JSON pointers, UUIDs; and base 64.

All are exact; each pattern follows the ABNF of its RFC rule by rule, to be read side by side.
An address in a URI that is no valid IPv4 address (``999.1.1.1``) is a valid registered name all the same.
"""

from __future__ import annotations

from typing import Final

from ...lexeme import Lexeme
from ...regex import Encoding, compile_regex
from .addresses import IPV6

__all__ = [
    "base64",
    "iri",
    "iri_reference",
    "json_pointer",
    "relative_json_pointer",
    "uri",
    "uri_reference",
    "uri_template",
    "uuid",
]

# RFC 3987 section 2.2: what an IRI allows beyond a URI, anywhere and in the query only.
_UCSCHAR: Final = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}" + "".join(
    rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 15)
).replace(r"\u{E0000}", r"\u{E1000}")
_IPRIVATE: Final = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"

_PERCENT: Final = "%[0-9A-Fa-f]{2}"


class _Uri:
    """The patterns of RFC 3986 appendix A, or of RFC 3987 section 2.2 when given more characters."""

    def __init__(self, more: str = "", more_in_query: str = "") -> None:
        unreserved = rf"A-Za-z0-9._~{more}\-"
        delimiters = r"!$&'()*+,;="
        pchar = f"(?:[{unreserved}{delimiters}:@]|{_PERCENT})"
        no_colon = f"(?:[{unreserved}{delimiters}@]|{_PERCENT})"
        user = f"(?:[{unreserved}{delimiters}:]|{_PERCENT})*@"
        # IPv4address is a reg-name as well, so it needs no alternative of its own.
        name = f"(?:[{unreserved}{delimiters}]|{_PERCENT})*"
        future = r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:\-]+"
        authority = rf"(?:{user})?(?:\[(?:{IPV6}|{future})\]|{name})(?::\d*)?"
        rootless = f"{pchar}+(?:/{pchar}*)*"
        start = f"//{authority}(?:/{pchar}*)*|/(?:{rootless})?"
        query = rf"(?:\?(?:[{unreserved}{delimiters}:@/?{more_in_query}]|{_PERCENT})*)?"
        fragment = f"(?:#(?:[{unreserved}{delimiters}:@/?]|{_PERCENT})*)?"
        absolute = rf"[A-Za-z][A-Za-z0-9+.\-]*:(?:{start}|(?:{rootless})?){query}{fragment}"
        relative = f"(?:{start}|(?:{no_colon}+(?:/{pchar}*)*)?){query}{fragment}"
        self.absolute = absolute
        self.reference = f"{absolute}|{relative}"


_URI: Final = _Uri()
_IRI: Final = _Uri(_UCSCHAR, _IPRIVATE)

# RFC 6570 section 2. The apostrophe is allowed by erratum 6937.
_VARCHAR: Final = f"(?:[A-Za-z0-9_]|{_PERCENT})"
_VARSPEC: Final = rf"{_VARCHAR}(?:\.?{_VARCHAR})*(?::[1-9]\d{{0,3}}|\*)?"
_EXPRESSION: Final = rf"\{{[+#./;?&=,!@\|]?{_VARSPEC}(?:,{_VARSPEC})*\}}"
_LITERALS: Final = rf"[!#$&'-;=?-\[\]_a-z~{_UCSCHAR}{_IPRIVATE}]|{_PERCENT}"
_TEMPLATE: Final = f"(?:{_LITERALS}|{_EXPRESSION})*"

# RFC 6901 section 3; any character but the two that are escaped.
_POINTER: Final = "(?:/(?:[^~/]|~[01])*)*"

# RFC 4648 section 4, with the zero bits at the end that section 3.5 asks for.
_BASE64: Final = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"


def uri(encoding: Encoding) -> Lexeme:
    """RFC 3986 section 3, scheme required."""
    return compile_regex(_URI.absolute, encoding=encoding)


def uri_reference(encoding: Encoding) -> Lexeme:
    """RFC 3986 section 4.1."""
    return compile_regex(_URI.reference, encoding=encoding)


def iri(encoding: Encoding) -> Lexeme:
    """RFC 3987 section 2.2, scheme required."""
    return compile_regex(_IRI.absolute, encoding=encoding)


def iri_reference(encoding: Encoding) -> Lexeme:
    """RFC 3987 section 2.2."""
    return compile_regex(_IRI.reference, encoding=encoding)


def uri_template(encoding: Encoding) -> Lexeme:
    """RFC 6570, all levels, reserved operators included."""
    return compile_regex(_TEMPLATE, encoding=encoding)


def uuid(encoding: Encoding) -> Lexeme:
    """RFC 4122 section 3, any version and variant."""
    return compile_regex("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", encoding=encoding)


def json_pointer(encoding: Encoding) -> Lexeme:
    """RFC 6901 section 5, not the fragment form."""
    return compile_regex(_POINTER, encoding=encoding)


def relative_json_pointer(encoding: Encoding) -> Lexeme:
    """``2/a/b``, ``0#``: relative JSON pointers, without the later draft's ``+1`` and ``-1``."""
    return compile_regex(rf"(?:0|[1-9]\d*)(?:#|{_POINTER})", encoding=encoding)


def base64(encoding: Encoding) -> Lexeme:
    """Padded, standard alphabet, no line breaks."""
    return compile_regex(_BASE64, encoding=encoding)
