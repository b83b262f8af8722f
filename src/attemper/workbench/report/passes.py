"""What each pass of the compiler made: the level's text and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from typing import assert_never, final

from attemper.attention_program.show import show_program
from attemper.compiling.levels import Level, NetworkLevel, ProgramLevel
from attemper.compiling.pipeline import PassResult
from attemper.workbench.report.network_text import network_lines


@final
@dataclass(frozen=True)
class PassReport:
    """One pass and its level."""

    name: str
    options: dict[str, str | int]
    size: dict[str, int]
    unchanged: bool
    """Whether the level is the one before."""
    lines: tuple[str, ...]

    def as_record(self) -> dict[str, object]:
        """The report as JSON data."""
        return {
            "name": self.name,
            "options": self.options,
            "size": self.size,
            "unchanged": self.unchanged,
            "text": "\n".join(self.lines),
        }


def pass_reports(stages: Sequence[PassResult]) -> tuple[PassReport, ...]:
    """A report for each pass, in their order."""
    same = [False, *(before.level == after.level for before, after in pairwise(stages))]
    return tuple(
        PassReport(stage.by.name, _options(stage.by), _size(stage.level), unchanged, _lines(stage.level))
        for stage, unchanged in zip(stages, same, strict=True)
    )


def _options(by: object) -> dict[str, str | int]:
    """The names and numbers among a pass's fields; the others are what the pass is about."""
    assert is_dataclass(by)
    values = ((field.name, getattr(by, field.name)) for field in fields(by))
    return {name: value for name, value in values if type(value) is not bool and isinstance(value, str | int)}


def _size(level: Level) -> dict[str, int]:
    match level:
        case ProgramLevel(program):
            return {"steps": len(program.steps)}
        case NetworkLevel(network):
            return {
                "layers": len(network.layers),
                "heads": sum(len(layer.heads) for layer in network.layers),
                "coordinates": len(network.coordinates),
                "hidden_units": sum(len(layer.hidden) for layer in network.layers),
            }
        case _:
            assert_never(level)


def _lines(level: Level) -> tuple[str, ...]:
    match level:
        case ProgramLevel(program):
            return tuple(show_program(program).splitlines())
        case NetworkLevel(network):
            return tuple(network_lines(network))
        case _:
            assert_never(level)
