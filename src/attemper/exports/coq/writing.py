"""A network as a theorem: the network, its formula, hints, and the checker's answer (docs/coq.md)."""

from __future__ import annotations

from pathlib import Path

from attemper.errors import UnsupportedError
from attemper.exports.coq.cases import tidy
from attemper.exports.coq.following import HeldThere, LayerHints, ShortWords
from attemper.exports.coq.formulas import Logical, logical
from attemper.exports.coq.printing import FormulaTexts, closed, listed, network_text, rational
from attemper.exports.subject import Exported
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.writing import write_together

HEADER = """(* Written by attemper: docs/coq.md.  `coqc -Q coq Attemper` checks it. *)

From Coq Require Import List QArith ZArith.
From Attemper Require Import Model Logic Meanings Checker.
Import ListNotations.
"""

FOOTER = """
Theorem proved : computes net goal.
Proof. apply (check_sound net hinted goal). vm_cast_no_check (eq_refl true). Qed.

Print Assumptions proved.
"""


def write_coq(subject: Exported, path: Path) -> None:
    """Write the theorem to a file.

    Raises `UnsupportedError` for a network without a certificate of a formula, and for one outside of what
    coq/ proves: it names the head, or the operator.
    """
    write_together({path: theorem_of(subject).encode()})


def theorem_of(subject: Exported) -> str:
    """The file's text.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> text = theorem_of(Exported(model.network, model.source, model.certify()))
    >>> "Theorem proved : computes net goal." in text.splitlines()
    True
    """
    goal = _goal_of(subject)
    network = subject.network
    following = ShortWords(network, (tidy(len(network.embedding), goal), goal))
    texts = FormulaTexts()
    start = here = following.at_start()
    layers = []
    for number in range(len(network.layers)):
        hints, here = following.layer(number, here)
        layers.append(hints)
    name = texts.name_of(goal)
    hinted = (
        f"Definition hinted : hints := Hints {listed(_meaning(own, texts) for own in start)}\n"
        f"  [{'; '.join(_layer(own, texts) for own in layers)}]."
    )
    return "\n".join(
        [HEADER, network_text(network), "", *texts.lines, "", f"Definition goal := {name}.", hinted, FOOTER]
    )


def _goal_of(subject: Exported) -> Logical:
    network, certificate = subject.network, subject.certificate
    source = None if certificate is None else certificate.language
    if not isinstance(source, TemporalLanguage):
        raise UnsupportedError("coq: only networks that are certified for a formula are proved")
    if network.symbols or network.measure is not None or network.normalisation is not None:
        raise UnsupportedError("coq: only networks that put out one bit, without LayerNorm, are proved")
    return logical(source.formula, network.alphabet)


def _meaning(own: HeldThere, texts: FormulaTexts) -> str:
    if own.kind == "Place" and own.form is not None:
        return f"Place {closed(own.form)}"
    if own.kind == "Bit" and own.formula is not None:
        return f"Bit {texts.name_of(own.formula)} {rational(0)}"
    return "Zero"


def _layer(hints: LayerHints, texts: FormulaTexts) -> str:
    reads = listed(
        f"({place}%nat, {' '.join([name, *map(texts.name_of, operands)])})"
        for place, (name, operands) in hints.reads.items()
    )
    bits = listed(f"({place}%nat, {texts.name_of(own)})" for place, own in hints.bits.items())
    return f"LayerHint {reads}\n   {bits}"
