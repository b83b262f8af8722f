"""`check DIR --against LANGUAGE`: what people write, judged by a process that reads certificates alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import SymbolGroup
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import save
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import ExitCode
from attemper.files import CERTIFICATE, MOST_TEXT
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.temporal.reading import At
from attemper.networks.files import WEIGHTS
from tests.support.cli.command_line import attemper as run_command_line

EVER = """alphabet ["a", "b"]
s0 = letter ["b"]
s1 = attend <= rightmost where s0 value s0
output s1
"""


@dataclass(frozen=True)
class Said:
    """What a command line said."""

    code: int
    out: str
    err: str


def command(*arguments: object) -> Said:
    """The command of the whole library."""
    outcome = run_command_line("check", *arguments)
    return Said(outcome.code, outcome.out, outcome.err)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network without any certificate."""
    folder = tmp_path_factory.mktemp("network") / "since"
    attemper.compile("a S b | O b", "ab").save(folder)
    assert not (folder / CERTIFICATE).exists()
    return folder


def program(tmp_path: Path, text: str) -> str:
    """How a program's file is named."""
    path = tmp_path / "own.program"
    path.write_text(text, encoding="utf-8")
    return f"program:{path}"


def test_a_network_that_runs_the_program_is_proved(folder: Path, tmp_path: Path) -> None:
    attemper.compile("O b", "ab").save(tmp_path / "once")
    said = command(tmp_path / "once", "--against", program(tmp_path, EVER))
    assert (said.code, said.err) == (ExitCode.OK, "")
    lines = said.out.splitlines()
    assert lines[0] == "PROVED: all lengths, in real arithmetic"
    assert lines[1].startswith('  language: an attention program of 2 steps: s0 = letter ["b"]; ')
    assert len(lines) == 2
    every = command(tmp_path / "once", "--against", program(tmp_path, EVER), "--all").out.splitlines()
    assert every[0] == "PROVED"
    assert every[2:] == [
        f"  network: {tmp_path / 'once'}",
        f"  digest: {attemper.load(tmp_path / 'once').digest}",
        "  PROVED: all lengths, in real arithmetic",
    ]


@pytest.mark.sweep(1)
def test_a_program_says_what_it_is_where_there_is_nothing(tmp_path: Path) -> None:
    attemper.compile("O b", "ab").save(tmp_path / "once")
    for default, code in (("0", ExitCode.OK), ("1", ExitCode.REFUTED)):
        path = program(tmp_path, EVER.replace("value s0", f"value s0 default {default}"))
        said = command(tmp_path / "once", "--against", path)
        assert (said.code, said.err) == (code, "")
        assert f"default {default}" in said.out


def test_a_network_that_does_not_is_refuted_with_a_word(folder: Path, tmp_path: Path) -> None:
    path = program(tmp_path, EVER.replace("<=", "<"))
    said = command(folder, "--against", path, "--json")
    assert said.code == ExitCode.REFUTED
    record = json.loads(said.out)
    assert (record["verdict"], record["claims"][0]["witness"]) == ("REFUTED", ["b"])


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("text", "code", "fragment"),
    [
        ("", ExitCode.SOURCE, "the first line is the alphabet"),
        (EVER.replace("letter", "leter"), ExitCode.SOURCE, "line 2"),
        (EVER.replace("where s0", "where s9"), ExitCode.SOURCE, "s1: s9 is not an earlier step"),
        (EVER.replace("value s0", "value s0 default 2"), ExitCode.SOURCE, "line 3"),
        (EVER.replace("where s0", "where s0:s0 s1:s0"), ExitCode.SOURCE, "s1: s1 is not an earlier step"),
        (EVER.replace("where s0", "where s0 s0"), ExitCode.SOURCE, "stands alone"),
        (EVER.replace('["a", "b"]', '["a", "a"]'), ExitCode.SOURCE, "occurs twice"),
    ],
)
def test_a_bad_program_is_a_clear_error(
    text: str, code: ExitCode, fragment: str, folder: Path, tmp_path: Path
) -> None:
    said = command(folder, "--against", program(tmp_path, text))
    assert (said.code, said.out) == (code, "")
    assert fragment in said.err
    assert "Traceback" not in said.err


def test_a_missing_or_binary_program_is_malformed(folder: Path, tmp_path: Path) -> None:
    said = command(folder, "--against", f"program:{tmp_path / 'none'}")
    assert (said.code, said.out) == (ExitCode.FILE, "")
    assert "give the file of an attention program" in said.err
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    said = command(folder, "--against", f"program:{tmp_path / 'binary'}")
    assert (said.code, said.out) == (ExitCode.FILE, "")
    assert "is not a text in UTF-8: invalid start byte" in said.err


def test_a_program_over_other_symbols_is_refused(folder: Path, tmp_path: Path) -> None:
    text = EVER.replace('["a", "b"]', '["b", "a"]')
    said = command(folder, "--against", program(tmp_path, text))
    assert (said.code, said.out) == (ExitCode.WORD, "")
    assert "the network reads {a b} in this order, and " in said.err
    assert "is over {b a}" in said.err


def test_changed_weights_are_judged_with_edited_only(tmp_path: Path) -> None:
    folder, path = tmp_path / "once", program(tmp_path, EVER)
    attemper.compile("O b", "ab").save(folder)
    weights = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(weights.replace(b'{"', b'{"', 1)[:-1] + bytes([weights[-1] ^ 0x80]))
    assert command(folder, "--against", path).code == ExitCode.FILE
    assert command(folder, "--against", path, "--edited").code in {ExitCode.OK, ExitCode.REFUTED}


@pytest.mark.sweep(0)
def test_the_certificate_of_an_automaton_says_where_its_groups_are(tmp_path: Path) -> None:
    """Its program is proved with the groups that stand in the certificate, and with others is not."""
    folder = tmp_path / "net"
    assert run_command_line("compile", "regex:a*b", "--alphabet", "ab", "-o", folder).code == 0
    realisation = attemper.load(folder).realisation
    assert realisation is not None
    path = program(tmp_path, show_program(realisation.program))
    assert command(folder, "--against", path).code == ExitCode.OK
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    certificate["groups"][0]["layer"] = 9
    (folder / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    assert command(folder, "--against", path).code == ExitCode.UNKNOWN


def test_another_networks_certificate_says_nothing_about_groups(folder: Path, tmp_path: Path) -> None:
    copy, path = shutil.copytree(folder, tmp_path / "copy"), program(tmp_path, EVER)
    attemper.compile("O b", "ab").save(copy)
    language = ProgramLanguage(parse_program(EVER), At.LAST, False)
    groups = (SymbolGroup(99, ((9999, 0),)),)
    save(Certificate("1" * 64, language, (RealClaim(),), groups=groups), copy)
    assert command(copy, "--against", path).code == ExitCode.OK


def test_a_refutation_has_no_program(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("{}", encoding="utf-8")
    said = command(path, "--against", program(tmp_path, EVER))
    assert said.code == ExitCode.USAGE
    assert "not about a refutation" in said.err


def test_what_cannot_be_read_is_shown_below_its_message(folder: Path, tmp_path: Path) -> None:
    text = 'alphabet ["a", "b"]\ns0 = lettr ["a"]\noutput s0\n'
    said = command(folder, "--against", program(tmp_path, text))
    assert said.code == ExitCode.SOURCE
    assert said.err.splitlines()[1:] == ['    s0 = lettr ["a"]', "    ^"]


@pytest.mark.parametrize(
    "step",
    [
        'letter ["a\\nPROVED"]',
        'place "1/x\\nPROVED"',
        'place ["number", "1/x\\nPROVED"]',
        'place ["test", ["named", "x\\nPROVED"], 1, 0, 0]',
    ],
)
def test_what_a_message_quotes_has_no_line_of_its_own(step: str, folder: Path, tmp_path: Path) -> None:
    said = command(folder, "--against", program(tmp_path, f'alphabet ["a", "b"]\ns0 = {step}\noutput s0\n'))
    assert said.code == ExitCode.SOURCE
    assert r"\nPROVED" in said.err
    assert not any(line.strip().startswith("PROVED") for line in said.err.splitlines())


# Languages of every kind -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alternating(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of (ab)*, with its certificate."""
    folder = tmp_path_factory.mktemp("alternating") / "net"
    model = attemper.compile("regex:(ab)*")
    model.save(folder, certificate=model.certify())
    return folder


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("regex:(ab)*", ExitCode.OK),
        ("regex:(ab)*|()", ExitCode.OK),
        ("regex:(ab)*|aba", ExitCode.REFUTED),
        ("dfa:{tmp}/own.json", ExitCode.OK),
        ("{tmp}/own.json", ExitCode.OK),
        ("net:{net}", ExitCode.OK),
        ("{net}", ExitCode.OK),
        ("zoo:parity", ExitCode.WORD),
        ("O a", ExitCode.REFUTED),
        ("formula@last:O a", ExitCode.REFUTED),
        ("G (a -> X b)", ExitCode.REFUTED),
        ("regexp:(ab)*", ExitCode.USAGE),
        ("O (a", ExitCode.SOURCE),
        ("O c", ExitCode.SOURCE),
        ("dfa:{tmp}/none.json", ExitCode.FILE),
    ],
)
def test_a_language_of_every_kind(language: str, code: ExitCode, alternating: Path, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(dfa_to_json(attemper.regex("(ab)*").automaton()), encoding="utf-8")
    said = command(alternating, "--against", language.format(tmp=tmp_path, net=alternating))
    assert said.code == code, said.out + said.err


def test_an_automaton_is_proved_of_a_network_that_nothing_says_what_it_runs(tmp_path: Path) -> None:
    """The network of a formula has no program in its certificate: it is read from the weights."""
    attemper.compile("H (a -> Y b)", "ab").save(tmp_path / "net")
    same = "regex:(b|ba)(b|ba)*"
    assert command(tmp_path / "net", "--against", same).code == ExitCode.OK
    assert attemper.check(tmp_path / "net", same).status is Status.PROVED
    wrong = attemper.check(tmp_path / "net", "regex:(b|ba)*")
    assert (wrong.status, wrong.exit_code) == (Status.REFUTED, ExitCode.REFUTED)


def test_a_formula_is_read_where_the_network_is_read_unless_it_says_so(tmp_path: Path) -> None:
    attemper.compile("F a", "ab", at="first", empty="accept").save(tmp_path / "net")
    assert command(tmp_path / "net", "--against", "F a").code == ExitCode.OK
    assert command(tmp_path / "net", "--against", "F a", "--at", "last").code != ExitCode.OK
    assert command(tmp_path / "net", "--against", "F a", "--empty", "reject").code != ExitCode.OK
    assert command(tmp_path / "net", "--against", "F a", "--alphabet", "ab").code == ExitCode.OK
    other = command(tmp_path / "net", "--against", "F a", "--alphabet", "abc")
    assert (other.code, other.out) == (ExitCode.WORD, "")
    alone = command(tmp_path / "net", "--at", "first")
    assert (alone.code, "about --against LANGUAGE" in alone.err) == (ExitCode.USAGE, True)


def test_options_that_a_language_says_itself_are_refused(alternating: Path) -> None:
    said = command(alternating, "--against", "regex:(ab)*", "--at", "last")
    assert (said.code, said.out) == (ExitCode.USAGE, "")
    assert "leave it out" in said.err


def test_a_softened_folder_is_about_no_language(alternating: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(alternating, tmp_path / "net")
    (folder / CERTIFICATE).write_text('{"format": "attemper-approximation/2"}', encoding="utf-8")
    said = command(folder, "--against", "regex:(ab)*")
    assert (said.code, said.out) == (ExitCode.USAGE, "")
    assert "not about a softened one" in said.err


# What the checking process reads ----------------------------------------------------------------------


def handed(folder: Path, place: Path, **changes: object) -> Path:
    """What is handed over for (ab)*, with other entries."""
    entries = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    place.write_text(json.dumps(entries | changes), encoding="utf-8")
    return place


OTHER_SYMBOL = ["temporal language", [["symbol", "c"]], "last", True]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.PROVED),
        ({"network": "1" * 64}, Status.MALFORMED),
        ({"claims": []}, Status.MALFORMED),
        ({"claims": [["real claim", -1]]}, Status.MALFORMED),
        ({"language": []}, Status.MALFORMED),
        ({"language": OTHER_SYMBOL}, Status.MALFORMED),
        ({"language": OTHER_SYMBOL, "program": None, "groups": []}, Status.MALFORMED),
        ({"program": {}}, Status.MALFORMED),
        ({"groups": [{"layer": 99, "bits": [[0, 0]]}]}, Status.UNKNOWN),
        ({"program": None, "groups": []}, Status.UNKNOWN),
        ({"more": 1}, Status.MALFORMED),
        ({"format": "attemper-depth/2"}, Status.MALFORMED),
        ({"format": "attemper-certificate/2"}, Status.MALFORMED),
    ],
)
def test_what_is_handed_over_is_believed_as_little_as_a_certificate(
    changes: dict[str, object], status: Status, alternating: Path, tmp_path: Path
) -> None:
    file = handed(alternating, tmp_path / "handed.json", **changes)
    for edited in (False, True):
        wanted = status if "network" not in changes or not edited else Status.PROVED
        assert check_path(alternating, against=str(file), edited=edited).status is wanted


def test_a_file_that_is_none_is_malformed(alternating: Path, tmp_path: Path) -> None:
    deep, twice, large = tmp_path / "deep", tmp_path / "twice", tmp_path / "large"
    deep.write_text("[" * 100_000, encoding="utf-8")
    twice.write_text('{"format": 1, "format": 2}', encoding="utf-8")
    with large.open("wb") as stream:
        stream.truncate(MOST_TEXT + 1)
    for file in (deep, twice, large, tmp_path, tmp_path / "none"):
        verdict = check_path(alternating, against=str(file))
        assert verdict.status is Status.MALFORMED, file


def test_what_is_refuted_beside_the_verdict_says_so(tmp_path: Path) -> None:
    """A network that decides the language, and puts out other bits on the way there."""
    attemper.compile("#[a] >= 1", "ab").save(tmp_path / "late")
    found = attemper.check(tmp_path / "late", "O a")
    assert found.status is Status.REFUTED
    hint = "  judged at every position of a word; 'attemper same' compares the verdicts on words alone"
    assert hint in str(found).splitlines()
    other = attemper.check(tmp_path / "late", "O b")
    assert other.status is Status.REFUTED


def test_a_claim_that_is_not_proved_is_never_left_out(tmp_path: Path) -> None:
    model = attemper.compile("zoo:histogram")
    model.save(tmp_path, certificate=model.certify())
    written = json.loads((tmp_path / CERTIFICATE).read_text())
    far = [c for c in written["claims"] if c[:3] == ["float claim", "float32", "normalise-first"]]
    assert len(far) == 1
    far[0][3] = 10**6
    (tmp_path / CERTIFICATE).write_text(json.dumps(written))
    said = command(tmp_path)
    assert said.code == ExitCode.UNKNOWN
    assert any(line.startswith("UNKNOWN: ") and "normalise-first" in line for line in said.out.splitlines())


def test_a_predicate_of_this_process_is_not_handed_over(folder: Path) -> None:
    attemper.register_predicate("handed_over", lambda value: value == 3)
    with pytest.raises(attemper.UnsupportedError, match=r"'handed_over' is a predicate that this process"):
        attemper.check(folder, "handed_over(pos) | O a")
    assert attemper.check(attemper.load(folder), "handed_over(pos) | O a").status is not Status.MALFORMED


def test_groups_that_a_folder_says_of_a_program_do_not_stand_in_its_way(tmp_path: Path) -> None:
    model = attemper.compile(attemper.program(parse_program(EVER)))
    model.save(tmp_path / "net", certificate=model.certify())
    path = tmp_path / "net" / CERTIFICATE
    written = json.loads(path.read_text())
    written["groups"] = [{"layer": "0", "bits": [[0, 1]]}]
    path.write_text(json.dumps(written))
    assert attemper.check(tmp_path / "net", program(tmp_path, EVER)).status is Status.PROVED
