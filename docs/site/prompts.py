"""An extension of griffe, which reads the docstrings for the reference: their examples get fences."""

from __future__ import annotations

from typing import Any

from docs.site.pages import fenced
from griffe import Extension, Object


class Fences(Extension):  # type: ignore[misc]
    """Doctest and `help` want examples as they stand in docstrings; a page wants fences around them."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Take a module, class, function or value as it was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
