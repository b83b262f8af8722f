"""A certificate: which network computes which language, in which arithmetic, for which lengths. Data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from attemper.attention_program.language import ProgramLanguage, defining_program
from attemper.attention_program.ops import Program
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.attention_program.wellformed import complaints as program_complaints
from attemper.exact.codec import Natural
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage


@final
@dataclass(frozen=True, repr=False)
class RealClaim:
    """Right in real arithmetic for all words of up to `horizon` symbols; None: of all lengths."""

    horizon: Natural | None = None

    def __repr__(self) -> str:
        return "RealClaim()" if self.horizon is None else f"RealClaim(horizon={self.horizon})"


@final
@dataclass(frozen=True)
class FloatClaim:
    """Right for all words of up to `horizon` symbols in a float format.

    `kernel` is the class of attention kernels: numerator-first, normalise-first or scan. Sums are formed in
    any order.
    `bottleneck` says what no proof covers beyond the horizon: a remark, not part of the claim.
    """

    format: str
    kernel: str
    horizon: Natural
    bottleneck: str = field(repr=False)


Claim = RealClaim | FloatClaim

SourceMeaning = TemporalLanguage | Dfa | ProgramLanguage | MachineLanguage
"""What a language is named by: a formula, an automaton, an attention program or a counter machine."""


@final
@dataclass(frozen=True)
class Certificate:
    """Claims about the network with this digest.

    `program` is what the network is said to run, where the proof goes by way of a program that is not the
    language itself; `groups` says where it keeps symbols. Whatever they are, nothing is concluded from them
    but what the weights are seen to do.
    """

    network: str
    language: SourceMeaning = field(repr=False)
    claims: tuple[Claim, ...]
    program: Program | None = field(default=None, repr=False)
    groups: tuple[SymbolGroup, ...] = field(default=(), repr=False)

    @property
    def realisation(self) -> Realisation | None:
        """The program that the network is said to run, if it is."""
        program = defining_program(self.language) or self.program
        return None if program is None else Realisation(program, self.groups)

    @classmethod
    def by_way_of(
        cls, said: Realisation | None, network: str, language: SourceMeaning, claims: tuple[Claim, ...]
    ) -> Certificate:
        """The certificate of a network that is said to run a program; a formula's says nothing of one."""
        if said is None or isinstance(language, TemporalLanguage):
            return cls(network, language, claims)
        return cls(
            network, language, claims, said.program if isinstance(language, Dfa) else None, said.groups
        )


def complaints(certificate: Certificate) -> Iterator[str]:
    """What is wrong with a certificate as a whole, and with the programs in it."""
    language, program = certificate.language, certificate.program
    if program is not None and not isinstance(language, Dfa):
        yield "its language is no automaton, so that its program must be null"
    if certificate.groups and certificate.realisation is None:
        yield "it has groups of bits, but no program"
    if not all(group.bits for group in certificate.groups):
        yield "it has a group without bits"
    yield from source_complaints(language)
    if program is not None:
        yield from map(str, program_complaints(program))


def source_complaints(language: SourceMeaning) -> Iterator[str]:
    """What is wrong with the program of a language, if it has one."""
    if isinstance(language, ProgramLanguage):
        yield from map(str, program_complaints(language.program))
