"""`python -m tests.mutation [MODULE ...]`: change one place of the checker's code after the other.

Each time a test must notice: one in the files that are named after the module, or else any of `--tests`. A
MODULE is a name such as `heads`, `attention.contests` or `depth.pairs`; without any, all of `checker/`,
what theories check, and what reads attention programs are taken. `--list` shows the mutants, `--recheck` also
hunts those that are listed as equivalent, `--like PATTERN` takes only those with the pattern in their names,
`--sample N` only so many, drawn with `--seed`. `--rooms compiling,running` takes the modules of these folders
on which no verdict rests. The tests are those of the quick suite, or of `--suite all`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.mutation.killing import TESTS, Cache, Fate, Hunt
from tests.mutation.mutants import MODULES, Mutant, modules_in, mutants_of, name_of

EQUIVALENTS = Path(__file__).with_name("equivalents.txt")

FOLDERS = tuple(TESTS / room for room in ("checker", "exact", "attention_program", "models", "theories"))

BESIDE = {
    "reading": ("depth", "depth_second"),
    "registers": ("reachability",),
    "trees": ("parse",),
    "meaning": ("machine",),
    "averages": ("sign", "local_sign", "lookup"),
    "contests": (
        "select",
        "neighbour",
        "head_competitions",
        "by_cases",
        "heads",
        "edges",
        "turning_tie_breaks",
    ),
    "counts": ("lookup", "integer_value"),
    "bounds": ("select", "neighbour", "sign", "lookup", "rules"),
    "claims": ("refutations", "depth", "command"),
    "competition": ("score_gaps", "head_competitions"),
    "diagrams": ("names", "normal_forms"),
    "following": ("edges",),
    "growth": ("integer_value", "nearest_integer"),
    "integers": ("integer_value", "nearest_integer", "integer_sign", "scanned_heads"),
    "integer_value": ("nearest_integer",),
    "laurent": ("leads",),
    "local_sign": ("rules",),
    "lookup": ("rules",),
    "nearest_integer": ("integer_sign",),
    "neighbour": ("head_competitions", "rules"),
    "scores": ("heads", "uniform", "select", "neighbour", "sign", "local_sign", "lookup"),
    "select": ("analysis", "contests", "head_competitions", "rules"),
    "sign": ("rules",),
    "leads": ("select", "neighbour", "nearest_integer"),
    "cutting": ("edges",),
    "enough": ("depth", "depth_second"),
    "identities": ("names", "normal_forms", "source"),
    "sums": ("identities", "names", "normal_forms", "source"),
    "names": ("identities", "normal_forms", "values", "integer_value"),
    "pairs": ("depth", "depth_second"),
    "parabolas": ("nearest_integer",),
    "parities": ("sign", "local_sign", "integer_sign"),
    "program": ("realising",),
    "proof": ("analysis", "check"),
    "rules": ("uniform", "select", "neighbour", "sign", "local_sign", "lookup", "nearest_integer"),
    "settings": ("edges", "command"),
    "source": ("normal_forms",),
    "turned": ("rotation",),
    "values": ("integer_value",),
}
"""Other files of tests that are about a module, too."""


def main() -> int:
    """Hunt the mutants; the exit code is 1 if one survives that is not explained."""
    arguments = _arguments()
    names = set(arguments.modules)
    modules = _outside(arguments.rooms) if arguments.rooms else MODULES
    every = [mutant for name in modules if _is_meant(name, names) for mutant in mutants_of(name)]
    every = [mutant for mutant in every if re.search(arguments.like, mutant.name)]
    if arguments.sample is not None:
        drawn = set(
            random.Random(arguments.seed).sample(range(len(every)), min(arguments.sample, len(every)))
        )
        every = [mutant for number, mutant in enumerate(every) if number in drawn]
    if arguments.list:
        print("\n".join(f"{mutant.lines[0]:4} {mutant.name}" for mutant in every))
        return 0
    listed = equivalents(EQUIVALENTS.read_text(encoding="utf-8"))
    for name in listed.keys() - {mutant.name for module in MODULES for mutant in mutants_of(module)}:
        raise SystemExit(f"{EQUIVALENTS.name} lists what is no mutant (any more): {name}")
    hunted = every if arguments.recheck else [mutant for mutant in every if mutant.name not in listed]
    if arguments.rooms:
        modules = sorted({mutant.module for mutant in every})
    start = time.monotonic()
    cache = Cache(arguments.suite)
    fates = {mutant.name: fate for mutant in hunted if (fate := cache.get(mutant)) is not None}
    print(f"{len(fates)} of {len(hunted)} mutants are known to be killed")
    folders = [TESTS / room for room in arguments.rooms] or FOLDERS
    for some_tests in (lambda left: near(left, folders), lambda _: arguments.tests or [*map(str, folders)]):
        left = [mutant for mutant in hunted if mutant.name not in fates or fates[mutant.name].killer is None]
        fates |= hunt(left, modules, some_tests(left), cache, arguments)
    return report(every, listed, fates, time.monotonic() - start)


def _outside(rooms: Iterable[str]) -> list[str]:
    """The modules of rooms on which no verdict rests."""
    found = {room: [name for name in modules_in([room]) if name not in MODULES] for room in rooms}
    for room, modules in found.items():
        if not modules:
            raise SystemExit(f"no module of src/attemper/{room} is one on which no verdict rests")
    return [module for modules in found.values() for module in modules]


def _is_meant(module: str, names: set[str]) -> bool:
    own = name_of(module)
    return not names or own in names or own.rpartition(".")[2] in names


def near(mutants: list[Mutant], folders: Iterable[Path]) -> list[str]:
    """The files of tests that are named after the mutated modules."""
    modules = {name_of(mutant.module).rpartition(".")[2] for mutant in mutants}
    names = {f"test_{name}" for module in modules for name in (module, *BESIDE.get(module, ()))}
    return [
        str(path) for folder in folders for path in sorted(folder.rglob("test_*.py")) if path.stem in names
    ]


def hunt(
    mutants: list[Mutant],
    modules: Sequence[str],
    tests: list[str],
    cache: Cache,
    arguments: argparse.Namespace,
) -> dict[str, Fate]:
    """What became of each mutant."""
    if not mutants or not tests:
        return {mutant.name: Fate(None, "met no tests", 0.0) for mutant in mutants}
    done = 0

    def shown(mutant: Mutant, fate: Fate) -> None:
        nonlocal done
        done += 1
        if fate.killer is None:
            print(
                f"SURVIVED {done}/{len(mutants)} {mutant.module}:{mutant.lines[0]} {mutant.name}: {fate.how}"
            )
        elif arguments.verbose:
            print(
                f"killed {done}/{len(mutants)} {mutant.name}: {fate.killer} {fate.how} {fate.seconds:.1f} s"
            )
        sys.stdout.flush()

    plugin = Hunt(mutants, modules, arguments.budget, shown, cache)
    options = ["-q", "-s", "--suite", arguments.suite, "-p", "no:cacheprovider", "--no-header"]
    code = pytest.main([*options, *tests], plugins=[plugin])
    if code != pytest.ExitCode.OK:
        raise SystemExit(f"the tests could not be collected: {code!r}")
    return plugin.fates


def report(every: list[Mutant], listed: dict[str, str], fates: dict[str, Fate], seconds: float) -> int:
    """Print the counts, and survivors by place."""
    killed = {name for name, fate in fates.items() if fate.killer is not None}
    explained = [mutant for mutant in every if mutant.name in listed]
    survivors = [m for m in every if m.name not in killed and m.name not in listed]
    modules: dict[str, Counter[str]] = {}
    for mutant in every:
        count = modules.setdefault(mutant.module, Counter())
        count["mutants"] += 1
        count["equivalent" if mutant.name in listed else "killed" if mutant.name in killed else "alive"] += 1
    for mutant in survivors:
        print(f"unexplained: {mutant.module}:{mutant.lines[0]}: {mutant.name}")
    for name in sorted(listed.keys() & killed):
        print(f"listed as equivalent, but killed: {name}: {fates[name].killer}")
    for module, count in modules.items():
        print(
            f"{module:36}"
            + "".join(f"{count[k]:6} {k}" for k in ("mutants", "killed", "equivalent", "alive"))
        )
    dead = len(every) - len(explained) - len(survivors)
    print(
        f"{len(every)} mutants: {dead} killed, {len(explained)} equivalent with reason, {len(survivors)} "
        f"unexplained; {seconds:.0f} s"
    )
    return 1 if survivors or listed.keys() & killed else 0


def equivalents(text: str) -> dict[str, str]:
    """The reason for each listed mutant: names stand at the margin, their reason below them is indented."""
    found: dict[str, str] = {}
    names: list[str] = []
    reason: list[str] = []
    for line in [*text.splitlines(), "end"]:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            reason.append(line.strip())
            continue
        if reason:
            found.update(dict.fromkeys(names, " ".join(reason)))
            names, reason = [], []
        names.append(line.rstrip())
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="for example heads")
    parser.add_argument("--tests", nargs="*", help="files or folders of tests")
    parser.add_argument(
        "--rooms", type=lambda text: text.split(","), default=[], help="only there, where no verdict rests"
    )
    parser.add_argument("--like", default="", help="only mutants whose names have this pattern")
    parser.add_argument("--suite", choices=("quick", "all"), default="quick", help="which tests hunt")
    parser.add_argument("--sample", type=int, help="only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests for each mutant")
    parser.add_argument("--list", action="store_true", help="show the mutants")
    parser.add_argument("--recheck", action="store_true", help="also hunt those listed as equivalent")
    parser.add_argument("--verbose", action="store_true", help="say what kills each mutant")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
