"""A network as one HTML file that runs it: no server, no library, and no request to anywhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from attemper.exports.page.contents import json_of, page_contents
from attemper.exports.subject import Subject

SCRIPTS = ("interpreter.js", "reading.js", "elements.js", "heat.js", "view.js", "start.js")
"""The page's script, in this order."""


def page_text(subject: Subject, word: Sequence[str] = (), title: str | None = None) -> str:
    """One HTML file that runs the network on any word, in float64; it opens with the word given.

    The title is the text that the network was compiled from, unless another is given. Raises
    `UnsupportedError` for a network that is too large for a page, that has hard attention or a registered
    predicate, and `WordError` for a word over another alphabet.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> text = page_text(Subject(model.network, model.source), ("b", "a"))
    >>> "O a" in text, "<script src" in text
    (True, False)
    """
    contents = page_contents(subject, word, title)
    return document(json_of(contents), f"{contents['title']} \u00b7 attemper")


def document(
    network: str = "null",
    title: str = "attemper",
    *,
    body: str = "",
    script: str = "",
    connect: str = "'none'",
) -> str:
    """The page around a network's JSON: null for a page that is handed one later, by `attemper.show` in it.

    `body` is more markup, above the word, and `script` more JavaScript, behind the page's own; `connect` says
    where they may connect to, as a Content-Security-Policy does. Neither is escaped; the title is.
    """
    style, code = _part("style.css"), "\n".join([*map(_part, SCRIPTS), script])
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(code)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            f"connect-src {connect}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return Template(_part("page.html")).substitute(
        policy=policy, title=escape(title), style=style, body=body, network=network, script=code
    )


def _part(name: str) -> str:
    """The text of one of the files beside this one."""
    return files("attemper.exports.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a Content-Security-Policy calls that very text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
