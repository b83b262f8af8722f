"""A cascade: levels of registers, each level driven by the one below. Data and meaning only.

At position i a level sees the *symbol* of the level below and what its registers held before i, and its
table gives its own symbol; symbols are numbers 0, 1, ... of their level. Below the first level stands the
letter at i together with the *place* of i: i - 1 as long as that is less than `prefix`, from then on
prefix + (i - 1 - prefix) mod period.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import assert_never, final

from attemper.languages.words import Alphabet

SymbolNumber = int

Content = int | None
"""What a register holds; None: nothing."""

Contents = tuple[Content, ...]
"""What several registers hold, in their order."""


@final
@dataclass(frozen=True)
class Latch:
    """Holds the label that the last position j < i with a symbol in `store` stored there.

    The label None empties the latch. One strictly future-masked rightmost-hard head.
    """

    store: tuple[tuple[SymbolNumber, Content], ...]

    @cached_property
    def by_symbol(self) -> dict[SymbolNumber, Content]:
        """`store` as a dictionary."""
        return dict(self.store)


@final
@dataclass(frozen=True)
class Counter:
    """Holds the number of positions j < i with a symbol in `counted`, modulo `modulus`.

    One uniform head, then a lookup.
    """

    counted: frozenset[SymbolNumber]
    modulus: int


@final
@dataclass(frozen=True)
class Sum:
    """Holds the sum of the weights of the symbols at all positions j < i, modulo `modulus`.

    Symbols that are not in `weights` weigh 0. Several counters; their remainders are added by feed-forwards.
    """

    weights: tuple[tuple[SymbolNumber, int], ...]
    modulus: int

    @cached_property
    def by_symbol(self) -> dict[SymbolNumber, int]:
        """`weights` as a dictionary."""
        return dict(self.weights)


@final
@dataclass(frozen=True)
class Delay:
    """Holds the symbol of the level below at position i - distance; None if there is no such position."""

    distance: int


Register = Latch | Counter | Sum | Delay


@final
@dataclass(frozen=True)
class RegisterLevel:
    """Registers, and the table from (symbol below, contents of the registers) to the symbol here.

    The table may leave out what never occurs.
    """

    registers: tuple[Register, ...]
    rows: tuple[tuple[tuple[SymbolNumber, tuple[Content, ...]], SymbolNumber], ...]

    @cached_property
    def table(self) -> dict[tuple[SymbolNumber, tuple[Content, ...]], SymbolNumber]:
        """`rows` as a dictionary."""
        return dict(self.rows)

    @property
    def sublayers(self) -> int:
        """How many layers of attention it takes."""
        return 2 if any(isinstance(r, Counter | Sum) for r in self.registers) else int(bool(self.registers))


@final
@dataclass(frozen=True)
class Chain:
    """Levels one above the other, and a code for each symbol of the last one (or of the base)."""

    levels: tuple[RegisterLevel, ...]
    codes: tuple[int, ...]


@final
@dataclass(frozen=True)
class Cascade:
    """Chains side by side; a prefix is accepted if the codes at its last position are in `accepting`.

    The symbol below the first levels is place * (number of letters) + (number of the letter).
    """

    alphabet: Alphabet
    prefix: int
    period: int
    chains: tuple[Chain, ...]
    accepting: frozenset[tuple[int, ...]]

    @property
    def sublayers(self) -> int:
        """How many layers of attention it takes: those of the longest chain."""
        return max(sum(level.sublayers for level in chain.levels) for chain in self.chains)


def start(level: RegisterLevel) -> tuple[Content, ...]:
    """What the registers hold before the first position."""
    return tuple(0 if isinstance(register, Counter | Sum) else None for register in level.registers)


def after(register: Register, symbol: SymbolNumber, held: Content) -> Content:
    """What a register holds after a position with this symbol; for delays over several positions, None."""
    match register:
        case Latch():
            return register.by_symbol.get(symbol, held)
        case Counter(counted, modulus):
            assert held is not None
            return (held + (symbol in counted)) % modulus
        case Sum(_, modulus):
            assert held is not None
            return (held + register.by_symbol.get(symbol, 0)) % modulus
        case Delay(distance):
            return symbol if distance == 1 else None
        case _:
            assert_never(register)
