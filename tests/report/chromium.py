"""Headless Chromium, where there is one: what a page looks like to a browser, as values."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def measure(page: str, script: str, folder: Path, *, dark: bool = False, width: int = 1150) -> Any:
    """What a JavaScript expression is on a page that has been laid out. Skips the test without Chromium.

    Args:
        page: HTML.
        script: An expression; its value must be JSON.
        folder: An empty folder, for the page and the browser's profile.
        dark: Whether the reader prefers dark pages.
        width: Of the window, in pixels.
    """
    browser = next(filter(None, map(shutil.which, _NAMES)), None)
    if browser is None:
        pytest.skip("no Chromium here: apt install chromium")
    path = folder / "page.html"
    probe = f"<script>document.documentElement.dataset.measured = JSON.stringify({script})</script>"
    path.write_text(page.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    command = [
        browser,
        *_FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},1000",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        "--virtual-time-budget=2000",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-measured="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    return json.loads(unescape(found[1]))
