"""What is checked at a path, and when a folder is taken to be about one language, in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from attemper.certificates.evidence import Evidence, RoundedLayer

import attemper
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import save as save_certificate
from attemper.certificates.refutations import Refutation
from attemper.certificates.refutations import save as save_refutation
from attemper.certificates.restrictions import Restriction
from attemper.checker.edited import check_edited
from attemper.checker.folders import check_file, check_folder, check_path
from attemper.checker.refutations import MAX_LENGTH, beyond_the_cap
from attemper.checker.verdict import About, Status, Verdict
from attemper.errors import OptionError
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.files import Source, digest_of
from attemper.networks.files import save as save_network
from attemper.workbench.model import Model

TOO_LONG = FloatClaim("bfloat16", "numerator-first", 10**12, "")

OTHER = "the certificate is about another language than this network's source"


@cache
def model(at: At = At.LAST) -> Model:
    return attemper.compile("a", "ab", at=at.value)


@cache
def counting() -> Model:
    return attemper.compile("#<['a'] <= #<['b']", "ab")


@cache
def regular() -> Model:
    return attemper.compile_regex("[^]*a", "ab")


def prepare() -> None:
    """What all tests share."""
    for every in (model(), model(At.FIRST), counting(), regular()):
        every.check(Certificate(every.digest, every.language, (RealClaim(),), ()))


def saved(
    folder: Path,
    own: Model,
    *claims: Claim,
    source: Source | None = None,
    language: Language | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> Path:
    """A folder with the model's network, as if it came from the source, and a certificate."""
    source = source or own.source
    save_network(own.network, source, folder)
    digest = digest_of(own.network, source)
    certificate = Certificate(digest, language or own.language, claims or (RealClaim(),), evidence)
    save_certificate(certificate, folder)
    return folder


def said(verdict: Verdict) -> tuple[Status, str]:
    (claim,) = verdict.claims
    return claim.status, claim.text


# Paths -----------------------------------------------------------------------------------------------


def test_a_folder_is_one_and_what_does_not_exist_as_well(tmp_path: Path) -> None:
    verdict = check_path(saved(tmp_path / "net", model()))
    assert verdict.status is Status.PROVED
    assert verdict.subject is not None
    assert (verdict.subject.about, verdict.subject.place) == (About.NETWORK, str(tmp_path / "net"))
    verdict = check_path(tmp_path / "missing")
    assert verdict.status is Status.MALFORMED
    assert verdict.subject is not None
    assert (verdict.subject.about, verdict.subject.place) == (About.NETWORK, str(tmp_path / "missing"))


def test_a_file_is_a_refutation_and_cannot_be_edited(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("{}", encoding="utf-8")
    verdict = check_path(path)
    assert verdict.status is Status.MALFORMED
    assert verdict.subject is not None
    assert verdict.subject.about is About.MODEL
    with pytest.raises(OptionError, match="not about a refutation"):
        check_path(path, edited=True)


def test_rounding_is_ignored_only_where_that_is_said(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", counting(), TOO_LONG)
    for door in (check_path, check_folder, check_edited):
        assert door(folder).status is Status.UNKNOWN
        assert door(folder, ignore_rounding=True).status is Status.PROVED_UNDER_ASSUMPTIONS


def test_changed_weights_are_judged_only_where_that_is_said(tmp_path: Path) -> None:
    """Evidence about the weights as they were is not judged, and so it may be wrong."""
    folder = saved(tmp_path / "net", counting(), evidence=(RoundedLayer(99, Fraction(1, 4)),))
    for door in (check_path, check_folder):
        assert door(folder).status is Status.UNKNOWN
        assert door(folder, edited=False).status is Status.UNKNOWN
        assert door(folder, edited=True).status is Status.PROVED
    assert check_edited(folder).status is Status.PROVED


def test_claims_of_nothing_are_malformed_and_others_are_not(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    assert check_edited(folder).status is Status.PROVED
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    (folder / CERTIFICATE).write_text(json.dumps(certificate | {"claims": []}), encoding="utf-8")
    assert said(check_edited(folder)) == (Status.MALFORMED, "the certificate claims nothing")
    assert said(check_folder(folder)) == (Status.MALFORMED, "the certificate claims nothing")


# Refutations -----------------------------------------------------------------------------------------


def refutation(length: int, source: str) -> Refutation:
    parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    free = Restriction(((0, 1),) * length)
    words = ("0",) * length, ("1", *("0",) * (length - 1))
    return Refutation("digest", source, "exact", ("0", "1"), None, free, (), parity, *words, True)


def test_words_up_to_the_cap_are_looked_at() -> None:
    assert MAX_LENGTH == 10_000
    assert list(beyond_the_cap(refutation(10_000, ""))) == []
    (reason,) = beyond_the_cap(refutation(10_001, ""))
    assert reason == "it is about words of 10,001 symbols, and at most 10,000 are checked"


def test_the_model_that_is_named_goes_before_the_one_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    save_refutation(refutation(MAX_LENGTH + 1, "here"), path)
    for named, place in ((None, "here"), ("module:model", "module:model")):
        verdict = check_file(path, named)
        assert verdict.status is Status.UNKNOWN
        assert verdict.subject is not None
        assert (verdict.subject.about, verdict.subject.place) == (About.MODEL, place)
        assert verdict.subject.digest == "digest"
    path.write_text("{}", encoding="utf-8")
    for named, place in ((None, ""), ("module:model", "module:model")):
        verdict = check_file(path, named)
        assert verdict.status is Status.MALFORMED
        assert verdict.subject is not None
        assert (verdict.subject.about, verdict.subject.place) == (About.MODEL, place)


# One language ----------------------------------------------------------------------------------------


def test_a_folder_about_one_language_is_proved(tmp_path: Path) -> None:
    automaton = attemper.compile_dfa(regular().language)  # type: ignore[arg-type]
    for number, own in enumerate((model(), model(At.FIRST), counting(), regular(), automaton)):
        folder = saved(tmp_path / str(number), own)
        assert check_folder(folder).status is Status.PROVED, own.source.kind


def test_a_source_that_differs_in_one_thing_is_another_language(tmp_path: Path) -> None:
    """Of how the word is read, where the source says so, and what its text is."""
    own, first = model(), model(At.FIRST)
    symbol = parse("a", own.alphabet)
    for number, (some, source, language) in enumerate(
        (
            (own, own.source, TemporalLanguage(symbol, At.LAST, True)),
            (own, own.source, TemporalLanguage(symbol, At.FIRST, False)),
            (first, first.source, TemporalLanguage(symbol, At.LAST, False)),
            (own, replace(own.source, at="first"), own.language),
            (own, replace(own.source, at="Last"), own.language),
            (first, replace(first.source, at="last"), first.language),
            (own, replace(own.source, text="b"), own.language),
            (own, replace(own.source, text="a "), own.language),
            (own, replace(own.source, text="!a"), own.language),
            (own, replace(own.source, kind="regex"), own.language),
            (own, replace(own.source, kind="automaton"), own.language),
            (own, own.source, regular().language),
            (regular(), replace(regular().source, text="[^]*b"), regular().language),
            (regular(), Source("formula", "a", "last", "unbounded"), regular().language),
        )
    ):
        folder = saved(tmp_path / str(number), some, source=source, language=language)
        assert said(check_folder(folder)) == (Status.MALFORMED, OTHER), (number, source)


def test_the_text_of_a_source_is_read_as_its_kind_says(tmp_path: Path) -> None:
    """An expression is no automaton's text, nor is that an expression's; another expression may do."""
    own = regular()
    automaton = attemper.compile_dfa(own.language).source  # type: ignore[arg-type]
    for number, source in enumerate(
        (
            replace(own.source, kind="automaton"),
            replace(automaton, kind="regex"),
            replace(own.source, text="("),
        )
    ):
        folder = saved(tmp_path / str(number), own, source=source)
        status, text = said(check_folder(folder))
        assert status is Status.MALFORMED
        assert text.startswith("the network's source cannot be read: ")
    other = saved(tmp_path / "other", own, source=replace(own.source, text="(a|b)*a"))
    assert check_folder(other).status is Status.PROVED
