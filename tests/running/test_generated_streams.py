"""A stream's generated function puts out what the plain steps do, bit for bit, whatever the network is."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.parse import parse_program
from attemper.errors import UndecidedError, UnsupportedError
from attemper.exact.closed_forms import I, Power
from attemper.networks.layers import Network
from attemper.running.streaming import stream as streams
from attemper.running.streaming.generating import network as generating
from attemper.running.streaming.generating import text as texts
from attemper.running.streaming.heads import Row
from attemper.running.streaming.steps import steps_of
from attemper.running.streaming.stream import Stream
from tests.running.test_streaming import ROWS, far_from_level, majority, one_head, random_models, six
from tests.support.mutants.changed_networks import changed
from tests.support.oracles.numbers import BIGRAMS, FRACTION, HISTOGRAM

Rows = list[list[Row]]


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are made, and made anew, every few symbols."""
    monkeypatch.setattr(streams, "OFTEN", 8)


def plainly(network: Network, word: Sequence[str]) -> tuple[list[str], str | None, Rows]:
    """The values and margins of the plain steps, exactly; what ended them; and what the heads keep then."""
    steps, margin, found = steps_of(network), float("inf"), []
    tokens = {symbol: token for token, symbol in enumerate(network.alphabet.symbols)}
    try:
        for i, symbol in enumerate(word, start=1):
            values, own = steps.step(tokens[symbol], i)
            margin = min(margin, own)
            found.append(repr((values, margin)))
    except (UnsupportedError, UndecidedError) as error:
        return found, str(error), []
    except (ArithmeticError, ValueError) as error:
        return found, f"a number at position {len(found) + 1:,} is beyond float64: {error}", []
    return found, None, [head.rows() for head in steps.heads]


def streamed(network: Network, word: Sequence[str]) -> tuple[list[str], str | None, Rows]:
    """The same of a stream."""
    stream, found = Stream(network, ""), []
    try:
        for symbol in word:
            stream.push(symbol)
            found.append(repr((list(stream._last), stream.margin)))
    except (UnsupportedError, UndecidedError) as error:
        return found, str(error), []
    assert stream.size <= stream.most  # which gives the heads their state
    return found, None, [head.rows() for head in stream._steps.heads]


def a_word(rng: random.Random, network: Network, length: int) -> list[str]:
    """First one symbol alone, so that kinds of keys come late."""
    symbols = network.alphabet.symbols
    return [symbols[0]] * 20 + [rng.choice(symbols) for _ in range(length - 20)]


def assert_the_same(network: Network, word: Sequence[str]) -> None:
    have, want = streamed(network, word), plainly(network, word)
    assert have == want


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("name", ROWS)
def test_heads_of_every_kind(name: str) -> None:
    network = ROWS[name][1]()
    assert_the_same(network, a_word(random.Random(name), network, 150))


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize(
    "name", ["ends by parity", "half level", "far first", "less and less sharp", "best at both ends"]
)
def test_heads_that_refuse_on_the_way_refuse_alike(name: str) -> None:
    network = far_from_level(name)
    assert_the_same(network, a_word(random.Random(name), network, 200))


@pytest.mark.usefixtures("early")
def test_random_formulas_and_changed_networks() -> None:
    rng, compared = random.Random(35), 0
    for model in random_models(35, 16):
        networks = [model.network, *([changed(rng, model.network)] if model.network.layers else [])]
        for network in networks:
            try:
                Stream(network, "")
            except UnsupportedError:
                continue
            assert_the_same(network, a_word(rng, network, 90))
            compared += 1
    assert compared > 12


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("text", [HISTOGRAM, FRACTION, BIGRAMS], ids=["integers", "fractions", "shares"])
def test_numbers_that_are_put_out(text: str) -> None:
    network = attemper.compile(attemper.program(parse_program(text)), regime="decoder").network
    assert_the_same(network, a_word(random.Random(text), network, 120))


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("name", ["majority", "dyck-1", "flip-flop", "cascade"])
def test_compiled_networks(name: str) -> None:
    network = six()[name].network
    assert_the_same(network, a_word(random.Random(name), network, 400))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["majority", "dyck-1"])
def test_a_hundred_thousand_symbols(name: str) -> None:
    network = six()[name].network
    assert_the_same(network, a_word(random.Random(name), network, 10**5))


@pytest.mark.usefixtures("early")
def test_a_position_beyond_which_products_are_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nearest", "strictly nearest", "first"):
        network, made = ROWS[name][1](), list[str]()
        monkeypatch.setattr(texts, "NEAR", 64)
        monkeypatch.setattr(generating, "NEAR", 64)
        monkeypatch.setattr(streams, "NEAR", 64)
        monkeypatch.setattr(generating, "_code", lambda text, made=made: made.append(text) or _compiled(text))
        assert_the_same(network, a_word(random.Random(name), network, 150))
        assert "float(j)" in made[0]
        assert "float(j)" not in made[-1]


def _compiled(text: str) -> object:
    return compile(text, "<stream>", "exec")


@pytest.mark.usefixtures("early")
def test_numbers_that_are_no_longer_finite() -> None:
    """Products that overflow, temperatures that do, and sums that become infinite, end or go on alike."""
    hot = one_head(key={"b": 1}, places={"j": ["position"]}, value={"j": 1}, cold=Power(I, 200))
    large = replace(
        one_head(key={"s": 1}, places={"s": ["alternating"]}),
        embedding=tuple(tuple((c, Fraction(2) ** 1020) for c, _ in row) for row in hot.embedding),
    )
    for network in (hot, large):
        word = a_word(random.Random(1), network, 60)
        assert_the_same(network, word)
    assert plainly(hot, word)[1] is not None
    assert "inf" in plainly(large, word)[0][-1]


@pytest.mark.usefixtures("early")
def test_a_state_is_saved_and_restored_at_any_position() -> None:
    for name in ("dyck-1", "cascade"):
        model, rng = six()[name], random.Random(name)
        word = a_word(rng, model.network, 90)
        want, _, rows = plainly(model.network, word)
        for cut in (1, 7, 8, 9, 37, 64):
            first = model.stream()
            for symbol in word[:cut]:
                first.push(symbol)
            second = model.stream(state=first.state)
            for symbol in word[cut:]:
                first.push(symbol)
                second.push(symbol)
            assert first.state == second.state
            assert repr((list(second._last), second.margin)) == want[-1]
            assert [head.rows() for head in second._steps.heads] == rows


def test_ctrl_c_inside_the_function_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = majority().stream()
    for symbol in "01" * streams.OFTEN:
        stream.push(symbol)

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stream, "_generated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.push("1")
    with pytest.raises(UnsupportedError, match="the stream ended at position 513: KeyboardInterrupt"):
        stream.push("1")


# What stands in the text --------------------------------------------------------------------------------

PYTHON = ("__import__('os').abort()", '"""', "0;raise(SystemExit)", "{0}", "#")
"""Symbols that do harm wherever they are read as Python."""

ALLOWED = re.compile(r"[ostxv]\d+|exp|log|inf|nan|deque|int|float|list|reversed|len|new|part|lead|score")


@pytest.mark.usefixtures("early")
def test_symbols_and_labels_that_are_python_are_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(generating, "_code", lambda text: made.append(text) or _compiled(text))
    rng = random.Random(2)
    for model in (six()["dyck-1"], six()["cascade"], six()["flip-flop"]):
        network = model.network
        few = len(network.alphabet.symbols)
        network = replace(
            network,
            alphabet=replace(network.alphabet, symbols=PYTHON[:few]),
            coordinates=tuple(PYTHON[c % 5] for c in range(len(network.coordinates))),  # type: ignore[misc]
        )
        assert_the_same(network, a_word(rng, network, 60))
    assert len(made) >= 3
    for text in made:
        tree = ast.parse(text)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names -= {"i", "j", "v", "token", "found", "margin", "factor"}
        assert not [name for name in names if not ALLOWED.fullmatch(name)]
        constants = {type(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert constants <= {float, int, type(None), bool}
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert attributes <= {
            "count",
            "sums",
            "lost",
            "best",
            "weight",
            "first",
            "last",
            "append",
            "appendleft",
        }


def test_one_module_alone_runs_text_that_was_made() -> None:
    source = Path(attemper.__file__).parent
    runs = re.compile(r"(?<![.\w])(?:exec|eval)\((?!\"\"\))")  # no text is nothing that was made
    found = [path for path in source.rglob("*.py") if runs.search(path.read_text(encoding="utf-8"))]
    assert found == [Path(generating.__file__)]


def test_nothing_that_checks_loads_it(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab", regime="decoder")
    model.save(tmp_path / "net", certificate=model.certify())
    for main in (
        f"from pathlib import Path\nfrom attemper.checker.folders import check_folder\n"
        f"assert check_folder(Path({str(tmp_path / 'net')!r})).status.name == 'PROVED'",
        f"import sys; sys.argv = ['attemper', 'check', {str(tmp_path / 'net')!r}]\n"
        "from attemper.workbench.cli.app import main\ntry: main()\nexcept SystemExit: pass",
    ):
        ask = f"{main}\nimport sys; print([m for m in sys.modules if 'streaming.generating' in m])"
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
