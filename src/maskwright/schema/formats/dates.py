"""Dates, times and durations of RFC 3339.

All are exact. A date is checked against the calendar (proleptic Gregorian, years 0000 to 9999), and a leap
second is allowed where it can be: at 23:59:60 UTC, whatever the offset. Whether a leap second was inserted on
that day is a matter of history and not looked up.

The leap second ties the hour and the minute to the offset, 1,440 combinations for each sign. Written as an
intersection of one relation for the hours and one for the minutes they are 24 and 60. Rejected: listing them
all, which made the lexeme larger than all others together.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...lexeme import Lexeme, concat, intersection, union
from ...regex import Encoding, compile_regex

__all__ = ["date", "date_time", "duration", "time"]

# RFC 3339 section 5.6: full-date, with the days of section 5.7.
_DAYS = (
    r"(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"  # 31 days
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8])"
)
# Divisible by 4 and not by 100, or by 400.
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = rf"\d{{4}}-(?:{_DAYS})|{_LEAP_YEAR}-02-29"

# RFC 3339 section 5.6: partial-time and time-offset. 24 is no hour, not even for midnight.
_HOUR = r"(?:[01]\d|2[0-3])"
_FRACTION = r"(?:\.\d+)?"
_OFFSET = rf"(?:[Zz]|[+\-]{_HOUR}:[0-5]\d)"
_TIME = rf"{_HOUR}:[0-5]\d:[0-5]\d{_FRACTION}{_OFFSET}"


def date(encoding: Encoding) -> Lexeme:
    """``2024-02-29``: RFC 3339 full-date."""
    return compile_regex(_DATE, encoding=encoding)


def time(encoding: Encoding) -> Lexeme:
    """``23:59:60.5+01:30``: RFC 3339 full-time."""
    return union(compile_regex(_TIME, encoding=encoding), _leap_second(encoding))


def date_time(encoding: Encoding) -> Lexeme:
    """RFC 3339 date-time: a date, a T of either case, a time."""
    return concat(date(encoding), compile_regex("[Tt]", encoding=encoding), time(encoding))


def _leap_second(encoding: Encoding) -> Lexeme:
    """Times with second 60 that are 23:59 in UTC (RFC 3339 section 5.7 and appendix D)."""
    # East of Greenwich the clock is ahead by the offset. 23:59 plus hh:00 is (hh - 1):59; plus hh:mm with
    # minutes it is hh:(mm - 1). West of it, 23:59 minus hh:mm is (23 - hh):(59 - mm).
    minute = compile_regex(r":[0-5]\d", encoding=encoding)
    hour = compile_regex(_HOUR, encoding=encoding)
    second = compile_regex(f":60{_FRACTION}", encoding=encoding)
    text = encoding.text

    def hours(pairs: Iterable[tuple[int, str]], local: Lexeme, offset: Lexeme) -> Lexeme:
        return union(*(concat(text(f"{at:02}"), local, second, text(ahead), offset) for at, ahead in pairs))

    def minutes(pairs: Iterable[tuple[int, int]], sign: str) -> Lexeme:
        return union(
            *(
                concat(hour, text(f":{at:02}"), second, text(sign), hour, text(f":{by:02}"))
                for at, by in pairs
            )
        )

    return union(
        concat(text("23:59"), second, compile_regex("[Zz]", encoding=encoding)),
        hours(((hh, f"+{(hh + 1) % 24:02}") for hh in range(24)), text(":59"), text(":00")),
        intersection(
            hours(((hh, f"+{hh:02}") for hh in range(24)), minute, minute),
            minutes(((mm, mm + 1) for mm in range(59)), "+"),
        ),
        intersection(
            hours(((hh, f"-{23 - hh:02}") for hh in range(24)), minute, minute),
            minutes(((mm, 59 - mm) for mm in range(60)), "-"),
        ),
    )


# RFC 3339 appendix A: each unit may be followed by the next smaller one only, and weeks stand alone.
_TIME_UNITS = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DATE_UNITS = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
_DURATION = rf"P(?:{_DATE_UNITS}(?:{_TIME_UNITS})?|{_TIME_UNITS}|\d+W)"


def duration(encoding: Encoding) -> Lexeme:
    """``P1Y2M3DT4H5M6S``: RFC 3339 appendix A."""
    return compile_regex(_DURATION, encoding=encoding)
