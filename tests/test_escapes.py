"""Text as it is printed: two different texts do not look alike because one character of them is not seen."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import attemper
from attemper.checker import __main__
from attemper.checker.folders import check_folder
from attemper.checker.report import lines_of
from attemper.escapes import escaped, escaped_json

UNSEEN = ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\uffa0", "\u115f", "\u2800", "\ufe0f", "\u034f"]
ONTO_ANOTHER = ["\u0301", "\u0338", "\u20dd", "\u17b4", "\u1161", "\u11a8"]
OTHER_CODES = ["\u212a", "\u2126", "\u212b", "\u037e", "\uf900"]
SEEN = ["a", "á", "ß", "я", "字", "가", "→", "𝔸", "ा", "\\", "'"]


@pytest.mark.parametrize("character", UNSEEN + ONTO_ANOTHER + OTHER_CODES)
def test_what_is_not_seen_by_itself_is_escaped(character: str) -> None:
    assert escaped(f"a{character}") == "a" + character.encode("unicode_escape").decode("ascii")
    assert escaped(f"a{character}").isascii()
    text = escaped_json({"symbol": f"a{character}"})
    assert text.isascii()
    assert json.loads(text) == {"symbol": f"a{character}"}


@pytest.mark.parametrize("character", SEEN)
def test_what_is_seen_stays(character: str) -> None:
    assert escaped(f"a {character}") == f"a {character}"


def test_a_verdict_tells_two_symbols_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = attemper.compile("O 'á'", "á a\u0301")
    model.save(tmp_path / "network", certificate=model.certify())
    __main__._write(sys.stdout, *lines_of(check_folder(tmp_path / "network")))
    _, said, *_ = capsys.readouterr().out.splitlines()
    assert said.startswith("  language: O 'á' (read at the last position of words over á a\\u0301;")
