"""A network as one HTML file that runs it: no server, no library, and no request to anywhere."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from attemper.exports.page.contents import json_of, page_contents
from attemper.exports.page.forms import Data
from attemper.exports.subject import Exported

SCRIPTS = (
    "interpreter.js",
    "reading.js",
    "elements.js",
    "heat.js",
    "view.js",
    "stream.js",
    "machine.js",
    "start.js",
)
"""The page's script, in this order: one function, so that no other script on the page meets its names."""


def page_text(
    subject: Exported,
    word: Sequence[str] = (),
    title: str | None = None,
    *,
    picture: str | None = None,
    above: str = "",
    connect: bool = False,
) -> str:
    """One HTML file that runs the network on any word, in float64; it opens with the word given.

    The title is the text that the network was compiled from, unless another is given. `picture` is an SVG
    text that is shown below the network. `above` is markup that is put before it as it stands, with
    scripts and styles of its own; with `connect` these may ask the server that the page came from, else
    nobody.

    Raises `UnsupportedError` for a network that is too large for a page, that has hard attention or a
    registered predicate, and `WordError` for a word over another alphabet.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> text = page_text(Exported(model.network, model.source), ("b", "a"))
    >>> "O a" in text, "<script src" in text
    (True, False)
    """
    return document(page_contents(subject, word, title, picture), above=above, connect=connect)


def document(contents: Mapping[str, Data] | None, *, above: str = "", connect: bool = False) -> str:
    """The page around what `page_contents` says of a network.

    Without contents the page waits for a script in `above` to call `attemper.show(contents)`.
    """
    name = "attemper" if contents is None else f"{contents['title']} \u00b7 attemper"
    # The policy names every script and style by its hash, so that it is written when all of them are.
    text = Template(_part("page.html")).substitute(
        policy="$policy",
        title=escape(name),
        style=_part("style.css"),
        above=above,
        network="null" if contents is None else json_of(contents),
        script="\n".join(["(() => {", '"use strict";', *map(_part, SCRIPTS), "})();"]),
    )
    return text.replace("$policy", _policy(text, connect=connect), 1)


def _policy(text: str, *, connect: bool) -> str:
    """A Content-Security-Policy: the inline scripts and styles of this text, and nothing from anywhere."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(_hashes(text, 'script'))}",
            f"style-src {' '.join(_hashes(text, 'style'))}",
            "img-src data:",
            f"connect-src {_OWN_SERVER if connect else _NOBODY}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


_OWN_SERVER, _NOBODY = "'self'", "'none'"


def _hashes(text: str, element: str) -> list[str]:
    """The names that a policy has for the elements without attributes of that kind."""
    found = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
    return [f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'" for own in dict.fromkeys(found)]


def _part(name: str) -> str:
    """The text of one of the files beside this one."""
    return files("attemper.exports.page").joinpath(name).read_text(encoding="utf-8")
