"""The checker, as a black box, against two of its rules as a second reader wrote them from FORMAT.md."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from attemper.attention_program.ops import PROGRAM, Program
from attemper.certificates.claims import SourceMeaning
from attemper.checker.analysis import analyse
from attemper.checker.attention.counts import Margin
from attemper.checker.attention.leads import Trail
from attemper.checker.folders import check_path
from attemper.checker.names import UnprovenError
from attemper.checker.reachability import follows
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.verdict import Status
from attemper.exact.codec import Codec
from attemper.languages.regular.dfa import Dfa
from attemper.networks.files import load, save
from attemper.networks.layers import IntegerValue, NearestInteger, Network, Select
from attemper.networks.structure import Provenance
from tests.support.drawn.hand_built import hand_built
from tests.support.drawn.nearest import dyck
from tests.support.drawn.plain_heads import plain_head
from tests.support.drawn.programs import AS_HEADS, programs
from tests.support.drawn.select_heads import random_head
from tests.support.oracles.second_reader import drawn
from tests.support.oracles.second_reader.following import automaton_of, follow
from tests.support.oracles.second_reader.forms import NothingShownError
from tests.support.oracles.second_reader.integers import Nearests, Values
from tests.support.oracles.second_reader.laurent import Lead
from tests.support.oracles.second_reader.program_shape import complaint
from tests.support.oracles.second_reader.raw import MalformedError, read_certificate, read_network
from tests.support.oracles.second_reader.select import Answer, Fails, Reading, Selects, Unread, read
from tests.support.oracles.second_reader.streams import Known

CORPORA = Path(__file__).parent / "corpora"
FOLDERS = sorted(CORPORA.glob("*/*"))
LANGUAGE: Codec[SourceMeaning] = Codec(SourceMeaning)
EASY_ON_UNKNOWNS = "a total that rises and falls"
"""The checker may call more unknown than the second reader does, never less."""


def test_there_are_three_corpora() -> None:
    assert {folder.parent.name for folder in FOLDERS} == {"accepted", "rejected", "malformed"}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_stored_network_is_read_alike(folder: Path) -> None:
    try:
        certificate = read_certificate(folder)
        reading = _read(folder / "network.json", folder / "weights.safetensors")
    except MalformedError:
        assert check_path(folder).status is Status.MALFORMED
        return
    assert _difference(reading.answers, load(folder)[0]) is None
    language, program = certificate["language"], certificate["program"]
    if language[0] == "program language":
        program = language[1]
    if program is None:
        return
    if complaint(program):
        assert check_path(folder).status is Status.MALFORMED
        return
    automaton = language if language[0] == "dfa" else None
    groups = _steps_of(certificate["groups"])
    bits = [k for k, step in enumerate(program["steps"]) if step[0] not in ("count", "linear")]
    if all(group and set(group) <= set(bits) for group in groups):
        _require_agreement(program, automaton, groups)
    else:
        assert check_path(folder).status in (Status.MALFORMED, Status.UNKNOWN)


@pytest.mark.parametrize(
    ("folder", "holds"),
    [
        ("automaton_as_certified", lambda word: word[-1] == "b" and "b" not in word[:-1]),
        ("since_as_certified", lambda word: "b" in word),
        ("colder", lambda word: "b" in word),
    ],
)
def test_the_second_reader_knows_what_is_computed(folder: str, holds: Any) -> None:
    """Over a and b, `a S b` is that there was a b; the automaton is that of a*b."""
    reading = read(read_network(CORPORA / "accepted" / folder))
    assert isinstance(reading.output, Known)
    assert reading.output.table == tuple(holds(word[:i]) for word, i in reading.sample.spots)


@pytest.mark.sweep(30)
@pytest.mark.parametrize("seed", range(60))
def test_programs_that_look_to_the_left_are_followed_alike(seed: int) -> None:
    random = Random(seed)
    program = drawn.program(random)
    automata: list[Any] = [None]
    try:
        own = automaton_of(program)
    except NothingShownError:
        pass
    else:
        if len(own[2]) < 150:
            automata += [own, drawn.nearly(random, own)]
    groups = drawn.groups(random, program)
    for automaton in automata:
        _require_agreement(program, automaton, [])
        _require_agreement(program, automaton, groups)


@pytest.mark.parametrize("seed", range(25))
def test_changed_programs_with_groups_are_followed_alike(seed: int) -> None:
    certificate = read_certificate(CORPORA / "accepted" / "automaton_as_certified")
    groups = _steps_of(certificate["groups"])
    program = drawn.changed(Random(seed), certificate["program"])
    assert complaint(program) is None
    _require_agreement(program, certificate["language"], groups)


@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(programs(defaults=AS_HEADS, spelled_out=True))
def test_programs_of_every_kind_are_followed_alike(program: Program) -> None:
    tree = PROGRAM.encode(program)
    assert complaint(tree) is None
    _require_agreement(tree, None, [])


@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(programs(compiled=False))
def test_programs_with_cases_and_defaults_are_followed_by_neither(program: Program) -> None:
    _require_agreement(PROGRAM.encode(program), None, [])


@pytest.mark.parametrize("kinds", [1, 2])
def test_programs_with_the_nearest_count_are_followed_by_neither(kinds: int) -> None:
    tree = PROGRAM.encode(dyck(kinds))
    assert complaint(tree) is None
    _require_agreement(tree, None, [])
    assert isinstance(_followed(tree, None, []), str)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(20))
def test_random_heads_are_read_alike(seed: int) -> None:
    _require_read_alike(random_head(Random(seed)))


@pytest.mark.sweep(13)
@pytest.mark.parametrize("seed", range(60))
def test_plain_heads_are_read_alike(seed: int) -> None:
    _require_read_alike(plain_head(Random(seed)))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(12))
def test_selections_by_cases_are_read_alike(seed: int) -> None:
    _require_read_alike(hand_built("by cases", Random(seed)).network)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", ["select", "values", "deep"])
@pytest.mark.parametrize("seed", range(3))
def test_hand_built_networks_are_read_alike(kind: str, seed: int) -> None:
    _require_read_alike(hand_built(kind, Random(seed)).network)


def _steps_of(groups: Any) -> list[list[int]]:
    return [[step for _, step in group["bits"]] for group in groups]


def _require_agreement(program: Any, automaton: Any, groups: Sequence[Sequence[int]]) -> None:
    """With all registers at once, group by group, and by the checker."""
    at_once, by_group = (follow(program, automaton, groups, by_group=choice) for choice in (False, True))
    theirs = _followed(program, automaton, groups)
    assert (at_once is True) == (by_group is True)
    if not (isinstance(theirs, str) and EASY_ON_UNKNOWNS in theirs):
        assert (at_once is True) == (theirs is True), (at_once, theirs)
    if theirs is False:
        assert at_once is False


def _followed(program: Any, automaton: Any, groups: Sequence[Sequence[int]]) -> bool | str:
    dfa = None if automaton is None else LANGUAGE.read(automaton)
    assert dfa is None or isinstance(dfa, Dfa)
    try:
        return follows(PROGRAM.read(program), dfa, tuple(map(tuple, groups)))
    except UnprovenError as reason:
        return str(reason)


def _require_read_alike(network: Network) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(network, Provenance("formula", "a", "last", "decoder"), Path(folder))
        read_alike(Path(folder), network)


def read_alike(folder: Path, network: Network) -> Reading:
    """What the second reader says of a folder's network, and the checker does not contradict."""
    reading = read(read_network(folder))
    assert _difference(reading.answers, network) is None
    return reading


def _difference(answers: Sequence[Sequence[Answer]], network: Network) -> str | None:
    """Where the checker and the second reader disagree about a head, or None."""
    try:
        layers = analyse(network).layers
    except UnprovenError as reason:
        return _difference_where_it_fails(answers, str(reason))
    for mine, theirs in zip(answers, layers, strict=True):
        for answer, fact, mass in zip(mine, theirs.heads, theirs.masses, strict=True):
            if not _is_alike(fact, mass, answer):
                return f"{fact.rules}, {float(mass)} against {answer}"
    return None


def _is_alike(fact: HeadFact, mass: Fraction, answer: Answer) -> bool:
    """Whether the checker says the same of a head, as far as the second reader says something."""
    match answer:
        case Fails():
            return False
        case Selects():
            theirs = {(_lead(*rule.behind), _lead(*rule.ahead)) for rule in fact.rules}
            agrees = all(rule.construction is Select for rule in fact.rules) and theirs == answer.leads
            return agrees and abs(float(mass) - answer.stray_mass) <= 1e-12
        case Values(base, digits):
            (rule,) = fact.rules
            return rule.construction is IntegerValue and rule.said == Margin(base, digits)
        case Nearests():
            (rule,) = fact.rules
            return _is_nearest(rule, answer) and abs(float(mass) - answer.stray_mass) <= 1e-12
        case Unread():
            return True


def _lead(tail: Trail | None = None) -> Lead | None:
    if tail is None:
        return None
    assert tail.step is not None
    return Lead(tail.start, tail.step)


def _is_nearest(rule: Rule, answer: Nearests) -> bool:
    """Whether the checker says the same of a nearest integer, but for how the noise is rounded."""
    if rule.construction is not NearestInteger:
        return False
    for tails, lead in ((rule.behind, answer.behind), (rule.ahead, answer.ahead)):
        (tail,) = tails
        if tail.step != lead.step or abs(tail.start + answer.noise - lead.start) > Fraction(1, 10**9):
            return False
    return True


def _difference_where_it_fails(answers: Sequence[Sequence[Answer]], reason: str) -> str | None:
    """The checker names the first layer and head that no rule covers, if it is a head."""
    place = reason.split(":", maxsplit=1)[0].replace(",", "").split()
    if place[0] != "layer" or place[2:3] != ["head"]:
        return None
    layer, head = int(place[1]), int(place[3])
    before = [answer for answers_ in answers[:layer] for answer in answers_] + list(answers[layer][:head])
    agreed = not isinstance(answers[layer][head], Selects | Values | Nearests) and not any(
        isinstance(answer, Fails) for answer in before
    )
    return None if agreed else f"{reason} against {answers}"


@cache
def _read_bytes(structure: bytes, weights: bytes) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "network.json").write_bytes(structure)
        (Path(folder) / "weights.safetensors").write_bytes(weights)
        return read(read_network(Path(folder)))


def _read(structure: Path, weights: Path) -> Reading:
    """Many folders hold one network."""
    return _read_bytes(structure.read_bytes(), weights.read_bytes())
