"""Files with one thing changed: what is read has the shape that FORMAT.md says, and a schema says the same.

The grammar in FORMAT.md is read by an oracle that shares nothing with the codec.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import attemper
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.files import parse_json
from attemper.networks.files import digest_of_parts
from attemper.workbench.schemas import schema
from tests.support.drawn.documents import READ, SOURCES, drawn
from tests.support.mutants.json_data import mutant
from tests.support.oracles.grammar import Grammar, grammars
from tests.support.oracles.raw_judge import judge
from tests.support.suites import Few

FORMAT = Path(attemper.__file__).parent / "certificates" / "FORMAT.md"

BEYOND_SHAPE = re.compile(
    r"expected (an integer|a fraction|null or an integer)|"  # within limits that stand in sentences
    r"alphabet|symbol|remainder|modulus|twice|is no|is none|none of|step|case|state|numerical predicate|"
    r"powers|degree|digits|table|numbers|number of|distribution|default|shift|count|bit|"
    r"words|position|lengths?|functionals|residue|box|side|claims|blocks|brackets|promise|program|group|formula"
)
"""What may be wrong with data of the right shape: all of it stands in FORMAT.md's sentences."""


def grammar_of(data: Any) -> Grammar:
    """The grammar of a file but for its digest, which the reader of its shape leaves to others."""
    found = grammars(FORMAT)[data["format"]]
    kind, entries = found.top
    return Grammar(
        (kind, {name: shape for name, shape in entries.items() if name in data}), found.rules, found.tagged
    )


def mutants(kind: str, count: int) -> list[Any]:
    """Data with one thing changed; texts that no reader of JSON takes are left out."""
    rng, found = Random(kind), []
    for _ in range(count):
        with suppress(ValueError, RecursionError):
            found.append(parse_json(mutant(rng.choice(drawn(kind)), rng).encode()))
    return found


@pytest.mark.parametrize("kind", READ)
def test_data_of_every_kind_have_their_shape(kind: str) -> None:
    for data in drawn(kind):
        READ[kind](data)
        assert grammar_of(data).fits(data)


def compared(kind: str, count: int) -> Counter[tuple[bool, bool]]:
    """Whether each mutant is read, and has the shape."""
    grammar, seen = grammar_of(drawn(kind)[0]), Counter[tuple[bool, bool]]()
    for data in mutants(kind, count):
        message = ""
        try:
            READ[kind](data)
        except ValueError as error:
            message = str(error)
        fits = grammar.fits(data)
        seen[not message, fits] += 1
        assert fits or message, f"read, but of another shape: {json.dumps(data)[:2000]}"
        if fits and message:
            assert BEYOND_SHAPE.search(message), f"refused for its shape: {message}"
    return seen


@pytest.mark.parametrize("kind", READ)
def test_what_is_read_has_the_shape_of_the_page(kind: str, few: Few) -> None:
    seen = compared(kind, len(few(range(1_000), 100)))
    assert seen[False, False] > sum(seen.values()) / 3
    assert seen[True, True] > sum(seen.values()) / 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ)
def test_what_is_read_has_the_shape_of_the_page_20_000_times(kind: str) -> None:
    compared(kind, 20_000)


@pytest.mark.parametrize("kind", READ)
def test_schemas_refuse_what_the_codec_refuses_for_its_shape(kind: str, few: Few) -> None:
    Draft202012Validator.check_schema(schema(kind))
    entries = dict(schema(kind))
    entries["required"] = [name for name in entries["required"] if name in drawn(kind)[0]]
    validator = Draft202012Validator(entries)
    assert all(validator.is_valid(data) for data in drawn(kind))
    grammar, refused = grammar_of(drawn(kind)[0]), []
    for data in mutants(kind, len(few(range(1_000), 80))):
        try:
            READ[kind](data)
        except ValueError:
            if not grammar.fits(data):
                refused.append(validator.is_valid(data))
        else:
            assert validator.is_valid(data), json.dumps(data)[:2000]
    assert refused.count(False) >= 0.9 * len(refused)


SHORT = [word for length in (1, 2, 3) for word in product(range(2), repeat=length)]


def judged(kind: str, count: int, root: Path) -> Counter[str]:
    """The verdicts on folders in which one file has one thing changed, and the digests fit again."""
    rng, seen = Random(f"judged {kind}"), Counter[str]()
    folders = saved(root)
    for _ in range(count):
        folder = rng.choice(folders)
        file = folder / f"{kind}.json"
        kept = {path: path.read_bytes() for path in (folder / "network.json", folder / "certificate.json")}
        file.write_text(mutant(json.loads(kept[file]), rng), encoding="utf-8")
        seal(folder)
        verdict = check_path(folder)
        seen[str(verdict.status)] += 1
        if verdict.status is Status.PROVED and file.read_bytes() != kept[file]:
            found = judge(folder, exactly=SHORT, in_floats=())
            assert not found.wrong, (found.wrong, file.read_text(encoding="utf-8"))
        for path, data in kept.items():
            path.write_bytes(data)
    return seen


def saved(root: Path) -> list[Path]:
    """Folders of networks over two symbols, with certificates of their real claims and one of floats."""
    found = []
    for number, source in enumerate(SOURCES):
        model = attemper.compile(source, None if ":" in source else "ab")
        if len(model.alphabet.symbols) == 2:
            certificate = model.certify()
            model.save(root / str(number), certificate=replace(certificate, claims=certificate.claims[:2]))
            found.append(root / str(number))
    return found


def seal(folder: Path) -> None:
    """Make digests fit what stands in the files, if they are objects."""
    with suppress(ValueError, RecursionError, AttributeError, TypeError):
        network = parse_json((folder / "network.json").read_bytes())
        weights = hashlib.sha256((folder / "weights.safetensors").read_bytes()).digest()
        own = digest_of_parts(network, weights)
        written = json.dumps({**network, "digest": own}, ensure_ascii=False) + "\n"
        (folder / "network.json").write_text(written, encoding="utf-8")
        certificate = parse_json((folder / "certificate.json").read_bytes())
        written = json.dumps({**certificate, "network": own})
        (folder / "certificate.json").write_text(written, encoding="utf-8")


@pytest.mark.parametrize("kind", ["network", "certificate"])
def test_changed_files_are_refused_or_judged(kind: str, few: Few, tmp_path: Path) -> None:
    seen = judged(kind, len(few(range(600), 22)), tmp_path)
    assert seen["MALFORMED"] > sum(seen.values()) / 2
    assert seen["PROVED"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["network", "certificate"])
def test_changed_files_are_refused_or_judged_20_000_times(kind: str, tmp_path: Path) -> None:
    judged(kind, 20_000, tmp_path)
