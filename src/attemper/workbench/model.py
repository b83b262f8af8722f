"""The object a user holds: a language together with the transformer that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final, get_args

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate
from attemper.certificates.files import discard as discard_certificate
from attemper.certificates.files import load_if_any
from attemper.certificates.files import save as save_certificate
from attemper.certifying.certificate import certify
from attemper.certifying.choosing import Goal, choose
from attemper.certifying.realisations import realisations
from attemper.checker.check import check
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.compiling.decomposing.decompose import Alternative
from attemper.compiling.decomposing.limits import Limits
from attemper.compiling.lowering.definite_to_formula import definite_to_formula
from attemper.compiling.pipeline import Compiled, Stage, compile_language
from attemper.compiling.softening.hard_to_soft import MARGINS
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import (
    AutomatonError,
    MalformedFileError,
    OptionError,
    SourceError,
    UndecidedError,
    UnsupportedError,
    WordError,
)
from attemper.exports.kinds import FORMATS, Kind
from attemper.languages.language import Language
from attemper.languages.measures import describe
from attemper.languages.rasp.program import RaspProgram
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_from_json, dfa_to_json
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import letters_of, parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet, Word, show_word
from attemper.missing import torch_needed
from attemper.networks.files import HARD, Source, digest_of
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.layers import HardWeighting, Network, parameter_count
from attemper.networks.regime import Regime
from attemper.running.engines.names import SHORT, Engine, engine_of
from attemper.workbench.options import (
    EngineName,
    KernelName,
    RegimeName,
    Weights,
    choice,
    dtype_name,
    goal_of,
    limits_of,
    refuse_caps,
    regimes_for,
    require,
)
from attemper.workbench.programs import names_of, program_language, save_text, text_in, text_of
from attemper.workbench.words import word_of, words_of

if TYPE_CHECKING:
    import torch

    from attemper.running.arrays import Arrays
    from attemper.running.config import Config
    from attemper.running.dense import DenseTransformer
    from attemper.running.numbers import Number
    from attemper.running.runs import Run
    from attemper.running.streaming.stream import Stream
    from attemper.workbench.options import DTypeLike

    PutOut = str | bool | Number
    ExportKind = Literal["hugging-face", "gpt2", "transformer-lens", "onnx", "torch", "circuit"]
    from attemper.workbench.trace import Trace
    from attemper.workbench.words import WordLike

SHOWN = 60
"""How many characters of a title or a word a line shows."""


def compile(  # noqa: A001 - attemper.compile is the name users know
    formula: str,
    alphabet: str | Sequence[str] | Alphabet,
    *,
    at: Literal["first", "last"] | None = None,
    regime: RegimeName | None = None,
    empty: Literal["accept", "reject"] = "reject",
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: KernelName = "numerator-first",
    caps: Mapping[str, int] | None = None,
    layer_norm: LayerNorm | None = None,
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
      `decoder` (past formulas; nothing depends on n). Default: unbounded, or with a horizon whichever
      reaches it.
    * `empty`: the verdict on the empty word.
    * `horizon`: a length in symbols. Regime and margins are then chosen so that the network is proved right
      for all words up to it in the float format `dtype`, with the class `kernel` of attention kernels
      (`docs/arithmetic.md`). Without a horizon nothing is proved yet, and neither option matters.
    * `caps`: refused, unless it is empty: caps are on an automaton's cascade (see `compile_regex`), and a
      formula has none.
    * `layer_norm`: every sublayer reads the residual stream through a LayerNorm or an RMSNorm, as it says
      (`docs/layer-norm.md`). The default regime is then temperature, and unbounded is refused.

    Raises `SourceError` (formula), `AlphabetError`, `AmbiguousReadingError` (`at` is missing),
    `OptionError` (an option's value), `UnsupportedError` (the regime cannot, nothing can, or no network
    reaches the horizon).

    >>> model = compile("#<['0'] <= #<['1']", "01")
    >>> model.accepts("0110"), model.accepts("0010")
    (True, False)
    >>> compile("#<['0'] <= #<['1']", "01", horizon=100_000, dtype="float32")
    <Model #<['0'] <= #<['1']: unbounded, 2 layers, 2 heads, 466 parameters>
    """
    require("formula", formula, str, "give its text, for example 'O a'")
    refuse_caps(caps)
    language, letters = read_source(formula, alphabet, at, empty)
    goal = goal_of(horizon, dtype, kernel)
    return compile_for(language, letters, regime, goal, Limits(), layer_norm=layer_norm)


def compile_regex(
    regex: str,
    alphabet: str | Sequence[str] | Alphabet,
    *,
    regime: RegimeName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: KernelName = "numerator-first",
    caps: Mapping[str, int] | None = None,
    layer_norm: LayerNorm | None = None,
) -> Model:
    """Compile a regular expression into a softmax transformer.

    The transformer's output at position i of a word of any length n >= 1 is 1 if the prefix of length i
    is in the language and 0 otherwise, in real arithmetic, with one set of weights for every n.
    The expression's minimal automaton is taken apart into a cascade of resets and, where its groups are
    solvable, of counters (Krohn and Rhodes); `docs/automata.md` has the syntax, and says which languages of
    large automata are written, and claimed, as formulas instead. The options are those of `compile`, and
    `caps`: how large the cascade may grow, by the names that a refusal says, as in `{"symbols": 8000}`.

    Raises `SourceError` (expression), `AlphabetError`, `OptionError`, `UnsupportedError` (an
    automaton with a group that is not solvable, or a cascade that grows beyond one of the `caps`).

    >>> model = compile_regex("(ab)*", "ab")
    >>> model.accepts("abab"), model.accepts("aba"), model.accepts("")
    (True, False, True)
    """
    require("regex", regex, str, "give its text, for example 'a*b'")
    letters = letters_of(alphabet)
    language = language_of_regex(regex, letters)
    goal, limits = goal_of(horizon, dtype, kernel), limits_of(caps)
    written = regex if isinstance(language, Dfa) else ""
    return compile_for(language, letters, regime, goal, limits, written, layer_norm=layer_norm)


def language_of_regex(regex: str, alphabet: Alphabet) -> Dfa | TemporalLanguage:
    """An expression's language, as what it is compiled and claimed as.

    That is its minimal automaton; but where that is large and the language definite, a formula about a word's
    last symbols. Raises what `parse_regex` raises.
    """
    definite = definite_to_formula(regex, alphabet)
    if definite is None:
        return parse_regex(regex, alphabet)
    return TemporalLanguage(definite.formula, At.LAST, definite.accepts_empty)


def compile_dfa(
    dfa: Dfa,
    *,
    regime: RegimeName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: KernelName = "numerator-first",
    caps: Mapping[str, int] | None = None,
    layer_norm: LayerNorm | None = None,
) -> Model:
    """Compile an automaton, as `compile_regex` does an expression's.

    Raises `OptionError` and `UnsupportedError`.

    >>> from attemper.languages.words import Alphabet
    >>> parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    >>> model = compile_dfa(parity)
    >>> model.accepts("0110"), model.accepts("0111")
    (True, False)
    """
    require("dfa", dfa, Dfa, "give a Dfa, or what parse_regex(...) or read_dfa(...) makes")
    goal, limits = goal_of(horizon, dtype, kernel), limits_of(caps)
    return compile_for(minimal(dfa), dfa.alphabet, regime, goal, limits, layer_norm=layer_norm)


def compile_program(
    program: Program | RaspProgram | str,
    *,
    at: Literal["first", "last"] | None = None,
    regime: RegimeName | None = None,
    empty: Literal["accept", "reject"] | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: KernelName = "numerator-first",
    layer_norm: LayerNorm | None = None,
) -> Model:
    r"""Compile an attention program into a softmax transformer.

    The transformer's output at position i of a word of any length n >= 1 is the program's output bit there
    (`docs/programs.md`), in real arithmetic, with one set of weights for every n. `program`: a text of that
    page, or what `parse_program` makes of a program's steps; of these `at` (default: last) and `empty`
    (default: reject) say where the verdict is read, and what it is on the empty word. The other options are
    those of `compile`.

    Raises `SourceError` (a text that cannot be read), `OptionError` (an option's value, or a program that is
    ill formed) and `UnsupportedError` (the regime cannot, nothing can, or no network reaches the horizon).

    >>> text = "alphabet a b\nempty reject\noutput previous(2) in 'a'"
    >>> compile_program(text).accepts("abb")
    True
    >>> text = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous 2 s0 default 0\noutput s1'
    >>> model = compile_program(parse_program(text))
    >>> model.accepts("abb"), model.accepts("bab"), model.accepts("a")
    (True, False, False)
    """
    language = program_language(program, at, empty)
    letters = language.program.alphabet
    goal, text = goal_of(horizon, dtype, kernel), text_of(program)
    return compile_for(language, letters, regime, goal, Limits(), rasp=text, layer_norm=layer_norm)


def compile_for(
    language: Language,
    alphabet: Alphabet,
    regime: str | None,
    goal: Goal | None,
    limits: Limits,
    regex: str = "",
    rasp: str = "",
    layer_norm: LayerNorm | None = None,
) -> Model:
    """The model of a language, in the regime that is named, or in one that reaches the goal."""
    if layer_norm is not None:
        require("layer_norm", layer_norm, LayerNorm, "give attemper.LayerNorm()")
    named = None if regime is None else Regime(choice("regime", regime, tuple(Regime)))
    regimes, names = regimes_for(named, goal, layer_norm), names_of(rasp, language)
    if goal is None:
        compiled = compile_language(
            language, alphabet, regimes[0], limits=limits, names=names, layer_norm=layer_norm
        )
        return Model.of(compiled, language, regimes[0], regex, rasp)
    chosen = choose(language, alphabet, regimes, goal, limits, names, layer_norm)
    return Model.of(chosen.compiled, language, chosen.candidate.regime, regex, rasp)


def read_source(
    formula: str, alphabet: str | Sequence[str] | Alphabet, at: str | None, empty: str
) -> tuple[TemporalLanguage, Alphabet]:
    """The language of a formula's text, and its alphabet; raises what `compile` raises."""
    reading = None if at is None else At(choice("at", at, tuple(At)))
    accepts_empty = choice("empty", empty, ("accept", "reject")) == "accept"
    letters = letters_of(alphabet)
    return read_language(parse(formula, letters), reading, accepts_empty), letters


def compile_source(
    language: Language,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int = MARGINS[0],
    *,
    regex: str = "",
    rasp: str = "",
    limits: Limits | None = None,
) -> Model:
    """The model of a language; no head has a margin below `least_margin`."""
    names = names_of(rasp, language)
    compiled = compile_language(language, alphabet, regime, least_margin, limits, names=names)
    return Model.of(compiled, language, regime, regex, rasp)


def load(folder: str | Path) -> Model:
    """Read a model back from the folder that `Model.save` or `attemper compile` wrote.

    The weights are those of the file, bit for bit. Raises `MalformedFileError` if a file is missing, damaged
    or of another shape, and `UnsupportedError` for a softened network, which has no language.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     compile("O a", "ab").save(folder)
    ...     load(folder)
    <Model O a: unbounded, 1 layers, 1 heads, 112 parameters>
    """
    network, source = load_network(Path(folder))
    if source.kind == HARD:
        raise UnsupportedError(
            f"'{folder}' holds a network that 'attemper soften' made of a hard one: it has no language that "
            "its answers could be compared with; 'attemper check' judges it, and in Python "
            "attemper.load_softened(folder) runs it"
        )
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
    certificate = own_certificate(Path(folder), digest_of(network, source), language)
    said = None if certificate is None else certificate.realisation
    rasp = text_in(Path(folder)) if source.kind == "program" else ""
    return Model(network, language, regime, regex, rasp, realisation=said, certificate=certificate)


def own_certificate(folder: Path, digest: str, language: Language) -> Certificate | None:
    """The certificate in the folder, if it is about the network with that digest and the language."""
    found = load_if_any(folder)
    is_its_own = found is not None and (found.network, found.language) == (digest, language)
    return found if is_its_own else None


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
@dataclass(frozen=True, repr=False)
class Model:
    """A language, its softmax network, and ways to run it, at every length n.

    A word is a text, a list of symbols, or a list, array or tensor [position] of the symbols' numbers in the
    alphabet, from 0 on (`docs/networks.md`). What is done to the modules that `dense()` gives out leaves the
    model as it is.

    >>> model = compile("O a", "ab")
    >>> model.accepts("bab"), model.accepts(["b", "b"]), model.accepts([1, 0])
    (True, False, True)
    """

    network: Network
    language: Language
    regime: Regime
    regex: str = ""
    """The text of a regular expression, if the automaton was written as one."""
    rasp: str = field(default="", compare=False, repr=False)
    """The text of an attention program, if it was written as one."""
    alternatives: tuple[Alternative, ...] = field(default=(), compare=False)
    """The ways to build an automaton's cascade that were tried when it was compiled."""
    realisation: Realisation | None = field(default=None, compare=False, repr=False)
    """The program that the network runs, and where its groups of bits are, if that is known."""
    stages: tuple[Stage, ...] = field(default=(), compare=False, repr=False)
    """What each pass made when the model was compiled."""
    certificate: Certificate | None = field(default=None, compare=False, repr=False)
    """The certificate that stood in the folder that the model was loaded from: exports say its horizons."""
    _runners: dict[tuple[str, str], DenseTransformer] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _arrays: dict[str, Arrays] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        layers = self.network.layers
        heads = sum(len(layer.heads) for layer in layers)
        size = f"{len(layers)} layers, {heads} heads, {parameter_count(self.network)} parameters"
        return f"<Model {shortened(self.title)}: {self.regime}, {size}>"

    def _repr_html_(self) -> str:
        """The model in a notebook: its source, regime and size as a table.

        >>> "<td>unbounded</td>" in compile("O a", "ab")._repr_html_()
        True
        """
        from attemper.workbench.report.model_html import model_html

        return model_html(self)

    @classmethod
    def of(
        cls, compiled: Compiled, language: Language, regime: Regime, regex: str = "", rasp: str = ""
    ) -> Model:
        """The model of what was compiled in a regime."""
        said, stages = compiled.realisation, compiled.stages
        return cls(compiled.soft, language, regime, regex, rasp, compiled.alternatives, said, stages)

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

    @property
    def cfg(self) -> Config:
        """The sizes of the network, under TransformerLens' names; dtype and device are those of `dense()`.

        >>> cfg = compile("#<['0'] <= #<['1']", "01").cfg
        >>> cfg.n_layers, cfg.n_heads, cfg.d_model, cfg.d_head, cfg.d_vocab, cfg.act_fn
        (2, 1, 11, 4, 2, 'relu')
        """
        return self._runner("soft", "float64").cfg

    def dense(
        self, *, weights: Weights = "soft", dtype: DTypeLike = "float64", engine: EngineName = "auto"
    ) -> DenseTransformer:
        """The network as a new `torch.nn.Module`: tokens [batch, position] to bits [batch, position].

        Nothing that is done to the module changes the model or another module. `hard` replaces softmax by
        average-hard attention. `engine` is how attention is computed (`docs/scan.md`): `scan` in time n,
        `fused` in n^2, `matrix` with the n x n matrices that hooks on scores and patterns, nnsight and
        exports see, and `auto` by the size of a batch. Raises `OptionError`.

        >>> import torch
        >>> module = compile("O a", "ab").dense(dtype=torch.float32)
        >>> module(torch.tensor([[1, 0, 1]])).round().tolist()
        [[0.0, 1.0, 1.0]]
        """
        return self._module(weights, dtype, engine, sealed=False)

    def _runner(self, weights: Weights, dtype: DTypeLike) -> DenseTransformer:
        """The model's own module, which nobody else gets."""
        key = weights, dtype_name(dtype)
        if key not in self._runners:
            self._runners[key] = self._module(weights, dtype, "auto", sealed=True)
        return self._runners[key]

    def _module(
        self, weights: Weights, dtype: DTypeLike, engine: EngineName, *, sealed: bool
    ) -> DenseTransformer:
        choice("weights", weights, get_args(Weights))
        name = dtype_name(dtype)
        with torch_needed():
            import torch

            from attemper.running.dense import DenseTransformer

        form = getattr(torch, name)
        return DenseTransformer(self.network, form, _override(weights), engine=engine, sealed=sealed)

    def to_tokens(self, words: Iterable[WordLike]) -> tuple[torch.Tensor, torch.Tensor]:
        """The words as a module reads them: tokens [word, position], padded on the right, and lengths [word].

        A token is the number of a symbol in the alphabet, from 0 on. Raises `WordError`, also for the empty
        word, which has no position, and for no words.

        >>> compile("O a", "ab").to_tokens(["ab", "b"])
        (tensor([[0, 1],
                [1, 0]]), tensor([2, 1]))
        """
        with torch_needed():
            from attemper.running.batches import tokens_of

        found = words_of(words, self.alphabet)
        if not found or not all(found):
            raise WordError("a tensor of tokens needs words, and none of them empty")
        return tokens_of(self.alphabet, found)

    def accepts(
        self,
        word: WordLike,
        *,
        weights: Weights = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> bool:
        """The verdict on a word.

        Raises `WordError`, `OptionError`, and `UndecidedError` where a bit visibly could not be rounded in
        this format. Far beyond a format's horizon an answer can be wrong without that sign.

        >>> compile("O a", "ab").accepts("bab", dtype="float32")
        True
        """
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        verdict = self.verdict(run)
        if verdict is None:
            raise UndecidedError(self.undecided_message(run, dtype))
        return verdict

    def positions(
        self,
        word: WordLike,
        *,
        weights: Weights = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> tuple[bool, ...]:
        """The truth of the formula at the positions 1..n, as entries 0..n-1; raises what `accepts` does.

        >>> compile("O a", "ab").positions("bab")
        (False, True, True)
        """
        if self.network.measure is not None:
            self._require_bits()
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        bits = tuple(bit for bit in run.bits if bit is not None)
        if len(bits) != len(run.bits):
            raise UndecidedError(self.undecided_message(run, dtype))
        return bits

    def run(
        self,
        words: Iterable[WordLike],
        *,
        weights: Weights = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> Iterator[Run]:
        """Run words of any lengths in batches, in their order. Raises `WordError` and `OptionError` at once.

        `engine` as for `dense`: long words and large batches run by the scan, unless it is said otherwise.
        One word of up to 1,024 symbols runs in float64 without torch, by the engine `numpy`.

        >>> for run in compile("O a", "ab").run(["bab", "b"]):
        ...     print(run)
        <Run bab: 011, margin 0.25>
        <Run b: 0, margin 0.25>
        """
        choice("weights", weights, get_args(Weights))
        named, name, found = engine_of(engine), dtype_name(dtype), words_of(words, self.alphabet)
        if named is Engine.NUMPY and name != "float64":
            raise OptionError(f"engine='numpy' is float64, not {name}: leave one of them out")
        is_short = len(found) == 1 and len(found[0]) <= SHORT and name == "float64"
        if named is Engine.NUMPY or (named is Engine.AUTO and is_short):
            return self._in_arrays(weights).runs(found)
        runner = self._runner(weights, dtype)
        from attemper.running.batches import runs_of

        return runs_of(runner, found, runner.require_engine(engine))

    def _in_arrays(self, weights: Weights) -> Arrays:
        """The model in numpy."""
        from attemper.running.arrays import Arrays

        if weights not in self._arrays:
            self._arrays[weights] = Arrays(self.network, _override(weights))
        return self._arrays[weights]

    def scans(self, length: int, weights: Weights, dtype: DTypeLike, engine: EngineName) -> bool:
        """Whether a word of that length runs by the scan, in time linear in its length.

        >>> model = compile("O a", "ab")
        >>> model.scans(100, "soft", "float64", "auto"), model.scans(10_000, "soft", "float64", "auto")
        (False, True)
        """
        if engine_of(engine) is Engine.NUMPY:
            return False
        runner = self._runner(weights, dtype)
        return runner.engine_for(length, runner.require_engine(engine)) == "scan"

    def output(
        self,
        word: WordLike,
        *,
        weights: Weights = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> tuple[PutOut, ...]:
        """What is put out at each position 1..n: a bit, the name of a symbol, or a number.

        An integer is an int, a fraction a float, a distribution a dict with the probability of each name.
        Raises as `accepts` does.

        >>> compile("O a", "ab").output("bab")
        (False, True, True)
        """
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        found = self.read(run)
        if None in found:
            raise UndecidedError(self.undecided_message(run, dtype))
        return tuple(one for one in found if one is not None)

    def read(self, run: Run) -> tuple[PutOut | None, ...]:
        """What a run puts out at each position; None where it cannot be read."""
        if run.numbers is not None:
            return run.numbers
        if not self.network.symbols:
            return run.bits
        names = [name for name, _ in self.network.symbols]
        return tuple(_only(names, column) for column in zip(*run.rows, strict=True))

    def verdict(self, run: Run) -> bool | None:
        """The bit at the position where the language is read; None if it cannot be read there.

        Raises `UnsupportedError` where a symbol or a number is put out, and not a bit.
        """
        self._require_bits()
        if not run.word:
            return self.network.accepts_empty
        return run.bits[0 if self.network.reads_first else -1]

    def _require_bits(self) -> None:
        what = "a symbol" if self.network.measure is None else describe(self.network.measure)
        if self.network.symbols or self.network.measure is not None:
            raise UnsupportedError(
                f"there is no verdict: {what} is put out at every position; see it with 'attemper run' or "
                "model.output(word)"
            )

    def stream(
        self, *, dtype: DTypeLike = "float64", state: str | Path | Mapping[str, object] | None = None
    ) -> Stream:
        """The network as a reader of symbols one at a time, with a state that does not grow, in float64.

        For networks whose heads look to the past only, and which do not read n: of the regime `decoder`, and
        many of the regime `unbounded` (`docs/streaming.md`). `state` is what a stream of this network has
        saved, as a file or as data. Raises `UnsupportedError`, naming the head that forbids it;
        `MalformedFileError` for a state that is none of this network; `OptionError` for another format.

        >>> stream = compile("#<['0'] <= #<['1']", "01", regime="decoder").stream()
        >>> [stream.push(symbol) for symbol in "0110"]
        [False, True, True, True]
        """
        from attemper.running.streaming.stream import Stream

        if dtype != "float64" and dtype_name(dtype) != "float64":
            raise OptionError(
                f"dtype={dtype_name(dtype)!r}: a stream is computed in float64 only, leave dtype out"
            )
        return Stream(self.network, self.digest, state)

    def trace(self, word: WordLike) -> Trace:
        """Every subformula, every head's attention (n x n, soft and hard) and every margin on one word.

        In float64. Raises `WordError`.

        >>> trace = compile("O a", "ab").trace("bab")
        >>> trace.subformulas[-1], trace.heads[0].hard[2]
        (('O a', (False, True, True)), (0.0, 1.0, 0.0))
        """
        soft, hard = self._runner("soft", "float64"), self._runner("hard", "float64")
        from attemper.workbench.trace import trace_word

        return trace_word(self.language, self.word(word), soft, hard, names_of(self.rasp, self.language))

    def save(self, folder: str | Path, *, certificate: Certificate | None = None) -> None:
        """Write the model to a folder, which is made: `network.json` and `weights.safetensors`.

        The text of a program is written beside them, as `network.rasp`: `trace` takes names from there.

        With a certificate of this model, `certificate.json` is written, too, as `attemper compile` does and
        `attemper check` asks for; without one, a certificate of another network that stands in the folder is
        removed. Raises `OptionError` for a certificate of another network, `MalformedFileError` if writing
        fails.

        >>> from tempfile import TemporaryDirectory
        >>> model = compile("O a", "ab")
        >>> with TemporaryDirectory() as folder:
        ...     model.save(folder, certificate=model.certify())
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['certificate.json', 'network.json', 'weights.safetensors']
        """
        folder, digest = Path(folder), self.digest
        if certificate is not None:
            require("certificate", certificate, Certificate, "give what this model's certify() returns")
        if certificate is not None and certificate.network != digest:
            raise OptionError("the certificate is of another network: give that of this model's certify()")
        save_network(self.network, self.source, folder)
        save_text(self.rasp, folder)
        if certificate is not None:
            save_certificate(certificate, folder)
            return
        standing = load_if_any(folder)
        if standing is None or standing.network != digest:
            discard_certificate(folder)

    def export(
        self,
        kind: ExportKind,
        path: str | Path,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        positions: int | None = None,
        certificate: Certificate | None = None,
        uniform_heads: bool = False,
    ) -> None:
        """Write the network for other people's tools: `docs/exports.md` says what each kind is.

        `hugging-face`, `gpt2` and `transformer-lens` write a folder, `onnx`, `torch` and `circuit` a file.
        `dtype` is the format of the exported weights; `positions`, for gpt2 alone, is the greatest length.
        What is written says the horizons of `certificate`, this model's own; without it of the one that the
        model was loaded with. `uniform_heads`, for transformer-lens alone, gives all layers as many heads.

        Raises `OptionError` (a value, a missing extra, the certificate of another network),
        `UnsupportedError` (this kind cannot hold the network, with the head or coordinate that forbids it)
        and `MalformedFileError` (the path cannot be written).

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     compile("O a", "ab").export("circuit", Path(folder, "once.json"))
        """
        from attemper.exports.export import export
        from attemper.exports.subject import Subject

        certificate = certificate or self.certificate
        if certificate is not None and certificate.network != self.digest:
            raise OptionError("the certificate is of another network: give that of this model's certify()")
        named = Kind(choice("kind", kind, tuple(Kind)))
        subject = Subject(self.network, self.source, certificate)
        with torch_needed():
            export(
                subject,
                named,
                Path(path),
                dtype=choice("dtype", dtype, FORMATS),
                positions=positions,
                uniform_heads=uniform_heads,
            )

    @property
    def digest(self) -> str:
        """What names this network in its certificate."""
        return digest_of(self.network, self.source)

    def certify(self, progress: Callable[[int], None] = lambda _: None) -> Certificate:
        """The strongest certificate that the checker accepts, with the horizon of every float format.

        `progress` is called with 1 after each horizon that was found. Nothing is written: see `save`.
        Raises `UnprovedError` if the checker has no proof.

        >>> compile("#<['0'] <= #<['1']", "01").certify().claims[0]
        RealClaim()
        """
        said = self.realisation or next(realisations(self.network, self.language))
        return certify(self.network, self.digest, self.language, said, progress)

    def check(self, certificate: Certificate, *, ignore_rounding: bool = False) -> Verdict:
        """What the independent checker says to a certificate of this model; see `checker/check.py`.

        With `ignore_rounding` floats are taken for real numbers, which is PROVED_UNDER_ASSUMPTIONS at best.

        >>> model = compile("O a", "ab")
        >>> print(model.check(model.certify()).status)
        PROVED
        """
        if certificate.language != self.language:
            text = "the certificate is about another language than this network's source"
            return Verdict((ClaimVerdict(Status.MALFORMED, text),))
        return check(self.network, self.digest, certificate, ignore_rounding=ignore_rounding)

    def word(self, word: WordLike) -> Word:
        """The word as a tuple of symbols; raises `WordError`.

        >>> compile("O a", "ab").word([1, 0])
        ('b', 'a')
        """
        return word_of(word, self.alphabet)

    def undecided_message(self, run: Run, dtype: DTypeLike) -> str:
        """What to say when an output is neither near 0 nor near 1."""
        name = dtype_name(dtype)
        shown = f"'{show_word(run.word)[:60]}' (length {len(run.word)})"
        if run.margin < 0:
            what = f"on {shown} a bit inside the network could not be rounded (margin {run.margin:.3f})"
        else:
            place = next(i for i, found in enumerate(self.read(run), start=1) if found is None)
            what = f"the output at position {place} of {shown} is {run.values[place - 1]:.3f}"
        advice = "" if name == "float64" else " Use a wider format (--dtype float64)."
        return f"undecided: {what}. The word is beyond what {name} can compute.{advice}"


def _override(weights: Weights) -> HardWeighting | None:
    """What replaces every head's own weighting."""
    return HardWeighting.AVERAGE if weights == "hard" else None


def _only(names: Sequence[str], bits: Sequence[bool | None]) -> str | None:
    """The name whose bit alone is 1; None if there is none, or a bit is not known."""
    held = [name for name, bit in zip(names, bits, strict=True) if bit is not False]
    return held[0] if len(held) == 1 and None not in bits else None


def shortened(text: str) -> str:
    """The text on one line, cut off where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}..."
