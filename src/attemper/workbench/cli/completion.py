"""Completion by the shell: which command the line is about while it is being typed."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping

from attemper.workbench.spelling import Kind

_LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where bash and the other shells say what stands on the line."""

_KIND = "_ATTEMPER_KIND"
"""Where `take_kind` puts the kind of the language that is being typed."""


def take_kind(environment: MutableMapping[str, str]) -> None:
    r"""Take `zoo` and `:` off the line of bash, which breaks words at colons and completes what is behind.

    >>> line = {"COMP_WORDS": "attemper\ncompile\nzoo\n:\npar", "COMP_CWORD": "4"}
    >>> take_kind(line)
    >>> line["COMP_WORDS"].split(), line["COMP_CWORD"], line["_ATTEMPER_KIND"]
    (['attemper', 'compile', 'par'], '2', 'zoo')
    """
    words, place = environment.get("COMP_WORDS", "").split("\n"), int(environment.get("COMP_CWORD", 0))
    colon = place if words[place : place + 1] == [":"] else place - 1
    if colon < 1 or words[colon : colon + 1] != [":"] or words[colon - 1] not in set(Kind):
        return
    environment[_KIND] = words[colon - 1]
    environment["COMP_WORDS"] = "\n".join([*words[: colon - 1], *words[colon + 1 :]])
    environment["COMP_CWORD"] = str(colon - 1)


def languages_begun(incomplete: str) -> list[str]:
    """What a shell completes a language's beginning to: its kind, with the colon, or a name of the zoo.

    Files, too, are the shell's to complete: nothing is offered for them.

    >>> languages_begun("f"), languages_begun("")[:2], languages_begun("zoo:date"), languages_begun("dfa:x")
    (['formula:'], ['formula:', 'regex:'], ['zoo:date'], [])
    """
    taken = os.environ.get(_KIND, "")
    before, colon, begun = ("", taken, incomplete) if taken else incomplete.rpartition(":")
    if not colon:
        return [f"{kind}:" for kind in Kind if str(kind).startswith(incomplete)]
    if (taken or before) != Kind.ZOO:
        return []
    from attemper.languages.named.zoo import everything  # only where a name is typed

    names = (entry.name for entry in everything() if entry.name.startswith(begun))
    return [name if taken else f"{Kind.ZOO}:{name}" for name in names]


def being_typed(environment: Mapping[str, str]) -> list[str]:
    """The words after the command on the line that a shell asks about, without the last.

    >>> being_typed({"COMP_WORDS": "attemper run --dt"})
    ['run']
    >>> being_typed({"COMP_WORDS": "attemper ru"})
    []
    """
    line = next((environment[name] for name in _LINES if name in environment), "")
    # The last word may be unfinished: `che` is no command yet. After a blank there is an empty one.
    return f"{line}|".split()[1:-1]
