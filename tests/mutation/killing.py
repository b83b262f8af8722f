"""Which tests kill which mutants: pytest collects all tests once, then each mutant gets a fork of it.

First every test runs by itself, to see how long it takes and which lines of the checker it passes. A mutant
meets only tests that pass its statement: first those that killed others in the same function, then the quick
ones. A test that takes many times longer than it did has killed the mutant, too.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import os
import pickle
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.mutants import SOURCE, Mutant, function_of, path_of
from tests.mutation.transplant import NotImportedError, transplant

TESTS = Path(__file__).parents[1]
CACHE = Path(os.environ.get("ATTEMPER_MUTATION", Path(__file__).parents[2] / ".mutation"))

PATIENCE = 20
"""A test may take that many times as long as it did ..."""

GRACE = 2.0
"""... and that many seconds more."""

QUICK = 0.2
"""Of a test that takes longer it is noted only which functions it passes ..."""

SLOW = 2.0
"""... and one that takes longer than this is not used."""

SPARE = 4 << 30
"""Bytes that a mutant may take beyond what the process has."""

Item = TypeVar("Item")
Found = TypeVar("Found")

WORKERS = len(os.sched_getaffinity(0))

Line = tuple[str, int]
"""A module of the library and a line."""


@dataclass(frozen=True)
class Seen:
    """A test that passes: its seconds, and the lines of the mutated modules that it passes."""

    seconds: float
    lines: frozenset[Line]


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: the test that killed it, and how; no test if it survived."""

    killer: str | None
    how: str
    seconds: float


@dataclass
class Hunt:
    """A pytest plugin in place of its loop over the tests.

    A module of tests may have a function `prepare`: what it computes and keeps, all mutants share. The
    mutants are of some of the `modules`, and of each test it is known which lines of these it passes.
    """

    mutants: Sequence[Mutant]
    modules: Sequence[str]
    budget: float
    report: Callable[[Mutant, Fate], None]
    cache: Cache
    fates: dict[str, Fate] = field(default_factory=dict)
    kills: dict[str, Counter[str]] = field(default_factory=dict)
    """By function, how many mutants each test has killed."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """A property that fails is not made smaller: that it fails is enough."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", max_examples=60, deadline=None, derandomize=True, phases=phases)
        os.environ["ATTEMPER_HYPOTHESIS"] = "mutation"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running the tests, hunt all mutants with them."""
        if session.testsfailed:
            raise pytest.UsageError("not all tests can be collected")
        items = {item.nodeid: item for item in session.items}
        for module in {item.getparent(pytest.Module).obj for item in items.values()}:
            getattr(module, "prepare", lambda: None)()
        gc.collect()
        gc.freeze()  # children would else copy all pages as they look for garbage
        seen, hunts = _baseline(items, self.modules, self.cache.suite), self.mutants
        for mutant, fate in zip(
            hunts, _side_by_side(lambda m: self._hunted(m, items, seen), hunts), strict=True
        ):
            if fate.killer is not None:
                self.cache.put(mutant, fate)
            self.fates[mutant.name] = fate
            self.report(mutant, fate)
        return True

    def _count(self, name: str, fate: Fate) -> None:
        if fate.killer is not None:
            self.kills.setdefault(function_of(name), Counter())[fate.killer] += 1

    def _hunted(self, mutant: Mutant, items: dict[str, pytest.Item], seen: dict[str, Seen]) -> Fate:
        lines = _lines_of(mutant, self.modules)
        passing = [name for name, test in seen.items() if test.lines & lines or not lines]
        before = self.kills.get(mutant.function, Counter())
        passing.sort(key=lambda name: seen[name].seconds)
        rank = _ranks(passing)
        # Those that have killed here; then the quickest case of every test, the next quickest, and so on.
        passing.sort(key=lambda name: (-before[name] / (0.05 + seen[name].seconds), rank[name]))
        chosen, spent = [], 0.0
        for name in passing:
            spent += seen[name].seconds
            if spent <= self.budget:
                chosen.append(name)
        start = time.monotonic()
        tests = [(items[name], seen[name].seconds) for name in chosen]
        killer, how = _killer(mutant, tests, self.modules)
        if killer is None and not how:
            how = f"survived {len(chosen)} of {len(passing)} tests"
        fate = Fate(killer, how, time.monotonic() - start)
        self._count(mutant.name, fate)
        return fate


def _ranks(names: list[str]) -> dict[str, int]:
    """How many cases of the same test stand before each."""
    count: Counter[str] = Counter()
    ranks = {}
    for name in names:
        test = name.split("[", 1)[0]
        ranks[name] = count[test]
        count[test] += 1
    return ranks


def _lines_of(mutant: Mutant, modules: Sequence[str]) -> set[Line]:
    """The lines that a test must pass to see the mutant: its own; of a constant, those that name it.

    Empty if the change is outside of functions and only other constants name what is changed.
    """
    file = path_of(mutant.module)
    if mutant.in_function:
        return {(_named(file), line) for line in mutant.lines}
    statement = ast.parse(file.read_text(encoding="utf-8")).body[int(mutant.way[1])]
    names = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return {
        (_named(path), line)
        for path in map(path_of, modules)
        for line in _lines_naming(path, frozenset(names))
    }


@cache
def _lines_naming(path: Path, names: frozenset[str]) -> frozenset[int]:
    """The lines inside functions of the file that have one of the names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    nodes = [node for function in functions for part in function.body for node in ast.walk(part)]
    found = {node.lineno for node in nodes if isinstance(node, ast.Name) and node.id in names}
    return frozenset(found | {n.lineno for n in nodes if isinstance(n, ast.Attribute) and n.attr in names})


def _killer(
    mutant: Mutant, tests: list[tuple[pytest.Item, float]], modules: Sequence[str]
) -> tuple[str | None, str]:
    """The first of the tests that fails in a process with the mutant."""
    if not tests:
        return None, ""

    def hunt(say: Callable[[object], None]) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0])
        most = used * resource.getpagesize() + SPARE
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            transplant(mutant)
            _forget(modules)
        except NotImportedError as error:
            say(("the import", str(error)))
            return
        except Exception as error:  # noqa: BLE001 - that is no test's merit
            say((None, f"cannot be put into place: {error!r}"))
            return
        for number, (item, seconds) in enumerate(tests):
            say(number)
            limit = PATIENCE * seconds + GRACE
            signal.setitimer(signal.ITIMER_PROF, limit)
            failed = _failure(item)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if failed:
                say(failed)
                return
        say(None)

    *_, last = _in_fork(hunt) or [0]
    if last is None:
        return None, ""
    if isinstance(last, int):
        return tests[last][0].nodeid, "never ended"
    number, text = last
    return number, text


def _failure(item: pytest.Item) -> tuple[str, str] | None:
    """The name of the test and what it says if it fails."""
    for report in runtestprotocol(item, log=False, nextitem=None):
        if report.failed:
            text = str(report.longrepr).strip().splitlines() or [""]
            return item.nodeid, text[-1][:200]
    return None


def _in_fork(work: Callable[[Callable[[object], None]], None]) -> list[Any]:
    """What the work says, in a process of its own, until it ends or dies."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writer, "wb", buffering=0) as stream:
            try:
                work(lambda said: stream.write(pickle.dumps(said)) and None)
            except BaseException as error:  # noqa: BLE001 - a mutant can raise anything, anywhere
                stream.write(pickle.dumps(("the process", repr(error)[:200])))
            finally:
                os._exit(0)
    os.close(writer)
    said = []
    with os.fdopen(reader, "rb") as stream:
        while True:
            try:
                said.append(pickle.load(stream))
            except (EOFError, pickle.UnpicklingError):
                break
    os.waitpid(process, 0)
    return said


def _side_by_side(work: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
    """What the work finds for each, in order, by as many processes as there are cores."""
    global _WORK
    _WORK = lambda number: work(items[number])  # noqa: E731 - processes find it by its name
    with get_context("fork").Pool(WORKERS) as pool:
        yield from pool.imap(_one, range(len(items)))


_WORK: Callable[[int], Any]


def _one(number: int) -> Any:
    return _WORK(number)


# The tests by themselves -----------------------------------------------------------------------------


def _baseline(items: dict[str, pytest.Item], modules: Sequence[str], suite: str) -> dict[str, Seen]:
    """Every test that passes; what was seen of it before stands as long as its file and the sources do.

    A test may do less in the quick suite, so what was seen there is not what it does in the other.
    """
    CACHE.mkdir(exist_ok=True)
    path = CACHE / "tests.pickle"
    cached: dict[tuple[str, str], Seen | None] = pickle.loads(path.read_bytes()) if path.exists() else {}
    everything = _hash([*_python(SOURCE), *_python(TESTS / "support"), TESTS / "conftest.py"])
    everything += hashlib.sha256(" ".join((suite, *modules)).encode()).hexdigest()[:16]
    texts = Texts()
    keys = {name: (name, f"{everything} {texts.hash_of(name)}") for name in items}
    found = {key: cached[key] for key in keys.values() if key in cached}
    new = [name for name, key in keys.items() if key not in found]
    for done, seen in enumerate(_side_by_side(lambda name: _alone(items[name], modules), new)):
        found[keys[new[done]]] = seen
        if done % 100 == 0:
            path.write_bytes(pickle.dumps(cached | found))
            print(f"tests by themselves: {done} of {len(new)}", flush=True)
    path.write_bytes(pickle.dumps(cached | found))
    return {name: seen for name, key in keys.items() if (seen := found[key]) is not None}


def _alone(item: pytest.Item, modules: Sequence[str]) -> Seen | None:
    """The test in a process of its own, with every line noted."""

    def work(say: Callable[[object], None]) -> None:
        for by_line in (False, True):
            lines: set[Line] = set()
            _forget(modules)
            signal.setitimer(signal.ITIMER_PROF, 3 * SLOW)
            start = time.process_time()
            sys.settrace(_tracer(lines, by_line, modules))
            failed = _failure(item)
            sys.settrace(None)
            seconds = time.process_time() - start
            if not failed and seconds > SLOW:
                return
            say(failed or Seen(seconds, frozenset(lines)))
            if failed or seconds > QUICK:
                return

    said = _in_fork(work)
    seen = [each for each in said if isinstance(each, Seen)]
    if seen:
        # Of a test that cannot be run twice it is known which functions it passes.
        return Seen(seen[0].seconds, seen[-1].lines)
    last = said[0] if said else "too slow"
    print(f"not used: {item.nodeid}: {last}", flush=True)
    return None


def _forget(modules: Sequence[str]) -> None:
    """Empty the modules' caches: for what they hold, no line of the function behind them is passed."""
    for module in filter(None, map(sys.modules.get, modules)):
        for value in vars(module).values():
            getattr(value, "cache_clear", lambda: None)()


def _tracer(
    lines: set[Line], by_line: bool, modules: Sequence[str]
) -> Callable[[FrameType, str, object], object]:
    """A tracer that notes the lines of the modules; if not by line, all of each function."""
    watched = {str(path): _named(path) for path in map(path_of, modules)}

    def of_line(frame: FrameType, event: str, _: object) -> object:
        lines.add((watched[frame.f_code.co_filename], frame.f_lineno))
        return of_line

    def of_call(frame: FrameType, event: str, _: object) -> object:
        file = frame.f_code.co_filename
        if file not in watched:
            return None
        if not by_line:
            lines.update((watched[file], line) for _, _, line in frame.f_code.co_lines() if line is not None)
            return None
        lines.add((watched[file], frame.f_lineno))
        return of_line

    return of_call


# What is known already -------------------------------------------------------------------------------


class Cache:
    """The kills that are known: each stands while the module, the test and all support are as they were.

    What the quick suite kills all tests kill, but not the other way.
    """

    def __init__(self, suite: str) -> None:
        self.suite = suite
        paths = {name: CACHE / f"kills-{name}.json" for name in ("quick", suite)}
        known = {name: json.loads(path.read_text()) if path.exists() else {} for name, path in paths.items()}
        self._path, self._kills = paths[suite], known[suite]
        self._quick = known["quick"]
        self._modules: dict[str, str] = {}
        self._texts = Texts()
        self._support = _hash([*_python(TESTS / "support"), TESTS / "conftest.py"])

    def get(self, mutant: Mutant) -> Fate | None:
        """The kill, if it is known."""
        for killer, how, seconds, key in (
            k[mutant.name] for k in (self._kills, self._quick) if mutant.name in k
        ):
            if key == self._key(mutant, killer):
                return Fate(killer, how, seconds)
        return None

    def put(self, mutant: Mutant, fate: Fate) -> None:
        """Note a kill, in the file at once."""
        assert fate.killer is not None
        CACHE.mkdir(exist_ok=True)
        own = (fate.killer, fate.how, fate.seconds, self._key(mutant, fate.killer))
        self._kills[mutant.name] = own
        part = self._path.with_suffix(".new")
        part.write_text(json.dumps(self._kills, indent=0))
        part.replace(self._path)

    def _key(self, mutant: Mutant, killer: str) -> str:
        if mutant.module not in self._modules:
            self._modules[mutant.module] = _hash([path_of(mutant.module)])
        test = self._texts.hash_of(killer) if "::" in killer else ""
        return f"{self._modules[mutant.module]} {self._support} {test}"


class Texts:
    """What tests depend on in their own files: everything but the other tests."""

    def __init__(self) -> None:
        self._trees: dict[str, ast.Module] = {}
        self._hashes: dict[tuple[str, str], str] = {}

    def hash_of(self, test: str) -> str:
        """A hash that changes with the test; `test` is its name for pytest."""
        file, name = test.split("[", 1)[0].split("::")[:2]
        if (file, name) not in self._hashes:
            if file not in self._trees:
                path = TESTS.parent / file
                self._trees[file] = ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")
            body = [node for node in self._trees[file].body if not _is_another(node, name)]
            text = "\n".join(map(ast.unparse, body))
            self._hashes[file, name] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self._hashes[file, name]


def _is_another(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name != name


def _named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def _python(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _hash(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes() if path.exists() else b"-")
    return whole.hexdigest()[:16]
