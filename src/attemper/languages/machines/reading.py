"""A counter machine as a language: what it writes next, after every word of its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.exact.predicates import Predicate
from attemper.languages.machines.syntax import CounterMachine
from attemper.languages.words import Alphabet, Word


@final
@dataclass(frozen=True)
class MachineLanguage:
    """The token that a machine writes next from the configuration of each prefix of a word, or `none`.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> language = MachineLanguage(parse_machine("input x n; take: sub n -> take else halt"))
    >>> language.next_tokens(("x", "start", "take-", "take0"))
    ('take-', 'take-', 'take0', 'none')
    """

    machine: CounterMachine

    def next_tokens(self, word: Word) -> tuple[str, ...]:
        """What is put out at each position of a word."""
        from attemper.languages.machines.meaning import next_tokens  # a proof needs no meaning

        return next_tokens(self.machine, word)

    @property
    def reads_first(self) -> bool:
        """No: what is put out at the last position is what comes after the word."""
        return False

    @property
    def accepts_empty(self) -> bool:
        """No: the empty word is no configuration."""
        return False

    def bits(self, word: Word) -> tuple[bool, ...]:
        """Whether the first of the outputs is put out, at each position."""
        return self.rows(word)[0]

    def rows(self, word: Word) -> tuple[tuple[bool, ...], ...]:
        """For each of the outputs, whether it is put out, at each position."""
        found = self.next_tokens(word)
        return tuple(tuple(token == name for token in found) for name in self.machine.outputs)

    def fits(self, alphabet: Alphabet) -> bool:
        """Whether these are the machine's tokens, in the same order."""
        return alphabet == self.machine.alphabet

    def predicates(self) -> Iterator[Predicate]:
        """None: a machine tests whether a register is 0."""
        return iter(())

    def text(self, _: Alphabet | None = None) -> str:
        """All of it in one line, which reads back."""
        from attemper.languages.machines.show import show_machine  # no other language needs it

        return f"a counter machine: {'; '.join(show_machine(self.machine).splitlines())}"
