"""`verify` finds wrong networks, also those that are wrong only at the formula's own numbers."""

from __future__ import annotations

import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.workbench.model import Model
from attemper.workbench.verify import Plan, longest_exhaustive, verify

DEFAULT = Plan(up_to=8, count=200, longest=512)


def mistaken(formula: str, computed: str, alphabet: str = "ab") -> Model:
    """A model that claims one formula and computes another."""
    claimed = attemper.compile(formula, alphabet, at="last")
    network = attemper.compile(computed, alphabet, at="last").network
    return Model(network, claimed.language, claimed.regime)


@pytest.mark.parametrize(
    ("formula", "computed"),
    [
        ("2*#[a] == 3*#[b] & len >= 9", "false"),
        ("#[a] == 100", "false"),
        ("len == 511", "false"),
        ("#<[a] % 7 = 5 & len > 20", "false"),
        ("#>[a] = 37", "false"),
        ("#[a] >= 250", "#[a] >= 251"),
        ("#<[a] >= #<[b]", "#<[a] > #<[b]"),
        ("O (a & Y b)", "O (a & Y Y b)"),
        ("last & a", "a"),
    ],
)
def test_a_wrong_network_is_found(formula: str, computed: str) -> None:
    result = verify(mistaken(formula, computed), DEFAULT)
    assert result.disagreement is not None
    assert result.disagreement.expected is not result.disagreement.got


@pytest.mark.parametrize("formula", ["2*#[a] == 3*#[b] & len >= 9", "#<[a] % 7 = 5", "G (a -> F b)"])
def test_a_right_network_is_not_accused(formula: str) -> None:
    result = verify(attemper.compile(formula, "ab", at="first"), Plan(6, 60, 200))
    assert result.disagreement is None
    assert result.words == 2 + 4 + 8 + 16 + 32 + 64 + 60
    assert result.smallest_margin > 0


def test_large_alphabets_get_shorter_exhaustive_words() -> None:
    letters = [f"x{k}" for k in range(60)]
    model = attemper.compile("O x1 & #<[x2] >= 3", letters)
    assert longest_exhaustive(model) == 2
    assert verify(model, Plan(1, 30, 300)).disagreement is None
    with pytest.raises(UnsupportedError, match="use up_to=3 or less"):
        verify(model, Plan(8, 0, 1))


def test_progress_counts_every_word() -> None:
    done: list[int] = []
    result = verify(attemper.compile("O a", "ab"), Plan(5, 21, 50), done.append)
    assert sum(done) == result.words
