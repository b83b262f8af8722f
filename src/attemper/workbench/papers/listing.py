"""All statements of the rooms that the registry names: which there are, and what the run of one shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import final

from attemper import registry
from attemper.errors import ExitCode, OptionError
from attemper.html_tables import Tabled
from attemper.workbench.papers.statements import Observed, Paper, Statement

NUMBERED = ("theorem", "lemma", "corollary", "proposition", "definition", "figure", "footnote", "section")
"""What a bare number may stand for, tried in this order."""


@cache
def statements() -> tuple[Statement, ...]:
    """All rows, paper by paper, by their numbers."""
    found = [one for home in registry.STATEMENTS for one in import_module(home).STATEMENTS]
    return tuple(sorted(found, key=lambda one: (list(Paper).index(one.paper), one.row)))


def of_paper(text: str) -> Paper:
    """The paper of that name. Raises `OptionError` with those that there are."""
    if text not in tuple(Paper):
        listed = ", ".join(f"'{paper}'" for paper in Paper)
        raise OptionError(f"'{text}' is none of the papers: {listed}")
    return Paper(text)


def meant(paper: Paper, typed: str) -> list[Statement]:
    """The rows that are called so in the paper: `15`, `theorem-15`, `Theorem 15`; several may share a key.

    Raises `OptionError` with near names if there is none.

    >>> [one.title.partition(":")[0] for one in meant(Paper.YANG, "15")]
    ['Theorem 15']
    """
    own = [one for one in statements() if one.paper is paper]
    key = "-".join(typed.lower().replace(".", " ").replace("-", " ").replace("_", " ").split())
    for name in (key, *(f"{kind}-{key}" for kind in NUMBERED)):
        if found := [one for one in own if name in one.keys]:
            return found
    names = list(dict.fromkeys(name for one in own for name in one.keys))
    near = ", ".join(_near(key, names))
    raise OptionError(
        f"'{typed}' is no statement of '{paper}' here: near are {near}; 'attemper paper {paper}' lists all"
    )


def _near(key: str, names: list[str]) -> list[str]:
    """Four names that look like the key; of a bare number those with the nearest numbers."""
    if key.isdecimal():
        numbered = [
            (abs(int(name.rpartition("-")[2]) - int(key)), name)
            for name in names
            if name[-1].isdecimal() and name.rpartition("-")[2].isdecimal()
        ]
        return [name for _, name in sorted(numbered)[:4]]
    return get_close_matches(key, names, n=4, cutoff=0.0)


@final
@dataclass(frozen=True, repr=False)
class Showing(Tabled):
    """A statement, and what its run has seen."""

    statement: Statement
    seen: tuple[Observed, ...]

    @property
    def holds(self) -> bool:
        """Whether all that was seen is as it has to be; what sees nothing shows nothing."""
        return bool(self.seen) and all(one.holds for one in self.seen)

    @property
    def exit_code(self) -> ExitCode:
        """0, 1 where something is not as the statement says, or 4 where nothing is built that shows it."""
        if self.statement.run is None:
            return ExitCode.UNSUPPORTED
        return ExitCode.OK if self.holds else ExitCode.DISAGREEMENT

    @property
    def record(self) -> dict[str, object]:
        """All of it as JSON data."""
        return {
            **record_of(self.statement),
            "holds": self.holds,
            "seen": [one.as_record() for one in self.seen],
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<Showing {self.statement.paper} {self.statement.keys[0]}: holds={self.holds}>"

    def _lines(self) -> Iterator[str]:
        one = self.statement
        yield f"{one.paper} {one.keys[0]}: {one.title}"
        yield f"here: {one.says}"
        yield f"{'differs' if one.run else 'not built'}: {one.differs or 'in nothing'}"
        yield f"more: {one.command}"
        if one.run is None:
            return
        for seen in self.seen:
            yield f"  {seen}{'' if seen.holds else '  FAILS'}"
        wrong = sum(not seen.holds for seen in self.seen)
        count = len(self.seen)
        yield f"HOLDS: {count} of {count} as they have to be" if self.holds else f"FAILS: {wrong} of {count}"


def record_of(one: Statement) -> dict[str, object]:
    """A row as JSON data, without its run."""
    data = {"row": one.row, "paper": str(one.paper), "keys": list(one.keys), "title": one.title}
    return {
        **data,
        "says": one.says,
        "differs": one.differs,
        "more": one.command,
        "built": one.run is not None,
    }


def shown(one: Statement) -> Showing:
    """The statement with what its run sees; with nothing, if it is not built."""
    return Showing(one, tuple(one.run()) if one.run else ())
