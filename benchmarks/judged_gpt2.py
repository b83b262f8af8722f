"""Small GPT-2 folders on every word of their languages: `python -m benchmarks.judged_gpt2 [NAME ...]`.

Twins of public checkpoints' tasks: GPT-2 of one layer, GELU, trained with `transformers` to say after every
prefix, the empty one too, which tokens of the whole vocabulary may come next. Half of the words are drawn
uniformly; of the others each is a walk that prefers some symbols, by weights of its own, so that words are
seen that uniform ones hardly ever are. It needs the environment of the exports.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

import attemper
from attemper.languages.regular.completing import completions
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Word
from attemper.training.continuations import allowed, members, states_along
from benchmarks.judged import judged_row, print_rows

MAJORITY = "#<['1'] > #<['0']"

SPECIAL = ("<bos>", "<sep>", "<eos>", "<pad>")


@dataclass(frozen=True)
class Gpt2Twin:
    """A language, and how a model of it is trained: to which length, how wide, how long."""

    language: str
    alphabet: str
    steps: int
    length: int = 150
    width: int = 16
    heads: int = 1
    offsets: bool = False
    """Whether words begin anywhere, as far as there are positions, or all at the first one."""

    @property
    def automaton(self) -> Dfa:
        return parse_regex(self.language, self.alphabet)

    @property
    def asked(self) -> dict[str, Any]:
        """What `attemper.judge` is asked: majority at a token behind the word, else what comes next."""
        if self.language == MAJORITY:
            answer = ("<sep>", "1", "0")
            return {"language": MAJORITY, "at": "last", "empty": "reject", "answer": answer}
        return {"language": f"regex:{self.language}"}


GPT2_TWINS = {
    "(aa)*": Gpt2Twin("(aa)*", "a", 1500),
    "(abab)*": Gpt2Twin("(abab)*", "ab", 1500, length=148),
    "tomita1": Gpt2Twin("1*", "01", 1000),
    "tomita2": Gpt2Twin("(10)*", "01", 1500),
    "a*b*c*": Gpt2Twin("a*b*c*", "abc", 4000),
    "a+b+c+d+e+": Gpt2Twin("aa*bb*cc*dd*ee*", "abcde", 6000),
    "[ab]*d[bc]*": Gpt2Twin("(a|b)*d(b|c)*", "abcd", 4000),
    "{012}*02*": Gpt2Twin("(0|1|2)*02*", "012", 3000),
    "D2": Gpt2Twin("(a(ab)*b)*", "ab", 5000),
    "D3": Gpt2Twin("(a(a(ab)*b)*b)*", "ab", 6000),
    "D4": Gpt2Twin("(a(a(a(ab)*b)*b)*b)*", "ab", 6000),
    "(aa)*, offsets": Gpt2Twin("(aa)*", "a", 2500, offsets=True),
    "(abab)*, offsets": Gpt2Twin("(abab)*", "ab", 2500, length=148, offsets=True),
    "tomita1, offsets": Gpt2Twin("1*", "01", 1500, offsets=True),
    "tomita2, offsets": Gpt2Twin("(10)*", "01", 2500, offsets=True),
    "D2, offsets": Gpt2Twin("(a(ab)*b)*", "ab", 8000, offsets=True),
    "binary majority": Gpt2Twin(MAJORITY, "01", 3000),
    "binary majority, 250 steps": Gpt2Twin(MAJORITY, "01", 250),
    "D2, width 64": Gpt2Twin("(a(ab)*b)*", "ab", 3000, width=64, heads=4),
}


def main() -> None:
    """Train and judge them, and print a row for each; none is left out."""
    torch.set_num_threads(1)
    print_rows(GPT2_TWINS, row_of)


def row_of(twin: Gpt2Twin, folder: Path) -> tuple[str, ...]:
    """What is measured of a twin, and what is proved."""
    model = train(twin, folder)
    right = right_of(twin, model, 2000)
    offsets: Literal["all"] | tuple[int, int] = "all" if twin.offsets else (0, 0)
    asked = {**twin.asked, "up_to": twin.length, "offsets": offsets, "seconds": 600}
    return judged_row(right, lambda: attemper.judge(folder, alphabet=twin.alphabet, **asked))


def train(
    twin: Gpt2Twin, folder: Path, seed: int = 0, *, report: Callable[[str], None] = lambda _: None
) -> GPT2LMHeadModel:
    """A model of the twin's language, written to a folder as `transformers` does, with its vocabulary."""
    torch.manual_seed(seed)
    letters = len(twin.alphabet)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=letters + len(SPECIAL),
            n_positions=twin.length + 3,
            n_embd=twin.width,
            n_layer=1,
            n_head=twin.heads,
            bos_token_id=letters,
            eos_token_id=letters + 2,
            pad_token_id=letters + 3,
            attn_pdrop=0.0,
            embd_pdrop=0.0,
            resid_pdrop=0.0,
        )
    )
    draw = Random(f"gpt2 {twin} {seed}")
    words = [] if twin.language == MAJORITY else members(twin.automaton, (0, twin.length), 20_000, seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / 100) * (1 + math.cos(math.pi * step / twin.steps)) / 2
    )
    model.train()
    for step in range(twin.steps):
        if twin.language == MAJORITY:
            logits, labels = compared(model, [coins(draw, draw.randint(0, twin.length)) for _ in range(64)])
        else:
            batch = [draw.choice(words) if k % 2 else walk(twin, draw) for k in range(64)]
            logits, labels, is_there = said(twin, model, batch, draw if twin.offsets else None)
            logits, labels = logits[is_there], labels[is_there]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        plan.step()
        if step % 500 == 499:
            report(f"step {step + 1:,}: loss {loss.item():.2e}")
    model.eval()
    model.save_pretrained(folder)
    tokens = {name: number for number, name in enumerate((*twin.alphabet, *SPECIAL))}
    (folder / "vocab.json").write_text(json.dumps(tokens), encoding="utf-8")
    return model


def coins(draw: Random, length: int) -> list[int]:
    """A word of 0 and 1."""
    return [draw.randrange(2) for _ in range(length)]


def compared(model: GPT2LMHeadModel, words: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """The outputs of 1 less those of 0 behind start, word and <sep>, and whether there are more 1s."""
    width = max(map(len, words)) + 2
    tokens = torch.full((len(words), width), 5)
    for row, word in enumerate(words):
        tokens[row, : len(word) + 2] = torch.tensor([2, *word, 3])
    ends = torch.tensor([len(word) + 1 for word in words])
    logits = model(input_ids=tokens).logits[torch.arange(len(words)), ends]
    return logits[:, 1] - logits[:, 0], torch.tensor([float(2 * sum(word) > len(word)) for word in words])


def walk(twin: Gpt2Twin, draw: Random) -> Word:
    """A word of at most so many symbols: each is drawn by the word's own weights, while that can end well."""
    dfa, left = twin.automaton, completions(twin.automaton)
    shortest = left[dfa.start]
    assert shortest is not None
    weights = {symbol: math.exp(2 * draw.gauss(0, 1)) for symbol in twin.alphabet}
    length = draw.randint(shortest, twin.length)
    word: list[str] = []
    state = dfa.start
    while True:
        open_to = [
            (symbol, target)
            for symbol, target in zip(twin.alphabet, dfa.moves[state], strict=True)
            if (need := left[target]) is not None and len(word) + 1 + need <= length
        ]
        if not open_to or (state in dfa.accepting and draw.random() < 1 / (length + 1)):
            return tuple(word)
        symbol, state = draw.choices(open_to, [weights[symbol] for symbol, _ in open_to])[0]
        word.append(symbol)


def said(
    twin: Gpt2Twin, model: GPT2LMHeadModel, words: Sequence[Word], draw: Random | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Logits [word, prefix, token], what they should say (0 or 1), and which prefixes are no padding."""
    dfa, letters = twin.automaton, len(twin.alphabet)
    number = {symbol: k for k, symbol in enumerate(twin.alphabet)}
    width = max(map(len, words)) + 1
    tokens = torch.full((len(words), width), letters + 3)
    states = torch.zeros((len(words), width), dtype=torch.long)
    for row, word in enumerate(words):
        own = [number[symbol] for symbol in word]
        tokens[row, : len(word) + 1] = torch.tensor([letters, *own])
        states[row, : len(word) + 1] = torch.tensor(states_along(dfa, own))
    ends = torch.tensor([len(word) for word in words])
    first = torch.tensor([draw.randint(0, twin.length - len(word)) if draw else 0 for word in words])
    places = (first[:, None] + torch.arange(width)).clamp(max=twin.length + 2)
    may = allowed(dfa)[states]
    labels = torch.zeros((*may.shape[:2], letters + len(SPECIAL)))
    labels[..., :letters], labels[..., letters + 2] = may[..., :letters].float(), may[..., letters].float()
    is_there = torch.arange(width) <= ends[:, None]
    return model(input_ids=tokens, position_ids=places).logits, labels, is_there


@torch.no_grad()
def right_of(twin: Gpt2Twin, model: GPT2LMHeadModel, count: int) -> int:
    """Of how many drawn words of the full length every prefix gets the right answers, all of them."""
    found = 0
    if twin.language == MAJORITY:
        draw = Random("majority")
        for _ in range(count // 200):
            values, right = compared(model, [coins(draw, twin.length - 1) for _ in range(200)])
            found += int(((values > 0) == (right > 0)).sum())
        return found
    words = members(twin.automaton, (twin.length - 2, twin.length), count, 1)
    for top in range(0, count, 200):
        logits, labels, is_there = said(twin, model, words[top : top + 200], None)
        wrong = ((logits > 0) != (labels > 0)).any(dim=-1) & is_there
        found += int((~wrong.any(dim=-1)).sum())
    return found


if __name__ == "__main__":
    main()
