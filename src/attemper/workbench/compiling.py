"""From a language to a model: formulas, regular expressions, automata and attention programs, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from attemper.certifying.choosing import Goal, choose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import OptionError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.networks.regime import Regime
from attemper.workbench import naming, options
from attemper.workbench.language import Language
from attemper.workbench.limits import cascade_limits
from attemper.workbench.model import Model

if TYPE_CHECKING:
    from attemper.compiling.literal.single_heads import Heads
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike
    from attemper.workbench.options import DTypeLike

Made = TypeVar("Made")


def compile(  # noqa: A001 - attemper.compile is the name users know
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    regime: options.RegimeName | None = None,
    empty: EmptyName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: options.KernelName = "numerator-first",
    limits: Mapping[str, int] | None = None,
    layer_norm: LayerNorm | None = None,
    construction: options.ConstructionName = "ours",
    heads: options.HeadsName | None = None,
) -> Model:
    """Compile a language into a softmax transformer.

    The transformer's output at position i of a word w of any length n >= 1 is 1 if w, i |= formula (if the
    automaton accepts the first i symbols; if the program's output is 1 at i) and 0 otherwise, in real
    arithmetic, with one set of weights for every n. (Yang, Strobl, Chiang, Angluin, Theorems 12, 13, 15, 16,
    20, 21; see `docs/theory.md` for what differs.) A program that puts out symbols or numbers, such as
    `zoo:sort`, has these at every position.

    * `language`, `alphabet`, `at`, `empty`: as for `attemper.language`: `O a`, `regex:(ab)*`, `zoo:dyck-1`, a
      `Language`, an automaton, ... An automaton is taken apart into a cascade of resets and, where its groups
      are solvable, of counters (Krohn and Rhodes; `docs/automata.md`).
    * `regime`: `unbounded` position embeddings, `temperature` (bounded ones, temperatures in n), or
      `decoder` (past formulas; nothing depends on n). Default: unbounded, or with a horizon whichever
      reaches it.
    * `horizon`: a length in symbols. Regime and margins are then chosen so that the network is proved right
      for all words up to it in the float format `dtype`, with the class `kernel` of attention kernels
      (`docs/arithmetic.md`). Without a horizon nothing is proved yet, and neither option matters. Of the zoo
      the entry's sources are tried until one reaches it.
    * `limits`: how large an automaton's cascade may grow, by the names that a refusal says, as in
      `{"symbols": 8000}`; formulas and programs have none.
    * `layer_norm`: every sublayer reads the residual stream through a LayerNorm or an RMSNorm, as it says
      (`docs/layer-norm.md`). The default regime is then temperature, and unbounded is refused.
    * `construction`: `paper` for the network that the proofs of these theorems build, with their position
      embeddings and no others, and one head in a layer, or `heads="many"` (`docs/papers.md`). What is no
      formula becomes one first (Corollaries 17, 18, 22, 23), which the model then has as its language.

    Raises what `attemper.language` raises, `OptionError` (an option's value), and `UnsupportedError` (the
    regime cannot, nothing can, an automaton has a group that is not solvable or a cascade beyond one of the
    limits, no network reaches the horizon).

    >>> model = compile("#<['0'] <= #<['1']")
    >>> model.accepts("0110"), model.accepts("0010")
    (True, False)
    >>> compile("regex:(ab)*").accepts("abab"), compile("zoo:sort").output("cab")
    (True, ('a', 'b', 'c'))
    >>> compile("#<['0'] <= #<['1']", horizon=100_000, dtype="float32")
    <Model #<['0'] <= #<['1']: unbounded, 2 layers, 2 heads, 466 parameters>
    >>> compile("Y b", "ab", regime="temperature", construction="paper")
    <Model Y b: temperature, 3 layers, 3 heads, 564 parameters>
    """
    if layer_norm is not None:
        options.require("layer_norm", layer_norm, LayerNorm, "give attemper.LayerNorm()")
    spoken = naming.language(language, alphabet, at=at, empty=empty)
    goal = options.goal_of(horizon, dtype, kernel)
    named = None if regime is None else Regime(options.choice("regime", regime, tuple(Regime)))
    regimes = options.regimes_for(named, goal, layer_norm)
    literal = options.literal_of(construction, heads, layer_norm)

    def made(source: Language, caps: CascadeCaps) -> Model:
        return compiled_source(source, caps, regimes, goal, layer_norm, literal)

    return first_made(spoken, limits, made, every=goal is not None)


def compiled_source(
    source: Language,
    caps: CascadeCaps,
    regimes: Sequence[Regime],
    goal: Goal | None = None,
    layer_norm: LayerNorm | None = None,
    literal: Heads | None = None,
) -> Model:
    """The model of a language as it is written, in the first regime, or in one that reaches the goal."""
    source, names = as_read(source, caps, literal), _names_of(source)
    if goal is None:
        given = source.definition, source.alphabet, regimes[0]
        compiled = compile_language(*given, limits=caps, names=names, layer_norm=layer_norm, literal=literal)
        return model_of(compiled, source, regimes[0])
    chosen = choose(source.definition, source.alphabet, regimes, goal, caps, names, layer_norm, literal)
    return model_of(chosen.compiled, source, chosen.candidate.regime)


def as_read(source: Language, caps: CascadeCaps, literal: Heads | None) -> Language:
    """The language as the compiler reads it: the papers' own construction reads formulas alone."""
    if literal is None or isinstance(source.definition, TemporalLanguage):
        return source
    from attemper.workbench.translate import found_formula

    automaton = source.automaton()
    formula, _ = found_formula(automaton, caps)
    meant = TemporalLanguage(formula, At.LAST, automaton.accepts(()))
    return Language(meant, source.alphabet)


def first_made(
    language: Language,
    limits: Mapping[str, int] | None,
    made: Callable[[Language, CascadeCaps], Made],
    *,
    every: bool,
) -> Made:
    """What is made of the language's first source, or of `every` one the first that is not refused.

    Raises the first source's refusal if all are, and `OptionError` for limits where there is no cascade.
    """
    sources = list(_sources(language)) if every else [next(_sources(language))]
    refusals: list[UnsupportedError] = []
    for source, usual in sources:
        if limits and not isinstance(source.definition, Dfa):
            raise OptionError(
                "limits are on an automaton's cascade, and a formula or program has none: leave them out, or "
                "give the language as regex:TEXT or dfa:FILE",
                options=("limits",),
            )
        try:
            return made(source, cascade_limits(limits, usual))
        except UnsupportedError as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _sources(language: Language) -> Iterator[tuple[Language, CascadeCaps]]:
    """The language as each of the texts that it is known by, and how large a cascade may grow."""
    if not language.zoo_name:
        yield language, CascadeCaps()
        return
    from attemper.languages.named.zoo import named
    from attemper.workbench.zoo_sources import language_of, limits_for

    entry = named(language.zoo_name)
    for source in entry.sources:
        meant = language_of(entry, source, language.alphabet)
        yield replace(meant, spelling=language.spelling), limits_for(source)


def _names_of(language: Language) -> Mapping[int, str]:
    """The names of a program's steps, where its text is known."""
    if not language.written:
        return {}
    from attemper.workbench.programs import names_of

    return names_of(language)


def model_of(compiled: Compiled, language: Language, regime: Regime) -> Model:
    """The model of what was compiled in a regime."""
    return Model(compiled.soft, language, regime, compiled.realisation)
