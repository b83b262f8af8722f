"""Which modules are not looked through for examples: those that need a library that is not installed."""

from importlib.util import find_spec

NEEDED = {
    "transformers": "src/attemper/exports/hugging_face/*",
    "transformer_lens": "src/attemper/exports/transformer_lens/hooked*",
}
"""A library, and the modules that cannot be imported without it."""

collect_ignore_glob = [modules for library, modules in NEEDED.items() if find_spec(library) is None]
