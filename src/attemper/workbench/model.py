"""The object a user holds: a language together with the transformer that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final, get_args

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate
from attemper.certificates.files import load_if_any
from attemper.certifying.certificate import certify
from attemper.certifying.realisations import realisations
from attemper.checker.check import check
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.compiling.decomposing.decompose import Alternative
from attemper.compiling.decomposing.limits import Limits
from attemper.compiling.pipeline import Compiled, Stage, compile_language
from attemper.compiling.regimes import Regime
from attemper.compiling.softening.hard_to_soft import MARGINS
from attemper.errors import (
    AutomatonError,
    MalformedFileError,
    OptionError,
    SourceError,
    UndecidedError,
    UnsupportedError,
)
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_from_json, dfa_to_json
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet, Word, check_word, parse_alphabet, parse_word, show_word
from attemper.networks.files import Source, digest_of
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.layers import HardWeighting, Network

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


def compile_regex(
    regex: str,
    alphabet: str | Sequence[str],
    *,
    regime: Literal["unbounded", "temperature", "decoder"] = "unbounded",
) -> Model:
    """Compile a regular expression into a softmax transformer.

    The transformer's output at position i of a word of any length n >= 1 is 1 if the prefix of length i
    is in the language and 0 otherwise, in real arithmetic, with one set of weights for every n.
    The expression's minimal automaton is taken apart into a cascade of resets and, where its groups are
    solvable, of counters (Krohn and Rhodes); `docs/automata.md` has the syntax.

    Raises `SourceError` (expression), `AlphabetError`, `OptionError`, `UnsupportedError` (an
    automaton with a group that is not solvable, or a cascade that grows too large).

    >>> model = compile_regex("(ab)*", "ab")
    >>> model.accepts("abab"), model.accepts("aba"), model.accepts("")
    (True, False, True)
    """
    wanted = Regime(choice("regime", regime, tuple(Regime)))
    letters = _letters(alphabet)
    return compile_source(parse_regex(regex, letters), letters, wanted, regex=regex)


def compile_dfa(dfa: Dfa, *, regime: Literal["unbounded", "temperature", "decoder"] = "unbounded") -> Model:
    """Compile an automaton, as `compile_regex` does an expression's.

    >>> from attemper.languages.words import Alphabet
    >>> parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    >>> model = compile_dfa(parity)
    >>> model.accepts("0110"), model.accepts("0111")
    (True, False)
    """
    wanted = Regime(choice("regime", regime, tuple(Regime)))
    return compile_source(minimal(dfa), dfa.alphabet, wanted)


def read_source(
    formula: str, alphabet: str | Sequence[str], at: str | None, empty: str
) -> tuple[TemporalLanguage, Alphabet]:
    """The language of a formula's text, and its alphabet; raises what `compile` raises."""
    reading = None if at is None else At(choice("at", at, tuple(At)))
    accepts_empty = choice("empty", empty, ("accept", "reject")) == "accept"
    letters = _letters(alphabet)
    return read_language(parse(formula, letters), reading, accepts_empty), letters


def _letters(alphabet: str | Sequence[str]) -> Alphabet:
    return parse_alphabet(alphabet) if isinstance(alphabet, str) else Alphabet(tuple(alphabet))


def compile_source(
    language: Language,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int = MARGINS[0],
    *,
    regex: str = "",
    limits: Limits | None = None,
) -> Model:
    """The model of a language; no head has a margin below `least_margin`."""
    compiled = compile_language(language, alphabet, regime, least_margin, limits)
    return Model.of(compiled, language, regime, regex)


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
        language = _language_of(source, network)
        regime = Regime(source.regime)
    except (SourceError, AutomatonError, UnsupportedError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise MalformedFileError(f"the source in '{folder}' cannot be read: {reason}") from None
    if network.reads_first != language.reads_first:
        raise MalformedFileError(f"'{folder}' says both that it is read first and last")
    if network.accepts_empty != language.accepts_empty:
        raise MalformedFileError(f"'{folder}' says both that the empty word is accepted and rejected")
    regex = source.text if source.kind == "regex" else ""
    said = _realisation_in(Path(folder), digest_of(network, source), language)
    return Model(network, language, regime, regex, realisation=said)


def _realisation_in(folder: Path, digest: str, language: Language) -> Realisation | None:
    """What the network is said to run by its certificate of the language, if that stands in the folder."""
    found = load_if_any(folder)
    is_its_own = found is not None and (found.network, found.language) == (digest, language)
    return found.realisation if found is not None and is_its_own else None


def _language_of(source: Source, network: Network) -> Language:
    """What a saved network was compiled from. Raises what reading that text raises."""
    if source.kind == "formula":
        formula = parse(source.text, network.alphabet)
        return TemporalLanguage(formula, At(source.at), network.accepts_empty)
    if source.kind == "program":
        return ProgramLanguage(parse_program(source.text), At(source.at), network.accepts_empty)
    if At(source.at) is not At.LAST:
        raise ValueError("an automaton is read at the last position")
    if source.kind == "regex":
        return parse_regex(source.text, network.alphabet)
    return dfa_from_json(source.text)


@final
@dataclass(frozen=True)
class Model:
    """A language, its softmax network, and ways to run it. Words are texts or sequences of symbols."""

    network: Network
    language: Language
    regime: Regime
    regex: str = ""
    """The text of a regular expression, if the automaton was written as one."""
    alternatives: tuple[Alternative, ...] = field(default=(), compare=False)
    """The ways to build an automaton's cascade that were tried when it was compiled."""
    realisation: Realisation | None = field(default=None, compare=False, repr=False)
    """The program that the network runs, and where its groups of bits are, if that is known."""
    stages: tuple[Stage, ...] = field(default=(), compare=False, repr=False)
    """What each pass made when the model was compiled."""
    _dense: dict[tuple[Weights, DType], DenseTransformer] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, compiled: Compiled, language: Language, regime: Regime, regex: str = "") -> Model:
        """The model of what was compiled in a regime."""
        said, stages = compiled.realisation, compiled.stages
        return cls(compiled.soft, language, regime, regex, compiled.alternatives, said, stages)

    @classmethod
    def of_program(cls, network: Network, program: Program, regime: Regime = Regime.UNBOUNDED) -> Model:
        """The model of a network that is meant to run the program; whether it does, `certify` finds out.

        Raises `OptionError` for another alphabet. `regime` is a remark.
        """
        if network.alphabet != program.alphabet:
            raise OptionError("the program has another alphabet than the network")
        at = At.FIRST if network.reads_first else At.LAST
        return cls(network, ProgramLanguage(program, at, network.accepts_empty), regime)

    @property
    def source(self) -> Source:
        """What the model was compiled from, as a text that can be read back."""
        match self.language:
            case TemporalLanguage(formula, at, _):
                return Source("formula", show(formula), str(at), str(self.regime))
            case ProgramLanguage(program, at, _):
                return Source("program", show_program(program), str(at), str(self.regime))
            case Dfa() if self.regex:
                return Source("regex", self.regex, str(At.LAST), str(self.regime))
            case Dfa():
                return Source("automaton", dfa_to_json(self.language), str(At.LAST), str(self.regime))
            case _:
                raise UnsupportedError(f"{type(self.language).__name__} has no text that can be read back")

    @property
    def title(self) -> str:
        """The formula, the regular expression, or how large the automaton or the program is."""
        match self.language:
            case Dfa(_, moves) if not self.regex:
                return f"an automaton with {len(moves)} states"
            case ProgramLanguage(program, _, _):
                return f"an attention program of {len(program.steps)} steps"
            case _:
                return self.source.text

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
        return trace_word(self.language, self.word(word), soft, hard)

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder: `network.json` and `weights.safetensors`."""
        save_network(self.network, self.source, Path(folder))

    @property
    def digest(self) -> str:
        """What names this network in its certificate."""
        return digest_of(self.network, self.source)

    def certify(self, progress: Callable[[int], None] = lambda _: None) -> Certificate:
        """The strongest certificate that the checker accepts, with the horizon of every float format.

        Raises `UnprovedError` if the checker has no proof.

        >>> compile("#<['0'] <= #<['1']", "01").certify().claims[0]
        RealClaim()
        """
        said = self.realisation or next(realisations(self.network, self.language))
        return certify(self.network, self.digest, self.language, said, progress)

    def check(self, certificate: Certificate, *, ignore_rounding: bool = False) -> Verdict:
        """What the independent checker says to a certificate of this model; see `checker/check.py`."""
        if certificate.language != self.language:
            text = "the certificate is about another language than this network's source"
            return Verdict((ClaimVerdict(Status.MALFORMED, text),))
        return check(self.network, self.digest, certificate, ignore_rounding=ignore_rounding)

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
