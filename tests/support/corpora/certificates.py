"""The corpora of saved certificates: `python -m tests.support.corpora.certificates` writes them anew.

With `--verdicts` it writes nothing, and prints the verdict on each; with `--digests` it prints the digest of
each network of the literature, compiled anew. Two commits are compared by `diff`.

Each entry is a folder as the library writes it (network.json, weights.safetensors, certificate.json),
named after what was done to it. Accepted entries are proved, rejected ones are not (a short word refutes
them, or no proof is found), malformed ones are no certificate of their network at all.
"""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import attemper
from attemper.attention_program import ops
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.certificates.claims import Certificate, FloatClaim, RealClaim, SourceMeaning
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.checker.folders import check_path
from attemper.errors import AttemperError
from attemper.exact.closed_forms import number, times
from attemper.files import CERTIFICATE
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Binary, BinaryOperator, Symbol
from attemper.languages.words import Alphabet
from attemper.networks.files import WEIGHTS, digest_of
from attemper.networks.files import save as save_network
from attemper.networks.layers import Head, Masking, Network, Softmax
from attemper.networks.regime import Regime as RegimeKind
from attemper.networks.safetensors import Tensor
from attemper.networks.structure import Provenance
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests import ROOT
from tests.support.corpora.literature import ENTRIES
from tests.support.corpora.literature.compiled import compiled
from tests.support.mutants.attacks import ATTACKS, Attack, network_of
from tests.support.mutants.one_change import put_at
from tests.support.mutants.saved import change_structure, change_weights, read_structure, with_number

CORPORA = ROOT / "tests" / "checker" / "corpora"
CLASSES = ("accepted", "rejected", "malformed")

Regime = Literal["unbounded", "temperature", "decoder"]
Change = Callable[[Network], Network]


def write_all(root: Path) -> None:
    """Write every corpus below the folder, in place of what stands there."""
    writers = {"accepted": write_accepted, "rejected": write_rejected, "malformed": write_malformed}
    for name, write in writers.items():
        shutil.rmtree(root / name, ignore_errors=True)
        write(root / name)


# Accepted --------------------------------------------------------------------------------------------


def write_accepted(folder: Path) -> None:
    """As certified, with claims that say less than is so, with weights that work better than certified."""
    _write(folder / "since_as_certified", _since())
    _write(folder / "yesterday_as_certified", _model("Y a", "temperature"))
    _write(folder / "majority_as_certified", _majority())
    _write(folder / "prime_count_as_certified", _model("prime(#<[a])", "unbounded"))
    since = _since()
    certificate = since.certify()
    bare = replace(certificate, claims=(RealClaim(),))
    _write(folder / "bare_claim", since, certificate=bare)
    _write(folder / "colder", since, _with_head(_colder(2)), replace(certificate, claims=(RealClaim(),)))
    _write(folder / "read_at_the_other_end", since, lambda n: replace(n, reads_first=True), certificate)
    _write(folder / "horizons_understated", since, certificate=_with_horizons(certificate, lambda h: h // 2))
    last = _last_b()
    _write(folder / "automaton_as_certified", last)
    _write(folder / "groups_turned_round", last, certificate=_with_groups(last, _turned))
    for name, model in (("since", since), ("majority", _majority()), ("last_b", last)):
        _write(folder / f"program_of_{name}", _claiming(model, _program(model), _groups(model)))
    _write(folder / "program_with_a_step_that_nobody_reads", _claiming(since, _with_step(_program(since))))


# Rejected --------------------------------------------------------------------------------------------


def write_rejected(folder: Path) -> None:
    """Claims beyond the truth, networks that are not what they were, false programs and groups."""
    _write_overclaimed(folder)
    _write_false_programs(folder)
    _write_false_groups(folder)
    since, majority, yesterday = _since(), _majority(), _model("Y a", "temperature")
    networks: dict[str, tuple[Model, Change]] = {
        "mask_flipped": (since, _with_head(lambda h: replace(h, masking=Masking.PAST))),
        "mask_removed": (since, _with_head(lambda h: replace(h, masking=Masking.NONE))),
        "colder_query_sign_flipped": (since, _with_head(lambda h: _query_times(_colder(2)(h), -1))),
        "query_zeroed": (since, _with_head(lambda h: replace(h, query=((),) * len(h.query)))),
        "value_negated": (since, _with_head(lambda h: replace(h, values=_scaled(h.values, -1)))),
        "as_warm_as_one": (since, _with_head(lambda h: replace(h, weighting=Softmax(number(1))))),
        "warmer_than_certified": (majority, _with_head(_colder(Fraction(1, 4)), layer=1)),
        "sum_reads_past": (majority, _with_head(lambda h: replace(h, masking=Masking.PAST))),
        "position_embedding_negated": (yesterday, _position_negated),
        "embedding_swapped": (since, lambda n: replace(n, embedding=n.embedding[::-1])),
        "bias_off_the_step": (since, _bias_moved),
    }
    for name, (model, change) in networks.items():
        _write(folder / name, model, change)
    for name, made in ATTACKS.items():
        _write_attack(folder / name, made())


def _write_attack(folder: Path, attack: Attack) -> None:
    """A hand-built network with the claims that an earlier checker called PROVED."""
    language = TemporalLanguage(parse(attack.formula, attack.network.alphabet), At.LAST, accepts_empty=False)
    source = Provenance("formula", show(language.formula), "last", "unbounded")
    claim = FloatClaim(attack.format, "numerator-first", attack.horizon, "")
    folder.mkdir(parents=True)
    save_network(attack.network, source, folder)
    digest = digest_of(attack.network, source)
    save_certificate(Certificate(digest, language, (RealClaim(), claim)), folder)


def _write_overclaimed(folder: Path) -> None:
    """The network is as it was; the certificate says more of it than is so."""
    since, majority = _since(), _majority()
    certificate, counted = since.certify(), majority.certify()
    for name, by in (("stretched_by_one", lambda h: h + 1), ("doubled", lambda h: 2 * h)):
        _write(folder / f"horizon_{name}", since, certificate=_with_horizons(certificate, by))
    other = tuple(
        replace(c, kernel="normalise-first") if isinstance(c, FloatClaim) else c for c in counted.claims
    )
    _write(folder / "horizon_of_the_other_kernel", majority, certificate=replace(counted, claims=other))
    language = since.language.definition
    assert isinstance(language, TemporalLanguage)
    assert isinstance(language.formula, Binary)
    swapped = Binary(BinaryOperator.SINCE, language.formula.right, language.formula.left)
    said = replace(language, formula=swapped)
    _write(folder / "formula_of_swapped_operands", since, certificate=certificate, language=said)


def _write_false_programs(folder: Path) -> None:
    """A network that is right, said to run another program than it does, or to be of another automaton."""
    since, majority, yesterday, last = _since(), _majority(), _model("Y a", "temperature"), _last_b()
    _write(
        folder / "program_of_another_network", last, certificate=_with_program(last, _program(_pairs()), ())
    )
    program, output = _program(last), _program(last).output
    # The last letter's latch, read the other way.
    (latch,) = (k for k, step in enumerate(program.steps) if _is_of_layer_2(step))
    attend = program.steps[latch]
    assert isinstance(attend, ops.Attend)
    leftmost = _with_steps(program, {latch: replace(attend, choice=ops.Choice.LEFTMOST)})
    _write(folder / "program_that_chooses_leftmost", last, certificate=_with_program(last, leftmost))
    inclusive = _with_steps(program, {latch: replace(attend, mask=ops.Mask.UP_TO)})
    _write(folder / "program_that_sees_itself", last, certificate=_with_program(last, inclusive))
    earlier = replace(program, output=output - 1)
    _write(folder / "program_with_another_output", last, certificate=_with_program(last, earlier))
    for name, dfa in (
        ("program_for_another_automaton", minimal(replace(_dfa(last), accepting=frozenset({2})))),
        ("no_program_for_an_automaton", _dfa(last)),
    ):
        said = last.realisation if name == "program_for_another_automaton" else None
        certificate = Certificate.by_way_of(said, "", dfa, (RealClaim(),))
        _write(folder / name, last, certificate=certificate, language=dfa)
    claims: dict[str, tuple[Model, ops.Program]] = {
        # A shift reads i itself where there is no neighbour: it is wrong at the first position only.
        "program_without_its_guard": (
            yesterday,
            _program_of(ops.Letter(("a",)), ops.Shift(ops.Direction.PREVIOUS, 0, default=None)),
        ),
        "program_with_another_threshold": (majority, _with_compare(_program(majority))),
        "program_of_a_strict_mask": (since, _with_strict_masks(_program(since))),
        # Where nothing is b the head falls on the last blocked position, whose letter is a.
        "program_that_finds_nothing": (
            since,
            _program_of(
                ops.Letter(("b",)),
                ops.Letter(("a", "b")),
                ops.Attend(ops.Mask.UP_TO, ops.Choice.RIGHTMOST, ops.everywhere(0), 1, None),
            ),
        ),
    }
    for name, (model, other) in claims.items():
        _write(folder / name, _claiming(model, other), certificate=_claimed(model, other))
    _write_union(folder / "union_of_bits_that_hold_together")


def _write_union(folder: Path) -> None:
    """[a] twice is 2 at the letter a, and "a union" of both would be [a]; the network does add them up."""
    network = network_of(2, [[(0, 2)], [(1, 1)]], {}, [], 0)
    program = _program_of(ops.Letter(("a",)), ops.Gate(ops.Connective.UNION, (0, 0)))
    language = Language(ProgramLanguage(program, At.LAST, accepts_empty=False), network.alphabet)
    model = Model(network, language, RegimeKind.UNBOUNDED)
    _write(folder, model, certificate=_claimed(model, program))


def _write_false_groups(folder: Path) -> None:
    """Bits said to exclude each other that do not, or to be what they are not."""
    last = _last_b()
    (group,) = _groups(last)
    (first, second, *others), network = group.bits, last.network
    letter = network.coordinates.index("letter a")
    latch = next(c for c, label in enumerate(network.coordinates) if label.startswith("attended (level 1"))
    false: dict[str, SymbolGroup] = {
        # One of the symbols is "a after a": the letter a holds then, too.
        "group_of_bits_that_hold_together": replace(group, bits=(*group.bits, (letter, 0))),
        "group_of_one_bit_twice": replace(group, bits=(*group.bits, first)),
        "group_of_the_wrong_step": replace(
            group, bits=((first[0], second[1]), (second[0], first[1]), *others)
        ),
        "group_of_the_wrong_coordinate": replace(group, bits=((letter, first[1]), second, *others)),
        "group_of_a_step_that_is_none": SymbolGroup(0, ((first[0], len(_program(last).steps)),)),
        "group_of_no_coordinate": SymbolGroup(0, ((len(network.coordinates), first[1]),)),
        "group_of_no_layer": replace(group, layer=len(network.layers)),
        # What a head writes is a bit up to a small error.
        "group_of_a_bit_that_is_not_exact": SymbolGroup(1, ((latch, 18),)),
    }
    for name, other in false.items():
        _write(folder / name, last, certificate=_with_groups(last, lambda _, own=other: (own,)))
    claim = _claiming(last, _program(last), (false["group_of_bits_that_hold_together"],))
    _write(folder / "group_in_a_claim_about_a_program", claim, certificate=_claimed(claim, _program(last)))


# Malformed -------------------------------------------------------------------------------------------


def write_malformed(folder: Path) -> None:
    """Files that are no certificate, or one of another network or formula."""
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "claim_without_arithmetic": lambda data: data["claims"][0].pop(0),
        "claims_nothing": lambda data: data["claims"].clear(),
        "negative_horizon": lambda data: data["claims"][1].__setitem__(3, -1),
        "horizon_that_is_true": lambda data: data["claims"][1].__setitem__(3, True),
        "arithmetic_of_no_format": lambda data: data["claims"][1].__setitem__(1, "float8"),
        "kernel_of_no_class": lambda data: data["claims"][1].__setitem__(2, "exact"),
        "another_network": lambda data: data.update(network="0" * 64),
        "another_version": lambda data: data.update(format="attemper-certificate/4"),
        "made_by_an_older_attemper": lambda data: data.update(format="attemper-certificate/2"),
        "groups_without_a_program": lambda data: data.update(groups=[{"layer": 0, "bits": [[0, 0]]}]),
        "one_entry_more": lambda data: data.update(trusted=True),
        "read_at_the_other_end": lambda data: data["language"].__setitem__(2, "first"),
        "other_verdict_on_the_empty_word": lambda data: data["language"].__setitem__(3, True),
        "subformula_read_before_it_is_there": lambda data: data["language"][1].reverse(),
    }
    for name, change in changes.items():
        _change(_write(folder / name, _since()), change)
    _write_malformed_programs(folder)
    path = _write(folder / "network_made_by_an_older_attemper", _since())
    change_structure(path, lambda structure: structure.update(format="attemper-network/3"))
    since = _since()
    for name, formula in (
        ("formula_of_another_network", Binary(BinaryOperator.SINCE, Symbol("b"), Symbol("a"))),
        ("formula_of_another_kind", Symbol("a")),
    ):
        path = _write(folder / name, since)
        assert isinstance(since.language.definition, TemporalLanguage)
        language = replace(since.language.definition, formula=formula)
        save_certificate(replace(since.certify(), network=since.digest, language=language), path)
    path = _write(folder / "truncated_json", _since()) / CERTIFICATE
    path.write_bytes(path.read_bytes()[:-40])
    path = _write(folder / "nested_too_deeply", _since()) / CERTIFICATE
    path.write_text("[" * 20_000 + "\n", encoding="utf-8")
    path = _write(folder / "weights_changed_afterwards", _since()) / WEIGHTS
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    _write_dropped(folder)


def _write_malformed_programs(folder: Path) -> None:
    """Programs and groups that cannot be written, in an automaton's certificate."""
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "step_that_reads_itself": lambda data: data["program"]["steps"].__setitem__(4, ["not", 4]),
        "step_that_nobody_knows": lambda data: data["program"]["steps"].__setitem__(4, ["nor", [0, 1]]),
        "step_with_a_default": lambda data: data["program"]["steps"][3].__setitem__(-1, 1),
        "output_that_is_no_step": lambda data: data["program"].update(output=99),
        "output_that_is_true": lambda data: data["program"].update(output=True),
        "group_without_bits": lambda data: data["groups"].append({"layer": 0, "bits": []}),
        "group_of_a_negative_step": lambda data: data["groups"][0]["bits"][0].__setitem__(1, -1),
        "group_of_a_layer_that_is_no_number": lambda data: data["groups"][0].update(layer="0"),
        "program_over_no_symbols": lambda data: data["program"].update(alphabet=[]),
    }
    for name, change in changes.items():
        _change(_write(folder / name, _last_b()), change)
    path = _write(folder / "program_said_twice", _claiming(_since(), _program(_since())))
    _change(path, lambda data: data.update(program=data["language"][1]))
    path = _write(folder / "program_of_another_source", _claiming(_since(), _program(_since())))
    _change(path, lambda data: data["language"][1]["steps"].__setitem__(0, ["letter", ["a"]]))


def _change(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the parsed certificate."""
    path = folder / CERTIFICATE
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")


def _write_dropped(folder: Path) -> None:
    """Weights in columns that a head does not use by its numbers of rows and values; all digests fit."""
    # Head 0 averages, with a value and no rows. Query and key would make it look at letters.
    counted = {"blocks.0.attn.W_Q": ((0, 0, 0), 64.0), "blocks.0.attn.W_K": ((0, 4, 0), 1.0)}
    # Head 0 selects, with two rows and a value. A second value would be added to the first.
    selected = {"blocks.0.attn.W_V": ((0, 0, 1), 8.0), "blocks.0.attn.W_O": ((0, 1, 3), 0.5)}
    columns = (("dropped_columns", _majority(), counted), ("dropped_values", _since(), selected))
    for name, model, weights in columns:
        path = _write(folder / name, model)
        change_weights(path, lambda tensors, weights=weights: tensors.update(_with_numbers(tensors, weights)))
        network = read_structure(path)["digest"]
        save_certificate(replace(load_certificate(path), network=network), path)


def _with_numbers(
    tensors: dict[str, Tensor], weights: dict[str, tuple[tuple[int, int, int], float]]
) -> dict[str, Tensor]:
    """The tensors of which one number, at its index, is replaced."""
    found: dict[str, Tensor] = {}
    for name, ((head, row, column), weight) in weights.items():
        _, rows, columns = tensors[name].shape
        found[name] = with_number(tensors[name], (head * rows + row) * columns + column, weight)
    return found


# Models and changes ----------------------------------------------------------------------------------


def _since() -> Model:
    return _model("a S b", "temperature")


def _majority() -> Model:
    return _model("#<[a] <= #<[b]", "decoder")


def _model(formula: str, regime: Regime) -> Model:
    return attemper.compile(formula, "ab", regime=regime)


def _last_b() -> Model:
    """The automaton of a*b, whose certificate has a program and a group of bits."""
    return attemper.compile(attemper.regex("a*b", "ab"), regime="decoder")


def _pairs() -> Model:
    return attemper.compile(attemper.regex("(ab)*", "ab"), regime="decoder")


def _dfa(model: Model) -> Dfa:
    assert isinstance(model.language.definition, Dfa)
    return model.language.definition


def _program(model: Model) -> ops.Program:
    assert model.realisation is not None
    return model.realisation.program


def _groups(model: Model) -> tuple[SymbolGroup, ...]:
    assert model.realisation is not None
    return model.realisation.groups


def _turned(groups: tuple[SymbolGroup, ...]) -> tuple[SymbolGroup, ...]:
    return tuple(replace(group, bits=group.bits[::-1]) for group in groups)


def _claiming(model: Model, program: ops.Program, groups: tuple[SymbolGroup, ...] = ()) -> Model:
    """The model's network, claimed to run a program."""
    language = ProgramLanguage(program, At.LAST, model.network.accepts_empty)
    return replace(model, language=Language(language, model.alphabet), said=Realisation(program, groups))


def _claimed(model: Model, program: ops.Program) -> Certificate:
    """That the network runs the program, in real arithmetic; nobody has asked whether it does."""
    said = model.realisation if model.realisation and model.realisation.program == program else None
    language = ProgramLanguage(program, At.LAST, model.network.accepts_empty)
    return Certificate("", language, (RealClaim(),), groups=said.groups if said else ())


def _program_of(*steps: ops.Step) -> ops.Program:
    """A program over a and b whose last step is the output."""
    return ops.Program(Alphabet(("a", "b")), steps, len(steps) - 1)


def _with_step(program: ops.Program) -> ops.Program:
    return replace(program, steps=(*program.steps, ops.Count(ops.Mask.AFTER, 0)))


def _with_steps(program: ops.Program, steps: dict[ops.Ref, ops.Step]) -> ops.Program:
    """Other steps in some places."""
    return replace(program, steps=tuple(steps.get(k, step) for k, step in enumerate(program.steps)))


def _with_compare(program: ops.Program) -> ops.Program:
    """Every threshold one higher."""
    steps = enumerate(program.steps)
    higher = {k: replace(s, threshold=s.threshold + 1) for k, s in steps if isinstance(s, ops.Compare)}
    return _with_steps(program, higher)


def _with_strict_masks(program: ops.Program) -> ops.Program:
    steps = enumerate(program.steps)
    strict = {k: replace(s, mask=ops.Mask.BEFORE) for k, s in steps if isinstance(s, ops.Attend)}
    return _with_steps(program, strict)


def _is_of_layer_2(step: ops.Step) -> bool:
    """The latch of a*b: what it looks for is made of symbols of the first layer."""
    return isinstance(step, ops.Attend) and step.where is not None and step.where > 10


def _with_program(
    model: Model, program: ops.Program, groups: tuple[SymbolGroup, ...] | None = None
) -> Certificate:
    """The certificate with another program; only the claim in real arithmetic stays."""
    said = Realisation(program, _groups(model) if groups is None else groups)
    return Certificate.by_way_of(said, "", model.language.definition, (RealClaim(),))


def _with_groups(
    model: Model, change: Callable[[tuple[SymbolGroup, ...]], tuple[SymbolGroup, ...]]
) -> Certificate:
    """The certificate with other groups; only the claim in real arithmetic stays."""
    return _with_program(model, _program(model), change(_groups(model)))


def _write(
    folder: Path,
    model: Model,
    change: Change = lambda network: network,
    certificate: Certificate | None = None,
    *,
    language: SourceMeaning | None = None,
) -> Path:
    """The changed network with the certificate (default: of the model), which then is about that network."""
    network, said = change(model.network), language or model.language.definition
    if network.reads_first != model.network.reads_first:
        assert isinstance(said, TemporalLanguage)
        said = replace(said, at=At.FIRST)
    written = "" if language else model.language.written
    spoken = Language(said, network.alphabet, written=written)
    source = replace(model, network=network, language=spoken).source
    folder.mkdir(parents=True)
    save_network(network, source, folder)
    about = replace(certificate or model.certify(), network=digest_of(network, source), language=said)
    save_certificate(about, folder)
    return folder


def _with_head(change: Callable[[Head], Head], layer: int = 0) -> Change:
    """Change the first head of a layer."""

    def changed(network: Network) -> Network:
        own = network.layers[layer]
        heads = (change(own.heads[0]), *own.heads[1:])
        return replace(network, layers=put_at(network.layers, layer, replace(own, heads=heads)))

    return changed


def _colder(factor: int | Fraction) -> Callable[[Head], Head]:
    def change(head: Head) -> Head:
        assert isinstance(head.weighting, Softmax)
        return replace(head, weighting=Softmax(times(factor, head.weighting.inverse_temperature)))

    return change


def _query_times(head: Head, factor: int) -> Head:
    return replace(head, query=_scaled(head.query, factor))


def _scaled(
    forms: tuple[tuple[tuple[int, Fraction], ...], ...], factor: int
) -> tuple[tuple[tuple[int, Fraction], ...], ...]:
    return tuple(tuple((coordinate, factor * weight) for coordinate, weight in form) for form in forms)


def _position_negated(network: Network) -> Network:
    """The first position embedding negated."""
    (coordinate, form), *rest = network.positions
    return replace(network, positions=((coordinate, times(-1, form)), *rest))


def _bias_moved(network: Network) -> Network:
    """The bias of the first hidden unit a quarter and a little higher; its pair is no clamp any more."""
    layer = network.layers[0]
    moved = replace(layer.hidden[0], bias=layer.hidden[0].bias + Fraction(1, 4) + Fraction(1, 2**40))
    hidden = (moved, *layer.hidden[1:])
    return replace(network, layers=put_at(network.layers, 0, replace(layer, hidden=hidden, clamps=())))


def _with_horizons(certificate: Certificate, change: Callable[[int], int]) -> Certificate:
    claims = tuple(
        replace(claim, horizon=change(claim.horizon)) if isinstance(claim, FloatClaim) else claim
        for claim in certificate.claims
    )
    return replace(certificate, claims=claims)


# Compared by `diff` -------------------------------------------------------------------------------------


def verdict_lines() -> Iterator[str]:
    """Each saved entry with its verdict, and what is said of every claim."""
    for path in sorted(path for corpus in CLASSES for path in (CORPORA / corpus).iterdir()):
        verdict = check_path(path)
        claims = "; ".join(f"{claim.status}: {claim.text}" for claim in verdict.claims)
        yield f"{path.parent.name}/{path.name}\t{verdict.status}\t{claims}".replace(f"{CORPORA}/", "")


def digest_lines() -> Iterator[str]:
    """Each language of the literature in each regime, with its network's digest or why there is none."""
    for name, entry in ENTRIES.items():
        for regime in RegimeKind:
            try:
                found = compiled(entry, regime.value).digest
            except AttemperError as error:
                found = " ".join(str(error).split())
            yield f"{name}\t{regime}\t{found}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the corpora, or print what is asked for."""
    parser = ArgumentParser(prog="python -m tests.support.corpora.certificates", description=__doc__)
    asked = parser.add_mutually_exclusive_group()
    for name, lines in (("--verdicts", verdict_lines), ("--digests", digest_lines)):
        asked.add_argument(name, action="store_const", const=lines, dest="lines")
    lines = parser.parse_args(arguments).lines
    if lines is None:
        write_all(CORPORA)
        return
    for line in lines():
        print(line, flush=True)  # noqa: T201 - what is asked for


if __name__ == "__main__":
    main()
