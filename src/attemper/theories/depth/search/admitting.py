"""Whether any number of layers is enough: whether words whose length the period divides permute states."""

from __future__ import annotations

from math import lcm

from attemper.languages.regular.classes import Classification, StrongComponent, classified, components
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.groups import order_of
from attemper.languages.regular.image_sets import LIMIT, image_sets


def beyond_all_layers(dfa: Dfa, period: int, limit: int = LIMIT) -> Classification | None:
    """The class, with its witness, of a language that no number of layers is enough for; None of others.

    With positions modulo m (all n >= 1, any prefix) a power y^e of a word whose length m divides is of one
    class with y^(e + 1) once e is large, for each k; so in the minimal automaton such words permute no
    states. Where they permute none the language is one of order and positions modulo m (Straubing, Finite
    Automata, Formal Logic, and Circuit Complexity), and some k is enough.
    Raises `UnsupportedError` beyond the caps of `classify`, of which `limit` is on image sets.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> pairs = parse_regex("(aa)*", "a")
    >>> beyond_all_layers(pairs, 1).kind.value, beyond_all_layers(pairs, 2)
    ('quasi-aperiodic', None)
    """
    sets = image_sets(dfa, limit)
    parts = components(dfa, sets)
    if all(_is_known(part, period) for part in parts):
        return None
    return classified(dfa, sets, parts)


def _is_known(part: StrongComponent, period: int) -> bool:
    """Whether words that lead back, of lengths that the period divides, permute nothing.

    Such a word of length l acts as h^(l/d); those of all large lengths that d divides occur.
    """
    if not part.generators:
        return True
    if part.cycle is None:
        return False
    h, d = part.cycle
    return lcm(period, d) // d % order_of(h) == 0
