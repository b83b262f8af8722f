"""The server on this computer: its socket, its page, and its end."""

from __future__ import annotations

import socket
from collections.abc import Callable

from attemper.errors import OptionError
from attemper.exports.extras import library
from attemper.workbench.play.application import application
from attemper.workbench.play.desk import Desk
from attemper.workbench.play.page import play_page

LOOPBACK = "127.0.0.1"
"""The address that this computer alone reaches."""

GRACE = 1
"""So many seconds those who are waiting for an answer are still waited for when the server ends."""


def serve(port: int, started: Callable[[str], None]) -> None:
    """Serve the page on that port of this computer, 0 for any that is free, until it is interrupted.

    `started` is told the page's address once it can be opened. Raises `OptionError` if the extra `play` is
    not installed, or if the port cannot be had.
    """
    uvicorn = library("uvicorn", "play")
    library("starlette", "play")
    with _listening(port) as listener:
        own = listener.getsockname()[1]
        config = uvicorn.Config(
            application(play_page(), own, Desk()),
            loop="asyncio",
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
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            return  # how a server ends


def _listening(port: int) -> socket.socket:
    """A socket on this computer's own address. Raises `OptionError`, naming the port."""
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise OptionError(
            f"port {port} cannot be had ({error.strerror}): give another with --port, "
            "or --port 0 for any that is free"
        ) from None
