"""Networks that somebody types in are the networks that they say, and everything else is refused by name."""

from fractions import Fraction

import pytest

from attemper.errors import OptionError
from attemper.networks import files
from attemper.networks.layers import Foreign, HardWeighting, Masking, Uniform
from attemper.networks.meaning_hard import output_bits
from attemper.networks.structure import Provenance
from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network

LAST_A = HeadOf("<=", {"seen": {"a": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])
SHARE = HeadOf("all", {"share": {"a": "1/2", "one": 0}})
PLACES = {"one": "1", "place": ["product", [["position"], ["power", ["length"], -1]]]}


def typed(**changes):
    parts = {
        "alphabet": "ab",
        "embedding": {"a": {"a": 1}},
        "positions": PLACES,
        "layers": [LayerOf([LAST_A, SHARE], [UnitOf({"seen": 1, "share": 1}, {"out": 2}, bias="-1/2")])],
        "output": "out",
    }
    return hard_network(**{**parts, **changes})


def test_it_computes_what_is_typed():
    network = typed()
    for word in ("a", "b", "ab", "ba", "bbab"):
        n = len(word)
        share = Fraction(word.count("a"), 2 * n)
        expected = [
            2 * max(Fraction(0), int("a" in word[:i]) + share - Fraction(1, 2)) for i in range(1, n + 1)
        ]
        assert list(output_bits(network, tuple(word))) == expected


def test_heads_are_average_hard_and_nothing_is_said_of_what_they_are_for():
    (layer,) = typed().layers
    assert [head.weighting for head in layer.heads] == [HardWeighting.AVERAGE] * 2
    assert [head.construction for head in layer.heads] == [Foreign(), Uniform()]
    assert [head.masking for head in layer.heads] == [Masking.FUTURE, Masking.NONE]


def test_it_is_written_and_read_again(tmp_path):
    network, source = typed(), Provenance("formula", "a", "last", "unbounded")
    files.save(network, source, tmp_path)
    assert files.load(tmp_path) == (network, source)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"embedding": {"c": {"a": 1}}}, "'c' is not in the alphabet"),
        ({"output": "outt"}, "output: nothing writes 'outt'; the nearest name is 'out'"),
        ({"layers": [LayerOf([SHARE, HeadOf("<=", {"out": {"aa": 1}})])]}, "head 1: nothing writes 'aa'"),
        ({"layers": [LayerOf([HeadOf("<=", {"out": {"a": 1}}, [{"on": 1}], [{"a": 1}])])]}, "'on'; .* 'one'"),
        (
            {"layers": [LayerOf([], [UnitOf({"seem": 1}, {"out": 1})])]},
            "unit 0: .* 'seem'; there are one place",
        ),
        ({"positions": {"one": "i*n"}}, r"the position embedding of 'one': 'i\*n' is no number"),
        (
            {"positions": {"one": ["*", "i", "n"]}},
            "the position embedding of 'one' is no closed form: expected one of .* not ",
        ),
        (
            {"positions": {"one": ["product", [["position"], "n"]]}},
            r"the position embedding of 'one' is no closed form: parts\[1\]: expected one of ",
        ),
        (
            {"positions": {"one": ["power", ["alternating"], -1]}},
            "only i and n have negative powers: anything else could be 0",
        ),
        ({"layers": [LayerOf([HeadOf("=<", {})])]}, "layer 0, head 0: the mask '=<' is none of <=, <"),
        ({"layers": [LayerOf([HeadOf("<=", {}, query=[{"a": 1}])])]}, "layer 0, head 0: 1 query rows and 0"),
        ({"layers": [LayerOf([], [UnitOf({"a": "x"}, {})])]}, "layer 0, unit 0: 'x' is no number"),
        ({"layers": [LayerOf([], [UnitOf({"a": float("nan")}, {})])]}, "layer 0, unit 0: 'nan' is no number"),
        ({"layers": [LayerOf([HeadOf("<=", {f"v{k}": {} for k in range(17)})])]}, "17 rows or values"),
    ],
)
def test_what_is_no_network_is_refused_by_name(changes, said):
    with pytest.raises(OptionError, match=said.replace("(", r"\(")):
        typed(**changes)


@pytest.mark.parametrize("amount", [1e-30, 10**45, Fraction(1, 10**45 + 1)])
def test_a_position_embedding_that_no_file_holds_is_refused(amount: object) -> None:
    with pytest.raises(OptionError, match="embedding of 'one' is no closed form: value: expected"):
        hard_network("ab", embedding={"a": {"a": 1}}, positions={"one": amount}, layers=[], output="one")


def test_a_position_embedding_that_nests_too_deeply_is_refused() -> None:
    form: list[object] = ["position"]
    for _ in range(81):
        form = ["sum", [form]]
    with pytest.raises(OptionError, match="nest 81 deep, more than 80"):
        hard_network("ab", embedding={"a": {"a": 1}}, positions={"one": form}, layers=[], output="one")
    hard_network("ab", embedding={"a": {"a": 1}}, positions={"one": form[1][0]}, layers=[], output="one")
