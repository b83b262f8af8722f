"""Long lists and deep chains of operators: compiled, and proved or refused within bounds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling import passes
from attemper.compiling.levels import ProgramLevel
from attemper.compiling.pipeline import compile_language
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime

AB = Alphabet(("a", "b"))

MEMORY = 500
"""Megabytes."""


def language_of(text: str) -> TemporalLanguage:
    return TemporalLanguage(parse(text, AB), At.LAST, False)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("connective", ["|", "&"])
def test_a_thousand_parts_are_a_list(connective: str) -> None:
    operator = {"|": "==", "&": "!="}[connective]
    language = language_of(f" {connective} ".join(f"#<[a] {operator} {k}" for k in range(1000)))
    compiled = compile_language(language, AB, Regime.UNBOUNDED)
    assert len(compiled.soft.layers) == 2
    prove(compiled.soft, language)


def test_labels_are_made_from_those_of_the_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    once = passes.show_by_operands

    def watched(*arguments: object) -> tuple[str, int]:
        nonlocal longest
        text, tightness = once(*arguments)  # type: ignore[arg-type]
        longest = max(longest, len(text))
        return text, tightness

    monkeypatch.setattr(passes, "show_by_operands", watched)
    language = language_of(" | ".join(f"#<[a] == {k}" for k in range(500)))
    compiled = compile_language(language, AB, Regime.UNBOUNDED)
    assert longest <= 2 * passes.LABEL_WIDTH + 10
    first = compiled.stages[0].level
    assert isinstance(first, ProgramLevel)
    assert max(map(len, first.names.values())) == passes.LABEL_WIDTH


@pytest.mark.sweep(0)
@pytest.mark.parametrize(
    ("operator", "connective"), [("O ", "|"), ("H !", "&"), ("Y O ", "|"), ("F ", "|"), ("G !", "&")]
)
def test_a_hundred_letters_to_be_found_are_one_head(operator: str, connective: str) -> None:
    alphabet = Alphabet(tuple(f"s{k}" for k in range(101)))
    text = f" {connective} ".join(f"{operator}s{k}" for k in range(100))
    language = TemporalLanguage(parse(f"s0 | ({text})", alphabet), At.LAST, False)
    compiled = compile_language(language, alphabet, Regime.UNBOUNDED)
    (layer,) = compiled.soft.layers
    assert len(layer.heads) == 1
    prove(compiled.soft, language)
    fewer = TemporalLanguage(parse(f"s0 | ({text.replace('s99', 's98')})", alphabet), At.LAST, False)
    with pytest.raises(UnprovenError):
        prove(compiled.soft, fewer)


@pytest.mark.sweep(0)
def test_a_chain_of_sixty_is_proved() -> None:
    language = language_of("a S (" * 60 + "b" + ")" * 60)
    compiled = compile_language(language, AB, Regime.UNBOUNDED)
    assert len(compiled.soft.layers) == 60
    prove(compiled.soft, language)


CHAIN = """
from pathlib import Path
from tests.compiling.test_long_and_deep import AB, Regime, UnprovenError, compile_language, language_of, prove
language = language_of("a S (" * 200 + "b" + ")" * 200)
compiled = compile_language(language, AB, Regime.UNBOUNDED)
assert len(compiled.soft.layers) == 200
try:
    prove(compiled.soft, language)
except UnprovenError as error:
    print(error)
# What getrusage says begins with what the parent's process had.
status = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is counted otherwise elsewhere")
@pytest.mark.slow
def test_a_chain_of_two_hundred_is_refused_before_memory_grows() -> None:
    done = subprocess.run([sys.executable, "-c", CHAIN], capture_output=True, text=True, check=True)
    reason, megabytes = done.stdout.splitlines()
    assert reason == "its Boolean blocks are too large to be compared"
    assert int(megabytes) <= MEMORY
