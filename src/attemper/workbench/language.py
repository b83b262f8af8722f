"""A language as users hold it: what it means, over which symbols, and how it was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never, final

from attemper.errors import UnsupportedError
from attemper.languages.measures import describe
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.workbench.spelling import Kind, Spelling
from attemper.workbench.words import word_of

if TYPE_CHECKING:
    from attemper.attention_program.ops import Program
    from attemper.certificates.claims import SourceMeaning
    from attemper.languages.regular.dfa import Dfa
    from attemper.workbench.words import WordLike


@final
@dataclass(frozen=True, repr=False)
class Language:
    """A set of words over an alphabet, as a formula, an expression, an automaton or a program defines it.

    Two are equal if they have one definition over one alphabet; whether two *definitions* are one language is
    what `attemper.same` finds out. A program that puts out symbols or numbers at every position is held as a
    language, too, and has no verdict on words.

    >>> import attemper
    >>> language = attemper.regex("(ab)*")
    >>> language, language.accepts("abab"), list(language.words(4))
    (<Language regex:(ab)* over a b>, True, [(), ('a', 'b'), ('a', 'b', 'a', 'b')])
    """

    definition: SourceMeaning
    """What it means: a bit at every position of every word, slow and exact."""
    alphabet: Alphabet
    spelling: Spelling | None = field(default=None, compare=False)
    """How it was named; None for what was made in memory."""
    written: str = field(default="", compare=False)
    """The text of the regular expression or of the attention program that it was written as, if any."""
    is_alphabet_read: bool = field(default=False, compare=False)
    """Whether nobody said the alphabet, so that it is the symbols that the text names."""

    def __str__(self) -> str:
        if self.spelling is not None:
            return str(self.spelling)
        return self.definition.text(self.alphabet)

    def __repr__(self) -> str:
        shown = self.title if self.spelling is None else str(self.spelling)
        return f"<Language {shown} over {' '.join(self.alphabet.symbols)}>"

    @property
    def zoo_name(self) -> str:
        """The name in the zoo that it was written as; empty for everything else."""
        return self.spelling.text if self.spelling is not None and self.spelling.kind is Kind.ZOO else ""

    @property
    def title(self) -> str:
        """The formula, the regular expression, or how large the automaton or the program is."""
        from attemper.attention_program.language import ProgramLanguage
        from attemper.languages.machines.reading import MachineLanguage
        from attemper.languages.regular.dfa import Dfa
        from attemper.languages.temporal.reading import TemporalLanguage
        from attemper.languages.temporal.show import show

        match self.definition:
            case TemporalLanguage(formula, _, _):
                return show(formula)
            case Dfa(_, moves):
                return self.written or f"an automaton with {len(moves)} states"
            case ProgramLanguage(program, _, _):
                return f"an attention program of {len(program.steps)} steps"
            case MachineLanguage(machine):
                return f"a counter machine of {len(machine.lines)} lines"
            case _:
                assert_never(self.definition)

    @property
    def puts_out(self) -> str:
        """What stands at every position, if that is no bit and there is no verdict on a word."""
        from attemper.attention_program.language import defining_program

        program = defining_program(self.definition)
        return "" if program is None else what_is_put_out(program)

    def require_verdicts(self) -> None:
        """Raise `UnsupportedError` if it puts out something else than bits."""
        if self.puts_out:
            raise UnsupportedError(f"{self} puts out {self.puts_out} at every position: it has no verdicts")

    def accepts(self, word: WordLike) -> bool:
        """The verdict on a word, straight from the definition. Raises `WordError`, `UnsupportedError`.

        >>> import attemper
        >>> attemper.formula("#<['0'] <= #<['1']").accepts("0110")
        True
        """
        self.require_verdicts()
        return self._accepts(word_of(word, self.alphabet))

    def _accepts(self, word: Word) -> bool:
        if not word:
            return self.definition.accepts_empty
        return self.definition.bits(word)[0 if self.definition.reads_first else -1]

    def bits(self, word: WordLike) -> tuple[bool, ...]:
        """The bit at each position 1..n of a word. Raises `WordError`, `UnsupportedError`.

        >>> import attemper
        >>> attemper.formula("H (a -> Y b)").bits("bba")
        (True, True, True)
        """
        self.require_verdicts()
        return self.definition.bits(word_of(word, self.alphabet))

    def words(self, up_to: int) -> Iterator[Word]:
        """The words of the language of at most `up_to` symbols, the shortest first: all words are tried.

        >>> import attemper
        >>> ["".join(word) for word in attemper.language("zoo:parity", "ab").words(2)]
        ['', 'a', 'aa', 'bb']
        """
        self.require_verdicts()
        every = (word for n in range(up_to + 1) for word in words_of_length(self.alphabet, n))
        return (word for word in every if self._accepts(word))

    def automaton(self) -> Dfa:
        """The minimal automaton, proved to have the same words of every length.

        Raises `UnsupportedError` where no automaton is found, with the reason.

        >>> import attemper
        >>> attemper.formula("O a", "ab").automaton().moves
        ((1, 0), (1, 1))
        """
        from attemper.languages.regular.dfa import Dfa
        from attemper.languages.regular.minimal import minimal

        if isinstance(self.definition, Dfa):
            return minimal(self.definition)
        self.require_verdicts()
        # Formulas have their automata by way of the compiler and the checker, which few questions need.
        from attemper.workbench.automata import automaton_required

        return automaton_required(self.definition, self.alphabet, self)


def what_is_put_out(program: Program) -> str:
    """What stands at every position, if that is no bit."""
    if program.numbers is not None:
        return describe(program.numbers.measure)
    return "a symbol" if program.symbols else ""
