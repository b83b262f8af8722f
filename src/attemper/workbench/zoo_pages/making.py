"""An entry of the zoo as a page: compiled, certified, and shown with the picture of its automaton."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import assert_never, final

from attemper.errors import UnprovedError, UnsupportedError
from attemper.exports.page.writing import page_text
from attemper.exports.pictures.source import picture_of
from attemper.exports.subject import Exported
from attemper.languages.named.entry import Automaton, Entry, Regex, Transduction, ZooEntry
from attemper.languages.words import Word
from attemper.workbench.model import Model
from attemper.workbench.zoo import compile_entry
from attemper.workbench.zoo_sources import language_of

INDEX = "index.html"
"""The file that leads to all pages."""

LONGEST_WORD, DRAWN = 16, 5
"""A page opens with a word of at most so many symbols: the longest of so many that are drawn."""

KERNEL = "numerator-first"
"""The class of kernels whose horizons are shown: pages compute in its way."""


@final
@dataclass(frozen=True)
class ZooPage:
    """What is shown of an entry: its network's size and horizons, and the page, or why there is none.

    `horizons` are lengths by float format, and none without a certificate; `html` is empty where `refusal`
    says that the entry was not compiled, or how large a network is too large for a page.
    """

    entry: ZooEntry
    layers: int | None = None
    heads: int | None = None
    horizons: dict[str, int] = field(default_factory=dict)
    has_picture: bool = False
    html: str = ""
    refusal: str = ""

    @property
    def file(self) -> str:
        """The name of the page's file."""
        return f"{self.entry.name}.html"


def zoo_page(entry: ZooEntry) -> ZooPage:
    """The page of an entry, from its shortest source.

    >>> from attemper.languages.named.zoo import named
    >>> page = zoo_page(named("majority"))
    >>> page.layers, page.heads, page.horizons["float32"], page.html[:15]
    (2, 2, 2097151, '<!doctype html>')
    """
    try:
        model = compile_entry(entry, entry.source)
    except UnsupportedError as refusal:
        return ZooPage(entry, refusal=str(refusal))
    subject = _certified(model)
    picture = _picture(entry)
    layers = model.network.layers
    known = {form: kernels[KERNEL] for form, kernels in subject.horizons().items() if KERNEL in kernels}
    found = ZooPage(entry, len(layers), sum(len(layer.heads) for layer in layers), known, picture is not None)
    title = f"{entry.name}: {entry.definition}"
    try:
        html = page_text(subject, _word(entry), title, picture=picture, above=_above(entry))
    except UnsupportedError as refusal:
        return replace(found, refusal=str(refusal))
    return replace(found, html=html)


def _certified(model: Model) -> Exported:
    """The network with its certificate, if there is a proof."""
    try:
        return Exported(model.network, model.source, model.certify())
    except UnprovedError:
        return Exported(model.network, model.source)


def _picture(entry: ZooEntry) -> str | None:
    """The picture of the entry's automaton, where one of its sources is one and it can be read."""
    for source in entry.sources:
        if isinstance(source, Regex | Automaton):
            return picture_of(language_of(entry, source).definition)[0]
    return None


def _word(entry: ZooEntry) -> Word:
    """A word of the language, or any that the entry puts something out for."""
    match entry:
        case Entry():
            words = entry.members(count=DRAWN, longest=LONGEST_WORD)
        case Transduction():
            words = entry.words(count=DRAWN, longest=LONGEST_WORD)
        case _:
            assert_never(entry)
    return max(words, key=len, default=())


def _above(entry: ZooEntry) -> str:
    """What stands over the network: the way back, the class, and where the language comes from."""
    references = "".join(f"<br>{escape(str(reference))}" for reference in entry.references)
    return (
        f'<p class="hint"><a href="{INDEX}">the zoo</a> &middot; {escape(entry.kind)} &middot; '
        f"regimes: {escape(', '.join(entry.regimes))}{references}</p>\n"
    )
