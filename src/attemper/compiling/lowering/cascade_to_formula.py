"""From a cascade to a past formula: what `cascade_to_program` writes as attention, written as operators.

    attend < rightmost, where W value V      Y (!W S (W & V)), or Y (!W S V) where V implies W
    count of U up to i, remainder r          #<[U] % m = r

Formulas are trees: what a program computes once and reads often is written out each time. The formula is
the language's at the last position; the verdict on the empty word is not part of it.
"""

from __future__ import annotations

from attemper.attention_program import ops
from attemper.compiling.cascade import Cascade
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, ClosedForm, Product, Test
from attemper.exact.predicates import NonNegative, Remainder, Zero
from attemper.languages.temporal import syntax
from attemper.languages.temporal.connectives import FALSE, TRUE, all_of, any_of, negation

LARGEST = 20_000
"""Formulas of more operators and symbols are not written down."""

POSITION = syntax.Term(((1, syntax.PositionAtom()),), 0)


def cascade_to_formula(cascade: Cascade) -> syntax.Formula:
    """A past formula that holds at i exactly where the prefix of length i is accepted.

    Raises `UnsupportedError` if it has more than `LARGEST` operators and symbols.
    """
    found = shared_formula(cascade)
    if tree_size(found) > LARGEST:
        raise UnsupportedError(
            f"the formula has {tree_size(found):,} operators and symbols, more than the cap of {LARGEST:,}; "
            "compile the automaton itself, or write the language as several simpler ones"
        )
    return found


def shared_formula(cascade: Cascade) -> syntax.Formula:
    """The same, however large it is when it is written out: its equal parts are one object."""
    program = cascade_to_program(cascade).program
    writer = _CascadeWriter(program.steps)
    for step in program.steps:
        writer.formulas.append(writer.formula(step))
    return writer.formulas[program.output]


def tree_size(formula: syntax.Formula) -> int:
    """How many operators and symbols the formula has when it is written out."""
    sizes: dict[syntax.Formula, int] = {}
    for part in syntax.subformulas(formula):
        sizes[part] = 1 + sum(sizes[operand] for operand in syntax.operands(part))
    return sizes[formula]


class _CascadeWriter:
    """The formula of every step so far."""

    def __init__(self, steps: tuple[ops.Step, ...]) -> None:
        self.steps = steps
        self.formulas: list[syntax.Formula] = []

    def formula(self, step: ops.Step) -> syntax.Formula:
        match step:
            case ops.Letter(symbols):
                return any_of(syntax.Symbol(symbol) for symbol in symbols)
            case ops.Place(form):
                return _place(form)
            case ops.Not(bit):
                return negation(self.formulas[bit])
            case ops.Gate(ops.Connective.AND, bits):
                return all_of(self.formulas[bit] for bit in bits)
            case ops.Gate(ops.Connective.UNION, bits) | ops.Merge(bits):
                return any_of(self.formulas[bit] for bit in bits)
            case ops.Attend(ops.Mask.BEFORE, ops.Choice.RIGHTMOST, ((None, where),), value, None):
                sought, there = self.formulas[where], self.formulas[value]
                if not isinstance(self.steps[where], ops.Not):
                    # A latch looks for all symbols but some, and reads others than these; a delay does not.
                    there = all_of([sought, there])
                return syntax.Unary(syntax.UnaryOperator.YESTERDAY, _since(negation(sought), there))
            case ops.Count(ops.Mask.UP_TO, bit):
                return self.formulas[bit]
            case ops.CountTest(Remainder() as predicate, count, 1, 0):
                atom = syntax.CountAtom(syntax.Side.LEFT, self.formulas[count])
                return syntax.Numerical(predicate, syntax.Term(((1, atom),), 0))
            case _:
                raise AssertionError(f"cascades have no step {step}")


def _place(form: ClosedForm) -> syntax.Formula:
    match form:
        case Product(parts):
            return all_of(_place(part) for part in parts)
        case Test(Remainder() as predicate, 1, 0, 0):
            return syntax.Numerical(predicate, POSITION)
        case Test(Zero(), 1, 0, shift):
            return syntax.Comparison(syntax.ComparisonOperator.EQUAL, POSITION, syntax.Term((), -shift))
        case Test(NonNegative(), 1, 0, shift):
            return syntax.Comparison(syntax.ComparisonOperator.AT_LEAST, POSITION, syntax.Term((), -shift))
        case Test(NonNegative(), -1, 0, shift):
            return syntax.Comparison(syntax.ComparisonOperator.AT_MOST, POSITION, syntax.Term((), shift))
        case _ if form == ONE:
            return TRUE
        case _:
            raise AssertionError(f"cascades have no place {form}")


def _since(kept: syntax.Formula, begun: syntax.Formula) -> syntax.Formula:
    """`begun` somewhere, and `kept` ever since."""
    if kept == FALSE:
        return begun
    if kept == TRUE:
        return syntax.Unary(syntax.UnaryOperator.ONCE, begun)
    return syntax.Binary(syntax.BinaryOperator.SINCE, kept, begun)
