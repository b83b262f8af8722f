"""A language over other symbols, which stand for its own in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Letter
from attemper.certificates.claims import SourceMeaning
from attemper.errors import UnsupportedError
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.syntax import FORMULA
from attemper.languages.words import Alphabet


def renamed(language: SourceMeaning, old: Alphabet, new: Alphabet) -> SourceMeaning:
    """The language in which each symbol of the old alphabet is that of the new one at the same place.

    What a program puts out keeps its names. The alphabets have as many symbols. Raises `UnsupportedError` for
    a machine, whose tokens are made of the names of its lines.

    >>> ab, digits = Alphabet(("a", "b")), Alphabet(("0", "1"))
    >>> renamed(Dfa(digits, ((0, 1), (1, 0)), 0, frozenset({0})), digits, ab).accepts(("b", "a", "b"))
    True
    """
    names = dict(zip(old.symbols, new.symbols, strict=True))
    match language:
        case Dfa():
            return replace(language, alphabet=new)
        case TemporalLanguage(formula):
            nodes = [_node(node, names) for node in FORMULA.encode(formula)]
            return replace(language, formula=FORMULA.read(nodes))
        case ProgramLanguage(program):
            steps = tuple(
                Letter(tuple(names[symbol] for symbol in step.symbols)) if isinstance(step, Letter) else step
                for step in program.steps
            )
            return replace(language, program=replace(program, alphabet=new, steps=steps))
        case MachineLanguage():
            raise UnsupportedError("a counter machine says the names of its tokens itself")
        case _:
            assert_never(language)


def _node(node: object, names: Mapping[str, str]) -> object:
    match node:
        case ["symbol", str(name)]:
            return ["symbol", names[name]]
        case _:
            return node
