"""Wrong usage ends with how to ask for help on the very command that was used."""

from __future__ import annotations

import pytest

from tests.support.cli.command_line import attemper


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (["compile", "--nope"], "attemper compile"),
        (["compile"], "attemper compile"),
        (["zoo", "--nope"], "attemper zoo"),
        (["bound"], "attemper bound"),
        (["nope"], "attemper"),
        (["--nope"], "attemper"),
    ],
)
def test_the_last_line_names_the_command(typed: list[str], command: str) -> None:
    outcome = attemper(*typed)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == f"Try '{command} --help'."


def test_only_wrong_usage_ends_so() -> None:
    outcome = attemper("zoo", "no-such-name")
    assert (outcome.code, "--help" in outcome.err) == (2, False)
