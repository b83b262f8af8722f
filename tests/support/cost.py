"""What tests cost: CPU seconds of each item, its children counted, and their sum.

With `--cost=FILE` there is a line for each item in FILE, as soon as it ends, and the dearest functions are
printed. (With a blank instead of `=` pytest takes the file for one of tests.) In the quick suite an item that
costs more than `DEAREST` fails, with the remedy in its message: so the suite stays quick.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

DEAREST = 8.0
"""CPU seconds that one item of the quick suite may cost."""

SHOWN = 30
"""How many functions are printed."""


def spent() -> float:
    """CPU seconds of this process so far, and of its children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class Cost:
    """A plugin for pytest: reports bring the seconds of their phase along, from whichever worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._quick = config.getoption("--suite") == "quick"
        is_worker = hasattr(config, "workerinput")
        self._file: Path | None = None if is_worker else config.getoption("--cost")
        self._items: Counter[str] = Counter()
        self._workers = 0.0
        self._last = spent()
        if self._file is not None:
            self._file.write_text("", encoding="utf-8")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin to count: what came before was collection, or waiting for work."""
        self._items[nodeid] = 0
        self._last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add up what the item has cost so far; a hunt of mutants begins none."""
        report = yield
        if item.nodeid not in self._items:
            return report
        now = spent()
        self._items[item.nodeid] += now - self._last
        self._last = now
        cost = self._items[item.nodeid]
        if self._quick and report.when == "teardown" and report.passed and cost > DEAREST:
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} took {cost:.1f} CPU seconds, and the quick suite allows {DEAREST:.0f}: take "
                "fewer cases (the mark sweep, the fixture few), or mark it slow (CONTRIBUTING.md)"
            )
        report.user_properties = [*report.user_properties, ("cpu", cost)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what an ended item cost, wherever it ran."""
        properties = dict(report.user_properties)
        if report.when != "teardown" or "cpu" not in properties:
            return
        self._items[report.nodeid] = properties["cpu"]
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(f"{self._items[report.nodeid]:.3f}\t{report.nodeid}\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say to the process that started this worker what all of it cost, collection included."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["cpu"] = spent()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker cost; one that died says nothing."""
        self._workers += getattr(node, "workeroutput", {}).get("cpu", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sum, and the functions that cost the most."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        whole = self._workers + (own.ru_utime + own.ru_stime if self._workers else spent())
        terminalreporter.write_line(
            f"{whole:.0f} CPU seconds, {sum(self._items.values()):.0f} of them in {len(self._items)} tests"
        )
        if self._file is None:
            return
        functions: Counter[str] = Counter()
        for name, cost in self._items.items():
            functions[name.split("[", 1)[0]] += cost
        for name, cost in functions.most_common(SHOWN):
            terminalreporter.write_line(f"{cost:8.1f} {name}")
