"""The process that compiles for one question: it limits itself, then loads the compiler.

It reads the question from its input, one line of JSON, and writes its answer as a line: the network, or what
is wrong with the text. A network is compiled in a moment and certified in several, so that its line comes
twice, the second time with the certificate; whoever cannot wait takes the first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO

from attemper.checker.child import Failure, end_with_the_parent, limit_memory

if TYPE_CHECKING:
    from attemper.certificates.claims import Certificate
    from attemper.errors import AttemperError
    from attemper.workbench.model import Model


def main() -> None:
    """Answer the one question of the standard input, within as many megabytes as the first argument says."""
    # Who interrupts the terminal interrupts the parent, and the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(int(sys.argv[1]))
    question = sys.stdin.buffer.readline()
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        answer(question, answers)
    except MemoryError:
        os._exit(Failure.MEMORY)


def answer(question: bytes, answers: BinaryIO) -> None:
    """Write a line for what is compiled, and one more for what is proved of it; or one line with an error."""
    from attemper.errors import AttemperError, InternalError, UnprovedError
    from attemper.workbench.play.question import model_of, read_question

    try:
        model = model_of(read_question(question))
        said = _contents(model, None)
    except InternalError:
        raise
    except AttemperError as error:
        _write(answers, {"error": _message(error)})
        return
    _write(answers, said)
    try:
        _write(answers, _contents(model, model.certify()))
    except UnprovedError as error:
        _write(answers, {**said, "notes": [f"not certified, it may be wrong: {error}"]})


def _message(error: AttemperError) -> str:
    """The error as it is worded, with a remedy that the page has."""
    from attemper.errors import AmbiguousReadingError

    match error:
        case AmbiguousReadingError():
            return "\n".join([str(error).partition("\n")[0], *_READINGS])
        case _:
            return str(error)


_READINGS = (
    "  first position   accepts a word if the formula holds at its first symbol, and sees the whole word",
    "  last position    accepts a word if the formula holds at its last symbol: nothing lies after that",
)
"""The choices under 'verdict read' on the page, where the command has options."""


def _contents(model: Model, certificate: Certificate | None) -> dict[str, object]:
    """What the page shows of the network, under the name `contents`."""
    from attemper.exports.page.contents import json_of, page_contents
    from attemper.exports.pictures.source import picture_of
    from attemper.exports.subject import Exported

    picture, note = picture_of(model.language.definition)
    word = _first_word(model)
    subject = Exported(model.network, model.source, certificate)
    title = "attention program" if model.source.kind == "program" else None
    contents = page_contents(subject, word, title, picture)
    json_of(contents)  # refuses what is too large
    return {"contents": contents, "notes": [note] if note else []}


def _first_word(model: Model) -> tuple[str, ...]:
    """A word to begin with: the alphabet's first symbols, again and again."""
    symbols = model.alphabet.symbols
    return tuple(symbols[place % len(symbols)] for place in range(6))


def _write(answers: BinaryIO, said: dict[str, object]) -> None:
    answers.write(json.dumps(said, separators=(",", ":"), allow_nan=False).encode() + b"\n")
    answers.flush()
