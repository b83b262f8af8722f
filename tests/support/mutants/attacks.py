"""Hand-built networks that fooled earlier float rules: right in real arithmetic, wrong in the format at once.

Each comes with the formula that it computes in real numbers, the claim that was called PROVED, and a word on
which some order of operations gives a wrong bit. `tests/checker/corpora/rejected` has them under their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from attemper.exact.closed_forms import ONE, ClosedForm, I, times
from attemper.exact.closed_forms import Test as Asked
from attemper.exact.predicates import Remainder
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    Construction,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Neighbour,
    Network,
    Select,
    Softmax,
)
from attemper.networks.wellformed import complaints

ODD, EVEN = Asked(Remainder(2, 1), 1, 0, 0), Asked(Remainder(2, 0), 1, 0, 0)
Part = tuple[int, int | Fraction]


@dataclass(frozen=True)
class Attack:
    """A network, its formula, the format and horizon that were claimed, and a word that goes wrong."""

    network: Network
    formula: str
    format: str
    horizon: int
    word: str


def form(*parts: Part) -> LinearForm:
    """A linear form of (coordinate, factor) pairs, coordinates ascending."""
    return tuple((coordinate, Fraction(factor)) for coordinate, factor in parts)


def hidden(parts: Sequence[Part], bias: int | Fraction, target: int, factor: int | Fraction = 1) -> Hidden:
    """factor * ReLU(parts + bias), added to one coordinate."""
    return Hidden(form(*parts), Fraction(bias), form((target, factor)))


def head(
    construction: Construction,
    coldness: ClosedForm,
    rows: Sequence[tuple[LinearForm, LinearForm]],
    values: Sequence[tuple[LinearForm, int]],
) -> Head:
    """A future-masked head of (query, key) rows and (value, target) pairs."""
    query, key = tuple(q for q, _ in rows), tuple(k for _, k in rows)
    forms, targets = tuple(value for value, _ in values), tuple(target for _, target in values)
    return Head(construction, Masking.FUTURE, Softmax(coldness), query, key, forms, targets)


def network_of(
    width: int,
    letters: Sequence[Sequence[Part]],
    positions: dict[int, ClosedForm],
    layers: Sequence[Layer],
    output: int,
    head_width: int = 4,
) -> Network:
    """A network over the first letters of the alphabet, read at the last position."""
    network = Network(
        alphabet=Alphabet(tuple("abc"[: len(letters)])),
        coordinates=tuple(f"c{k}" for k in range(width)),
        embedding=tuple(form(*parts) for parts in letters),
        positions=tuple(sorted(positions.items())),
        layers=tuple(layers),
        head_width=head_width,
        output=output,
        reads_first=False,
        accepts_empty=False,
    )
    assert not complaints(network)
    return network


def gates_on_one_coordinate(copies: int, size: int, format_name: str, horizon: int) -> Attack:
    """Gates that are exact one by one pass through more than the format holds."""
    output = 2 * copies
    rising = [hidden([(c, 1)], 0, output, size + 1) for c in range(copies)]
    falling = [hidden([(copies + c, 1)], 0, output, -size) for c in range(copies)]
    fewer = [hidden([(c, 1)], 0, output, -1) for c in range(copies - 1)]
    letters = [[(c, 1) for c in range(2 * copies)], []]
    network = network_of(output + 1, letters, {}, [Layer((), (*rising, *falling, *fewer), ())], output)
    return Attack(network, "a", format_name, horizon, "a")


def interleaved_pairs(count: int, first: int, second: int, format_name: str, horizon: int) -> Attack:
    """Pairs that round one bit each, all written to one coordinate; what the sum loses is then magnified."""
    total, difference, output = 3 + count, 4 + count, 5 + count
    heads = [
        head(Select(False, ((None, ()),)), ONE, [(form((1, 1)), form((2, 4 + k)))], [(form((0, 1)), 3 + k)])
        for k in range(count)
    ]
    pairs = [hidden([(3 + k, 1)], Fraction(-1, 4), total, 2) for k in range(count)]
    pairs += [hidden([(3 + k, 1)], Fraction(-3, 4), total, -2) for k in range(count)]
    less = [hidden([(total, 2**first)], 0, difference), hidden([(0, count * 2**first)], 0, difference, -1)]
    magnified = [hidden([(difference, sign * 2**second)], 0, output, -1) for sign in (1, -1)]
    last = [*magnified, hidden([(0, 1)], 0, output)]
    layers = [Layer(tuple(heads), tuple(pairs), ()), Layer((), tuple(less), ()), Layer((), tuple(last), ())]
    network = network_of(6 + count, [[(0, 1)], []], {1: ONE, 2: I}, layers, output)
    return Attack(network, "a", format_name, horizon, "abbabaaabbabab" * 5)


def noise_on_a_blocked_level(small: int, large: int, horizon: int, length: int) -> Attack:
    """Where nothing is allowed a blocked position wins, and its key is approximate: 1 + 2^large - 2^large."""
    slight = Fraction(1, 2**small)
    noisy = [
        hidden([(1, 1)], 0, 5, 2**large + 1 + slight),
        hidden([(1, 1)], 0, 5, -(2**large)),
        hidden([(1, 1)], 0, 5, -slight),
    ]
    rows = [(form((3, 1)), form((6, 4))), (form((8, 1)), form((0, -1), (5, -1)))]
    select = head(Select(False, ((None, ()),)), ONE, rows, [(form((1, 1)), 7)])
    layers = [Layer((), tuple(noisy), ()), Layer((select,), (), ())]
    places: dict[int, ClosedForm] = {3: ONE, 6: I, 8: times(8, I)}
    network = network_of(9, [[(0, 1)], [(1, 1)], [(2, 1)]], places, layers, 7)
    return Attack(network, "!O c & (c S b)", "float32", horizon, "ba" * (length // 2))


def shift_small_lead(weight: int, own: int, slight: Fraction, large: int, horizon: int) -> Attack:
    """The neighbour leads i by little, and by what two large rows differ in: each of them is rounded."""
    noisy = []
    for source, target in ((2, 5), (3, 6)):
        noisy += [
            hidden([(source, 1)], 0, target, 2**large + 2 * weight + slight),
            hidden([(source, 1)], 0, target, -(2**large)),
            hidden([(source, 1)], 0, target, -slight),
        ]
    rows = [
        (form((5, 1)), form((2, -1))),
        (form((6, 1)), form((3, -1))),
        (form((1, 2 * weight - own)), form((7, 1))),
    ]
    neighbour = head(Neighbour(False), ONE, rows, [(form((0, 1)), 8)])
    layers = [Layer((), tuple(noisy), ()), Layer((neighbour,), (), ())]
    network = network_of(9, [[(0, 1)], []], {1: ONE, 2: ODD, 3: EVEN, 7: I}, layers, 8)
    return Attack(network, "(first & a) | Y a", "float32", horizon, "abab")


def shift_rounded_sum(format_name: str, log_step: int, own: Fraction, horizon: int, length: int) -> Attack:
    """A row is 0 between positions of different parity; at i's own the sum with the tie-break is rounded."""
    step = 2**log_step
    rows = [
        (form((2, step + own)), form((2, -1))),
        (form((3, step + own)), form((3, -1))),
        (form((1, step)), form((4, 1))),
    ]
    neighbour = head(Neighbour(False), ONE, rows, [(form((0, 1)), 5)])
    places: dict[int, ClosedForm] = {1: ONE, 2: ODD, 3: EVEN, 4: I}
    network = network_of(6, [[(0, 1)], []], places, [Layer((neighbour,), (), ())], 5)
    return Attack(network, "(first & a) | Y a", format_name, horizon, "ba" * (length // 2))


ATTACKS: dict[str, Callable[[], Attack]] = {
    "gates_on_one_coordinate": lambda: gates_on_one_coordinate(17, 2**20, "float32", 2_097_151),
    "gates_on_one_coordinate_more": lambda: gates_on_one_coordinate(33, 2**19, "float32", 1),
    "interleaved_pairs_float32": lambda: interleaved_pairs(16, 8, 20, "float32", 870_869),
    "interleaved_pairs_float64": lambda: interleaved_pairs(16, 8, 39, "float64", 2**40),
    "interleaved_pairs_fewer": lambda: interleaved_pairs(8, 8, 20, "float32", 70),
    "noise_on_a_blocked_level": lambda: noise_on_a_blocked_level(9, 16, 251_180, 400),
    "noise_on_a_blocked_level_louder": lambda: noise_on_a_blocked_level(8, 17, 200, 200),
    "shift_small_lead": lambda: shift_small_lead(2**16, 16, Fraction(127, 8), 29, 83),
    "shift_small_lead_wider": lambda: shift_small_lead(2**16, 32, Fraction(127, 4), 30, 4),
    "shift_rounded_sum": lambda: shift_rounded_sum("float32", 20, Fraction(5, 4), 112_959, 32),
    "shift_rounded_sum_earlier": lambda: shift_rounded_sum("float32", 21, Fraction(5, 4), 8, 8),
}
"""Each attack under its name, and a variant of each with other numbers."""
