"""The files that checker, compiler and meaning share, against readers that share nothing with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import attemper
from tests import ROOT
from tests.support.judges.second_readings import COMPARED
from tests.support.suites import Few

Compare = Callable[[int, Random], None]


@pytest.mark.parametrize("compare", COMPARED)
def test_two_readers_agree(compare: Compare, few: Few) -> None:
    compare(len(few(range(3_000), 200)), Random(1))


@pytest.mark.slow
@pytest.mark.parametrize("compare", COMPARED)
def test_two_readers_agree_100_000_times(compare: Compare) -> None:
    compare(100_000, Random(2))


PLANTED = {
    "a remainder of less": (
        "exact/predicates.py",
        "value % modulus == remainder",
        "value % modulus <= remainder",
    ),
    "0 is negative": ("exact/predicates.py", "return value >= 0\n", "return value > 0\n"),
    "squares of less": (
        "exact/predicates.py",
        "isqrt(value) ** 2 == value",
        "isqrt(value) ** 2 >= value - 1",
    ),
    "signs exchanged": ("exact/closed_forms.py", "-1 if position % 2 else 1", "1 if position % 2 else -1"),
    "a digit less": ("exact/closed_forms.py", ".numerator.bit_length()", ".numerator.bit_length() - 1"),
    "a test of the length": (
        "exact/closed_forms.py",
        "per_position * position + per_length * length + shift",
        "per_position * position + per_length * position + shift",
    ),
    "weak until is strong": (
        "languages/temporal/core.py",
        "_not(Binary(BinaryOperator.STRONG_RELEASE, _not(f), _not(g)))",
        "Binary(BinaryOperator.UNTIL, f, g)",
    ),
    "weak yesterday is strong": (
        "languages/temporal/core.py",
        "BinaryOperator.OR, Unary(UnaryOperator.YESTERDAY, f), First()",
        "BinaryOperator.OR, Unary(UnaryOperator.YESTERDAY, f), Constant(False)",
    ),
    "terms are subtracted the other way": (
        "languages/temporal/core.py",
        "ComparisonOperator.LESS: lambda d: Comparison(ComparisonOperator.AT_LEAST, subtract(ZERO, d), ONE)",
        "ComparisonOperator.LESS: lambda d: Comparison(ComparisonOperator.AT_LEAST, subtract(ZERO, d), ZERO)",
    ),
    "numbers of twice the size": ("exact/codec.py", "number <= self.most)", "number <= 2 * self.most)"),
    "true is taken for 1": (
        "exact/codec.py",
        "type(data) is not int or not limits",
        "not isinstance(data, int) or not limits",
    ),
    "a number is taken for a text": (
        "exact/codec.py",
        "if type(data) is not kind:",
        "if type(data) not in {kind, int}:",
    ),
}
"""Errors in shared files: the file, what stands there, and what stands there then."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", PLANTED)
def test_an_error_in_a_shared_file_is_found_by_the_second_reader_alone(name: str, tmp_path: Path) -> None:
    file, old, new = PLANTED[name]
    package = tmp_path / "attemper"
    shutil.copytree(Path(attemper.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    text = (package / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, text.count(old)
    (package / file).write_text(text.replace(old, new), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.judges.second_readings", "3000"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "AssertionError" in ended.stderr, ended.stderr[-2000:]
