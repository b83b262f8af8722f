"""Everything that happens when a model reads one word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, final

from rich.table import Table

from attemper.attention_program.language import ProgramLanguage, defining_program
from attemper.attention_program.meaning import run_with
from attemper.attention_program.naming import step_names
from attemper.attention_program.ops import Count, Linear, Ref
from attemper.attention_program.show import show_step
from attemper.languages.definition import Definition
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.meaning import truth_of_subformulas
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Word
from attemper.running.arrays import Arrays
from attemper.running.numbers import show_number
from attemper.running.runs import verdict_text
from attemper.workbench.cli.console import out
from attemper.workbench.report import attention
from attemper.workbench.report.heads import HeadTrace, LayerMargin, Matrix, Truths, labels_written
from attemper.workbench.report.windows import WordWindow, cut, cut_word

if TYPE_CHECKING:
    from attemper.models.arrays import Floats
    from attemper.running.runs import PutOut, Run
    from attemper.workbench.language import Language

SHOWN = 40
"""How much of a word stands in the text of its trace."""


@final
@dataclass(frozen=True, repr=False)
class Trace:
    """The truth of every subformula at every position, every head's attention, and the margins.

    For an automaton `subformulas` says in which state it is after each position; for an attention program it
    has the steps that are bits, each behind its name, or what it says if it has none. A notebook shows a
    table of truth, and a picture of each head's attention.

    >>> from attemper.workbench.compiling import compile
    >>> trace = compile("#<['0'] <= #<['1']", "01").trace("0110")
    >>> trace
    <Trace of 0110: 3 subformulas, 2 heads>
    >>> trace.heads[0]
    <HeadTrace layer 0, head 0: Uniform, 4 positions>
    """

    word: Word
    accepted: bool | None
    """The verdict; None where it cannot be read, or something else than bits is put out."""
    outputs: tuple[PutOut | None, ...]
    """What is put out at each position: a bit, a symbol or a number; None where it cannot be read."""
    subformulas: Truths
    output: tuple[float, ...]
    heads: tuple[HeadTrace, ...]
    margins: tuple[LayerMargin, ...]
    puts_out: str = ""
    """What is put out, if that is no bit."""
    reads_first: bool = False

    def __str__(self) -> str:
        return text_of(self)

    @property
    def records(self) -> tuple[dict[str, object], ...]:
        """The same as JSON data: one record for each subformula, head and layer, and one for the output."""
        return (
            *(
                {"kind": "subformula", "formula": formula, "positions": [int(bit) for bit in truth]}
                for formula, truth in self.subformulas
            ),
            *({"kind": "head", **asdict(head)} for head in self.heads),
            *({"kind": "margin", **asdict(margin)} for margin in self.margins),
            {
                "kind": "output",
                "word": list(self.word),
                "accepted": self.accepted,
                "outputs": list(self.outputs),
                "values": list(self.output),
            },
        )

    def __repr__(self) -> str:
        shown = cut_word(self.word, SHOWN)
        return f"<Trace of {shown}: {len(self.subformulas)} subformulas, {len(self.heads)} heads>"

    def _repr_html_(self) -> str:
        from attemper.workbench.report.trace_html import trace_html

        return trace_html(self.word, self.subformulas, self.heads, self.margins)


def trace_word(
    language: Language,
    run: Run,
    soft: Arrays,
    hard: Arrays,
    names: Mapping[Ref, str] | None = None,
) -> Trace:
    """Run a model softly and average-hard on the word of a run, keeping what its heads attend to.

    `names` are those of an attention program's steps.
    """
    word = run.word
    told = Trace(
        word,
        None if language.puts_out else run.accepted,
        run.outputs,
        _facts(language.definition, word, names or {}),
        (),
        (),
        (),
        language.puts_out,
        language.definition.reads_first,
    )
    if not word:
        return told
    network = soft.network
    outputs, smallest, softly = soft.watched(word)
    _, _, hardly = hard.watched(word)
    heads = tuple(
        HeadTrace(
            number,
            index,
            type(head.construction).__name__,
            labels_written(network, head),
            _matrix(softly[number, index]),
            _matrix(hardly[number, index]),
        )
        for number, layer in enumerate(network.layers)
        for index, head in enumerate(layer.heads)
    )
    margins = tuple(LayerMargin(number, margin) for number, margin in smallest.items())
    output = outputs if network.symbols else outputs[:, 0]
    return replace(told, output=tuple(output.tolist()), heads=heads, margins=margins)


def _facts(language: Definition, word: Word, names: Mapping[Ref, str]) -> Truths:
    """The truth of every subformula, the state after every prefix, or every step that is a bit."""
    match language:
        case TemporalLanguage(formula, _, _):
            return tuple((show(part), truth) for part, truth in truth_of_subformulas(formula, word).items())
        case Dfa():
            states = [language.state_after(word[:i]) for i in range(1, len(word) + 1)]
            after = sorted(set(states))
            return tuple((f"in state {q}", tuple(state == q for state in states)) for q in after)
        case ProgramLanguage() | MachineLanguage():
            program = defining_program(language)
            assert program is not None
            rows = run_with(sum, program, word)
            named = enumerate(zip(step_names(program, names), program.steps, rows, strict=True))
            return tuple(
                (f"{name}: s{ref} = {show_step(step)}", tuple(map(bool, row)))
                for ref, (name, step, row) in named
                if not isinstance(step, Count | Linear)
            )
        case _:
            return ()


def _matrix(rows: Floats) -> Matrix:
    return tuple(tuple(row) for row in rows.tolist())


# As text -----------------------------------------------------------------------------------------------


def text_of(trace: Trace) -> str:
    """What the command prints here."""
    with out.capture() as captured:
        for part in parts_of(trace):
            out.print(part)
    return captured.get().rstrip("\n")


def parts_of(trace: Trace, position: int | None = None) -> Iterator[str | Table]:
    """The verdict, or what is put out; then what happens on the way there.

    Where not all positions have room, those around the `position`, which is then marked, or else around the
    one that the verdict is read at.
    """
    shades = attention.PLAIN_SHADES if out.options.ascii_only else attention.SHADES
    centre = position or (1 if trace.reads_first else len(trace.word))
    seen = attention.View(out.columns, out.fits, shades, centre, marked=position is not None)
    yield cut(_told(trace), seen.room)
    yield f"word {cut_word(trace.word, seen.room - len('word '))}"
    if trace.word and trace.subformulas:
        yield from _truth(trace, seen)
    shaded = []
    for head in trace.heads:
        pattern = attention.attention_pattern(head, trace.word, seen)
        shaded.append(pattern.shaded)
        yield from _head(head, pattern, seen)
    if trace.word and not trace.heads:
        yield "no heads"
    for margin in trace.margins:
        yield f"layer {margin.layer}: smallest margin {margin.margin:.6f}"
    if any(shaded):
        yield attention.legend(seen.shades)
    elif trace.heads:
        yield f"weights: . below {attention.STEPS[0]}"


def _told(trace: Trace) -> str:
    if trace.puts_out:
        shown = (str(one) if isinstance(one, str) else show_number(one) for one in trace.outputs)
        return f"puts out {' '.join(shown)}"
    return verdict_text(trace.accepted)


def _truth(trace: Trace, seen: attention.View) -> Iterator[str | Table]:
    table, window = attention.truth_table(trace.subformulas, trace.word, seen)
    if not window.is_whole:
        yield f"{_positions(window)}; others are shown around another position, and all in JSON"
    yield table


def _head(head: HeadTrace, pattern: attention.Pattern, seen: attention.View) -> Iterator[str | Table]:
    yield ""
    where = "" if pattern.window.is_whole else f"; {_positions(pattern.window)}"
    yield f"layer {head.layer}, head {head.head}: {head.construction}, writes {', '.join(head.writes)}{where}"
    yield pattern.table
    if seen.marked:
        yield attention.attended_text(head, seen.centre)


def _positions(window: WordWindow) -> str:
    return f"positions {window.first} to {window.last} of {window.length}"
