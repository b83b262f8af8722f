"""The page of a machine in a real browser: the network writes, and registers or the tape are drawn."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

import attemper
from attemper.exports.page.contents import page_contents
from attemper.exports.page.writing import page_text
from attemper.exports.subject import Exported
from attemper.languages.machines.turing import parse_turing, run_turing
from tests.exports.browser.conftest import Visit
from tests.support.drawn.exported import MODELS

pytestmark = pytest.mark.browser

DOUBLING = "input x10 n 10; input x1 n; take: sub n -> give else halt; give: add m 2 -> take"
ENDLESS = "input x n; up: add n -> up"
BUSY_BEAVER = "1RB1LB_1LA1RZ"


def page_of(given: Any, word: str, regime: Any = "decoder") -> str:
    model = attemper.compile(given, regime=regime)
    return page_text(Exported(model.network, model.source), model.word(word))


def registers(visit: Visit) -> list[str]:
    return [str(own) for own in visit.page.locator("#held dd").all_inner_texts()]


def here(visit: Visit) -> str:
    return str(visit.page.inner_text("#drawn .here"))


def wait_for_the_end(visit: Visit) -> None:
    visit.page.wait_for_selector("#go:has-text('run')")


def test_steps_write_and_registers_are_drawn(visit: Visit) -> None:
    visit.open(page_of(attemper.machine(DOUBLING), "x1 start"))
    assert visit.page.locator("#held dt").all_inner_texts() == ["n", "m"]
    seen = [(registers(visit), here(visit))]
    while visit.page.is_enabled("#step"):
        visit.page.click("#step")
        seen.append((registers(visit), here(visit)))
    take, give = "take: sub n -> give else halt", "give: add m 2 -> take"
    assert seen == [(["1", "0"], take), (["0", "0"], give), (["0", "2"], take), (["0", "2"], "halt")]
    assert visit.page.input_value("#word") == "x1 start take- give+ take0"
    assert visit.text("#next") == "the network puts out none: the run has ended"
    assert visit.text("#held p") == "no line comes next"
    assert parse_qs(visit.page.url.partition("#")[2])["word"] == ["x1 start take- give+ take0"]


def test_a_word_that_is_no_run_is_drawn(visit: Visit) -> None:
    visit.open(page_of(attemper.machine(DOUBLING), ""))
    assert (registers(visit), visit.page.is_disabled("#step")) == (["0", "0"], True)
    assert visit.text("#next") == "nothing is put out of the empty word: begin it with a symbol"
    visit.type("take- take- give+")
    assert registers(visit) == ["-2", "2"]
    assert visit.text("#next") == "the network puts out take0"
    visit.type("take- nonsense")
    assert registers(visit) == []
    assert (visit.page.is_disabled("#step"), visit.page.is_disabled("#go")) == (True, True)
    assert visit.text("#next") == "the word is not run"


def test_a_run_goes_on_until_the_machine_halts(visit: Visit) -> None:
    visit.open(page_of(f"tm:{BUSY_BEAVER}", "start", "unbounded"))
    visit.page.focus("#go")
    visit.page.keyboard.press("Enter")
    wait_for_the_end(visit)
    tokens = [move.token for move in run_turing(parse_turing(BUSY_BEAVER))]
    assert visit.page.input_value("#word") == " ".join(["start", *tokens])
    assert visit.page.get_attribute("#drawn .tape", "aria-label") == (
        "tape 1 1 1 1; the head is on cell 3 of 4"
    )
    assert here(visit).split() == ["Z", "1"]
    assert visit.text("#held") == "state Z; the head is on 1"
    assert visit.page.is_disabled("#go")
    assert parse_qs(visit.page.url.partition("#")[2])["word"] == [" ".join(["start", *tokens])]
    for region in ("#answer", "#held", "#next"):
        assert visit.page.get_attribute(region, "aria-live") == "polite"


def test_a_run_can_be_stopped_by_its_button_and_by_typing(visit: Visit) -> None:
    visit.open(page_of(attemper.machine(ENDLESS), "start"))
    visit.page.click("#go")
    visit.page.wait_for_timeout(500)
    assert visit.page.get_attribute("#held", "aria-live") == "off"
    visit.page.click("#go:has-text('stop')")
    written = visit.page.input_value("#word")
    visit.page.wait_for_timeout(300)
    assert visit.page.input_value("#word") == written
    assert registers(visit) == [str(written.count("up+"))] != ["0"]
    visit.page.click("#go:has-text('run')")
    visit.type("x x")
    visit.page.wait_for_timeout(300)
    assert visit.page.input_value("#word") == "x x"
    assert registers(visit) == ["2"]
    wait_for_the_end(visit)


def test_no_step_makes_a_word_longer_than_the_page_runs(visit: Visit) -> None:
    visit.open(page_of(attemper.machine(ENDLESS), "start"))
    visit.type(" ".join(["x"] * 1999))
    visit.page.click("#step")
    assert visit.text("#length") == "2,000 symbols"
    assert registers(visit) == ["2,000"]
    assert (visit.page.is_disabled("#step"), visit.text("#next")) == (True, "this page runs no longer word")


def test_a_head_that_is_switched_off_changes_what_is_written(visit: Visit) -> None:
    """The page asks the network, as it is now, for what comes next."""
    visit.open(page_of(attemper.machine(DOUBLING), "x1 start"))
    assert visit.text("#next") == "the network puts out take-"
    visit.page.uncheck("[id='head-0.0']")
    visit.wait()
    assert visit.text("#next") != "the network puts out take-"
    assert registers(visit) == ["1", "0"]


def test_pages_of_other_networks_have_no_steps(visit: Visit) -> None:
    machine = attemper.compile(attemper.machine(DOUBLING), regime="decoder")
    visit.open(page_text(Exported(machine.network, machine.source)))
    assert visit.page.is_visible("#machine")
    once = MODELS["since"]()
    visit.page.evaluate(
        "contents => attemper.show(contents)", page_contents(Exported(once.network, once.source))
    )
    assert visit.page.is_hidden("#machine")
    visit.open(page_text(Exported(once.network, once.source), tuple("abc")))
    assert visit.page.is_hidden("#machine")
