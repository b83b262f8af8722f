"""Temperatures for any average-hard network, and what proves them: rules, what is given, or every word.

Nothing here is believed by anybody: the checker derives every error from the weights again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import final

from attemper.checker.names import UnprovenError
from attemper.errors import OptionError, UnprovedError, UnsupportedError
from attemper.exact.closed_forms import ONE, number
from attemper.exact.monomials import ZERO, Monomial
from attemper.networks.layers import HardWeighting, Network
from attemper.theories.softening import certificate
from attemper.theories.softening.check.by_rule import LayerByRule, by_rule
from attemper.theories.softening.check.closed_form import AssumedBit, ErrorChain
from attemper.theories.softening.check.elementwise import ErrorBudget, inverse_temperatures
from attemper.theories.softening.check.enumeration import MOST_WORDS, Examined, examine, reach
from attemper.theories.softening.check.hard import hardened, uniform_heads
from attemper.theories.softening.check.streams import TieError
from attemper.theories.softening.search import temperatures
from attemper.theories.softening.search.rounding_layer import ROOM, with_rounding

COLDEST = Fraction(2**100)
"""Temperatures are not looked for below the reciprocal."""

MOST_C, MOST_K = 2**40, 64
"""Nor are larger c and k."""


@final
@dataclass(frozen=True)
class SofteningRequest:
    """What is asked: lengths, what somebody says of the network, and how many words may be tried.

    `gaps` are by layer and head, `magnitudes` by layer. `up_to` bounds the lengths at which words are tried.
    """

    epsilon: Fraction
    first: int = 1
    up_to: int | None = None
    gaps: Mapping[tuple[int, int], Monomial] = field(default_factory=dict)
    magnitudes: Mapping[int, Monomial] = field(default_factory=dict)
    words: int = MOST_WORDS
    rounded: bool = False
    report: Callable[[str], None] = lambda _: None


@final
@dataclass(frozen=True)
class Softening:
    """A softmax network, the hard one with the same weights, and for which lengths they are how close.

    `examined` has what was seen of all words of some lengths. `slopes` are the least c and k of the closed
    form. `unruled` names the first head that fits no rule, and is empty if all do.
    """

    soft: Network
    hard: Network
    evidence: certificate.Evidence
    epsilon: Fraction
    first: int
    last: int | None
    examined: tuple[Examined, ...]
    slopes: tuple[int, int] | None
    unruled: str


def soften_network(network: Network, asked: SofteningRequest) -> Softening:
    """The softmax network of an average-hard one, within epsilon of it.

    Softmax heads are read at temperature 0. With `rounded`, one more layer rounds what is put out, in the
    hard network and in the soft one, which then are equal. Heads that break ties by themselves are read as
    average-hard ones where a rule says that their best positions have one value, which is the same head.
    Raises `TieError` for a network that is seen not to be tieless, with the word; `UnsupportedError` for
    other heads that break ties by themselves and for numbers that cannot be rounded; `OptionError` for what
    is said of heads and layers that there are not; `UnprovedError` where no temperature is seen to be enough.
    """
    _require_plain(network)
    hard = hardened(network)
    _require_known(hard, asked)
    asked.report("following the rules of heads")
    known = by_rule(hard)
    _require_no_tie_breaks(network, known)
    said, unruled = _said(hard, known, asked), _unruled(hard, known)
    if said is None:
        return _word_by_word(hard, asked, unruled)
    return _in_closed_form(hard, known, said, asked, unruled)


def _require_plain(network: Network) -> None:
    if network.normalisation is not None:
        raise UnsupportedError(
            "the network normalises what its sublayers read, so that its scores are no exact numbers: soften "
            "the network without LayerNorm"
        )


def _require_no_tie_breaks(network: Network, known: Sequence[LayerByRule]) -> None:
    """Raises `UnsupportedError` for a head that breaks ties, unless by a rule that makes no difference."""
    for index, layer in enumerate(network.layers):
        for place, head in enumerate(layer.heads):
            breaks_ties = head.weighting in {HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST}
            if breaks_ties and known[index].heads[place] is None:
                raise UnsupportedError(
                    f"layer {index}, head {place} is {head.weighting}: it breaks ties by itself, as no "
                    "softmax head does, and no rule says that its best positions have one value; write the "
                    "tie-break into its score, and make it average-hard"
                )


def _require_known(hard: Network, asked: SofteningRequest) -> None:
    """Raises `OptionError` for a gap or magnitude of something that is not there."""
    uniform = uniform_heads(hard)
    for layer, head in asked.gaps:
        if layer >= len(uniform) or head >= len(uniform[layer]):
            raise OptionError(f"'gaps': there is no head {layer}.{head}", options=("gaps",))
        if uniform[layer][head]:
            raise OptionError(f"'gaps': head {layer}.{head} is uniform, and has no gap", options=("gaps",))
    for layer in asked.magnitudes:
        if layer >= len(uniform):
            raise OptionError(f"'magnitudes': there is no layer {layer}", options=("magnitudes",))
    if asked.rounded and not asked.epsilon < ROOM:
        raise OptionError(
            "with 'rounding', 'epsilon' must be less than 1/4: larger errors cannot be rounded away",
            options=("rounding", "epsilon"),
        )


# Closed forms --------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Layer:
    """What is said of one layer of the hard network, by rule or because it is given."""

    magnitude: Monomial
    magnitude_by: certificate.GapBy
    gaps: tuple[certificate.HeadGap | None, ...]


def _said(hard: Network, known: Sequence[LayerByRule], asked: SofteningRequest) -> tuple[_Layer, ...] | None:
    """Magnitude and gaps of each layer, as given or by rule; None if one is neither."""
    uniform = uniform_heads(hard)
    found = []
    for index, layer in enumerate(known):
        gaps: list[certificate.HeadGap | None] = []
        for head, own in enumerate(layer.heads):
            given = asked.gaps.get((index, head))
            if uniform[index][head]:
                gaps.append(None)
            elif given is not None:
                gaps.append(certificate.HeadGap(certificate.GapBy.GIVEN, given))
            elif own is not None:
                gaps.append(certificate.HeadGap(certificate.GapBy.RULE, own.gap))
            else:
                return None
        by = certificate.GapBy.GIVEN if index in asked.magnitudes else certificate.GapBy.RULE
        magnitude = asked.magnitudes.get(index, layer.magnitude)
        if magnitude is None:
            return None
        found.append(_Layer(magnitude, by, tuple(gaps)))
    return tuple(found)


def _unruled(hard: Network, known: Sequence[LayerByRule]) -> str:
    """The first head that fits no rule, or layer without a bound on what it reads; empty if there is none."""
    for index, (layer, uniform) in enumerate(zip(known, uniform_heads(hard), strict=True)):
        if layer.magnitude is None:
            return f"layer {index}"
        for head, own in enumerate(layer.heads):
            if own is None and not uniform[head]:
                return f"layer {index}, head {head}"
    return ""


def _in_closed_form(
    hard: Network,
    known: tuple[LayerByRule, ...],
    said: tuple[_Layer, ...],
    asked: SofteningRequest,
    unruled: str,
) -> Softening:
    """The least k, and then the least c, for which the chain of errors closes at all lengths."""

    def soft(c: int, k: int) -> Network:
        return temperatures.softened(
            hard, [[temperatures.colder_than_a_gap(_gap(own), c, k) for own in one.gaps] for one in said]
        )

    def is_enough(c: int, k: int) -> bool:
        found = _chain(soft(c, k), known, said, takes_bits=False)
        return found is not None and _is_at_most(found.layers, asked.epsilon)

    # What is given is tried first: a tie is said with its word.
    examined = tuple(_examined(hard, asked)) if asked.gaps or asked.magnitudes else ()
    asked.report("looking for temperatures for all lengths")
    k = next((k for k in range(MOST_K + 1) if is_enough(MOST_C, k)), None)
    c = None if k is None else temperatures.least_integer(lambda c: is_enough(c, k), MOST_C)
    if k is None or c is None:
        raise UnprovedError(
            "no temperature is seen to be cold enough at all lengths: errors outgrow the leads"
        )
    found, epsilon = soft(c, k), asked.epsilon
    if asked.rounded:
        found, epsilon = with_rounding(found), Fraction(0)
        known = by_rule(hardened(found))
        said = (*said, _Layer(_of_outputs(known[-1]), certificate.GapBy.RULE, ()))
    chain = _chain(found, known, said, takes_bits=asked.rounded)
    if chain is None or not _is_at_most(chain.layers, epsilon):
        raise UnprovedError("what is put out is not seen to be 0 or 1, so that it cannot be rounded")
    if chain.bits and not examined:
        examined = tuple(_examined(hard, asked))
    evidence = certificate.ClosedFormErrors(chain.layers, _longest(examined))
    return Softening(found, hardened(found), evidence, epsilon, asked.first, None, examined, (c, k), unruled)


def _of_outputs(last: LayerByRule) -> Monomial:
    """What bounds the numbers before the layer that rounds."""
    if last.magnitude is None:
        raise UnprovedError(
            "nothing bounds what is put out, so that it is not rounded: leave 'rounding' out",
            options=("rounding",),
        )
    return last.magnitude


def _is_at_most(layers: tuple[certificate.LayerError, ...], epsilon: Fraction) -> bool:
    """Whether the error behind the last layer is at most epsilon at every length."""
    end = layers[-1].error if layers else ZERO
    return end.factor <= epsilon and (not end.factor or end.power <= 0)


def _gap(own: certificate.HeadGap | None) -> Monomial | None:
    return None if own is None else own.gap


@final
@dataclass(frozen=True)
class _Errors:
    """The errors behind each layer, and what coordinates are taken to be bits."""

    layers: tuple[certificate.LayerError, ...]
    bits: frozenset[AssumedBit]


def _chain(
    soft: Network, known: tuple[LayerByRule, ...], said: tuple[_Layer, ...], *, takes_bits: bool
) -> _Errors | None:
    """The errors behind each layer; None where gaps are not seen to outweigh them."""
    chain = ErrorChain(soft, known, takes_bits=takes_bits)
    before, layers = chain.start(), []
    for index, own in enumerate(said):
        claimed = certificate.LayerError(own.magnitude, own.magnitude_by, own.gaps, ZERO)
        try:
            errors = chain.errors_after(index, claimed, before)
        except UnprovenError:
            return None
        claimed = replace(claimed, error=chain.needed(index, errors))
        layers.append(claimed)
        before = chain.after(errors, claimed.error)
    return _Errors(tuple(layers), frozenset(chain.bits))


# Word by word --------------------------------------------------------------------------------------


def _examined(hard: Network, asked: SofteningRequest) -> Iterator[Examined]:
    """Every length that is claimed, as far as words may be tried. Raises `TieError`."""
    symbols = len(hard.alphabet.symbols)
    most = reach(symbols, asked.words)
    for length in range(asked.first, min(most, asked.up_to or most) + 1):
        asked.report(f"trying the {symbols**length:,} words of {length} symbols")
        found = examine(hard, length)
        if found.tie is not None:
            raise TieError(found.tie)
        yield found


def _longest(examined: tuple[Examined, ...]) -> int:
    """The greatest length of which all words were tried."""
    return examined[-1].length if examined else 0


def _word_by_word(hard: Network, asked: SofteningRequest, unruled: str) -> Softening:
    """One inverse temperature for all heads that are not uniform, enough at each length that was tried."""
    examined = tuple(_examined(hard, asked))
    last = _longest(examined)
    if not examined:
        raise OptionError(
            f"{unruled} fits no rule, and words of {asked.first} symbols are too many to be tried: state its "
            "gap with 'gaps', or raise the limit 'words'",
            options=("gaps", "limits"),
        )
    uniform, cold = uniform_heads(hard), Fraction(1)
    for length in range(asked.first, last + 1):
        asked.report(f"looking for a temperature for n = {length}")
        cold = cold_enough(ErrorBudget(hard, length), uniform, cold, asked.epsilon)
    found, epsilon = temperatures.softened(hard, constant(uniform, cold)), asked.epsilon
    if asked.rounded:
        found, epsilon = with_rounding(found), Fraction(0)
        _require_bits(found, range(asked.first, last + 1))
    return Softening(
        found, hardened(found), certificate.Enumerated(), epsilon, asked.first, last, examined, None, unruled
    )


def cold_enough(
    budget: ErrorBudget, uniform: tuple[tuple[bool, ...], ...], cold: Fraction, epsilon: Fraction
) -> Fraction:
    """An inverse temperature of at least `cold` with which all words of one length are within epsilon."""

    def is_enough(value: Fraction) -> bool:
        return budget.is_within(constant(uniform, value), epsilon)

    if is_enough(cold):
        return cold
    found = temperatures.least_coldness(is_enough, cold, COLDEST)
    if found is None:
        raise UnprovedError(f"no temperature is seen to be cold enough for words of {budget.length} symbols")
    return found


def constant(uniform: tuple[tuple[bool, ...], ...], cold: Fraction) -> temperatures.Temperatures:
    """One inverse temperature for every head that is not uniform."""
    return [[ONE if is_uniform else number(cold) for is_uniform in layer] for layer in uniform]


def _require_bits(soft: Network, lengths: range) -> None:
    for length in lengths:
        budget = ErrorBudget(hardened(soft), length)
        if not budget.is_within(inverse_temperatures(soft), Fraction(0)):
            raise UnprovedError(
                f"what is put out is not 0 or 1 on all words of {length} symbols: it cannot be rounded"
            )
