"""Exported GPT-2s, read by transformers alone: the same bits, in a process without the package."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper import Model
from attemper.exports.gpt2.layout import layout_of
from attemper.languages.words import Alphabet, Word
from attemper.workbench.verifying.boundaries import boundary_words
from attemper.workbench.verifying.comparing import exact_rows
from tests.support.oracles import gpt2_reader

pytestmark = pytest.mark.exports

POSITIONS = 512

MODELS: dict[str, Callable[[], Model]] = {
    "majority": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "dyck-1": lambda: attemper.compile("zoo:dyck-1", regime="unbounded"),
    "since": lambda: attemper.compile("(!'c') S 'b'", "abc"),
    "historically": lambda: attemper.compile("H ('a' -> Y 'b')", "ab"),
    "detect-aab": lambda: attemper.compile("zoo:detect-aab", regime="unbounded"),
    "a-n-b-n-c-n": lambda: attemper.compile("zoo:a-n-b-n-c-n", regime="unbounded"),
    "k-hop-1": lambda: attemper.compile("zoo:k-hop-1", regime="unbounded"),
    "copy-previous-symbol": lambda: attemper.compile("zoo:copy-previous-symbol", regime="unbounded"),
    "flip-flop": lambda: attemper.compile("zoo:flip-flop", regime="unbounded"),
}
"""The last has five symbols of two characters, so that its words are shorter."""

FORMATS = ("float64", "float32")


@cache
def model_of(name: str) -> Model:
    return MODELS[name]()


@cache
def words_of(name: str) -> tuple[Word, ...]:
    """All words of up to 7 symbols, 60 random ones and those at boundaries, up to all positions."""
    symbols = model_of(name).alphabet.symbols
    draw = random.Random(name)
    longest = 7 if len(symbols) <= 3 else 4
    words = [word for n in range(1, longest + 1) for word in product(symbols, repeat=n)]
    lengths = [POSITIONS, POSITIONS - 1, *(draw.randint(8, POSITIONS) for _ in range(58))]
    words += [tuple(draw.choices(symbols, k=length)) for length in lengths]
    return (*words, *boundary_words(symbols, POSITIONS), *boundary_words(symbols, POSITIONS - 1))


@cache
def truth_of(name: str) -> tuple[tuple[str, ...], ...]:
    """What is meant at every position of each word, by name."""
    model = model_of(name)
    names = [symbol for symbol, _ in model.network.symbols]
    found: dict[Word, tuple[str, ...]] = {}
    for _, some in groupby(sorted(set(words_of(name)), key=len), key=len):
        words = list(some)
        for word, rows in zip(words, exact_rows(model.language.definition, words), strict=True):
            columns = zip(*rows, strict=True)
            found[word] = tuple(
                names[column.index(True)] if names else ("accepted" if column[0] else "rejected")
                for column in columns
            )
    return tuple(found[word] for word in words_of(name))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("gpt2")
    for name in MODELS:
        for dtype in FORMATS:
            model_of(name).export("gpt2", root / f"{name}-{dtype}", dtype=dtype, positions=POSITIONS)
    return root


@pytest.fixture(scope="module")
def read_alone(exported: Path) -> dict[tuple[str, ...], list[list[str]]]:
    """What a process without the package reads off exports, by name, format, class and attention."""
    keys = [
        (name, dtype, kind, attention)
        for name in MODELS
        for dtype in FORMATS
        for kind, attention in (("labels", "eager"), ("labels", "sdpa"), ("tokens", "sdpa"))
    ]
    jobs = [
        {
            "folder": str(
                exported / f"{name}-{dtype}" / ("token-classification" if kind == "labels" else "")
            ),
            "kind": kind,
            "attention": attention,
            "words": [" ".join(word) for word in words_of(name)],
        }
        for name, dtype, kind, attention in keys
    ]
    # -I: no PYTHONPATH, no current folder.
    command = [sys.executable, "-I", str(Path(gpt2_reader.__file__))]
    finished = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return dict(zip(keys, json.loads(finished.stdout), strict=True))


@pytest.mark.parametrize("kind", [("labels", "eager"), ("labels", "sdpa"), ("tokens", "sdpa")])
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_every_bit_is_the_same_in_a_process_without_the_package(
    name: str, dtype: str, kind: tuple[str, str], read_alone: dict[tuple[str, ...], list[list[str]]]
) -> None:
    got = read_alone[name, dtype, *kind]
    assert len(got) == len(words_of(name)) >= 300
    for word, expected, found in zip(words_of(name), truth_of(name), got, strict=True):
        assert tuple(found) == expected, "".join(word)[:80]


def loaded(folder: Path, **options: Any) -> tuple[Any, Any]:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    at = folder / "token-classification"
    model = transformers.AutoModelForTokenClassification.from_pretrained(at, **options)
    return model, transformers.AutoTokenizer.from_pretrained(at)


def test_one_position_too_many_is_an_error(exported: Path) -> None:
    model, _ = loaded(exported / "majority-float64")
    assert model(torch.zeros(1, POSITIONS, dtype=torch.int64)).logits.shape == (1, POSITIONS, 2)
    with pytest.raises(IndexError):
        model(torch.zeros(1, POSITIONS + 1, dtype=torch.int64))


def test_an_unknown_symbol_is_an_error_and_no_other_symbol(exported: Path) -> None:
    _, tokenizer = loaded(exported / "majority-float64")
    with pytest.raises(Exception, match="UNK"):
        tokenizer("012")
    assert tokenizer("01").input_ids == tokenizer("0 1").input_ids == [0, 1]


def test_logits_are_twenty_on_each_side(exported: Path) -> None:
    """To 1e-11: the largest distance that rounding makes, in words of 512 symbols."""
    model, tokenizer = loaded(exported / "majority-float64")
    words = ["01" * 256, "0" * 256 + "1" * 256]
    with torch.no_grad():
        logits = model(**tokenizer(words, return_tensors="pt")).logits
    assert float((logits.abs() - 20).abs().max()) <= 1e-11


@pytest.mark.parametrize("name", [name for name in MODELS if name != "flip-flop"])
def test_streams_and_patterns_are_those_of_the_network(name: str, exported: Path) -> None:
    """Within 1e-12: what GPT-2 adds is how its sums are rounded."""
    model, _ = loaded(exported / f"{name}-float64", attn_implementation="eager")
    own, network = model_of(name).dense(engine="matrix"), model_of(name).network
    layout = layout_of(network, POSITIONS)
    tokens, lengths = model_of(name).to_tokens(words_of(name)[:200])
    _, cache = own.run_with_cache(tokens, lengths)
    real = torch.arange(tokens.shape[1])[None] < lengths[:, None]
    with torch.no_grad():
        found = model(tokens, attention_mask=real.long(), output_hidden_states=True, output_attentions=True)
    for number, layer in enumerate(network.layers):
        before = cache[f"blocks.{number}.hook_resid_pre"]
        stream = found.hidden_states[number]
        assert float((stream[..., : before.shape[-1]] - before).abs()[real].max()) <= 1e-12
        at = layout.width // 2
        twin = stream[..., at : at + before.shape[-1]]
        assert torch.equal(twin, -stream[..., : before.shape[-1]])
        pattern = found.attentions[number][:, : len(layer.heads)].transpose(1, 2)
        ours = cache[f"blocks.{number}.attn.hook_pattern"].transpose(1, 2)
        assert float((pattern - ours).abs()[real].max()) <= 1e-12


def test_a_symbol_is_put_out_as_the_next_token(exported: Path) -> None:
    import transformers

    folder = exported / "copy-previous-symbol-float64"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert set(model_of("copy-previous-symbol").alphabet.symbols) < set(tokenizer.get_vocab())
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    logits = model(**tokenizer("abca", return_tensors="pt")).logits[0]
    names = [name for name, _ in model_of("copy-previous-symbol").network.symbols]
    said = tokenizer.convert_ids_to_tokens(logits.argmax(dim=-1).tolist())
    assert said == list(model_of("copy-previous-symbol").output("abca"))
    assert set(said) <= set(names)


def test_a_cache_of_the_past_reads_symbol_by_symbol(exported: Path) -> None:
    """What `generate` does: each symbol with the keys and values of those before."""
    model, tokenizer = loaded(exported / "dyck-1-float64")
    tokens = tokenizer("(()())())", return_tensors="pt").input_ids
    past, said = None, []
    with torch.no_grad():
        for place in range(tokens.shape[1]):
            found = model.transformer(tokens[:, place : place + 1], past_key_values=past, use_cache=True)
            past = found.past_key_values
            said.append(bool(model.classifier(found.last_hidden_state)[0, 0].argmax()))
    assert tuple(said) == model_of("dyck-1").positions("(()())())")


def test_the_network_beside_is_the_one_that_was_exported(exported: Path) -> None:
    assert attemper.load(exported / "since-float32" / "network").digest == model_of("since").digest
    card = (exported / "since-float32" / "README.md").read_text(encoding="utf-8")
    assert "**No horizon**" in card
    assert model_of("since").digest in card


ODD_ALPHABETS: tuple[tuple[str, ...], ...] = (
    tuple("[pad]"),
    ("x[pad]", "accepted", "[unknown]"),
    ("ü", "\u0301", "𝔸"),
    ("a",),
    ("Ġ", "▁", "#", "<"),
)


@pytest.mark.parametrize("symbols", ODD_ALPHABETS, ids=lambda symbols: " ".join(symbols))
def test_words_over_odd_alphabets_are_read_as_they_are(symbols: tuple[str, ...], tmp_path: Path) -> None:
    """Symbols that look like special tokens, that combine, or that tokenizers use as marks; one position."""
    import transformers

    model = attemper.compile("true", Alphabet(symbols))
    for positions in (1, 4):
        model.export("gpt2", tmp_path / "out", positions=positions)
        for folder in (tmp_path / "out", tmp_path / "out" / "token-classification"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            words = [word for n in range(1, positions + 1) for word in product(symbols, repeat=n)]
            for word in words:
                expected = [symbols.index(symbol) for symbol in word]
                assert tokenizer(" ".join(word)).input_ids == expected
                if all(len(symbol) == 1 for symbol in symbols):
                    assert tokenizer("".join(word)).input_ids == expected
        reader, tokenizer = loaded(tmp_path / "out")
        with torch.no_grad():
            found = reader(**tokenizer([" ".join(word) for word in words], return_tensors="pt", padding=True))
        assert bool((found.logits[:, 0].argmax(dim=-1) == 1).all())


def columns(rows: Sequence[Sequence[str]]) -> int:
    return sum(map(len, rows))


def test_the_words_are_as_many_as_are_said() -> None:
    assert columns(truth_of("majority")) == sum(map(len, words_of("majority"))) > 60 * 100
