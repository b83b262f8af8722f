"""The automaton of an attention program: everything that the program can keep of the past is followed.

`checker.reachability` follows a program beside a given automaton. Here nothing is given, and the
configurations of the last walk are the automaton: a configuration is a letter that is read, with its place,
the codes of the groups and the registers there, and has the output's bit.

*The configurations are deterministic.* A configuration has one successor for each letter. At the start the
abstraction is every place with every letter. A walk's configuration is a scene of the abstraction with
registers; the registers after a configuration are a function of the configuration, so that its successors are
those of its scene, one for each letter. Where configurations are made one (`checker.bisimulation.classes`),
each has the letter in its label and the same set of classes after it, which is one class for each letter: so
the new abstraction has one successor for each letter, too. (`_by_letter` looks at this for every
configuration all the same.) Hence a word of n >= 1 letters has one way of n configurations, and by induction
on n the last configuration has the letter, the place, the codes and the registers of position n.

*The empty word* is computed by no network and no program. Its verdict is given, and stands in a state of its
own, to which no letter leads.

*A total that rises and falls* is forgotten beyond what so many states of an automaton can need; what depends
on it is then not known, and never guessed. How many states that are is not known here: one is tried, and as
long as the answer is not known, `GROWTH` times as many, up to the greatest number of configurations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import final

from attemper.attention_program import ops
from attemper.attention_program.wellformed import is_machine
from attemper.checker.names import UnprovenError
from attemper.checker.reachability import Follower, RefGroup, Walk
from attemper.checker.registers import StepCone
from attemper.errors import InternalError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal

CONFIGURATIONS = 200_000
"""So many configurations are followed unless it is said otherwise."""

SECONDS = 60.0
"""So long a program is followed unless it is said otherwise."""

GROWTH = 8
"""By how much a total is followed farther each time."""


class CapReachedError(UnprovenError):
    """A program that keeps more, or takes longer, than it may. `cap` is the option that says how much."""

    def __init__(self, message: str, cap: str) -> None:
        super().__init__(message)
        self.cap = cap


@final
@dataclass(frozen=True)
class Followed:
    """The minimal automaton, the empty word included, and how many configurations the last walk met."""

    dfa: Dfa
    configurations: int


def automaton_of(
    program: ops.Program,
    groups: Sequence[RefGroup] = (),
    *,
    configurations: int = CONFIGURATIONS,
    seconds: float = SECONDS,
    end: float | None = None,
    accepts_empty: bool,
) -> Followed:
    r"""The minimal automaton of the words w, of any length n, for which the program's output is 1 at n.

    accepts(w) = output at |w| for |w| >= 1, and `accepts_empty` for the empty word. The program has the
    meaning of `attention_program.machine`; of each of the `groups` of bits at most one is 1, which is tested
    at each configuration. A configuration is a letter that is read, its place, codes of groups and registers;
    there are at most `configurations` of them in each walk. The `seconds` are over at `end`, as `monotonic`
    has it, if they began before.

    Raises `CapReachedError`, which names the cap, after `configurations` or `seconds`: so does a program that
    counts without end. Raises `UnprovenError` where the program looks to the right, tells too many places
    apart, puts out several bits or numbers, or two bits of a group can be 1.
    (Proof: the module's docstring. That finitely much is kept without counts is Yang, Chiang and Angluin,
    "Masked Hard-Attention Transformers Recognize Exactly the Star-Free Languages", 2024.)

    >>> from attemper.attention_program.parse import parse_program
    >>> program = parse_program('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous s0\noutput s1')
    >>> followed = automaton_of(program, accepts_empty=False)
    >>> followed.dfa.prefixes(("a", "b", "a")), len(followed.dfa.moves)
    ((True, True, False), 5)
    """
    _require_bit(program)
    states, end = 1, monotonic() + seconds if end is None else end
    while True:
        watch = _Watch(configurations, seconds, end, is_counting=states > 1)
        try:
            return _followed(Follower(program, None, groups, states, watch.look), accepts_empty)
        except CapReachedError:
            raise
        except UnprovenError:
            if states >= configurations or not counts_without_bound(program, groups):
                raise
            states *= GROWTH


def _require_bit(program: ops.Program) -> None:
    if program.numbers is not None or program.symbols or program.outputs != (program.output,):
        raise UnprovenError("what it puts out is not one bit")
    if isinstance(program.steps[program.output], ops.Count | ops.Linear):
        raise UnprovenError("its output is a count, not a bit")
    if not is_machine(program):
        raise UnprovenError("a step has a default, which no machine has")


def looks_to_the_right(step: ops.Step) -> bool:
    """Whether a step reads positions that a program which is followed from the left has not come to."""
    match step:
        case ops.Attend(mask) | ops.Count(mask):
            return mask not in {ops.Mask.UP_TO, ops.Mask.BEFORE}
        case ops.Shift(direction):
            return direction is not ops.Direction.PREVIOUS
        case _:
            return False


def counts_without_bound(program: ops.Program, groups: Sequence[RefGroup] = ()) -> bool:
    """Whether a total of the program rises and falls: then the total is forgotten beyond some bound."""
    part = StepCone(program, (program.output, *(bit for group in groups for bit in group)), (), 1)
    return any(not tally.modulus and not tally.stops for tally in part.tallies.values())


@final
@dataclass(frozen=True)
class _Watch:
    """What ends a walk that has become too large or too long."""

    configurations: int
    seconds: float
    end: float
    is_counting: bool

    def look(self, configurations: int) -> None:
        """Raise `CapReachedError` if there are too many configurations, or if the time is over."""
        why = ": a total rises and falls, and is read however far it goes" if self.is_counting else ""
        if configurations > self.configurations:
            raise CapReachedError(
                f"what it keeps has over {self.configurations:,} configurations{why}", "configurations"
            )
        if monotonic() > self.end:
            raise CapReachedError(f"it was not followed within {self.seconds:g} seconds{why}", "seconds")


def _followed(follower: Follower, accepts_empty: bool) -> Followed:
    """The configurations of the last walk behind a start of their own."""
    for group in follower.groups:
        follower.follow(group)
    walk = Walk(follower, (follower.program.output,))
    accepting = [configuration + 1 for configuration, is_one in enumerate(follower.said(walk)) if is_one]
    moves = [
        _by_letter(follower, walk, configurations)
        for configurations in (range(len(walk.abstraction.first)), *walk.after)
    ]
    start = [0] if accepts_empty else []
    dfa = Dfa(follower.program.alphabet, tuple(moves), 0, frozenset(start + accepting))
    return Followed(minimal(dfa), len(walk.configurations))


def _by_letter(follower: Follower, walk: Walk, configurations: Sequence[int]) -> tuple[int, ...]:
    """The state of the configuration that reads each letter. Raises `InternalError` unless there is one for
    each.
    """
    letters = {
        walk.abstraction.scenes[walk.configurations[configuration][0]][0]: configuration + 1
        for configuration in configurations
    }
    count = len(follower.program.alphabet.symbols)
    if len(configurations) != count or len(letters) != count:
        raise InternalError("a node has no successor, or several, for one letter (please report)")
    return tuple(letters[letter] for letter in range(count))
