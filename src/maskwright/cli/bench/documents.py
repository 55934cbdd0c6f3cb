"""Puts a command's output into its own section of a document, so that no table is ever typed by hand.

A section stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; the command that made it is
written above the output.
"""

from __future__ import annotations

import re
from pathlib import Path

from .datasets import DataError

__all__ = ["replace_section"]


def replace_section(path: Path, name: str, command: str, text: str) -> None:
    """Replace the section's content.

    Args:
        path: The document; it must have the section's two marks.
        name: The section.
        command: The command that makes the text again.
        text: Markdown.

    Raises:
        DataError: The document or the section does not exist.
    """
    try:
        document = path.read_text()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    body = f"{begin}\n`{command}`\n\n{text.strip()}\n{end}"
    # A function as replacement: the text may hold backslashes, which a template would read.
    document, n_replaced = pattern.subn(lambda _: body, document)
    if n_replaced != 1:
        raise DataError(f"{path} has no section {name!r} (or more than one)")
    path.write_text(document)
