"""The page in a real browser: its numbers, what it shows, its address, and that nothing leaves it."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch

import attemper
from attemper.exports.page.contents import page_contents
from attemper.exports.page.writing import page_text
from attemper.exports.subject import Exported
from attemper.languages.words import Word, show_word
from attemper.networks.layers import Network
from attemper.running.batches import tokens_of
from attemper.running.dense import DenseTransformer
from attemper.running.traceable.labels import LABELS, labels_of
from tests.exports.browser.conftest import Visit
from tests.support.drawn.exported import MODELS, words_for

pytestmark = pytest.mark.browser

EIGHT = ("majority", "since", "until", "dyck-1", "parity", "automaton", "strict", "layer norm")
WORDS = 500


def subject_of(name: str) -> Exported:
    model = MODELS[name]()
    return Exported(model.network, model.source)


def some_words(network: Network) -> list[Word]:
    """Five hundred: short ones of every kind, those that are hard to read, and random ones to 120."""
    found = [*words_for(network, 4, (16, 64)), *words_for(network, 0, (120, 300))[:6]]
    draw = random.Random(4)
    while len(found) < WORDS:
        found.append(tuple(draw.choices(network.alphabet.symbols, k=draw.randint(5, 120))))
    return found[:WORDS]


RUN = """words => words.map((word) => {
  const { network } = attemper.state, ran = attemper.run(network, word);
  return [ran.outputs[0].map(String), attemper.verdictOf(network, ran)];
})"""


@pytest.mark.parametrize("name", EIGHT)
def test_outputs_are_those_of_the_dense_module_bit_for_bit(name: str, visit: Visit) -> None:
    subject = subject_of(name)
    network, words = subject.network, some_words(subject.network)
    visit.open(page_text(subject))
    dense = DenseTransformer(network)
    shown = visit.page.evaluate(RUN, [list(word) for word in words])
    for word, (outputs, verdict) in zip(words, shown, strict=True):
        with torch.no_grad():
            right, margin = dense.run_with_margin(*tokens_of(network.alphabet, [word]))
        assert list(map(float, outputs)) == right[0].tolist(), show_word(word)
        place = 0 if network.reads_first else -1
        assert verdict == LABELS[labels_of(right[:, place], margin)]


def test_what_is_typed_is_shown(visit: Visit) -> None:
    model = attemper.compile("#<['0'] <= #<['1']", "01")
    visit.open(page_text(Exported(model.network, model.source, model.certify()), model.word("01")))
    assert visit.text("#title") == model.title
    for word in ("01", "0", "", "1", "0010111", "01" * 40):
        visit.type(word)
        assert visit.text("#verdict") == ("accepted" if model.accepts(word) else "rejected")
        assert visit.text("#length") == {"": "the empty word", "0": "1 symbol", "1": "1 symbol"}.get(
            word, f"{len(word)} symbols"
        )
        if word:
            margin = next(model.run([word])).margin
            assert float(visit.text("#margin").removeprefix("margin ")) == pytest.approx(margin, rel=5e-4)
        bits = visit.page.eval_on_selector_all("#outputs td", "cells => cells.map((cell) => cell.innerText)")
        assert bits == [str(int(bit)) for bit in model.positions(word)][-64:]
    claimed = "Its certificate says that it is right at all lengths in real arithmetic, and up to length "
    assert visit.text("#horizon").startswith(claimed)
    visit.type("012")
    assert visit.text("#verdict") == "symbol '2' at position 3 is not in the alphabet {0 1}"
    assert visit.page.query_selector("canvas") is None


def test_a_word_beyond_the_horizon_is_warned_of(visit: Visit) -> None:
    model = attemper.compile("O a", "ab", regime="temperature")
    text = page_text(Exported(model.network, model.source, model.certify()), model.word("abab"))
    for horizon, warned in (("4", False), ("3", True), ("null", True)):
        visit.open(re.sub(r'"horizon":\w+', f'"horizon":{horizon}', text))
        assert (visit.page.query_selector("#horizon.warning") is not None) is warned


def test_every_coordinate_is_shown_under_its_label(visit: Visit) -> None:
    subject = subject_of("dyck-1")
    network, word = subject.network, tuple("(())(")
    visit.open(page_text(subject, word))
    visit.page.check("#whole")
    for part in visit.page.query_selector_all("#stream details"):
        if part.get_attribute("open") is None:
            part.query_selector("summary").click()
    dense = DenseTransformer(network)
    with torch.no_grad():
        _, cache = dense.run_with_cache(*tokens_of(network.alphabet, [word]))
    points = [(cache["hook_embed"] + cache["hook_pos_embed"])[0]]
    for number in range(len(network.layers)):
        points += [cache[f"blocks.{number}.hook_resid_{part}"][0] for part in ("mid", "post")]
    tables = visit.page.query_selector_all("#stream table")
    assert len(tables) == len(points) == 1 + 2 * len(network.layers)
    for table, stream in zip(tables, points, strict=True):
        labels = table.eval_on_selector_all("tbody th", "cells => cells.map((cell) => cell.textContent)")
        assert labels == list(network.coordinates)
        titles = table.eval_on_selector_all("td", "cells => cells.map((cell) => cell.title)")
        shown = torch.tensor([float(title.rpartition(": ")[2]) for title in titles]).double()
        assert (shown.reshape(len(labels), len(word)).T - stream).abs().max() < 1e-6


def test_of_a_long_word_the_last_positions_are_shown(visit: Visit) -> None:
    subject = subject_of("dyck-1")
    visit.open(page_text(subject, tuple("()" * 40)))
    columns = visit.page.eval_on_selector_all(
        "#outputs small", "cells => cells.map((cell) => cell.innerText)"
    )
    assert columns == [str(place) for place in range(17, 81)]
    assert visit.text("#cut") == "Below are the last 64 of its positions."
    visit.type("(" * 2001)
    assert "this page runs at most 2,000" in visit.text("#verdict")
    visit.type("()" * 1000)
    assert visit.text("#verdict") == "accepted"


def test_a_head_that_is_switched_off_shows(visit: Visit) -> None:
    subject = subject_of("dyck-1")
    word = tuple("(())")
    visit.open(page_text(subject, word))
    assert visit.text("#verdict") == "accepted"
    margin = visit.text("#margin")
    visit.page.uncheck("[id='head-0.0']")
    visit.wait()
    assert visit.text("#off") == "switched off: 0.0"
    assert visit.text("#horizon") == "No certificate is about a network without head 0.0."
    assert visit.page.query_selector(".head.off canvas") is not None
    dense = DenseTransformer(subject.network)
    dense.blocks[0].attn.W_O[0] = 0
    with torch.no_grad():
        outputs, own = dense.run_with_margin(*tokens_of(subject.network.alphabet, [word]))
    assert visit.text("#verdict") == LABELS[labels_of(outputs[:, -1], own)] == "undecided"
    assert visit.text("#margin") == f"margin {own.item():.4g}" != margin
    assert visit.page.evaluate("document.activeElement.id") == "head-0.0"
    visit.page.check("[id='head-0.0']")
    visit.wait()
    assert visit.text("#verdict") == "accepted"


def test_the_address_reopens_the_state(visit: Visit, browser: Any) -> None:
    text = page_text(subject_of("dyck-1"), tuple("()"))
    visit.open(text)
    visit.type("(()) ()")
    visit.page.uncheck("[id='head-1.1']")
    visit.page.uncheck("[id='head-0.0']")
    visit.wait()
    address = visit.page.url
    assert parse_qs(address.partition("#")[2]) == {"word": ["(()) ()"], "off": ["0.0,1.1"]}
    page = browser.new_context().new_page()
    page.goto(address)
    assert page.input_value("#word") == "(()) ()"
    for selector in ("#verdict", "#margin", "#off", "#outputs", "#answer"):
        assert page.inner_text(selector) == visit.text(selector)
    page.context.close()
    # The address can be changed while the page stands open, and says heads that are not there.
    visit.page.evaluate("location.hash = '#word=)(&off=2.0,9.9,x&other=kept'")
    visit.page.wait_for_selector("#off:has-text('2.0')")
    assert visit.text("#off") == "switched off: 2.0"
    assert visit.text("#length") == "2 symbols"
    visit.type(")")
    assert parse_qs(visit.page.url.partition("#")[2])["other"] == ["kept"]
    # An address that says nothing is the page as it was written.
    visit.page.goto("about:blank")
    visit.open(text)
    assert visit.page.input_value("#word") == "()"


HOSTILE = ("<", "&", "</script>", "<img/src=x/onerror=alert(1)>", "push")


def test_labels_and_symbols_are_text(visit: Visit) -> None:
    """Also in what is typed, in the address and in a picture: nothing becomes an element that is run."""
    model = attemper.compile("'<' S '</script>' | O '<img/src=x/onerror=alert(1)>'", HOSTILE)
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="15">&lt;a</text></svg>'
    subject = Exported(model.network, model.source)
    visit.open(page_text(subject, HOSTILE, "<b>bold</b>", picture=picture))
    assert visit.text("#title") == "<b>bold</b>"
    assert visit.page.input_value("#word") == " ".join(HOSTILE)
    columns = visit.page.eval_on_selector_all(
        "#outputs thead th", "cells => cells.map((cell) => cell.lastChild.data)"
    )
    assert columns == ["position", *HOSTILE]
    labels = visit.page.eval_on_selector_all(
        "#stream tbody th", "cells => cells.map((cell) => cell.textContent)"
    )
    assert set(labels) == set(model.network.coordinates)
    assert visit.page.query_selector("#main img, #main b") is None
    assert visit.page.text_content("#picture text") == "<a"
    visit.type("<script>alert(1)</script>")
    assert "symbol '<script>alert(1)</script>' at position 1" in visit.text("#verdict")
    assert visit.text("#verdict").endswith("; separate symbols by blanks")


def test_symbols_of_several_characters_are_typed_and_clicked(visit: Visit) -> None:
    model = attemper.compile("push S pop", ["push", "pop"])
    visit.open(page_text(Exported(model.network, model.source)))
    assert visit.text("#length") == "the empty word"
    for symbol in ("pop", "push", "push"):
        visit.page.click(f"#symbols button:text-is('{symbol}')")
        visit.wait()
    assert visit.page.input_value("#word") == "pop push push"
    assert visit.text("#verdict") == ("accepted" if model.accepts("pop push push") else "rejected")
    visit.type("poppush")
    assert visit.text("#verdict").endswith("{push pop}; separate symbols by blanks")


def test_attention_is_read_by_keyboard_and_by_pointer(visit: Visit) -> None:
    subject = subject_of("since")
    visit.open(page_text(subject, tuple("abcb")))
    canvas = visit.page.locator("canvas").first
    said = canvas.get_attribute("aria-label")
    assert re.match(
        r"Attention of layer 0, head 0 over 4 positions: position 4 \(b\) looks most at 4 \(b\)", said
    )
    readout = visit.page.locator(".head output").first
    canvas.focus()
    assert readout.inner_text().startswith("4 b \u2192 4 b: ")
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        visit.page.keyboard.press(key)
    dense = DenseTransformer(subject.network)
    with torch.no_grad():
        _, cache = dense.run_with_cache(*tokens_of(subject.network.alphabet, [tuple("abcb")]))
    weight = cache["blocks.0.attn.hook_pattern"][0, 0, 2, 0].item()
    place, _, shown = readout.inner_text().partition(": ")
    assert place == "3 c \u2192 1 a"
    assert float(shown) == pytest.approx(weight, rel=5e-3)
    box = canvas.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
    assert readout.inner_text().startswith("4 b \u2192 4 b: ")
    visit.page.mouse.move(0, 0)
    assert readout.inner_text() == ""


@pytest.mark.parametrize("name", ["histogram", "bigrams", "previous symbol"])
def test_numbers_and_symbols_are_put_out(name: str, visit: Visit) -> None:
    model = MODELS[name]()
    word = tuple(model.alphabet.symbols[:2] * 3)
    visit.open(page_text(Exported(model.network, model.source), word))
    shown = visit.page.eval_on_selector_all("#outputs td", "cells => cells.map((cell) => cell.innerText)")
    assert visit.text("#verdict") == shown[-1]
    run = next(model.run([word]))
    if name == "bigrams":
        said = [f"{own:.4g}" for number in run.numbers or () for own in number.values()]  # type: ignore[union-attr]
        assert [f"{float(part.split(' ')[1]):.4g}" for text in shown for part in text.split(", ")] == said
    else:
        assert shown == list(map(str, run.numbers or run.outputs))
    visit.type("")
    assert visit.text("#verdict") == "nothing is put out of the empty word"


def test_another_network_is_shown_without_a_reload(visit: Visit) -> None:
    visit.open(page_text(subject_of("dyck-1"), tuple("()")))
    model = MODELS["until"]()
    contents = page_contents(Exported(model.network, model.source), ("a", "b"), "another")
    visit.page.evaluate("contents => attemper.show(contents)", contents)
    assert visit.text("#title") == "another"
    assert visit.page.input_value("#word") == "ab"
    assert visit.text("#verdict") == ("accepted" if model.accepts("ab") else "rejected")
    visit.page.evaluate("contents => attemper.show(contents, 'ca', ['0.0'])", contents)
    assert visit.text("#off") == "switched off: 0.0"
    assert visit.page.input_value("#word") == "ca"


def test_scripts_of_nobody_else_run(visit: Visit) -> None:
    """The policy forbids what was put into the file afterwards, and every request."""
    visit.open(
        page_text(subject_of("since")).replace("</body>", "<script>window.ran = true;</script></body>")
    )
    assert visit.page.evaluate("window.ran") is None
    assert "violates the following Content Security Policy" in visit.said.pop()
    failed = visit.page.evaluate("fetch('https://example.org/').then(() => false, () => true)")
    assert failed
    assert visit.said
    visit.said.clear()


def test_a_page_runs_in_a_frame_without_an_address(visit: Visit) -> None:
    """As in a notebook: the word is typed and run, and nothing is kept."""
    inner = page_text(subject_of("dyck-1"), tuple("()"))
    visit.file.write_text("<!doctype html><title>t</title><iframe></iframe>", encoding="utf-8")
    visit.page.goto(visit.file.as_uri())
    visit.page.evaluate("text => (document.querySelector('iframe').srcdoc = text)", inner)
    frame = visit.page.frame_locator("iframe")
    frame.locator("#verdict").wait_for()
    frame.locator("#word").fill("(()")
    frame.locator("#length:has-text('3 symbols')").wait_for()
    assert frame.locator("#verdict").inner_text() == "rejected"


def test_the_interpreter_can_be_read_in_the_page(visit: Visit) -> None:
    visit.open(page_text(subject_of("dyck-1")))
    shown = visit.page.text_content("#interpreter pre")
    part = files("attemper.exports.page").joinpath("interpreter.js").read_text(encoding="utf-8")
    assert shown.strip() == part.strip()
