"""The same report as text, as JSON and as a page; the page also in a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from maskwright import GrammarCompiler
from maskwright.report import Report
from maskwright.report.wording import percent, shorten
from tests.report.chromium import measure
from tests.report.models import STOP, answer, byte_vocabulary, moody, wanting

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "mood": {"enum": ["glad", "sad", "<b>"]},
        "old": {"type": "boolean"},
        "n": {"type": "integer"},
    },
    "required": ["name", "mood", "old", "n"],
}
TEXT = '{"name":"<i>&","mood":"sad","old":true,"n":7}'


@pytest.fixture(scope="module")
def report() -> Report:
    compiled = GrammarCompiler(byte_vocabulary()).compile_json_schema(SCHEMA)
    return answer(compiled, moody(257, 1), tokens=[*TEXT.encode(), STOP])


@pytest.fixture(scope="module")
def coloured() -> Report:
    """One value that is sure, one likely, one doubtful; the last one pushed."""
    compiled = GrammarCompiler(byte_vocabulary()).compile_json_schema(
        {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3}
    )
    text = b"[true,true,true]"
    wanted = {text[:place]: {byte: 1.0} for place, byte in enumerate(text)}
    wanted[b"[true,"] = {116: 0.7, 102: 0.3}
    wanted[b"[true,true,"] = {116: 0.1, 102: 0.15, 55: 0.75}
    model = wanting(257, wanted)
    made = answer(compiled, model, tokens=[*text, STOP])
    assert [leaf.level for leaf in made.leaves] == ["sure", "likely", "doubtful"]
    return made


def test_text(report: Report, coloured: Report) -> None:
    lines = report.as_text().splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["/name", "/mood", "/old", "/n"]
    assert '"<i>&"' in lines[2]
    assert "runner-up" in lines[0]
    assert percent(report["/mood"].confidence) in lines[3]
    text = coloured.as_text()
    assert re.search(r"^/2 +true +40 % +doubtful, pushed", text, re.MULTILINE)
    assert "/2: wanted '7' (75 %); the mask took 75 %" in text
    assert "false (30 %)" in text


def test_json_has_everything(report: Report) -> None:
    made = json.loads(json.dumps(report.as_json()))
    assert made["text"] == TEXT
    assert made["complete"] is True
    leaf = made["leaves"][1]
    assert (leaf["pointer"], leaf["value"], leaf["kind"]) == ("/mood", "sad", "string")
    assert TEXT[leaf["start"] : leaf["end"]] == '"sad"'
    assert {member["value"] for member in leaf["members"]} == {"glad", "sad", "<b>"}
    assert leaf["level"] == report["/mood"].level
    assert len(made["tokens"]) == len(TEXT) + 1
    assert "".join(token["text"] for token in made["tokens"]) == TEXT
    for token in made["tokens"]:
        assert 0 <= token["removed"] <= 1
        assert 0 < token["probability"] <= 1
        assert token["divergence"] >= 0


class _Checker(HTMLParser):
    """Notes what a page loads or runs, and that its elements are closed."""

    VOID = frozenset({"meta", "link", "img", "br", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.foreign: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "object"):
            self.foreign.append(tag)
        self.foreign += [
            value for name, value in attrs if name in ("src", "href") and value and value[0] != "#"
        ]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_one_file_and_escapes_what_is_not_its_own(report: Report) -> None:
    page = report.as_html(title="a <model>", prompt="Who & <why>?")
    checker = _Checker()
    checker.feed(page)
    assert (checker.open, checker.foreign) == ([], [])
    assert "url(" not in page
    for text in ("a <model>", "Who & <why>?", '"<i>&"', "/mood", '"<b>"'):
        assert text in checker.text
    assert "$" not in page
    assert page.count("<tr id=") == 4


def test_empty_and_cut_answers_can_be_shown() -> None:
    compiled = GrammarCompiler(byte_vocabulary()).compile_json_schema(SCHEMA)
    for tokens in ([], list(b'{"name":"x')):
        made = answer(compiled, moody(257, 1), tokens=tokens)
        assert "not complete" in made.as_text()
        assert "not complete" in made.as_html()
        assert json.dumps(made.as_json())


#: The lowest contrast of any text with what is behind it (WCAG's definition), and where.
CONTRAST = """(() => {
  const channel = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const read = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = read(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  let worst = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.tagName === "SCRIPT") continue;
    const pair = [light(read(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 80)];
  }
  return worst;
})()"""

LOOKS = """["sure", "likely", "doubtful"].map((level) => {
  const style = getComputedStyle(document.querySelector(".answer a." + level));
  return [style.backgroundColor, style.textDecorationStyle, document.querySelector("td." + level).textContent];
})"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_page_in_a_browser_is_readable(coloured: Report, tmp_path: Path, dark: bool) -> None:
    page = coloured.as_html(title="a model", prompt="Three of them, please.")
    page = page.replace("<details>", "<details open>")
    ratio, where = measure(page, CONTRAST, tmp_path, dark=dark)
    assert ratio >= 4.5, where


def test_page_in_a_browser_tells_levels_apart_without_colour(coloured: Report, tmp_path: Path) -> None:
    page = coloured.as_html()
    (tmp_path / "light").mkdir()
    (tmp_path / "dark").mkdir()
    light = measure(page, LOOKS, tmp_path / "light")
    dark = measure(page, LOOKS, tmp_path / "dark", dark=True)
    assert [style for _, style, _ in light] == ["solid", "dashed", "wavy"]
    assert [text.split()[-1] for _, _, text in light] == ["sure", "likely", "doubtful"]
    colours = {colour for colour, _, _ in light + dark}
    assert len(colours) == 6


def test_page_in_a_browser_fits_and_its_links_lead_somewhere(report: Report, tmp_path: Path) -> None:
    facts = """({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      loaded: performance.getEntriesByType("resource").length,
      links: [...document.querySelectorAll(".answer a")].map((a) => [a.textContent, !!document.querySelector(a.hash)]),
      answer: document.querySelector(".answer").textContent,
    })"""
    found = measure(report.as_html(), facts, tmp_path, width=520)
    assert found["wide"] <= 0
    assert found["loaded"] == 0
    assert len(found["links"]) == 4
    assert all(leads for _, leads in found["links"])
    assert "<i>&" in found["answer"]


def test_wording() -> None:
    assert [percent(share) for share in (0.0, 0.0001, 0.05, 0.5, 0.995, 0.9999, 1.0)] == [
        "0 %", "<0.1 %", "5.0 %", "50 %", "99.5 %", ">99.9 %", "100 %",
    ]  # fmt: skip
    assert shorten("abc\ndef", 10) == "abc⏎def"
    assert shorten("x" * 50 + "end", 20) == "x" * 12 + "…" + "xxxxend"
