"""The server's two routes: the page, and the one that questions are sent to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from attemper.errors import OptionError
from attemper.exports.extras import library
from attemper.workbench.play.desk import BusyError, Desk
from attemper.workbench.play.guards import Application, guarded
from attemper.workbench.play.processes import JsonAnswer
from attemper.workbench.play.question import read_question

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BYTES = 100_000
"""A question is no longer than this."""

COMPILE = "/compile"
"""Where questions are sent to."""


def application(page: str, port: int, desk: Desk) -> Application:
    """The ASGI application that serves the page, and answers its questions, to this computer alone.

    A question is sent by POST as JSON (`question.py`). The answers: 200 with the network; 422 with what is
    wrong with the text, or a limit that was met; 400, 413 and 415 for what is no question; 503 where too many
    are being answered; 403 for a request from elsewhere. But for the last they are JSON, with an error under
    `error`.

    Raises `OptionError` if the extra `play` is not installed.
    """
    library("starlette.applications", "play")
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse
    from starlette.routing import Route

    async def show(_: Request) -> Response:
        return HTMLResponse(page)

    async def compile_one(request: Request) -> Response | None:
        return await _compiled(request, desk)

    routes = [Route("/", show, methods=["GET"]), Route(COMPILE, compile_one, methods=["POST"])]
    return guarded(Starlette(routes=routes), port)


async def _compiled(request: Request, desk: Desk) -> Response:
    """The response to a question."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return _json({"error": "a question is sent as application/json"}, 415)
    data = await _body(request)
    if data is None:
        return _json({"error": f"a question has at most {MOST_BYTES:,} bytes"}, 413)
    try:
        question = read_question(data)
    except OptionError as error:
        return _json({"error": str(error)}, 400)
    try:
        answer = await _unless_left(desk.answer(question), request)
    except BusyError as error:
        return _json({"error": str(error)}, 503, {"retry-after": "1"})
    if answer is None:
        return _json({"error": "nobody is waiting"}, 499)
    return _json(answer, 422 if "error" in answer else 200)


def _json(record: JsonAnswer, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """The record as JSON in ASCII, as texts of readers can have half a surrogate pair, which UTF-8 cannot."""
    from starlette.responses import Response

    return Response(json.dumps(record), status, headers, "application/json")


async def _body(request: Request) -> bytes | None:
    """All that was sent; None if that is too much."""
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > MOST_BYTES:
            return None
    return data


async def _unless_left(work: Awaitable[JsonAnswer], request: Request) -> JsonAnswer | None:
    """What the work gives; None, and the work is cancelled, if the reader leaves before."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    """Wait until the reader has left."""
    message: dict[str, Any] = {}
    while message.get("type") != "http.disconnect":
        message = dict(await request.receive())
