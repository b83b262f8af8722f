"""`attemper play` with its libraries: the application on requests made by hand, and a real server."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from asyncio.subprocess import Process
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from attemper.workbench.play import desk as desks
from attemper.workbench.play import processes
from attemper.workbench.play.application import COMPILE, MOST_BYTES, application
from attemper.workbench.play.desk import Desk
from attemper.workbench.play.guards import Application
from attemper.workbench.play.page import play_page
from attemper.workbench.play.processes import AnswerLimits, JsonAnswer
from attemper.workbench.play.question import Question
from tests.support.cli.asgi import OWN, PORT, Response, request
from tests.workbench.test_play import ONCE, PROGRAM, SLOW

pytestmark = pytest.mark.exports

PATIENT = AnswerLimits(seconds=120, proving=60)


def served(limits: AnswerLimits = PATIENT) -> Application:
    return application(play_page(), PORT, Desk(limits))


def asked(question: Question, limits: AnswerLimits = PATIENT, **options: Any) -> Response:
    body = (question.as_json().encode(),)
    return asyncio.run(request(served(limits), "POST", COMPILE, body=body, **options))


def test_the_page_is_at_the_root() -> None:
    response = asyncio.run(request(served(), headers={"host": f"localhost:{PORT}"}))
    assert response.status == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert response.headers["cache-control"] == "no-store"
    assert response.body.decode() == play_page()


def test_good_questions_are_answered_with_the_network_and_its_certificate() -> None:
    for question in (ONCE, PROGRAM, Question("regex", "(ab)*", "ab")):
        response = asked(question)
        assert response.status == 200
        contents = response.record["contents"]
        assert contents["certificate"]["isReal"]
        assert contents["alphabet"] == ["a", "b"]
        assert (contents["picture"] is not None) is (question.written == "regex")


def test_what_is_wrong_with_a_text_is_said_with_a_caret() -> None:
    response = asked(Question("formula", "O c", "ab"))
    assert response.status == 422
    first, line, caret, *_ = response.record["error"].splitlines()
    assert first == "symbol 'c' is not in the alphabet (line 1, column 3)"
    assert line[caret.index("^")] == "c"


def test_a_text_that_is_no_unicode_is_answered_all_the_same() -> None:
    response = asked(Question("formula", "O \ud800", "ab"))
    assert response.status == 422
    assert "(line 1, column 3)" in response.record["error"]


def test_limits_are_errors_of_the_text() -> None:
    late = asked(SLOW, AnswerLimits(seconds=1))
    assert (late.status, late.record["error"].partition(":")[0]) == (422, "no network within 1 seconds")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**OWN, "host": "attacker.example"}, 403),
        ({**OWN, "origin": "http://attacker.example"}, 403),
        ({**OWN, "content-type": "text/plain"}, 415),
        ({**OWN, "content-type": "application/x-www-form-urlencoded"}, 415),
        ({name: value for name, value in OWN.items() if name != "content-type"}, 415),
    ],
)
def test_other_pages_cannot_ask(
    headers: dict[str, str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "answer_to", None)
    assert asked(ONCE, headers=headers).status == status


def test_too_large_a_question_is_not_read_to_its_end() -> None:
    """Whatever length is announced; of a body without end only so much is taken."""
    parts = [b"x" * 40_000] * 3
    response = asyncio.run(request(served(), "POST", COMPILE, body=parts))
    assert response.status == 413
    assert response.record["error"] == f"a question has at most {MOST_BYTES:,} bytes"
    assert asyncio.run(request(served(), "POST", COMPILE, body=[b"x" * 40_000] * 2)).status == 400


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", COMPILE, 405), ("POST", "/", 405), ("PUT", COMPILE, 405), ("GET", "/etc/passwd", 404)],
)
def test_there_are_two_routes(method: str, path: str, status: int) -> None:
    response = asyncio.run(request(served(), method, path))
    assert response.status == status
    assert response.headers["x-content-type-options"] == "nosniff"


def test_too_many_at_once_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> list[Response]:
        go = asyncio.Event()

        async def slowly(_: Question, limits: AnswerLimits) -> JsonAnswer:
            await go.wait()
            return {"contents": {}, "notes": []}

        monkeypatch.setattr(desks, "answer_to", slowly)
        app = served(AnswerLimits(at_once=2))
        bodies = [(Question("formula", text, "abc").as_json().encode(),) for text in "abc"]
        tasks = [asyncio.create_task(request(app, "POST", COMPILE, body=body)) for body in bodies]
        await tasks[2]
        go.set()
        return list(await asyncio.gather(*tasks))

    first, second, third = asyncio.run(scenario())
    assert (first.status, second.status, third.status) == (200, 200, 503)
    assert third.headers["retry-after"] == "1"
    assert "2 networks are being compiled" in third.record["error"]


def test_the_process_ends_when_the_reader_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Process] = []
    start = asyncio.create_subprocess_exec

    async def recorded(*arguments: Any, **options: Any) -> Process:
        started.append(await start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(processes.asyncio, "create_subprocess_exec", recorded)
    asked(SLOW, leaves_after=1.0)
    assert [process.returncode for process in started] == [-signal.SIGKILL]


# A real server -------------------------------------------------------------------------------------------


@contextmanager
def server(*options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "attemper", "play", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("the page is at http://127.0.0.1:")
            yield process, int(said.rpartition(":")[2].partition("/")[0])
        finally:
            process.kill()


def sent(port: int, question: Question, **headers: str) -> tuple[int, dict[str, Any]]:
    given = {"content-type": "application/json", **headers}
    asking = urllib.request.Request(
        f"http://127.0.0.1:{port}{COMPILE}", question.as_json().encode(), given, method="POST"
    )
    try:
        with urllib.request.urlopen(asking, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"{}") if error.code != 403 else {}


def test_a_server_answers_and_ends_when_it_is_interrupted() -> None:
    with server("--port", "0", "--seconds", "120") as (process, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as response:
            assert "<form" in response.read().decode()
            assert response.headers["server"] is None
        status, answer = sent(port, ONCE)
        assert (status, answer["contents"]["title"]) == (200, "O a")
        assert sent(port, Question("formula", "O c", "ab"))[0] == 422
        assert sent(port, ONCE, origin="http://attacker.example")[0] == 403
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "ended\n", "")


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="asks the system in the way of Linux")


@on_linux
def test_an_interrupted_server_leaves_no_process_behind() -> None:
    with (
        server("--port", "0", "--seconds", "120") as (process, port),
        socket.create_connection(("127.0.0.1", port)) as reader,
    ):
        reader.sendall(raw_question(port, SLOW))
        child = first_child(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        wait_for_the_end_of(child)
        assert reader.recv(100).startswith(b"HTTP/1.1 503 ")
    assert (process.returncode, out, err) == (0, "ended\n", "")


def first_child(parent: int) -> int:
    """The process that another one has started, as soon as there is one."""
    while True:
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
        if found:
            return int(found[0])


@on_linux
def test_a_killed_server_leaves_no_process_behind() -> None:
    """Not even then: what compiles sees the end of its input."""
    with (
        server("--port", "0", "--seconds", "120") as (process, port),
        socket.create_connection(("127.0.0.1", port)) as reader,
    ):
        reader.sendall(raw_question(port, SLOW))
        child = first_child(process.pid)
        process.kill()
        process.communicate(timeout=30)
        wait_for_the_end_of(child)


def wait_for_the_end_of(process: int) -> None:
    """Until it is gone, or is a zombie whose parent has not asked for it."""
    state = Path(f"/proc/{process}/stat")
    while state.exists() and state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


@on_linux
def test_a_server_stops_what_nobody_waits_for() -> None:
    with server("--port", "0", "--seconds", "120") as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as reader:
            reader.sendall(raw_question(port, SLOW))
            child = first_child(process.pid)
        wait_for_the_end_of(child)
        assert sent(port, ONCE)[0] == 200
        assert process.poll() is None


def raw_question(port: int, question: Question) -> bytes:
    body = question.as_json().encode()
    head = f"POST {COMPILE} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


@on_linux
def test_only_this_computer_reaches_the_server() -> None:
    with server("--port", "0", "--seconds", "120") as (_, port):
        table = Path("/proc/net/tcp").read_text(encoding="ascii")
        bound = {line.split()[1] for line in table.splitlines()[1:]}
        assert f"0100007F:{port:04X}" in bound
        assert f"00000000:{port:04X}" not in bound


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "attemper", "play", "--port", str(port)]
        finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 2
    assert f"port {port} cannot be had" in finished.stderr
    assert "--port 0" in finished.stderr
