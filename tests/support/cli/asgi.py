"""A request to an ASGI application, made by hand: no server, no library."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attemper.workbench.play.guards import Application, Message

PORT = 8765

OWN = {"host": f"127.0.0.1:{PORT}", "origin": f"http://127.0.0.1:{PORT}", "content-type": "application/json"}
"""The headers of a question that the own page sends."""


@dataclass(frozen=True)
class Response:
    """What was answered; no status if nothing was."""

    status: int | None
    headers: dict[str, str]
    body: bytes

    @property
    def record(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


async def request(
    application: Application,
    method: str = "GET",
    path: str = "/",
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = tuple(OWN.items()),
    body: Sequence[bytes] = (b"",),
    leaves_after: float | None = None,
) -> Response:
    """The response to a request whose body comes in these parts; its reader leaves after so many seconds."""
    parts = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    parts[-1]["more_body"] = False
    sent: list[Message] = []

    async def receive() -> Message:
        if parts:
            return parts.pop(0)
        await asyncio.sleep(1_000 if leaves_after is None else leaves_after)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in pairs],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", PORT),
    }
    await application(scope, receive, send)
    begun = [message for message in sent if message["type"] == "http.response.start"]
    answered = {} if not begun else {k.decode(): v.decode() for k, v in begun[0]["headers"]}
    data = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
    return Response(begun[0]["status"] if begun else None, answered, data)
