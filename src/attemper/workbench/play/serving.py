"""The server on this computer: its socket, its page, and its end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attemper.errors import OptionError
from attemper.exports.extras import library
from attemper.workbench.play.application import application
from attemper.workbench.play.desk import Desk
from attemper.workbench.play.page import play_page
from attemper.workbench.play.processes import AnswerLimits

LOOPBACK = "127.0.0.1"
"""The address that this computer alone reaches."""

GRACE, TICK = 2, 0.1
"""Seconds: how long an ending server tells that to those who wait, and how often its end is looked for."""


def serve(port: int, limits: AnswerLimits, started: Callable[[str], None]) -> None:
    """Serve the page on that port of this computer, 0 for any that is free, until it is interrupted.

    `started` is told the page's address once it can be opened. Raises `OptionError` if the extra `play` is
    not installed, or if the port cannot be had.
    """
    uvicorn = library("uvicorn", "play")
    library("starlette", "play")
    with _listening(port) as listener:
        own, desk = listener.getsockname()[1], Desk(limits)
        config = uvicorn.Config(
            application(play_page(), own, desk),
            http="h11",
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
        )
        started(f"http://{LOOPBACK}:{own}/")
        # The server ends by raising the interrupt again that it was ended by.
        with suppress(KeyboardInterrupt):
            asyncio.run(_served(uvicorn.Server(config), listener, desk))


async def _served(server: Any, listener: socket.socket, desk: Desk) -> None:
    """Serve until the server is to exit; then close the desk, as the server waits for all answers."""
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not (server.should_exit or serving.done()):
        await asyncio.sleep(TICK)
    desk.close()
    await serving


def _listening(port: int) -> socket.socket:
    """A socket on this computer's own address. Raises `OptionError`, naming the port."""
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise OptionError(
            f"port={port} cannot be had ({error.strerror}): give another, or port=0 for any that is free",
            options=("port",),
        ) from None
