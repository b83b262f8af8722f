"""Causal variables against brute force: nothing false is proved, and what compiled networks have is."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

import attemper
from attemper.attention_program.ops import Connective, Count, Linear, Mask, Place, Program
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import ClaimVerdict, Status
from attemper.exact.closed_forms import number
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet
from attemper.networks.layers import Layer, Network
from attemper.theories.causal.certificate import CausalClaim, CausalVariable, HeldBit, Holder, complaints
from attemper.theories.causal.check.claims import judge_causal
from attemper.theories.causal.check.following import ancestors, follow, mismatches, require_order
from attemper.theories.causal.search.finding import variables_in
from attemper.workbench.model import Model
from tests.support.drawn.causal import either, models, of_letters, with_changed_writer, wrong_guesses
from tests.support.judges.set_variables import Truth
from tests.support.suites import Few

EXPRESSIONS = ("(ab|ba)*", "(a|b)*abb", "((a|b)(a|b))*", "a*b*", "(ab)*", "(a|bb)*b", "(aab|b)*")


def is_proved(network: Network, program: Program, *variables: CausalVariable) -> bool:
    if any(mismatches(network, program, variables)):
        return False
    try:
        follow(network, program, variables)
    except UnprovenError:
        return False
    return True


def found_in(model: Model) -> tuple[Program, list[CausalVariable]]:
    said = model.realisation
    assert said is not None
    return said.program, variables_in(model.network, said)


def is_passed_by(program: Program, variable: CausalVariable, others: list[CausalVariable]) -> bool:
    """Whether another variable of its layer, or of one before, is made of it: not of what stands there."""
    return any(
        set(variable.steps) & ancestors(program, ref)
        for other in others
        if other.layer <= variable.layer and other is not variable
        for ref in other.steps
    )


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(40))
def test_what_formulas_have_is_proved_and_true(seed: int) -> None:
    rng, counts = random.Random(seed), Counter[str]()
    for model in models(seed, 2):
        program, variables = found_in(model)
        proved = [own for own in variables if is_proved(model.network, program, own)]
        counts["all"] += len(variables)
        counts["proved"] += len(proved)
        counts["passed by"] += sum(is_passed_by(program, own, variables) for own in variables)
        for own in proved:
            truth = Truth(model.network, program, [own], 3)
            assert truth.is_held()
            assert truth.holds_where_set(rng)
        if len(proved) > 1 and is_proved(model.network, program, *proved):
            truth = Truth(model.network, program, proved, 3)
            assert truth.is_held()
            assert truth.holds_where_set(rng)
    assert counts["proved"] >= counts["all"] - counts["passed by"] - 1


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_groups_of_automata_are_variables(text: str, few: Few) -> None:
    model = attemper.compile(f"regex:{text}", "ab")
    said = model.realisation
    assert said is not None
    if not said.groups:
        return
    program, variables = found_in(model)
    assert len(variables) >= len(said.groups)
    assert is_proved(model.network, program, *variables)
    truth = Truth(model.network, program, variables, 4)
    assert truth.is_held()
    assert truth.holds_where_set(random.Random(text))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(40))
def test_changed_writers_and_wrong_guesses_are_proved_only_where_they_are_true(seed: int) -> None:
    rng, counts = random.Random(seed), Counter[bool]()
    for model in models(100 + seed, 2):
        program, variables = found_in(model)
        for own in variables:
            tried = [(model.network, guess) for guess in wrong_guesses(program, own, rng)]
            changed = [with_changed_writer(model.network, own, rng) for _ in range(4)]
            tried += [(network, own) for network in changed if network is not None]
            for network, guess in tried:
                proved = is_proved(network, program, guess)
                counts[proved] += 1
                if proved:
                    truth = Truth(network, program, [guess], 3)
                    assert truth.is_held()
                    assert truth.holds_where_set(rng)
    assert counts[False] > counts[True]


def test_networks_that_put_out_symbols_have_variables() -> None:
    """Of induction heads all that is kept of the symbol before; set, several symbols may be put out."""
    found = attemper.causal(attemper.compile("zoo:k-hop-1-symbol"))
    assert found.claim is not None
    assert len(found.claim.variables) == len(found.variables) == 12
    truth = Truth(found.network, found.program, found.claim.variables, 3)
    assert truth.is_held()
    assert truth.holds_where_set(random.Random(0))


def test_two_steps_of_one_layer_are_not_proved_where_one_is_made_of_the_other() -> None:
    """Together they would be proved by cutting, and one of them alone is false on `ac`, as on `ab`."""
    model = attemper.compile("O (b & Y a) & H ((b & Y a) | !c)", "abc")
    program, (inner, outer) = found_in(model)
    assert inner.steps[0] in ancestors(program, outer.steps[0])
    assert is_proved(model.network, program, outer)
    assert not is_proved(model.network, program, inner)
    assert not is_proved(model.network, program, inner, outer)
    assert not Truth(model.network, program, [inner], 2).holds_interchanged()


def test_what_a_coordinate_holds_counts_and_not_only_what_is_done_where_it_is_set() -> None:
    """`O (a & O b)`, and a coordinate said to be `O b & a` that holds something else where nobody looks."""
    model = attemper.compile("O (a & O b)", "ab")
    program, (own,) = found_in(model)
    (layer, *rest) = model.network.layers
    for place, unit in enumerate(layer.hidden):
        units = list(layer.hidden)
        units[place] = replace(unit, bias=unit.bias - Fraction(1, 8))
        network = replace(model.network, layers=(replace(layer, hidden=tuple(units), clamps=()), *rest))
        truth = Truth(network, program, [own], 3)
        assert is_proved(network, program, own) <= (truth.is_held() and truth.holds_interchanged())


def test_a_copy_that_others_read_is_noticed() -> None:
    """All that read a coordinate read a copy, which the layer makes too: setting the first does nothing."""
    model = attemper.compile("O (a & O b)", "ab")
    program, (own,) = found_in(model)
    network = model.network
    copies = {c: len(network.coordinates) + k for k, c in enumerate(own.coordinates)}
    width = tuple(f"copy of {network.coordinates[c]}" for c in copies)
    first, *rest = network.layers
    doubled = tuple(
        replace(
            unit,
            outputs=(*unit.outputs, *((copies[c], x) for c, x in unit.outputs if c in copies)),
        )
        for unit in first.hidden
    )
    moved = [_reading(layer, copies) for layer in rest]
    changed = replace(
        network,
        coordinates=(*network.coordinates, *width),
        layers=(replace(first, hidden=doubled), *moved),
    )
    assert attemper.check(changed, "O (a & O b)").status is attemper.check(network, "O (a & O b)").status
    assert not is_proved(changed, program, own)
    both = replace(own, codes=(HeldBit(own.steps[0], (*own.codes[0].holders, *_also(own, copies))),))
    assert is_proved(changed, program, both)
    assert Truth(changed, program, [both], 4).holds_where_set(random.Random(0))


def _also(own: CausalVariable, copies: dict[int, int]) -> list[Holder]:
    return [Holder(copies[holder.coordinate], holder.opposite) for holder in own.codes[0].holders]


def _reading(layer: Layer, to: dict[int, int]) -> Layer:
    def moved(form: tuple[tuple[int, Fraction], ...]) -> tuple[tuple[int, Fraction], ...]:
        return tuple(sorted((to.get(c, c), x) for c, x in form))

    heads = tuple(
        replace(
            head,
            query=tuple(map(moved, head.query)),
            key=tuple(map(moved, head.key)),
            values=tuple(map(moved, head.values)),
        )
        for head in layer.heads
    )
    return replace(
        layer,
        heads=heads,
        hidden=tuple(replace(unit, form=moved(unit.form)) for unit in layer.hidden),
    )


def test_values_that_do_not_exclude_each_other_are_no_variable() -> None:
    model = attemper.compile("O (O a & c) & O (O b & c)", "abc")
    program, variables = found_in(model)
    one, other = [own for own in variables if own.layer == 0][:2]
    joined = CausalVariable(0, (*one.codes, *other.codes))
    with pytest.raises(UnprovenError, match="are not seen to exclude each other"):
        follow(model.network, program, [joined])


def test_an_output_coordinate_of_the_last_layer_is_no_variable() -> None:
    model = attemper.compile("O a", "ab")
    program, _ = found_in(model)
    own = CausalVariable(0, (HeldBit(program.output, (Holder(model.network.output, opposite=False),)),))
    (complaint,) = mismatches(model.network, program, [own])
    assert "is put out as it was set" in complaint


# What a reader of the rule found ----------------------------------------------------------------------------


def judged(model: Model, program: Program, *variables: CausalVariable) -> ClaimVerdict:
    claim = CausalClaim(model.digest, program, variables)
    return judge_causal(model.network, model.digest, claim).claims[0]


@pytest.mark.parametrize(
    ("layer", "coordinate", "step", "said"),
    [
        (-1, 1, 3, "there is no layer -1"),
        (0, -1, 3, "there is no coordinate -1"),
        (0, 1, -1, "there is no step -1"),
    ],
)
def test_numbers_below_0_that_no_file_can_have_are_malformed(
    layer: int, coordinate: int, step: int, said: str
) -> None:
    model = attemper.compile("O (a & O b)", "ab")
    program, _ = found_in(model)
    own = CausalVariable(layer, (HeldBit(step, (Holder(coordinate, opposite=False),)),))
    found = judged(model, program, own)
    assert (found.status, found.text) == (Status.MALFORMED, said)


def test_a_program_that_means_nothing_is_neither_proved_nor_refuted() -> None:
    """A step that is 2, which nothing reads; and a count beyond 2^62."""
    model = attemper.compile("O (a & O b)", "ab")
    program, (own,) = found_in(model)
    two = replace(program, steps=(*program.steps, Place(number(2))))
    assert judged(model, two, own).status is Status.UNKNOWN
    count = len(program.steps)
    much = (Count(Mask.UP_TO, 0), Linear(((2**40, count),), 0), Linear(((2**40, count + 1),), 0))
    large = replace(program, steps=(*program.steps, *much))
    assert judged(model, large, own).status is Status.UNKNOWN


def test_a_promise_that_only_a_setting_breaks_refutes_nothing() -> None:
    """Set both letters of a union, and the program puts out 2: it means nothing then."""
    found = judge_causal(either(Fraction(1)), "", of_letters(Connective.UNION))
    assert found.status is Status.UNKNOWN
    assert "may hold together" in found.claims[0].text
    assert judge_causal(either(Fraction(1)), "", of_letters(Connective.OR)).status is Status.PROVED


def test_a_row_that_is_off_refutes_though_nothing_that_is_put_out_shows_it() -> None:
    found = judge_causal(either(Fraction(9, 8)), "", of_letters(Connective.OR))
    assert found.status is Status.REFUTED
    assert found.claims[0].text == "on 'a', coordinate 2 after layer 0 is 1 + 0.125 at position 1"


def test_a_program_with_defaults_is_asked_about_as_it_is_run() -> None:
    lines = ("alphabet a b", "empty reject", "both = in 'b' & previous in 'a'")
    text = "\n".join([*lines, "output rightmost[j <= i : both(j)] both else false", ""])
    found = attemper.causal(attemper.compile(attemper.program(text)))
    assert found.claim is not None
    assert not list(complaints(found.claim))


def test_what_is_no_claim_about_the_network_is_named() -> None:
    """Each complaint alone, and none of a claim that fits."""
    network, said = either(Fraction(1)), of_letters(Connective.OR)
    program, variables = said.program, said.variables
    (own, _) = variables

    def found(network: Network = network, program: Program = program, own: CausalVariable = own) -> list[str]:
        return list(mismatches(network, program, [own]))

    assert found() == []
    symbols = replace(program, symbols=(("x", program.output),))
    assert found(program=symbols) == ["the network puts out other symbols than the program, or numbers"]
    assert found(network=replace(network, symbols=(("y", 4),)), program=symbols) == found(program=symbols)
    assert found(network=replace(network, symbols=(("x", 4),)), program=symbols) == []
    assert found(network=replace(network, measure=Measure.FRACTION)) == found(program=symbols)
    turned = replace(program, alphabet=Alphabet(("b", "a")))
    assert found(program=turned) == ["the program reads other symbols than the network, or in another order"]
    assert found(own=replace(own, layer=2)) == ["there is no layer 2"]
    far = replace(own, codes=(HeldBit(0, (Holder(5, opposite=False),)),))
    assert found(own=far) == ["there is no coordinate 5"]
    last = replace(own, layer=1, codes=(HeldBit(0, (Holder(4, opposite=False),)),))
    (complaint,) = found(own=last)
    assert complaint.startswith("coordinate 4 is put out as it was set")
    assert found(own=replace(last, layer=0)) == []
    assert found(own=replace(own, layer=1)) == []
    normal = attemper.compile("O a", "ab", regime="temperature", layer_norm=attemper.LayerNorm()).network
    assert found(network=normal)[0] == "its sublayers read normalised numbers"


def test_what_a_variable_is_made_of_is_held_before_it() -> None:
    said = of_letters(Connective.OR)
    one, other = said.variables
    made = CausalVariable(1, (HeldBit(2, (Holder(0, opposite=False),)),))
    require_order(said.program, [one, other, made])
    for layer in (0, 1):
        late = replace(one, layer=1)
        with pytest.raises(UnprovenError, match="step 2 is made of step 0, which no earlier layer holds"):
            require_order(said.program, [late, replace(made, layer=layer)])
    assert ancestors(said.program, 2) == {0, 1}
    assert ancestors(said.program, 0) == set()
    both = CausalVariable(0, (*one.codes, HeldBit(2, (Holder(3, opposite=False),))))
    with pytest.raises(UnprovenError, match="step 2 is made of step 0"):
        require_order(said.program, [both])


def test_a_label_cannot_say_anything_in_a_verdict() -> None:
    """Whoever makes a network names its coordinates: a claim does not repeat it, and a text quotes it."""
    model = attemper.compile("O (a & O b)", "ab")
    forged = "x' is s0; x9 'y"
    labels = (forged,) * len(model.network.coordinates)
    found = attemper.causal(replace(model, network=replace(model.network, coordinates=labels)))
    assert found.verdict is not None
    assert all(forged not in claim.text for claim in found.verdict.claims)
    assert f'"{forged}" is s' in found.variables[0].text
