"""Networks that fooled the checker: finite numbers whose sums are none, among words or along a path."""

from __future__ import annotations

import numpy as np

from attemper.checker.verdict import Status
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.models.arrays import Floats
from attemper.models.soft.weights import Encoder, EncoderLayer, Mask, Periodic
from attemper.theories.judging.certificate import (
    CellExtremes,
    ExactExtremes,
    Judgement,
    Reading,
    WrongWord,
)
from attemper.theories.judging.check.claims import check_judgement


def matrix(rows: int, columns: int, **entries: float) -> Floats:
    """Zeros, and some entries: `r1c2=3.0` is row 1, column 2."""
    found = np.zeros((rows, columns))
    for name, value in entries.items():
        row, column = name.removeprefix("r").split("c")
        found[int(row), int(column)] = value
    return found


def about(encoder: Encoder, dfa: Dfa, reading: Reading, evidence: ExactExtremes | WrongWord) -> Status:
    return check_judgement(Judgement(encoder.digest, "", dfa, reading, None, evidence), encoder).status


def test_a_word_that_gives_no_number_hides_no_other_one() -> None:
    """A head reads how far the word begins with b; a unit punishes it, another one overflows on "bb"."""
    width, places = 7, 9
    table = matrix(places, width, r0c1=1.0, r8c3=1.0, r1c6=1.0)
    near = 1 - np.log(2) * np.sqrt(width) / 1000
    layer = EncoderLayer(
        matrix(3 * width, width, r0c2=1000.0, r7c1=1.0, r7c6=near, r14c0=1.0),
        np.zeros(3 * width),
        matrix(width, width, r4c0=1.0),
        np.zeros(width),
        matrix(2, width, r0c4=1e200, r0c3=1e201, r1c4=100.0, r1c3=1000.0),
        np.array([-1.09e201, -1050.0]),
        matrix(width, 2, r5c0=-1e200, r5c1=1.0),
        np.zeros(width),
        None,
        1,
        norm_first=False,
    )
    embedding = matrix(3, width, r1c0=1.0, r0c2=1.0, r1c2=1.0, r2c2=1.0)
    rest = Periodic(table), Mask.UNMASKED, (layer,), matrix(1, width, r0c5=-1.0), np.array([1.0]), ("o",)
    encoder = Encoder(("a", "b", "$"), "$", embedding, *rest)
    every = Dfa(Alphabet(("a", "b")), ((0, 0),), 0, frozenset({0}))
    axis = ((1.0,) + (0.0,) * (width - 1),)
    evidence = ExactExtremes(8, (0, 0), (axis,), ((),), tuple(CellExtremes(0, ()) for _ in range(9)))
    assert about(encoder, every, Reading.VERDICT, evidence) is Status.UNKNOWN
    wrong = WrongWord(tuple("baaaaaaa"), 0)
    assert about(encoder, every, Reading.VERDICT, wrong) is Status.REFUTED


def test_a_sum_below_all_numbers_is_not_forgotten_that_it_rises() -> None:
    """Values of -1e308 for a and 1e308 for b: of aabbb a head reads 1e308 / 6."""
    width = 9
    table = np.zeros((6, width))
    table[:, :6] = np.eye(6)
    layer = EncoderLayer(
        matrix(3 * width, width, r18c6=1e308),
        np.zeros(3 * width),
        matrix(width, width, r7c0=1e-300),
        np.zeros(width),
        matrix(1, width, r0c7=1.0),
        np.zeros(1),
        matrix(width, 1, r8c0=1.0),
        np.zeros(width),
        None,
        1,
        norm_first=False,
    )
    readout = np.zeros((3, width))
    readout[:, :6] = [[1, 1, -1, -1, -1, -1], [-1, -1, 1, 1, 1, -1], [-1, -1, -1, -1, -1, 1]]
    readout[2, 8] = -1
    embedding = matrix(3, width, r0c6=-1.0, r1c6=1.0)
    rest = Periodic(table), Mask.FUTURE_MASKED, (layer,), readout, np.zeros(3), ("a", "b", "END")
    encoder = Encoder(("a", "b", "$"), None, embedding, *rest)
    one_word = parse_regex("aabbb", "ab")
    axis = ((1.0,) + (0.0,) * (width - 1),)
    cells = tuple(CellExtremes(1, ((1e295, 0.75e308),)) for _ in range(6))
    evidence = ExactExtremes(5, (0, 0), (axis,), ((),), cells)
    assert about(encoder, one_word, Reading.NEXT, evidence) is Status.UNKNOWN
    assert about(encoder, one_word, Reading.NEXT, WrongWord(tuple("aabbb"), 0)) is Status.REFUTED


def test_a_language_without_words_and_many_offsets_ends_at_once() -> None:
    encoder = Encoder(
        ("a", "$"),
        None,
        np.zeros((2, 1)),
        Periodic(np.zeros((1, 1))),
        Mask.FUTURE_MASKED,
        (
            EncoderLayer(
                np.zeros((3, 1)),
                np.zeros(3),
                np.zeros((1, 1)),
                np.zeros(1),
                np.zeros((1, 1)),
                np.zeros(1),
                np.zeros((1, 1)),
                np.zeros(1),
                None,
                1,
                norm_first=False,
            ),
        ),
        np.zeros((2, 1)),
        np.ones(2),
        ("a", "END"),
    )
    axis, huge = (((1.0,),),), (0, 10**6)
    none = Dfa(Alphabet(("a",)), ((0,),), 0, frozenset())
    assert about(encoder, none, Reading.NEXT, ExactExtremes(10**6, huge, axis, ((),), ())) is Status.MALFORMED
    empty = Dfa(Alphabet(("a",)), ((1,), (1,)), 0, frozenset({0}))
    cells = (CellExtremes(1, ((1.0, 1.0),)),) * 3
    evidence = ExactExtremes(10**6, huge, axis, ((),), cells)
    assert about(encoder, empty, Reading.NEXT, evidence) is Status.MALFORMED
