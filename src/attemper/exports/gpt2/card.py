"""What a reader of an exported GPT-2 has to know, as the README.md beside the weights."""

from __future__ import annotations

from collections.abc import Iterable

from attemper.exports.gpt2.layout import Layout
from attemper.exports.gpt2.vocabulary import answers_of, tokens_of_answers, vocabulary_of
from attemper.exports.kinds import NETWORK
from attemper.exports.remarks import indented
from attemper.exports.subject import Exported
from attemper.networks.layers import Network

CLASSIFIER = "token-classification"
"""The subfolder of the model that labels tokens."""


def card_of(subject: Exported, layout: Layout, dtype: str) -> str:
    """The model card: what the network computes, how to read it, and what is not proved of it."""
    network = subject.network
    return f"""---
library_name: transformers
pipeline_tag: text-generation
---

# A compiled network inside a stock GPT-2

{indented(subject.title)}

compiled by attemper ({subject.source.regime} regime) and written into the weights of an unmodified GPT-2,
in {dtype}. Nothing was trained. Reading it needs transformers alone, and no code of attemper.

| folder | class | what it says |
|---|---|---|
| this one | `GPT2LMHeadModel` | the next token after every prefix: {_listed(tokens_of_answers(network))} |
| `{CLASSIFIER}` | `GPT2ForTokenClassification` | a label for every token: {_listed(_labels(subject))} |
| `{NETWORK}` | - | the network itself, for `attemper check {NETWORK}` |

    from transformers import AutoModelForTokenClassification, AutoTokenizer

    model = AutoModelForTokenClassification.from_pretrained("{CLASSIFIER}")
    tokenizer = AutoTokenizer.from_pretrained("{CLASSIFIER}")
    words = tokenizer(["..."], return_tensors="pt", padding=True)
    labels = model(**words).logits.argmax(dim=-1)          # [word, token]

{_verdict(subject)}{_writing(network)}- **Positions**:
  words of up to {layout.positions:,} symbols; a longer one is an IndexError.
- **No horizon**: {_horizons(subject, dtype)}
- **Never undecided**: where rounding leaves a bit between 0 and 1, the larger logit wins. Other kinds of
  export of attemper say `undecided` there; a stock GPT-2 cannot.
- **Keep the format**: half precision is wrong. float16 cannot hold the norms' gain of 2^50, and bfloat16
  has too few digits: labels change, without an error. Do not use `half()`, `bfloat16()` or autocast.
- **Pad on the right**, as the tokenizer here does: a GPT-2 counts positions from the left edge, so that
  padding on the left (`padding_side="left"`) changes labels, without an error.
- **Keep the norms**: every LayerNorm has epsilon 2^100 and gain 2^50, so that it changes nothing. Folding
  these into the weights, as TransformerLens does by default, costs digits: there, use
  `enable_compatibility_mode(no_processing=True)`.
- **Columns**: coordinate c of the network stands at column c of the stream, its opposite at column
  {layout.width // 2} + c; column {layout.one} is 1. Heads of the network come first in their layer; the
  others have weights that are 0.
- **Digest** of the network: `{subject.digest}`
"""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _labels(subject: Exported) -> list[str]:
    return [answer.name for answer in answers_of(subject.network)]


def _verdict(subject: Exported) -> str:
    """Where the verdict stands; nothing where symbols are put out, which have none."""
    network = subject.network
    if network.symbols:
        return ""
    place = "first" if network.reads_first else "last"
    empty = "accepted" if network.accepts_empty else "rejected"
    return (
        f"- **Verdict**: the label of the {place} token. The empty word, which no GPT-2 reads, is {empty}.\n"
    )


def _writing(network: Network) -> str:
    """How it goes on writing, where it puts out symbols of its own and where to end."""
    vocabulary = vocabulary_of(network, with_answers=True)
    if vocabulary.end is None:
        return ""
    return (
        f"- **Writing**: `generate(do_sample=False)` ends at `{vocabulary.tokens[vocabulary.end]}`. What the "
        "certificate says of each token is about the network itself; of this GPT-2 nothing is proved.\n"
    )


def _horizons(subject: Exported, dtype: str) -> str:
    """What is proved, and of what: never of the GPT-2."""
    found = subject.horizons().get(dtype, {})
    said = "; ".join(f"{kernel} up to {horizon:,} symbols" for kernel, horizon in sorted(found.items()))
    own = f"The certificate of the network itself claims, in {dtype}: {said}." if said else ""
    return (
        "how GPT-2 rounds is not what a certificate of attemper speaks of, so nothing is proved of these "
        f"weights in floats. {own}".rstrip()
    )
