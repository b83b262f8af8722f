"""For tests and examples alike: what is not looked through, and that each leaves the precision as it was."""

from collections.abc import Iterator
from importlib.util import find_spec

import flint
import pytest

NEEDED = {
    "transformers": "src/attemper/exports/hugging_face/*",
    "transformer_lens": "src/attemper/exports/transformer_lens/hooked*",
}
"""A library, and the modules that cannot be imported without it."""

collect_ignore_glob = [modules for library, modules in NEEDED.items() if find_spec(library) is None]


@pytest.fixture(autouse=True)
def _precision_is_left_as_it_was() -> Iterator[None]:
    """It is one number for the whole process: who changes it must fail, not who comes after."""
    before = flint.ctx.prec
    yield
    after, flint.ctx.prec = flint.ctx.prec, before
    assert after == before
