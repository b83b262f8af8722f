"""attemper classify"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from attemper.compiling.decomposing.decompose import Alternative
from attemper.languages.regular.classes import (
    Classification,
    Cycle,
    EqualLengths,
    Permuting,
    check_witness,
    classify,
    show_classification,
)
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import read_dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import parse_alphabet
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import AlphabetOption, DfaOption, Json, RegexOption


def classify_command(
    regex: RegexOption = None, dfa: DfaOption = None, alphabet: AlphabetOption = None, json: Json = False
) -> None:
    """Say what class a regular language is in: star-free, quasi-aperiodic, solvable or neither; and why."""
    automaton = automaton_of(regex, dfa, alphabet)
    found = classify(automaton)
    if json:
        print_json({"states": len(automaton.moves), **_record(automaton, found)})
        return
    out.print(f"{len(automaton.moves)} states")
    out.print(show_classification(found))


def _record(dfa: Dfa, found: Classification) -> dict[str, object]:
    """A classification as JSON data; `witness_holds` says that the automaton, run on it, agrees."""
    match found.witness:
        case Cycle(word, states):
            words, permuted = [word], states
        case EqualLengths(idle, moving, states):
            words, permuted = [idle, moving], states
        case Permuting(generators, states, _):
            words, permuted = list(generators), states
        case None:
            words, permuted = [], ()
    return {
        "class": found.kind.value,
        "reason": found.reason,
        "modulus": found.modulus,
        "derived_length": found.derived_length,
        "groups": [asdict(group) for group in found.groups],
        "witness": {"words": [list(word) for word in words], "states": list(permuted)},
        "witness_holds": check_witness(dfa, found),
    }


def automaton_of(regex: str | None, dfa: Path | None, alphabet: str | None) -> Dfa:
    """The minimal automaton that the options name."""
    if (regex is None) == (dfa is None):
        raise typer.BadParameter("give one of --regex and --dfa")
    if dfa is not None:
        if alphabet is not None:
            raise typer.BadParameter("--alphabet is for --regex: a file names its symbols itself")
        return read_dfa(dfa)
    if alphabet is None:
        raise typer.BadParameter("--regex needs an --alphabet, for example --alphabet 01")
    return parse_regex(regex or "", parse_alphabet(alphabet))


def alternatives_text(alternatives: Sequence[Alternative]) -> str:
    """The way in which a cascade was built, and the layers of attention of the others that were tried."""
    best = min(
        (one for one in alternatives if one.sublayers is not None and one.rows is not None),
        key=lambda one: (one.sublayers, one.rows, one.labels),
    )
    kinds: dict[str, int] = {}
    for one in alternatives:
        if one.sublayers is not None and one is not best:
            kind = "last letters" if one.name.startswith("last") else one.name
            kinds[kind] = min(one.sublayers, kinds.get(kind, one.sublayers))
    others = ", ".join(f"{kind} {sublayers}" for kind, sublayers in kinds.items())
    text = f"attention in {best.sublayers} layers, the way '{best.name}'"
    return f"{text} (other ways: {others})" if others else text
