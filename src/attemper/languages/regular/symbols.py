"""Which symbols an expression names, where nobody says what there are."""

from __future__ import annotations

import re

from attemper.languages.regular.regex import BRACES, SYNTAX

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


def symbols_in(text: str) -> tuple[str, ...] | None:
    """The symbols that an expression names, sorted; None where it also means symbols that it does not name.

    That are `.`, `[^a]`, ranges and complements. None, too, where blanks stand between longer words: these
    may be symbols, or letters that were moved apart.

    >>> symbols_in("(ab|'push')* b"), symbols_in("(a|.)*"), symbols_in("push pop")
    (('a', 'b', 'push'), None, None)
    """
    quoted = [found.group()[1:-1] for found in _QUOTED.finditer(text)]
    bare = _QUOTED.sub("()", text)
    if re.search(r"[.^~-]", bare) or re.search(r"\w\w+\s+\w|\w\s+\w\w", bare):
        return None
    letters = {c for c in BRACES.sub("", bare) if not c.isspace() and c not in SYNTAX}
    return tuple(sorted({*quoted, *letters} - {""}))
