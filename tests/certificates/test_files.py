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
from attemper.certificates.claims import Certificate, FloatClaim, RealClaim
from attemper.certificates.files import CERTIFICATE, UNREADABLE, decode, encode, load, save
from attemper.errors import MalformedFileError
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


def certificates() -> dict[str, Certificate]:
    """Of every kind of source, with a program and without."""
    formula = attemper.compile("a S b", "ab").language.definition
    program = ProgramLanguage(said().program, At.FIRST, accepts_empty=True)
    return {
        "formula": Certificate("x", formula, CLAIMS),
        "automaton": Certificate("x", regular().language.definition, CLAIMS, said()),
        "automaton without a program": Certificate("x", regular().language.definition, CLAIMS),
        "automaton without groups": Certificate(
            "x", regular().language.definition, CLAIMS, Realisation(said().program)
        ),
        "program": Certificate("x", program, CLAIMS, said()),
        "program without groups": Certificate("x", program, (), Realisation(said().program)),
    }


def data_of(name: str) -> Data:
    data: Data = json.loads(json.dumps(encode(certificates()[name])))
    return data


@pytest.mark.parametrize("name", certificates())
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    certificate = certificates()[name]
    save(certificate, tmp_path)
    assert load(tmp_path) == certificate
    assert decode(data_of(name)) == certificate
    assert list(data_of(name)) == ["format", "network", "source", "claims", "program", "groups"]


def test_a_program_that_is_claimed_is_written_once() -> None:
    """And so its reader takes the network to be said to run it, also where that was not said."""
    data = data_of("program")
    assert data["program"] is None
    assert data["source"]["program"]["alphabet"] == ["a", "b"]
    certificate = certificates()["program"]
    unsaid = Certificate(certificate.network, certificate.language, certificate.claims)
    assert decode(json.loads(json.dumps(encode(unsaid)))).realisation == Realisation(said().program)


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


WRONG: dict[str, tuple[str, Callable[[Data], object], str]] = {
    "an entry less": ("automaton", lambda data: data.pop("groups"), "does not have the entries"),
    "an entry more": ("automaton", with_entry(("heads",), []), "does not have the entries"),
    "a later format": (
        "automaton",
        with_entry(("format",), "attemper-certificate/3"),
        "does not have the entries of attemper-certificate/2",
    ),
    "an older format": (
        "automaton",
        with_entry(("format",), "attemper-certificate/1"),
        "it was made by attemper 0.1: compile again",
    ),
    "a program that is a list": ("automaton", with_entry(("program",), []), "does not have the entries"),
    "groups that are null": ("automaton", with_entry(("groups",), None), "does not have the entries"),
    "groups and no program": (
        "automaton",
        with_entry(("program",), None),
        "groups of bits, but no program",
    ),
    "groups of a formula": (
        "formula",
        with_entry(("groups",), [[0, [[0, 0]]]]),
        "groups of bits, but no program",
    ),
    "a program twice": (
        "program",
        lambda data: data.update(program=data["source"]["program"]),
        "'program' must be null",
    ),
    "a group without bits": ("automaton", with_entry(("groups", 0, 1), []), "not a group of bits"),
    "a group with a name": ("automaton", with_entry(("groups", 0, "append"), "x"), "not a group of bits"),
    "a group that is a mapping": ("automaton", with_entry(("groups", 0), {}), "not a group of bits"),
    "a bit without a step": ("automaton", with_entry(("groups", 0, 1, 0), [1]), "a coordinate and a step"),
    "a bit that is a number": ("automaton", with_entry(("groups", 0, 1, 0), 1), "a coordinate and a step"),
    "a negative layer": ("automaton", with_entry(("groups", 0, 0), -1), "not a number from 0 on"),
    "a layer that is true": ("automaton", with_entry(("groups", 0, 0), True), "not a number from 0 on"),
    "a coordinate of 2^63": ("automaton", with_entry(("groups", 0, 1, 0, 0), 2**63), "not a number from 0"),
    "a step that is 0.0": ("automaton", with_entry(("groups", 0, 1, 0, 1), 0.0), "not a number from 0 on"),
    "a step that reads itself": (
        "automaton",
        with_entry(("program", "steps", 4), ["not", 4]),
        "s4: s4 is not an earlier step",
    ),
    "a step of a source that reads itself": (
        "program",
        with_entry(("source", "program", "steps", 4), ["not", 4]),
        "s4: s4 is not an earlier step",
    ),
    "a place that nobody knows": ("program", with_entry(("source", "at"), "middle"), "middle"),
    "a source with more": ("program", with_entry(("source", "moves"), []), "none of those that are known"),
    "an empty word that is 1": (
        "program",
        with_entry(("source", "accepts_empty"), 1),
        "none of those that are known",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_anything_else_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    kind, change, reason = WRONG[name]
    data = data_of(kind)
    change(data)
    with pytest.raises(UNREADABLE, match=reason):
        decode(data)
    (tmp_path / CERTIFICATE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedFileError, match=reason):
        load(tmp_path)
