"""Reads exported GPT-2s in a process that cannot import the package: run as a script, JSON in and out.

In: jobs, each with a folder, its classes' kind (labels or tokens), attention (eager or sdpa) and words, their
symbols separated by blanks. Out: for each job the name of the largest logit at every position of every word.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

BATCH = 32_768
"""How many positions a batch has at most."""


class Blocker(MetaPathFinder):
    """Lets nobody import the package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == "attemper":
            raise ImportError("this process does without the package")
        return None


def main() -> None:
    """Answer the jobs on standard input."""
    sys.meta_path.insert(0, Blocker())
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    answers = []
    for job in json.loads(sys.stdin.read()):
        kind = "TokenClassification" if job["kind"] == "labels" else "CausalLM"
        load = getattr(transformers, f"AutoModelFor{kind}").from_pretrained
        model = load(job["folder"], attn_implementation=job["attention"])
        tokenizer = transformers.AutoTokenizer.from_pretrained(job["folder"])
        assert type(model).__module__ == "transformers.models.gpt2.modeling_gpt2"
        names = (
            {place: name for place, name in model.config.id2label.items()}
            if job["kind"] == "labels"
            else {place: name for name, place in tokenizer.get_vocab().items()}
        )
        with torch.no_grad():
            answers.append(
                [row for some in batches(job["words"]) for row in read(model, tokenizer, names, some)]
            )
    assert "attemper" not in sys.modules
    json.dump(answers, sys.stdout)


def batches(words: list[str]) -> list[list[str]]:
    """The words in their order, in batches of words of different lengths."""
    found: list[list[str]] = [[]]
    for word in words:
        longest = max(len(one.split()) for one in (*found[-1], word))
        if found[-1] and longest * (len(found[-1]) + 1) > BATCH:
            found.append([])
        found[-1].append(word)
    return found


def read(model, tokenizer, names, words):  # type: ignore[no-untyped-def]
    """The names of the largest logits of a batch that is padded on the right."""
    given = tokenizer(words, return_tensors="pt", padding=True)
    places = model(**given).logits.argmax(dim=-1).tolist()
    lengths = given["attention_mask"].sum(dim=1).tolist()
    return [[names[place] for place in row[:length]] for row, length in zip(places, lengths, strict=True)]


if __name__ == "__main__":
    main()
