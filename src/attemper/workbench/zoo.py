"""The zoo: languages and tasks that have a name, with their definitions, oracles and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import final

from attemper.errors import OptionError
from attemper.languages.named.entry import SourceText, ZooEntry
from attemper.languages.named.zoo import everything, named
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compiled_source
from attemper.workbench.model import Model
from attemper.workbench.options import RegimeName, require
from attemper.workbench.zoo_sources import language_of, limits_for


@final
class Zoo(Mapping[str, ZooEntry]):
    """What has a name in the zoo: its definition, its oracle, and words; `zoo` is the only one.

    An entry is an `Entry`, a language, or a `Transduction`, which puts something out at every position. As a
    language, and to be compiled, it is named `zoo:NAME`. Names are those of `attemper zoo`; `docs/zoo.md` has
    them all, and those of families such as `mod-7`, which are not listed. Raises `OptionError` for a name
    that there is not, with what is near.

    >>> import attemper
    >>> entry = attemper.zoo["majority"]
    >>> entry.definition
    'words with at least as many 1s as 0s'
    >>> entry.accepts(tuple("0110")), entry.accepts(tuple("0010"))
    (True, False)
    >>> [entry.accepts(word) for pair in entry.near_misses(count=2) for word in pair]
    [True, False, True, False]
    >>> attemper.zoo["sort"].outputs(tuple("cab")), "sort" in attemper.zoo
    (('a', 'b', 'c'), True)
    """

    def __getitem__(self, name: str) -> ZooEntry:
        require("name", name, str, "give a name that 'attemper zoo' lists, for example 'majority'")
        return named(name)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and named(name) is not None
        except OptionError:
            return False

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in everything())

    def __len__(self) -> int:
        return len(everything())

    def __repr__(self) -> str:
        return f"<Zoo: {len(self)} names, and families>"


zoo = Zoo()


def compile_entry(entry: ZooEntry, source: SourceText, *, regime: RegimeName = "unbounded") -> Model:
    """Compile an entry from one of its sources; `compile("zoo:NAME")` takes the first.

    Raises `UnsupportedError` where it cannot be compiled in this regime.

    >>> entry = zoo["dyck-1"]
    >>> compile_entry(entry, entry.source).accepts("(())")
    True
    """
    return compiled_source(language_of(entry, source), limits_for(source), [Regime(regime)])
