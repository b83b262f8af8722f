"""What the tests of the checker share: balls fine enough to see every term of a formula."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attemper.checker.rounding import network as rounding
from attemper.exact.balls import precision
from tests.support.judges.rounding import (
    BITS,
)


@pytest.fixture
def fine_balls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the checker compute with so many bits that every term of a formula can be seen."""
    monkeypatch.setattr(rounding, "PRECISION", BITS)
    with precision(BITS):
        yield
