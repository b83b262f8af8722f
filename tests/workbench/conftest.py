"""What the tests of the workbench share: most of them check in their own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cli.checked_here import checked_here

ABOUT_PROCESSES = {"test_time_limit", "test_interrupts", "test_checking", "test_user_modules"}
"""The files whose tests are about the process that checks, its limits, or what it imports."""


@pytest.fixture(autouse=True)
def _checks(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.path.stem in ABOUT_PROCESSES:
        yield
        return
    with checked_here():
        yield
