"""Normalised networks: the plain network that they stand for, and what is proved of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import flint
import pytest

import attemper
from attemper.certificates.claims import Certificate, FloatClaim, RealClaim
from attemper.certificates.files import CERTIFIED
from attemper.certifying.certificate import certify
from attemper.checker.check import judge
from attemper.checker.counterexample import wrong_word
from attemper.checker.folders import check_path
from attemper.checker.names import UnprovenError
from attemper.checker.normalised import plain_of, simplest_between
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.checker.verdict import Status
from attemper.compiling.softening.normalise import LayerNorm, normalise
from attemper.errors import UnprovedError
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import number
from attemper.exact.codec import CodecError
from attemper.exact.formats import FLOAT64, REAL
from attemper.languages.words import Word
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Network, Norm, Normalisation
from attemper.networks.meaning_soft import output_bits
from attemper.networks.safetensors import Tensor
from attemper.workbench.model import Model
from tests.support.mutants.saved import change_weights, with_number

UNIT = Fraction(1, 2**40)
SINCE = "(!'c') S 'b'"
NESTED = "'a' S ('b' & Y ('b' & Y 'b'))"
FORMULAS = {
    SINCE: "abc",
    NESTED: "abc",
    "#<['0'] <= #<['1']": "01",
    "odd(#<['1'])": "01",
    "H ('a' -> Y 'b')": "ab",
    "#<['('] = #<[')'] & !O(#<[')'] > #<['('])": "()",
}
WITHOUT_LOOKUPS = [text for text in FORMULAS if not text.startswith("odd")]
COMPARED = [text for text in FORMULAS if "<=" in text or ">" in text.replace("->", "")]
"""Formulas that compare counts: averages of values that are not exact."""


@cache
def wide(formula: str, regime: str = "temperature", how: LayerNorm | None = None) -> Model:
    return attemper.compile(formula, FORMULAS[formula], regime=regime, layer_norm=how or LayerNorm())


@cache
def certified(formula: str, regime: str = "temperature", how: LayerNorm | None = None) -> Certificate:
    return _certified(wide(formula, regime, how))


def _certified(model: Model) -> Certificate:
    """A certificate with a horizon in float64 beside that in real arithmetic."""
    arithmetics = [(FLOAT64, Kernel.NUMERATOR_FIRST)]
    said = model.realisation
    return certify(model.network, model.digest, model.language.definition, said, arithmetics=arithmetics)


def real_horizon(certificate: Certificate) -> int:
    (horizon,) = (claim.horizon for claim in certificate.claims if isinstance(claim, RealClaim))
    assert horizon is not None
    return horizon


def float_horizon(certificate: Certificate) -> int:
    (horizon,) = (claim.horizon for claim in certificate.claims if isinstance(claim, FloatClaim))
    return horizon


def numbers(seed: int, low: float, high: float) -> tuple[Fraction, ...]:
    rng = random.Random(seed)
    return tuple(Fraction(rng.uniform(low, high)) for _ in range(97))


def norm_of(network: Network) -> Normalisation:
    assert network.normalisation is not None
    return network.normalisation


# The plain network -------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [LayerNorm(), LayerNorm(gain=numbers(1, 0.25, 1.75), bias=numbers(2, -1, 1))])
@pytest.mark.parametrize("regime", ["temperature", "decoder"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_plain_network_is_the_one_that_was_normalised(formula: str, regime: str, how: LayerNorm) -> None:
    plain = attemper.compile(formula, FORMULAS[formula], regime=regime).network
    network = normalise(plain, how)
    found, reads = plain_of(network, norm_of(network))
    assert replace(found, head_width=plain.head_width) == plain
    for norm in (*reads.attention, *reads.feed_forward):
        # One rounding to float64, and a gain that is one: so all weights of a form are off alike or nearly.
        assert norm.distance <= Fraction(1, 2**53)
        assert norm.spread <= 2 * norm.distance
    sums = {c: value for c, value in reads.constants if value}
    squares = sum((value**2 for value in sums.values()), Fraction(0))
    assert reads.base == how.eps + how.unit**2 * squares / len(plain.coordinates)


def test_what_weights_are_off_by_is_enclosed() -> None:
    network = wide(NESTED, how=LayerNorm(gain=numbers(3, 0.25, 1.75), unit=Fraction(1, 2**9))).network
    how = norm_of(network)
    plain, reads = plain_of(network, how)
    width = len(plain.coordinates)
    with precision(400):
        root = ball(reads.base).sqrt()
        for number_, (layer, own) in enumerate(zip(network.layers, plain.layers, strict=True)):
            gains = how.before_feed_forward[number_].gain
            for unit, read in zip(layer.hidden, own.hidden, strict=True):
                stored = dict(unit.form)
                for c, weight in read.form:
                    exact = 2 * ball(how.unit * gains[c] * stored[c]) / root
                    off = abs(exact / ball(weight) - 1)
                    assert off <= ball(reads.feed_forward[number_].distance)
                    assert stored[c] * gains[c] == -stored[c + width] * gains[c + width]


def test_the_simplest_rational_between_two() -> None:
    rng = random.Random(4)
    for _ in range(400):
        low = Fraction(rng.randint(1, 60), rng.randint(1, 60))
        high = low + Fraction(rng.randint(0, 9), rng.randint(1, 90))
        found = simplest_between(low, high)
        least = next(q for q in range(1, 10**4) if -(-low.numerator * q // low.denominator) <= high * q)
        assert low <= found <= high
        assert found.denominator == least


# What is proved ----------------------------------------------------------------------------------


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", ["temperature", "decoder"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_normalised_networks_are_proved_up_to_their_horizons(formula: str, regime: str) -> None:
    """Must show B.2. Of averages of values that are not exact N^2 u must be small, and of keys times i^2."""
    model, certificate = wide(formula, regime), certified(formula, regime)
    assert model.check(certificate).status is Status.PROVED
    if formula in WITHOUT_LOOKUPS:
        assert real_horizon(certificate) >= 2**40
    own = float_horizon(certificate)
    if formula in WITHOUT_LOOKUPS and formula not in COMPARED and regime == "temperature":
        plain = _certified(attemper.compile(formula, FORMULAS[formula], regime=regime))
        assert 4 * own >= float_horizon(plain)
    else:
        assert own >= 60_000


def test_claims_name_a_horizon() -> None:
    """Normalised networks are right up to some length; plain ones at all, and so up to any."""
    model, how = wide(NESTED), LayerNorm(unit=Fraction(1, 2**12))
    everywhere = judge(model.network, model.language.definition, (RealClaim(),)).claims[0]
    assert everywhere.status is Status.UNKNOWN
    assert "needs a horizon" in everywhere.text
    far = wide(NESTED, how=how)
    horizon = real_horizon(certified(NESTED, how=how))
    claims = RealClaim(0), RealClaim(1), RealClaim(horizon), RealClaim(horizon + 1), RealClaim(-1)
    found = [claim.status for claim in judge(far.network, far.language.definition, claims).claims]
    assert found == [*[Status.PROVED] * 3, Status.UNKNOWN, Status.MALFORMED]
    plain = attemper.compile(NESTED, "abc", regime="temperature")
    assert judge(plain.network, plain.language.definition, (RealClaim(10**15),)).status is Status.PROVED


def test_rounding_that_is_ignored_leaves_real_arithmetic() -> None:
    how = LayerNorm(unit=Fraction(1, 2**12))
    model, horizon = wide(NESTED, how=how), real_horizon(certified(NESTED, how=how))
    for length, status in ((horizon, Status.PROVED_UNDER_ASSUMPTIONS), (horizon + 1, Status.UNKNOWN)):
        claim = FloatClaim("float32", "numerator-first", length, "")
        assert (
            judge(model.network, model.language.definition, (claim,), ignore_rounding=True).status is status
        )


def test_real_claims_with_a_horizon_are_written_and_read() -> None:
    certificate = certified(SINCE)
    data = CERTIFIED.encode(certificate)
    assert data["claims"][0] == ["real claim", 2**40]  # type: ignore[index]
    assert CERTIFIED.decode(data) == certificate
    assert repr(RealClaim()) == "RealClaim()"
    assert repr(RealClaim(3)) == "RealClaim(horizon=3)"
    others: tuple[object, ...] = (-1, [], "7", 1.5, True, 2**63)
    for wrong in others:
        with pytest.raises(CodecError, match=r"^claims\[0\].horizon: expected .*an integer from 0, not "):
            CERTIFIED.decode({**data, "claims": [["real claim", wrong]]})
    endless = CERTIFIED.decode({**data, "claims": [["real claim", None]]})
    assert endless.claims == (RealClaim(),)
    for rest in ([], [1, 2]):
        with pytest.raises(CodecError, match=r'^claims\[0\]: after "real claim" stands horizon, not '):
            CERTIFIED.decode({**data, "claims": [["real claim", *rest]]})


GAINS, BIASES = numbers(5, 0.25, 1.75), numbers(6, -1, 1)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("formula", [SINCE, "#<['0'] <= #<['1']", "odd(#<['1'])"])
def test_gains_biases_and_padding(formula: str) -> None:
    """Must show B.3: random gains cost next to nothing, biases b sqrt(eps) / lambda units of round-off."""
    without = certified(formula)
    gained = certified(formula, how=LayerNorm(gain=GAINS))
    assert wide(formula, how=LayerNorm(gain=GAINS)).check(gained).status is Status.PROVED
    assert 2 * float_horizon(gained) >= float_horizon(without)
    biased = certified(formula, how=LayerNorm(bias=BIASES))
    assert wide(formula, how=LayerNorm(bias=BIASES)).check(biased).status is Status.PROVED
    assert 1 <= float_horizon(biased) < float_horizon(without)
    assert real_horizon(biased) == real_horizon(without)
    padding = LayerNorm(eps=Fraction(0), padding=Fraction(2**16))
    padded = certified(formula, how=padding)
    assert wide(formula, how=padding).check(padded).status is Status.PROVED
    assert float_horizon(padded) >= 2_000
    assert real_horizon(padded) >= 2_000


@pytest.mark.parametrize("formula", [SINCE, "odd(#<['1'])"])
def test_rms_norms_are_proved_too(formula: str) -> None:
    how = LayerNorm(is_centred=False)
    certificate = certified(formula, how=how)
    assert wide(formula, how=how).check(certificate).status is Status.PROVED
    assert float_horizon(certificate) >= float_horizon(certified(formula))


def test_units_that_are_too_large_shorten_horizons() -> None:
    """Must show B.4: at lambda = 2^-10 ... 2^-12 first failures were seen at 200, 800, 3,200 symbols."""
    found = [real_horizon(certified(NESTED, how=LayerNorm(unit=Fraction(1, 2**k)))) for k in (10, 11, 12)]
    assert all(first <= 64 * own for first, own in zip((200, 800, 3_200), found, strict=True))
    assert all(3 * one <= other <= 5 * one for one, other in pairwise(found))


def test_nothing_is_certified_of_a_unit_that_is_far_too_large() -> None:
    """At lambda = 2^-9 a sum of four bits is read as 3.6: it does not reach the clamp of 3.75."""
    with pytest.raises(UnprovedError, match="no proof for layer 2, head 0: what it reads through"):
        _certified(attemper.compile(NESTED, "abc", layer_norm=LayerNorm(unit=Fraction(1, 2**9))))


def test_automata_are_proved() -> None:
    model = attemper.compile(attemper.regex("(0|11)*", "01"), regime="temperature", layer_norm=LayerNorm())
    certificate = _certified(model)
    assert model.check(certificate).status is Status.PROVED
    assert real_horizon(certificate) >= 2**40


INDUCTION = """alphabet a b c
before = previous symbol else none
output rightmost[j <= i : before(j) = symbol(i)] symbol(j) else none
"""


def test_programs_that_put_out_symbols_and_numbers_are_proved(tmp_path: Path) -> None:
    """Numbers are then off by as much as they may be in floats; beyond the horizon nothing is said."""
    folder, file = tmp_path / "net", tmp_path / "program.rasp"
    for text in (INDUCTION, "alphabet a b\noutput count[j <= i] in 'a'\n"):
        model = attemper.compile(attemper.program(text), regime="temperature", layer_norm=LayerNorm())
        certificate = _certified(model)
        verdict = model.check(certificate)
        assert verdict.status is Status.PROVED
        assert real_horizon(certificate) == 2**40
        file.write_text(text)
        model.save(folder)
        assert attemper.check(folder, f"program:{file}").status is Status.UNKNOWN
        model.save(folder, certificate=certificate)
        assert attemper.check(folder, f"program:{file}").status is Status.PROVED
    assert verdict.claims[0].text.endswith(
        "each number times the visible positions is within 1/4 of the integer"
    )


# What is not proved ------------------------------------------------------------------------------


def changed(network: Network, layer: int, change: Callable[[Layer], Layer]) -> Network:
    layers = [change(own) if k == layer else own for k, own in enumerate(network.layers)]
    return replace(network, layers=tuple(layers))


def with_norm(network: Network, place: str, number_: int, norm: Norm) -> Network:
    how = norm_of(network)
    norms = list(getattr(how, place))
    norms[number_] = norm
    return replace(network, normalisation=replace(how, **{place: tuple(norms)}))


def set_in(values: tuple[Fraction, ...], at: int, value: Fraction) -> tuple[Fraction, ...]:
    return (*values[:at], value, *values[at + 1 :])


def test_partners_with_other_gains_or_biases() -> None:
    """Must show B.3: a gain or a bias that is not that of the partner."""
    model = wide(SINCE)
    read = model.network.layers[0].heads[0].values[0][0][0]
    norm = norm_of(model.network).before_attention[0]
    for other in (
        Norm(set_in(norm.gain, read, Fraction(2)), norm.bias),
        Norm(norm.gain, set_in(norm.bias, read, Fraction(1))),
    ):
        network = with_norm(model.network, "before_attention", 0, other)
        with pytest.raises(UnprovenError, match=f"layer 0's attention reads x{read} otherwise"):
            plain_of(network, norm_of(network))
        assert judge(network, model.language.definition, (RealClaim(100),)).status in {
            Status.UNKNOWN,
            Status.REFUTED,
        }


def without(network: Network, place: int) -> Network:
    """Without one of the embeddings of positions."""
    positions = list(network.positions)
    del positions[place]
    return replace(network, positions=tuple(positions))


def unpaired(network: Network) -> dict[str, Network]:
    """Networks of the coordinates that are no pairs, by what is wrong with them."""
    last, row = network.positions[-1][0], network.embedding[-1]
    return {
        "an odd number of coordinates": replace(network, coordinates=(*network.coordinates, "odd")),
        "an output among the partners": replace(
            network, output=network.output + len(network.coordinates) // 2
        ),
        "a letter without its partner": replace(network, embedding=(*network.embedding[:-1], row[:-1])),
        "a position without its partner": without(network, -1),
        "a partner's position alone": without(network, 0),
        "a position of another factor": replace(
            network, positions=(*network.positions[:-1], (last, number(3)))
        ),
    }


@pytest.mark.parametrize("what", unpaired(wide(SINCE).network))
def test_what_is_no_pair_has_no_plain_network(what: str) -> None:
    network = unpaired(wide(SINCE).network)[what]
    with pytest.raises(UnprovenError, match="its coordinates are no pairs of opposite numbers"):
        plain_of(network, norm_of(network))


def test_something_stands_under_the_root() -> None:
    network = attemper.compile("'a'", "ab", regime="temperature", layer_norm=LayerNorm()).network
    how = replace(norm_of(network), eps=Fraction(0))
    with pytest.raises(UnprovenError, match="eps is 0, and no constant is in its place"):
        plain_of(replace(network, normalisation=how), how)


def test_hidden_units_that_read_nearly_the_same_do_not_share_an_error() -> None:
    model = wide(SINCE)
    first, second = model.network.layers[0].hidden
    form = tuple((c, weight * (1 + Fraction(1, 2**52))) for c, weight in second.form)
    network = changed(
        model.network, 0, lambda layer: replace(layer, hidden=(first, replace(second, form=form)))
    )
    with pytest.raises(UnprovenError, match="two hidden units read nearly the same"):
        plain_of(network, norm_of(network))


def test_a_word_beyond_the_horizon_refutes_nothing() -> None:
    model = wide(SINCE)
    first, second, *others = model.network.layers[0].hidden
    later = [replace(unit, bias=unit.bias - 1) for unit in (first, second)]
    network = changed(model.network, 0, lambda layer: replace(layer, hidden=(*later, *others)))
    wrong = wrong_word(network, model.language.definition)
    assert wrong is not None
    length = len(wrong.word)
    assert judge(network, model.language.definition, (RealClaim(length),)).status is Status.REFUTED
    assert judge(network, model.language.definition, (RealClaim(),)).status is Status.REFUTED
    assert wrong_word(network, model.language.definition, length - 1) is None
    assert judge(network, model.language.definition, (RealClaim(length - 1),)).status is Status.UNKNOWN
    assert judge(network, model.language.definition, (RealClaim(0),)).status is Status.UNKNOWN


# Mutations ---------------------------------------------------------------------------------------

FACTORS = (Fraction(2), Fraction(1, 2), Fraction(-1), Fraction(5, 4), 1 + Fraction(1, 2**20), Fraction(0))


def scaled_at(
    form: LinearForm, rng: random.Random, factor: Fraction, width: int, *, both: bool
) -> LinearForm:
    """The form with one weight, or with those of a pair, times a factor."""
    if not form:
        return form
    at = rng.choice(form)[0]
    places = {at, (at + width) % (2 * width)} if both else {at}
    found = ((c, own * factor if c in places else own) for c, own in form)
    return tuple((c, own) for c, own in found if own)


def mutant(network: Network, rng: random.Random) -> Network:
    """A network in which a gain, a bias, eps, lambda or a weight is another, of half a pair or of a pair."""
    how, width = norm_of(network), len(network.coordinates) // 2
    layer = rng.randrange(len(network.layers))
    both, factor = rng.random() < 0.4, rng.choice(FACTORS)
    kind = rng.choice(["gain", "bias", "eps", "unit", "hidden", "written", "value", "row", "embedding"])
    if kind in {"gain", "bias"}:
        place = rng.choice(["before_attention", "before_feed_forward"])
        norm, at = getattr(how, place)[layer], rng.randrange(2 * width)
        numbers_ = getattr(norm, kind)
        for c in {at, (at + width) % (2 * width)} if both else {at}:
            numbers_ = set_in(numbers_, c, numbers_[c] * factor if kind == "gain" else numbers_[c] + factor)
        return with_norm(network, place, layer, replace(norm, **{kind: numbers_}))
    if kind == "eps":
        return replace(network, normalisation=replace(how, eps=how.eps * abs(factor)))
    if kind == "unit":
        return replace(
            network, normalisation=replace(how, unit=how.unit * rng.choice([2, Fraction(1, 2), 2**20]))
        )
    if kind == "embedding":
        at = rng.randrange(len(network.embedding))
        row = scaled_at(network.embedding[at], rng, factor, width, both=both)
        return replace(network, embedding=(*network.embedding[:at], row, *network.embedding[at + 1 :]))

    def change(form: LinearForm) -> LinearForm:
        return scaled_at(form, rng, factor, width, both=both)

    return changed(network, layer, lambda own: _layer_mutant(own, rng, kind, change))


def _layer_mutant(
    layer: Layer, rng: random.Random, kind: str, change: Callable[[LinearForm], LinearForm]
) -> Layer:
    if kind in {"hidden", "written"}:
        at = rng.randrange(len(layer.hidden)) if layer.hidden else 0
        hidden = list(layer.hidden)
        if hidden:
            unit = hidden[at]
            hidden[at] = (
                Hidden(change(unit.form), unit.bias, unit.outputs)
                if kind == "hidden"
                else Hidden(unit.form, unit.bias, change(unit.outputs))
            )
        return replace(layer, hidden=tuple(hidden))
    heads = list(layer.heads)
    if not heads:
        return layer
    at = rng.randrange(len(heads))
    heads[at] = _head_mutant(heads[at], rng, kind, change)
    return replace(layer, heads=tuple(heads))


def _head_mutant(
    head: Head, rng: random.Random, kind: str, change: Callable[[LinearForm], LinearForm]
) -> Head:
    name = "values" if kind == "value" or not head.query else rng.choice(["query", "key"])
    forms = list(getattr(head, name))
    at = rng.randrange(len(forms))
    forms[at] = change(forms[at])
    return replace(head, **{name: tuple(forms)})


def words_up_to(letters: str, length: int) -> Iterator[Word]:
    for own in range(1, length + 1):
        yield from product(letters, repeat=own)


def is_right(network: Network, model: Model, words: Iterable[Word]) -> bool:
    """Whether outputs are within 1/4 of what they should be on these words, in real arithmetic."""
    for word in words:
        outputs = output_bits(network, word)
        bits = model.positions(word)
        if not all(abs(own - int(bit)) <= flint.arb(1) / 4 for own, bit in zip(outputs, bits, strict=True)):
            return False
    return True


def survivors(formula: str, how: LayerNorm, count: int, seed: int, length: int) -> tuple[int, int]:
    """(mutants that are proved, those that are proved and wrong on a short word)."""
    model, rng, proved, wrong = wide(formula, how=how), random.Random(seed), 0, 0
    horizon = max(real_horizon(certified(formula, how=how)) // 2, 1)
    words = list(words_up_to(FORMULAS[formula], length))
    for _ in range(count):
        network = mutant(model.network, rng)
        if network != model.network and is_proved(network, model, horizon):
            proved += 1
            wrong += not is_right(network, model, words)
    return proved, wrong


def is_proved(network: Network, model: Model, horizon: int) -> bool:
    """Whether a real claim with that horizon is proved; no word is looked for that refutes it."""
    try:
        return (
            failure_at(prove(network, model.language.definition), REAL, Kernel.NUMERATOR_FIRST, horizon)
            is None
        )
    except UnprovenError:
        return False


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("formula", "length"), [(SINCE, 3), ("#<['0'] <= #<['1']", 4)])
def test_no_wrong_mutant_is_proved(formula: str, length: int) -> None:
    """Must show B.5."""
    proved, wrong = survivors(formula, LayerNorm(), 40, 7, length)
    assert wrong == 0
    assert proved < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        LayerNorm(),
        LayerNorm(gain=GAINS, bias=BIASES),
        LayerNorm(unit=Fraction(1, 2**12)),
        LayerNorm(is_centred=False),
    ],
)
@pytest.mark.parametrize("formula", FORMULAS)
def test_no_wrong_mutant_is_proved_of_many(formula: str, how: LayerNorm) -> None:
    proved, wrong = survivors(formula, how, 150, 8, 3)
    assert wrong == 0
    assert proved < 75


# Folders -----------------------------------------------------------------------------------------


def test_folders_of_normalised_networks_are_checked(tmp_path: Path) -> None:
    """As they are, and with edited weights."""
    model = wide(SINCE)
    model.save(tmp_path / "net", certificate=certified(SINCE))
    assert check_path(tmp_path / "net").status is Status.PROVED
    assert check_path(tmp_path / "net", edited=True).status is Status.PROVED
    explained = check_path(tmp_path / "net", explain=True).explanation
    assert explained[0].startswith("this is about the plain network: x0 to x5 stand there times")
    assert explained[-1].endswith("what the language says, at every position of every word")
    change_weights(tmp_path / "net", lambda tensors: _double(tensors, "blocks.0.ln1.w", 0))
    assert check_path(tmp_path / "net").status is Status.MALFORMED
    assert check_path(tmp_path / "net", edited=True).status in {Status.UNKNOWN, Status.REFUTED}


def _double(tensors: dict[str, Tensor], name: str, place: int) -> None:
    tensors[name] = with_number(tensors[name], place, 2 * tensors[name].numbers[place])
