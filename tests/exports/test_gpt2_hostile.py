"""Networks that no compiler makes: a stock GPT-2 says what the dense module says, or is not exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, SIGN, I, Number, over, times
from attemper.exports.gpt2.writing import write_gpt2
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet
from attemper.networks.layers import Foreign, Head, Hidden, Layer, Masking, Network, Softmax
from attemper.networks.structure import Provenance
from attemper.running.dense import DenseTransformer
from tests.support.drawn.clamped_networks import HALF, large_beside, letters_network, shared_units, tiny

pytestmark = pytest.mark.exports

POSITIONS = 6
MARGIN = Fraction(1, 32)
"""What docs/gpt2.md asks of a word's clamps."""


def head(query: tuple[int, float], key: tuple[int, float], value: int, target: int) -> Head:
    (asked, one), (seen, other) = query, key
    return Head(
        Foreign(),
        Masking.FUTURE,
        Softmax(ONE),
        (((asked, Fraction(one)),),),
        (((seen, Fraction(other)),),),
        (((value, Fraction(1)),),),
        (target,),
    )


def empty_layers() -> Network:
    none = Layer((), (), ())
    return letters_network({}, {"a": 1}, before=(none, none))


def no_layers() -> Network:
    return replace(letters_network({}, {"a": 1}), layers=(), output=0)


def without_hidden_units() -> Network:
    """A bit that is the average of a letter, where all are the same."""
    average = Head(Foreign(), Masking.FUTURE, Softmax(ONE), (), (), (((0, Fraction(1)),),), (1,))
    return replace(letters_network({}, {"a": 1}), layers=(Layer((average,), (), ()),))


def averaging() -> Network:
    """Scores of 1/3 and 2/3 by the letter, read at half: not sharp, and with margins of all sizes."""
    layer = Layer((head((1, 1 / 3), (0, 2.0), 0, 2),), (), ())
    return letters_network({"one": ONE}, {"mean": 1}, before=(layer,), more=("mean",))


def infinite_scores(amount: float) -> Callable[[], Network]:
    """Scores that overflow to -inf, of all keys alike."""
    layer = Layer((head((1, amount), (1, -amount), 0, 2),), (), ())
    return lambda: letters_network({"one": ONE}, {"mean": 1}, before=(layer,), more=("mean",))


def reversed_outputs() -> Network:
    """A clamp whose bit is written as its opposite, and to a second coordinate by 3."""
    minus, three = Fraction(-2), Fraction(6)
    read = ((0, Fraction(1)),)
    low = Hidden(read, Fraction(-1, 4), ((1, minus), (2, three)))
    high = Hidden(read, Fraction(-3, 4), ((1, -minus), (2, -three)))
    layer = Layer((), (low, high), ((0, 1),))
    return letters_network({}, {"minus": 1, "three": HALF}, before=(layer,), more=("minus", "three"))


def alternating() -> Network:
    third = times(SIGN, Number(Fraction(1, 3)), over(I))
    return letters_network({"third": third, "one": ONE}, {"a": 1, "third": 3, "one": HALF})


def symbols_like_tokens() -> Network:
    """Bits named as what a vocabulary adds; symbols named as bits."""
    network = letters_network({}, {"a": 1})
    own = replace(
        network, alphabet=Alphabet(("[pad]", "accepted")), symbols=(("[unknown]", 1), ("[pad]①", 2))
    )
    write_other = Hidden(((0, Fraction(-1)),), Fraction(1), ((2, Fraction(1)),))
    last = network.layers[0]
    layers = (replace(last, hidden=(*last.hidden, write_other)),)
    return replace(own, coordinates=("a", "out", "other"), layers=layers)


ACCEPTED: dict[str, Callable[[], Network]] = {
    "no layers": no_layers,
    "empty layers": empty_layers,
    "no hidden units": without_hidden_units,
    "averages": averaging,
    "reversed outputs": reversed_outputs,
    "alternating thirds": alternating,
    "symbols like tokens": symbols_like_tokens,
    "large and unread": large_beside(10, 2),
    "small": tiny(12),
}

REFUSED: dict[str, tuple[Callable[[], Network], tuple[str, ...]]] = {
    "shared units": (shared_units, ("float64", "float32")),
    "tiny": (tiny(110), ("float32",)),
    "too large and too small": (tiny(1010), ("float64", "float32")),
    "a mean": (large_beside(37, 20), ("float32",)),
    "scores of -2^140": (infinite_scores(2.0**70), ("float64", "float32")),
    "scores of -2^1200": (infinite_scores(2.0**600), ("float64", "float32")),
}


def exported(network: Network, folder: Path, dtype: str) -> Path:
    subject = Exported(network, Provenance("typed", "0" * 64, "last", "unbounded"))
    write_gpt2(subject, folder, dtype, POSITIONS)
    return folder


def logits_of(folder: Path, tokens: torch.Tensor, attention: str) -> Any:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    at = folder / "token-classification"
    model = transformers.AutoModelForTokenClassification.from_pretrained(at, attn_implementation=attention)
    with torch.no_grad():
        return model(tokens).logits


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_exported_says_what_the_network_says(name: str, dtype: str, tmp_path: Path) -> None:
    """Every word of up to 6 symbols, wherever the dense module is decided with the margin that is asked."""
    network = ACCEPTED[name]()
    folder, dense = (
        exported(network, tmp_path / "out", dtype),
        DenseTransformer(network, getattr(torch, dtype)),
    )
    decided = 0
    for length in range(1, POSITIONS + 1):
        tokens = torch.tensor(list(product((0, 1), repeat=length)))
        output, margins = dense.run_with_margin(tokens)
        bits = output if network.symbols else torch.stack([1 - output, output], dim=-1)
        sure = ((bits <= 1 / 4) | (bits >= 3 / 4)).all(dim=-1) & (margins >= float(MARGIN))[:, None]
        for attention in ("eager", "sdpa"):
            found = logits_of(folder, tokens, attention).argmax(dim=-1)
            assert torch.equal(found[sure], bits.argmax(dim=-1)[sure]), attention
        decided += int(sure.sum())
    assert decided >= 2 * POSITIONS


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_read_wrong_is_not_exported(name: str, tmp_path: Path) -> None:
    make, formats = REFUSED[name]
    for dtype in formats:
        with pytest.raises(UnsupportedError):
            exported(make(), tmp_path / "out", dtype)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("folder", ["", "token-classification"])
def test_words_over_symbols_like_tokens_are_read_as_they_are(folder: str, tmp_path: Path) -> None:
    import transformers

    exported(symbols_like_tokens(), tmp_path / "out", "float64")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out" / folder)
    assert tokenizer("[pad] accepted accepted").input_ids == [0, 1, 1]
    padded = tokenizer(["accepted", "[pad] accepted"], return_tensors="pt", padding=True)
    assert padded.attention_mask.tolist() == [[1, 0], [1, 1]]
    assert padded.input_ids.tolist() == [[1, 2], [0, 1]]
