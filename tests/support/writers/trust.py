"""The tables of what must be trusted, part by part: `python -m tests.support.writers.trust` prints them.

`tests/trust.toml` says how much it is to be; `complaints` says where that is not so. With `--write` the
tables of docs/proofs.md are written.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grimp

from tests import ROOT
from tests.support.writers.statements import statements_in, tree_of

TABLE = ROOT / "tests" / "trust.toml"
DECISIONS = ROOT / "docs" / "decisions"

PAGE = ROOT / "docs" / "proofs.md"
"""It ends with the tables."""

HEADER = "| part | what it does | statements |"

READER = "core.reader"
"""Every verdict rests on the whole of it: what reads files, and the process that answers."""


@dataclass(frozen=True)
class Part:
    """Modules that are trusted for one thing; `x.*` stands for x and all below it."""

    name: str
    says: str
    modules: tuple[str, ...]
    first: int
    now: int


@dataclass(frozen=True)
class Resting:
    """What a verdict rests on: parts, and of these what its judge's module imports."""

    on: str
    judge: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """That a part has more statements since a decision, or fewer."""

    part: str
    by: int
    why: str
    """The decision's file without its ending; of what is less, what left."""


@dataclass(frozen=True)
class Trust:
    """What stands in the table."""

    parts: tuple[Part, ...]
    verdicts: tuple[Resting, ...]
    changes: tuple[Change, ...]

    def part_of(self, module: str) -> str | None:
        """The part that names the module, or the nearest folder that it stands in."""
        named = {name: part.name for part in self.parts for name in part.modules}
        folders = [module.rsplit(".", up)[0] for up in range(module.count(".") + 1)]
        return next(
            (named[name] for name in (module, *(f"{each}.*" for each in folders)) if name in named), None
        )


def read(path: Path = TABLE) -> Trust:
    """The table as people have written it."""
    data: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    parts = [
        Part(row["name"], row["says"], tuple(row["modules"]), row["first"], row["now"])
        for row in data["part"]
    ]
    verdicts = [Resting(row["on"], row["judge"], tuple(row["parts"])) for row in data["verdict"]]
    raises = [Change(row["part"], row["by"], row["decision"]) for row in data.get("raise", ())]
    falls = [Change(row["part"], -row["by"], row["what"]) for row in data.get("fall", ())]
    return Trust(tuple(parts), tuple(verdicts), (*raises, *falls))


def imports() -> grimp.ImportGraph:
    """Who imports whom in the package, also inside functions."""
    return grimp.build_graph("attemper", exclude_type_checking_imports=True, cache_dir=None)


def needed_by(graph: grimp.ImportGraph, *modules: str) -> set[str]:
    """The modules and all that they import, themselves or through others, with the packages around these."""
    found = set(modules).union(*map(graph.find_upstream_modules, modules))
    return {name.rsplit(".", up)[0] for name in found for up in range(name.count(".") + 1)}


def statements_by_part(trust: Trust, modules: Iterable[str]) -> Counter[str]:
    """How many statements of each part the modules have."""
    found: Counter[str] = Counter()
    for module in modules:
        part = trust.part_of(module)
        if part is not None:
            found[part] += statements_in(tree_of(module))
    return found


def complaints(trust: Trust, counted: Mapping[str, int], decisions: Path = DECISIONS) -> Iterator[str]:
    """Where the table is not what is counted, or what its own changes make of the first numbers."""
    for part in trust.parts:
        found = counted[part.name]
        if part.now != found:
            yield f"{part.name}: tests/trust.toml says {part.now:,} statements, there are {found:,}"
        summed = part.first + sum(change.by for change in trust.changes if change.part == part.name)
        if part.now != summed:
            yield f"{part.name}: {part.now:,} is now, but first, with all raises and falls, {summed:,}"
    for change in trust.changes:
        if change.part not in {part.name for part in trust.parts} or not change.by:
            yield f"{change.part}: no such part, or no change of it"
        elif change.by < 0:
            if not change.why:
                yield f"{change.part}: a fall says what left"
        elif not _is_decided(change, decisions / f"{change.why}.md"):
            line = f"Trusted: {change.part} +{change.by:,}, because ...; what left: ..."
            yield f"{change.part}: the decision '{change.why}' has no line '{line}'"


def _is_decided(change: Change, record: Path) -> bool:
    line = rf"^Trusted: {re.escape(change.part)} \+{change.by:,}, because \S.*; what left: \S"
    return record.is_file() and re.search(line, record.read_text(encoding="utf-8"), re.M) is not None


def tables(trust: Trust, graph: grimp.ImportGraph) -> str:
    """What docs/proofs.md shows: parts, and what each verdict rests on."""
    lines = [HEADER, "|---|---|---|"]
    lines += [f"| `{part.name}` | {part.says} | {part.now:,} |" for part in trust.parts]
    lines += ["", "| a verdict on | rests on | statements |", "|---|---|---|"]
    for verdict in trust.verdicts:
        names = ", ".join(f"`{name}`" for name in verdict.parts)
        lines.append(f"| {verdict.on} | {names} | {rested_on(trust, graph, verdict):,} |")
    return "\n".join(lines) + "\n"


def rested_on(trust: Trust, graph: grimp.ImportGraph, verdict: Resting) -> int:
    """How many statements a verdict rests on: the reader, and what its judge needs of the other parts."""
    reader = {module for module in graph.modules if trust.part_of(module) == READER}
    found = statements_by_part(trust, needed_by(graph, verdict.judge) | reader)
    return sum(found[name] for name in verdict.parts)


def main() -> None:
    """Print the tables, or write them (--write); the exit code is 1 where they are not what is counted."""
    trust, graph = read(), imports()
    if sys.argv[1:] == ["--write"]:
        above, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADER)
        PAGE.write_text(above + tables(trust, graph), encoding="utf-8")
    said = list(complaints(trust, statements_by_part(trust, graph.modules)))
    print(tables(trust, graph), *said, sep="\n")  # noqa: T201 - what is asked for
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
