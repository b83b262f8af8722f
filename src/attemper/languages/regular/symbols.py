"""Which symbols an expression names, where nobody says what there are."""

from __future__ import annotations

import re

from attemper.languages.regular.regex import BRACES, SYNTAX

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


def symbols_in(text: str) -> tuple[str, ...] | None:
    """The symbols that an expression names, sorted; None where it also means symbols that it does not name.

    That are `.`, `[^a]`, ranges and complements. None, too, where blanks stand between longer words, which
    may be symbols or letters that were moved apart, and where a character is neither letter nor digit and not
    quoted: it may be an operator of other expressions, such as `$` or a backslash.

    >>> symbols_in("(ab|'push')* b"), symbols_in("(a|.)*"), symbols_in("push pop"), symbols_in("(ab)*$")
    (('a', 'b', 'push'), None, None, None)
    """
    quoted = [found.group()[1:-1] for found in _QUOTED.finditer(text)]
    bare = _QUOTED.sub("()", text)
    if re.search(r"[.^~-]", bare) or re.search(r"\w\w+\s+\w|\w\s+\w\w", bare):
        return None
    letters = {c for c in BRACES.sub("", bare) if not c.isspace() and c not in SYNTAX}
    if not all(map(str.isalnum, letters)):
        return None
    return tuple(sorted({*quoted, *letters} - {""}))
