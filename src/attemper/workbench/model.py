"""The object a user holds: a language together with the transformer that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final, get_args

from attemper.certificates.claims import Certificate
from attemper.checker.check import check
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.compiling.pipeline import compile_language
from attemper.compiling.regimes import Regime
from attemper.compiling.softening.bounds import MARGINS
from attemper.errors import MalformedFileError, OptionError, SourceError, UndecidedError, UnprovedError
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage, read_language
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet, Word, check_word, parse_alphabet, parse_word, show_word
from attemper.networks.files import Source, digest_of
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.layers import HardWeighting, Network
from attemper.workbench.certify import certify

if TYPE_CHECKING:
    from attemper.running.batches import Run
    from attemper.running.dense import DenseTransformer
    from attemper.workbench.trace import Trace

Weights = Literal["soft", "hard"]
DType = Literal["float64", "float32", "bfloat16"]


def compile(  # noqa: A001 - attemper.compile is the name users know
    formula: str,
    alphabet: str | Sequence[str],
    *,
    at: Literal["first", "last"] | None = None,
    regime: Literal["unbounded", "temperature", "decoder"] = "unbounded",
    empty: Literal["accept", "reject"] = "reject",
) -> Model:
    """Compile a temporal or counting formula into a softmax transformer.

    The transformer's output at position i of a word w of any length n >= 1 is 1 if w, i |= formula
    and 0 otherwise, in real arithmetic, with one set of weights for every n. (Yang, Strobl, Chiang,
    Angluin, Theorems 12, 13, 15, 16, 20, 21; see `docs/theory.md` for what differs.)

    * `formula`: see `docs/formulas.md`.
    * `alphabet`: `"01"` (single characters), `"push pop"` (separated by blanks) or a list.
    * `at`: the position whose truth is the verdict; default last, which must be said if the formula
      speaks of the future only.
    * `regime`: `unbounded` position embeddings, `temperature` (bounded ones, temperatures in n), or
      `decoder` (past formulas; nothing depends on n).
    * `empty`: the verdict on the empty word.

    Raises `SourceError` (formula), `AlphabetError`, `AmbiguousReadingError` (`at` is missing),
    `OptionError` (an option's value), `UnsupportedError` (the regime cannot, or nothing can).

    >>> model = compile("#<['0'] <= #<['1']", "01")
    >>> model.accepts("0110"), model.accepts("0010")
    (True, False)
    """
    wanted = Regime(choice("regime", regime, tuple(Regime)))
    return compile_source(*read_source(formula, alphabet, at, empty), wanted)


def read_source(
    formula: str, alphabet: str | Sequence[str], at: str | None, empty: str
) -> tuple[TemporalLanguage, Alphabet]:
    """The language of a formula's text, and its alphabet; raises what `compile` raises."""
    reading = None if at is None else At(choice("at", at, tuple(At)))
    accepts_empty = choice("empty", empty, ("accept", "reject")) == "accept"
    letters = parse_alphabet(alphabet) if isinstance(alphabet, str) else Alphabet(tuple(alphabet))
    return read_language(parse(formula, letters), reading, accepts_empty), letters


def compile_source(
    language: TemporalLanguage, alphabet: Alphabet, regime: Regime, least_margin: int = MARGINS[0]
) -> Model:
    """The model of a language; no head has a margin below `least_margin`."""
    return Model(compile_language(language, alphabet, regime, least_margin).soft, language, regime)


def choice(option: str, value: str, allowed: Sequence[str]) -> str:
    """The value, if it is allowed; else `OptionError` with what is."""
    if value not in allowed:
        raise OptionError(f"{option}={value!r} is none of {', '.join(repr(str(a)) for a in allowed)}")
    return value


def load(folder: str | Path) -> Model:
    """Read a model back from the folder that `Model.save` or `attemper compile` wrote.

    Raises `MalformedFileError` if a file is missing, damaged or of another shape.
    """
    network, source = load_network(Path(folder))
    try:
        formula = parse(source.formula, network.alphabet)
        language = TemporalLanguage(formula, At(source.at), network.accepts_empty)
        regime = Regime(source.regime)
    except (SourceError, ValueError) as error:
        raise MalformedFileError(f"the source in '{folder}' cannot be read: {error}") from None
    if network.reads_first != (language.at is At.FIRST):
        raise MalformedFileError(f"'{folder}' says both that it is read first and last")
    return Model(network, language, regime)


def certificate_or_reason(
    model: Model, progress: Callable[[int], None] = lambda _: None
) -> tuple[Certificate | None, str]:
    """The model's certificate, or why it has none."""
    try:
        return model.certify(progress), ""
    except UnprovedError as error:
        return None, str(error)


@final
@dataclass(frozen=True)
class Model:
    """A language, its softmax network, and ways to run it. Words are texts or sequences of symbols."""

    network: Network
    language: TemporalLanguage
    regime: Regime
    _dense: dict[tuple[Weights, DType], DenseTransformer] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def formula(self) -> str:
        """The formula's canonical text."""
        return show(self.language.formula)

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that words may have."""
        return self.network.alphabet

    def dense(self, *, weights: Weights = "soft", dtype: DType = "float64") -> DenseTransformer:
        """The network as a `torch.nn.Module`; `hard` replaces softmax by average-hard attention."""
        choice("weights", weights, get_args(Weights))
        choice("dtype", dtype, get_args(DType))
        if (weights, dtype) not in self._dense:
            import torch

            from attemper.running.dense import DenseTransformer

            override = HardWeighting.AVERAGE if weights == "hard" else None
            self._dense[weights, dtype] = DenseTransformer(self.network, getattr(torch, dtype), override)
        return self._dense[weights, dtype]

    def accepts(
        self, word: str | Sequence[str], *, weights: Weights = "soft", dtype: DType = "float64"
    ) -> bool:
        """The verdict on a word.

        Raises `WordError`, and `UndecidedError` where a bit visibly could not be rounded in this
        format. Far beyond a format's horizon an answer can be wrong without that sign.
        """
        (run,) = self.run([word], weights=weights, dtype=dtype)
        verdict = self.verdict(run)
        if verdict is None:
            raise UndecidedError(self.undecided_message(run, dtype))
        return verdict

    def positions(
        self, word: str | Sequence[str], *, weights: Weights = "soft", dtype: DType = "float64"
    ) -> tuple[bool, ...]:
        """The truth of the formula at the positions 1..n, as entries 0..n-1."""
        (run,) = self.run([word], weights=weights, dtype=dtype)
        bits = tuple(bit for bit in run.bits if bit is not None)
        if len(bits) != len(run.bits):
            raise UndecidedError(self.undecided_message(run, dtype))
        return bits

    def run(
        self, words: Sequence[str | Sequence[str]], *, weights: Weights = "soft", dtype: DType = "float64"
    ) -> Iterator[Run]:
        """Run words of any lengths in batches, in their order."""
        from attemper.running.batches import Run, run_words

        checked = [self.word(word) for word in words]
        runs = run_words(self.dense(weights=weights, dtype=dtype), [word for word in checked if word])
        for word in checked:
            yield next(runs) if word else Run(word, (), (), float("inf"))

    def verdict(self, run: Run) -> bool | None:
        """The bit at the position where the language is read; None if it cannot be read there."""
        if not run.word:
            return self.network.accepts_empty
        return run.bits[0 if self.network.reads_first else -1]

    def trace(self, word: str | Sequence[str]) -> Trace:
        """Every subformula, every head's attention and every margin on one word."""
        from attemper.workbench.trace import trace_word

        soft, hard = self.dense(weights="soft"), self.dense(weights="hard")
        return trace_word(self.language.formula, self.word(word), soft, hard)

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder: `network.json` and `weights.safetensors`."""
        save_network(self.network, self._source(), Path(folder))

    @property
    def digest(self) -> str:
        """What names this network in its certificate."""
        return digest_of(self.network, self._source())

    def certify(self, progress: Callable[[int], None] = lambda _: None) -> Certificate:
        """The strongest certificate that the checker accepts, with the horizon of every float format.

        Raises `UnprovedError` if the checker has no proof.

        >>> compile("#<['0'] <= #<['1']", "01").certify().claims[0]
        RealClaim()
        """
        return certify(self.network, self.digest, self.language, progress)

    def check(self, certificate: Certificate, *, ignore_rounding: bool = False) -> Verdict:
        """What the independent checker says to a certificate of this model; see `checker/check.py`."""
        if certificate.language != self.language:
            text = f"the certificate is about another formula: {show(certificate.language.formula)}"
            return Verdict((ClaimVerdict(Status.MALFORMED, text),))
        return check(self.network, self.digest, certificate, ignore_rounding=ignore_rounding)

    def _source(self) -> Source:
        return Source(self.formula, str(self.language.at), str(self.regime))

    def word(self, word: str | Sequence[str]) -> Word:
        """The word as a tuple of symbols; raises `WordError`."""
        return (
            parse_word(word, self.alphabet)
            if isinstance(word, str)
            else check_word(tuple(word), self.alphabet)
        )

    def undecided_message(self, run: Run, dtype: DType) -> str:
        """What to say when an output is neither near 0 nor near 1."""
        shown = f"'{show_word(run.word)[:60]}' (length {len(run.word)})"
        if run.margin < 0:
            what = f"on {shown} a bit inside the network could not be rounded (margin {run.margin:.3f})"
        else:
            place = next(i for i, bit in enumerate(run.bits, start=1) if bit is None)
            what = f"the output at position {place} of {shown} is {run.values[place - 1]:.3f}"
        advice = "" if dtype == "float64" else " Use a wider format (--dtype float64)."
        return f"undecided: {what}. The word is beyond what {dtype} can compute.{advice}"
