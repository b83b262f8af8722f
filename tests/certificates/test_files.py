"""Certificates as JSON data: what is written is read back, and nothing else is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim, SourceMeaning
from attemper.certificates.claims import complaints as certificate_complaints
from attemper.certificates.files import CERTIFICATE, CERTIFIED, load, save
from attemper.errors import MalformedFileError
from attemper.exact.codec import CodecError
from attemper.languages.temporal.reading import At
from attemper.workbench.model import Model

Data = dict[str, Any]

CLAIMS = (RealClaim(), FloatClaim("float32", "numerator-first", 7, "the embedding"))


@cache
def regular() -> Model:
    return attemper.compile(attemper.regex("a*b", "ab"), regime="decoder")


def said() -> Realisation:
    found = regular().realisation
    assert found is not None
    assert found.groups
    return found


def by_way_of(said: Realisation, language: SourceMeaning, claims: tuple[Claim, ...]) -> Certificate:
    return Certificate.by_way_of(said, "x", language, claims)


def certificates() -> dict[str, Certificate]:
    """Of every kind of language, with a program and without."""
    formula = attemper.compile("a S b", "ab").language.definition
    program = ProgramLanguage(said().program, At.FIRST, accepts_empty=True)
    return {
        "formula": Certificate("x", formula, CLAIMS),
        "automaton": by_way_of(said(), regular().language.definition, CLAIMS),
        "automaton without a program": Certificate("x", regular().language.definition, CLAIMS),
        "automaton without groups": by_way_of(
            Realisation(said().program), regular().language.definition, CLAIMS
        ),
        "program": by_way_of(said(), program, CLAIMS),
        "program without groups": by_way_of(Realisation(said().program), program, ()),
    }


def data_of(name: str) -> Data:
    data: Data = json.loads(json.dumps(CERTIFIED.encode(certificates()[name])))
    return data


@pytest.mark.parametrize("name", certificates())
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    certificate = certificates()[name]
    save(certificate, tmp_path)
    assert load(tmp_path) == certificate
    assert CERTIFIED.decode(data_of(name)) == certificate
    assert list(certificate_complaints(certificate)) == []
    assert list(data_of(name)) == ["format", "network", "language", "claims", "program", "groups"]
    assert data_of(name)["format"] == "attemper-certificate/3"


def test_claims_and_groups_are_written_as_documented() -> None:
    data = data_of("automaton")
    assert data["claims"] == [
        ["real claim", None],
        ["float claim", "float32", "numerator-first", 7, "the embedding"],
    ]
    assert data["groups"] == [
        {"layer": group.layer, "bits": [list(bit) for bit in group.bits]} for group in said().groups
    ]
    assert data_of("automaton without a program")["program"] is None
    nodes = [["symbol", "a"], ["symbol", "b"], ["binary", "S", 0, 1]]
    assert data_of("formula")["language"] == ["temporal language", nodes, "last", False]


def test_a_program_is_named_where_the_language_is_none() -> None:
    """Whoever makes a certificate says what the network runs; a formula's says nothing of it."""
    certificate = by_way_of(said(), certificates()["formula"].language, CLAIMS)
    assert certificate == certificates()["formula"]
    assert certificates()["automaton"].realisation == said()
    assert certificates()["program"].realisation == said()
    assert certificates()["automaton without a program"].realisation is None


def test_a_program_that_is_claimed_is_written_once() -> None:
    """And so its reader takes the network to be said to run it, also where that was not said."""
    data = data_of("program")
    assert data["program"] is None
    assert data["language"][1]["alphabet"] == ["a", "b"]
    certificate = certificates()["program"]
    unsaid = Certificate(certificate.network, certificate.language, certificate.claims)
    read = CERTIFIED.decode(json.loads(json.dumps(CERTIFIED.encode(unsaid))))
    assert read.realisation == Realisation(said().program)


def with_entry(path: tuple[str | int, ...], value: object) -> Callable[[Data], object]:
    """Put a value at a place."""

    def change(data: Data) -> None:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        if path[-1] == "append":
            place.append(value)
        else:
            place[path[-1]] = value

    return change


A_NATURAL = "expected an integer from 0, not "

WRONG: dict[str, tuple[str, Callable[[Data], object], str]] = {
    **{
        f"no {entry}": (
            "automaton",
            lambda data, entry=entry: data.pop(entry),
            f"the entry '{entry}' is missing",
        )
        for entry in ("network", "language", "claims", "program", "groups")
    },
    "no format": (
        "automaton",
        lambda data: data.pop("format"),
        "it is not of the format attemper-certificate/3",
    ),
    "an entry more": ("automaton", with_entry(("heads",), []), "the entry 'heads' is unknown; remove it"),
    "a later format": (
        "automaton",
        with_entry(("format",), "attemper-certificate/4"),
        "it is not of the format attemper-certificate/3",
    ),
    "a format that is a number": (
        "automaton",
        with_entry(("format",), 3),
        "it is not of the format attemper-certificate/3",
    ),
    "the format of a network": (
        "automaton",
        with_entry(("format",), "attemper-network/2"),
        "it is not of the format attemper-certificate/3",
    ),
    **{
        f"the older format {number}": (
            "automaton",
            with_entry(("format",), f"attemper-certificate/{number}"),
            f"it was made by an older attemper, as attemper-certificate/{number}: compile it again",
        )
        for number in (1, 2)
    },
    "a network that is null": ("automaton", with_entry(("network",), None), "network: expected a text, not"),
    "a program that is a list": (
        "automaton",
        with_entry(("program",), []),
        "program: expected an object with the entries alphabet, steps, output, symbols, numbers, not []",
    ),
    "groups that are null": ("automaton", with_entry(("groups",), None), "groups: expected a list, not None"),
    "groups and no program": (
        "automaton",
        with_entry(("program",), None),
        "groups of bits, but no program",
    ),
    "groups of a formula": (
        "formula",
        with_entry(("groups",), [{"layer": 0, "bits": [[0, 0]]}]),
        "groups of bits, but no program",
    ),
    "a program twice": (
        "program",
        lambda data: data.update(program=data["language"][1]),
        "its language is no automaton, so that its program must be null",
    ),
    "a program of a formula": (
        "formula",
        lambda data: data.update(program=data_of("automaton")["program"]),
        "its language is no automaton, so that its program must be null",
    ),
    "a group without bits": ("automaton", with_entry(("groups", 0, "bits"), []), "a group without bits"),
    "a group with a name": (
        "automaton",
        with_entry(("groups", 0, "name"), "x"),
        "groups[0]: the entry 'name' is unknown; remove it",
    ),
    "a group that is empty": (
        "automaton",
        with_entry(("groups", 0), {}),
        "groups[0]: the entry 'layer' is missing",
    ),
    "a group that is a list": (
        "automaton",
        with_entry(("groups", 0), [0, [[0, 0]]]),
        "groups[0]: expected an object with the entries layer, bits, not [0, [[0, 0]]]",
    ),
    "a bit without a step": (
        "automaton",
        with_entry(("groups", 0, "bits", 0), [1]),
        "groups[0].bits[0]: expected a list of 2 entries, not [1]",
    ),
    "a bit that is a number": (
        "automaton",
        with_entry(("groups", 0, "bits", 0), 1),
        "groups[0].bits[0]: expected a list of 2 entries, not 1",
    ),
    "a negative layer": (
        "automaton",
        with_entry(("groups", 0, "layer"), -1),
        f"groups[0].layer: {A_NATURAL}-1",
    ),
    "a layer that is true": (
        "automaton",
        with_entry(("groups", 0, "layer"), True),
        f"groups[0].layer: {A_NATURAL}True",
    ),
    "a coordinate of 2^63": (
        "automaton",
        with_entry(("groups", 0, "bits", 0, 0), 2**63),
        f"groups[0].bits[0][0]: {A_NATURAL}9223372036854775808",
    ),
    "a step that is 0.0": (
        "automaton",
        with_entry(("groups", 0, "bits", 0, 1), 0.0),
        f"groups[0].bits[0][1]: {A_NATURAL}0.0",
    ),
    "a step that reads itself": (
        "automaton",
        with_entry(("program", "steps", 4), ["not", 4]),
        "s4: s4 is not an earlier step",
    ),
    "a step of a language that reads itself": (
        "program",
        with_entry(("language", 1, "steps", 4), ["not", 4]),
        "s4: s4 is not an earlier step",
    ),
    "a step with a very long letter": (
        "automaton",
        with_entry(("program", "steps", 0), ["letter", ["c" * 10**6]]),
        "s0: 'cccccc",
    ),
    "a language that nobody knows": (
        "program",
        with_entry(("language", 0), "program"),
        'language: expected one of ["temporal language", ...], ["dfa", ...], ["program language", ...], '
        '["machine language", ...], not ',
    ),
    "a place that nobody knows": (
        "program",
        with_entry(("language", 2), "middle"),
        'language.at: expected one of "first", "last", not \'middle\'',
    ),
    "a language with more": (
        "program",
        with_entry(("language", "append"), []),
        'language: after "program language" stands program, at, accepts_empty, not ',
    ),
    "an empty word that is 1": (
        "program",
        with_entry(("language", 3), 1),
        "language.accepts_empty: expected true or false, not 1",
    ),
    "a formula of no nodes": (
        "formula",
        with_entry(("language", 1), []),
        "language.formula: expected a list of parts, the last of them the whole, not []",
    ),
    "a formula that reads itself": (
        "formula",
        with_entry(("language", 1, 2), ["binary", "S", 0, 2]),
        "language.formula[2].right: expected the number of an earlier part, not 2",
    ),
    "a formula that reads from the end": (
        "formula",
        with_entry(("language", 1, 2), ["binary", "S", 0, -1]),
        "language.formula[2].right: expected the number of an earlier part, not -1",
    ),
    "a formula with a node that nobody reads": (
        "formula",
        lambda data: data["language"][1].insert(0, ["first"]),
        "language.formula: expected each part after its own",
    ),
    "an automaton with a move to no state": (
        "automaton",
        with_entry(("language", 2, 0, 0), 99),
        "language: state 0 must have one move to a state for each of 2 symbols",
    ),
    "an automaton that starts in no state": (
        "automaton",
        with_entry(("language", 3), 99),
        "language: the start or an accepting state is none of the states",
    ),
    "accepting states twice": (
        "automaton",
        lambda data: data["language"][4].append(data["language"][4][-1]),
        "language.accepting: expected a list that ascends",
    ),
    "accepting states as text": (
        "automaton",
        with_entry(("language", 4), "0"),
        "language.accepting: expected a list, not '0'",
    ),
    "a claim that nobody knows": (
        "automaton",
        with_entry(("claims", 0), ["claim"]),
        'claims[0]: expected one of ["real claim", ...], ["float claim", ...], not [\'claim\']',
    ),
    "a claim of no words": (
        "automaton",
        with_entry(("claims", 0), ["real claim"]),
        'claims[0]: after "real claim" stands horizon, not []',
    ),
    "a claim as an object": (
        "automaton",
        with_entry(("claims", 0), {"horizon": None}),
        "claims[0]: expected one of ",
    ),
    "a negative horizon": (
        "automaton",
        with_entry(("claims", 1, 3), -1),
        f"claims[1].horizon: {A_NATURAL}-1",
    ),
    "a horizon that is true": (
        "automaton",
        with_entry(("claims", 1, 3), True),
        f"claims[1].horizon: {A_NATURAL}True",
    ),
    "a float claim of all lengths": (
        "automaton",
        with_entry(("claims", 1, 3), None),
        f"claims[1].horizon: {A_NATURAL}None",
    ),
    "a format that is a list": (
        "automaton",
        with_entry(("claims", 1, 1), ["float32"]),
        "claims[1].format: expected a text, not ['float32']",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_anything_else_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    kind, change, reason = WRONG[name]
    data = data_of(kind)
    change(data)
    with pytest.raises(CodecError) as caught:
        CERTIFIED.decode(data)
    assert reason in str(caught.value)
    (tmp_path / CERTIFICATE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedFileError) as refused:
        load(tmp_path)
    assert f"is not a certificate: {str(caught.value)[:140]}" in str(refused.value)
    assert len(str(refused.value)) < 1000
