"""attemper certify, check, show and compile --horizon: every verdict has its exit code and its words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.certificates.claims import FloatClaim, RealClaim
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.networks.files import STRUCTURE
from tests.support.cli.command_line import attemper as run_command_line

MAJORITY = "#<['0'] <= #<['1']"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certified") / "majority"
    finished = run_command_line("compile", MAJORITY, "--alphabet", "01", "-o", str(folder))
    assert finished.code == 0, finished.err
    return folder


def _edited(folder: Path, tmp_path: Path, edit: Any) -> Path:
    """A copy of the folder whose certificate an attacker changed."""
    copy = tmp_path / "edited"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    certificate = json.loads((copy / CERTIFICATE).read_text(encoding="utf-8"))
    edit(certificate)
    (copy / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    return copy


def test_a_compiled_network_carries_a_certificate_that_is_proved(folder: Path) -> None:
    finished = run_command_line("check", str(folder), "--all")
    assert finished.code == 0
    lines = finished.out.splitlines()
    assert lines[0] == "PROVED"
    language = f"{MAJORITY} (read at the last position of words over 0 1; the empty word is rejected)"
    assert lines[1] == f"  language: {language}"
    assert lines[2] == f"  network: {folder}"
    assert lines[3].startswith("  digest: ")
    assert lines[4] == "  PROVED: all lengths, in real arithmetic"
    assert any("in float32 with numerator-first kernels" in line for line in lines)
    assert any("in float32 with scan kernels" in line for line in lines)
    assert lines[-2].startswith("  float arithmetic: round to nearest")
    assert "exp within 8 u" in lines[-2]
    assert lines[-1].startswith("  float arithmetic: of scans: heads in float64")


def test_check_as_json(folder: Path) -> None:
    finished = run_command_line("check", str(folder), "--json")
    record = json.loads(finished.out)
    assert record["verdict"] == "PROVED"
    subject = record["subject"]
    assert subject["language"].startswith(f"{MAJORITY} (read at the last position of words over 0 1; ")
    assert (subject["about"], subject["place"]) == ("network", str(folder))
    assert subject["digest"] == json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))["digest"]
    assert record["claims"][0] == {
        "status": "PROVED",
        "text": "all lengths, in real arithmetic",
        "assumptions": [],
        "arithmetic": "",
        "witness": None,
        "is_vacuous": False,
    }


def test_a_claim_about_no_length_is_not_printed_as_proved(folder: Path, tmp_path: Path) -> None:
    folder = _edited(folder, tmp_path, lambda _: None)
    found = load_certificate(folder)
    (no_length, *_) = (claim for claim in found.claims if isinstance(claim, FloatClaim))
    nothing = replace(no_length, horizon=0)
    save_certificate(replace(found, claims=(nothing, RealClaim())), folder)
    said = f"nothing is proved in {nothing.format} with {nothing.kernel} kernels"
    finished = run_command_line("check", str(folder), "--all")
    assert (finished.code, finished.out.splitlines()[0]) == (0, "PROVED")
    assert f"  {said}\n" in finished.out
    short = run_command_line("check", str(folder)).out
    assert short.startswith("PROVED: all lengths, in real arithmetic\nnothing is proved in ")
    assert "up to 0" not in finished.out
    first, second = run_command_line("check", str(folder), "--json").record["claims"]
    assert (first["status"], first["text"], first["is_vacuous"]) == ("PROVED", said, True)
    assert not second["is_vacuous"]
    judged = attemper.check(attemper.load(folder), attemper.load(folder), claims=(nothing,))
    assert [(one.status, one.text, one.is_vacuous) for one in judged.claims] == [("PROVED", said, True)]
    shown = run_command_line("show", str(folder)).out.splitlines()
    start = shown.index("claimed by certificate.json, to be checked with 'attemper check DIR':")
    assert shown[start + 1] == "  all lengths, in real arithmetic"
    assert shown[start + 2].startswith(f"  nothing is proved in {nothing.format}, {nothing.kernel} kernels; ")


@pytest.mark.parametrize("claim", [RealClaim(0), FloatClaim("float32", "numerator-first", 0, "")])
def test_a_certificate_that_claims_nothing_is_not_proved(
    claim: RealClaim | FloatClaim, folder: Path, tmp_path: Path
) -> None:
    """A network that is wrong on every word can have one, if it normalises what it reads."""
    folder = _edited(folder, tmp_path, lambda _: None)
    save_certificate(replace(load_certificate(folder), claims=(claim, claim)), folder)
    finished = run_command_line("check", str(folder))
    assert (finished.code, finished.out.splitlines()[0]) == (12, "UNKNOWN")
    assert "PROVED" not in finished.out
    record = run_command_line("check", str(folder), "--json").record
    assert (record["verdict"], record["claims"][0]["is_vacuous"]) == ("UNKNOWN", True)


def test_without_rounding_it_is_proved_under_assumptions_only(folder: Path) -> None:
    finished = run_command_line("check", str(folder), "--ignore-rounding")
    assert finished.code == 11
    assert finished.out.startswith("PROVED_UNDER_ASSUMPTIONS")
    assert "assuming rounding is ignored" in finished.out


def test_a_stretched_horizon_is_unknown(folder: Path, tmp_path: Path) -> None:
    def stretch(certificate: Any) -> None:
        claim = next(c for c in certificate["claims"] if c[:2] == ["float claim", "float32"])
        claim[3] += 1

    finished = run_command_line("check", str(_edited(folder, tmp_path, stretch)))
    assert finished.code == 12
    assert finished.out.startswith("UNKNOWN")
    assert "numerator-first kernels: no proof for sums over so many positions" in finished.out


def test_the_certificate_of_another_formula_is_malformed(folder: Path, tmp_path: Path) -> None:
    def swap(certificate: Any) -> None:
        certificate["language"][1][-1][1] = "<"

    finished = run_command_line("check", str(_edited(folder, tmp_path, swap)))
    assert finished.code == 6
    assert "another language" in finished.out


PROGRAM = {"alphabet": ["0", "1"], "steps": [["letter", ["0"]]], "output": 0, "symbols": [], "numbers": None}


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda c: c.pop("claims"), "the entry 'claims' is missing"),
        (lambda c: c.update(network="0" * 64), "about another network"),
        (lambda c: c.update(claims=[]), "the certificate claims nothing"),
        (
            lambda c: c["claims"].append(["float claim", "float16"]),
            'after "float claim" stands format, kernel',
        ),
        (lambda c: c["claims"].append(["float claim", "float16", "scan", 9, ""]), "float16"),
        (
            lambda c: c.update(groups=[{"layer": 0, "bits": [[0, 0]]}]),
            "it has groups of bits, but no program",
        ),
        (lambda c: c.update(program={}), "program: the entry 'alphabet' is missing"),
        (
            lambda c: c.update(program=PROGRAM),
            "its language is no automaton, so that its program must be null",
        ),
        (lambda c: c["language"][1].append(["unary", "Y", 99]), "expected the number of an earlier part"),
        (lambda c: c["language"][1].append(["unary", "Q", 0]), 'operator: expected one of "!"'),
        (lambda c: c.update(extra=1), "the entry 'extra' is unknown"),
    ],
)
def test_malformed_certificates(folder: Path, tmp_path: Path, edit: Any, said: str) -> None:
    finished = run_command_line("check", str(_edited(folder, tmp_path, edit)))
    assert finished.code == 6, finished.out
    assert finished.out.startswith("MALFORMED")
    assert said in " ".join(finished.out.split())
    assert "Traceback" not in finished.out + finished.err


def test_a_missing_certificate_says_how_to_make_one(folder: Path, tmp_path: Path) -> None:
    copy = _edited(folder, tmp_path, lambda certificate: None)
    (copy / CERTIFICATE).unlink()
    finished = run_command_line("check", str(copy))
    assert finished.code == 6
    assert "attemper certify" in finished.out
    assert run_command_line("certify", str(copy)).code == 0
    assert run_command_line("check", str(copy)).code == 0


def test_show_prints_the_horizons_and_their_bottleneck(folder: Path) -> None:
    finished = run_command_line("show", str(folder))
    assert "in float32, normalise-first kernels; beyond it no proof for layer 1, head 0" in finished.out
    record = json.loads(run_command_line("show", str(folder), "--json").out)
    assert {h["format"] for h in record["horizons"]} == {"float64", "float32", "bfloat16"}


def test_compile_reaches_a_goal_or_says_what_is_reached(tmp_path: Path) -> None:
    target = ["--alphabet", "ab", "--dtype", "float32", "--horizon"]
    finished = run_command_line("compile", "a S b", *target, "100000", "-o", str(tmp_path / "since"))
    assert finished.code == 0
    certificate = json.loads((tmp_path / "since" / CERTIFICATE).read_text(encoding="utf-8"))
    claim = next(c for c in certificate["claims"] if c[1:3] == ["float32", "numerator-first"])
    assert claim[3] >= 100_000
    refused = run_command_line("compile", "even(#<[a])", *target, "100000", "-o", str(tmp_path / "parity"))
    assert refused.code == 4
    assert "the largest that is proved is" in refused.err
    assert "layer 1, head" in refused.err
    assert not (tmp_path / "parity").exists()


def test_a_wider_margin_is_taken_where_it_is_needed(tmp_path: Path) -> None:
    target = ["--alphabet", "ab", "--dtype", "float32", "--horizon", "600", "-o", str(tmp_path / "m")]
    assert run_command_line("compile", "even(#<[a])", *target).code == 0
    assert run_command_line("check", str(tmp_path / "m")).code == 0


def test_registered_predicates_are_an_assumption() -> None:
    attemper.register_predicate("fourth_power", lambda v: v >= 0 and round(v**0.25) ** 4 == v)
    model = attemper.compile("fourth_power(#<[a])", "ab")
    verdict = model.check(model.certify())
    assert verdict.status == "PROVED_UNDER_ASSUMPTIONS"
    assert "fourth_power" in verdict.claims[0].assumptions[0]


def test_recompiling_without_a_proof_leaves_no_old_certificate(tmp_path: Path) -> None:
    folder = str(tmp_path / "m")
    assert run_command_line("compile", "a S b", "--alphabet", "ab", "-o", folder).code == 0
    # Known to be beyond the checker's normal forms; if it is proved one day, take another one.
    finished = run_command_line("compile", "H (even(len) xor pos % 4 = 0)", "--alphabet", "ab", "-o", folder)
    assert finished.code == 12
    assert "NOT certified" in finished.out
    assert not (tmp_path / "m" / CERTIFICATE).exists()
    assert run_command_line("certify", folder).code == 12


@pytest.mark.sweep(0)
def test_a_certificate_of_another_network_does_not_stand_in_the_way_of_a_new_one(tmp_path: Path) -> None:
    """A folder may hold a stale certificate; what that one says of its own program concerns nobody."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for regex, target in (("(ab)*", mine), ("a*b", other)):
        assert run_command_line("compile", f"regex:{regex}", "--alphabet", "ab", "-o", str(target)).code == 0
    (mine / CERTIFICATE).write_bytes((other / CERTIFICATE).read_bytes())

    assert run_command_line("check", str(mine)).code != 0
    shown = run_command_line("show", str(mine))
    assert shown.code == 0
    assert "certificate.json is about another network or language; make one with" in shown.out
    assert json.loads(run_command_line("show", str(mine), "--json").out)["horizons"] is None
    assert run_command_line("certify", str(mine)).code == 0
    assert run_command_line("check", str(mine)).code == 0


def test_a_network_is_shown_whatever_stands_in_its_certificate(folder: Path, tmp_path: Path) -> None:
    shown = run_command_line("show", str(_edited(folder, tmp_path, lambda certificate: certificate.clear())))
    assert shown.code == 0
    assert "certificate.json is none; make one with 'attemper certify DIR'" in shown.out
