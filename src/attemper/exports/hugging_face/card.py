"""The model card: what is claimed of the network, how to check that, and what it does not say."""

from __future__ import annotations

from attemper.exports.remarks import KERNEL, indented, remarks_of
from attemper.exports.subject import Exported


def model_card(subject: Exported, dtype: str, *, is_exact: bool) -> str:
    """The text of `README.md`; `is_exact`: every weight is the network's own in the format `dtype`."""
    said, network = remarks_of(subject, dtype), subject.network
    parts = (
        _HEAD.format(kind=said["source_kind"], source=indented(subject.title), digest=subject.digest),
        _use(has_verdict=not network.symbols),
        _ANSWERS[bool(network.symbols)],
        _horizons(subject, dtype),
        _CHECK if is_exact else _ROUNDED.format(dtype=dtype),
        _LIMITS,
    )
    return "\n".join(parts)


def _use(*, has_verdict: bool) -> str:
    lines = [
        "import attemper.exports.hugging_face  # registers the classes",
        "from transformers import pipeline",
    ]
    if has_verdict:
        lines.append('pipeline("text-classification", model="FOLDER")(["...", "..."])')
    lines.append('pipeline("token-classification", model="FOLDER")("...")')
    return "\n".join(["## Use", "", *(f"    {line}" for line in lines), ""])


def _horizons(subject: Exported, dtype: str) -> str:
    horizons = subject.horizons()
    if not horizons:
        return _UNCLAIMED
    rows = [
        f"| {name} | {kernels[KERNEL]:,} |{' weights in this folder |' if name == dtype else ' |'}"
        for name, kernels in horizons.items()
        if KERNEL in kernels
    ]
    return "\n".join([_CLAIMED, *rows, "", _CONVERTED])


_HEAD = """---
library_name: transformers
tags:
- attemper
- formal-languages
---

# A compiled transformer

This model was not trained. It was compiled by attemper, and computes this {kind}:

{source}

Digest of the network: `{digest}`
"""

_ANSWERS = {
    False: """## Answers

`accepted` and `rejected` are verdicts on the whole word (text-classification), or the truth at each
position (token-classification). `undecided` is no answer: a bit inside the network could not be rounded in
this number format, or the output is neither near 0 nor near 1. Use a wider format then. Scores are no
confidence: the label has 1, all others 0.

Every symbol is a token; an unknown one is an error (`WordError`), never a guess. Batches may be padded on
either side.
""",
    True: """## Answers

The label at each position is the symbol that is put out there. `undecided` is no answer: a bit inside the
network could not be rounded in this number format, or not exactly one symbol's bit is 1. Use a wider format
then. Scores are no confidence: the label has 1, all others 0.

Every symbol is a token; an unknown one is an error (`WordError`), never a guess. Batches may be padded on
either side.
""",
}

_CLAIMED = """## How long words may be

The certificate in `config.json` claims that answers are right for all words of up to so many symbols:

| format | symbols | |
|---|---|---|"""

_CONVERTED = """What counts is the format in which the model runs: float32 after
`from_pretrained(FOLDER, dtype=torch.float32)` or `model.float()`, whatever the folder holds. `model.horizon`
says how long words may be for the model as it stands. It is None, no claim, under autocast, in any other
format, and where a weight is no longer the network's own: changed, or rounded by a format that does not hold
it (the claims are about weights rounded once, from float64 to the format). Beyond the horizon an answer can
be wrong without being `undecided`.
"""

_UNCLAIMED = """## How long words may be

No certificate came with the network: nothing is claimed of any number format.
"""

_CHECK = """## Check it

A claim in a card proves nothing. This restores the network, refuses it if a single weight was changed, and
checks the claims:

    attemper import FOLDER -o network
    attemper check network
"""

_ROUNDED = """## This folder cannot be checked

Not every weight of the network is a {dtype} number, and those here are rounded. The claims are about the
network with its own weights, run in a format; `attemper import` refuses this folder. Export the network in
float64 to check it.
"""

_LIMITS = """## Limits

The claims rest on assumptions about the machine (how accurate `exp` is, no products of reduced precision
such as TF32), which FORMAT.md of attemper, section 6, names. They are about the weights as they are: a
quantised, fine-tuned or pruned copy has none. Labels have no gradients.
"""
