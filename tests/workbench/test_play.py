"""`attemper play` without its server: questions, processes that answer, and whom the server answers."""

from __future__ import annotations

import asyncio
import io
import json
import re
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

import attemper
from attemper.checker.child import memory_can_be_limited
from attemper.errors import OptionError, SourceError, UnprovedError
from attemper.exports.page.contents import json_of, page_contents
from attemper.exports.pictures.svg import automaton_svg
from attemper.exports.subject import Exported
from attemper.languages.named.zoo import everything, named
from attemper.languages.regular.regex import parse_regex
from attemper.workbench.play import child, processes
from attemper.workbench.play.desk import KEPT, BusyError, Desk
from attemper.workbench.play.guards import SECURITY, Message, Receive, Scope, Send, guarded, refused
from attemper.workbench.play.page import examples, play_page
from attemper.workbench.play.processes import AnswerLimits, JsonAnswer, answer_to
from attemper.workbench.play.question import CHOICES, Notation, Question, model_of, read_question
from attemper.workbench.zoo_sources import language_of
from tests.exports.runs_page import needs_node
from tests.support.cli.asgi import OWN, PORT, request
from tests.support.cli.command_line import attemper as run

FORM = """
const element = (value = "") => ({ value, setAttribute() {}, closest: () => null });
const { empty, text } = { empty: element(), text: element() };
const elements = { written: element("formula"), text, empty };
for (const name of ["alphabet", "regime", "at"]) elements[name] = element();
const examples = { one: { written: "formula", text: "H a", alphabet: "ab", empty: "accept" } };
const named = { "ask-form": { elements, setAttribute() {}, querySelectorAll: () => [] },
  examples: { textContent: JSON.stringify(examples) }, text, example: element() };
globalThis.document = { getElementById: (id) => (named[id] ??= element()) };
globalThis.location = { hash: "" };
globalThis.history = { pushState() {} };
globalThis.addEventListener = () => {};
globalThis.fetch = async () => ({ json: async () => ({ error: "" }) });
"""

TYPED = """
const seen = [];
named.example.onchange({ target: { value: "one" } });
seen.push(empty.value);
text.value = "H b"; text.oninput(); seen.push(empty.value);
empty.value = "accept"; text.value = "H (b"; text.oninput(); seen.push(empty.value);
console.log(seen.join());
"""
"""An example is chosen, then typed over; then the empty word is accepted by hand, and more is typed."""


@needs_node
def test_a_formula_of_ones_own_has_the_usual_verdict_on_the_empty_word() -> None:
    script = files("attemper.workbench.play").joinpath("form.js").read_text(encoding="utf-8")
    said = subprocess.run(
        ["node", "-e", FORM + script + TYPED], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout == "accept,,accept\n"


ONCE = Question("formula", "O a", "ab")
PROGRAM = Question("program", "alphabet a b\nempty reject\noutput previous(2) in 'a'")

SLOW = Question("regex", "~(.*a.{12})", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Takes some 12 seconds, and more than 300 MB: an automaton of 8,192 states, whose cascade is too large."""


def answered(question: Question, limits: AnswerLimits | None = None) -> dict[str, Any]:
    return asyncio.run(answer_to(question, limits or AnswerLimits(seconds=120, proving=60)))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Process]]:
    """The processes that are started; in the end none of them is running."""
    found: list[Process] = []
    start = asyncio.create_subprocess_exec

    async def recorded(*arguments: Any, **options: Any) -> Process:
        found.append(await start(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(processes.asyncio, "create_subprocess_exec", recorded)
    yield found
    assert all(process.returncode is not None for process in found)


# Questions -----------------------------------------------------------------------------------------------


def test_a_question_is_read_back() -> None:
    for question in (ONCE, PROGRAM, Question("regex", "(ab)*", "a b", "decoder")):
        assert read_question(question.as_json().encode()) == question


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "a question is a JSON object"),
        (b"[]", "a question is a JSON object"),
        (b"\xff", "a question is a JSON object"),
        (b"[" * 100_000, "a question is a JSON object"),
        (b'{"written": "formula"}', "a question is a JSON object"),
        (b'{"written": "formula", "text": "a", "text": "b"}', "a question is a JSON object"),
        (b'{"written": "formula", "text": "a", "more": "b"}', "a question is a JSON object"),
        (b'{"written": "formula", "text": 1}', "'text' must be a text"),
        (b'{"written": "poem", "text": "a"}', "written must be one of formula, regex, program, not 'poem'"),
        (b'{"written": "formula", "text": " ", "alphabet": "ab"}', "write a formula, for example O a"),
        (b'{"written": "regex", "text": "a"}', "write the alphabet"),
        (
            b'{"written": "regex", "text": "a", "alphabet": "a", "regime": ""}',
            "regime must be one of unbounded",
        ),
        (
            b'{"written": "regex", "text": "a", "alphabet": "a", "at": "both"}',
            "at must be one of first, last",
        ),
        (b'{"written": "regex", "text": "a", "alphabet": "a", "empty": "?"}', "empty must be one of accept"),
    ],
)
def test_what_is_no_question_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(OptionError, match=re.escape(said)):
        read_question(data)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("regime", CHOICES["regime"])
@pytest.mark.parametrize("at", CHOICES["at"])
@pytest.mark.parametrize("empty", CHOICES["empty"])
def test_every_option_is_that_of_the_compiler(regime: str, at: str, empty: str) -> None:
    options: dict[str, Any] = {k: v for k, v in {"regime": regime, "at": at, "empty": empty}.items() if v}
    asked = model_of(Question("formula", "H a", "ab", regime, at, empty))
    assert asked.digest == attemper.compile("H a", "ab", **options).digest
    asked = model_of(Question("regex", "(ab)*", "ab", regime))
    assert asked.digest == attemper.compile(attemper.regex("(ab)*", "ab"), regime=options["regime"]).digest
    plain = model_of(Question("program", PROGRAM.text, regime=regime))
    assert plain.digest == attemper.compile(attemper.program(PROGRAM.text), regime=options["regime"]).digest
    if at or empty:
        with pytest.raises(OptionError, match="says itself how it is read"):
            model_of(Question("program", PROGRAM.text, "", regime, at, empty))


def test_examples_are_the_entries_of_the_zoo_that_are_texts() -> None:
    """Each, compiled, is the entry's own source: the same language, with its verdict on the empty word."""
    offered = dict(examples())
    assert len(offered) > 40
    tables = {entry.name for entry in everything()} - set(offered)
    assert tables == {entry.name for entry in everything() if type(entry.source).__name__ == "Automaton"}
    for name in ("majority", "first", "sort", "k-hop-1", "date", "tomita-4", "copy-previous", "dyck-1"):
        entry = named(name)
        assert model_of(offered[name]).language == language_of(entry, entry.source)


# Answers -------------------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("question", [ONCE, PROGRAM, Question("regex", "(push pop)*", "push pop")])
def test_an_answer_is_what_a_page_of_the_certified_network_holds(question: Question) -> None:
    model = model_of(question)
    subject = Exported(model.network, model.source, model.certify())
    symbols = model.alphabet.symbols
    title = "attention program" if question is PROGRAM else question.text
    picture = automaton_svg(parse_regex(question.text, question.alphabet)) if "*" in question.text else None
    expected = page_contents(subject, symbols * 3, title, picture)
    assert answered(question) == {"contents": json.loads(json_of(expected)), "notes": []}


@pytest.mark.sweep(0)
def test_errors_are_worded_as_the_parser_words_them() -> None:
    with pytest.raises(SourceError) as caught:
        attemper.compile("O (a & c)", "ab")
    assert answered(Question("formula", "O (a & c)", "ab")) == {"error": str(caught.value)}
    assert str(caught.value).splitlines()[2].strip() == "^"
    for question in (Question("regex", "(ab", "ab"), Question("program", "alphabet a\noutput b +")):
        assert "^" in answered(question)["error"]
    assert "occurs twice" in answered(Question("formula", "a", "aa"))["error"]
    assert "decoder" in answered(Question("formula", "F a", "ab", "decoder", "first"))["error"]
    assert "says itself how it is read" in answered(replace(PROGRAM, at="first"))["error"]


def test_a_reading_that_must_be_said_is_asked_for_as_the_page_can_say_it() -> None:
    said = answered(Question("formula", "X a", "ab"))["error"]
    assert "speaks of the future only" in said
    assert "first position" in said
    assert "--at" not in said
    assert "contents" in answered(Question("formula", "X a", "ab", at="first"))


@pytest.mark.sweep(0)
def test_a_large_automaton_has_no_picture_and_that_is_said() -> None:
    answer = answered(Question("regex", "(a|b){45}", "ab"))
    assert answer["contents"]["picture"] is None
    assert answer["notes"] == ["an automaton of 47 states is not drawn: nobody can read more than 40"]


@pytest.mark.sweep(0)
def test_what_compiles_too_long_is_stopped(started: list[Process]) -> None:
    answer = answered(SLOW, AnswerLimits(seconds=2))
    assert answer == {"error": "no network within 2 seconds: 'attemper play --seconds S' allows more"}
    assert [process.returncode for process in started] == [-9]


def test_what_is_certified_too_long_is_shown_without_a_certificate(started: list[Process]) -> None:
    answer = answered(Question("regex", "(ab)*", "ab"), AnswerLimits(seconds=120, proving=1e-6))
    assert answer["contents"]["certificate"] is None
    assert "not certified in the time and memory of an answer" in answer["notes"][0]
    assert len(started) == 1


@pytest.mark.sweep(0)
@pytest.mark.skipif(not memory_can_be_limited(), reason="this system limits no process's memory")
def test_what_needs_too_much_memory_is_stopped(started: list[Process]) -> None:
    within = AnswerLimits(seconds=120, proving=1e-6, memory=160)
    assert "contents" in answered(ONCE, within)
    said = "more than 160 MB are needed: 'attemper play --memory MB' allows more"
    assert answered(SLOW, within) == {"error": said}
    assert len(started) == 2


def test_a_question_that_nobody_waits_for_is_stopped(started: list[Process]) -> None:
    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer_to(SLOW, AnswerLimits(seconds=120)), 1)

    asyncio.run(leave())
    assert [process.returncode for process in started] == [-9]


def test_a_fault_of_ours_is_no_error_of_the_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_START", "raise SystemExit(3)")
    assert answered(ONCE) == {
        "error": "a fault of attemper itself: 'attemper compile' shows it, so that it can be reported"
    }


def test_a_network_without_a_proof_is_shown_as_uncertified(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> object:
        raise UnprovedError("no rule covers it")

    monkeypatch.setattr(attemper.Model, "certify", refuse)
    lines = io.BytesIO()
    child.answer(ONCE.as_json().encode(), lines)
    first, second = map(json.loads, lines.getvalue().splitlines())
    assert second == {**first, "notes": ["not certified, it may be wrong: no rule covers it"]}
    assert first["contents"]["certificate"] is None


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"seconds": 0}, "seconds must be more than 0 and at most 1,000,000, not 0"),
        ({"seconds": float("nan")}, "seconds must be more than 0 and at most 1,000,000, not nan"),
        ({"seconds": float("inf")}, "seconds must be more than 0 and at most 1,000,000, not inf"),
        ({"memory": -1}, "memory must be more than 0 and at most 1,000,000,000, not -1"),
        ({"proving": -1}, "proving must be more than 0, not -1"),
        ({"at_once": 0}, "at_once must be more than 0, not 0"),
    ],
)
def test_limits_are_positive_numbers(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=re.escape(said)):
        AnswerLimits(**limits)


def test_the_command_names_a_limit_that_is_none() -> None:
    done = run("play", "--seconds", "0")
    assert (done.code, done.out) == (2, "")
    assert "seconds must be more than 0" in done.err


# A few at once, and what is kept -------------------------------------------------------------------------


def test_no_more_than_a_few_are_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Question] = []
    desk = Desk(AnswerLimits(at_once=2))

    async def scenario() -> None:
        go = asyncio.Event()

        async def slowly(question: Question, _: AnswerLimits) -> JsonAnswer:
            asked.append(question)
            await go.wait()
            return certified("")

        monkeypatch.setattr("attemper.workbench.play.desk.answer_to", slowly)
        texts = [Question("formula", text, "abc") for text in "abc"]
        tasks = [asyncio.create_task(desk.answer(question)) for question in texts[:2]]
        while len(asked) < 2:
            await asyncio.sleep(0)
        assert desk.busy == 2
        with pytest.raises(BusyError, match="2 networks are being compiled, and no more at once: try again"):
            await desk.answer(texts[2])
        tasks[0].cancel()
        await asyncio.gather(*tasks[:1], return_exceptions=True)
        assert desk.busy == 1
        go.set()
        assert await desk.answer(texts[2]) == await tasks[1]
        assert desk.busy == 0
        assert asked == texts

    asyncio.run(scenario())


def certified(title: str) -> JsonAnswer:
    return {"contents": {"title": title, "certificate": {"isReal": True}}, "notes": []}


def test_certified_networks_are_kept_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    never_kept = {"late": {"error": "late"}, "bare": {"contents": {"certificate": None}, "notes": ["slow"]}}

    async def count(question: Question, _: AnswerLimits) -> JsonAnswer:
        asked.append(question.text)
        return never_kept.get(question.text) or certified(question.text)

    monkeypatch.setattr("attemper.workbench.play.desk.answer_to", count)
    desk = Desk()

    async def ask(*texts: str) -> None:
        for text in texts:
            await desk.answer(Question("formula", text, "ab"))

    asyncio.run(ask("a", "a", "late", "late", "bare", "bare"))
    assert asked == ["a", "late", "late", "bare", "bare"]
    # The first is asked for again, so that the second is the one that is forgotten.
    others = [f"b{number}" for number in range(KEPT)]
    asyncio.run(ask(*others[:-1], "a", others[-1]))
    del asked[:]
    asyncio.run(ask("a", *others[1:]))
    assert asked == []
    asyncio.run(ask(others[0]))
    assert asked == [others[0]]


def test_a_closed_desk_kills_what_is_at_work_and_takes_no_question(started: list[Process]) -> None:
    async def scenario() -> None:
        desk = Desk(AnswerLimits(seconds=120))
        waiting = asyncio.create_task(desk.answer(SLOW))
        while not started:
            await asyncio.sleep(0.01)
        desk.close()
        for question in (waiting, desk.answer(ONCE)):
            with pytest.raises(BusyError, match="the server is ending"):
                await question
        assert desk.busy == 0

    asyncio.run(scenario())
    assert [process.returncode for process in started] == [-9]


# Whom the server answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "is_answered"),
    [
        ([("host", "127.0.0.1:8765")], True),
        ([("Host", "LOCALHOST:8765")], True),
        ([("host", "localhost:8765"), ("origin", "http://localhost:8765")], True),
        ([("host", "localhost:8765"), ("origin", "http://127.0.0.1:8765")], True),
        ([], False),
        ([("host", "127.0.0.1")], False),
        ([("host", "127.0.0.1:8766")], False),
        ([("host", "127.0.0.1:87650")], False),
        ([("host", "attacker.example:8765")], False),
        ([("host", "localhost.attacker.example:8765")], False),
        ([("host", "[::1]:8765")], False),
        ([("host", "0.0.0.0:8765")], False),
        ([("host", "localhost:8765"), ("host", "localhost:8765")], False),
        ([("host", "localhost:8765"), ("host", "attacker.example")], False),
        ([("host", "localhost:8765"), ("origin", "null")], False),
        ([("host", "localhost:8765"), ("origin", "")], False),
        ([("host", "localhost:8765"), ("origin", "https://localhost:8765")], False),
        ([("host", "localhost:8765"), ("origin", "http://localhost:3000")], False),
        ([("host", "localhost:8765"), ("origin", "http://attacker.example")], False),
        ([("host", "localhost:8765"), ("origin", "http://localhost:8765.attacker.example")], False),
        ([("host", "localhost:8765"), ("origin", "http://localhost:8765"), ("origin", "null")], False),
    ],
)
def test_only_the_own_page_is_answered(headers: list[tuple[str, str]], is_answered: bool) -> None:
    reached: list[str] = []

    async def inner(scope: Scope, _: Receive, send: Send) -> None:
        reached.append(scope["path"])
        own = [(b"x-own", b"1"), (b"Cache-Control", b"public")]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b"inside"})

    response = asyncio.run(request(guarded(inner, PORT), headers=headers))
    assert response.status == (200 if is_answered else 403)
    assert reached == (["/"] if is_answered else [])
    assert {name.decode(): value.decode() for name, value in SECURITY}.items() <= response.headers.items()
    assert ("x-own" in response.headers) is is_answered
    assert "Cache-Control" not in response.headers
    assert (response.body == b"inside") is is_answered
    assert is_answered or b"this server answers" in response.body


def test_the_port_of_the_scheme_may_be_left_out() -> None:
    assert refused([(b"host", b"localhost"), (b"origin", b"http://localhost")], 80) is None
    assert refused([(b"host", b"localhost")], 8080) is not None


def test_other_protocols_are_not_spoken() -> None:
    async def nothing(_: Message) -> None:
        raise AssertionError

    async def inner(*_: object) -> None:
        raise AssertionError

    async def receive() -> Message:
        raise AssertionError

    with pytest.raises(ValueError, match="there is no websocket here"):
        asyncio.run(guarded(inner, PORT)({"type": "websocket"}, receive, nothing))


# What is loaded ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "import io; from attemper.workbench.play.child import answer; "
        f"answer({ONCE.as_json().encode()!r}, io.BytesIO())",
        "from attemper.workbench.play.page import play_page; play_page()",
    ],
)
def test_neither_the_server_nor_what_compiles_loads_torch(statement: str) -> None:
    script = f"{statement}; import sys; print(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy"} & set(finished.stdout.split())


# The page and the command --------------------------------------------------------------------------------


def test_the_page_asks_its_own_server_and_nobody_else() -> None:
    page = play_page()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "connect-src 'self';" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.findall(r'(?:src|href)="(?!#|data:,")', page)
    assert re.findall(r"https?://[^\"'` ]+", page) == []
    assert all(f'name="{field}"' in page for field in Question.__dataclass_fields__)
    assert all(f'value="{kind}"' in page for kind in Notation)


def test_the_page_is_the_same_every_time() -> None:
    assert play_page() == play_page()


def test_without_its_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("uvicorn", "starlette", "starlette.applications"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = run("play")
    assert outcome.code == 2
    assert "this needs uvicorn: pip install 'attemper[play]'" in outcome.err
    assert outcome.out == ""


def test_the_own_headers_of_these_tests_are_answered() -> None:
    assert refused([(name.encode(), value.encode()) for name, value in OWN.items()], PORT) is None
