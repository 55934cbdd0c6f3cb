"""Sections of documents that commands write."""

from pathlib import Path

import pytest

from maskwright.cli.bench.datasets import DataError
from maskwright.cli.bench.documents import replace_section

ROOT = Path(__file__).parents[2]


def test_a_section_is_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Page\n<!-- begin quick -->\nold\n<!-- end quick -->\nprose \\1\n")
    replace_section(path, "quick", "maskwright bench quick", "new \\1\n")
    replace_section(path, "quick", "maskwright bench quick", "newer \\g<0>\n")
    assert path.read_text() == (
        "# Page\n<!-- begin quick -->\n`maskwright bench quick`\n\nnewer \\g<0>\n<!-- end quick -->\nprose \\1\n"
    )


def test_a_missing_section_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Page\n")
    with pytest.raises(DataError, match="no section 'quick'"):
        replace_section(path, "quick", "", "")
    with pytest.raises(DataError, match="cannot read"):
        replace_section(tmp_path / "none.md", "quick", "", "")
    assert path.read_text() == "# Page\n"


@pytest.mark.parametrize("name", ["quick", "mask", "batch", "growth"])
def test_the_performance_page_has_each_command_s_section(name: str) -> None:
    text = (ROOT / "docs/performance.md").read_text()
    assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1
