"""A program's text is read back as the same program, and nothing but SourceError refuses a text."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Count,
    Direction,
    Gate,
    Letter,
    Linear,
    Mask,
    Not,
    Place,
    Program,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.attention_program.parse import parse_program, parse_steps
from attemper.attention_program.show import show_program
from attemper.attention_program.wellformed import complaints
from attemper.errors import SourceError
from attemper.exact.closed_forms import FIRST
from attemper.languages.words import Alphabet
from tests.support.drawn.programs import ProgramSampler, programs

EXAMPLE = """\
alphabet ["a", "b"]
s0 = letter ["a"]
s1 = place ["test", ["zero"], 1, 0, -1]
s2 = and s0 s1
s3 = attend <= rightmost where s2 value s0 default 0
s4 = count <= s3
s5 = linear 2 s4 -1
s6 = compare s5 >= 0
s7 = attend < rightmost where s0:s1 s2:s6 value s0
s8 = previous 3 s7 default 0
output s8
"""


def test_the_documented_example_is_read_as_it_says() -> None:
    steps = (
        Letter(("a",)),
        Place(FIRST),
        Gate("and", (0, 1)),
        Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(2), 0, False),
        Count(Mask.UP_TO, 3),
        Linear(((2, 4),), -1),
        Compare(5, 0),
        Attend(Mask.BEFORE, Choice.RIGHTMOST, ((0, 1), (2, 6)), 0, None),
        Shift(Direction.PREVIOUS, 7, 3, default=False),
    )
    program = Program(Alphabet(("a", "b")), steps, 8)
    assert parse_steps(EXAMPLE) == program
    assert show_program(program) == EXAMPLE


@given(programs(compiled=False, direct_tests=False))
def test_every_program_survives_its_text(program: Program) -> None:
    assert parse_steps(show_program(program)) == program


@given(programs(compiled=False, direct_tests=False))
def test_sampled_programs_are_well_formed(program: Program) -> None:
    assert complaints(program) == ()


def test_the_sampler_draws_every_kind_of_step_and_option() -> None:
    seen: Counter[object] = Counter()
    for seed in range(150):
        program = ProgramSampler(random.Random(seed), compiled=False, direct_tests=False).program(12)
        for step in program.steps:
            seen.update(_traits(program, step))
    kinds = {
        "Letter",
        "Place",
        "Not",
        "Gate",
        "Table",
        "Attend",
        "Shift",
        "Count",
        "Linear",
        "Compare",
        "Equals",
    }
    options = {
        "CountTest",
        "default 0",
        "default 1",
        "as a head",
        "no default",
        "far",
        "one case",
        "cases",
        "head by cases",
    }
    options |= {"nested linear", "and", "or", "xor", *Mask, *Choice}
    assert all(seen[trait] >= 5 for trait in kinds | options)


def _traits(program: Program, step: Step) -> list[object]:
    traits: list[object] = [type(step).__name__]
    match step:
        case Attend(mask, choice, cases, _, default):
            traits += [mask, choice, "as a head" if default is None else f"default {int(default)}"]
            if step.where is None:
                traits += ["one case" if len(cases) == 1 else "cases", *["head by cases"] * (default is None)]
        case Shift(_, _, distance, default):
            traits += ["no default"] * (default is None) + ["far"] * (distance > 1)
        case Gate(connective, _):
            traits.append(str(connective))
        case Linear(parts, _):
            traits += ["nested linear"] * any(isinstance(program.steps[ref], Linear) for _, ref in parts)
        case _:
            pass
    return traits


def test_symbols_of_any_spelling_survive() -> None:
    symbols = ("push", "é", "=", "s0", '"', "[", "\\", "💥")
    program = Program(Alphabet(symbols), (Letter(("é", "\\")), Letter(symbols[::-1]), Not(1)), 2)
    assert parse_steps(show_program(program)) == program


def test_empty_gates_tables_and_sums_survive() -> None:
    steps = (Gate("xor", ()), Table((), ()), Table((), ((),)), Linear((), -7), Letter(()), Shift("next", 0))
    program = Program(Alphabet(("a",)), steps, 5)
    assert parse_steps(show_program(program)) == program


def test_blank_lines_and_indentation_do_not_matter() -> None:
    spread = "\n\n".join(f"   {line}  " for line in EXAMPLE.splitlines())
    assert parse_steps(spread) == parse_steps(EXAMPLE)


def _second(step: str) -> str:
    """The text of a program with this second step."""
    return f'alphabet ["a"]\ns0 = letter ["a"]\ns1 = {step}\noutput s0'


def _sums(count: int) -> str:
    """Sums of one part, one inside the other."""
    return '["sum", [' * count + '["position"]' + "]]" * count


BROKEN_LINES = {
    "no alphabet": ("output s0", 1),
    "empty alphabet": ("alphabet []\noutput s0", 1),
    "symbol twice": ('alphabet ["a", "a"]\noutput s0', 1),
    "alphabet of numbers": ("alphabet [1]\noutput s0", 1),
    "alphabet not JSON": ("alphabet [a]\noutput s0", 1),
    "wrong number": ('alphabet ["a"]\ns1 = letter ["a"]\noutput s1', 2),
    "no equals": ('alphabet ["a"]\ns0 letter ["a"]\noutput s0', 2),
    "unknown step": ('alphabet ["a"]\ns0 = letters ["a"]\noutput s0', 2),
    "text after the output": ('alphabet ["a"]\ns0 = letter ["a"]\noutput s0\ns1 = not s0', 4),
    "output of nothing": ('alphabet ["a"]\ns0 = letter ["a"]\noutput', 3),
    "output of a name": ('alphabet ["a"]\ns0 = letter ["a"]\noutput a0', 3),
    "unknown mask": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = count =< s0\noutput s0', 3),
    "unknown choice": (
        'alphabet ["a"]\ns0 = letter ["a"]\ns1 = attend <= first where s0 value s0 default 0\noutput s0',
        3,
    ),
    "default of 2": (
        'alphabet ["a"]\ns0 = letter ["a"]\ns1 = attend < leftmost where s0 value s0 default 2\noutput s0',
        3,
    ),
    "text after the default": (_second("attend < leftmost where s0 value s0 default 0 match s0"), 3),
    "default without a value": (_second("attend < leftmost where s0 value s0 default"), 3),
    "default as a word": (_second("attend < leftmost where s0 value s0 default none"), 3),
    "attention without a value": (_second("attend < leftmost where s0"), 3),
    "attention to several values": (_second("attend < leftmost where s0 value s0 s0"), 3),
    "half a case": (_second("attend < leftmost where s0: value s0"), 3),
    "a case of nothing": (_second("attend < leftmost where :s0 value s0"), 3),
    "a case of three": (_second("attend < leftmost where s0:s0:s0 value s0"), 3),
    "a case apart": (_second("attend < leftmost where s0 : s0 value s0"), 3),
    "shift of two": (_second("previous s0 s0"), 3),
    "shift of nothing": (_second("previous"), 3),
    "distance without a default": (_second("previous 2 s0"), 3),
    "distance as a step": (_second("previous s2 s0 default 0"), 3),
    "distance after the step": (_second("previous s0 2 default 0"), 3),
    "distance as a fraction": (_second("previous 1.5 s0 default 0"), 3),
    "default of a shift that is none": (_second("next s0 default -1"), 3),
    "row of letters": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = table s0 : x\noutput s0', 3),
    "table without rows": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = table s0\noutput s0', 3),
    "half a part": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = linear 2 s0\noutput s0', 3),
    "threshold missing": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = compare s0 >=\noutput s0', 3),
    "predicate missing": ('alphabet ["a"]\ns0 = letter ["a"]\ns1 = test s0 1 0\noutput s0', 3),
    "unknown predicate": (
        'alphabet ["a"]\ns0 = letter ["a"]\ns1 = test s0 1 0 ["named", "no_such"]\noutput s0',
        3,
    ),
    "remainder out of range": (
        'alphabet ["a"]\ns0 = letter ["a"]\ns1 = test s0 1 0 ["remainder", 2, 2]\noutput s0',
        3,
    ),
    "unknown form": ('alphabet ["a"]\ns0 = place ["k"]\noutput s0', 2),
    "form as a text": ('alphabet ["a"]\ns0 = place "i"\noutput s0', 2),
    "form not JSON": ('alphabet ["a"]\ns0 = place [position\noutput s0', 2),
    "division by zero": ('alphabet ["a"]\ns0 = place ["number", "1/0"]\noutput s0', 2),
    "nested too deeply": (f'alphabet ["a"]\ns0 = place {_sums(50_000)}\noutput s0', 2),
    "nested a little too deeply": (f'alphabet ["a"]\ns0 = place {_sums(100)}\noutput s0', 2),
    "a number too long": ('alphabet ["a"]\ns0 = linear ' + "9" * 5000 + "\noutput s0", 2),
}


@pytest.mark.parametrize("name", BROKEN_LINES)
def test_a_broken_line_is_named(name: str) -> None:
    text, line = BROKEN_LINES[name]
    with pytest.raises(SourceError) as caught:
        parse_steps(text)
    assert caught.value.line == line
    assert len(str(caught.value).splitlines()) <= 5


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ('["power", ["alternating"], -1]', "s0: only i and n have negative powers"),
        ('["sum", [["power", ["sum", [["position"]]], -2]]]', "s0: only i and n have negative powers"),
        ('["power", ["power", ["length"], 16], 5]', "s0: powers and products nest to the degree 80"),
    ],
)
def test_a_form_that_no_file_may_have_is_refused_as_ill_formed(form: str, said: str) -> None:
    text = f'alphabet ["a"]\ns0 = place {form}\noutput s0'
    assert len(parse_steps(text).steps) == 1
    with pytest.raises(SourceError, match=f"the program is ill formed: {said}"):
        parse_program(text)


@pytest.mark.parametrize("text", ["", "\n \n", 'alphabet ["a"]', 'alphabet ["a"]\ns0 = letter ["a"]'])
def test_a_text_that_breaks_off_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="starts with 'alphabet' and ends with 'output'"):
        parse_steps(text)


def _read_or_refuse(text: str) -> None:
    """Either a program that survives its own text, or SourceError; every other exception escapes."""
    try:
        program = parse_steps(text)
    except SourceError:
        return
    assert parse_steps(show_program(program)) == program


@given(st.text(max_size=200))
def test_random_text_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)
    _read_or_refuse(f'alphabet ["a"]\ns0 = letter ["a"]\ns1 = {text}\noutput s0')


WORDS = [
    *("alphabet", "output", "letter", "place", "not", "and", "xor", "table", "attend", "previous", "next"),
    *("count", "linear", "compare", "test", "where", "value", "default", "match", "<=", "<", ">=", ">"),
    *(
        "all",
        "rightmost",
        "leftmost",
        "s0:s1",
        ":",
        "-",
        "=",
        "0",
        "1",
        "3",
        "-1",
        "s0",
        "s1",
        "s99",
        "01",
        "[]",
    ),
    *(
        '["a"]',
        '["position"]',
        '["length"]',
        '["number", "1/2"]',
        '["remainder", 2, 1]',
        '["named", "prime"]',
    ),
    *('["zero"]', '"1/2"', "null", "1e9", "\x1c"),
]


def _mutated(text: str, rng: random.Random) -> str:
    """The text after a few edits of characters, words and lines."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text = text[:place] + text[place + rng.randint(1, 5) :]
            case 1:
                text = (
                    text[:place]
                    + chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xD7FF)]))
                    + text[place:]
                )
            case 2:
                words = text.split(" ")
                words[rng.randrange(len(words))] = rng.choice(WORDS)
                text = " ".join(words)
            case 3:
                lines = text.split("\n")
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                text = "\n".join(lines)
            case _:
                text = text[:place]
    return text


@settings(max_examples=150)
@given(programs(compiled=False, direct_tests=False), st.randoms(use_true_random=False))
def test_mutated_text_is_read_or_refused(program: Program, rng: random.Random) -> None:
    text = show_program(program)
    for _ in range(8):
        _read_or_refuse(_mutated(text, rng))


@pytest.mark.slow
def test_many_mutated_texts_are_read_or_refused() -> None:
    for seed in range(5000):
        rng = random.Random(seed)
        program = ProgramSampler(rng, compiled=False, direct_tests=False).program(rng.randint(1, 15))
        for _ in range(10):
            _read_or_refuse(_mutated(show_program(program), rng))


STEPS = {
    "attend <= rightmost where s1 value s0 default 0": Attend(
        Mask.UP_TO, Choice.RIGHTMOST, everywhere(1), 0, False
    ),
    "attend <= rightmost where s1 value s0 default 1": Attend(
        Mask.UP_TO, Choice.RIGHTMOST, everywhere(1), 0, True
    ),
    "attend <= rightmost where s1 value s0": Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(1), 0, None),
    "attend all leftmost where s2:s1 s4:s3 value s0 default 1": Attend(
        Mask.ALL, Choice.LEFTMOST, ((2, 1), (4, 3)), 0, True
    ),
    "attend > leftmost where s2:s1 value s0": Attend(Mask.AFTER, Choice.LEFTMOST, ((2, 1),), 0, None),
    "previous s1": Shift(Direction.PREVIOUS, 1, 1, None),
    "previous s1 default 0": Shift(Direction.PREVIOUS, 1, 1, False),
    "next s1 default 1": Shift(Direction.NEXT, 1, 1, True),
    "previous 3 s1 default 0": Shift(Direction.PREVIOUS, 1, 3, False),
    "next 64 s1 default 1": Shift(Direction.NEXT, 1, 64, True),
}


@pytest.mark.parametrize("text", STEPS)
def test_selections_and_shifts_are_written_in_one_way(text: str) -> None:
    program = Program(Alphabet(("a",)), (STEPS[text],), 0)
    assert parse_steps(f'alphabet ["a"]\ns0 = {text}\noutput s0') == program
    assert show_program(program).splitlines()[1] == f"s0 = {text}"


def test_a_distance_of_one_need_not_be_said() -> None:
    program = parse_steps('alphabet ["a"]\ns0 = previous 1 s0 default 1\noutput s0')
    assert show_program(program).splitlines()[1] == "s0 = previous s0 default 1"


@pytest.mark.parametrize("number", ["1_0", "\u0661", "+1", "--1", "1.0", "-"])
def test_integers_are_written_in_ascii_digits(number: str) -> None:
    with pytest.raises(SourceError, match="is not an integer"):
        parse_steps(EXAMPLE.replace("compare s5 >= 0", f"compare s5 >= {number}"))
