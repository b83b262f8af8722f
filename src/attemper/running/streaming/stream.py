"""A network that reads a word symbol by symbol, with a state whose size does not grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import final

from attemper.errors import MalformedFileError, UndecidedError, UnsupportedError, WordError
from attemper.languages.words import MOST_SHOWN
from attemper.networks.layers import Network
from attemper.running.numbers import read_bit
from attemper.running.streaming.averages import Averages
from attemper.running.streaming.generating.network import OutputsWithMargin, generated
from attemper.running.streaming.generating.text import NEAR
from attemper.running.streaming.outputs import PutOut, read_output, require_readable
from attemper.running.streaming.saved import LONGEST, Saved, data_of, saved_of, write_saved
from attemper.running.streaming.steps import steps_of

OFTEN = 256
"""At each multiple of this position a function is made, or the heads are given the state that it has.

To make one takes about as long as to read so many symbols without it.
"""


@final
class Stream:
    """A word that is read symbol by symbol, in float64; `attemper.Model.stream` makes one.

    What is put out at a position is what the network puts out there in every word that begins so. The state
    has at most `most` numbers, whatever the position.

    >>> import attemper
    >>> stream = attemper.compile("O a", "ab", regime="decoder").stream()
    >>> [stream.push(symbol) for symbol in "bab"]
    [False, True, True]
    >>> stream.position, stream.value, stream.accepts
    (3, 1.0, True)
    """

    def __init__(
        self, network: Network, digest: str, state: str | Path | Mapping[str, object] | None = None
    ) -> None:
        require_readable(network)
        self._network, self._digest = network, digest
        self._steps = steps_of(network)
        self._generated: Callable[[int | None], OutputsWithMargin | None] | None = None
        self._since: list[int] = []
        self._tokens = {symbol: token for token, symbol in enumerate(network.alphabet.symbols)}
        self._failure: str | None = None
        self._position, self._margin = 0, float("inf")
        self._first: tuple[float, ...] = ()
        self._last: tuple[float, ...] = ()
        self._is_bit = network.measure is None and not network.symbols
        if state is not None:
            self._restore(saved_of(state, digest))

    def push(self, symbol: str) -> PutOut | None:
        """Read one more symbol: what is put out there, a bit, a symbol or a number; None where undecided.

        Raises `WordError` for a symbol outside the alphabet, after which all is as before. The stream ends
        where a head would have to keep more (`UnsupportedError`), or a number leaves float64
        (`UndecidedError`).
        """
        token = self._tokens.get(symbol) if isinstance(symbol, str) else None
        if token is None:
            raise self._unknown(symbol)
        if self._failure is not None or self._position >= LONGEST:
            self._require_whole()
        i = self._position + 1
        try:
            self._since.append(token)
            found = None if self._generated is None else self._generated(token)
            self._last, self._margin = found or self._read_plainly(i)
            self._position = i
            if not i % OFTEN:
                self._generate_or_settle()
        except BaseException as error:
            # Some heads have read the symbol, others have not.
            self._failure, self._generated = str(error) or type(error).__name__, None
            if isinstance(error, ArithmeticError | ValueError):
                raise UndecidedError(f"a number at position {i:,} is beyond float64: {error}") from None
            raise
        if i == 1:
            self._first = self._last
        return self.output

    def _read_plainly(self, i: int) -> OutputsWithMargin:
        """Read what came since the heads' state was last theirs, up to position i, without the function."""
        self._generated = None
        *before, token = self._since
        for place, old in enumerate(before, start=i - len(before)):
            self._steps.step(old, place)
        values, margin = self._steps.step(token, i)
        self._since.clear()
        return tuple(values), min(self._margin, margin)

    def _generate_or_settle(self) -> None:
        self._settle()
        if self._generated is None or self._position == NEAR:
            self._generated = generated(self._steps, self._position, self._margin).send

    def _settle(self) -> None:
        """Give the heads the state that the function has, if there is one."""
        if self._generated is not None:
            self._generated(None)
            self._since.clear()

    @property
    def output(self) -> PutOut | None:
        """What is put out at the last position; None where it is undecided, and before the first symbol."""
        if not self._last or self._margin < 0:
            return None
        return (
            read_bit(self._last[0])
            if self._is_bit
            else read_output(self._network, self._last, self._position)
        )

    @property
    def position(self) -> int:
        """How many symbols were read."""
        return self._position

    @property
    def value(self) -> float:
        """The output coordinate at the last position: of several the first. Raises `WordError` before."""
        if not self._last:
            raise WordError("no symbol was read, so there is no value yet: push one")
        return self._last[0]

    @property
    def margin(self) -> float:
        """The smallest margin of the network's clamps so far: below 0 some bit inside cannot be read."""
        return self._margin

    @property
    def accepts(self) -> bool | None:
        """The verdict on the word that was read so far; None if it is undecided.

        A verdict that is read at the first position is the first bit, and stays. Raises `UnsupportedError`
        where a symbol or a number is put out.
        """
        network = self._network
        if network.symbols or network.measure is not None:
            raise UnsupportedError("there is no verdict: a symbol or a number is put out; see stream.output")
        if not self._last:
            return network.accepts_empty
        if self._margin < 0:
            return None
        return read_bit(self._first[0] if network.reads_first else self._last[0])

    @property
    def is_scan(self) -> bool:
        """Whether it computes as a scan in float64 may: the scores of no head have powers of j.

        What certificates say of scans is then said of it. (FORMAT.md, section 14, has the proof.)
        """
        return all(isinstance(head, Averages) for head in self._steps.heads)

    @property
    def is_whole(self) -> bool:
        """Whether the state is that after the last position; not where reading a symbol has failed."""
        return self._failure is None

    @property
    def size(self) -> int:
        """How many numbers the state has now."""
        self._settle()
        kept = sum(len(row) for head in self._steps.heads for row in head.rows())
        return 2 + len(self._first) + len(self._last) + kept

    @property
    def most(self) -> int:
        """The most numbers that the state can have, at any position."""
        return 2 + 2 * len(self._network.outputs) + sum(head.most for head in self._steps.heads)

    @property
    def state(self) -> dict[str, object]:
        """The state as JSON data, exactly, for `attemper.Model.stream(state=...)` of the same network."""
        self._require_whole()
        self._settle()
        heads = tuple(tuple(tuple(map(float, row)) for row in head.rows()) for head in self._steps.heads)
        return data_of(Saved(self._digest, self._position, self._margin, self._first, self._last, heads))

    def save(self, path: str | Path) -> None:
        """Write the state to a file, completely; raises `MalformedFileError` if that cannot be done.

        >>> import attemper
        >>> from tempfile import TemporaryDirectory
        >>> model = attemper.compile("O a", "ab", regime="decoder")
        >>> stream = model.stream()
        >>> stream.push("a")
        True
        >>> with TemporaryDirectory() as folder:
        ...     stream.save(f"{folder}/state.json")
        ...     model.stream(state=f"{folder}/state.json").push("b")
        True
        """
        write_saved(self.state, Path(path))

    def _restore(self, saved: Saved) -> None:
        """Take a state; raises `MalformedFileError` where it is not one of this network's."""
        heads, outputs = self._steps.heads, len(self._network.outputs) if saved.position else 0
        try:
            if len(saved.heads) != len(heads):
                raise ValueError(f"it has {len(saved.heads)} heads, not {len(heads)}")
            if (len(saved.first), len(saved.last)) != (outputs, outputs):
                raise ValueError("it has another number of outputs")
            for head, rows in zip(heads, saved.heads, strict=True):
                head.restore([list(row) for row in rows], saved.position)
        except (ValueError, UnsupportedError, UndecidedError) as error:
            raise MalformedFileError(f"the state is none of this network: {error}") from None
        self._position, self._margin = saved.position, saved.margin
        self._first, self._last = saved.first, saved.last

    def _require_whole(self) -> None:
        if self._failure is not None:
            raise UnsupportedError(
                f"the stream ended at position {self.position + 1:,}: {self._failure}; begin another one, "
                "from a state that was saved before"
            )
        if self.position >= LONGEST:
            raise UnsupportedError("a stream ends at position 2^53, beyond which floats skip integers")

    def _unknown(self, symbol: object) -> WordError:
        place, symbols = self.position + 1, self._network.alphabet.symbols
        known = " ".join(symbols[:MOST_SHOWN])
        shown = symbol if isinstance(symbol, str) else repr(symbol)
        return WordError(
            f"symbol '{shown[:MOST_SHOWN]}' at position {place} is not in the alphabet {{{known}}}",
            position=place,
        )
