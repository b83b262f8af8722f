"""The corpora of saved certificates: `python -m tests.support.corpora` writes them anew.

Each entry is a folder as the library writes it (network.json, weights.safetensors, certificate.json),
named after what was done to it. Accepted entries are proved, rejected ones are not (a short word refutes
them, or no proof is found), malformed ones are no certificate of their network at all.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import attemper
from attemper.certificates.claims import Certificate, FloatClaim, RealClaim
from attemper.certificates.evidence import MeansSubformula, RoundedLayer, SoftenedHead
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.exact.closed_forms import number, times
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Binary, BinaryOperator, Symbol
from attemper.networks.files import WEIGHTS, Source, digest_of
from attemper.networks.files import save as save_network
from attemper.networks.layers import Head, Masking, Network, Softmax
from attemper.networks.safetensors import Tensor
from attemper.workbench.model import Model
from tests.support.attacks import ATTACKS, Attack
from tests.support.mutants import put_at
from tests.support.saved import change_weights, read_structure, with_number

CORPORA = Path(__file__).parents[1] / "checker" / "corpora"
CLASSES = ("accepted", "rejected", "malformed")

Regime = Literal["unbounded", "temperature", "decoder"]
Change = Callable[[Network], Network]


def write_all(root: Path) -> None:
    """Write every corpus below the folder, in place of what stands there."""
    for name, write in (
        ("accepted", write_accepted),
        ("rejected", write_rejected),
        ("malformed", write_malformed),
    ):
        shutil.rmtree(root / name, ignore_errors=True)
        write(root / name)


# Accepted --------------------------------------------------------------------------------------------


def write_accepted(folder: Path) -> None:
    """As certified, with less evidence than there is, with weights that work better than certified."""
    _write(folder / "since_as_certified", _since())
    _write(folder / "yesterday_as_certified", _model("Y a", "temperature"))
    _write(folder / "majority_as_certified", _majority())
    _write(folder / "prime_count_as_certified", _model("prime(#<[a])", "unbounded"))
    since = _since()
    certificate = since.certify()
    bare = replace(certificate, claims=(RealClaim(),), evidence=())
    _write(folder / "bare_claim", since, certificate=bare)
    _write(folder / "colder", since, _with_head(_colder(2)), replace(certificate, claims=(RealClaim(),)))
    _write(folder / "read_at_the_other_end", since, lambda n: replace(n, reads_first=True), certificate)
    _write(folder / "horizons_understated", since, certificate=_with_horizons(certificate, lambda h: h // 2))
    _write(folder / "masses_overstated", since, certificate=_overstated(certificate))


# Rejected --------------------------------------------------------------------------------------------


def write_rejected(folder: Path) -> None:
    """Claims and evidence that are stronger than the truth, and networks that are not what they were."""
    _write_overclaimed(folder)
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
    source = Source("formula", show(language.formula), "last", "unbounded")
    claim = FloatClaim(attack.format, "numerator-first", attack.horizon, "")
    folder.mkdir(parents=True)
    save_network(attack.network, source, folder)
    digest = digest_of(attack.network, source)
    save_certificate(Certificate(digest, language, (RealClaim(), claim), ()), folder)


def _write_overclaimed(folder: Path) -> None:
    """The network is as it was; the certificate says more of it than is so."""
    since, majority = _since(), _majority()
    certificate, counted = since.certify(), majority.certify()
    stretched = {
        "horizon_stretched_by_one": _with_horizons(certificate, lambda h: h + 1),
        "horizon_doubled": _with_horizons(certificate, lambda h: 2 * h),
        "gap_widened": _with_evidence(certificate, _more_margin),
        "stray_mass_shrunk": _with_evidence(certificate, _less_mass),
        "layer_error_shrunk": _with_evidence(certificate, _less_error),
        "meaning_moved": _with_evidence(certificate, _moved),
        "head_that_does_not_exist": _with_evidence(certificate, _further),
    }
    for name, overclaimed in stretched.items():
        _write(folder / name, since, certificate=overclaimed)
    kernels = replace(
        counted,
        claims=tuple(
            replace(c, kernel="normalise-first") if isinstance(c, FloatClaim) else c for c in counted.claims
        ),
    )
    _write(folder / "horizon_of_the_other_kernel", majority, certificate=kernels)
    language = since.language
    assert isinstance(language.formula, Binary)
    swapped = Binary(BinaryOperator.SINCE, language.formula.right, language.formula.left)
    _write(
        folder / "formula_of_swapped_operands",
        since,
        certificate=certificate,
        language=replace(language, formula=swapped),
    )


# Malformed -------------------------------------------------------------------------------------------


def write_malformed(folder: Path) -> None:
    """Files that are no certificate, or one of another network or formula."""
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "claim_without_arithmetic": lambda data: data["claims"][0].pop("arithmetic"),
        "claims_nothing": lambda data: data["claims"].clear(),
        "negative_margin": lambda data: data["heads"][0].__setitem__(2, "-1"),
        "mass_divided_by_zero": lambda data: data["heads"][0].__setitem__(3, "1/0"),
        "negative_horizon": lambda data: data["claims"][1].update(horizon=-1),
        "horizon_that_is_true": lambda data: data["claims"][1].update(horizon=True),
        "arithmetic_of_no_format": lambda data: data["claims"][1].update(arithmetic="float8"),
        "kernel_of_no_class": lambda data: data["claims"][1].update(kernel="exact"),
        "another_network": lambda data: data.update(network="0" * 64),
        "another_version": lambda data: data.update(format="attemper-certificate/2"),
        "one_entry_more": lambda data: data.update(trusted=True),
        "read_at_the_other_end": lambda data: data["source"].update(at="first"),
        "other_verdict_on_the_empty_word": lambda data: data["source"].update(accepts_empty=True),
        "subformula_read_before_it_is_there": lambda data: data["source"]["formula"].reverse(),
    }
    for name, change in changes.items():
        path = _write(folder / name, _since()) / CERTIFICATE
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    since = _since()
    for name, formula in (
        ("formula_of_another_network", Binary(BinaryOperator.SINCE, Symbol("b"), Symbol("a"))),
        ("formula_of_another_kind", Symbol("a")),
    ):
        path = _write(folder / name, since)
        language = replace(since.language, formula=formula)
        save_certificate(replace(since.certify(), network=since.digest, language=language), path)
    path = _write(folder / "truncated_json", _since()) / CERTIFICATE
    path.write_bytes(path.read_bytes()[:-40])
    path = _write(folder / "nested_too_deeply", _since()) / CERTIFICATE
    path.write_text("[" * 20_000 + "\n", encoding="utf-8")
    path = _write(folder / "weights_changed_afterwards", _since()) / WEIGHTS
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    _write_dropped(folder)


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


def _write(
    folder: Path,
    model: Model,
    change: Change = lambda network: network,
    certificate: Certificate | None = None,
    *,
    language: TemporalLanguage | None = None,
) -> Path:
    """The changed network with the certificate (default: of the model), which then is about that network."""
    network, said = change(model.network), language or model.language
    if network.reads_first != model.network.reads_first:
        said = replace(said, at=At.FIRST)
    source = Source("formula", show(said.formula), str(said.at), str(model.regime))
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


Piece = SoftenedHead | RoundedLayer | MeansSubformula


def _with_evidence(certificate: Certificate, change: Callable[[Piece], Piece]) -> Certificate:
    """The evidence changed; only the claim in real arithmetic stays, so that nothing else is wrong."""
    return replace(
        certificate, claims=(RealClaim(),), evidence=tuple(change(item) for item in certificate.evidence)
    )


def _more_margin(item: Piece) -> Piece:
    return replace(item, margin=item.margin + Fraction(1, 2**60)) if isinstance(item, SoftenedHead) else item


def _less_mass(item: Piece) -> Piece:
    return (
        replace(item, stray_mass=item.stray_mass * Fraction(999, 1000))
        if isinstance(item, SoftenedHead)
        else item
    )


def _less_error(item: Piece) -> Piece:
    return replace(item, error=item.error * Fraction(999, 1000)) if isinstance(item, RoundedLayer) else item


def _moved(item: Piece) -> Piece:
    return replace(item, coordinate=item.coordinate + 1) if isinstance(item, MeansSubformula) else item


def _further(item: Piece) -> Piece:
    return replace(item, head=item.head + 1) if isinstance(item, SoftenedHead) else item


def _overstated(certificate: Certificate) -> Certificate:
    def change(item: Piece) -> Piece:
        match item:
            case SoftenedHead():
                return replace(item, margin=item.margin / 2, stray_mass=min(Fraction(1), 2 * item.stray_mass))
            case RoundedLayer():
                return replace(item, error=min(Fraction(1, 4), 2 * item.error))
            case _:
                return item

    return replace(certificate, evidence=tuple(change(item) for item in certificate.evidence))


if __name__ == "__main__":
    write_all(CORPORA)
