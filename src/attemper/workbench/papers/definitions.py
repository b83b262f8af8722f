"""Yang et al., section 3, and its logics: definitions, each beside what the paper says, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp

from attemper.compiling.literal.single_heads import single_heads
from attemper.exact.closed_forms import evaluate, show_form
from attemper.languages.named.entry import RegimeName
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.words import Alphabet
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import HardWeighting, Head, Masking, Softmax, parameter_count
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_most, equal
from attemper.workbench.papers.theorems import proof_of, wrong_words
from attemper.workbench.report.theorems import attention_of

AB = Alphabet(("a", "b"))


def one_head_a_layer() -> Iterator[Observed]:
    """Two heads side by side, and one after the other."""
    model = compiled("Y a & (a S b)", "ab", regime="temperature")
    single = replace(model, network=single_heads(model.network), said=None)
    for name, one, sizes in (("side by side", model, "1, 2"), ("one a layer", single, "2, 1")):
        most = max(len(layer.heads) for layer in one.network.layers)
        yield equal(f"{name}: layers, heads in a layer", f"{len(one.network.layers)}, {most}", sizes)
        yield proof_of(one).about(f"{name}:")
        yield wrong_words(one, ".*baa+|.*ab").about(f"{name}:")


SEES: Mapping[Masking, Callable[[int, int], bool]] = {
    Masking.FUTURE: lambda i, j: j <= i,
    Masking.STRICT_FUTURE: lambda i, j: j < i,
    Masking.PAST: lambda i, j: j >= i,
    Masking.STRICT_PAST: lambda i, j: j > i,
    Masking.NONE: lambda i, j: True,
}
"""The masks, as the paper says them."""


def masks() -> Iterator[Observed]:
    """Which positions of 4 each mask shows to each of them."""
    for mask, sees in SEES.items():
        found = "|".join("".join(map(str, mask.visible(i, 4))) for i in range(1, 5))
        wanted = "|".join("".join(str(j) for j in range(1, 5) if sees(i, j)) for i in range(1, 5))
        yield equal(f"{mask}: positions 1 to 4 see", found, wanted)


def hardmaxes() -> Iterator[Observed]:
    """What the three hard attentions read where all scores are level, and where they are not."""
    level = HeadOf("<=", {"read": {"a": 1}}, query=[{"one": 1}], key=[{"nothing": 1}])
    network = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "nothing": 0},
        layers=[LayerOf([level])],
        output="read",
    )
    for weighting, wanted in (("LEFTMOST", "1"), ("RIGHTMOST", "0"), ("AVERAGE", "2/3")):
        (*_, found) = meaning_hard.output_bits(network, tuple("aab"), HardWeighting[weighting])
        yield equal(f"level scores on aab, {HardWeighting[weighting]} reads", str(found), wanted)
    tieless = compiled("O (b & Y a)", "ab").network
    for weighting in HardWeighting:
        bits = meaning_hard.output_bits(tieless, tuple("abba"), weighting)
        yield equal(f"O (b & Y a) on abba, {weighting}", "".join(map(str, bits)), "0111")


COLD: Mapping[tuple[str, RegimeName], Callable[[int, int], int]] = {
    ("Y a", "temperature"): lambda i, n: 4 * n,
    ("a S b", "decoder"): lambda i, n: 4 * i**2,
}
"""1/tau of some formulas, at i and n."""


def temperatures() -> Iterator[Observed]:
    """A head's weights, enclosed in balls, beside softmax(s / tau) by Python's floats."""
    for (formula, regime), cold in COLD.items():
        network = compiled(formula, "ab", regime=regime).network
        head, word = network.layers[0].heads[0], tuple("abbab")
        assert isinstance(head.weighting, Softmax)
        n, name = len(word), f"{formula}, {regime}:"
        colds = [evaluate(head.weighting.inverse_temperature, i, n) for i in range(1, n + 1)]
        yield equal(f"{name} 1/tau at n = 5", _row(colds), _row([cold(i, n) for i in range(1, n + 1)]))
        stream = meaning_hard.residual_streams(network, word)[0]
        balls = meaning_soft.residual_streams(network, word)[0]
        off = 0.0
        for i, weights in enumerate(meaning_soft.attention(head, balls)):
            powers = {j: exp(colds[i] * _score(head, stream[i], stream[j - 1])) for j in weights}
            total = sum(powers.values())
            off = max(off, *(abs(float(weights[j].mid()) - powers[j] / total) for j in powers))
        yield at_most(f"{name} weights off softmax(s / tau) by", off, 1e-12)


def _score(head: Head, here: list[Fraction], there: list[Fraction]) -> Fraction:
    value_of = meaning_hard.value_of
    rows = zip(head.query, head.key, strict=True)
    return sum((value_of(query, here) * value_of(key, there) for query, key in rows), Fraction(0))


def _row(numbers: list[Fraction] | list[int]) -> str:
    return " ".join(map(str, numbers))


Position = Callable[[str, int], bool]

SHIFTED: Mapping[str, Position] = {
    "Y a": lambda w, i: i > 0 and w[i - 1] == "a",
    "X a": lambda w, i: i + 1 < len(w) and w[i + 1] == "a",
    "WY a": lambda w, i: i == 0 or w[i - 1] == "a",
    "Y X a": lambda w, i: i > 0 and w[i] == "a",
}
SELECTED: Mapping[str, Position] = {
    "a S b": lambda w, i: any(w[j] == "b" and set(w[j + 1 : i + 1]) <= {"a"} for j in range(i + 1)),
    "a U b": lambda w, i: any(w[j] == "b" and set(w[i:j]) <= {"a"} for j in range(i, len(w))),
    "O a": lambda w, i: "a" in w[: i + 1],
    "G a": lambda w, i: set(w[i:]) <= {"a"},
    "(a U b) S a": lambda w, i: any(
        w[j] == "a" and all(SELECTED["a U b"](w, k) for k in range(j + 1, i + 1)) for j in range(i + 1)
    ),
}
COUNTED: Mapping[str, Position] = {
    "#<[a] <= #>[b]": lambda w, i: w[: i + 1].count("a") <= w[i:].count("b"),
    "2*#<[a] - #[b] >= 1": lambda w, i: 2 * w[: i + 1].count("a") - w.count("b") >= 1,
    "odd(#<[a])": lambda w, i: w[: i + 1].count("a") % 2 == 1,
    "prime(#[a] + pos)": lambda w, i: (
        all((w.count("a") + i + 1) % d for d in range(2, w.count("a") + i + 1)) and w.count("a") + i > 0
    ),
}


def logic(formulas: Mapping[str, Position]) -> Iterator[Observed]:
    """At how many positions of all words up to 6 the exact meaning is not what the definition says."""
    words = ["".join(word) for n in range(1, 7) for word in product("ab", repeat=n)]
    for text, holds in formulas.items():
        formula = parse(text, AB)
        wrong = sum(
            bit is not holds(word, i) for word in words for i, bit in enumerate(truth(formula, tuple(word)))
        )
        yield equal(f"{text}: wrong positions of {sum(map(len, words))}", wrong, 0)


def uniform_parameters() -> Iterator[Observed]:
    """One network of `a S b` at several lengths: what counts is which of b and c came last."""
    model = compiled("a S b", "abc", regime="temperature")
    yield equal("parameters", parameter_count(model.network), 140)
    for n in (2, 10, 100, 500):
        places = sorted({0, (n - 2) // 2, n - 2})
        words = ["a" * k + last + "a" * (n - k - 2) for k in places for last in ("bc", "cb")]
        wanted = [last == "cb" for _ in places for last in ("bc", "cb")]
        found = [run.accepted for run in model.run(words, engine="numpy")]
        wrong = sum(one is not meant for one, meant in zip(found, wanted, strict=True))
        yield equal(f"wrong on words of {n} symbols, the same weights", wrong, 0)


def classes() -> Iterator[Observed]:
    """What `show` says of one network whose heads weigh in each way."""
    network = compiled("a S b", regime="temperature").network
    (layer,) = network.layers
    for weighting, name in (
        (layer.heads[0].weighting, "softmax (SMAT)"),
        (HardWeighting.LEFTMOST, "leftmost-hard (UHAT)"),
        (HardWeighting.RIGHTMOST, "rightmost-hard (UHAT)"),
        (HardWeighting.AVERAGE, "average-hard (AHAT)"),
    ):
        heads = tuple(replace(head, weighting=weighting) for head in layer.heads)
        own = replace(network, layers=(replace(layer, heads=heads),))
        yield equal("attention", attention_of(own), f"{name}, at most 1 head in a layer")


def first_by_a_mean() -> Iterator[Observed]:
    """The compiler's own network of it: one uniform head, two ReLUs for each sign, nothing but (-1)^i."""
    for text in ("first", "last"):
        model = compiled(text, "a", at="last", regime="temperature", construction="paper")
        name = f"[{text}],"
        forms = ", ".join(show_form(form) for _, form in model.network.positions)
        yield equal(f"{name} position embeddings", forms, "(-1)^i")
        wrong = 0
        for run in model.run(["a" * n for n in range(1, 30)], engine="numpy"):
            last = len(run.word) - 1
            wrong += sum(bit is not (i == (0 if text == "first" else last)) for i, bit in enumerate(run.bits))
        yield equal(f"{name} positions of 435 that are not right", wrong, 0)
        yield proof_of(model).about(name)


STATEMENTS = (
    Statement(
        *(1, Paper.YANG, ("definition-1", "transformer"), "Definition 1: transformers with residual layers"),
        "`networks.layers.Network`: embeddings, layers of heads and ReLU units, exact rational weights.",
        "Layers may have several heads, where Definition 1 has one: they compute what layers of one head "
        "each "
        "compute one after the other, exactly.",
        'attemper compile "Y a & (a S b)" --regime temperature -o two; attemper show two',
        one_head_a_layer,
    ),
    Statement(
        *(2, Paper.YANG, ("section-3.1-masking", "masking"), "Future and past masks (section 3.1)"),
        "`HeadOf(mask)`: <=, <, >=, > or all; `attemper show` has a column for it.",
        "Strict masks as well.",
        'attemper compile "Y O a" --alphabet ab -o strict; attemper show strict',
        masks,
    ),
    Statement(
        *(
            3,
            Paper.YANG,
            ("definition-2", "hardmax"),
            "Definition 2: leftmost, rightmost and average hardmax",
        ),
        "`HardWeighting`, by rational numbers; of a compiled network all three give the same bits.",
        "",
        'attemper compile "O (b & Y a)" -o tri; attemper run tri abba --weights hard',
        hardmaxes,
    ),
    Statement(
        *(4, Paper.YANG, ("definition-3", "temperature"), "Definition 3: softmax at a temperature tau(n)"),
        "`Softmax(inverse_temperature)`: a closed form in n, or in i where a decoder may know no n.",
        "",
        'attemper compile "Y a" --alphabet ab --regime temperature -o y; attemper show y',
        temperatures,
    ),
    Statement(
        *(
            5,
            Paper.YANG,
            ("definition-4", "classes"),
            "Definition 4: the classes of transformers by their attention",
        ),
        "Hard, average-hard, and softmax at temperatures are weightings of one network; `show` names "
        "the class.",
        "",
        'attemper compile "a S b" -o since; attemper show since',
        classes,
    ),
    Statement(
        *(16, Paper.YANG, ("proposition-11",), "Proposition 11: first and last position, from (-1)^i"),
        "`--construction paper` computes them so: the mean of (-1)^j over what is visible, and two ReLUs for "
        "each sign; the checker follows it.",
        "Our own networks have [i = 1] and [i = n] as embeddings, at no cost of a layer.",
        "attemper compile first --alphabet ab --construction paper -o first",
        first_by_a_mean,
    ),
    Statement(
        *(14, Paper.YANG, ("definition-10", "ltl-y-x"), "Definition 10: the logic with Y and X"),
        "`languages.temporal`: Y and X are strong, WY and WX weak.",
        "",
        'attemper compile "X a" --alphabet ab --at first -o x',
        partial(logic, SHIFTED),
    ),
    Statement(
        *(19, Paper.YANG, ("definition-14", "ltl-s-u"), "Definition 14: the logic with S and U"),
        "S and U are not strict; O, H, F, G are defined by them.",
        "",
        'attemper compile "a S b" -o since',
        partial(logic, SELECTED),
    ),
    Statement(
        *(
            25,
            Paper.YANG,
            ("definition-19", "counting"),
            "Definition 19: counting terms and numerical predicates",
        ),
        "#<[p], #>[p], #[p] count with the own position; predicates are built in, or registered from Python.",
        "",
        'attemper compile "prime(#<[a])" --alphabet ab -o prime; attemper run prime aabab',
        partial(logic, COUNTED),
    ),
    Statement(
        *(48, Paper.YANG, ("parameter-uniform",), "One set of weights for all lengths"),
        "A network has exact numbers; only embeddings and temperatures, closed forms in i and n, know a "
        "length.",
        "",
        'attemper compile "a S b" --regime temperature -o since; attemper show since',
        uniform_parameters,
    ),
)
