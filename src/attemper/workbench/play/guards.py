"""Whom the server answers: this computer's browser, asked by this server's own page.

A page of anybody's can send requests to this computer, and a name of anybody's can be made to mean this
computer (DNS rebinding). The first is seen by the header Origin, the second by the header Host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""ASGI, the interface of Python's web servers."""

Headers = Sequence[tuple[bytes, bytes]]

SECURITY = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every response; what a page may load and run, its own policy says (`exports/page`)."""


def guarded(application: Application, port: int) -> Application:
    """The application for requests that come from its own page alone; all others are answered 403."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"there is no {scope['type']} here")
        refusal = refused(scope["headers"], port)
        if refusal is None:
            await application(scope, receive, _secured(send))
        else:
            await _refuse(refusal, _secured(send))

    return answer


def refused(headers: Headers, port: int) -> str | None:
    """Why a request with these headers is not answered; None if it is.

    >>> refused([(b"host", b"localhost:8765")], 8765) is None
    True
    >>> refused([(b"host", b"attacker.example:8765")], 8765)
    'this server answers to 127.0.0.1:8765 and localhost:8765 alone'
    """
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost")]
    # Browsers leave out the port of the scheme.
    known = hosts if port != 80 else [*hosts, "127.0.0.1", "localhost"]
    if _values(headers, b"host") not in [[host] for host in known]:
        return f"this server answers to {' and '.join(hosts)} alone"
    origins = _values(headers, b"origin")
    if origins and origins not in [[f"http://{host}"] for host in known]:
        return "this server answers its own page alone"
    return None


def _values(headers: Headers, name: bytes) -> list[str]:
    """All values of the header, in lower case."""
    return [value.decode("latin-1").lower() for key, value in headers if key.lower() == name]


def _secured(send: Send) -> Send:
    """Sends what it is given with the headers of every response."""

    async def send_secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*_others(message["headers"]), *SECURITY]}
        await send(message)

    return send_secured


def _others(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    named = {name for name, _ in SECURITY}
    return ((name, value) for name, value in headers if name.lower() not in named)


async def _refuse(reason: str, send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{reason}\n".encode()})
