"""Random networks of one head whose rows read letters, closed forms and their sums: not all fit a rule."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from attemper.exact.closed_forms import ONE, SIGN, ClosedForm, I, N, Power, Test, number, plus, times
from attemper.exact.predicates import NonNegative
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Layer, LinearForm, Masking, Network, Select, Softmax

_TEMPERATURES = (ONE, number(Fraction(8)), N, I, Power(I, 2), Power(N, 2), plus(I, N), plus(N, ONE))
Part = tuple[int, Fraction | int]

_PUSHES = (16, 64, 128, 256, -128)
_WEIGHTS: tuple[Fraction | int, ...] = (1, 2, 3, 4, 8, -1, -2, -4, 16, Fraction(1, 2))


def plain_head(random: Random) -> Network:
    """A network whose one head is said to be Select."""
    letters = random.choice([("a",), ("a", "b"), ("a", "b", "c")])
    forms = [ONE, I, Power(I, -1), *(_form(random) for _ in range(random.randrange(4)))]
    symbols = range(len(forms), len(forms) + len(letters))
    target = symbols.stop
    rows = [_tie(random, len(forms))]
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        query = (
            _push(random, forms)
            if len(rows) == 1
            else tuple((c, f * random.choice([1, -1, 2])) for c, f in rows[1][0])
        )
        rows.append((query, _bits(random, forms, symbols)))
    queries, keys = zip(*rows, strict=True)
    weighting = Softmax(random.choice(_TEMPERATURES))
    masking = random.choice(list(Masking))
    head = Head(
        Select(False, ((None, ()),)), masking, weighting, queries, keys, (_row((symbols[0], 1)),), (target,)
    )
    return Network(
        alphabet=Alphabet(letters),
        coordinates=tuple(f"x{c}" for c in range(target + 1)),
        embedding=tuple(_row((c, 1)) for c in symbols),
        positions=tuple(enumerate(forms)),
        layers=(Layer((head,), (), ()),),
        head_width=4,
        output=target,
        reads_first=False,
        accepts_empty=False,
    )


def _form(random: Random) -> ClosedForm:
    shift = random.randrange(-3, 4)
    return random.choice(
        [
            N,
            SIGN,
            Test(NonNegative(), random.choice([1, -1]), 0, shift),
            Test(NonNegative(), 1, -1, random.choice([0, 1, -1])),
            plus(I, number(Fraction(shift))),
            plus(Power(I, 2), times(number(Fraction(random.choice([1, -1, 2]))), N)),
            Power(I, random.choice([2, -2, 3])),
            Power(N, random.choice([-1, 2])),
            times(N, Power(I, -1)),
        ]
    )


def _tie(random: Random, forms: int) -> tuple[LinearForm, LinearForm]:
    query: list[Part] = [(random.choice([0] * 7 + list(range(1, forms))), random.choice([1, 1, *_WEIGHTS]))]
    key: list[Part] = [(random.choice([1, 1, 1, 2]), random.choice([4, 8, -4, 2]))]
    for parts in (query, key):
        if random.random() < 0.1:
            parts.append((random.randrange(forms), random.choice(_WEIGHTS)))
    return _row(*query) or _row((0, 1)), _row(*key) or _row((1, 4))


def _push(random: Random, forms: list[ClosedForm]) -> LinearForm:
    lengths = [c for c, form in enumerate(forms) if form == N]
    parts: list[Part] = [
        (random.choice([0, 1, 1, 1, 1, *lengths * 4, *range(len(forms))]), random.choice(_PUSHES))
    ]
    if random.random() < 0.3:
        parts.append((random.randrange(len(forms)), random.choice(_WEIGHTS)))
    return _row(*parts) or _row((1, 16))


def _bits(random: Random, forms: list[ClosedForm], symbols: range) -> LinearForm:
    bits = [c for c, form in enumerate(forms) if form == SIGN or isinstance(form, Test)]
    parts = [
        (random.choice([*symbols, *symbols, *bits, 0]), random.choice([1, -1, 2, -2]))
        for _ in range(random.choice([1, 1, 2, 3]))
    ]
    return _row(*parts) or _row((symbols[0], 1))


def _row(*parts: Part) -> LinearForm:
    total: dict[int, Fraction] = {}
    for c, weight in parts:
        total[c] = total.get(c, Fraction(0)) + weight
    return tuple((c, weight) for c, weight in sorted(total.items()) if weight)
