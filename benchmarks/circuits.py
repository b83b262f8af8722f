"""Methods that look for circuits, on networks whose circuits are proved: `python -m benchmarks.circuits`.

A number after it says on how many cases. Each method gives a number for each edge of a case, greater where it
thinks that the edge matters. What it sees are the network and words that are drawn at random.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from attemper.bench import BenchCase, BenchScores, EdgeReads, cases, scored
from attemper.networks.layers import LinearForm, Network
from attemper.theories.causal.bench.making import every_case
from attemper.theories.causal.certificate import OutputEdge
from attemper.theories.causal.check.cutting import cut

Numbers = dict[str, float]

PAIRS = 64
LENGTH = 8


def main() -> None:
    """Make cases, and print what each method scores."""
    torch.set_num_threads(1)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with TemporaryDirectory() as folder:
        for number, case in enumerate(every_case(count, seed=0)):
            case.save(Path(folder, f"{number:04}"))
        table = Table("method", "pairs", "size")
        for name, scores in compared(Path(folder)).items():
            table.add_row(name, f"{scores.pairs:.3f}", f"{scores.size:.3f}")
    Console(width=100).print(table)


def compared(bench: Path) -> dict[str, BenchScores]:
    """What each method scores."""
    return {
        name: scored(bench, {case.name: method(case) for case in cases(bench)})
        for name, method in METHODS.items()
    }


def exact(case: BenchCase) -> Numbers:
    """The circuit itself, and of its edges first those that matter alone."""
    return {edge: float(edge in case.circuit) + matters for edge, matters in case.matters.items()}


def drawn(case: BenchCase) -> Numbers:
    """Random numbers."""
    rng = random.Random(case.name)
    return {edge: rng.random() for edge in case.edges}


def weights(case: BenchCase) -> Numbers:
    """The sum of the sizes of all weights with which the reader reads the variable."""
    network, edges = case.model.network, case.edges
    found = Numbers()
    for name, edge in edges.items():
        without, (twins,) = cut(network, case.claim.variables, [edge])
        read = sum(abs(factor) for form in _forms(without) for own, factor in form if own in twins.values())
        found[name] = 1.0 if isinstance(edge, OutputEdge) else float(read)
    return found


def _forms(network: Network) -> list[LinearForm]:
    heads = [head for layer in network.layers for head in layer.heads]
    units = [unit.form for layer in network.layers for unit in layer.hidden]
    return [*units, *(form for head in heads for form in (*head.query, *head.key, *head.values))]


def gradients(case: BenchCase) -> Numbers:
    """Edge attribution patching: how the output before its last rounding would change, to first order."""
    reads, (clean, other) = EdgeReads(case), _words(case)
    carried = {name: own.requires_grad_() for name, own in reads.carried(clean).items()}
    output, elsewhere = reads(clean, carried, unclamped=True).sum(), reads.carried(other)
    slopes = torch.autograd.grad(output, list(carried.values()))
    return {
        name: float(((elsewhere[name] - own.detach()) * slope).sum(dim=(1, 2)).abs().mean())
        for (name, own), slope in zip(carried.items(), slopes, strict=True)
    }


def patching(case: BenchCase) -> Numbers:
    """Activation patching of each edge: on how many words an output changes."""
    return EdgeReads(case).frequencies(*_words(case))


def ablation(case: BenchCase) -> Numbers:
    """Each edge carries the mean of what it carries on the words, at every position."""
    reads, (clean, _) = EdgeReads(case), _words(case)
    with torch.no_grad():
        natural, own = reads(clean), reads.carried(clean)
        means = {name: own[name].mean(dim=(0, 1)).expand_as(own[name]) for name in reads.edges}
        return {name: _changed(natural, reads(clean, {name: means[name]})) for name in reads.edges}


def _changed(natural: Tensor, patched: Tensor) -> float:
    return float((patched - natural).abs().flatten(1).amax(dim=1).mean())


def _words(case: BenchCase) -> tuple[Tensor, Tensor]:
    """As many clean words as others, all of one length."""
    symbols = len(case.model.network.alphabet.symbols)
    both = torch.randint(symbols, (2, PAIRS, LENGTH), generator=torch.Generator().manual_seed(0))
    return both[0], both[1]


METHODS: Mapping[str, Callable[[BenchCase], Numbers]] = {
    "the circuit itself": exact,
    "random numbers": drawn,
    "sizes of weights": weights,
    "gradients": gradients,
    "mean ablation": ablation,
    "activation patching": patching,
}

if __name__ == "__main__":
    main()
