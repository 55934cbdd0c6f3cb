"""Every Python block in README.md and docs/ runs, top to bottom, with one namespace per page.

A block that starts with ``>>>`` is compared with the output it shows; others have only to run. A page
that needs the real model says so with ``<!-- needs: model -->`` and is skipped where there is none.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(
    page: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "<!-- needs: model -->" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("model_path")
    monkeypatch.chdir(ROOT)
    document = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], pattern="*.md").parse(page)
    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize("program", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_examples_are_python(program: Path) -> None:
    """Their runs need the real model (tests/cli); that they parse and explain themselves does not."""
    assert ast.get_docstring(ast.parse(program.read_text(encoding="utf-8")))
