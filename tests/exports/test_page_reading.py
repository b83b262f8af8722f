"""What the page reads: closed forms, words, bits, integers, and weights that no compiler makes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import torch
from flint import arb

import attemper
from attemper.errors import WordError
from attemper.exact import closed_forms
from attemper.exact.balls import precision
from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ONLY,
    SIGN,
    ClosedForm,
    Digits,
    I,
    N,
    Power,
    evaluate,
    number,
    over,
    plus,
    times,
)
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero
from attemper.exports.page.contents import page_contents
from attemper.exports.page.forms import form_data
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet, parse_word
from attemper.networks.layers import Masking
from attemper.running.batches import runs_of, tokens_of
from attemper.running.closed_form_tensors import form_values
from attemper.running.numbers import integer_of
from attemper.running.traceable.labels import LABELS, labels_of
from tests.exports.runs_page import Interpreter, needs_node
from tests.support.drawn.exported import MODELS, subjects, words_for

pytestmark = needs_node

PREDICATES = (Zero(), NonNegative(), Remainder(1, 0), Remainder(2, 1), Remainder(7, 3), Named("even"))
LARGE = (2**53, 2**53 + 1, -(2**53) - 1, 2**62 - 1, -(2**62), 10**18)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interpreter]:
    interpreter = Interpreter(tmp_path_factory.mktemp("page"))
    yield interpreter
    interpreter.stop()


def drawn(draw: random.Random, depth: int) -> ClosedForm:
    """A closed form of every kind."""
    if depth == 0:
        third = number(Fraction(draw.randint(-9, 9), draw.choice([1, 2, 3, 7, 10])))
        coefficients = [draw.randint(-3, 3) for _ in range(3)]
        test = closed_forms.Test(draw.choice(PREDICATES), *coefficients)
        return draw.choice(
            [third, I, N, SIGN, FIRST, LAST, ONLY, test, over(I, 2), over(N), Digits(plus(I, N))]
        )
    parts = [drawn(draw, depth - 1) for _ in range(draw.randint(1, 3))]
    return draw.choice([plus(*parts), times(*parts), Power(parts[0], draw.randint(0, 4))])


def test_closed_forms_are_those_of_torch_bit_for_bit(node: Interpreter) -> None:
    draw = random.Random(5)
    for _ in range(300):
        form, n = drawn(draw, draw.randint(0, 2)), draw.choice([1, 2, 3, 50, 300])
        i = torch.arange(1, n + 1)
        expected = form_values(form, i, torch.full_like(i, n)).tolist()
        places = sorted({1, n, draw.randint(1, n)})
        found = [node.call("formValue", form_data(form), place, n) for place in places]
        assert found == [expected[place - 1] for place in places], form


@pytest.mark.parametrize("predicate", PREDICATES, ids=repr)
def test_tests_of_numbers_beyond_two_to_the_53_are_exact(predicate: Predicate, node: Interpreter) -> None:
    """Against their exact meaning; a float64 would round the argument to an even number."""
    for per_position in (0, 1, *LARGE):
        for shift in (0, *LARGE, *(-large for large in LARGE), *(1 - large for large in LARGE)):
            form = closed_forms.Test(predicate, per_position, -1, shift)
            exact = [evaluate(form, i, 3) for i in (1, 2, 3)]
            assert [node.call("formValue", form_data(form), i, 3) for i in (1, 2, 3)] == exact


def test_digits_change_at_powers_of_two(node: Interpreter) -> None:
    for k in range(1, 12):
        for i in (2**k - 1, 2**k, 2**k + 1):
            found = node.call("formValue", form_data(Digits(times(I, I))), i, 2**12)
            assert found == (i * i).bit_length()


def test_what_is_beyond_float64_has_no_number_of_digits(node: Interpreter) -> None:
    """16^256 = 2^1024 is no float64; nor has its binary text, as JavaScript writes it, 1,025 digits."""
    form = Digits(Power(Power(I, 16), 16))
    assert node.call("formValue", form_data(form), 15, 16) == (15**256).bit_length()
    assert node.call("formValue", form_data(form), 16, 16) is None


def test_words_are_read_as_everywhere_else(node: Interpreter) -> None:
    alphabets = [
        Alphabet(tuple("ab")),
        Alphabet(("push", "pop")),
        Alphabet(("<", "&", "</script>")),
        Alphabet(("ä", "𝄞")),
    ]
    texts = [
        "",
        "  ",
        "ab",
        "a b",
        "abc",
        "push pop",
        " pop\tpush ",
        "pushpop",
        "< & </script>",
        "<&",
        "ä𝄞",
        "𝄞 ä 𝄟",
        "c" * 50,
    ]
    for alphabet in alphabets:
        for text in texts:
            found = node.call("wordOf", text, list(alphabet.symbols))
            assert found == read_by_python(text, alphabet)


def read_by_python(text: str, alphabet: Alphabet) -> dict[str, object]:
    try:
        return {"word": list(parse_word(text, alphabet))}
    except WordError as error:
        return {"error": str(error)}


def test_bits_are_read_by_the_rule_of_labels(node: Interpreter) -> None:
    values = (0.0, 0.25, math.nextafter(0.25, 1), 0.5, math.nextafter(0.75, 0), 0.75, 1.0, -3.0, 7.0)
    names = {False: "rejected", True: "accepted", None: "undecided"}
    for value in values:
        for margin in (0.25, 0.0, -5e-324, -1.0):
            label = labels_of(
                torch.tensor([value], dtype=torch.float64), torch.tensor([margin], dtype=torch.float64)
            )
            assert names[node.call("bitOf", value, margin)] == LABELS[label]


def test_what_is_no_number_is_undecided(node: Interpreter) -> None:
    """A clamp that adds up infinities of both signs has no margin, and the word no verdict."""
    contents: Any = page_contents(subject_of("O a"))
    for unit in contents["layers"][0]["hidden"]:
        unit["reads"], unit["writes"] = [*unit["reads"], [0, 2], [0, -2]], []
    contents["positions"] = [
        [c, ["*", 1e308, 1e308] if c == 0 else form] for c, form in contents["positions"]
    ]
    node.show(contents)
    ran = node.run(("b", "a"))
    assert ran["margin"] == -math.inf
    assert ran["outputs"] == [[0, 0]]
    assert ran["verdict"] == "undecided"
    assert ran["putOut"] == [None, None]


def test_a_hidden_unit_that_sees_no_number_leaves_the_word_undecided(node: Interpreter) -> None:
    """Also one that is in no clamp and writes nothing, as the traceable module has it."""
    contents: Any = page_contents(subject_of("O a"))
    contents["layers"][0]["hidden"].append({"reads": [[0, 1], [0, -1]], "bias": 0, "writes": []})
    contents["positions"] = [
        [c, ["*", 1e308, 1e308] if c == 0 else form] for c, form in contents["positions"]
    ]
    contents["layers"][0]["heads"][0]["key"] = [[] for _ in contents["layers"][0]["heads"][0]["key"]]
    contents["layers"][0]["clamps"] = []
    node.show(contents)
    ran = node.run(("b", "a"))
    assert (ran["margin"], ran["verdict"], ran["putOut"]) == (-math.inf, "undecided", [None, None])


def test_a_head_whose_scores_are_no_numbers_puts_out_none(node: Interpreter) -> None:
    """Scores that are all less than any number: nothing is averaged, and 0 would look right."""
    contents: Any = page_contents(subject_of("O a"))
    head = contents["layers"][0]["heads"][0]
    rows = len(head["query"])
    head["query"], head["key"] = [[[0, 1e200]]] * rows, [[[0, -1e200]]] * rows
    node.show(contents)
    ran = node.run(("b", "a"))
    assert (ran["verdict"], ran["putOut"]) == ("undecided", [None, None])


def test_what_is_infinite_is_undecided(node: Interpreter) -> None:
    contents: Any = page_contents(subject_of("O a"))
    ((_, out),) = contents["outputs"]
    one = next(c for c, form in contents["positions"] if form == 1)
    contents["layers"][0]["hidden"] += [{"reads": [[one, 1]], "bias": 0, "writes": [[out, 1e308]]}] * 2
    node.show(contents)
    ran = node.run(("a", "b"))
    assert ran["outputs"] == [[math.inf, math.inf]]
    assert ran["margin"] > 0
    assert (ran["verdict"], ran["putOut"]) == ("undecided", [None, None])


def test_a_mean_square_beyond_float64_is_no_number(node: Interpreter) -> None:
    """All would be divided by infinity, and read as 0."""
    how, norm = {"isCentred": False, "eps": 1e-5}, {"gain": [1, 1], "bias": [0, 0]}
    assert node.call("normalised", [3, 4], norm, how) == pytest.approx(
        [3 / 12.5**0.5, 4 / 12.5**0.5], abs=1e-6
    )
    for size in (1e200, -1e200):
        for is_centred in (True, False):
            found = node.call("normalised", [size, -size], norm, {**how, "isCentred": is_centred})
            assert found == [None, None]


def test_integers_are_read_exactly(node: Interpreter) -> None:
    """Shares next to 1/4 from an integer, and integers of more than 53 bits, whose product with n rounds."""
    draw = random.Random(3)
    cases = [
        (share, count)
        for share in (0.0, 0.25, -0.25, 0.3, 1 / 3, -7.0, 5e-324, 2.0**60 + 2**9)
        for count in (1, 3, 7)
    ]
    for _ in range(300):
        count, whole = draw.randint(1, 10**6), draw.randint(-(10**6), 10**6)
        edge = draw.choice([0.0, 0.25, -0.25, 0.5])
        share = (whole + edge) / count
        cases += [
            (near, count)
            for near in (math.nextafter(share, -math.inf), share, math.nextafter(share, math.inf))
        ]
    for share, count in cases:
        assert node.call("integerOf", share, count) == str(integer_of(share, count)).replace("None", "null")


@pytest.mark.parametrize("name", ["histogram", "bigrams", "previous symbol", "majority", "next"])
def test_what_is_put_out_is_what_runs_say(name: str, node: Interpreter) -> None:
    model = MODELS[name]()
    node.show(page_contents(Exported(model.network, model.source)))
    for word, run in zip(
        words := words_for(model.network, 3, (40,)), runs_of(model.dense(), words), strict=True
    ):
        ran = node.run(word)
        for place, shown in enumerate(ran["putOut"]):
            if run.numbers is None:
                said = run.outputs[place]
                assert shown == (str(int(said)) if isinstance(said, bool) else said)
            else:
                assert_number(shown, run.numbers[place])


def assert_number(shown: str, meant: object) -> None:
    """Integers are the same; others are shown with four digits."""
    if isinstance(meant, dict):
        pairs = dict(part.split(" ") for part in shown.split(", "))
        assert list(pairs) == list(meant)
        assert all(math.isclose(float(pairs[name]), meant[name], rel_tol=5e-4) for name in meant)
    else:
        assert shown == str(meant)


@pytest.mark.parametrize("empty", ["accept", "reject"])
def test_the_empty_word_has_the_verdict_of_the_network(empty: Any, node: Interpreter) -> None:
    model = attemper.compile("O a", "ab", empty=empty)
    node.show(page_contents(Exported(model.network, model.source)))
    ran = node.run((), weights=True, stream=True)
    assert ran["verdict"] == f"{empty}ed"
    assert ran["putOut"] == []
    assert ran["margin"] == math.inf


def test_the_empty_word_of_numbers_has_no_verdict(node: Interpreter) -> None:
    for name in ("histogram", "bigrams", "previous symbol"):
        node.show(page_contents(dict(subjects())[name]))
        assert node.run(())["verdict"] is None


def subject_of(formula: str) -> Exported:
    model = attemper.compile(formula, "ab")
    return Exported(model.network, model.source)


def test_a_row_of_w_o_may_write_anywhere(node: Interpreter) -> None:
    """As somebody's edit makes it: to several coordinates, with any factor, also where others write."""
    subject = subject_of("#<['a'] <= #<['b'] & Y a")
    module, draw = subject.traceable(torch.float64), random.Random(8)
    contents: Any = page_contents(subject)
    width = len(subject.network.coordinates)
    for layer, block in zip(contents["layers"], module.blocks, strict=True):
        weight = block.attn.get("W_O")
        for place, head in enumerate(layer["heads"]):
            for v in range(len(head["values"])):
                row = [[c, draw.choice([0.5, -2.0, 3.0])] for c in sorted(draw.sample(range(width), 3))]
                head["writes"][v] = row
                weight[place, v] = 0
                for c, factor in row:
                    weight[place, v, c] = factor
    node.show(contents)
    for word in words_for(subject.network, 4, (30,)):
        tokens, _ = tokens_of(subject.network.alphabet, [word])
        outputs, margin = module(tokens, torch.ones_like(tokens))
        ran = node.run(word)
        assert ran["outputs"][0] == pytest.approx(outputs[0].tolist(), rel=0, abs=1e-9)
        assert ran["margin"] == pytest.approx(margin.item(), rel=0, abs=1e-9)


def test_exp_is_within_what_certificates_assume(node: Interpreter) -> None:
    """FORMAT.md, section 6: a relative error of at most 8 u in float64, and exactly 1 at 0."""
    draw = random.Random(1)
    points = [
        0.0,
        -0.0,
        *(-draw.random() for _ in range(2000)),
        *(-math.exp(draw.uniform(-20, 6.5)) for _ in range(4000)),
    ]
    found = node.call("exponentials", points)
    assert found[:2] == [1, 1]
    with precision(200):
        worst = max(abs(arb(value) / arb(x).exp() - 1) for x, value in zip(points, found, strict=True))
        assert worst < arb(8) * arb(2) ** -53


def test_one_coordinate_may_have_several_embeddings(node: Interpreter) -> None:
    """A position embedding in two entries, and a letter where an embedding stands: they add up."""
    network = subject_of("O a").network
    where = network.positions[0][0]
    twice = replace(network, positions=(*network.positions, (where, over(I)), (where, times(I, over(N)))))
    contents: Any = page_contents(subject_of("O a"))
    contents["positions"] = [[c, form_data(form)] for c, form in twice.positions]
    node.show(contents)
    found = node.run(("a", "b", "b"), stream=True)["stream"][0]
    assert [row[where] for row in found] == [1 + 1 / i + i * (1 / 3) for i in (1, 2, 3)]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["next", "until", "since", "automaton", "parity", "rms norm"])
def test_verdicts_are_those_of_the_model(name: str, node: Interpreter) -> None:
    """Read at the first position or at the last: on all short words."""
    model = MODELS[name]()
    node.show(page_contents(Exported(model.network, model.source)))
    words = words_for(model.network, 5, ())
    said = {False: "rejected", True: "accepted"}
    assert [node.run(word)["verdict"] for word in words] == [said[model.accepts(word)] for word in words]


@pytest.mark.parametrize("name", ["layer norm", "rms norm"])
def test_norms_of_somebody_else_are_computed_by_their_definition(name: str, node: Interpreter) -> None:
    """With means that are not 0, and other gains and biases before heads than before hidden units."""
    subject, draw = dict(subjects())[name], random.Random(6)
    contents: Any = page_contents(subject)
    tensors = dict(subject.traceable(torch.float64).state_dict())
    width = len(subject.network.coordinates)

    def some() -> list[float]:
        return [draw.uniform(-2, 2) for _ in range(width)]

    rows = [some() for _ in contents["alphabet"]]
    contents["embedding"] = [[[c, x] for c, x in enumerate(row)] for row in rows]
    tensors["embed.W_E"] = torch.tensor(rows, dtype=torch.float64)
    for place_of_layer, layer in enumerate(contents["layers"]):
        for place, norm in (("ln1", layer["beforeHeads"]), ("ln2", layer["beforeHidden"])):
            norm["gain"] = some()
            tensors[f"blocks.{place_of_layer}.{place}.w"] = torch.tensor(norm["gain"], dtype=torch.float64)
            if contents["normalisation"]["isCentred"]:
                norm["bias"] = some()
                tensors[f"blocks.{place_of_layer}.{place}.b"] = torch.tensor(
                    norm["bias"], dtype=torch.float64
                )
    module = subject.traceable(torch.float64)
    module.load_state_dict(tensors)
    node.show(contents)
    for word in words_for(subject.network, 3, ()):
        tokens, _ = tokens_of(subject.network.alphabet, [word])
        outputs, margin = module(tokens, torch.ones_like(tokens))
        ran = node.run(word)
        assert ran["margin"] == pytest.approx(margin.item(), rel=1e-9)
        assert ran["outputs"][0] == pytest.approx(outputs[0].tolist(), rel=1e-9)


NAMES = [["x", 0], ["y", 1]]
RUNS: list[tuple[dict[str, Any], list[list[float]], float, str]] = [
    ({"measure": None, "outputs": NAMES}, [[1], [0]], 0.25, "x"),
    ({"measure": None, "outputs": NAMES}, [[1], [1]], 0.25, None),
    ({"measure": None, "outputs": NAMES}, [[0], [0]], 0.25, None),
    ({"measure": None, "outputs": NAMES}, [[1], [0.5]], 0.25, None),
    ({"measure": None, "outputs": NAMES}, [[1], [0]], -0.1, None),
    ({"measure": "fraction", "outputs": [[None, 0]]}, [[0.5]], 0.0, "0.5"),
    ({"measure": "fraction", "outputs": [[None, 0]]}, [[0.5]], -0.1, None),
    ({"measure": "distribution", "outputs": NAMES}, [[0.75], [0.25]], 0.0, "x 0.75, y 0.25"),
    ({"measure": "distribution", "outputs": NAMES}, [[0.75], [0.25]], -0.1, None),
]


@pytest.mark.parametrize(("network", "outputs", "margin", "said"), RUNS)
def test_what_cannot_be_read_is_undecided(
    network: dict[str, Any], outputs: list[list[float]], margin: float, said: str, node: Interpreter
) -> None:
    assert node.call("putOut", network, {"outputs": outputs, "margin": margin}, 0) == said


@pytest.mark.sweep(4)
@pytest.mark.parametrize("masking", list(Masking))
def test_an_integer_is_its_share_times_what_is_seen(masking: Masking, node: Interpreter) -> None:
    """Of three positions: 6 is put out as the share of what each of them sees, 0 where none is seen."""
    network = {"measure": "integer", "outputs": [[None, 0]], "over": str(masking)}
    counts = [len(masking.visible(i, 3)) for i in (1, 2, 3)]
    ran = {"outputs": [[6 / count if count else 0 for count in counts]], "margin": 0.25}
    found = [node.call("putOut", network, ran, place) for place in range(3)]
    assert found == [str(6 if count else 0) for count in counts]
