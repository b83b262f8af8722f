"""Groups of bits that exclude each other, as they are guessed from words that are tried."""

from __future__ import annotations

from attemper.attention_program.parse import parse_program
from attemper.reading.exclusive import RandomWords


def groups(text: str, bits: list[int]) -> list[list[int]]:
    program = parse_program(text + "\noutput s0")
    return RandomWords(len(program.alphabet.symbols)).groups(program, bits)


def test_runs_are_as_few_as_can_be() -> None:
    text = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = previous s0
s3 = previous s1"""
    assert groups(text, [0, 1, 2, 3]) == [[0, 1], [2, 3]]
    assert groups(text, [0, 2, 1, 3]) == [[0], [2], [1], [3]]
    assert groups(text, []) == []


def test_a_bit_at_an_end_goes_where_a_run_is_whole() -> None:
    """The first bit excludes the second, too; but the second and the third are all cases."""
    text = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = previous s0
s2 = and s0 s1
s3 = letter ["b"]"""
    assert groups(text, [2, 3, 0]) == [[2], [3, 0]]
    assert groups(text, [3, 0, 2]) == [[3, 0], [2]]


def test_bits_that_random_words_hardly_ever_have_are_seen() -> None:
    """One of 3^20 words of twenty letters; but each letter more is something new."""
    lines = ['alphabet ["a", "b", "c"]', *(f's{k} = letter ["{letter}"]' for k, letter in enumerate("abc"))]
    last = 0
    for number in range(1, 20):
        ref = 3 + 2 * (number - 1)
        lines += [f"s{ref} = previous s{last}", f"s{ref + 1} = and s{ref} s{number * number % 3}"]
        last = ref + 1
    program = "\n".join(lines)
    assert groups(program, [19 * 19 % 3, last]) == [[19 * 19 % 3], [last]]
    assert groups(program, [2, last]) == [[2, last]]
