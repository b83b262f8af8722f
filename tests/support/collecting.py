"""What keeps collecting cheap: every worker collects all tests, hundreds of files and thousands of items."""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


class Collecting:
    """A plugin for pytest. It is no part of a conftest.py, as it is about `src/` as well."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Look for examples in those modules only that have any."""
        collectors = yield
        if file_path.suffix != ".py" or ">>>" in file_path.read_text(encoding="utf-8"):
            return collectors
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Leave what was collected out of all later searches for garbage: it stays, most of the heap."""
        gc.disable()
        collected = yield
        gc.freeze()
        gc.enable()
        return collected
