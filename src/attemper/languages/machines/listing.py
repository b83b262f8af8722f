"""One attention program for all counter machines of a size: the machine's listing stands in the prompt.

A line is four tokens: `3:`, then `inc0` or `dec0`, then where it goes on (`>5`, or `>halt`), and where it
goes on if the register was 0. Behind the listing stand inputs, `x0` for each unit of register 0, and `start`.
A step is two tokens: what happened (`+0`, `-0`, or `=0` where there was nothing to take away), and the line
that comes next (`@5`).

What is put out has a meaning on every word: of several lines with one number the last one counts, one that is
missing or cut off ends the run with `none`, and so does every token that is no step, input or start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attemper.errors import UnsupportedError
from attemper.languages.machines.cases import first_of, one_of
from attemper.languages.machines.syntax import END, Adding, CounterMachine
from attemper.languages.words import Word

HALT = ">halt"

MOST_LINES = 12
"""More lines need more cases of one selection than a head tells apart."""


def interpreter_text(lines: int, registers: int) -> str:
    """The program for machines of at most so many lines and registers.

    Raises `UnsupportedError` for none, and for more than 12 lines or 9 registers.

    >>> print(interpreter_text(8, 3).splitlines()[1])
    head = (in '0:' ? 'line0' : (in '1:' ? 'line1' : (in '2:' ? 'line2' : (in '3:' ? 'line3' : (in '4:' ? \
'line4' : (in '5:' ? 'line5' : (in '6:' ? 'line6' : (in '7:' ? 'line7' : none))))))))
    """
    if not (1 <= lines <= MOST_LINES and 1 <= registers <= 9):
        raise UnsupportedError(f"an interpreter has 1 to {MOST_LINES} lines and 1 to 9 registers")
    return "\n".join([*_definitions(range(lines), range(registers)), ""])


def _definitions(lines: Sequence[int], registers: Sequence[int]) -> Iterator[str]:
    ops = [f"{op}{r}" for op in ("inc", "dec") for r in registers]
    targets, inputs = [*(f">{q}" for q in lines), HALT], [f"x{r}" for r in registers]
    done, zero = [f"{sign}{r}" for sign in "+-" for r in registers], [f"={r}" for r in registers]
    headers, names = [f"{q}:" for q in lines], [f"line{q}" for q in lines]
    symbols = [*headers, *ops, *targets, *inputs, "start", *done, *zero, *(f"@{q}" for q in lines)]
    yield f"alphabet {' '.join(symbols)}"
    yield f"head = {first_of([(one_of([own]), name) for own, name in zip(headers, names, strict=True)])}"
    begins = [[f"@{q}", *(("start", *inputs) if q == 0 else ())] for q in lines]
    yield f"line = {first_of([(one_of(own), name) for own, name in zip(begins, names, strict=True)])}"
    yield "was = previous line else none"
    yield "head1 = previous head else none"
    yield "head2 = previous(2) head else none"
    yield "head3 = previous(3) head else none"
    yield f"op = rightmost[j <= i : ({one_of(ops)})(j) & head1(j) = line(i)] symbol(j) else none"
    yield f"then = rightmost[j <= i : ({one_of(targets)})(j) & head2(j) = was(i)] symbol(j) else none"
    yield f"otherwise = rightmost[j <= i : ({one_of(targets)})(j) & head3(j) = was(i)] symbol(j) else none"
    for r in registers:
        yield f"empty{r} = count[j <= i] {one_of([f'+{r}', f'x{r}'])} <= count[j <= i] {one_of([f'-{r}'])}"
    step = [(f"op = 'inc{r}'", f"+{r}") for r in registers]
    step += [(f"op = 'dec{r}' & empty{r}", f"={r}") for r in registers]
    step += [(f"op = 'dec{r}'", f"-{r}") for r in registers]
    taken = [(f"{one_of(done)} & was != none & then = '>{q}'", f"@{q}") for q in lines]
    taken += [(f"{one_of(zero)} & was != none & otherwise = '>{q}'", f"@{q}") for q in lines]
    yield f"output {first_of([*taken, *((f'line != none & {own}', token) for own, token in step)])}"


def listing_of(machine: CounterMachine) -> Word:
    """The tokens of a machine's listing. Raises `UnsupportedError` for a line that adds more than 1.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> " ".join(listing_of(parse_machine("sub n else halt; add m -> 1")))
    '0: dec0 >1 >halt 1: inc1 >0 >0'
    """
    found: list[str] = []
    for q, line in enumerate(machine.lines):
        if isinstance(line, Adding) and line.amount != 1:
            raise UnsupportedError(f"'{line.label}' adds {line.amount}, and a listing's line adds 1")
        op = "inc" if isinstance(line, Adding) else "dec"
        otherwise = line.then if isinstance(line, Adding) else line.otherwise
        found += [f"{q}:", f"{op}{line.register}", _target(line.then), _target(otherwise)]
    return tuple(found)


def _target(number: int) -> str:
    return HALT if number == END else f">{number - 1}"
