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
# # A first network
#
# *How does a language become a transformer, and how can I see that it is the right one?*
#
# From a language to a transformer that computes it at every length, a proof of that, a look inside, and what
# other people can open. This page is a Python program, and a notebook (`jupytext --to notebook
# first_network.py`); the tests run it cell by cell.
#
# It takes some seconds. Files go to a folder that is removed at the end.

# %%
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

import attemper

workplace = TemporaryDirectory()
folder = Path(workplace.name)

# %% [markdown]
# ## Compile
#
# MAJORITY: words with at least as many 1s as 0s. `#<['0']` counts the 0s up to and including a position, and
# the formula is read at the last one. There is no training, and no greatest length.

# %%
model = attemper.compile("#<['0'] <= #<['1']", regime="decoder")
model

# %% [markdown]
# ## Run
#
# A word is accepted or rejected; in fact there is an answer at every position.

# %%
assert model.accepts("0110")
assert not model.accepts("00101")
assert model.positions("0110") == (False, True, True, True)

# %% [markdown]
# Words of any length, in batches. The margin says how far the numbers inside stayed from where a bit could be
# misread: 1/4 is perfect, and below 0 something broke.

# %%
words = ["01" * 500, "0" * 700 + "1" * 699, "1"]
runs = list(model.run(words))
assert [run.accepted for run in runs] == [True, False, True]
assert min(run.margin for run in runs) > 0

# %% [markdown]
# Such a network looks to the past only, and can read symbols as they come, with a state that does not grow.

# %%
stream = model.stream()
assert [stream.push(symbol) for symbol in "0110"] == [False, True, True, True]

# %% [markdown]
# ## Trace
#
# What every head attends to, beside what average-hard attention would do with the same scores, and every
# subformula at every position. A notebook shows it as tables.

# %%
trace = model.trace("0110")
trace

# %%
counting = trace.heads[0]
assert counting.construction == "Uniform"
assert counting.soft[3] == (0.25, 0.25, 0.25, 0.25)
assert trace.subformulas[-1][1] == model.positions("0110")

# %% [markdown]
# ## Certify, and check
#
# `certify` looks for the strongest claims that can be proved: all lengths in real arithmetic, and of every
# float format the greatest length up to which rounding does no harm. Nothing of that is to be believed:
# `check` reads the raw weights, derives what each coordinate means, and compares.

# %%
certificate = model.certify()
verdict = model.check(certificate)
print(verdict.status)
assert verdict.status.name == "PROVED"
assert len(verdict.claims) == len(certificate.claims) == 10

# %% [markdown]
# A folder holds the network and its certificate. `attemper check majority` in a shell, or
# `python -m attemper.checker majority` without torch, says the same of it.

# %%
model.save(folder / "majority", certificate=certificate)
again = attemper.load(folder / "majority")
assert again.digest == model.digest
assert again.accepts("0110")

# %% [markdown]
# ## Hooks
#
# The network is a `torch.nn.Module`, with TransformerLens' names for hook points. Without its first head it
# no longer counts:

# %%
module = model.dense()
tokens, lengths = model.to_tokens(["0110", "0010"])


def without_first_head(z: torch.Tensor) -> torch.Tensor:
    """The heads' outputs [batch, position, head, d_head] with those of head 0 removed."""
    z[:, :, 0] = 0
    return z


whole = module(tokens, lengths)
ablated = module.run_with_hooks(tokens, lengths, on={"blocks.0.attn.hook_z": without_first_head})
assert whole.round().int().tolist() == [[0, 1, 1, 1], [0, 0, 0, 0]]
assert not torch.equal(ablated, whole)

# %% [markdown]
# One weight is moved by 1, and the checker is asked what the weights compute now. It answers with a word that
# goes wrong.

# %%
with torch.no_grad():
    module.blocks[-1].mlp.b_in[0] += 1
answer = attemper.check(module, model)
print(answer.status, answer.witness)
wrong = answer.witness
assert answer.status.name == "REFUTED"
assert wrong is not None
edited = module(*model.to_tokens([wrong]))[0, -1].item() > 0.5
assert edited != model.accepts(wrong)

# %% [markdown]
# ## What hard attention cannot do
#
# A transformer with hard attention that reads one position per head can be fooled on PARITY: two words of the
# same length, one in the language and one not, that it cannot tell apart. Here for the network of "some b
# stands right after an a".

# %%
narrow = attemper.compile("O (b & Y a)")
found = attemper.refute(narrow, "zoo:parity-even", length=16, free=0.8)
print(found.status)
assert found.status.name == "PROVED"
assert found.words is not None
member, stranger = found.words
assert len(member) == len(stranger) == 16
assert member.count("b") % 2 == 0
assert stranger.count("b") % 2 == 1
assert narrow.accepts(member) == narrow.accepts(stranger)

# %% [markdown]
# ## Elsewhere
#
# The circuit is the ground truth of what reads and writes what, as JSON.

# %%
model.export("circuit", folder / "majority.json")
circuit = json.loads((folder / "majority.json").read_text(encoding="utf-8"))
assert circuit["network"] == model.digest
assert circuit["edges"][0]["from"] in {component["component"] for component in circuit["components"]}

# %% [markdown]
# A page runs the network in anybody's browser, without Python (`attemper page majority -o majority.html` in a
# shell).

# %%
page = ["page", str(folder / "majority"), "-o", str(folder / "majority.html")]
subprocess.run([sys.executable, "-m", "attemper", *page], check=True)
assert "<!doctype html>" in (folder / "majority.html").read_text(encoding="utf-8").lower()

# %%
workplace.cleanup()
