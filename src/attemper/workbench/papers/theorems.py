"""Yang et al., section 4: theorems about logics, each by formulas that are compiled, proved and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, final

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import UnprovedError
from attemper.exact.closed_forms import depends_on_length, growth
from attemper.languages.named.entry import RegimeName
from attemper.models.hard.masked_examples import Surrounded
from attemper.networks.layers import Softmax
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.model import Model
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_most, equal
from attemper.workbench.report.summary import summary_of
from attemper.workbench.report.theorems import satisfied
from attemper.workbench.simulating import simulate

if TYPE_CHECKING:
    from attemper.workbench.naming import AtName
    from attemper.workbench.options import ConstructionName

LONGEST = 6
"""All words up to this length are tried; of three symbols up to two fewer."""

ONE, SIGN, NOT_FIRST, NOT_LAST = "1", "(-1)^i", "(1 + -1*[i - 1 = 0])", "(1 + -1*[i - 1n = 0])"
LONGER = "(1 + -1*[n - 1 = 0])"
ODD, EVEN = "[i mod 2 = 1]", "[i mod 2 = 0]"
FIRST = "[i - 1 = 0]"


@final
@dataclass(frozen=True)
class Instance:
    """A formula in a regime, and what its network has to be, as `show` prints it."""

    theorem: str
    formula: str
    regime: RegimeName
    members: str | Callable[[str], bool]
    """Which words satisfy it, said without attemper: a pattern of Python's, or a function."""
    embeddings: tuple[str, ...]
    temperatures: tuple[str, ...]
    layers: int
    heads: int
    alphabet: str = "ab"
    at: AtName | None = None
    construction: ConstructionName = "ours"

    def model(self) -> Model:
        """The network, compiled anew."""
        return compiled(
            self.formula, self.alphabet, at=self.at, regime=self.regime, construction=self.construction
        )


def proof_of(model: Model) -> Observed:
    """Whether the checker proves the network from its weights, in real arithmetic, at all lengths."""
    try:
        prove(model.network, model.language.definition, model.realisation)
    except UnprovenError as error:
        return equal("real arithmetic, all lengths", f"no proof: {error}", "PROVED")
    return equal("real arithmetic, all lengths", "PROVED", "PROVED")


def wrong_words(model: Model, members: str | Callable[[str], bool]) -> Observed:
    """On how many of all words up to a length the softmax network disagrees with the definition."""
    is_member = members if callable(members) else lambda word: bool(re.fullmatch(members, word))
    symbols = model.alphabet.symbols
    longest = LONGEST if len(symbols) < 3 else LONGEST - 2
    words = ["".join(word) for n in range(1, longest + 1) for word in product(symbols, repeat=n)]
    runs = model.run(words, engine="numpy")
    wrong = sum(run.accepted is not is_member(word) for run, word in zip(runs, words, strict=True))
    return equal(f"wrong on, of {len(words)} words", wrong, 0)


def hypotheses_of(model: Model) -> Iterator[Observed]:
    """What a theorem's case assumes beside temperatures: bounded embeddings, or nothing that depends on n."""
    network = model.network
    heads = [head for layer in network.layers for head in layer.heads]
    colds = [one.weighting.inverse_temperature for one in heads if isinstance(one.weighting, Softmax)]
    forms = [form for _, form in network.positions]
    if model.regime == "unbounded":
        return
    yield at_most("position embeddings are O(n^e), e", max(map(growth, forms)), 0)
    if model.regime == "decoder":
        on_n = sum(map(depends_on_length, [*forms, *colds]))
        yield equal("embeddings and temperatures with n", on_n, 0)
        yield equal("heads that see later positions", sum(head.masking.after for head in heads), 0)


def assumed_in(instance: Instance, model: Model) -> Iterator[Observed]:
    """What the theorem assumes of a transformer: of its own network all of it, as `show` tests it."""
    if instance.construction == "ours":
        yield from hypotheses_of(model)
        return
    number, *case = instance.theorem.split()
    kind = "Theorem" if number in {"12", "13", "20", "21"} else "Corollary"
    name = f"{kind} {number}{''.join(case)}"
    yield equal(f"satisfies the hypotheses of {name}", name in satisfied(model.network), True)


def seen_of(instance: Instance) -> Iterator[Observed]:
    """The network: its position embeddings, temperatures and size; then what it computes."""
    model = instance.model()
    summary = summary_of(model)
    temperatures = tuple(dict.fromkeys(head.temperature for head in summary.head_list))
    name = (
        f"{instance.theorem} {instance.formula}{', the proof' if instance.construction == 'paper' else ''},"
    )
    yield equal(f"{name} embeddings", ", ".join(summary.position_embeddings), ", ".join(instance.embeddings))
    yield equal(f"{name} temperatures", ", ".join(temperatures), ", ".join(instance.temperatures))
    size = f"{summary.layers} layers, {summary.heads} heads"
    yield equal(f"{name} size", size, f"{instance.layers} layers, {instance.heads} heads")
    for one in (*assumed_in(instance, model), proof_of(model), wrong_words(model, instance.members)):
        yield one.about(name)


def seen_of_all(instances: Iterable[Instance]) -> Iterator[Observed]:
    """One after the other."""
    return chain.from_iterable(map(seen_of, instances))


def _of_paper(
    one: Instance, embeddings: tuple[str, ...], temperatures: tuple[str, ...], layers: int, heads: int
) -> Instance:
    """The formula of an instance by the theorem's own construction."""
    own = replace(one, embeddings=embeddings, temperatures=temperatures, layers=layers, heads=heads)
    return replace(own, construction="paper")


SHIFTS = (
    Instance("12 (a)", "Y a", "temperature", ".*a.", (ONE, SIGN, NOT_FIRST, "i*n^-1"), ("1/(4*n)",), 1, 1),
    Instance(
        "12 (a)",
        "X a",
        "temperature",
        ".a.*",
        (ONE, SIGN, NOT_LAST, "i*n^-1"),
        ("1/(4*n)",),
        1,
        1,
        at="first",
    ),
    Instance("12 (b)", "Y a", "unbounded", ".*a.", (ONE, SIGN, NOT_FIRST, "i"), ("1",), 1, 1),
    Instance("12 (b)", "X a", "unbounded", ".a.*", (ONE, SIGN, NOT_LAST, "i"), ("1",), 1, 1, at="first"),
)
PAST_SHIFTS = (
    Instance("13 (c)", "Y a", "decoder", ".*a.", (ONE, NOT_FIRST, ODD, EVEN, "i^-1"), ("1/(4*i^2)",), 1, 1),
    Instance("13 (d)", "Y a", "unbounded", ".*a.", (ONE, SIGN, NOT_FIRST, "i"), ("1",), 1, 1),
)
NGRAM = (
    Instance(
        *(
            "n-gram",
            "c & Y (b & Y a)",
            "temperature",
            ".*abc",
            (ONE, SIGN, NOT_FIRST, "i*n^-1"),
            ("1/(4*n)",),
        ),
        *(2, 2, "abc"),
    ),
)
SELECTIONS = (
    Instance("15 (a)", "a S b", "temperature", ".*ba*", (ONE, "i*n^-1"), ("1/(8*n)",), 1, 1),
    Instance("15 (a)", "a U b", "temperature", "a*b.*", (ONE, "i*n^-1"), ("1/(8*n)",), 1, 1, at="first"),
    Instance("15 (b)", "a S b", "unbounded", ".*ba*", (ONE, "i"), ("1",), 1, 1),
    Instance("15 (b)", "a U b", "unbounded", "a*b.*", (ONE, "n", "i"), ("1",), 1, 1, at="first"),
)
PAST_SELECTIONS = (
    Instance("16 (a)", "a S b", "decoder", ".*ba*", (ONE, "i^-1"), ("1/(4*i^2)",), 1, 1),
    Instance("16 (b)", "a S b", "unbounded", ".*ba*", (ONE, "i"), ("1",), 1, 1),
)
BOTH = (
    Instance(
        *("17 (a)", "O (b & Y a)", "temperature", ".*ab.*", (ONE, SIGN, NOT_FIRST, "i*n^-1")),
        *(("1/(4*n)", "1/(8*n)"), 2, 2),
    ),
    Instance("17 (b)", "O (b & Y a)", "unbounded", ".*ab.*", (ONE, SIGN, NOT_FIRST, "i"), ("1",), 2, 2),
)
BOTH_PAST = (
    Instance(
        *(
            "18",
            "O (b & Y a)",
            "decoder",
            ".*ab.*",
            (ONE, NOT_FIRST, ODD, EVEN, "i^-1"),
            ("1/(4*i^2)",),
            2,
            2,
        ),
    ),
)


def _late_bs(word: str) -> bool:
    return any(word[i] == "b" and word[: i + 1].count("a") <= word[i:].count("b") for i in range(len(word)))


def _prime_as(word: str) -> bool:
    count = word.count("a")
    return count > 1 and all(count % divisor for divisor in range(2, count))


def _three_points(word: str) -> bool:
    return word.count("a") + 2 * word.endswith("b") >= 3


def _odd_ones(word: str) -> bool:
    return word.count("1") % 2 == 1


def _tied_b(word: str) -> bool:
    prefixes = [word[:end] for end in range(1, len(word) + 1)]
    return any(one[-1] == "b" and one.count("a") <= one.count("b") for one in prefixes)


MIXED = "O (b & #<[a] <= #>[b])"
"""At some b there are at most as many as so far as there are bs from there on."""

PARITY = "!(#[#<[Y '1'] = #>['1']] >= 1)"
"""As section 4.5 has it."""

SIGNS = "i*n^-1, i^2*n^-2, i*(-1)^i*n^-2, (n + 1 + -1*i)*(-1)^i*n^-2, (-1)^i*n^-2"
CENTRE = "(i + -1/2 + [i - 1 = 0])"

COUNTS = (
    Instance(
        *("20 (a)", MIXED, "temperature", _late_bs),
        *((ONE, NOT_FIRST, LONGER, SIGN, SIGNS, f"{CENTRE}*n^-1"), ("1", "1/(n^2)", "1/(8*n)"), 3, 4),
    ),
    Instance(
        *("20 (b)", MIXED, "unbounded", _late_bs),
        (ONE, NOT_FIRST, LONGER, CENTRE, "i", "i^2", "i*(-1)^i", "(n + 1 + -1*i)*(-1)^i", SIGN),
        *(("1",), 3, 4),
    ),
)
PAST_COUNTS = (
    Instance(
        *("21", "prime(#<[a])", "decoder", _prime_as, (FIRST, "[prime(i)]", "i^-2", "i^-1")),
        *(("1", "1/(4*i^4)"), 2, 2),
    ),
)
PREDICATES = (
    Instance(
        *("20 (a)", "prime(#<[a])", "temperature", _prime_as, (FIRST, "[prime(i)]", "i*n^-2", "i^2*n^-2")),
        *(("1", "1/(4*n^3)"), 2, 2),
    ),
)
ODD_COUNT = (
    Instance(
        *("4.5", "odd(#<['1'])", "temperature", _odd_ones),
        (ONE, FIRST, NOT_FIRST, SIGN, "[odd(i)]", "i*n^-2", "i^2*n^-2"),
        *(("1", "1/(4*n)", "1/(4*n^3)"), 2, 3, "01"),
    ),
)
WITHOUT_PREDICATES = (
    Instance(
        *("4.5", PARITY, "temperature", _odd_ones),
        (ONE, FIRST, SIGN, NOT_FIRST, LONGER, SIGNS, f"{CENTRE}*n^-1"),
        *(("1", "1/(4*n)", "1/(n^2)"), 5, 7, "01"),
    ),
)
COUNTED_AND_SELECTED = (
    Instance(
        "22 (a)",
        "O (b & #<[a] <= #<[b])",
        "temperature",
        _tied_b,
        (ONE, FIRST, NOT_FIRST, SIGN, "i*n^-1"),
        ("1", "1/(4*n)", "1/(8*n)"),
        3,
        3,
    ),
    Instance(
        "23",
        "O (b & #<[a] <= #<[b])",
        "decoder",
        _tied_b,
        (ONE, FIRST, NOT_FIRST, SIGN, "i^-1"),
        ("1", "1/(4*i)", "1/(4*i^2)"),
        3,
        3,
    ),
)


def simulated() -> Iterator[Observed]:
    """Formulas, and a model that is given as functions: b*a*b* has 1 + n(n+1)/2 words of length n."""
    yield from seen_of_all((*BOTH, *LITERAL_BOTH))
    try:
        found = simulate(Surrounded(), count=200)
    except UnprovedError as error:
        yield equal("a model's network is", f"not proved: {error}", "PROVED")
        return
    yield equal("a model's automaton is", str(found.reading.status), "MEASURED")
    yield equal("its network is, for that", str(found.checked.status), "PROVED")
    words = ["".join(word) for n in range(1, 9) for word in product("ab", repeat=n)]
    accepted = sum(run.accepted is True for run in found.model.run(words, engine="numpy"))
    yield equal("words of 510 that it accepts", accepted, sum(1 + n * (n + 1) // 2 for n in range(1, 9)))


def normed() -> Iterator[Observed]:
    """`Y '1'` behind LayerNorm."""
    model = compiled("Y '1'", "01", layer_norm=LayerNorm())
    yield equal("normalised", model.network.normalisation is not None, True)
    yield proof_of(model)
    yield wrong_words(model, ".*1.")


def listed_networks() -> Iterator[Observed]:
    """That each theorem has its line in the table of networks, with the case that its name says."""
    cases = {(one.theorem.split()[0], one.regime) for one in INSTANCES}
    for number in ("12", "15", "17", "20"):
        both = sum((number, regime) in cases for regime in ("temperature", "unbounded"))
        yield equal(f"Theorem {number}: cases (a), (b)", both, 2)
    for number in ("13", "16", "18", "21", "23"):
        yield equal(f"Theorem {number}: decoders", (number, "decoder") in cases, True)
    for one in INSTANCES:
        yield from (seen.about(one.theorem) for seen in assumed_in(one, one.model()))


_SIGNED, _RETRIEVED = (ONE, SIGN, "i*n^-1"), (ONE, "i", SIGN, "i*n^-2", "i^2*n^-2")
_IN_N, _IN_I = ("1", "1/(8*n)"), ("1", "1/(4*i^2)")

LITERAL_SHIFTS = (
    _of_paper(SHIFTS[0], _SIGNED, _IN_N, 3, 3),
    _of_paper(SHIFTS[1], _SIGNED, _IN_N, 3, 3),
    _of_paper(SHIFTS[2], (ONE, SIGN, "i"), ("1",), 3, 3),
    _of_paper(SHIFTS[3], (ONE, SIGN, "n", "i"), ("1",), 3, 3),
)
LITERAL_PAST_SHIFTS = (
    _of_paper(PAST_SHIFTS[0], (ONE, SIGN, "i^-1"), _IN_I, 3, 3),
    _of_paper(PAST_SHIFTS[1], (ONE, SIGN, "i"), ("1",), 3, 3),
)
LITERAL_BOTH = (
    _of_paper(BOTH[0], _SIGNED, _IN_N, 4, 4),
    _of_paper(BOTH[1], (ONE, SIGN, "i"), ("1",), 4, 4),
)
LITERAL_BOTH_PAST = (replace(_of_paper(BOTH_PAST[0], (ONE, SIGN, "i^-1"), _IN_I, 4, 4), theorem="18 (a)"),)
_SUM = Instance("20 (a)", "#<[a] + 2*#>[b] >= 3", "temperature", _three_points, (), (), 0, 0)
LITERAL_COUNTS = (
    _of_paper(_SUM, _RETRIEVED, ("1", "1/(4*n^3)"), 8, 8),
    _of_paper(
        replace(_SUM, theorem="20 (b)", regime="unbounded"), (ONE, "i", SIGN, "n*i", "n*i^2"), ("1",), 8, 8
    ),
    _of_paper(PREDICATES[0], ("[prime(i)]", SIGN, "i*n^-2", "i^2*n^-2"), ("1", "1/(4*n^3)"), 4, 3),
)
LITERAL_PAST_COUNTS = (_of_paper(PAST_COUNTS[0], ("[prime(i)]", "i", "i^2", SIGN), ("1", "1/(4*i)"), 4, 3),)
LITERAL_COUNTED_AND_SELECTED = (
    _of_paper(COUNTED_AND_SELECTED[0], (*_RETRIEVED, "i*n^-1"), ("1", "1/(4*n^3)", "1/(8*n)"), 9, 8),
    _of_paper(COUNTED_AND_SELECTED[1], (ONE, "i", "i^2", SIGN, "i^-1"), ("1", "1/(4*i)", "1/(4*i^2)"), 9, 8),
)
"""The same theorems by the networks that their proofs build (`--construction paper`)."""

INSTANCES = (
    *(*SHIFTS, *PAST_SHIFTS, *NGRAM, *SELECTIONS, *PAST_SELECTIONS, *BOTH, *BOTH_PAST, *COUNTS, *PREDICATES),
    *(*PAST_COUNTS, *ODD_COUNT, *WITHOUT_PREDICATES, *COUNTED_AND_SELECTED),
    *(*LITERAL_SHIFTS, *LITERAL_PAST_SHIFTS, *LITERAL_BOTH, *LITERAL_BOTH_PAST, *LITERAL_COUNTS),
    *(*LITERAL_PAST_COUNTS, *LITERAL_COUNTED_AND_SELECTED),
)
"""All networks of this file: docs/papers.md lists them."""

STATEMENTS = (
    Statement(
        *(13, Paper.YANG, ("section-3.1-layer-norm", "layer-norm"), "Layer normalisation (section 3.1)"),
        "Any network also runs behind LayerNorm or RMSNorm, and is proved that way.",
        "Instead of coordinates and their opposites in every proof, the checker reads through the norm.",
        """attemper compile "Y '1'" --layer-norm -o normed""",
        normed,
    ),
    Statement(
        *(15, Paper.YANG, ("n-gram", "section-4.1-n-gram"), "An n-gram as a formula of Y (section 4.1)"),
        "`c & Y (b & Y a)` is true where a, b, c were the last three symbols; two layers.",
        "",
        'attemper compile "c & Y (b & Y a)" --regime temperature -o abc',
        partial(seen_of_all, NGRAM),
    ),
    Statement(
        *(
            17,
            Paper.YANG,
            ("theorem-12",),
            "Theorem 12: Y and X, (a) with temperatures, (b) with growing embeddings",
        ),
        "A Neighbour head reads position i - 1 (i + 1): parity tells it from i, and the tie-break from "
        "the others.",
        "One head for the paper's two, as the parity of i goes into the query; [i = 1], [i = n] are "
        "embeddings. `--construction paper` has the two heads, and Proposition 11.",
        'attemper compile "Y a" --alphabet ab --regime temperature -o y',
        partial(seen_of_all, (*SHIFTS, *LITERAL_SHIFTS)),
    ),
    Statement(
        *(18, Paper.YANG, ("theorem-13",), "Theorem 13: Y under the future mask, nothing depends on n"),
        "(c) is the regime `decoder`: 1/i and a temperature in i; (d) is `unbounded`, whose past formulas "
        "read i only.",
        "One head for two, the parity of i twice as a bit in (c), [i = 1] as an embedding; not so with "
        "`--construction paper`.",
        'attemper compile "Y a" --alphabet ab --regime decoder -o y',
        partial(seen_of_all, (*PAST_SHIFTS, *LITERAL_PAST_SHIFTS)),
    ),
    Statement(
        *(
            20,
            Paper.YANG,
            ("theorem-15",),
            "Theorem 15: S and U, (a) with temperatures, (b) with growing embeddings",
        ),
        "A Select head reads the rightmost (leftmost) position that is not blocked: Lemma 8.",
        "",
        'attemper compile "a S b" --regime temperature -o since',
        partial(seen_of_all, SELECTIONS),
    ),
    Statement(
        *(21, Paper.YANG, ("theorem-16",), "Theorem 16: S under the future mask, nothing depends on n"),
        "(a) is the regime `decoder`, (b) `unbounded`.",
        "The scores of (a) are -2 blocked - 1/j in place of 2 allowed - 1/j: the same softmax, better in "
        "floats.",
        'attemper compile "a S b" --regime decoder -o since',
        partial(seen_of_all, PAST_SELECTIONS),
    ),
    Statement(
        *(
            22,
            Paper.YANG,
            ("corollary-17",),
            "Corollary 17: any masked unique-hard transformer, by LTL[Y, X, S, U]",
        ),
        "Formulas with shifts and selections compile, and B-RASP programs; `simulate` takes a masked "
        "model that is given as functions.",
        "Such a model is read into an automaton, which is measured; that the network computes it is proved.",
        "attemper simulate attemper.models.hard.masked_examples:Surrounded -o between",
        simulated,
    ),
    Statement(
        *(23, Paper.YANG, ("corollary-18",), "Corollary 18: the same under the future mask"),
        "Past formulas in the regime `decoder`.",
        "",
        'attemper compile "O (b & Y a)" --regime decoder -o tri',
        partial(seen_of_all, (*BOTH_PAST, *LITERAL_BOTH_PAST)),
    ),
    Statement(
        *(
            26,
            Paper.YANG,
            ("parity-odd", "section-4.4-parity"),
            "PARITY by the predicate ODD of a count (section 4.4)",
        ),
        "`odd(#<['1'])`: the count is looked up, and the predicate is read there.",
        "",
        """attemper compile "odd(#<['1'])" --regime temperature -o parity""",
        partial(seen_of_all, ODD_COUNT),
    ),
    Statement(
        *(27, Paper.YANG, ("theorem-20",), "Theorem 20: comparisons and predicates of counts, (a), (b)"),
        "Counts are averages; sign heads compare them in two layers, Lookup heads read predicates at them.",
        "Comparisons use no retrieval of counts (three stages, two lookups for each count): an odd "
        "numerator is "
        "never 0, so its sign is read from (-1)^j. Fewer layers, and all embeddings of (a) are bounded; "
        "`--construction paper` has the three stages, and i as an embedding also in (a).",
        f'attemper compile "{MIXED}" --regime temperature -o counts',
        partial(seen_of_all, (*COUNTS, *PREDICATES, *LITERAL_COUNTS)),
    ),
    Statement(
        *(28, Paper.YANG, ("theorem-21",), "Theorem 21: counts to the left under the future mask"),
        "The regime `decoder`: embeddings 1/i, 1/i^2, temperature 1/(4 i^4) for lookups.",
        "As Theorem 20; the proof's network has i and i^2, and 1/(4 i).",
        'attemper compile "prime(#<[a])" --alphabet ab --regime decoder -o prime',
        partial(seen_of_all, (*PAST_COUNTS, *LITERAL_PAST_COUNTS)),
    ),
    Statement(
        *(
            29,
            Paper.YANG,
            ("section-4.5", "parity-without-predicates"),
            "PARITY without numerical predicates (4.5)",
        ),
        "The formula is typed as it is printed.",
        "The empty word has no position: `--empty` says its verdict.",
        f"""attemper compile "{PARITY}" --regime temperature -o parity""",
        partial(seen_of_all, WITHOUT_PREDICATES),
    ),
    Statement(
        *(
            30,
            Paper.YANG,
            ("corollary-22", "corollary-23"),
            "Corollaries 22, 23: counts and temporal operators together",
        ),
        "One formula may have all of them; each layer takes the margin that its clamps need.",
        "As Theorems 12 and 20.",
        'attemper compile "O (b & #<[a] <= #<[b])" --regime decoder -o both',
        partial(seen_of_all, (*COUNTED_AND_SELECTED, *LITERAL_COUNTED_AND_SELECTED)),
    ),
    Statement(
        *(
            47,
            Paper.YANG,
            ("figure-1",),
            "Figure 1: which theorem needs which temperatures and position embeddings",
        ),
        "docs/papers.md lists them, read from compiled networks, with layers and heads.",
        "The lists of embeddings are those of our networks; the paper's are lost in our copy of it.",
        "attemper show DIR",
        listed_networks,
    ),
)
