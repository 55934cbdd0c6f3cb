"""Dates and times against Python's calendar and clock arithmetic."""

from __future__ import annotations

import datetime
import random

import pytest

from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme

from .test_formats import Walker


def test_every_date_of_some_years() -> None:
    """All days 00 to 32 of all months 00 to 13, in leap years and others."""
    walker = Walker(format_lexeme("date", UTF8))
    for year in (1, 1900, 1996, 2000, 2023, 2024, 2100, 9999):
        for month in range(14):
            for day in range(33):
                try:
                    datetime.date(year, month, day)
                    valid = True
                except ValueError:
                    valid = False
                assert walker.accepts(f"{year:04}-{month:02}-{day:02}") == valid


def test_leap_years() -> None:
    """29 February of every year from 0001 to 9999 that has one."""
    walker = Walker(format_lexeme("date", UTF8))
    for year in range(1, 10000, 1):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert walker.accepts(f"{year:04}-02-29") == leap
    assert walker.accepts("0000-02-29")


def test_leap_seconds() -> None:
    """Second 60 exactly where the time is 23:59 UTC; every minute and sign, at random offsets."""
    walker = Walker(format_lexeme("time", UTF8))
    chance = random.Random(7)
    for local in range(1440):
        for sign in (1, -1):
            right = sign * (local - (23 * 60 + 59)) % 1440
            for offset in (right, chance.randrange(1440), (right + chance.choice([-60, -1, 1, 60])) % 1440):
                zone = f"{'+' if sign > 0 else '-'}{offset // 60:02}:{offset % 60:02}"
                text = f"{local // 60:02}:{local % 60:02}:60{chance.choice(['', '.5'])}{zone}"
                assert walker.accepts(text) == (offset == right), text


@pytest.mark.parametrize("text", ["23:59:60", "23:59:60.Z", "23:59:61Z", "24:59:60+01:00", "22:59:60Z"])
def test_no_other_second_60(text: str) -> None:
    """The offset is required, and 23:59 is in UTC."""
    assert not Walker(format_lexeme("time", UTF8)).accepts(text)


def test_date_time_joins_both() -> None:
    """A T of either case, and nothing else."""
    walker = Walker(format_lexeme("date-time", UTF8))
    assert walker.accepts("2024-02-29T01:29:60+01:30")
    assert walker.accepts("2024-02-29t00:00:00z")
    assert not walker.accepts("2024-02-29 00:00:00Z")
    assert not walker.accepts("2023-02-29T00:00:00Z")
    assert not walker.accepts("2024-02-29T00:00:00")
