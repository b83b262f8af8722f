"""Examples in docstrings stand at prompts without a fence, as doctest and `help` want them; pages want fences."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*\n(?:.*\S.*\n?)*", re.MULTILINE)


def fenced(text: str) -> str:
    """The text with a fence around every example, which ends at an empty line."""
    return EXAMPLE.sub(lambda found: f"```python\n{found[0].rstrip()}\n```\n", text)


class Fences(Extension):  # type: ignore[misc]
    """An extension of griffe, which reads the docstrings."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put fences into the docstring of a module, class, function or value."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
