"""Verdicts on softened networks: what is proved, assumed, refuted with a word, and not known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import attemper
from attemper.checker.folders import check_path
from attemper.checker.limits import ProcessLimits, Request, check_within
from attemper.checker.verdict import ClaimVerdict, Status
from attemper.errors import OptionError, UnsupportedError
from attemper.exact.closed_forms import ONE, SIGN, Digits, I, N, Power, number, over, plus, times
from attemper.exact.closed_forms import ClosedForm as Form
from attemper.exact.closed_forms import Test as PlaceTest
from attemper.exact.monomials import Monomial
from attemper.exact.predicates import Zero
from attemper.files import CERTIFICATE
from attemper.languages.words import Alphabet
from attemper.networks.files import bare_digest, digest_of
from attemper.networks.files import save as save_network
from attemper.networks.layers import (
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Network,
    Normalisation,
    Softmax,
    Uniform,
)
from attemper.networks.structure import Provenance
from attemper.theories.softening.certificate import (
    APPROXIMATION,
    Approximation,
    ClosedFormErrors,
    Enumerated,
    GapBy,
    HeadGap,
    LayerError,
)
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.hard import hardened
from tests.support.drawn.softened import DIGEST, ZERO, by_rules, softened

TENTH = Fraction(1, 10)
LENGTH = Monomial(Fraction(1), Fraction(1))
"""n."""


def form(*parts: tuple[int, int | Fraction]) -> LinearForm:
    return tuple((coordinate, Fraction(factor)) for coordinate, factor in parts)


ALWAYS, LETTER = form((0, 1)), form((1, 1))


def head(key: LinearForm, *, value: LinearForm = LETTER, target: int = 3) -> Head:
    """One row, whose query is 1, for j <= i."""
    return Head(Uniform(), Masking.FUTURE, Softmax(ONE), (ALWAYS,), (key,), (value,), (target,))


def network(*layers: Layer, place: Form = I, output: int = 3) -> Network:
    """x0 = 1, x1 = [b], x2 = a number of the place, x3 = x4 = 0; over a and b."""
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=("one", "b", "place", "raw", "fresh"),
        embedding=(form((0, 1)), form((0, 1), (1, 1))),
        positions=((2, place),),
        layers=layers,
        head_width=1,
        output=output,
        reads_first=False,
        accepts_empty=False,
    )


RIGHTMOST = head(form((2, 1)))
"""Reads position i; its lead is 1."""

ROUNDING = (
    Hidden(form((3, 1)), Fraction(-1, 4), form((4, 2))),
    Hidden(form((3, 1)), Fraction(-3, 4), form((4, -2))),
)


def stated(gap: Monomial, size: Monomial = LENGTH, heads: int = 1) -> LayerError:
    return LayerError(size, GapBy.GIVEN, (HeadGap(GapBy.GIVEN, gap),) * heads, ZERO)


def said(soft: Network, found: Approximation) -> ClaimVerdict:
    (claim,) = check_approximation(soft, DIGEST, found).claims
    return claim


# Rules, and what is given -----------------------------------------------------------------------------


def test_a_head_that_nobody_annotated_is_covered_by_its_rule() -> None:
    plain = network(Layer((RIGHTMOST,), ROUNDING, ()), output=4)
    (claims,) = by_rules(plain)
    assert claims.gaps == (HeadGap(GapBy.RULE, Monomial(Fraction(1))),)
    soft, found = softened(plain, (claims,), Fraction(0))
    claim = said(soft, found)
    assert claim.status is Status.PROVED
    assert "all lengths" in claim.text
    assert not claim.assumptions


def test_what_is_given_is_an_assumption_that_names_the_head_and_the_inequality() -> None:
    soft, found = softened(
        network(Layer((RIGHTMOST,), (), ())), (stated(Monomial(Fraction(1))),), TENTH, checked_to=4
    )
    claim = said(soft, found)
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert claim.assumptions == (
        "layer 0: no coordinate before it is larger than n in size (checked exactly for n <= 4)",
        "layer 0, head 0: at all visible positions of the greatest score the values are the same, and every "
        "other visible score is at least 1 below it "
        "(checked exactly for n <= 4)",
    )


def test_what_is_given_and_not_checked_is_said_to_be_so() -> None:
    soft, found = softened(network(Layer((RIGHTMOST,), (), ())), (stated(Monomial(Fraction(1))),), TENTH)
    assert [text.rpartition(" (")[2] for text in said(soft, found).assumptions] == ["not checked)"] * 2


def test_what_is_given_and_checked_at_all_lengths_of_the_claim_is_proved() -> None:
    claims = (stated(Monomial(Fraction(1))),)
    soft, found = softened(network(Layer((RIGHTMOST,), (), ())), claims, TENTH, checked_to=4, last=4)
    assert said(soft, found).status is Status.PROVED
    assert said(soft, replace(found, last=5)).status is Status.PROVED_UNDER_ASSUMPTIONS


@pytest.mark.parametrize(
    ("claims", "text", "length"),
    [
        # From two positions on the lead is 1.
        (stated(Monomial(Fraction(3, 2))), "at least 3/2 below it; in '", 2),
        (stated(Monomial(Fraction(1, 3), Fraction(1))), "at least 1/3 n below it; in '", 4),
        (stated(Monomial(Fraction(1, 2), Fraction(3, 5))), "at least 1/2 n^3/5 below it; in '", 4),
        (stated(Monomial(Fraction(1)), Monomial(Fraction(3))), "larger than 3 in size; in '", 4),
    ],
)
def test_a_false_gap_or_magnitude_is_refuted_with_the_word(
    claims: LayerError, text: str, length: int
) -> None:
    soft, found = softened(network(Layer((RIGHTMOST,), (), ())), (claims,), TENTH, checked_to=6)
    claim = said(soft, found)
    assert claim.status is Status.REFUTED
    assert text in claim.text
    assert claim.witness is not None
    assert len(claim.witness) == length
    # Beyond what is checked a false statement is an assumption.
    assert isinstance(found.evidence, ClosedFormErrors)
    short = replace(found, evidence=replace(found.evidence, checked_to=length - 1))
    assert said(soft, short).status is Status.PROVED_UNDER_ASSUMPTIONS


def test_a_tie_at_one_length_only_refutes_what_is_given_of_the_head() -> None:
    """Keys are j but at n = 5, where they are 0."""
    place = times(I, plus(1, times(-1, PlaceTest(Zero(), 0, 1, -5))))
    tied = network(Layer((RIGHTMOST,), (), ()), place=place)
    soft, found = softened(tied, (stated(Monomial(Fraction(1))),), TENTH, checked_to=6)
    claim = said(soft, found)
    assert claim.status is Status.REFUTED
    assert "have the greatest score as seen from position" in claim.text
    assert claim.witness is not None
    assert len(claim.witness) == 5
    assert isinstance(found.evidence, ClosedFormErrors)
    until = replace(found, last=4, evidence=replace(found.evidence, checked_to=4))
    assert said(soft, until).status is Status.PROVED


def test_a_gap_that_fades_like_two_to_the_minus_n_has_no_monomial() -> None:
    """Keys are j 2^-n at n <= 20: what is true of short words is false of longer ones."""
    place = times(I, plus(*(times(Fraction(1, 2**n), PlaceTest(Zero(), 0, 1, -n)) for n in range(1, 21))))
    fading = network(Layer((RIGHTMOST,), (), ()), place=place)
    with pytest.raises(AssertionError):
        by_rules(fading)
    true_to_five = (stated(Monomial(Fraction(1, 32))),)
    soft, found = softened(fading, true_to_five, TENTH, checked_to=8)
    assert said(soft, found).status is Status.REFUTED
    as_a_rule = replace(true_to_five[0], gaps=(HeadGap(GapBy.RULE, Monomial(Fraction(1, 32))),))
    soft, found = softened(fading, (as_a_rule,), TENTH)
    claim = said(soft, found)
    assert claim.status is Status.UNKNOWN
    assert "layer 0, head 0: no rule says that it leads by 1/32" in claim.text
    tried = replace(found, first=1, last=6, evidence=Enumerated())
    cold = _at(fading, times(4, Power(plus(1, 1), 8)))
    assert said(cold, tried).status is Status.PROVED


def test_the_words_of_a_length_beyond_all_trials_are_not_counted_out() -> None:
    """2^(2^40) is a number that no memory holds."""
    plain = network(Layer((RIGHTMOST,), (), ()))
    soft, found = softened(plain, by_rules(plain), TENTH)
    far = replace(found, first=2**40, last=2**40, evidence=Enumerated())
    claim = said(soft, far)
    assert claim.status is Status.UNKNOWN
    assert claim.text.endswith("they are not tried")


def _at(plain: Network, cold: Form) -> Network:
    return replace(
        plain,
        layers=tuple(
            replace(layer, heads=tuple(replace(own, weighting=Softmax(cold)) for own in layer.heads))
            for layer in plain.layers
        ),
    )


# What errors add up to ----------------------------------------------------------------------------------


def test_uniform_layers_are_exact_at_every_temperature() -> None:
    averaging = network(Layer((head(()), head(form((0, 3)))), (), ()))
    layer = LayerError(Monomial(Fraction(1), Fraction(1)), GapBy.RULE, (None, None), ZERO)
    found = Approximation(
        DIGEST, bare_digest(hardened(averaging)), Fraction(0), 1, None, ClosedFormErrors((layer,), 0)
    )
    for cold in (ONE, number(-3), SIGN):
        assert said(_at(averaging, cold), found).status is Status.PROVED


def test_heads_that_write_to_one_coordinate_add_up() -> None:
    one, two = (network(Layer((RIGHTMOST,) * count, (), ())) for count in (1, 2))
    _, found = softened(one, by_rules(one), TENTH)
    assert isinstance(found.evidence, ClosedFormErrors)
    (alone,) = found.evidence.layers
    both = replace(alone, gaps=alone.gaps * 2)
    twice = replace(both, error=Monomial(2 * alone.error.factor, alone.error.power))
    cold = _at(two, times(10, plus(1, Digits(N))))
    colder_one = _at(one, times(10, plus(1, Digits(N))))
    from tests.support.drawn.softened import with_errors

    (least_one,), (least_two,) = with_errors(colder_one, (alone,)), with_errors(cold, (both,))
    assert least_two.error.factor == 2 * least_one.error.factor
    claim = Approximation(
        DIGEST, bare_digest(hardened(two)), TENTH, 1, None, ClosedFormErrors((least_two,), 0)
    )
    assert said(cold, claim).status is Status.PROVED
    short = replace(least_two, error=least_one.error)
    assert said(cold, replace(claim, evidence=ClosedFormErrors((short,), 0))).status is Status.UNKNOWN
    assert twice.gaps == least_two.gaps


def test_errors_reach_scores_values_and_units_of_the_next_layer() -> None:
    """The second layer reads what the first has made with an error, in all three ways."""
    first = Layer((RIGHTMOST,), (), ())
    second = Layer(
        (head(form((2, 1), (3, Fraction(1, 4))), value=form((3, 1)), target=4),),
        (Hidden(form((3, 1), (4, 1)), Fraction(1), form((4, 1))),),
        (),
    )
    deep = network(first, second, output=4)
    given = (
        stated(Monomial(Fraction(1))),
        stated(Monomial(Fraction(3, 4)), Monomial(Fraction(2), Fraction(1))),
    )
    soft, found = softened(deep, given, TENTH, checked_to=5, last=5)
    assert said(soft, found).status is Status.PROVED
    assert isinstance(found.evidence, ClosedFormErrors)
    error = found.evidence.layers[0].error
    # Its scores are off, so the first error is less than nothing would need.
    assert error.factor < Fraction(1, 20)
    no_error = replace(found.evidence.layers[0], error=ZERO)
    claim = said(soft, replace(found, evidence=ClosedFormErrors((no_error, found.evidence.layers[1]), 5)))
    assert claim.status is Status.UNKNOWN
    assert "layer 0: its error is claimed to be at most 0" in claim.text


def test_a_rounding_layer_takes_a_bit_for_granted_where_no_rule_knows_it() -> None:
    """Keys are j + [b] j^2 n^-2 / 9: no rule has both; what is read is a letter."""
    odd = times(I, plus(1, times(Fraction(1, 9), PlaceTest(Zero(), 1, -1, 0))))
    bits = network(Layer((RIGHTMOST,), (), ()), Layer((), ROUNDING, ()), place=odd, output=4)
    given = (
        stated(Monomial(Fraction(1)), Monomial(Fraction(2), Fraction(1))),
        stated(ZERO, Monomial(Fraction(2), Fraction(1)), 0),
    )
    soft, found = softened(bits, given, Fraction(0), checked_to=4, takes_bits=True)
    claim = said(soft, found)
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert claim.assumptions[-1] == "layer 1: coordinate 3 before it is 0 or 1 (checked exactly for n <= 4)"
    doubled = replace(RIGHTMOST, values=(form((1, 2)),))
    wrong = replace(bits, layers=(Layer((doubled,), (), ()), bits.layers[1]))
    soft, found = softened(wrong, given, Fraction(0), checked_to=4, takes_bits=True)
    claim = said(soft, found)
    assert claim.status is Status.REFUTED
    assert claim.witness == ("b",)


# Temperatures --------------------------------------------------------------------------------------------

PROVED_AT = [plus(3, times(2, Digits(N))), times(N, plus(1, Digits(N))), times(4, plus(I, Digits(N), N))]
UNKNOWN_AT = [
    number(-5),
    times(-1, N),
    times(SIGN, N, 20),
    times(over(N), 20, Digits(N)),
    plus(20, times(-1, Digits(N))),
    times(20, PlaceTest(Zero(), 1, 0, -1), N),
    times(Digits(N), Digits(N)),
    times(20, Digits(plus(I, N))),
    number(10),
]


@pytest.mark.parametrize("cold", [*PROVED_AT, *UNKNOWN_AT])
def test_temperatures_are_read_from_the_network(cold: Form) -> None:
    """A lead of 1 needs an inverse temperature that is positive and grows as the digits of n do."""
    plain = network(Layer((RIGHTMOST,), (), ()))
    _, found = softened(plain, by_rules(plain), TENTH)
    assert isinstance(found.evidence, ClosedFormErrors)
    loose = replace(found.evidence.layers[0], error=Monomial(TENTH))
    claim = said(_at(plain, cold), replace(found, evidence=ClosedFormErrors((loose,), 0)))
    assert claim.status is (Status.PROVED if cold in PROVED_AT else Status.UNKNOWN)


# Enumerations --------------------------------------------------------------------------------------------


def test_an_enumeration_is_done_again() -> None:
    plain = network(Layer((RIGHTMOST,), (), ()))
    found = Approximation(DIGEST, bare_digest(hardened(plain)), TENTH, 1, 6, Enumerated())
    claim = said(_at(plain, number(4)), found)
    assert claim.status is Status.PROVED
    assert claim.text.startswith("lengths 1 to 6, in real arithmetic")
    warm = said(_at(plain, ONE), found)
    assert warm.status is Status.UNKNOWN
    assert "in words of 2 symbols" in warm.text
    many = said(_at(plain, number(4)), replace(found, last=40))
    assert many.status is Status.UNKNOWN
    assert "1,048,576" in many.text


def test_an_enumeration_names_a_tie() -> None:
    plain = network(Layer((head(form((1, 1))),), (), ()))
    found = Approximation(DIGEST, bare_digest(hardened(plain)), TENTH, 1, 4, Enumerated())
    assert said(_at(plain, number(40)), found).status is Status.PROVED  # tied letters are equal
    other = network(Layer((head(form((1, 1)), value=form((2, 1))),), (), ()))
    tied = replace(found, hard=bare_digest(hardened(other)))
    claim = said(_at(other, number(40)), tied)
    assert claim.status is Status.UNKNOWN
    assert "its greatest score at two positions" in claim.text


# Files ---------------------------------------------------------------------------------------------------


def _saved(folder: Path) -> tuple[Network, Approximation]:
    plain = network(Layer((RIGHTMOST,), ROUNDING, ()), output=4)
    soft, found = softened(plain, by_rules(plain), Fraction(0))
    source = Provenance("hard", bare_digest(hardened(plain)), "last", "softened")
    found = replace(found, network=digest_of(soft, source))
    save_network(soft, source, folder)
    APPROXIMATION.save(found, folder / CERTIFICATE)
    return soft, found


def test_a_folder_is_checked(tmp_path: Path) -> None:
    _, found = _saved(tmp_path)
    verdict = check_path(tmp_path)
    assert verdict.status is Status.PROVED
    assert verdict.subject is not None
    assert verdict.subject.digest == found.network
    assert check_within(Request(str(tmp_path)), ProcessLimits()) == verdict


def test_the_bare_digest_is_that_of_the_files_with_an_empty_source() -> None:
    import hashlib
    import json
    from tempfile import TemporaryDirectory

    from attemper.networks.safetensors import encode_tensors
    from attemper.networks.weights import tensors_of

    plain = hardened(network(Layer((RIGHTMOST,), ROUNDING, ()), output=4))
    with TemporaryDirectory() as folder:
        save_network(plain, Provenance("hard", "x", "last", "hard"), Path(folder))
        structure = json.loads((Path(folder) / "network.json").read_text(encoding="utf-8"))
    del structure["digest"]
    structure["source"] = {"kind": "hard", "text": "", "at": "", "regime": ""}
    text = json.dumps(structure, sort_keys=True, separators=(",", ":")).encode()
    weights = encode_tensors(tensors_of(plain))
    both = hashlib.sha256(text).digest() + hashlib.sha256(weights).digest()
    assert bare_digest(plain) == hashlib.sha256(both).hexdigest()


def test_folders_that_say_two_things_are_malformed(tmp_path: Path) -> None:
    soft, found = _saved(tmp_path)
    other = Provenance("hard", "0" * 64, "last", "softened")
    save_network(soft, other, tmp_path)
    APPROXIMATION.save(replace(found, network=digest_of(soft, other)), tmp_path / CERTIFICATE)
    verdict = check_path(tmp_path)
    assert verdict.status is Status.MALFORMED
    assert "another hard network" in verdict.claims[0].text
    soft, found = _saved(tmp_path)
    APPROXIMATION.save(replace(found, network="0" * 64), tmp_path / CERTIFICATE)
    assert check_path(tmp_path).status is Status.MALFORMED
    attemper.compile("O a", "ab").save(tmp_path / "language")
    APPROXIMATION.save(found, tmp_path / "language" / CERTIFICATE)
    assert check_path(tmp_path / "language").status is Status.MALFORMED
    save_network(soft, Provenance("hard", found.hard, "last", "softened"), tmp_path / "language")
    (tmp_path / "language" / CERTIFICATE).unlink()
    assert check_path(tmp_path / "language").status is Status.MALFORMED


def test_readers_that_need_a_language_say_that_there_is_none(tmp_path: Path) -> None:
    _saved(tmp_path)
    with pytest.raises(UnsupportedError, match="it has no language"):
        attemper.load(tmp_path)
    for option in ({"edited": True}, {"explain": True}, {"ignore_rounding": True}):
        with pytest.raises(OptionError, match="about networks that compute a language"):
            check_path(tmp_path, **option)


def test_certificates_about_other_networks_are_malformed() -> None:
    plain = network(Layer((RIGHTMOST, head(())), (), ()))
    soft, found = softened(plain, by_rules(plain), TENTH)
    assert isinstance(found.evidence, ClosedFormErrors)
    (layer,) = found.evidence.layers
    gap, none = layer.gaps
    normalised = Normalisation(Fraction(0), Fraction(1), True, (), ())
    cases = [
        (soft, replace(found, network="0" * 64)),
        (soft, replace(found, hard="0" * 64)),
        (soft, replace(found, evidence=Enumerated())),
        (soft, replace(found, evidence=ClosedFormErrors((), 0))),
        (soft, replace(found, evidence=ClosedFormErrors((layer, layer), 0))),
        *(
            (soft, replace(found, evidence=ClosedFormErrors((replace(layer, gaps=gaps),), 0)))
            for gaps in (
                (none, none),
                (gap, gap),
                (gap,),
                (gap, none, none),
                (none, gap),
            )
        ),
        (hardened(soft), found),
        (replace(soft, normalisation=normalised), found),
        (replace(soft, output=4), found),
    ]
    assert said(soft, found).status is Status.PROVED
    for changed, claimed in cases:
        assert said(changed, claimed).status is Status.MALFORMED
