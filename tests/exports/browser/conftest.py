"""A Chromium for all tests here: the one that CHROMIUM names, or that is on PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
MISSING = (
    "no Chromium is on PATH: install it (apt-get install chromium; macOS: brew install --cask chromium), or "
    "name one, as in CHROMIUM=path/to/chromium make test-browser"
)


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make test-browser")
    path = chromium()
    if path is None:
        pytest.fail(MISSING)
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


@dataclass
class Visit:
    """A page in the browser, with every request that was made and all that was said on the console."""

    page: Any
    file: Path
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def open(self, text: str, address: str = "") -> None:
        """Open the text as a file, with that after the #, and wait until the word is shown."""
        self.file.write_text(text, encoding="utf-8")
        self.page.goto(self.file.as_uri() + address)
        self.wait()

    def type(self, text: str) -> None:
        """Type another word, and wait until it is shown."""
        self.page.fill("#word", text)
        self.wait()

    def wait(self) -> None:
        self.page.wait_for_selector("#main[aria-busy=false]")

    def text(self, selector: str) -> str:
        found: str = self.page.inner_text(selector)
        return found


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    """A fresh page. When the test is over, nothing but the file was asked for, and nothing complained of."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = Visit(context.new_page(), tmp_path / "page.html")
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    yield found
    own = found.file.as_uri()
    others = [url for url in found.requests if url.partition("#")[0] != own and not url.startswith("data:,")]
    context.close()
    assert others == []
    assert found.said == []
