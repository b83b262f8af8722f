"""The circuit: its edges are those of the weights, and what no path leads to does not change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import attemper
from attemper import LayerNorm, Model
from attemper.errors import UnsupportedError
from attemper.exports.circuit import circuit_of, write_circuit
from attemper.exports.dependencies import components_of, edges_of
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.running.weights import torch_weights
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.drawn.scan_networks import A, HeadOf, network_of
from tests.support.drawn.typed_networks import two_into_one

MODELS: dict[str, Callable[[], Model]] = {
    "once": lambda: attemper.compile("O a", "ab"),
    "no layer at all": lambda: attemper.compile("a", "ab"),
    "majority": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "dyck-1": lambda: attemper.compile("zoo:dyck-1"),
    "since, bounded": lambda: attemper.compile("(!'c') S 'b'", "abc", regime="temperature"),
    "until": lambda: attemper.compile("'a' U 'b'", "ab", at="first", regime="temperature"),
    "automaton": lambda: attemper.compile(attemper.regex("(0|11)*", "01")),
    "symbols": lambda: attemper.compile("zoo:copy-previous-symbol"),
    "numbers": lambda: attemper.compile("zoo:fraction-seen"),
}


@cache
def model_of(name: str) -> Model:
    return MODELS[name]()


def subject_of(model: Model) -> Exported:
    return Exported(model.network, model.source)


def written(subject: Exported, folder: Path) -> dict[str, Any]:
    write_circuit(subject, folder / "circuit.json")
    found: dict[str, Any] = json.loads((folder / "circuit.json").read_text(encoding="utf-8"))
    return found


# Edges against the raw tensors -----------------------------------------------------------------------------


def nonzero(weights: Tensor) -> set[tuple[int, ...]]:
    return {tuple(place) for place in weights.nonzero().tolist()}


def raw_edges(network: Network) -> set[tuple[str, str, str, int]]:
    """Every pair of components joined by a coordinate, from the tensors and closed forms alone."""
    w = torch_weights(network)
    writes: list[tuple[int, str, int]] = [(0, "embed", c) for _, c in nonzero(w["embed.W_E"])]
    writes += [(0, "pos_embed", c) for c, _ in network.positions]
    reads: list[tuple[int, str, str, int]] = []
    for number, layer in enumerate(network.layers):
        attention, mlp = f"blocks.{number}.attn", f"blocks.{number}.mlp"
        q, k, v, o = (nonzero(w[f"{attention}.{name}"]) for name in ("W_Q", "W_K", "W_V", "W_O"))
        now, after = 2 * number + 1, 2 * number + 2
        for own, other, role in ((q, k, "query"), (k, q, "key"), (v, o, "value")):
            live = {(h, place[0] if role == "value" else place[1]) for h, *place in other}
            reads += [(now, f"head {number}.{h}", role, c) for h, c, row in own if (h, row) in live]
        live = {(h, row) for h, _, row in v}
        writes += [(now, f"head {number}.{h}", c) for h, row, c in o if (h, row) in live]
        into, out = nonzero(w[f"{mlp}.W_in"]), nonzero(w[f"{mlp}.W_out"])
        reads += [(after, f"hidden {number}.{u}", "hidden", c) for c, u in into]
        writes += [(after, f"hidden {number}.{u}", c) for u, c in out]
        assert len(layer.hidden) == w[f"{mlp}.b_in"].shape[0]
    reads += [(2 * len(network.layers) + 1, "output", "output", c) for c in network.outputs]
    return {
        (source, target, role, c)
        for at, target, role, c in reads
        for before, source, own in writes
        if own == c and before < at
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_edges_are_those_of_the_nonzero_weights(name: str, tmp_path: Path) -> None:
    circuit = written(subject_of(model_of(name)), tmp_path)
    listed = [(edge["from"], edge["to"], edge["as"], edge["coordinate"]) for edge in circuit["edges"]]
    assert len(listed) == len(set(listed))
    assert set(listed) == raw_edges(model_of(name).network)


# What components say, against the raw tensors --------------------------------------------------------------


def total(forms: list[dict[str, Any]], width: int) -> list[Fraction]:
    row = [Fraction(0)] * width
    for part in forms:
        row[part["coordinate"]] += Fraction(part["factor"])
    return row


@pytest.mark.parametrize("name", MODELS)
def test_components_hold_all_weights(name: str, tmp_path: Path) -> None:
    network = model_of(name).network
    circuit, width = written(subject_of(model_of(name)), tmp_path), len(network.coordinates)
    raw, root = torch_weights(network), Fraction(network.head_width)
    found = {part["component"]: part for part in circuit["components"]}
    assert [part["component"] for part in circuit["components"]] == [c.name for c in components_of(network)]
    for s, symbol in enumerate(network.alphabet.symbols):
        own = [part for part in found["embed"]["writes"] if part["symbol"] == symbol]
        assert total(own, width) == [Fraction(x) for x in raw["embed.W_E"][s].tolist()]
    for number, layer in enumerate(network.layers):
        a = {key: raw[f"blocks.{number}.attn.{key}"] for key in ("W_Q", "W_K", "W_V", "W_O")}
        for h in range(len(layer.heads)):
            head = found[f"head {number}.{h}"]
            for m in range(network.head_width):
                for key, side in (("W_Q", "query"), ("W_K", "key")):
                    said = total(head["score"][m][side], width) if m < len(head["score"]) else [0] * width
                    square = root if key == "W_Q" else Fraction(1)
                    # W_Q carries sqrt(d_head), a power of two.
                    weights = [Fraction(x) ** 2 for x in a[key][h, :, m].tolist()]
                    assert [x * x * square for x in said] == weights
                value = head["values"][m] if m < len(head["values"]) else {"reads": [], "writes": None}
                assert total(value["reads"], width) == [Fraction(x) for x in a["W_V"][h, :, m].tolist()]
                assert [c for c, x in enumerate(a["W_O"][h, m].tolist()) if x] == (
                    [] if value["writes"] is None else [value["writes"]]
                )
        for u in range(len(layer.hidden)):
            unit, mlp = found[f"hidden {number}.{u}"], f"blocks.{number}.mlp"
            assert total(unit["reads"], width) == [Fraction(x) for x in raw[f"{mlp}.W_in"][:, u].tolist()]
            assert total(unit["writes"], width) == [Fraction(x) for x in raw[f"{mlp}.W_out"][u].tolist()]
            assert Fraction(unit["bias"]) == Fraction(raw[f"{mlp}.b_in"][u].item())


@pytest.mark.parametrize("name", MODELS)
def test_coordinates_have_labels_and_their_writers(name: str, tmp_path: Path) -> None:
    network = model_of(name).network
    circuit = written(subject_of(model_of(name)), tmp_path)
    assert [one["label"] for one in circuit["coordinates"]] == list(network.coordinates)
    for place, one in enumerate(circuit["coordinates"]):
        assert one["index"] == place
        writers = {edge["from"] for edge in circuit["edges"] if edge["coordinate"] == place}
        assert writers <= set(one["written_by"])


def test_a_head_says_where_it_looks_and_what_it_holds(tmp_path: Path) -> None:
    (head,) = [
        c for c in written(subject_of(model_of("once")), tmp_path)["components"] if c["kind"] == "head"
    ]
    assert head["looks_for"] == ("([PE i])(i) * (-8 [PE 1] + 8 [letter a])(j) + ([PE 1])(i) * (4 [PE i])(j)")
    assert head["holds"] == ["attended O a"]
    assert head["values"][0]["text"] == "[letter a]"
    assert (head["masking"], head["attention"], head["inverse_temperature"]) == (
        "future-masked",
        "softmax",
        "1",
    )
    assert head["construction"] == ["select", False, [[None, [[0, "1"], [2, "-1"]]]]]


# Ablation --------------------------------------------------------------------------------------------------


def reachable(circuit: dict[str, Any], start: str) -> set[str]:
    following: dict[str, set[str]] = defaultdict(set)
    for edge in circuit["edges"]:
        following[edge["from"]].add(edge["to"])
    found, left = {start}, [start]
    while left:
        for name in following[left.pop()] - found:
            found.add(name)
            left.append(name)
    return found


def part(entry: dict[str, Any], activation: Tensor) -> Tensor:
    """What of an activation at a hook point is the component's own."""
    match entry["kind"]:
        case "head":
            return activation[:, :, entry["index"]]
        case "hidden unit":
            return activation[:, :, entry["index"]]
        case _:
            return activation


def activations(
    model: Model, entries: list[dict[str, Any]], without: dict[str, Any] | None
) -> dict[str, Tensor]:
    """Every component's activation on all short words, with one of them set to 0."""
    module = model.dense(engine="matrix")
    tokens, lengths = model.to_tokens(
        [word for n in range(1, 5) for word in product(model.alphabet.symbols, repeat=n)]
    )
    cache: dict[str, Tensor] = {}

    def look(entry: dict[str, Any]) -> Callable[[Tensor], Tensor]:
        def hook(activation: Tensor) -> Tensor:
            replaced = activation.clone()
            if without is not None and without["hook"] == entry["hook"]:
                part(without, replaced).zero_()
            cache[entry["hook"]] = replaced
            return replaced

        return hook

    points = {entry["hook"]: look(entry) for entry in entries if entry["hook"] is not None}
    output = module.run_with_hooks(tokens, lengths, on=points)
    held = {e["component"]: part(e, cache[e["hook"]]).clone() for e in entries if e["hook"] is not None}
    return {**held, "output": output}


@pytest.mark.parametrize(
    "name", ["once", "majority", "dyck-1", "since, bounded", "until", "automaton", "symbols"]
)
def test_what_no_path_leads_to_does_not_change(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    circuit = written(subject_of(model), tmp_path)
    entries = circuit["components"]
    before = activations(model, entries, None)
    untouched = changed = 0
    for entry in entries[:-1]:
        after, reached = activations(model, entries, entry), reachable(circuit, entry["component"])
        for other in before.keys() - reached:
            assert torch.equal(before[other], after[other]), (entry["component"], other)
            untouched += 1
        changed += sum(not torch.equal(before[other], after[other]) for other in reached)
    assert untouched > 0
    assert changed > 0


def test_what_is_multiplied_by_zero_is_no_edge() -> None:
    """A query of a key that is 0, and a value that is 0."""
    head = HeadOf(query=[{}, {"one": 1}], key=[{"j": 1}, {"a": 2}], values=[{"b": 1}, {}])
    network = network_of(head)
    edges = edges_of(components_of(network))
    roles = {(str(edge.role), network.coordinates[edge.coordinate]) for edge in edges}
    assert roles == {("query", "one"), ("key", "a"), ("value", "b"), ("output", "out 0 0")}
    assert components_of(network)[2].writes == (network.coordinates.index("out 0 0"),)


def test_heads_of_one_layer_do_not_see_each_other() -> None:
    first = HeadOf(query=[{"one": 1}], key=[{"a": 1}], values=A)
    second = HeadOf(query=[{"one": 1}], key=[{"out 0 0": 1}], values=A)
    edges = edges_of(components_of(network_of(first, second)))
    assert not [edge for edge in edges if edge.target.startswith("head") and edge.source.startswith("head")]


# What has no circuit ---------------------------------------------------------------------------------------


def test_a_hard_network_has_a_circuit(tmp_path: Path) -> None:
    subject = Exported(two_into_one(), Provenance("hard", "0" * 64, "last", "unbounded"))
    circuit = written(subject, tmp_path)
    heads = [entry for entry in circuit["components"] if entry["kind"] == "head"]
    assert [head["attention"] for head in heads] == ["average-hard", "average-hard"]
    assert [head["inverse_temperature"] for head in heads] == [None, None]
    assert {edge["from"] for edge in circuit["edges"] if edge["to"] == "hidden 0.0"} == {
        "head 0.0",
        "head 0.1",
    }


def test_a_normalised_network_is_refused() -> None:
    model = attemper.compile("O a", "ab", layer_norm=LayerNorm())
    with pytest.raises(UnsupportedError, match="Compile without LayerNorm"):
        circuit_of(subject_of(model))


def test_a_registered_predicate_is_refused_by_name() -> None:
    attemper.register_predicate("circuit_square", lambda i: round(i**0.5) ** 2 == i)
    model = attemper.compile("circuit_square(pos) & a", "ab")
    with pytest.raises(UnsupportedError, match="'circuit_square' is a Python function"):
        circuit_of(subject_of(model))


def test_symbols_of_several_characters_and_odd_labels(tmp_path: Path) -> None:
    model = attemper.compile("O '<b>'", Alphabet(("<b>", "&amp;", "ü")))
    circuit = written(subject_of(model), tmp_path)
    assert circuit["alphabet"] == ["<b>", "&amp;", "ü"]
    assert "letter <b>" in [one["label"] for one in circuit["coordinates"]]


def lines_of(circuit: dict[str, Any]) -> Iterator[str]:
    for clamp in circuit["clamps"]:
        yield f"{clamp['layer']} {clamp['units']} {clamp['writes']}"


def test_clamps_name_their_hidden_units(tmp_path: Path) -> None:
    circuit = written(subject_of(model_of("majority")), tmp_path)
    network = model_of("majority").network
    assert list(lines_of(circuit)) == [
        f"{number} {[f'hidden {number}.{low}', f'hidden {number}.{high}']} "
        f"{[c for c, _ in layer.hidden[low].outputs]}"
        for number, layer in enumerate(network.layers)
        for low, high in layer.clamps
    ]
    assert circuit["clamps"]
    units = {e["component"]: e for e in circuit["components"] if e["kind"] == "hidden unit"}
    for clamp in circuit["clamps"]:
        low, high = (units[name] for name in clamp["units"])
        assert low["reads"] == high["reads"] == clamp["reads"]
        assert low["clamp"] == high["clamp"] == clamp["index"]


def test_the_command_names_a_program_on_one_line(tmp_path: Path) -> None:
    assert run_command_line("compile", "zoo:k-hop-2", "-o", tmp_path / "hops").code == 0
    done = run_command_line("export", tmp_path / "hops", "circuit", "-o", tmp_path / "hops.json")
    assert done.out == f"exported an attention program as circuit to {tmp_path / 'hops.json'}\n"
