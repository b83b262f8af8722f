"""The automaton of a formula or program, proved: by a network that is shown to compute both.

The compiler makes a network of the formula, and says which program the network runs; the program is followed
to an automaton (`reading.machines`). Neither is believed: the checker proves from the network's weights that
it computes the formula, and that it computes the automaton. So both are one language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.realisation import Realisation
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.levels import NetworkLevel, ProgramLevel
from attemper.compiling.passes import JoinShifts
from attemper.compiling.pipeline import PassResult, Pipeline, formula_pipeline, program_pipeline
from attemper.compiling.simplifying.spell_out import Shared
from attemper.compiling.softening.hard_to_soft import MARGINS
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.relating import from_the_end
from attemper.languages.temporal.mirroring import mirrored
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.reading.machines import CONFIGURATIONS, SECONDS, automaton_of, looks_to_the_right

BOTH_WAYS = (
    "it looks both ways: read at the last position only what looks to the left is followed, and read at the "
    "first only what looks to the right"
)


@final
@dataclass(frozen=True)
class Caps:
    """How many configurations are followed, and for how long."""

    configurations: int = CONFIGURATIONS
    seconds: float = SECONDS


def automaton_of_language(language: Definition, alphabet: Alphabet, caps: Caps | None = None) -> Dfa:
    """The minimal automaton of a language, proved: of all its words of any length n, the empty one included.

    An automaton is one by definition. Raises `UnprovenError` with the reason, and what
    `automaton_of_formula` and `automaton_of_program` raise.
    """
    caps = caps or Caps()
    match language:
        case Dfa():
            return minimal(language)
        case TemporalLanguage():
            return automaton_of_formula(language, alphabet, caps)
        case ProgramLanguage():
            return automaton_of_program(language, caps)
        case _:
            raise UnprovenError(f"nothing makes an automaton of {type(language).__name__}")


def automaton_required(
    language: Definition, alphabet: Alphabet, named: object, caps: Caps | None = None
) -> Dfa:
    """The same where a question cannot do without: what has none is refused by its name."""
    try:
        return automaton_of_language(language, alphabet, caps)
    except UnprovenError as error:
        raise UnsupportedError(f"{named} is not made an automaton: {error}") from None


def automaton_of_formula(language: TemporalLanguage, alphabet: Alphabet, caps: Caps | None = None) -> Dfa:
    """The minimal automaton of the words, of any length n, for which a formula holds where it is read.

    w of n >= 1 symbols is accepted if and only if w, n |= formula, or w, 1 |= formula if it is read first;
    the verdict on the empty word is the language's. A formula that is read first is mirrored, and the
    automaton of its mirror image is read from the other end. Proved, not only made: the checker shows of one
    network that it computes the formula, and that it computes the automaton.

    Raises `UnprovenError` where the formula looks to the right (read first: to the left), tells positions
    or counts without end (`CapReachedError` with the name of the cap), or is beyond the compiler or checker.

    >>> from attemper.languages.temporal.parse import parse
    >>> ab = Alphabet(("a", "b"))
    >>> language = TemporalLanguage(parse("a U (b & G b)"), At.FIRST, False)
    >>> automaton_of_formula(language, ab).moves
    ((0, 1), (2, 1), (2, 2))
    """
    if language.at is At.FIRST:
        image = TemporalLanguage(mirrored(language.formula), At.LAST, language.accepts_empty)
        try:
            return from_the_end(automaton_of_formula(image, alphabet, caps))
        except UnsupportedError as error:
            raise UnprovenError(str(error)) from None
    return _proved(language, alphabet, caps or Caps())


def automaton_of_program(language: ProgramLanguage, caps: Caps | None = None) -> Dfa:
    r"""The minimal automaton of the words, of any length n, for which a program's output is 1 at n.

    The verdict on the empty word is the language's. Proved as for a formula: the program is compiled, and the
    checker shows of the network that it computes the program's output, and that it computes the automaton.

    Raises `UnprovenError` for a program that is read first or puts out something else than one bit, and as
    `automaton_of_formula` does.

    >>> from attemper.attention_program.parse import parse_program
    >>> text = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous 2 s0 default 0\noutput s1'
    >>> automaton_of_program(ProgramLanguage(parse_program(text), At.LAST, False)).accepts(("a", "b", "b"))
    True
    """
    if language.at is At.FIRST:
        raise UnprovenError("a program that is read at the first position is not followed")
    if language.program.symbols or language.program.numbers is not None:
        raise UnprovenError("what it puts out is not one bit")
    return _proved(language, language.program.alphabet, caps or Caps())


def _proved(language: TemporalLanguage | ProgramLanguage, alphabet: Alphabet, caps: Caps) -> Dfa:
    """The automaton of a language that is read last."""
    network, said = _compiled(language, alphabet)
    if any(map(looks_to_the_right, said.program.steps)):
        raise UnprovenError(BOTH_WAYS)
    groups = [tuple(step for _, step in group.bits) for group in said.groups]
    found = automaton_of(
        said.program,
        groups,
        configurations=caps.configurations,
        seconds=caps.seconds,
        accepts_empty=language.accepts_empty,
    )
    prove(network, language)
    prove(network, found.dfa, said)
    return found.dfa


def compiled_network(language: TemporalLanguage | ProgramLanguage, alphabet: Alphabet) -> Network:
    """A network that is meant to compute the language. Raises `UnprovenError` if there is none."""
    return _compiled(language, alphabet)[0]


def _compiled(
    language: TemporalLanguage | ProgramLanguage, alphabet: Alphabet
) -> tuple[Network, Realisation]:
    """A network for the language, and the program that the network runs: its selections have no cases."""
    try:
        stages = _stages(language, alphabet)
    except UnsupportedError as error:
        raise UnprovenError(f"it is not compiled: {error}") from None
    programs = [stage.level.program for stage in stages if isinstance(stage.level, ProgramLevel)]
    (*_, level) = [stage.level for stage in stages if isinstance(stage.level, NetworkLevel)]
    return level.network, Realisation(programs[-1], level.groups)


def _stages(language: TemporalLanguage | ProgramLanguage, alphabet: Alphabet) -> tuple[PassResult, ...]:
    match language:
        case TemporalLanguage():
            usual = formula_pipeline(language, alphabet, Regime.UNBOUNDED, MARGINS[0], Shared.NONE)
            return usual.run(language, lambda _: None)
        case ProgramLanguage():
            passes = program_pipeline(Regime.UNBOUNDED, MARGINS[0], Shared.NONE, {}).passes
            # One head for several positions has cases, which no automaton follows.
            kept = tuple(one for one in passes if one.name != JoinShifts.name)
            return Pipeline[ProgramLanguage, NetworkLevel](kept).run(language, lambda _: None)
        case _:
            assert_never(language)
