"""What is checked at a path, and when a folder is taken to be about one language, in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim, SourceMeaning
from attemper.certificates.files import save as save_certificate
from attemper.checker.edited import check_edited
from attemper.checker.folders import check_file, check_folder, check_path
from attemper.checker.verdict import About, Status, Verdict
from attemper.errors import AlphabetError, AttemperError, MalformedFileError, OptionError, SourceError
from attemper.files import CERTIFICATE
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.files import WEIGHTS, digest_of
from attemper.networks.files import save as save_network
from attemper.networks.structure import Provenance
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.check.claims import MAX_LENGTH, beyond_the_cap
from attemper.workbench.against import programs_of
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from attemper.workbench.sameness import Answer
from tests.support.cli.checked_here import checked_here
from tests.support.mutants.saved import change_structure

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
    return attemper.compile(attemper.regex("[^]*a", "ab"))


def certificate_of(
    own: Model, digest: str, language: SourceMeaning, claims: tuple[Claim, ...]
) -> Certificate:
    """By way of the model's program, where it has one."""
    return Certificate.by_way_of(own.realisation, digest, language, claims)


def prepare() -> None:
    """What all tests share."""
    for every in (model(), model(At.FIRST), counting(), regular()):
        every.check(certificate_of(every, every.digest, every.language.definition, (RealClaim(),)))


def saved(
    folder: Path,
    own: Model,
    *claims: Claim,
    source: Provenance | None = None,
    language: SourceMeaning | None = None,
) -> Path:
    """A folder with the model's network, as if it came from the source, and a certificate."""
    source = source or own.source
    save_network(own.network, source, folder)
    digest = digest_of(own.network, source)
    certificate = certificate_of(own, digest, language or own.language.definition, claims or (RealClaim(),))
    save_certificate(certificate, folder)
    return folder


def said(verdict: Verdict) -> tuple[Status, str]:
    (claim,) = verdict.claims
    return claim.status, claim.text


# Paths -----------------------------------------------------------------------------------------------


def test_a_folder_is_one_and_what_does_not_exist_is_said(tmp_path: Path) -> None:
    verdict = check_path(saved(tmp_path / "net", model()))
    assert verdict.status is Status.PROVED
    assert verdict.subject is not None
    assert (verdict.subject.about, verdict.subject.place) == (About.NETWORK, str(tmp_path / "net"))
    with pytest.raises(MalformedFileError, match=r"there is no '.*missing': give the folder of a network"):
        check_path(tmp_path / "missing")


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
    """The digest is about the weights as they were."""
    folder = saved(tmp_path / "net", counting())
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    (folder / CERTIFICATE).write_text(json.dumps(certificate | {"network": "0" * 64}), encoding="utf-8")
    for door in (check_path, check_folder):
        assert door(folder).status is Status.MALFORMED
        assert door(folder, edited=False).status is Status.MALFORMED
        assert door(folder, edited=True).status is Status.PROVED
    assert check_edited(folder).status is Status.PROVED


def test_edited_weights_of_an_automaton_are_judged_by_the_program_in_the_certificate(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", regular())
    assert check_edited(folder).status is Status.PROVED
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    without = certificate | {"program": None, "groups": []}
    (folder / CERTIFICATE).write_text(json.dumps(without), encoding="utf-8")
    assert check_edited(folder).status is Status.UNKNOWN


def test_claims_of_nothing_are_malformed_and_others_are_not(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    assert check_edited(folder).status is Status.PROVED
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    (folder / CERTIFICATE).write_text(json.dumps(certificate | {"claims": []}), encoding="utf-8")
    assert said(check_edited(folder)) == (Status.MALFORMED, "the certificate claims nothing")
    assert said(check_folder(folder)) == (Status.MALFORMED, "the certificate claims nothing")


# Programs --------------------------------------------------------------------------------------------


def text_of(model: Model) -> str:
    assert model.realisation is not None
    return show_program(model.realisation.program)


def program_file(folder: Path, text: str) -> Path:
    path = folder / "own.program"
    path.write_text(text, encoding="utf-8")
    return path


def judged(folder: Path, program: Path, *, edited: bool = False, explain: bool = False) -> Verdict:
    """The verdict against a program's file, as `attemper check --against` has it, in this process."""
    with checked_here():
        return attemper.check(folder, f"program:{program}", edited=edited, explain=explain).verdict


def test_a_folder_is_judged_against_a_program_without_any_certificate(tmp_path: Path) -> None:
    for number, own in enumerate((model(), counting(), model(At.FIRST))):
        folder = tmp_path / str(number)
        own.save(folder)
        verdict = judged(folder, program_file(tmp_path, text_of(own)))
        assert said(verdict) == (Status.PROVED, "all lengths, in real arithmetic")
        subject = verdict.subject
        assert subject is not None
        assert (subject.about, subject.place, subject.digest) == (About.NETWORK, str(folder), own.digest)
        assert subject.language is not None
        assert subject.language.startswith("an attention program of ")
        assert f"read at the {'first' if number == 2 else 'last'} position" in subject.language


def test_a_proof_is_explained_only_where_that_is_said(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", counting())
    program = program_file(tmp_path, text_of(counting()))
    for explain in (False, True):
        doors = check_path(folder, explain=explain), check_folder(folder, explain=explain)
        assert all(bool(verdict.explanation) == explain for verdict in doors)
        assert bool(judged(folder, program, explain=explain).explanation) == explain
    assert check_path(folder).explanation == check_folder(folder).explanation == ()
    assert judged(folder, program).explanation == ()


def test_another_program_is_refuted_or_unknown(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", counting())
    other = text_of(counting()).replace(">= 0", ">= 1")
    assert judged(folder, program_file(tmp_path, other)).status is Status.REFUTED
    alphabet = text_of(counting()).replace('["a", "b"]', '["a", "b", "c"]')
    with pytest.raises(AlphabetError, match=r"the network reads \{a b\} in this order"):
        judged(folder, program_file(tmp_path, alphabet))


def test_groups_of_the_certificate_are_tried_for_its_own_program_only(tmp_path: Path) -> None:
    """Groups that lie neither prove nor hinder; of another program's certificate nothing is taken."""
    grouped = attemper.compile(attemper.regex("(ab)*", "ab"))
    known, other = grouped.realisation, counting().realisation
    assert known is not None
    assert known.groups
    assert other is not None
    for program, tried in ((known.program, [known, Realisation(known.program)]), (other.program, [other])):
        language = ProgramLanguage(program, At.LAST, False)
        assert list(programs_of(grouped.network, language, [known])) == tried
    folder = saved(tmp_path / "net", regular())
    path = program_file(tmp_path, text_of(regular()))
    assert judged(folder, path).status is Status.PROVED
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    lying = certificate | {"groups": [{"layer": 99, "bits": [[0, 0]]}]}
    (folder / CERTIFICATE).write_text(json.dumps(lying), encoding="utf-8")
    assert judged(folder, path).status is Status.PROVED
    lying["program"]["output"] = int(lying["program"]["output"] == 0)
    (folder / CERTIFICATE).write_text(json.dumps(lying), encoding="utf-8")
    assert "layer 99" not in said(judged(folder, path))[1]
    (folder / CERTIFICATE).write_text("{", encoding="utf-8")
    assert judged(folder, path).status is not Status.MALFORMED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first line is the alphabet"),
        ('alphabet ["a", "b"]\ns0 = nor\noutput s0', "cannot read the step"),
        ('alphabet ["a", "b"]\ns0 = not s0\noutput s0', "s0: s0 is not an earlier step"),
        ('alphabet ["a", "b"]\ns0 = letter ["c"]\noutput s0', "'c' is not in the alphabet"),
        ('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = count <= s0\noutput s1', "a count, not a bit"),
    ],
)
def test_a_file_that_is_no_program_is_the_users_error(text: str, reason: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    with pytest.raises(SourceError, match=reason):
        judged(folder, program_file(tmp_path, text))


@pytest.mark.parametrize(("default", "status"), [(0, Status.PROVED), (1, Status.REFUTED)])
def test_a_program_with_defaults_is_judged_by_what_it_says(
    default: int, status: Status, tmp_path: Path
) -> None:
    step = f"attend <= rightmost where s0 value s0 default {default}"
    text = f'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = {step}\noutput s1'
    folder = saved(tmp_path / "net", attemper.compile("O a", "ab"))
    assert judged(folder, program_file(tmp_path, text)).status is status


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    with pytest.raises(MalformedFileError, match="none'; give the file of an attention program"):
        judged(folder, tmp_path / "none")


@pytest.mark.parametrize("letter", [b"\xff", b"\xfe", b"\xed\xa0\x80"])
def test_a_program_that_is_no_utf8_is_malformed_and_not_read_with_other_letters(
    letter: bytes, tmp_path: Path
) -> None:
    """Decoded with replacements, all of these are a program over U+FFFD and b."""
    folder = saved(tmp_path / "net", attemper.compile("'\ufffd'", ("\ufffd", "b")))
    path = tmp_path / "own.program"
    path.write_bytes(b'alphabet ["' + letter + b'", "b"]\ns0 = letter ["' + letter + b'"]\noutput s0\n')
    with pytest.raises(MalformedFileError, match=r"own.program' is not a text in UTF-8: "):
        judged(folder, path)
    with pytest.raises(MalformedFileError, match=r"own.program' is not a text in UTF-8: "):
        attemper.same(folder, f"program:{path}")


def test_a_byte_order_mark_is_no_part_of_a_program(tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", counting())
    path = tmp_path / "own.program"
    path.write_text(text_of(counting()), encoding="utf-8-sig")
    assert judged(folder, path).status is Status.PROVED
    assert attemper.same(folder, f"program:{path}").answer is Answer.SAME


def test_a_damaged_folder_is_malformed_whatever_the_program(tmp_path: Path) -> None:
    path = program_file(tmp_path, text_of(model()))
    folder = saved(tmp_path / "net", model())
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-1] + b"\x01")
    assert judged(folder, path).status is Status.MALFORMED
    assert judged(folder, path).status is Status.MALFORMED
    assert judged(folder, path, edited=True).status is not Status.MALFORMED


def test_a_refutation_runs_no_program(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(OptionError, match="not about a refutation"):
        check_path(path, against=str(path))
    with pytest.raises(AttemperError, match="not about a refutation"):
        judged(path, program_file(tmp_path, text_of(model())))


# Older folders ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["attemper-network/1", "attemper-network/2", "attemper-network/3"])
def test_a_network_of_an_older_version_says_what_to_do(version: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    change_structure(folder, lambda structure: structure.update(format=version))
    for edited in (False, True):
        verdict = check_folder(folder, edited=edited)
        assert verdict.status is Status.MALFORMED
        older = f"it was made by an older attemper, as {version}: compile it again"
        assert f"does not hold a network: {older}" in said(verdict)[1]


@pytest.mark.parametrize("version", ["attemper-certificate/1", "attemper-certificate/2"])
def test_a_certificate_of_an_older_version_says_what_to_do(version: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "net", model())
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    older = certificate | {"format": version, "heads": [], "layers": [], "meanings": []}
    (folder / CERTIFICATE).write_text(json.dumps(older), encoding="utf-8")
    for edited in (False, True):
        verdict = check_folder(folder, edited=edited)
        assert verdict.status is Status.MALFORMED
        remade = f"it was made by an older attemper, as {version}: compile it again"
        assert f"is not a certificate: {remade}" in said(verdict)[1]


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
    REFUTATION.save(refutation(MAX_LENGTH + 1, "here"), path)
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
    automaton = attemper.compile(regular().language.definition)  # type: ignore[arg-type]
    realisation = counting().realisation
    assert realisation is not None
    spoken = ProgramLanguage(realisation.program, At.LAST, accepts_empty=counting().network.accepts_empty)
    program = replace(counting(), language=Language(spoken, counting().alphabet))
    for number, own in enumerate((model(), model(At.FIRST), counting(), regular(), automaton, program)):
        folder = saved(tmp_path / str(number), own)
        assert check_folder(folder).status is Status.PROVED, own.source.kind


def test_a_source_that_differs_in_one_thing_is_another_language(tmp_path: Path) -> None:
    """Of how the word is read, where the source says so, and what its text is."""
    own, first = model(), model(At.FIRST)
    symbol = parse("a", own.alphabet)
    text = text_of(counting())
    program = ProgramLanguage(parse_program(text), At.LAST, counting().network.accepts_empty)
    for number, (some, source, language) in enumerate(
        (
            (own, own.source, TemporalLanguage(symbol, At.LAST, True)),
            (own, own.source, TemporalLanguage(symbol, At.FIRST, False)),
            (first, first.source, TemporalLanguage(symbol, At.LAST, False)),
            (own, replace(own.source, at="first"), own.language.definition),
            (own, replace(own.source, at="Last"), own.language.definition),
            (first, replace(first.source, at="last"), first.language.definition),
            (own, replace(own.source, text="b"), own.language.definition),
            (own, replace(own.source, text="a "), own.language.definition),
            (own, replace(own.source, text="!a"), own.language.definition),
            (own, replace(own.source, kind="regex"), own.language.definition),
            (own, replace(own.source, kind="automaton"), own.language.definition),
            (own, own.source, regular().language.definition),
            (regular(), replace(regular().source, text="[^]*b"), regular().language.definition),
            (regular(), Provenance("formula", "a", "last", "unbounded"), regular().language.definition),
            (counting(), Provenance("program", text.replace(">= 0", ">= 1"), "last", "unbounded"), program),
            (counting(), Provenance("formula", text, "last", "unbounded"), program),
        )
    ):
        folder = saved(tmp_path / str(number), some, source=source, language=language)
        assert said(check_folder(folder)) == (Status.MALFORMED, OTHER), (number, source)


def test_the_text_of_a_source_is_read_as_its_kind_says(tmp_path: Path) -> None:
    """An expression is no automaton's text, nor is that an expression's; another expression may do."""
    own = regular()
    automaton = attemper.compile(own.language.definition).source  # type: ignore[arg-type]
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
