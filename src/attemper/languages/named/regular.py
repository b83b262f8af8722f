"""Regular languages: the first symbol, repetitions, remainders of counts, Tomita's seven, a date."""

from __future__ import annotations

from itertools import groupby, pairwise
from random import Random

from attemper.languages.named import references
from attemper.languages.named.entry import Entry, FormulaText, LanguageClass, Rasp, Regex, explored
from attemper.languages.named.spelling import DrawnText, decides, draws, edges

BITS = ("0", "1")

# Words ---------------------------------------------------------------------------------------------------


def ones(_: Random, length: int) -> str:
    return "1" * length


def zeros(_: Random, length: int) -> str:
    return "0" * length


def ones_then_a_zero(_: Random, length: int) -> str:
    return "1" * (length - 1) + "0"


def a_zero_then_ones(_: Random, length: int) -> str:
    return "0" + "1" * (length - 1)


def bits(draw: Random, length: int) -> str:
    return "".join(draw.choices("01", k=length))


def with_ones(draw: Random, length: int, count: int) -> str:
    """So many 1s, anywhere among 0s."""
    symbols = ["1"] * count + ["0"] * (length - count)
    draw.shuffle(symbols)
    return "".join(symbols)


def runs(word: str) -> list[tuple[str, int]]:
    """Each run of one symbol, with its length."""
    return [(symbol, len(list(run))) for symbol, run in groupby(word)]


# Local and other star-free languages -----------------------------------------------------------------------

FIRST = Entry(
    "first",
    "words that begin with 1",
    LanguageClass.STAR_FREE,
    BITS,
    FormulaText("O (first & '1')"),
    decides(lambda word: word[:1] == "1"),
    draws(lambda draw, length: "1" + bits(draw, length - 1)),
    edges(ones, a_zero_then_ones, lambda draw, length: "1" + "0" * (length - 1)),
    1,
    (references.CHIANG_CHOLAK_2022, references.DELETANG_2023),
    also=(Regex("1.*"),),
)


def _repeats(word: str, unit: str) -> bool:
    return word == unit * (len(word) // len(unit)) and len(word) % len(unit) == 0


AB_STAR = Entry(
    "ab-star",
    "(ab)*: pairs of an a and a b, or no symbol at all",
    LanguageClass.STAR_FREE,
    ("a", "b"),
    FormulaText("b & H ((a -> first | Y b) & (b -> Y a))"),
    decides(lambda word: _repeats(word, "ab")),
    draws(lambda _, length: "ab" * (length // 2)),
    edges(
        lambda _, length: ("ab" * length)[: length - 1 + length % 2],
        lambda _, length: ("ba" * length)[: length - length % 2],
        lambda _, length: "ab" * (length // 2 - 1) + "aa",
    ),
    2,
    (references.BHATTAMISHRA_2020, references.YANG_2024),
    also=(Regex("(ab)*"),),
)


def _date(*_: object) -> str:
    return "dddd-dd-dd"


DATE = Entry(
    "date",
    "the one word dddd-dd-dd, a date as digits d and hyphens",
    LanguageClass.STAR_FREE,
    ("d", "-"),
    Regex("d{4} '-' d{2} '-' d{2}"),
    decides(lambda word: word == "dddd-dd-dd"),
    draws(_date),
    edges(_date, lambda *_: "dddd-dd-d", lambda *_: "dddd-dd-ddd", lambda *_: "dd-dd-dddd"),
    1,
    (),
)

# Remainders of counts --------------------------------------------------------------------------------------


def _parity_word(remainder: int) -> DrawnText:
    """Draws a word with an even (0) or odd (1) number of 1s."""

    def drawn(draw: Random, length: int) -> str:
        return with_ones(draw, length, draw.randrange(remainder, length + 1, 2)) if length else ""

    return drawn


PARITY_EVEN = Entry(
    "parity-even",
    "words with an even number of 1s",
    LanguageClass.SOLVABLE,
    BITS,
    FormulaText("#<['1'] % 2 = 0"),
    decides(lambda word: word.count("1") % 2 == 0),
    draws(_parity_word(0)),
    edges(ones, ones_then_a_zero, a_zero_then_ones, zeros),
    2,
    (references.HAHN_2020, references.BHATTAMISHRA_2020),
    also=(Regex("0*(10*10*)*"), FormulaText("O (#<[Y '1'] = #>['1'])")),
    polarity="even, as in Hahn 2020; 'parity-odd' has the other words",
)

PARITY_ODD = Entry(
    "parity-odd",
    "words with an odd number of 1s",
    LanguageClass.SOLVABLE,
    BITS,
    FormulaText("#<['1'] % 2 = 1"),
    decides(lambda word: word.count("1") % 2 == 1),
    draws(_parity_word(1)),
    edges(ones, ones_then_a_zero, a_zero_then_ones, zeros),
    2,
    (references.CHIANG_CHOLAK_2022, references.DELETANG_2023),
    also=(
        Regex("0*1(0|10*1)*"),
        FormulaText("O (odd(pos) & pos = #['1'])"),
        FormulaText("!O (#<[Y '1'] = #>['1'])"),
    ),
    polarity="odd; 'parity-even' has the other words, and is what 'parity' alone means",
)


def modulo(divisor: int) -> Entry:
    """The number of 1s is divisible."""

    def member(draw: Random, length: int) -> str:
        return with_ones(draw, length, divisor * draw.randint(0, length // divisor))

    return Entry(
        f"mod-{divisor}",
        f"words in which the number of 1s is divisible by {divisor}",
        LanguageClass.SOLVABLE,
        BITS,
        FormulaText(f"#<['1'] % {divisor} = 0"),
        decides(lambda word: word.count("1") % divisor == 0),
        draws(member),
        edges(ones, ones_then_a_zero, a_zero_then_ones, zeros),
        2,
        (references.BHATTAMISHRA_2020, references.DELETANG_2023),
        also=(explored(BITS, 0, lambda count, bit: (count + int(bit)) % divisor, lambda count: count == 0),),
    )


AA_STAR = Entry(
    "aa-star",
    "(aa)* over a and b: a repeated an even number of times",
    LanguageClass.QUASI_APERIODIC,
    ("a", "b"),
    FormulaText("even(pos) & H a"),
    decides(lambda word: _repeats(word, "aa")),
    draws(lambda _, length: "aa" * (length // 2)),
    edges(
        lambda _, length: "a" * length,
        lambda _, length: "a" * (length - 1) + "b",
        lambda _, length: "b" + "a" * (length - 1),
    ),
    1,
    (references.BHATTAMISHRA_2020, references.STROBL_2024),
    also=(Regex("(aa)*"),),
)


def _even_runs(draw: Random, length: int) -> str:
    word = ""
    while len(word) < length - 1:
        word += draw.choice(("0", "11"))
    return word


EVEN_RUNS = Entry(
    "even-runs",
    "words in which every run of 1s has an even length",
    LanguageClass.QUASI_APERIODIC,
    BITS,
    Regex("(0|11)*"),
    decides(lambda word: all(len(run) % 2 == 0 for run in word.split("0"))),
    draws(_even_runs),
    edges(ones, ones_then_a_zero, a_zero_then_ones),
    2,
    (),
)


def _is_multiple_of_three(word: str) -> bool:
    return int(word or "0", 2) % 3 == 0


def _multiple_of_three(draw: Random, length: int) -> str:
    """Random digits, and up to two more that make 3 divide the number: two digits leave every remainder."""
    word = bits(draw, max(0, length - 2))
    endings = ("", "0", "1", "00", "01", "10", "11")
    fitting = [word + end for end in endings if len(word + end) <= length]
    return draw.choice([digits for digits in fitting if _is_multiple_of_three(digits)])


MULTIPLES_OF_3 = Entry(
    "multiples-of-3",
    "binary numbers that 3 divides, the highest digit first",
    LanguageClass.SOLVABLE,
    BITS,
    Regex("(0|1(01*0)*1)*"),
    decides(_is_multiple_of_three),
    draws(_multiple_of_three),
    edges(ones, ones_then_a_zero, zeros, lambda _, length: ("110" * length)[:length]),
    4,
    (),
)

# Tomita's seven --------------------------------------------------------------------------------------------


def has_no_odd_zeros_after_odd_ones(word: str) -> bool:
    after = pairwise(runs(word))
    return not any(left[0] == "1" and left[1] % 2 and right[1] % 2 for left, right in after)


def odd_ones_are_followed_by_even_zeros(draw: Random, length: int) -> str:
    """Tomita's third language, block by block."""
    word = "0" * draw.randint(0, 3)
    while len(word) < length:
        count = draw.randint(1, 6)
        word += "1" * count + "0" * (2 * draw.randint(1, 3) if count % 2 else draw.randint(1, 6))
    # What is cut off may have been a block's even number of 0s: the word ends with a 1.
    return word[:length].rstrip("0")


def _odd_run_then_zeros(draw: Random, length: int) -> str:
    count = 2 * draw.randint(0, max(0, length // 2 - 1)) + 1
    return "1" * count + "0" * (length - count)


FOUR_RUNS = {"", "0", "1", "01", "10", "010", "101", "0101"}


def four_runs(draw: Random, length: int) -> str:
    first, second, third = sorted(draw.randint(0, length) for _ in range(3))
    sizes = (first, second - first, third - second, length - third)
    return "".join(symbol * size for symbol, size in zip("0101", sizes, strict=True))


def without_three_zeros(draw: Random, length: int) -> str:
    word = ""
    while len(word) < length:
        word += "1" if word.endswith("00") else draw.choice("001")
    return word


def _both_even(draw: Random, length: int) -> str:
    return with_ones(draw, length - length % 2, 2 * draw.randint(0, length // 2))


def _as_many_modulo_three(draw: Random, length: int) -> str:
    """With k 1s among n symbols 0s exceed 1s by n - 2k, which leaves the same remainder as n + k."""
    counts = [count for count in range(length + 1) if (length + count) % 3 == 0]
    return with_ones(draw, length, draw.choice(counts)) if counts else ""


TOMITA_3_PROGRAM = """\
alphabet 0 1
empty accept
zero = in '0'
one = in '1'
odd = pos % 2 = 1
last0 = rightmost[j <= i : zero(j)] odd else false
run = rightmost[j < i : one(j)] (odd xor last0) else false
last1 = rightmost[j < i : one(j)] odd else false
after = one & previous zero & run & !(odd xor last1)
here = zero & run & (odd xor last1)
output !here & every[j <= i] !after
"""
"""Of the last 0 and the last 1, whether the position is odd; of the run of 1s that ends there, the length."""

TOMITA_3 = Entry(
    "tomita-3",
    "words in which no odd run of 1s is followed by an odd run of 0s",
    LanguageClass.QUASI_APERIODIC,
    BITS,
    Rasp(TOMITA_3_PROGRAM),
    decides(has_no_odd_zeros_after_odd_ones),
    draws(odd_ones_are_followed_by_even_zeros),
    edges(_odd_run_then_zeros, lambda _, length: "1" + "0" * (length - 1), ones_then_a_zero),
    3,
    (references.TOMITA_1982, references.BHATTAMISHRA_2020),
    also=(Regex("~((.*0)?1(11)*0(00)*(1.*)?)"),),
)

TOMITA = (
    Entry(
        "tomita-1",
        "1*: words of 1s alone",
        LanguageClass.STAR_FREE,
        BITS,
        FormulaText("H '1'"),
        decides(lambda word: "0" not in word),
        draws(ones),
        edges(ones, ones_then_a_zero, a_zero_then_ones),
        1,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
        also=(Regex("1*"),),
    ),
    Entry(
        "tomita-2",
        "(10)*: pairs of a 1 and a 0, or no symbol at all",
        LanguageClass.STAR_FREE,
        BITS,
        Regex("(10)*"),
        decides(lambda word: _repeats(word, "10")),
        draws(lambda _, length: "10" * (length // 2)),
        edges(
            lambda _, length: ("10" * length)[:length],
            lambda _, length: ("01" * length)[:length],
            lambda _, length: "10" * (length // 2 - 1) + "11",
        ),
        1,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
    ),
    TOMITA_3,
    Entry(
        "tomita-4",
        "words without three 0s in a row",
        LanguageClass.STAR_FREE,
        BITS,
        Regex("~(.*000.*)"),
        decides(lambda word: "000" not in word),
        draws(without_three_zeros),
        edges(
            lambda _, length: ("001" * length)[:length],
            lambda _, length: "00" + "1" * (length - 2),
            lambda _, length: "1" * (length - 2) + "00",
        ),
        2,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
        also=(FormulaText("!O ('0' & Y ('0' & Y '0'))"),),
    ),
    Entry(
        "tomita-5",
        "words with an even number of 0s and an even number of 1s",
        LanguageClass.SOLVABLE,
        BITS,
        FormulaText("even(#<['0']) & even(#<['1'])"),
        decides(lambda word: word.count("0") % 2 == word.count("1") % 2 == 0),
        draws(_both_even),
        edges(ones, ones_then_a_zero, zeros),
        2,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
        also=(Regex("(1*01*0)*1* & (0*10*1)*0*"),),
    ),
    Entry(
        "tomita-6",
        "words in which 3 divides the number of 0s minus that of 1s",
        LanguageClass.SOLVABLE,
        BITS,
        FormulaText("(#<['0'] - #<['1']) % 3 = 0"),
        decides(lambda word: (word.count("0") - word.count("1")) % 3 == 0),
        draws(_as_many_modulo_three),
        edges(ones, ones_then_a_zero, zeros),
        2,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
        also=(Regex("(10 | (0|11)(01)*(1|00))*"),),
    ),
    Entry(
        "tomita-7",
        "0*1*0*1*: 0s, then 1s, then 0s, then 1s, any number of each",
        LanguageClass.STAR_FREE,
        BITS,
        Regex("0*1*0*1*"),
        decides(lambda word: "".join(symbol for symbol, _ in runs(word)) in FOUR_RUNS),
        draws(four_runs),
        edges(lambda _, length: ("0101" * length)[:length], ones_then_a_zero, a_zero_then_ones),
        3,
        (references.TOMITA_1982, references.BHATTAMISHRA_2020),
    ),
)
