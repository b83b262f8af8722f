"""A word that a network gets wrong, by definition: the soft meaning in balls against the language's bits."""

from __future__ import annotations

from fractions import Fraction

from attemper.exact.balls import ball
from attemper.languages.language import Language, accepts_empty, bits, reads_first
from attemper.languages.words import Word, words_of_length
from attemper.networks.layers import Network, Softmax
from attemper.networks.meaning_soft import output_bits

WORDS = 120
"""How many words are tried, the shortest first."""

MIDDLE = Fraction(1, 2)


def wrong_word(network: Network, language: Language) -> Word | None:
    """A short word whose verdict is proved wrong; None says nothing."""
    if network.accepts_empty != accepts_empty(language):
        return ()
    if not all(isinstance(head.weighting, Softmax) for layer in network.layers for head in layer.heads):
        return None
    tried = 0
    for length in range(1, WORDS):
        for word in words_of_length(network.alphabet, length):
            tried += 1
            if tried > WORDS:
                return None
            place = 0 if reads_first(language) else -1
            read_at = 0 if network.reads_first else -1
            try:
                output = output_bits(network, word)[read_at]
            except ZeroDivisionError:  # 1/x of an embedding that is 0 here: nothing is computed at all
                return None
            expected = bits(language, word)[place]
            if (output < ball(MIDDLE)) if expected else (output > ball(MIDDLE)):
                return word
    return None
