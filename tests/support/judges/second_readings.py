"""The small files that checker, compiler and the meaning of languages share, against second readers.

`python -m tests.support.judges.second_readings COUNT` compares closed forms, predicates, formulas by the core
and the shapes of files with readers in `tests/support/oracles` that share nothing with them. It fails at the
first difference. Comparing the users of such a file with each other cannot see an error in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np

import attemper
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import CERTIFIED
from attemper.exact import closed_forms
from attemper.exact.closed_forms import FORM, ClosedForm, evaluate
from attemper.exact.codec import CodecError
from attemper.exact.predicates import PREDICATE, Named, NonNegative, Predicate, Remainder, Zero, holds
from attemper.files import parse_json
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Word
from tests.support.drawn.samples import FormulaSampler
from tests.support.mutants.json_data import mutant
from tests.support.oracles.grammar import grammars
from tests.support.oracles.raw_files import asked, exact_form
from tests.support.oracles.raw_forward import batch_of
from tests.support.oracles.raw_truth import truth as second_truth

Bits = tuple[bool, ...]

LETTERS = "ab"
WORDS = [word for length in range(1, 6) for word in product(range(2), repeat=length)]
BATCH = batch_of(WORDS)


# Predicates and closed forms -------------------------------------------------------------------------


def predicate(rng: Random) -> Predicate:
    """Any predicate."""
    modulus = rng.randint(1, 7)
    names = map(Named, ("even", "odd", "prime", "square"))
    return rng.choice((Remainder(modulus, rng.randrange(modulus)), Zero(), NonNegative(), *names))


def compare_predicates(count: int, rng: Random) -> None:
    """Whether each holds of small numbers, large ones, and those beside squares."""
    for _ in range(count):
        own = predicate(rng)
        value = rng.choice(
            (rng.randint(-9, 60), rng.randint(0, 300) ** 2 + rng.randint(-1, 1), rng.randint(0, 10**6))
        )
        second = bool(asked(PREDICATE.encode(own), np.array(value)).item())
        assert holds(own, value) == second, (own, value)


def form(rng: Random, depth: int = 3) -> ClosedForm:
    """Any closed form that files may have, nested so deeply."""
    if not depth or rng.random() < 0.3:
        test = closed_forms.Test(predicate(rng), rng.randint(-2, 2), rng.randint(-2, 2), rng.randint(-3, 3))
        number = closed_forms.number(Fraction(rng.randint(-5, 5), rng.randint(1, 4)))
        return rng.choice((closed_forms.I, closed_forms.N, closed_forms.SIGN, number, test))
    parts = tuple(form(rng, depth - 1) for _ in range(rng.randint(0, 3)))
    match rng.randrange(4):
        case 0:
            return closed_forms.Sum(parts)
        case 1:
            return closed_forms.Product(parts)
        case 2:
            return closed_forms.Power(form(rng, depth - 1), rng.randint(0, 3))
        case _:
            whole = rng.choice((closed_forms.I, closed_forms.N, closed_forms.plus(closed_forms.I, 3)))
            return rng.choice(
                (closed_forms.Digits(whole), closed_forms.over(closed_forms.N, rng.randint(1, 3)))
            )


def compare_forms(count: int, rng: Random) -> None:
    """The value of each at some position of a word; and that it reads back."""
    for _ in range(count):
        own, n = form(rng), rng.randint(1, 12)
        i, data = rng.randint(1, n), FORM.encode(own)
        assert FORM.read(data) == own, data
        assert evaluate(own, i, n) == exact_form(data, i, n), (data, i, n)


# Formulas --------------------------------------------------------------------------------------------


def compare_formulas(count: int, rng: Random) -> None:
    """The truth on all short words, by meaning and by the core, with the second reader's of the file."""
    for _ in range(count):
        own = FormulaSampler(rng, tuple(LETTERS)).formula(3)
        claimed = Certificate("ab", TemporalLanguage(own, At.LAST, accepts_empty=False), (RealClaim(),))
        data = CERTIFIED.encode(claimed)
        assert CERTIFIED.decode(data) == claimed, data
        second = second_truth(data["language"], LETTERS, BATCH)  # type: ignore[arg-type]
        for row, numbers in rng.sample(list(enumerate(WORDS)), 4):
            word = tuple(LETTERS[k] for k in numbers)
            wanted = tuple(map(bool, second[row, : len(word)]))
            assert truth(own, word) == wanted, (data, word)
            assert by_core(own, word) == wanted, (data, word)


def by_core(own: syntax.Formula, word: Word) -> Bits:
    """The truth at each position, where only operators of the core are known."""
    return values_by_core(own, lambda part, known: _of_core(part, known, word))[own]


def _of_core(part: syntax.Formula, known: Mapping[syntax.Formula, Bits], word: Word) -> Bits:
    n = len(word)
    match part:
        case syntax.Symbol(name):
            return tuple(symbol == name for symbol in word)
        case syntax.Constant(value):
            return (value,) * n
        case syntax.First():
            return tuple(i == 0 for i in range(n))
        case syntax.Last():
            return tuple(i == n - 1 for i in range(n))
        case syntax.Unary(operator, f):
            own = known[f]
            shifted = {"!": [not bit for bit in own], "Y": [False, *own[:-1]], "X": [*own[1:], False]}
            return tuple(shifted[str(operator)])
        case syntax.Binary(operator, f, g):
            return _GATES[str(operator)](known[f], known[g])
        case syntax.Comparison(operator, left, right):
            pairs = zip(_values(left, known, n), _values(right, known, n), strict=True)
            return tuple(a >= b if str(operator) == ">=" else _equal(operator, a, b) for a, b in pairs)
        case syntax.Numerical(predicate, value):
            return tuple(holds(predicate, number) for number in _values(value, known, n))
    raise AssertionError(part)


def _equal(operator: syntax.ComparisonOperator, left: int, right: int) -> bool:
    assert str(operator) == "==", operator
    return left == right


def _since(left: Bits, right: Bits) -> Bits:
    found, holds_now = [], False
    for f, g in zip(left, right, strict=True):
        holds_now = g or (f and holds_now)
        found.append(holds_now)
    return tuple(found)


_GATES: Mapping[str, Callable[[Bits, Bits], Bits]] = {
    "&": lambda f, g: tuple(a and b for a, b in zip(f, g, strict=True)),
    "|": lambda f, g: tuple(a or b for a, b in zip(f, g, strict=True)),
    "xor": lambda f, g: tuple(a != b for a, b in zip(f, g, strict=True)),
    "S": _since,
    "U": lambda f, g: _since(f[::-1], g[::-1])[::-1],
}


def _values(own: syntax.Term, known: Mapping[syntax.Formula, Bits], n: int) -> list[int]:
    total = [own.constant] * n
    for factor, atom in own.parts:
        for i in range(n):
            total[i] += factor * _atom(atom, known, i, n)
    return total


def _atom(atom: syntax.TermAtom, known: Mapping[syntax.Formula, Bits], i: int, n: int) -> int:
    match atom:
        case syntax.PositionAtom():
            return i + 1
        case syntax.LengthAtom():
            return n
        case syntax.CountAtom(side, counted):
            bits = known[counted]
            return sum({"#<": bits[: i + 1], "#>": bits[i:], "#": bits}[str(side)])


# The codec -------------------------------------------------------------------------------------------


def compare_shapes(count: int, rng: Random) -> None:
    """Certificates of formulas with one thing changed: what is read has the shape that FORMAT.md says."""
    page = Path(attemper.__file__).parent / "certificates" / "FORMAT.md"
    grammar = grammars(page)[CERTIFIED.format]
    for _ in range(count):
        language = TemporalLanguage(
            FormulaSampler(rng, tuple(LETTERS)).formula(3), At.LAST, accepts_empty=False
        )
        text = mutant(CERTIFIED.encode(Certificate("ab", language, (RealClaim(),))), rng)
        try:
            data = parse_json(text.encode())
        except (ValueError, RecursionError):
            continue
        message, fits = "", grammar.fits(data)
        try:
            assert CERTIFIED.encode(CERTIFIED.decode(data)) == data, text
        except CodecError as error:
            message = str(error)
        assert fits or message, text
        assert not fits or "expected one of" not in message, (text, message)


COMPARED = (compare_predicates, compare_forms, compare_formulas, compare_shapes)


def main() -> None:
    """Compare so many of each."""
    for compare in COMPARED:
        compare(int(sys.argv[1]), Random(compare.__name__))


if __name__ == "__main__":
    main()
