"""GPT-2 folders on all words of a language, at one offset and at several; and what is no such folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import AttemperError, ExitCode, OptionError
from attemper.theories.judging.check.claims import judge
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.gpt2_folders import gpt2_folder
from tests.support.drawn.judged import FIXTURES
from tests.support.judges.judged_words import RawTask
from tests.support.oracles.raw_gpt2 import RawGpt2
from tests.support.suites import Few

MODEL = FIXTURES / "gpt2_depth2"
DEPTH2 = "regex:(a(ab)*b)*"


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gpt2") / "proof.json"
    attemper.judge(MODEL, DEPTH2, "ab", up_to=8).save(path)
    return path


def task_of(path: Path, model: Path = MODEL) -> RawTask:
    return RawTask(RawGpt2(model), json.loads(path.read_bytes()))


def test_margins_are_those_of_all_words(proof: Path) -> None:
    found = attemper.judge(MODEL, DEPTH2, "ab", up_to=8)
    margins = [task_of(proof).margin(word) for word in task_of(proof).words(8)]
    assert found.status is Status.PROVED
    assert found.least is not None
    assert 0 < found.least <= min(margins) + 1e-9


def test_all_words_to_150_symbols_are_answered_right(tmp_path: Path, few: Few) -> None:
    """2^75 words, about; of some the margin is computed, and none is below what is proved."""
    file = tmp_path / "judgement.json"
    found = command("judge", MODEL, DEPTH2, "--alphabet", "ab", "--up-to", 150, "-o", file, "--json")
    assert (found.code, found.record["proved_to"]) == (0, 150)
    assert found.record["cells"] == {"PROVED": 299}
    task, rng = task_of(file), np.random.default_rng(1)
    for _ in few(range(2000), 20):
        depth, word = 0, []
        while len(word) < 150 - depth and rng.random() > 0.005:
            up = depth == 0 or (depth < 2 and rng.random() < 0.5)
            word.append("a" if up else "b")
            depth += 1 if up else -1
        assert task.margin(tuple(word)) >= found.record["least_margin"] - 1e-9
    checked = command("check", file, "--model", MODEL)
    assert checked.code == 0
    assert "its tokens are 0 'a', 1 'b', 2 '<bos>', 3 '<sep>', 4 '<eos>', 5 '<pad>'" in " ".join(
        checked.out.split()
    )


def test_a_model_is_proved_at_all_its_offsets(tmp_path: Path) -> None:
    """Every prefix of every word at every offset to 20, and no margin of them is below what is proved."""
    found = attemper.judge(FIXTURES / "gpt2_offsets", "regex:(abab)*", "ab", up_to=20, offsets="all")
    assert (found.status, found.proved_to) == (Status.PROVED, 20)
    assert {cell.offset for cell in found.task.cells_to(20, (0, 20))} == set(range(21))
    found.save(tmp_path / "proof.json")
    assert judge(tmp_path / "proof.json", str(FIXTURES / "gpt2_offsets")).status is Status.PROVED
    task = task_of(tmp_path / "proof.json", FIXTURES / "gpt2_offsets")
    margins = [
        task.margin(tuple("abab" * 5)[:length], offset)
        for offset in range(21)
        for length in range((20 - offset) // 4 * 4 + 1)
    ]
    assert found.least is not None
    assert 0 < found.least <= min(margins) + 1e-9


def test_random_models_are_judged_as_all_their_words_say(tmp_path: Path, few: Few) -> None:
    """At all offsets, of whole folders: what is proved to a length, and the first wrong word."""
    for seed in few(range(24), 4):
        entries = {"activation_function": ("gelu_new", "gelu", "relu")[seed % 3]}
        folder = gpt2_folder(tmp_path / str(seed), seed, heads=1 + seed % 2, tied=seed % 5 > 0, **entries)
        found = attemper.judge(folder, "regex:(a|b)*b", "ab", up_to=4, offsets=(0, 2))
        assert found.status is Status.REFUTED, "nobody trained it"
        assert found.wrong is not None
        found.save(tmp_path / "wrong.json")
        task = task_of(tmp_path / "wrong.json", folder)
        margin = task.margin(found.wrong.word, found.wrong.offset)
        assert margin == pytest.approx(found.wrong.margin, rel=1e-9, abs=1e-9)
        assert margin < 0
        assert judge(tmp_path / "wrong.json", str(folder)).status is Status.REFUTED


def biased(folder: Path, seed: int, shift: float) -> Path:
    """A random model whose outputs are nearly those for all words over a and b."""
    from safetensors.numpy import load_file, save_file

    gpt2_folder(folder, seed, tied=False)
    tensors = load_file(folder / "model.safetensors")
    # Behind the last norm is a constant: the bias.
    bias = tensors["transformer.ln_f.bias"]
    head = tensors["lm_head.weight"] * np.float32(0.1)
    wanted = np.array([shift, shift, -shift, -shift, shift, -shift], np.float32)
    head += np.outer(wanted - head @ bias, bias) / (bias @ bias)
    save_file({**tensors, "lm_head.weight": head.astype(np.float32)}, folder / "model.safetensors")
    return folder


def test_what_is_proved_at_all_offsets_is_so(tmp_path: Path, few: Few) -> None:
    proved = 0
    for seed in few(range(20), 4):
        folder = biased(tmp_path / str(seed), seed, 0.15 + 0.05 * (seed % 8))
        found = attemper.judge(folder, "regex:(a|b)*", "ab", up_to=5, offsets="all")
        if found.judgement is None:
            continue
        found.save(tmp_path / "found.json")
        task = task_of(tmp_path / "found.json", folder)
        words = [word for n in range(6) for word in product("ab", repeat=n)]
        margins = [task.margin(w, o) for w in words for o in range(6 - len(w))]
        if found.status is Status.PROVED:
            proved += 1
            assert found.least is not None
            assert 0 < found.least <= min(margins) + 1e-9
        elif found.status is Status.REFUTED:
            assert min(margins) < 0
            assert set(found.wrong_offsets) <= {
                o for w in words for o in range(6 - len(w)) if task.margin(w, o) < 0
            }
    assert proved


def test_majority_is_asked_about_behind_the_word(tmp_path: Path, few: Few) -> None:
    """The sign of an output less another, on all words, at two offsets; a language that is not regular."""
    statuses = set()
    for seed in few(range(24), 6):
        folder = gpt2_folder(tmp_path / str(seed), seed, heads=1 + seed % 2, tied=seed % 3 > 0)
        for language in ("#<[a] > #<[b]", "true"):
            found = attemper.judge(
                folder,
                language,
                "ab",
                at="last",
                empty="accept",
                answer=("<sep>", "a", "<pad>"),
                up_to=5,
                offsets=(0, 1),
            )
            if found.judgement is None:
                continue
            statuses.add(found.status)
            found.save(tmp_path / "found.json")
            task = task_of(tmp_path / "found.json", folder)
            margins = [
                task.margin(w, o)
                for n in range(6)
                for w in product("ab", repeat=n)
                for o in range(2)
                if n + o < 6
            ]
            if found.status is Status.PROVED:
                assert found.least is not None
                assert 0 < found.least <= min(margins) + 1e-9
            elif found.wrong is not None:
                wrong = task.margin(found.wrong.word, found.wrong.offset)
                assert wrong == pytest.approx(found.wrong.margin, rel=1e-9, abs=1e-9)
                assert wrong < 0
            assert judge(tmp_path / "found.json", str(folder)).status in {Status.PROVED, Status.REFUTED}
    assert Status.REFUTED in statuses
    with pytest.raises(OptionError, match="is a letter or the start"):
        attemper.judge(MODEL, DEPTH2, "ab", answer=("a", "<sep>", "<pad>"))
    with pytest.raises(OptionError, match="yes and no are the same"):
        attemper.judge(MODEL, DEPTH2, "ab", answer=("<sep>", "a", "a"))
    assert "are not three tokens" in refused(MODEL, "--answer", "<sep>,a")


def test_offsets_count_what_can_still_be_completed(tmp_path: Path) -> None:
    """Prefixes that no word within the positions completes are not judged: with them a model looks wrong."""
    found = attemper.judge(MODEL, DEPTH2, "ab", up_to=6, offsets=(0, 3))
    cells = list(found.task.cells_to(6, (0, 3)))
    assert {own.length for own in cells if own.offset == 3} == {0, 1, 2}
    assert max(own.length for own in cells if own.offset == 0) == 6
    with pytest.raises(OptionError, match="are none from 0 to 6"):
        attemper.judge(MODEL, DEPTH2, "ab", up_to=6, offsets=(0, 7))


Change = Callable[[Any], Any]

CHANGES: dict[str, Change] = {
    "no vocabulary": lambda data: data.update(vocabulary=None),
    "a and b exchanged": lambda data: data["vocabulary"]["tokens"].__setitem__(slice(0, 2), ["b", "a"]),
    "another start": lambda data: data["vocabulary"].update(start="<sep>"),
    "another end": lambda data: data["vocabulary"].update(end="<pad>"),
    "the end is a letter": lambda data: data["vocabulary"].update(end="a"),
    "a token more": lambda data: data["vocabulary"]["tokens"].append("c"),
    "a token less": lambda data: data["vocabulary"]["tokens"].pop(),
    "a token twice": lambda data: data["vocabulary"]["tokens"].__setitem__(3, "<pad>"),
    "no tokens": lambda data: data["vocabulary"].update(tokens=[]),
    "asked": lambda data: data["vocabulary"].update(asked={"query": "<sep>", "yes": "a", "no": "b"}),
    "a verdict": lambda data: data.update(reading="verdict"),
    "offsets": lambda data: data["evidence"].__setitem__(2, [0, 1]),
    "another offset": lambda data: data["evidence"].__setitem__(2, [1, 1]),
    "offsets backwards": lambda data: data["evidence"].__setitem__(2, [1, 0]),
    "offsets beyond": lambda data: data["evidence"].__setitem__(2, [0, 9]),
    "huge offsets": lambda data: data["evidence"].__setitem__(2, [0, 10**7]),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_what_is_changed_is_not_proved(what: str, proof: Path, tmp_path: Path) -> None:
    data = json.loads(proof.read_bytes())
    CHANGES[what](data)
    (tmp_path / "changed.json").write_text(json.dumps(data), encoding="utf-8")
    assert judge(tmp_path / "changed.json", str(MODEL)).status in {Status.UNKNOWN, Status.MALFORMED}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"bos_token_id": 3}, "another encoder|which is '<sep>'"),
        ({"layer_norm_epsilon": 1.1e-5}, "another encoder"),
        ({"activation_function": "gelu"}, "another encoder"),
        ({"n_head": 2}, "another encoder"),
        ({"scale_attn_weights": False}, "is not read"),
    ],
)
def test_a_model_is_another_if_anything_is(
    entries: dict[str, object], said: str, proof: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(config | entries), encoding="utf-8")
    verdict = command("check", proof, "--model", folder)
    assert verdict.code == ExitCode.FILE
    assert any(part in " ".join(verdict.out.split()) for part in said.split("|"))


def refused(folder: Path, *asked: object) -> str:
    found = command("judge", folder, DEPTH2, "--alphabet", "ab", "--up-to", 4, *asked)
    assert found.code not in {0, ExitCode.REFUTED, ExitCode.UNKNOWN, 70}
    assert len(found.err.strip().splitlines()) <= 4
    return " ".join(found.err.split())


def test_what_cannot_be_judged_is_said_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    assert "other tokens" in refused(folder, "--vocab", "b,a,<bos>,<sep>,<eos>,<pad>")
    assert "none from 0 to 4" in refused(folder, "--offsets", "0-5")
    assert "is no number, nor two as in 0-150, nor all" in refused(folder, "--offsets", "some")
    (folder / "vocab.json").unlink()
    assert "say which tokens it has" in refused(folder)
    assert "7 tokens are named" in refused(folder, "--vocab", "a,b,<bos>,<sep>,<eos>,<pad>,<unk>")
    found = command(
        "judge", folder, DEPTH2, "--alphabet", "ab", "--up-to", 4, "--vocab", "a,b,<bos>,<sep>,<eos>,<pad>"
    )
    assert found.code == 0, found.err
    assert "'c' is none of the tokens" in " ".join(
        command("judge", MODEL, "regex:(abc)*", "--alphabet", "abc", "--up-to", 4).err.split()
    )
    assert "153 positions: judge words of at most 152 symbols" in refused(MODEL, "--up-to", 153)
    config = json.loads((folder / "config.json").read_bytes())
    for entries, said in (
        ({"model_type": "bert"}, "model_type = 'bert' is not read, only 'gpt2'"),
        ({"activation_function": "silu"}, "is none of gelu_new"),
        ({"n_layer": 2}, "h.1"),
        ({"window": 3}, "'window' is not understood"),
    ):
        (folder / "config.json").write_text(json.dumps(config | entries), encoding="utf-8")
        assert said in refused(folder, "--vocab", "a,b,<bos>,<sep>,<eos>,<pad>")
    with pytest.raises(OptionError, match="say which language is meant"):
        attemper.judge(MODEL)
    with pytest.raises(OptionError, match="vocab and answer are for the folder of a GPT-2"):
        attemper.judge(FIXTURES / "bstar", vocab=("a", "b"))


def test_start_and_end_by_their_names(tmp_path: Path) -> None:
    """Where the configuration has the numbers that GPT-2 has in English."""
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_bytes()) | {
        "bos_token_id": 50256,
        "eos_token_id": 50256,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert attemper.judge(folder, DEPTH2, "ab", up_to=4).status is Status.PROVED
    (folder / "vocab.json").unlink()
    with pytest.raises(OptionError, match="bos_token_id 50256, which is none of the 6 tokens"):
        attemper.judge(folder, DEPTH2, "ab", vocab=("a", "b", "s", "t", "e", "p"), up_to=4)
    with pytest.raises(AttemperError, match="none of the tokens"):
        attemper.judge(folder, DEPTH2, "ab", vocab=("b", "c", "<bos>", "t", "<eos>", "p"), up_to=4)


def test_two_runs_find_the_same(tmp_path: Path) -> None:
    for number in range(2):
        attemper.judge(MODEL, DEPTH2, "ab", up_to=9, offsets=(0, 0)).save(tmp_path / f"{number}.json")
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()
