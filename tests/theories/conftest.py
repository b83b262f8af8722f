"""What the tests of theories share: like the workbench's, they check in their own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cli.checked_here import checked_here


@pytest.fixture(autouse=True)
def _checks() -> Iterator[None]:
    with checked_here():
        yield
