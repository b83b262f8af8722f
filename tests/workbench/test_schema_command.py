"""attemper schema: what is printed is the schema that Python makes, of each kind of file."""

from __future__ import annotations

import json

import pytest

from attemper.errors import ExitCode
from attemper.registry import DOCUMENTS
from attemper.workbench.schemas import schema
from tests.support.cli.command_line import attemper


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_schema_of_each_kind_is_printed(kind: str) -> None:
    printed = attemper("schema", kind)
    assert printed.code == ExitCode.OK
    assert json.loads(printed.out) == schema(kind)


def test_another_kind_is_answered_with_those_that_there_are() -> None:
    refused = attemper("schema", "song")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert all(kind in refused.err for kind in ("'song'", *DOCUMENTS))
