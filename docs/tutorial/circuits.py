# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Three methods on circuits that are proved
#
# *Does a method find the circuit, or something that agrees with it on samples?*
#
# [A benchmark](../benchmark.md) of compiled networks, in which of every edge it is proved whether it
# matters: the methods here are random numbers, gradients, and activation patching. It takes a minute. Files
# go to a folder that is removed at the end.

# %%
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from attemper import bench

workplace = TemporaryDirectory()
folder = Path(workplace.name)

# %% [markdown]
# ## Twenty cases
#
# `attemper bench DIR --count 20 --seed 1` makes the same.

# %%
for number in range(20):
    bench.made(number, seed=1).save(folder / f"{number:02}")
cases = list(bench.cases(folder))
case = cases[1]
case.model

# %% [markdown]
# An edge goes from a variable, by the step of the program that its coordinates hold, to a head's query, key
# or values, to a feed-forward layer, or to what is put out. Some matter, the others are irrelevant: no
# values that they carry change a bit that is put out, on any word.

# %%
assert len(case.edges) > len(case.circuit) > 0
case.matters

# %% [markdown]
# ## Three methods
#
# Each gives numbers for edges, from the network and from words alone: 64 clean ones and 64 others of the
# same length. `EdgeReads` is the network in which every edge can carry something else.


# %%
def words(case: bench.BenchCase) -> tuple[Tensor, Tensor]:
    symbols = len(case.model.alphabet.symbols)
    both = torch.randint(symbols, (2, 64, 8), generator=torch.Generator().manual_seed(0))
    return both[0], both[1]


def drawn(case: bench.BenchCase) -> dict[str, float]:
    rng = random.Random(case.name)
    return {edge: rng.random() for edge in case.edges}


def gradients(case: bench.BenchCase) -> dict[str, float]:
    reads, (clean, other) = bench.EdgeReads(case), words(case)
    carried = {edge: own.requires_grad_() for edge, own in reads.carried(clean).items()}
    output, elsewhere = reads(clean, carried, unclamped=True).sum(), reads.carried(other)
    slopes = torch.autograd.grad(output, list(carried.values()))
    return {
        edge: float(((elsewhere[edge] - own.detach()) * slope).sum(dim=(1, 2)).abs().mean())
        for (edge, own), slope in zip(carried.items(), slopes, strict=True)
    }


@torch.no_grad()
def patching(case: bench.BenchCase) -> dict[str, float]:
    reads, (clean, other) = bench.EdgeReads(case), words(case)
    natural, elsewhere = reads(clean), reads.carried(other)
    apart = {edge: reads(clean, {edge: elsewhere[edge]}) - natural for edge in reads.edges}
    return {edge: float(own.abs().flatten(1).amax(dim=1).mean()) for edge, own in apart.items()}


# %% [markdown]
# ## What they score
#
# `pairs`: of an edge that matters and an irrelevant one, how often the first has the greater number; chance
# is 1/2. `size`: how large the case's own circuit is, divided by how many of the method's first edges are
# enough, the others being proved to change nothing together.

# %%
scores = {
    method.__name__: bench.scored(folder, {case.name: method(case) for case in cases})
    for method in (drawn, gradients, patching)
}
assert scores["patching"].pairs > scores["gradients"].pairs > scores["drawn"].pairs
scores["patching"]

# %% [markdown]
# ## Another basis
#
# In the folder `rotated` of each case is the same function in another basis of the residual stream: bits
# are sums of axes there, and no axis is a feature. `case.basis` says which, so that a direction that was
# found there can be compared with the variable's.

# %%
tokens, _ = words(case)
plain, turned = case.model.dense(), case.rotated.dense()
point = f"blocks.{len(case.model.network.layers) - 1}.hook_resid_post"
with torch.no_grad():
    bits, stream = plain.run_with_cache(tokens, names=[point])
    other_bits, other_stream = turned.run_with_cache(tokens, names=[point])
assert torch.equal(bits > 0.5, other_bits > 0.5)
assert torch.allclose(other_stream[point].double(), stream[point].double() @ case.basis.T, atol=1e-9)
int((case.basis != 0).sum(dim=0).max())  # axes that one coordinate is spread over

# %%
workplace.cleanup()
