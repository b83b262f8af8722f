"""Models that go on writing: each token that is put out is the next symbol of the word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import TYPE_CHECKING, Protocol, final

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.errors import OptionError, UndecidedError, UnprovedError, UnsupportedError, WordError
from attemper.languages.definition import Definition
from attemper.languages.machines.meaning import Configuration
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.machines.syntax import HALTS, CounterMachine
from attemper.languages.words import Alphabet, Word
from attemper.networks.layers import Network
from attemper.networks.tokens import puts_out_tokens
from attemper.workbench.words import word_of

if TYPE_CHECKING:
    from attemper.running.runs import Run
    from attemper.workbench.words import WordLike

FORMAT = "float64"
"""All tokens are computed in it."""

WHOLE, STREAMED = "numerator-first", "scan"
"""The classes of kernels that compute whole words, and what a stream reads if it is a scan."""


class ReadsTokens(Protocol):
    """A stream, or whole words: what reads a word token by token, and says what comes next."""

    def push(self, symbol: str, /) -> object:
        """Read one more token; a stream then says what comes next. Raises `WordError` for another one."""

    @property
    def output(self) -> object:
        """What is put out at the last position; None where that cannot be read."""

    @property
    def position(self) -> int:
        """How many tokens were read."""


@final
class WholeWords:
    """Runs all that was read so far whenever it is asked what comes next."""

    def __init__(self, run: Callable[[Word], Run]) -> None:
        self._run, self._word = run, list[str]()

    def push(self, symbol: str, /) -> None:
        """Read one more token."""
        self._word.append(symbol)

    @property
    def output(self) -> object:
        """What is put out at the last position."""
        return self._run(tuple(self._word)).outputs[-1] if self._word else None

    @property
    def position(self) -> int:
        """How many tokens were read."""
        return len(self._word)


@final
class Generated(Iterator[str]):
    """The tokens that a model writes from a prompt on, until it puts out `none`; `Model.generate` makes one.

    Token t is what the model puts out at the last position of the prompt and the t - 1 tokens before it.
    It is read as soon as it is written, so that `halted` is known then. A network that can be a stream is
    one, with a state that does not grow; of others all that was written is run again for each token.

    >>> import attemper
    >>> model = attemper.compile(attemper.machine("input x n; sub n -> 1 else halt"), regime="decoder")
    >>> run = model.generate({"n": 2})
    >>> list(run), run.halted, run.registers, run.length
    (['1-', '1-', '10'], True, {'n': 0}, 6)
    """

    def __init__(
        self,
        reader: ReadsTokens,
        prompt: Iterable[str],
        machine: CounterMachine | None,
        kernel: str | None,
        horizon: int | None,
        *,
        beyond: bool,
    ) -> None:
        self.reader = reader
        self.is_stream = not isinstance(reader, WholeWords)
        """Whether a state that does not grow is all that is kept."""
        self.kernel = kernel
        """The class of kernels that computes the tokens; None for an order that is in none."""
        self.horizon = horizon
        """The longest word that a claim is about in the arithmetic in which this runs; None without one."""
        self._machine, self._beyond = machine, beyond
        # A state does not say what was read before it.
        is_known = machine is not None and not reader.position
        self._configuration = Configuration.first(machine) if machine is not None and is_known else None
        for token in prompt:
            self._read(token)
        if not reader.position:
            raise WordError("a prompt has at least one token: give some, or the numbers of registers")
        self._next = reader.output

    def __next__(self) -> str:
        """The next token. Raises `UndecidedError`, and `UnprovedError` at the horizon."""
        token, length = self._next, self.reader.position
        if not self._is_claimed:
            raise UnprovedError(
                f"the horizon is reached: that words of more than {self.horizon:,} symbols are right in "
                f"{FORMAT} is not claimed; beyond=True goes on all the same",
                options=("beyond",),
            )
        if token == HALTS:
            raise StopIteration
        if not isinstance(token, str):
            raise UndecidedError(f"what is put out after {length:,} symbols cannot be read in float64")
        found = self._read(token)
        self._next = found if self.is_stream else self.reader.output
        return token

    @property
    def length(self) -> int:
        """How many symbols were read: those of the prompt, and what was written."""
        return self.reader.position

    @property
    def halted(self) -> bool:
        """Whether `none` was put out, so that nothing follows; where that is claimed, or beyond."""
        return self._next == HALTS and self._is_claimed

    @property
    def _is_claimed(self) -> bool:
        """Whether what comes next is read from a word within the horizon, or nobody asks."""
        return self._beyond or self.horizon is None or self.reader.position <= self.horizon

    @property
    def registers(self) -> dict[str, int] | None:
        """What a counter machine's registers hold by now, as sums of what the tokens say.

        None for another model, and where a state was loaded, which does not say what was read before.
        """
        if self._machine is None or self._configuration is None:
            return None
        return dict(zip(self._machine.registers, self._configuration.registers, strict=True))

    @property
    def claimed(self) -> str:
        """What is claimed of tokens that are computed in this way."""
        how = f"{'a stream' if self.is_stream else 'whole words'} in {FORMAT}"
        if self.kernel is None:
            return f"{how}: no claim is about the order in which it computes"
        if self.horizon is None:
            return f"{how} ({self.kernel}): no certificate claims anything of that"
        return f"{how} ({self.kernel}): it is right on words of up to {self.horizon:,} symbols"

    def _read(self, token: str) -> object:
        """One more symbol."""
        found = self.reader.push(token)
        if self._machine is not None and self._configuration is not None:
            self._configuration.read(self._machine, token)
        return found


def require_tokens(network: Network) -> None:
    """Raise `UnsupportedError` unless what the network puts out are its own symbols, and `none`."""
    if not puts_out_tokens(network):
        raise UnsupportedError(
            f"this network does not go on writing: it does not put out one of its own symbols, or '{HALTS}'; "
            "a counter machine's does (docs/machines.md)"
        )


def horizon_in(certificate: Certificate | None, kernel: str | None) -> int | None:
    """How long words may be, by what a certificate claims of a class of kernels."""
    claims = () if certificate is None else certificate.claims
    floats = (one for one in claims if isinstance(one, FloatClaim))
    return next((one.horizon for one in floats if (one.format, one.kernel) == (FORMAT, kernel)), None)


def tokens_of(
    language: Definition, alphabet: Alphabet, prompt: WordLike | Mapping[str, int]
) -> Iterable[str]:
    """The symbols of a prompt; of numbers of registers tokens that add up to them, and the start.

    Raises `WordError`, and `OptionError` for numbers that no tokens of the input add up to.
    """
    if not isinstance(prompt, Mapping):
        return word_of(prompt, alphabet)
    if not isinstance(language, MachineLanguage):
        raise OptionError(
            "numbers are a counter machine's input: give this model symbols", options=("prompt",)
        )
    machine = language.machine
    begun = (_input(machine, name, number) for name, number in prompt.items())
    return chain(chain.from_iterable(begun), (machine.start,))


def _input(machine: CounterMachine, name: str, number: int) -> Iterator[str]:
    """The tokens that add so much to a register, those that add most first."""
    if name not in machine.registers:
        known = ", ".join(machine.registers)
        raise OptionError(f"'{name[:40]}' is no register of this machine: it has {known}", options=("input",))
    register, left = machine.registers.index(name), number
    adding = [own for own in machine.inputs if own.register == register]
    for own in sorted(adding, key=lambda own: own.amount, reverse=True):
        times, left = divmod(left, own.amount) if left > 0 else (0, left)
        yield from repeat(own.token, times)
    if left:
        said = ", ".join(f"'{own.token}' adds {own.amount}" for own in adding) or "no token adds to it"
        raise OptionError(f"{name}={number} is no sum of this machine's input: {said}", options=("input",))
