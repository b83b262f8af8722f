"""Masked unique-hard attention and star-free languages, as Yang et al. cite it (section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.errors import UnsupportedError
from attemper.theories.depth.ask import depth
from attemper.workbench.classifying import classify
from attemper.workbench.papers.statements import Observed, Paper, Statement, equal


def star_free() -> Iterator[Observed]:
    """(ab)* and the words with an a have a least number of layers; PARITY has none."""
    for language, least in (("regex:(ab)*", 2), ("formula:O a", 1)):
        alphabet = None if language.startswith("regex") else "ab"
        yield equal(
            f"{language}: class",
            str(classify(language, alphabet, at="last" if alphabet else None).record["class"]),
            "star-free",
        )
        found = depth(language, alphabet)
        yield equal(f"{language}: least depth", f"{found.lower} to {found.upper}", f"{least} to {least}")
    try:
        said = str(depth("zoo:parity-even"))
    except UnsupportedError as error:
        said = str(error)
    yield equal("PARITY: no number of layers is enough", said.startswith("no number of layers"), True)


STATEMENTS = (
    Statement(
        *(
            49,
            Paper.YANG,
            ("section-2.1", "star-free"),
            "Masked unique-hard transformers recognise the star-free languages",
        ),
        "`classify` says what is star-free; `depth` how many layers it takes, with two words that fewer "
        "do not "
        "tell apart.",
        "",
        'attemper depth "regex:(ab)*"',
        star_free,
    ),
)
