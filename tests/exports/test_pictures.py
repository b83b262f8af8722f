"""Pictures, read back as XML: every move of an automaton is said once and apart; weights are shades."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from math import hypot
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

import attemper as library
from attemper.errors import ExitCode, UnsupportedError
from attemper.exports.pictures.curves import curves
from attemper.exports.pictures.graph import EVERY, OTHERS, Graph, graph_of
from attemper.exports.pictures.labels import labelled
from attemper.exports.pictures.layers import DrawnNode, crossings, layered
from attemper.exports.pictures.patterns import LEAST, SHADES, pattern_svg
from attemper.exports.pictures.places import RADIUS, placed
from attemper.exports.pictures.source import source_picture
from attemper.exports.pictures.svg import MOST_STATES, automaton_svg
from attemper.exports.subject import Exported
from attemper.languages.named.entry import Automaton, Regex
from attemper.languages.named.zoo import everything
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.workbench.zoo_sources import language_of
from tests.support.cli.command_line import attemper

SVG = "{http://www.w3.org/2000/svg}"


def zoo_automata() -> list[tuple[str, Dfa]]:
    found = []
    for entry in everything():
        for source in entry.sources:
            if isinstance(source, Regex | Automaton):
                dfa = language_of(entry, source).definition
                assert isinstance(dfa, Dfa)
                found.append((entry.name, dfa))
    return found


ZOO = [(name, dfa) for name, dfa in zoo_automata() if len(dfa.moves) <= MOST_STATES]


def random_automaton(seed: int, count: int, symbols: tuple[str, ...] = ("a", "b")) -> Dfa:
    draw = Random(seed)
    moves = tuple(tuple(draw.randrange(count) for _ in symbols) for _ in range(count))
    return Dfa(
        Alphabet(symbols), moves, draw.randrange(count), frozenset(draw.sample(range(count), count // 2))
    )


def counter(count: int) -> Dfa:
    moves = tuple((state, (state + 1) % count) for state in range(count))
    return Dfa(Alphabet(("0", "1")), moves, 0, frozenset({0}))


def moves_told(root: ElementTree.Element) -> set[tuple[int, str, int]]:
    """The moves that the titles of arrows say; symbols of these alphabets have no commas."""
    found = set()
    for group in root.iter(f"{SVG}g"):
        title = group.findtext(f"{SVG}title")
        assert title is not None
        places, _, symbols = title.partition(": ")
        _, source, _, target = places.split()
        found |= {(int(source), symbol, int(target)) for symbol in symbols.split(", ")}
    return found


AUTOMATA = [
    *ZOO,
    *((f"random {seed}", random_automaton(seed, 2 + seed)) for seed in range(12)),
    *((f"five symbols {seed}", random_automaton(seed, 4, tuple("abcde"))) for seed in range(4)),
    ("one state", random_automaton(0, 1)),
    ("most states", counter(MOST_STATES)),
]


@pytest.mark.sweep(15)
@pytest.mark.parametrize(("name", "dfa"), AUTOMATA, ids=[name for name, _ in AUTOMATA])
def test_every_move_is_drawn_once_but_those_of_the_state_left_out(name: str, dfa: Dfa) -> None:
    root = ElementTree.fromstring(automaton_svg(dfa, standalone=True))
    trap = graph_of(dfa).trap
    rows = enumerate(dfa.moves)
    moves = {
        (state, symbol, target)
        for state, row in rows
        for symbol, target in zip(dfa.alphabet.symbols, row, strict=True)
        if trap not in (state, target)
    }
    assert moves_told(root) == moves
    assert len(list(root.iter(f"{SVG}g"))) == len({(source, target) for source, _, target in moves})
    states = [state for state in range(len(dfa.moves)) if state != trap]
    circles = Counter((circle.get("cx"), circle.get("cy")) for circle in root.iter(f"{SVG}circle"))
    assert len(circles) == len(states), "two states at one place"
    assert sum(circles.values()) == len(states) + len(dfa.accepting)
    if trap is not None:
        assert set(dfa.moves[trap]) == {trap}
        assert trap not in dfa.accepting
        assert f"not drawn: state {trap}," in "".join(root.itertext())


@pytest.mark.sweep(15)
@pytest.mark.parametrize(("name", "dfa"), AUTOMATA, ids=[name for name, _ in AUTOMATA])
def test_states_stand_apart_and_inside_the_picture(name: str, dfa: Dfa) -> None:
    root = ElementTree.fromstring(automaton_svg(dfa, standalone=True))
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    places = {
        (float(circle.get("cx") or ""), float(circle.get("cy") or "")) for circle in root.iter(f"{SVG}circle")
    }
    for x, y in places:
        assert left + RADIUS < x < left + width - RADIUS
        assert top + RADIUS < y < top + height - RADIUS
    assert all(hypot(a[0] - b[0], a[1] - b[1]) > 3 * RADIUS for a, b in combinations(places, 2))


@pytest.mark.parametrize(("name", "dfa"), ZOO, ids=[name for name, _ in ZOO])
def test_labels_stand_off_states_and_each_other_in_the_pictures_of_the_zoo(name: str, dfa: Dfa) -> None:
    graph = graph_of(dfa)
    drawing = layered(graph)
    places = placed(drawing)
    lines = curves(drawing, places, graph)
    states = [places[DrawnNode(state)] for state in graph.states]
    labels = labelled(lines, states)
    assert set(labels) == set(graph.arrows)
    assert not any(one.meets(other) for one, other in combinations(labels.values(), 2))
    assert not any(label.has(state) for label in labels.values() for state in states)


def test_arrows_pass_no_state_but_their_own() -> None:
    """Lines are looked at in 200 points, in all pictures of the zoo and in cycles."""
    for _, dfa in [*ZOO, ("cycle", counter(9))]:
        graph = graph_of(dfa)
        drawing = layered(graph)
        places = placed(drawing)
        for arrow, line in curves(drawing, places, graph).items():
            points = [line.along(step / 200)[0] for step in range(201)]
            for state in set(graph.states) - {arrow.source, arrow.target}:
                centre = places[DrawnNode(state)]
                assert min(hypot(x - centre.x, y - centre.y) for x, y in points) > RADIUS


def test_columns_are_distances_from_the_start() -> None:
    drawing = layered(graph_of(counter(5)))
    states = [[node.state for node in column if not node.is_bend] for column in drawing.columns]
    assert states == [[0], [1], [2], [3], [4]]
    # The arrow back from 4 to 0 bends in each of the three columns between.
    assert [sum(node.is_bend for node in column) for column in drawing.columns] == [0, 1, 1, 1, 0]


def test_a_tree_is_drawn_without_crossings_wherever_its_states_begin() -> None:
    """Three leaves each of three states, numbered so that the first order crosses."""
    symbols = Alphabet(("a", "b", "c"))
    leaves = ((4, 7, 10), (5, 8, 11), (6, 9, 12))
    moves = ((1, 2, 3), *leaves, *(((13, 13, 13),) * 9), (13, 13, 13))
    graph = graph_of(Dfa(symbols, moves, 0, frozenset(range(4, 13))))
    assert graph.trap == 13
    drawing = layered(graph)
    neighbours = {
        node: [other for path in drawing.paths.values() if node in path for other in path if other != node]
        for column in drawing.columns
        for node in column
    }
    assert crossings(drawing.columns, neighbours) == 0
    in_order_of_numbers = [sorted(column) for column in drawing.columns]
    assert crossings(in_order_of_numbers, neighbours) == 9


def test_an_unreachable_state_is_drawn_beyond_the_others() -> None:
    dfa = Dfa(Alphabet(("a",)), ((0,), (0,)), 0, frozenset({0}))
    drawing = layered(graph_of(dfa))
    assert [[node.state for node in column] for column in drawing.columns] == [[0], [1]]
    assert automaton_svg(dfa).count("<g>") == 2


def labels_of(graph: Graph) -> dict[tuple[int, int], str]:
    return {(arrow.source, arrow.target): arrow.label for arrow in graph.arrows}


def test_symbols_of_an_arrow_are_joined() -> None:
    digits = tuple("0123456789")
    cycle = tuple(1 if symbol in "37" else 0 for symbol in digits)
    two = Dfa(Alphabet(digits), (cycle, (1,) * 10), 0, frozenset({1}))
    assert labels_of(graph_of(two)) == {(0, 0): OTHERS, (0, 1): "3, 7", (1, 1): EVERY}
    # The others would not be told from those of a state that is left out.
    trap = Dfa(Alphabet(("-", *digits)), ((2, *[1] * 10), (2,) * 11, (2,) * 11), 0, frozenset({1}))
    assert labels_of(graph_of(trap)) == {(0, 1): "0 ... 9"}
    mixed = Dfa(Alphabet(digits), (tuple(map(int, "0101010102")), (0,) * 10, (0,) * 10), 0, frozenset({1}))
    assert labels_of(graph_of(mixed))[(0, 0)] == OTHERS
    halves = Dfa(Alphabet(digits), (tuple(map(int, "0101010101")), (0,) * 10), 0, frozenset({1}))
    assert labels_of(graph_of(halves))[(0, 1)].endswith("... (5)")


def test_one_symbol_is_no_any_symbol() -> None:
    assert labels_of(graph_of(parse_regex("a*", Alphabet(("a",))))) == {(0, 0): "a"}


def test_symbols_that_are_markup_are_text() -> None:
    symbols = ("<b>", "&amp;", "</svg>", '"')
    dfa = Dfa(Alphabet(symbols), ((1, 0, 0, 0), (0, 1, 1, 1)), 0, frozenset({0}))
    text = automaton_svg(dfa, standalone=True)
    told = "".join(ElementTree.fromstring(text).itertext())
    assert all(symbol in told for symbol in symbols)
    assert "<b>" not in text
    assert text.count("</svg>") == 1


def test_a_picture_is_the_same_every_time_and_brings_colours_only_where_it_stands_alone() -> None:
    dfa = parse_regex("(a|b)*abba", "ab")
    assert automaton_svg(dfa) == automaton_svg(dfa)
    inline, alone = automaton_svg(dfa), automaton_svg(dfa, standalone=True)
    assert "<style>" in alone
    assert "color-scheme: light dark" in alone
    assert "<style>" not in inline
    assert "id=" not in inline
    assert "<title>Automaton with 5 states</title>" in inline


def test_a_large_automaton_is_refused_with_its_size() -> None:
    with pytest.raises(UnsupportedError, match="41 states is not drawn: nobody can read more than 40"):
        automaton_svg(counter(MOST_STATES + 1))


def test_a_start_without_accepted_words_is_drawn() -> None:
    empty = Dfa(Alphabet(("a", "b")), ((0, 0),), 0, frozenset())
    assert graph_of(empty).trap is None
    assert "Accepting: none." in automaton_svg(empty)


# The command ---------------------------------------------------------------------------------------------


def test_classify_writes_the_picture_of_the_minimal_automaton(tmp_path: Path) -> None:
    file = tmp_path / "pictures" / "x.svg"
    plain = attemper("classify", "regex:(ab)*", "--alphabet", "ab")
    done = attemper("classify", "regex:(ab)*", "--alphabet", "ab", "--svg", file)
    assert (done.code, done.out) == (0, f"{plain.out}wrote a picture to {file}\n")
    assert file.read_text(encoding="utf-8") == automaton_svg(parse_regex("(ab)*", "ab"), standalone=True)
    record = attemper("classify", "regex:(ab)*", "--alphabet", "ab", "--svg", file, "--json").record
    assert record["picture"] == str(file)
    assert "picture" not in attemper("classify", "regex:a", "--alphabet", "ab", "--json").record


def test_classify_refuses_a_picture_that_nobody_can_read(tmp_path: Path) -> None:
    done = attemper("classify", "regex:a{60}", "--alphabet", "ab", "--svg", tmp_path / "x.svg")
    assert (done.code, done.out) == (4, "")
    assert "an automaton of 62 states is not drawn: nobody can read more than 40" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sweep(0)
def test_a_page_of_an_automaton_or_an_expression_has_its_picture(tmp_path: Path) -> None:
    """Also where the automaton was read from a file; formulas have no picture."""
    dfa = parse_regex("(ab)*", "ab")
    models = {
        "regex": library.compile(library.regex("(ab)*", "ab")),
        "automaton": library.compile(dfa),
        "formula": library.compile("O a", "ab"),
        "large": library.compile(library.regex("(a|b){45}", "ab")),
    }
    found = {}
    for name, model in models.items():
        model.save(tmp_path / name)
        found[name] = source_picture(Exported.load(tmp_path / name))
        assert attemper("page", tmp_path / name, "-o", tmp_path / f"{name}.html").code == 0
        assert ("<svg" in held(tmp_path / f"{name}.html")) is (found[name][0] is not None)
    assert found["regex"] == found["automaton"] == (automaton_svg(dfa), "")
    assert found["formula"] == (None, "")
    assert found["large"] == (None, "an automaton of 47 states is not drawn: nobody can read more than 40")


def held(page: Path) -> str:
    """The picture that a page holds, or nothing."""
    data = page.read_text(encoding="utf-8").partition('id="network">')[2].partition("</script>")[0]
    return str(json.loads(data)["picture"] or "")


def test_classify_draws_to_no_other_kind_of_file(tmp_path: Path) -> None:
    done = attemper("classify", "regex:a", "--alphabet", "ab", "--svg", tmp_path / "network.json")
    assert done.code == ExitCode.USAGE
    assert "does not end in .svg, as a picture does: --svg x.svg" in done.err
    assert not any(tmp_path.iterdir())


# Attention -------------------------------------------------------------------------------------------------


def squares_of(root: ElementTree.Element) -> dict[tuple[int, int], float]:
    """The shade of each square (row, column) that has one, from the steps of the paths."""
    found = {}
    for path in root.iter(f"{SVG}path"):
        for j, i, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.get("d", "")):
            for column in range(int(j), int(j) + int(width)):
                assert (int(i), column) not in found
                found[int(i), column] = float(path.get("fill-opacity", ""))
    return found


def dots_of(root: ElementTree.Element) -> list[tuple[int, int]]:
    texts = [path.get("d", "") for path in root.iter(f"{SVG}path")]
    return [(int(i), int(j)) for text in texts for j, i in re.findall(r"M(\d+)\.5 (\d+)\.5h0", text)]


def test_a_pattern_is_drawn_square_by_square() -> None:
    draw = Random(0)
    soft = [[draw.choice((0, 0.0001, 0.3, 0.30001, draw.random(), 1)) for _ in range(20)] for _ in range(20)]
    hard = [[float(draw.random() < 0.2) for _ in range(20)] for _ in range(20)]
    root = ElementTree.fromstring(pattern_svg(soft, hard, "ab" * 10, title="a head"))
    squares = squares_of(root)
    for i, row in enumerate(soft):
        for j, weight in enumerate(row):
            shade = squares.get((i, j), 0.0)
            assert (shade == 0) is (weight < LEAST)
            assert weight < LEAST or 0 <= shade - weight < 1 / SHADES
    assert dots_of(root) == [(i, j) for i in range(20) for j in range(20) if hard[i][j]]


def test_what_is_no_number_has_no_shade() -> None:
    root = ElementTree.fromstring(pattern_svg([[float("nan")]], [[float("nan")]], "a", title=""))
    assert squares_of(root) == {}
    assert dots_of(root) == []


def test_symbols_and_words_in_a_pattern_are_escaped() -> None:
    symbols = ["<", "\u202e", "very long", "a"]
    weights = [[0.25] * 4] * 4
    drawn = pattern_svg(weights, weights, symbols, title="</title>", told=["<1>", "2", "3", "4"])
    root = ElementTree.fromstring(drawn)
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert shown == [one for name in ("<", "\\u202e", "very..", "a") for one in (name, name)]
    assert [title.text for title in root.iter(f"{SVG}title")] == ["</title>", "<1>", "2", "3", "4"]
