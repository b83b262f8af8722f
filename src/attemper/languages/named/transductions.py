"""What is put out at every position: looking up, sorting, counting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from attemper.languages.named import references, retrieval
from attemper.languages.named.entry import WITH_LENGTH, LanguageClass, Rasp, Transduction
from attemper.languages.words import Word

NOTHING = "none"
"""What is put out where there is no symbol to put out."""

# Looking up ------------------------------------------------------------------------------------------------


def k_hop_symbol(hops: int) -> Transduction:
    """k-hop induction heads at every position; one hop is the induction head itself."""

    def outputs(word: Word) -> tuple[str, ...]:
        places = (retrieval.led_to(word, start, hops) for start in range(len(word)))
        return tuple(NOTHING if place is None else word[place] for place in places)

    return Transduction(
        f"k-hop-{hops}-symbol",
        "the symbol that followed the previous occurrence of the one here, or none"
        if hops == 1
        else f"the symbol after {hops} hops, each to what followed the previous occurrence, or none",
        LanguageClass.STAR_FREE,
        retrieval.SYMBOLS,
        (*retrieval.SYMBOLS, NOTHING),
        Rasp("\n".join(["alphabet a b c", *retrieval.hop_lines(hops), f"output hop{hops}", ""])),
        outputs,
        retrieval.chains,
        hops + 1,
        (references.SANFORD_2024,) if hops > 1 else (references.OLSSON_2022, references.SANFORD_2024),
    )


def _recalled(word: Word) -> tuple[str, ...]:
    """At a key, the value that followed it last; a key's value is what follows it directly."""
    bound: dict[str, str] = {}
    found = []
    for before, here in pairwise(("", *word)):
        if before in retrieval.KEYS and here in retrieval.VALUES:
            bound[before] = here
        found.append(bound.get(here, NOTHING))
    return tuple(found)


MQAR_SYMBOL_PROGRAM = """\
alphabet k l x y
of_k  = in 'x' 'y' & previous in 'k'
of_l  = in 'x' 'y' & previous in 'l'
value = in 'x' ? 'x' : 'y'
output rightmost[j <= i : (in 'k')(i) & of_k(j) | (in 'l')(i) & of_l(j)] value else none
"""

MQAR_SYMBOL = Transduction(
    "mqar-symbol",
    "at a key (k, l) the value (x, y) that last followed it, or none",
    LanguageClass.STAR_FREE,
    (*retrieval.KEYS, *retrieval.VALUES),
    (*retrieval.VALUES, NOTHING),
    Rasp(MQAR_SYMBOL_PROGRAM),
    _recalled,
    retrieval.bindings,
    2,
    (references.ARORA_2023,),
)


def _one_symbol(_: Random, length: int) -> Iterator[Word]:
    """The first position, which has none before; all the same; one that differs, first or last."""
    for symbol in retrieval.SYMBOLS:
        yield (symbol,)
    yield ("a",) * length
    yield (*"a" * (length - 1), "c")
    yield ("b", *"c" * (length - 1))


COPY_PREVIOUS_SYMBOL = Transduction(
    "copy-previous-symbol",
    "the symbol before the one here, or none at the first position",
    LanguageClass.STAR_FREE,
    retrieval.SYMBOLS,
    (*retrieval.SYMBOLS, NOTHING),
    Rasp("alphabet a b c\noutput previous symbol else none\n"),
    lambda word: (NOTHING, *word)[: len(word)],
    _one_symbol,
    1,
    (references.WEISS_2021, references.SVETE_COTTERELL_2024),
)

# Counting --------------------------------------------------------------------------------------------------


def _most_frequent(word: Word) -> tuple[str, ...]:
    """At each position, of the symbols so far; `max` gives the first of those that are equally frequent."""
    return tuple(max(retrieval.SYMBOLS, key=word[:size].count) for size in range(1, len(word) + 1))


def _ties(_: Random, length: int) -> Iterator[Word]:
    """Two or three symbols equally often, in blocks or by turns; one of them once more than the others."""
    half, third = length // 2, length // 3
    yield ("b",) * half + ("a",) * half
    yield ("c",) * third + ("b",) * third + ("a",) * third
    yield tuple("cb" * half)
    yield tuple("cba" * third)
    yield (*"bc" * ((length - 1) // 2), "c")[:length]


MOST_FREQUENT_SYMBOL_PROGRAM = """\
alphabet a b c
as = count[j <= i] in 'a'
bs = count[j <= i] in 'b'
cs = count[j <= i] in 'c'
output as >= bs & as >= cs ? a : bs >= cs ? b : c
"""

MOST_FREQUENT_SYMBOL = Transduction(
    "most-frequent-symbol",
    "the most frequent symbol up to here; of several the first in the alphabet",
    LanguageClass.COUNTER,
    retrieval.SYMBOLS,
    retrieval.SYMBOLS,
    Rasp(MOST_FREQUENT_SYMBOL_PROGRAM),
    _most_frequent,
    _ties,
    2,
    (references.WEISS_2021, references.LINDNER_2023),
)


def _orders(draw: Random, length: int) -> Iterator[Word]:
    """In order already; from the last symbol to the first; all the same; a symbol that is not there."""
    word = sorted(draw.choices(retrieval.SYMBOLS, k=length))
    yield tuple(word)
    yield tuple(reversed(word))
    for symbol in retrieval.SYMBOLS:
        yield (symbol,) * length
    yield tuple(draw.choices("ac", k=length))


SORT_PROGRAM = """\
alphabet a b c
as = count[all] in 'a'
bs = count[all] in 'b'
output pos <= as ? a : pos <= as + bs ? b : c
"""

SORT = Transduction(
    "sort",
    "the symbols of the word in the order of the alphabet",
    LanguageClass.COUNTER,
    retrieval.SYMBOLS,
    retrieval.SYMBOLS,
    Rasp(SORT_PROGRAM),
    lambda word: tuple(sorted(word)),
    _orders,
    2,
    (references.WEISS_2021, references.LINDNER_2023),
    regimes=WITH_LENGTH,
)

REVERSE = Transduction(
    "reverse",
    "the symbols of the word from the last to the first",
    LanguageClass.CONTEXT_FREE,
    retrieval.SYMBOLS,
    retrieval.SYMBOLS,
    Rasp("alphabet a b c\noutput nearest rightmost[all : pos(j) ~ len + 1 - pos(i)] symbol\n"),
    lambda word: word[::-1],
    _orders,
    1,
    (references.WEISS_2021, references.LINDNER_2023),
    regimes=WITH_LENGTH,
)
