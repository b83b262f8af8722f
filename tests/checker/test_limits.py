"""What the parent of a checking process does: how long it waits, and what it makes of each ending.

The process itself is replaced here by one that ends in the way that is looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from attemper.checker import limits
from attemper.checker.child import Failure
from attemper.checker.limits import MEMORY, SECONDS, ProcessLimits, Request, check_within, seconds_since_start
from attemper.checker.verdict import VERDICT, About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import AttemperError, ExitCode, OptionError

GUARANTEES = Path(__file__).parents[2] / "docs" / "guarantees.md"

PROVED = Verdict((ClaimVerdict(Status.PROVED, "all lengths"),), Subject(About.NETWORK, "net"))


@dataclass
class Ended:
    """A process with an answer and an ending; None: it never ends."""

    answer: bytes
    returncode: int | None
    allowed: list[float] = field(default_factory=list)

    def communicate(self, timeout: float) -> tuple[bytes, None]:
        self.allowed.append(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("check", timeout)
        return self.answer, None


def checked(
    monkeypatch: pytest.MonkeyPatch,
    process: Ended,
    request: Request | None = None,
    allowed: ProcessLimits | None = None,
    spent: float = 0.0,
) -> Verdict:
    """What is said when the process ends that way."""

    @contextmanager
    def child(asked: Request, limit: ProcessLimits) -> Iterator[Ended]:
        assert (asked, limit) == (request or Request("nowhere"), allowed or ProcessLimits())
        yield process

    monkeypatch.setattr(limits, "_child", child)
    return check_within(request or Request("nowhere"), allowed or ProcessLimits(), spent)


# The limits ------------------------------------------------------------------------------------------


def test_the_limits_unless_others_are_said_are_those_that_are_promised() -> None:
    assert f"ends after {SECONDS:g} seconds or with {MEMORY:,} MB" in GUARANTEES.read_text(encoding="utf-8")
    assert ProcessLimits() == ProcessLimits(SECONDS, MEMORY)


@pytest.mark.parametrize("seconds", [1e-9, 0.5, 1, 999_999, 1_000_000])
def test_seconds_are_more_than_none_and_at_most_a_million(seconds: float) -> None:
    assert ProcessLimits(seconds, 1).seconds == seconds


@pytest.mark.parametrize("seconds", [0, -1e-9, -0.5, -1, 1_000_000.5, 1_000_001, float("nan"), float("inf")])
def test_other_seconds_are_refused(seconds: float) -> None:
    with pytest.raises(OptionError, match=r"seconds=.* must be more than 0 and at most 1,000,000"):
        ProcessLimits(seconds, 1)


@pytest.mark.parametrize("memory", [1, 2, 999_999_999, 1_000_000_000])
def test_memory_is_at_least_a_megabyte_and_at_most_a_petabyte(memory: int) -> None:
    assert ProcessLimits(1, memory).memory == memory


@pytest.mark.parametrize("memory", [0, -1, -2, 1_000_000_001])
def test_other_memory_is_refused(memory: int) -> None:
    with pytest.raises(OptionError, match=r"memory=.* must be from 1 to 1,000,000,000 MB"):
        ProcessLimits(1, memory)


@pytest.mark.parametrize(
    ("seconds", "spent", "allowed"),
    [
        (1, 0, 0.8),
        (5, 0, 4),
        (9, 0, 7.2),
        (10, 0, 8),
        (11, 0, 9),
        (600, 0, 598),
        (10, 0.25, 7.75),
        (10, 0.5, 7.5),
        (10, 1, 7),
        (10, 4, 4),
        (10, 5, 3),
        (10, 5.125, 8),
        (10, 6, 8),
        (10, 10, 8),
        (10, 12, 8),
        (10, -0.5, 8),
        (10, -1, 8),
    ],
)
def test_a_fifth_or_two_seconds_are_kept_and_what_is_spent_counts(
    seconds: float, spent: float, allowed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a program that was started for this check: no more than half of the time is over, then."""
    process = Ended(b"", None)
    verdict = checked(monkeypatch, process, allowed=ProcessLimits(seconds), spent=spent)
    assert process.allowed == [pytest.approx(allowed, rel=1e-12)]
    (claim,) = verdict.claims
    assert claim.status is Status.UNKNOWN
    assert claim.text == f"no answer within {seconds:g} seconds; allow more seconds"


def asked_of(
    request: Request, limit: ProcessLimits, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[bool, float]]:
    """Of each process: whether it is to explain a proof, and how many seconds it has."""
    found: list[tuple[bool, float]] = []

    @contextmanager
    def child(asked: Request, limit: ProcessLimits) -> Iterator[Ended]:
        found.append((asked.explain, limit.seconds))
        yield Ended(json.dumps(VERDICT.encode(PROVED)).encode(), 0)

    now = iter((100.0, 107.0))
    monkeypatch.setattr(limits.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(limits, "_child", child)
    check_within(request, limit)
    return found


def test_an_explanation_has_what_is_left_of_the_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    request = Request(str(tmp_path), explain=True)
    assert asked_of(request, ProcessLimits(20), monkeypatch) == [(False, 20), (True, 13)]
    assert asked_of(request, ProcessLimits(5), monkeypatch) == [(False, 5), (True, limits.LEAST_SECONDS)]
    assert asked_of(replace(request, explain=False), ProcessLimits(5), monkeypatch) == [(False, 5)]


def test_a_refutation_that_is_to_be_explained_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    path.write_text("{}", encoding="utf-8")
    assert asked_of(Request(str(path), explain=True), ProcessLimits(5), monkeypatch) == [(True, 5)]


# How the process ends --------------------------------------------------------------------------------


def test_an_answer_of_a_process_that_came_to_its_end_is_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = json.dumps(VERDICT.encode(PROVED)).encode()
    assert checked(monkeypatch, Ended(answer, 0)) == PROVED


@pytest.mark.parametrize("code", [-15, -9, -2, -1, 1, 2, 12, Failure.ORPHANED])
def test_whatever_a_process_says_that_ends_otherwise_proves_nothing(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in (json.dumps(VERDICT.encode(PROVED)).encode(), b""):
        (claim,) = checked(monkeypatch, Ended(answer, code)).claims
        assert claim.status is Status.UNKNOWN
        end = f"code {code}" if code > 0 else f"signal {-code}"
        assert claim.text == f"the check ended without an answer ({end}); it may need more memory"


@pytest.mark.parametrize("answer", [b"", b"PROVED", b'{"verdict": "PROVED"', b"null", b"\xff"])
def test_an_answer_that_is_none_proves_nothing(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = checked(monkeypatch, Ended(answer, 0)).claims
    assert claim.status is Status.UNKNOWN
    assert claim.text == "the check ended without an answer (code 0); it may need more memory"


def test_a_process_that_needs_more_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a way in which nothing else ends; unless it is said, a check has what is promised."""
    assert len({*map(int, Failure), *map(int, ExitCode)}) == len(["memory", "orphaned"]) + len(ExitCode)
    answer = json.dumps(VERDICT.encode(PROVED)).encode()
    (claim,) = checked(monkeypatch, Ended(answer, Failure.MEMORY), allowed=ProcessLimits(1, MEMORY)).claims
    assert claim.status is Status.UNKNOWN
    assert claim.text == "more than 4,096 MB are needed; allow more memory"
    assert "or with 4,096 MB" in GUARANTEES.read_text(encoding="utf-8")


@pytest.mark.parametrize("status", [*Status])
def test_a_proof_is_explained_by_another_process_on_which_no_verdict_rests(
    status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever that process says or does; of a file that cannot be read there is nothing to explain."""
    verdict = replace(PROVED, claims=(ClaimVerdict(status, "what is found"),))
    other = ClaimVerdict(Status.PROVED if status is Status.UNKNOWN else Status.UNKNOWN, "another")
    told = Verdict((other,), PROVED.subject, ("layer 0",))
    silent = "the proof is not explained: "
    for second, expected in (
        (Ended(json.dumps(VERDICT.encode(told)).encode(), 0), "layer 0"),
        (Ended(json.dumps(VERDICT.encode(replace(told, explanation=()))).encode(), 0), f"{silent}another"),
        (Ended(b"", 1), f"{silent}the check ended without an answer (code 1)"),
        (Ended(b"", None), f"{silent}no answer within"),
    ):
        asked: list[bool] = []

        @contextmanager
        def child(
            request: Request, _: ProcessLimits, asked: list[bool] = asked, second: Ended = second
        ) -> Iterator[Ended]:
            asked.append(request.explain)
            yield second if request.explain else Ended(json.dumps(VERDICT.encode(verdict)).encode(), 0)

        monkeypatch.setattr(limits, "_child", child)
        assert check_within(Request("net"), ProcessLimits()) == verdict
        found = check_within(Request("net", explain=True), ProcessLimits())
        assert replace(found, explanation=()) == verdict
        if status is Status.MALFORMED:
            assert (found.explanation, asked) == ((), [False, False])
        else:
            (line,) = found.explanation
            assert line.startswith(expected)
            assert asked == [False, False, True]


def test_an_error_of_the_users_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"error": "there is no model", "exit_code": int(ExitCode.USAGE), "details": {"line": 3}}
    said["place"] = ""
    with pytest.raises(AttemperError, match="there is no model") as raised:
        checked(monkeypatch, Ended(json.dumps(said).encode(), 0))
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.details == {"line": 3}


def test_what_was_not_found_out_is_about_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "out.json")
    for request, subject in (
        (Request(str(tmp_path)), Subject(About.NETWORK, str(tmp_path))),
        (Request(str(tmp_path), model="module:model"), Subject(About.NETWORK, str(tmp_path))),
        (Request(file, model="module:model"), Subject(About.MODEL, "module:model")),
        (Request(file), Subject(About.MODEL, "")),
    ):
        assert checked(monkeypatch, Ended(b"", 3), request).subject == subject


# How it is started -----------------------------------------------------------------------------------


@dataclass
class Started:
    """Instead of a process: how it would have been started, and that it is ended."""

    command: list[str]
    options: dict[str, object]
    killed: bool = False

    def kill(self) -> None:
        self.killed = True

    def communicate(self) -> tuple[bytes, None]:
        return b"", None


def started(request: Request, limit: ProcessLimits, monkeypatch: pytest.MonkeyPatch) -> Started:
    found: list[Started] = []

    def start(command: list[str], **options: object) -> Started:
        found.append(Started(command, options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    with limits._child(request, limit) as process:
        assert process is found[0]  # type: ignore[comparison-overlap]
        assert not found[0].killed
    assert found[0].killed
    return found[0]


def test_the_process_imports_this_package_and_hears_all_that_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = started(Request("net"), ProcessLimits(1, 77), monkeypatch)
    assert process.command[0] == sys.executable
    *_, root, said = process.command
    assert (Path(root) / "attemper" / "checker" / "child.py").is_file()
    assert json.loads(said) == {
        "memory": 77,
        "path": "net",
        "model": None,
        "against": None,
        "ignore_rounding": False,
        "edited": False,
        "explain": False,
    }
    asked = Request(
        "net", "module:model", "certificate.json", ignore_rounding=True, edited=True, explain=True
    )
    said = started(asked, ProcessLimits(1, 77), monkeypatch).command[-1]
    assert json.loads(said) == {
        "memory": 77,
        "path": "net",
        "model": "module:model",
        "against": "certificate.json",
        "ignore_rounding": True,
        "edited": True,
        "explain": True,
    }


def test_only_what_a_users_model_says_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(Request("net"), ProcessLimits(), monkeypatch).options["stderr"] == subprocess.DEVNULL
    assert started(Request("net", "module:model"), ProcessLimits(), monkeypatch).options["stderr"] is None


def test_how_long_a_process_has_been_running() -> None:
    """A fork for as long as it sleeps, and less than this process, which was before it."""
    before = seconds_since_start()
    fork = os.fork()
    if fork == 0:
        try:
            time.sleep(0.05)
            is_right = 0.05 <= seconds_since_start() < min(before + 0.05, 60)
            os._exit(0 if is_right else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0
    assert before > 0
