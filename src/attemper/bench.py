"""Benchmarks whose answers are theorems: `docs/benchmark.md` has what is in one, `attemper bench` makes it.

>>> from tempfile import TemporaryDirectory
>>> from pathlib import Path
>>> from attemper import bench
>>> with TemporaryDirectory() as folder:
...     bench.made(1, seed=1).save(Path(folder, "1"))
...     (case,) = bench.cases(folder)
...     exact = {case.name: {edge: float(edge in case.circuit) for edge in case.edges}}
...     bench.scored(folder, exact)
<BenchScores: pairs 1.000, size 1.000 of 1 cases>
"""

from attemper.theories.causal.bench.cases import BenchCase, cases
from attemper.theories.causal.bench.making import MadeCase, made
from attemper.theories.causal.bench.reading import EdgeReads
from attemper.theories.causal.bench.scoring import BenchScores, CaseScore, scored

__all__ = ["BenchCase", "BenchScores", "CaseScore", "EdgeReads", "MadeCase", "cases", "made", "scored"]
