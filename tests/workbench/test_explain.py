"""`attemper compile --explain`: what each pass of the compiler makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from attemper.attention_program.parse import parse_steps
from attemper.attention_program.show import show_program
from attemper.compiling.pipeline import compile_language
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.report.network_text import network_lines
from tests.support.cli.command_line import attemper

ONCE = """\
pass temporal_to_program: 5 steps
  alphabet ["a", "b"]
  s0 = letter ["a"]
  s1 = place ["number", "1"]
  s2 = not s1
  s3 = or s2 s0
  s4 = attend <= rightmost where s3 value s0 default 0
  output s4
pass simplify_program: 2 steps
  alphabet ["a", "b"]
  s0 = letter ["a"]
  s1 = attend <= rightmost where s0 value s0 default 0
  output s1
pass require_regime (regime temperature): 2 steps, unchanged
pass move_shifts: 2 steps, unchanged
pass join_shifts: 2 steps, unchanged
pass guard_edges: 2 steps
  alphabet ["a", "b"]
  s0 = letter ["a"]
  s1 = attend <= rightmost where s0 value s0
  output s1
pass assemble: 1 layers, 1 heads, 4 coordinates, 2 hidden units
  x0 = PE 1
  x1 = O a
  x2 = letter a
  x3 = attended O a
  layer 0, head 0: Select, future-masked, rightmost-hard
    score (x0(i)) (-x0(j) + x2(j))
    x3 += x2(j)
  layer 0, feed-forward
    x1 += 2 relu(x3 - 1/4) - 2 relu(x3 - 3/4)
  output x1, read at the last position; the empty word is rejected
pass hard_to_soft (regime temperature, least_margin 4): 1 layers, 1 heads, 5 coordinates, 2 hidden units
  x0 = PE 1
  x1 = O a
  x2 = letter a
  x3 = attended O a
  x4 = PE i*n^-1
  layer 0, head 0: Select, future-masked, softmax at temperature 1/(8*n)
    score (x0(i)) (-x0(j) + x2(j)) + (x0(i)) (1/2 x4(j))
    x3 += x2(j)
  layer 0, feed-forward
    x1 += 2 relu(x3 - 1/4) - 2 relu(x3 - 3/4)
  output x1, read at the last position; the empty word is rejected
pass drop_unused: 1 layers, 1 heads, 5 coordinates, 2 hidden units, unchanged
"""


def test_each_level_is_shown_before_what_was_made(tmp_path: Path) -> None:
    options = ("--alphabet", "ab", "--regime", "temperature", "-o", tmp_path / "once")
    plain = attemper("compile", "O a", *options)
    shutil.rmtree(tmp_path / "once")
    outcome = attemper("compile", "O a", *options, "--explain")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == ONCE + plain.out


def test_as_json_it_is_one_more_entry(tmp_path: Path) -> None:
    options = ("--alphabet", "ab", "--regime", "decoder", "-o", tmp_path / "model", "--json")
    plain = attemper("compile", "#<[a] > #<[b] & Y a", *options).record
    shutil.rmtree(tmp_path / "model")
    record = attemper("compile", "#<[a] > #<[b] & Y a", *options, "--explain").record
    passes = record.pop("passes")
    assert record == plain
    model = compile_formula("#<[a] > #<[b] & Y a", "ab", regime="decoder")
    levels = compile_language(model.language.definition, model.alphabet, Regime.DECODER)
    by_name = {one["name"]: one for one in passes}
    assert parse_steps(by_name["simplify_program"]["text"]) == levels.program
    assert by_name["guard_edges"]["text"] == show_program(levels.guarded).rstrip("\n")
    assert by_name["guard_edges"]["size"] == {"steps": len(levels.guarded.steps)}
    assert by_name["assemble"]["text"].splitlines() == list(network_lines(levels.hard))
    last = by_name["drop_unused"]
    assert last["text"].splitlines() == list(network_lines(levels.soft))
    assert last["size"] == {"layers": 2, "heads": 3, "coordinates": record["d_model"], "hidden_units": 6}
    assert by_name["hard_to_soft"]["options"] == {"regime": "decoder", "least_margin": 4}
    assert [one["unchanged"] for one in passes] == [False, True, True, True, True, False, False, False, True]


def test_of_all_networks_that_a_horizon_asks_for_the_one_that_is_written_is_explained(tmp_path: Path) -> None:
    options = ("--alphabet", "ab", "--dtype", "float32", "--horizon", 470, "-o", tmp_path / "model")
    record = attemper("compile", "#<[a] = #>[b]", *options, "--explain", "--json").record
    by_name = {one["name"]: one for one in record["passes"]}
    assert by_name["hard_to_soft"]["options"] == {"regime": record["regime"], "least_margin": 16}
    assert by_name["drop_unused"]["size"]["coordinates"] == record["d_model"]


def test_a_cascade_is_explained_from_its_program_on(tmp_path: Path) -> None:
    options = ("regex:a*b", "--alphabet", "ab", "-o", tmp_path / "ends", "--explain")
    lines = attemper("compile", *options).out.splitlines()
    passes = [line.partition(":")[0] for line in lines if line.startswith("pass ")]
    assert passes[:2] == ["pass cascade_to_program", "pass assemble"]
    assert lines[-4].startswith("compiled a*b")


def test_in_a_pipe_nothing_else_is_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from attemper.workbench.cli.app import main; main()"]
    options = ["compile", "O a", "--alphabet", "ab", "--regime", "temperature", "-o", "once", "--explain"]
    wide = {**os.environ, "COLUMNS": "200"}
    made = subprocess.run(
        [*command, *options], capture_output=True, check=False, text=True, cwd=tmp_path, env=wide
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith(ONCE)
