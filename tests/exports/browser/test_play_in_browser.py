"""The page of `attemper play` in a real browser, with a real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.exports.test_play_server import server

pytestmark = pytest.mark.browser


@dataclass
class Reader:
    """Somebody at the page; every request that it makes, and all that is said on the console."""

    page: Any
    root: str
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def open(self, address: str = "") -> None:
        self.page.goto("about:blank")
        self.page.goto(self.root + address)
        self.wait()

    def wait(self) -> None:
        """Until an answer is shown: a network, or why there is none."""
        self.page.wait_for_selector("#ask-form[aria-busy=false]")

    def compile(self) -> None:
        self.page.click("#compile")
        self.wait()

    def text(self, selector: str) -> str:
        found: str = self.page.inner_text(selector)
        return found


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    pytest.importorskip("uvicorn", reason="needs the extra [play]")
    with server("--port", "0", "--seconds", "120") as (_, port):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def reader(browser: Any, root: str) -> Iterator[Reader]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = Reader(context.new_page(), root)
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("console", lambda message: found.said.append(message.text))
    found.open()
    yield found
    own = {root, f"{root}compile", "about:blank"}
    others = [url for url in found.requests if url.partition("#")[0] not in own and url[:5] != "data:"]
    context.close()
    assert others == []
    # A browser notes an answer of 422 by itself; nothing else may stand there.
    assert [text for text in found.said if "422" not in text] == []


def test_it_opens_with_a_network_that_runs(reader: Reader) -> None:
    assert reader.text("#title") == "#<['0'] <= #<['1']"
    reader.page.fill("#word", "0010")
    reader.page.wait_for_selector("#verdict:text('rejected')")
    assert "all lengths in real arithmetic" in reader.text("#horizon")
    assert "compiled by attemper on this computer" in reader.text("footer")


def test_a_formula_a_regular_expression_and_a_program_are_compiled(reader: Reader) -> None:
    reader.page.fill("#text", "O b")
    reader.page.fill("#alphabet", "a b")
    reader.page.press("#text", "Enter")
    reader.wait()
    reader.page.wait_for_selector("#title:text('O b')")
    assert reader.text("#verdict") == "accepted"  # of ababab
    reader.page.check("input[value=regex]")
    reader.page.fill("#text", "(push pop)*")
    reader.page.fill("#alphabet", "push pop")
    assert not reader.page.is_visible("select[name=at]")
    reader.compile()
    assert reader.text("#title") == "(push pop)*"
    assert reader.page.locator("#picture svg").count() == 1
    assert reader.page.input_value("#word") == " ".join(["push pop"] * 3)
    reader.page.check("input[value=program]")
    assert not reader.page.is_visible("#alphabet")
    reader.page.fill("#text", "alphabet a b\nempty reject\noutput previous(2) in 'a'")
    reader.compile()
    assert reader.text("#title") == "attention program"
    assert reader.page.locator("#picture svg").count() == 0


def test_what_is_wrong_is_shown_as_text_with_its_caret(reader: Reader) -> None:
    reader.page.fill("#text", "O <b>'0'</b>")
    reader.compile()
    lines = reader.text("#refusal").split("\n")
    assert lines[1].strip() == "O <b>'0'</b>"
    assert lines[2].strip() == "^"
    assert lines[1][lines[2].index("^")] == "<"
    assert reader.page.locator("#refusal b").count() == 0
    assert "still the network that was compiled before" in reader.text("#doing")
    assert reader.text("#title") == "#<['0'] <= #<['1']"
    reader.page.fill("#text", "O '0'")
    reader.compile()
    assert not reader.page.is_visible("#refusal")


def test_the_address_has_all_of_it(reader: Reader) -> None:
    reader.page.check("input[value=regex]")
    reader.page.fill("#text", "(ab|c)*d&(a|b|c|d)*")
    reader.page.fill("#alphabet", "abcd")
    reader.page.select_option("select[name=regime]", "temperature")
    reader.compile()
    reader.page.fill("#word", "abcd")
    reader.page.wait_for_selector("#verdict:text('accepted')")
    reader.page.uncheck("#head-0\\.0")
    verdict, address = reader.text("#answer"), reader.page.url.partition("#")[2]
    reader.open(f"#{address}")
    assert reader.text("#title") == "(ab|c)*d&(a|b|c|d)*"
    assert reader.page.input_value("select[name=regime]") == "temperature"
    assert reader.page.input_value("#word") == "abcd"
    assert not reader.page.is_checked("#head-0\\.0")
    assert reader.text("#answer") == verdict


def test_back_leads_to_the_network_before(reader: Reader) -> None:
    reader.page.fill("#text", "O '0'")
    reader.compile()
    reader.page.go_back()
    reader.page.wait_for_selector("#title:text(\"<= #<['1']\")")
    assert reader.page.input_value("#text") == "#<['0'] <= #<['1']"


def test_an_entry_of_the_zoo_is_compiled_when_it_is_chosen(reader: Reader) -> None:
    reader.page.select_option("#example", "sort")
    reader.wait()
    reader.page.fill("#word", "cab")
    reader.page.wait_for_selector("#length:text('3 symbols')")
    assert reader.text("#verdict") == "c"
    assert reader.page.is_checked("input[value=program]")
    reader.page.select_option("#example", "first")
    reader.wait()
    assert reader.page.is_checked("input[value=formula]")
    assert reader.page.is_visible("#alphabet")


def test_a_word_is_kept_as_long_as_the_alphabet_is(reader: Reader) -> None:
    reader.page.fill("#word", "0110")
    reader.page.wait_for_selector("#length:text('4 symbols')")
    reader.page.fill("#text", "O '0'")
    reader.compile()
    assert reader.page.input_value("#word") == "0110"
    reader.page.fill("#alphabet", "0a")
    reader.compile()
    assert reader.page.input_value("#word") == "0a0a0a"
