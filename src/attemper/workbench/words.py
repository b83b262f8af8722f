"""Words in the forms in which users hold them: texts, lists, arrays and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from attemper.errors import WordError
from attemper.languages.words import MOST_SHOWN, Alphabet, Word, check_word, parse_word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    WordLike = str | Iterable[str] | Iterable[int] | NDArray[np.integer[Any]] | Tensor
    """A text, the symbols of a word, or their numbers in the alphabet, counted from 0."""

NO_LISTS = (str, bytes, bytearray, Mapping, AbstractSet)
"""What can be gone through, but is not a list of words or symbols."""


def word_of(given: WordLike, alphabet: Alphabet) -> Word:
    """The word as symbols. Raises `WordError` for anything that is no word over the alphabet.

    A list, array or tensor has the word's symbols, or their numbers in the alphabet, as tokens have them.
    Numbers are refused where the alphabet has digits that stand at other places than their own, as one
    could be taken for the other.

    >>> ab = Alphabet(("a", "b"))
    >>> word_of("abb", ab) == word_of(["a", "b", "b"], ab) == word_of([0, 1, 1], ab)
    True
    """
    if isinstance(given, str):
        return parse_word(given, alphabet)
    items = _items(given, alphabet)
    if not items or all(isinstance(item, str) for item in items):
        return check_word(tuple(map(str, items)), alphabet)
    return tuple(_symbol(item, place, alphabet) for place, item in enumerate(items, start=1))


def words_of(given: Iterable[WordLike], alphabet: Alphabet) -> list[Word]:
    """Several words. Raises `WordError`, also for one text, which is not a list of words.

    >>> words_of(["ab", "", [1]], Alphabet(("a", "b")))
    [('a', 'b'), (), ('b',)]
    """
    if isinstance(given, NO_LISTS) or not isinstance(given, Iterable):
        raise WordError(
            f"several words are needed, not {_shown(given)}: for example ['{_example(alphabet)}']"
        )
    return [word_of(word, alphabet) for word in given]


def _items(given: Any, alphabet: Alphabet) -> list[Any]:
    """The entries of a list, or of an array or tensor with one dimension."""
    dimensions = getattr(given, "ndim", 1)
    if dimensions != 1:
        raise WordError(f"a word has one dimension, not {dimensions} (shape {list(given.shape)})")
    if isinstance(given, NO_LISTS) or not isinstance(given, Iterable):
        raise WordError(
            f"{_shown(given)} is not a word: for example '{_example(alphabet)}', or a list of symbols"
        )
    return list(given.tolist()) if hasattr(given, "tolist") else [_plain(item) for item in given]


def _plain(item: Any) -> Any:
    """An entry of an array or tensor as Python's own text or number."""
    return item.tolist() if hasattr(item, "tolist") else item


def _symbol(item: Any, place: int, alphabet: Alphabet) -> str:
    """The symbol with that number."""
    symbols = alphabet.symbols
    if type(item) is not int:
        raise WordError(f"{_shown(item)} at position {place} is neither a symbol nor a symbol's number")
    elsewhere = [s for number, s in enumerate(symbols) if s.isdecimal() and s != str(number)]
    if elsewhere:
        raise WordError(
            f"the number {item} at position {place} can be read in two ways, since the alphabet has the "
            f"symbol '{elsewhere[0]}' as its number {symbols.index(elsewhere[0])}: write symbols, as in "
            f"['{symbols[0]}']"
        )
    if not 0 <= item < len(symbols):
        raise WordError(
            f"the number {item} at position {place} is no symbol's: "
            f"the alphabet has the numbers 0 to {len(symbols) - 1}"
        )
    return symbols[item]


def _example(alphabet: Alphabet) -> str:
    return ("" if alphabet.is_single_character else " ").join(alphabet.symbols[:2])


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= MOST_SHOWN else f"a {type(given).__name__}"
