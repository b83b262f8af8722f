"""From a source to a model: formulas, regular expressions, automata and attention programs, compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from attemper.attention_program.ops import Program, Ref
from attemper.certifying.choosing import Goal, choose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.softening.normalise import LayerNorm
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import letters_of, parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime
from attemper.workbench import options
from attemper.workbench.model import Model

if TYPE_CHECKING:
    from attemper.languages.rasp.program import RaspProgram
    from attemper.workbench.options import DTypeLike


def compile(  # noqa: A001 - attemper.compile is the name users know
    formula: str,
    alphabet: str | Sequence[str] | Alphabet,
    *,
    at: Literal["first", "last"] | None = None,
    regime: options.RegimeName | None = None,
    empty: Literal["accept", "reject"] = "reject",
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: options.KernelName = "numerator-first",
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
    options.require("formula", formula, str, "give its text, for example 'O a'")
    options.refuse_caps(caps)
    language, letters = read_source(formula, alphabet, at, empty)
    goal = options.goal_of(horizon, dtype, kernel)
    return compile_for(language, letters, regime, goal, CascadeCaps(), layer_norm=layer_norm)


def compile_regex(
    regex: str,
    alphabet: str | Sequence[str] | Alphabet,
    *,
    regime: options.RegimeName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: options.KernelName = "numerator-first",
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
    options.require("regex", regex, str, "give its text, for example 'a*b'")
    letters = letters_of(alphabet)
    language = language_of_regex(regex, letters)
    goal, limits = options.goal_of(horizon, dtype, kernel), options.limits_of(caps)
    written = regex if isinstance(language, Dfa) else ""
    return compile_for(language, letters, regime, goal, limits, written, layer_norm=layer_norm)


def language_of_regex(regex: str, alphabet: Alphabet) -> Dfa | TemporalLanguage:
    """An expression's language, as what it is compiled and claimed as.

    That is its minimal automaton; but where that is large and the language definite, a formula about a word's
    last symbols. Raises what `parse_regex` raises.
    """
    from attemper.compiling.lowering.definite_to_formula import definite_to_formula

    definite = definite_to_formula(regex, alphabet)
    if definite is None:
        return parse_regex(regex, alphabet)
    return TemporalLanguage(definite.formula, At.LAST, definite.accepts_empty)


def compile_dfa(
    dfa: Dfa,
    *,
    regime: options.RegimeName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: options.KernelName = "numerator-first",
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
    from attemper.languages.regular.minimal import minimal

    options.require("dfa", dfa, Dfa, "give a Dfa, or what parse_regex(...) or read_dfa(...) makes")
    goal, limits = options.goal_of(horizon, dtype, kernel), options.limits_of(caps)
    return compile_for(minimal(dfa), dfa.alphabet, regime, goal, limits, layer_norm=layer_norm)


def compile_program(
    program: Program | RaspProgram | str,
    *,
    at: Literal["first", "last"] | None = None,
    regime: options.RegimeName | None = None,
    empty: Literal["accept", "reject"] | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: options.KernelName = "numerator-first",
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
    >>> from attemper.attention_program.parse import parse_program
    >>> text = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous 2 s0 default 0\noutput s1'
    >>> model = compile_program(parse_program(text))
    >>> model.accepts("abb"), model.accepts("bab"), model.accepts("a")
    (True, False, False)
    """
    from attemper.workbench.programs import program_language, text_of

    language = program_language(program, at, empty)
    letters = language.program.alphabet
    goal, text = options.goal_of(horizon, dtype, kernel), text_of(program)
    return compile_for(language, letters, regime, goal, CascadeCaps(), rasp=text, layer_norm=layer_norm)


def compile_for(
    language: Definition,
    alphabet: Alphabet,
    regime: str | None,
    goal: Goal | None,
    limits: CascadeCaps,
    regex: str = "",
    rasp: str = "",
    layer_norm: LayerNorm | None = None,
) -> Model:
    """The model of a language, in the regime that is named, or in one that reaches the goal."""
    if layer_norm is not None:
        options.require("layer_norm", layer_norm, LayerNorm, "give attemper.LayerNorm()")
    named = None if regime is None else Regime(options.choice("regime", regime, tuple(Regime)))
    regimes, names = options.regimes_for(named, goal, layer_norm), _names_of(rasp, language)
    if goal is None:
        compiled = compile_language(
            language, alphabet, regimes[0], limits=limits, names=names, layer_norm=layer_norm
        )
        return model_of(compiled, language, regimes[0], regex, rasp)
    chosen = choose(language, alphabet, regimes, goal, limits, names, layer_norm)
    return model_of(chosen.compiled, language, chosen.candidate.regime, regex, rasp)


def _names_of(rasp: str, language: Definition) -> Mapping[Ref, str]:
    """The names of a program's steps, where its text is known."""
    if not rasp:
        return {}
    from attemper.workbench.programs import names_of

    return names_of(rasp, language)


def model_of(
    compiled: Compiled, language: Definition, regime: Regime, regex: str = "", rasp: str = ""
) -> Model:
    """The model of what was compiled in a regime."""
    return Model(compiled.soft, language, regime, regex, rasp, compiled.realisation)


def read_source(
    formula: str, alphabet: str | Sequence[str] | Alphabet, at: str | None, empty: str
) -> tuple[TemporalLanguage, Alphabet]:
    """The language of a formula's text, and its alphabet; raises what `compile` raises."""
    reading = None if at is None else At(options.choice("at", at, tuple(At)))
    accepts_empty = options.choice("empty", empty, ("accept", "reject")) == "accept"
    letters = letters_of(alphabet)
    return read_language(parse(formula, letters), reading, accepts_empty), letters
