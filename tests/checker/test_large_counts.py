"""Programs that multiply counts until nobody can say what their tests are: nothing is said of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.meaning import run
from attemper.attention_program.ops import PROGRAM, TOO_LARGE, Program, counted_in
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import save as save_certificate
from attemper.checker import program as checker_program
from attemper.checker.check import judge
from attemper.checker.folders import check_path
from attemper.checker.names import UnprovenError
from attemper.checker.registers import PeriodicPositions
from attemper.checker.verdict import Status
from attemper.errors import SourceError, UnsupportedError
from attemper.exact.predicates import PredicateError
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.networks.files import digest_of
from attemper.networks.files import save as save_network
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.reading.machines import automaton_of

AB = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = count <= s0\n'

PSEUDOPRIME = AB + "".join(
    f"s{k} = {step}\n"
    for k, step in enumerate(
        (
            "linear 3",
            "linear 1000000 s2 317044",
            "linear 1000000 s3 64679",
            "linear 1000000 s4 887385",
            "linear 1000000 s5 961981",
            'test s6 1 0 ["named", "prime"]',
            "previous s0 default 0",
            "and s7 s8",
        ),
        start=2,
    )
)
"""A number in four parts that passes for a prime: s7 is never 1, and s9 neither."""


def language(text: str) -> ProgramLanguage:
    return ProgramLanguage(parse_program(text), At.LAST, accepts_empty=False)


def constant(value: int) -> Network:
    """It puts out one number everywhere."""
    row = ((0, Fraction(value)),) if value else ()
    return Network(Alphabet(("a", "b")), ("out",), (row, row), (), (), 1, 0, False, False)


def chain(length: int, last: str) -> ProgramLanguage:
    """Linear steps, each 10^11 times the one before, and a bit of each; `last` is put out."""
    steps = [f"linear {10**11} s{k} 1" for k in range(1, length + 1)]
    steps += [f"compare s{k} >= 3" for k in range(2, length + 2)]
    text = AB + "".join(f"s{k} = {step}\n" for k, step in enumerate(steps, start=2))
    return language(f"{text}s{2 * length + 2} = {last}\noutput s{2 * length + 2}")


@pytest.mark.parametrize("value", [0, 1])
def test_a_network_is_neither_proved_nor_refuted_by_a_product_that_passes_for_a_prime(
    value: int, tmp_path: Path
) -> None:
    spoken = language(f"{PSEUDOPRIME}output s7")
    network, source = constant(value), Provenance("program", show_program(spoken.program), "last", "exact")
    save_network(network, source, tmp_path)
    save_certificate(Certificate(digest_of(network, source), spoken, (RealClaim(),)), tmp_path)
    assert check_path(tmp_path, explain=True).status is Status.UNKNOWN


def test_layers_are_not_counted_by_a_product_that_passes_for_a_prime(tmp_path: Path) -> None:
    spoken = language(f"{PSEUDOPRIME}output s9")
    data = {
        "format": "attemper-depth/2",
        "language": ["program language", PROGRAM.encode(spoken.program), "last", False],
        "alphabet": ["a", "b"],
        "networks": {"prefix": 1, "period": 1, "choice": "both"},
        "claims": [["inseparable", 0, [["a", "b"], ["b", "b"]]]],
    }
    file = tmp_path / "depth.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert check_path(file).status is Status.UNKNOWN


def test_nothing_is_the_same_as_a_program_with_so_large_counts(tmp_path: Path) -> None:
    file = tmp_path / "own.program"
    file.write_text(f"{PSEUDOPRIME}output s7", encoding="utf-8")
    with pytest.raises(UnsupportedError, match=r"2\^62"):
        attemper.same(f"program:{file}", "formula@last:true", alphabet="ab")


def test_a_count_for_which_prime_is_not_decided_is_an_error_of_the_source() -> None:
    text = f"{AB}s2 = linear {10**9} s1 0\ns3 = linear 33171 s2 0\n"
    program = parse_program(f'{text}s4 = test s3 {10**11} 0 ["named", "prime"]\noutput s4')
    with pytest.raises(PredicateError, match=r"'prime' failed on 3317100000000000000000000: .* bases"):
        attemper.same(program, "formula@last:true", alphabet="ab")


@pytest.mark.parametrize("explained", [False, True])
def test_steps_that_multiply_without_end_end_at_once(
    explained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number of more than 2^62 times an ordinary one is made, so none of thousands of digits is."""
    greatest = 0

    def counted(program: Program, *own: int) -> tuple[int, dict[int, int]] | None:
        nonlocal greatest
        found = counted_in(program, *own)
        if found is not None:
            greatest = max(greatest, found[0], *found[1].values())
        return found

    monkeypatch.setattr(checker_program, "counted_in", counted)
    verdict = judge(constant(1), chain(500, "not s502"), (RealClaim(),), explained=explained)
    assert verdict.status is Status.UNKNOWN
    assert bool(verdict.explanation) is explained
    assert 10**11 <= greatest < TOO_LARGE


def test_what_is_multiplied_out_stays_below_the_bound() -> None:
    spoken = chain(2, "not s5")
    assert counted_in(spoken.program, 2) == (1, {1: 10**11})
    assert counted_in(spoken.program, 3) is None
    assert counted_in(spoken.program, 2, 10**7, 5) == (10**7 + 5, {1: 10**18})
    assert counted_in(spoken.program, 2, 10**8) is None
    assert counted_in(spoken.program, 2, 1, TOO_LARGE) is None
    with pytest.raises(UnsupportedError, match=r"2\^62"):
        run(spoken.program, ("a",))
    assert run(language(f"{AB}s2 = linear {10**11} s1 1\ns3 = compare s2 >= 3\noutput s3").program, ("a",))[2]
    with pytest.raises(UnprovenError, match=r"2\^62"):
        automaton_of(spoken.program, accepts_empty=False)


def test_texts_have_the_integers_that_trees_have() -> None:
    assert parse_program(f"{AB}s2 = compare s1 >= {10**11}\noutput s2").output == 2
    with pytest.raises(SourceError, match=r"an integer from -10{11} to 10{11}, not 10{10}1 "):
        parse_program(f"{AB}s2 = compare s1 >= {10**11 + 1}\noutput s2")


def test_places_are_no_longer_looked_at_when_there_are_too_many() -> None:
    """However many moduli a file has, their least common multiple is not made."""
    tests = ('["test", ["remainder", 5003, 1], 1, 0, 0]', '["test", ["named", "prime"], 1, 0, 0]')
    steps = "".join(f"s{k} = place {test}\n" for k, test in enumerate(tests))
    with pytest.raises(UnprovenError, match="more than 5000 of them apart"):
        PeriodicPositions.of(parse_program(f'alphabet ["a", "b"]\n{steps}output s0'))
