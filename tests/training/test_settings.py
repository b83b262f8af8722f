"""What a run may be asked for: every wrong entry is named, and a file says the same as the settings."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from attemper.errors import MalformedFileError, OptionError
from attemper.training.entries import as_toml, digest_of, entries_of, read_settings, settings_from
from tests.support.drawn.training import PARITY, tiny

MINIMAL = f"[task]\nname = '{PARITY['name']}'\np = '{PARITY['p']}'\n"
REGEX = {"kind": "recognition", "language": "regex:é'\"\\ \U0001f600\x7f\n\t\x00", "alphabet": "ab"}


def read(folder: Path, text: str, *changes: str) -> object:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return read_settings(path, changes)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"model": {"widht": 3}}, "settings: model.widht: there is no such entry"),
        ({"modle": {}}, "settings: modle: there is no such entry"),
        ({"source": {}}, "settings: source: there is no such entry"),
        ({"task": {**PARITY, "source": 1}}, "settings: task.source: there is no such entry"),
        ({"task": {**PARITY, "language": "x"}}, "settings: task.language: there is no such entry"),
        ({"task": 5}, "settings: task: it is a table of entries"),
        ({"model": []}, "settings: model: it is a table of entries"),
        ({"task": {"p": "1/2"}}, "settings: task.name: it is missing"),
        ({"task": {"kind": "else"}}, "settings: task.kind: there are 'source', 'recognition' and 'next'"),
        ({"task": {"kind": 7}}, "settings: task.kind: there are 'source', 'recognition' and 'next'"),
        ({"task": {"name": "parity", "p": "1/2"}}, "there is no source 'parity'"),
        ({"task": {**PARITY, "p": "1"}}, "p=1 is not a fraction between 0 and 1"),
        ({"task": {**PARITY, "p": "1/0"}}, "'1/0' is no fraction"),
        ({"task": {**PARITY, "p": "1e-999999999"}}, "'1e-999999999' is no fraction"),
        ({"task": {**PARITY, "p": "1/1000001"}}, "no fraction with a denominator to 1,000,000"),
        ({"task": {**PARITY, "p": "1" * 9999}}, "is no fraction"),
        ({"task": {**PARITY, "p": 0.5}}, "task.p: Input should be a valid string"),
        ({"model": {"kind": "rnn"}}, "model.kind: Input should be"),
        ({"model": {"width": 8.0}}, "model.width: Input should be a valid integer"),
        ({"model": {"width": True}}, "model.width: Input should be a valid integer"),
        ({"model": {"width": 0}}, "model.width: Input should be greater"),
        ({"model": {"width": 10**30}}, "model.width: Input should be less"),
        ({"model": {"width": 9}}, "model: width = 9 is no multiple of heads = 2"),
        ({"training": {"steps": -1}}, "training.steps: Input should be greater"),
        ({"training": {"steps": 10**4000}}, "training.steps: Input should be less"),
        ({"training": {"rate": float("inf")}}, "training.rate: Input should be a finite number"),
        ({"training": {"clip": float("nan")}}, "training.clip: Input should be"),
        ({"training": {"rate": 0.0}}, "training.rate: Input should be greater"),
        ({"training": {"rate": 10**400}}, "training.rate: Input should be a valid number"),
        ({"evaluation": {"lengths": []}}, "evaluation.lengths: "),
        ({"evaluation": {"lengths": [3, 0]}}, "evaluation.lengths.1: Input should be greater"),
        ({"evaluation": {"lengths": 3}}, "evaluation.lengths: "),
        ({"seeds": {"init": 2**32}}, "seeds.init: Input should be less"),
        ({"seeds": {"data": -1}}, "seeds.data: Input should be greater"),
        ({"model": {"causal": False}}, "model.causal = false, and task.kind = 'source' reads every prefix"),
        ({"model": {"kind": "parity-rnn"}}, "has nothing to train: set training.steps = 0"),
        (
            {
                "task": {"name": "dyck2", "p": "2/5"},
                "model": {"kind": "parity-rnn"},
                "training": {"steps": 0},
            },
            "'parity-rnn' computes parity",
        ),
        ({"task": {"name": "dyck2", "p": "2/5"}, "evaluation": {"lengths": [4097]}}, "to 4,096 symbols"),
        ({"model": {"positions": "learned", "longest": 5}}, "set model.longest to 6"),
        ({"task": {**REGEX}, "training": {"shortest": 9}}, "training.shortest is above training.length"),
        ({"task": {**REGEX, "at": "middle"}}, "task.at: Input should be 'first' or 'last'"),
        ({"task": {**REGEX, "language": "a\udcff"}}, "task.language: "),
        ({"task": {**PARITY, "\udcff": 1}}, "settings: "),
    ],
)
def test_what_is_wrong_is_named(tables: Mapping[str, Mapping[str, object]], said: str) -> None:
    base = entries_of(tiny())
    entries: dict[str, object] = {**base}
    for name, own in tables.items():
        is_changed = name in base and name != "task" and isinstance(own, Mapping)
        entries[name] = {**base[name], **own} if is_changed else own
    with pytest.raises(OptionError) as found:
        settings_from(entries)
    assert str(found.value).startswith("settings: ")
    assert said in str(found.value)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(OptionError) as found:
        settings_from({"task": PARITY, "model": {"width": 0, "depth": 1}, "training": {"steps": "x"}})
    parts = str(found.value).removeprefix("settings: ").split("; ")
    assert [part.partition(":")[0] for part in parts] == ["model.width", "model.depth", "training.steps"]


def test_without_a_task_there_are_no_settings() -> None:
    with pytest.raises(OptionError, match="settings: task: it is missing"):
        settings_from({})


def test_what_the_rnn_may_be_asked() -> None:
    found = tiny(model={"kind": "parity-rnn"}, training={"steps": 0}, task={"name": "parity-odd", "p": "1/3"})
    assert found.model.kind == "parity-rnn"


ROUND_TRIPS = [
    tiny(),
    tiny(task={"name": "dyck2", "p": "2/5", "targets": "symbols"}, training={"rate": 1e-5, "clip": 1e300}),
    tiny(task=REGEX, model={"causal": False}),
    tiny(task={"kind": "recognition", "language": "zoo:mod-3", "data": "a\\b \"c\" 'd'"}),
    *(tiny(model={"kind": kind}) for kind in ("lstm", "convolution", "table")),
    tiny(model={"kind": "parity-rnn"}, training={"steps": 0}),
    tiny(model={"positions": "learned", "norm": "none", "temperature": "log-n"}),
]


@pytest.mark.parametrize("settings", ROUND_TRIPS, ids=range(len(ROUND_TRIPS)))
def test_a_file_says_the_same(settings: object, tmp_path: Path) -> None:
    found = read(tmp_path, as_toml(settings))  # type: ignore[arg-type]
    assert found == settings
    assert digest_of(found) == digest_of(settings)  # type: ignore[arg-type]


def test_values_are_changed_in_order_and_read_as_toml_or_as_text(tmp_path: Path) -> None:
    changes = ["training.steps=3", "training.steps=4", "task.p=1/3", "model.norm='pre'", "seeds.init=0x10"]
    found = read(tmp_path, MINIMAL, *changes, "evaluation.lengths=[4,  6]", "model.kind = transformer")
    assert found == settings_from(
        {
            "task": {**PARITY, "p": "1/3"},
            "training": {"steps": 4},
            "model": {"norm": "pre"},
            "seeds": {"init": 16},
            "evaluation": {"lengths": [4, 6]},
        }
    )


@pytest.mark.parametrize("change", ["steps=3", "=3", "training.=3", ".steps=3", "", "training"])
def test_a_change_names_an_entry(change: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"names no entry: write TABLE\.ENTRY=VALUE"):
        read(tmp_path, MINIMAL, change)


@pytest.mark.parametrize(
    "change",
    ["training.steps", "training.steps=x", "training.steps=" + "[" * 9999, "training.steps=" + "9" * 5000],
)
def test_a_change_has_a_value_that_its_entry_can_have(change: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"settings: training\.steps: "):
        read(tmp_path, MINIMAL, change)


@pytest.mark.parametrize(
    "text",
    ["x = ", "a = " + "[" * 60_000, "a = " + "9" * 5000, "a = 1\na = 2", "[task]\n[task]", "\x00", "a = '"],
)
def test_what_is_no_toml_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"config\.toml' is no TOML"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "[task]\nname = 1979-05-27\np = 07:32:00",
        "task = 1979-05-27T07:32:00Z",
        MINIMAL + "[training]\nrate = nan",
        MINIMAL + "[training]\nrate = -inf",
        MINIMAL + "[[model]]\nwidth = 3",
        MINIMAL + "q.r.s = 3",
    ],
)
def test_toml_that_says_something_else_is_refused(text: str, tmp_path: Path) -> None:
    tomllib.loads(text)
    with pytest.raises(OptionError, match="settings: "):
        read(tmp_path, text)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedFileError, match="there is no"):
        read_settings(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="is no TOML"):
        read_settings(tmp_path / "bytes.toml")


def test_a_digest_is_of_what_is_said_not_of_how() -> None:
    short = settings_from({"task": PARITY})
    full = entries_of(short)
    assert digest_of(settings_from(full)) == digest_of(short)
    turned = {name: dict(reversed(table.items())) for name, table in reversed(full.items())}
    assert digest_of(settings_from(turned)) == digest_of(short)
    assert digest_of(settings_from({"task": PARITY, "training": {"clip": 1}})) == digest_of(short)
    others = [
        {**full, name: {**table, entry: value + 1}}
        for name, table in full.items()
        for entry, value in table.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    digests = {digest_of(settings_from({**one, "model": {**one["model"], "heads": 1}})) for one in others}
    assert len(others) > 10
    assert len({*digests, digest_of(short)}) == len(others) + 1 - (1 if full["model"]["heads"] == 1 else 0)


def test_there_is_one_message_for_one_mistake() -> None:
    with pytest.raises(OptionError) as caught:
        settings_from({"task": PARITY, "evaluation": {"lengths": [-1]}, "model": {"width": 0}})
    assert str(caught.value) == (
        "settings: model.width: Input should be greater than or equal to 1; "
        "evaluation.lengths.0: Input should be greater than or equal to 1"
    )
