"""Writing a network as folders of a stock GPT-2."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from attemper.exports.extras import library
from attemper.exports.gpt2.card import CLASSIFIER, card_of
from attemper.exports.gpt2.fitting import require_fitting
from attemper.exports.gpt2.layout import EPSILON, Layout, layout_of
from attemper.exports.gpt2.tokenizer import save_tokenizer
from attemper.exports.gpt2.vocabulary import Vocabulary, answers_of, vocabulary_of
from attemper.exports.kinds import NETWORK
from attemper.exports.subject import Exported
from attemper.writing import write_together

if TYPE_CHECKING:
    from attemper.exports.gpt2.weights import TensorsByName


def write_gpt2(subject: Exported, folder: Path, dtype: str, positions: int) -> None:
    """Write a `GPT2LMHeadModel`, and in subfolders a `GPT2ForTokenClassification` and the network itself.

    Raises `UnsupportedError` for a network that no GPT-2 of so many positions computes, naming what forbids
    it, `OptionError` for a format or a number of positions that there is not and for a missing extra, and
    `MalformedFileError` if writing fails.
    """
    require_fitting(subject, dtype, positions)
    layout = layout_of(subject.network, positions)
    library("transformers", "hugging-face")
    library("safetensors", "hugging-face")
    from attemper.exports.gpt2.reading import require_readable

    require_readable(subject.network, layout, dtype)
    with TemporaryDirectory() as place:
        made = Path(place)
        _save_language_model(subject, layout, dtype, made)
        _save_classifier(subject, layout, dtype, made / CLASSIFIER)
        (made / "README.md").write_text(card_of(subject, layout, dtype), encoding="utf-8")
        files = [path for path in made.rglob("*") if path.is_file()]
        write_together({folder / path.relative_to(made): path.read_bytes() for path in files})
    subject.save(folder / NETWORK)


def _save_language_model(subject: Exported, layout: Layout, dtype: str, folder: Path) -> None:
    import torch

    from attemper.exports.gpt2.weights import body_weights, next_token_weights

    network, form = subject.network, getattr(torch, dtype)
    vocabulary = vocabulary_of(network, with_answers=True)
    weights = body_weights(network, layout, vocabulary, form)
    weights |= next_token_weights(network, layout, vocabulary, form)
    config = _config(layout, vocabulary, dtype)
    if vocabulary.end is not None:
        config["eos_token_id"] = vocabulary.end
    _save("GPT2LMHeadModel", config, vocabulary, weights, folder)


def _save_classifier(subject: Exported, layout: Layout, dtype: str, folder: Path) -> None:
    import torch

    from attemper.exports.gpt2.weights import body_weights, classifier_weights

    network, form = subject.network, getattr(torch, dtype)
    vocabulary = vocabulary_of(network, with_answers=False)
    weights = body_weights(network, layout, vocabulary, form) | classifier_weights(network, layout, form)
    names = dict(enumerate(answer.name for answer in answers_of(network)))
    labels = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    config = _config(layout, vocabulary, dtype) | labels | {"classifier_dropout": 0.0}
    _save("GPT2ForTokenClassification", config, vocabulary, weights, folder)


def _config(layout: Layout, vocabulary: Vocabulary, dtype: str) -> dict[str, object]:
    """The entries of a `GPT2Config` that are not its defaults."""
    return {
        "vocab_size": len(vocabulary.tokens),
        "n_positions": layout.positions,
        "n_embd": layout.width,
        "n_layer": layout.layers,
        "n_head": layout.heads,
        "n_inner": layout.inner,
        "activation_function": "relu",
        "layer_norm_epsilon": float(EPSILON),
        **{name: 0.0 for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop", "summary_first_dropout")},
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": vocabulary.padding_id,
        "tie_word_embeddings": False,
        "dtype": dtype,
    }


def _save(
    name: str, config: dict[str, object], vocabulary: Vocabulary, weights: TensorsByName, folder: Path
) -> None:
    """Write one model's folder: its class is asked whether the weights have its names and shapes."""
    transformers = library("transformers", "hugging-face")
    save_file = library("safetensors.torch", "hugging-face").save_file
    import torch

    found = transformers.GPT2Config(**config, architectures=[name])
    with torch.device("meta"):
        model = getattr(transformers, name)(found)
    model.load_state_dict(weights, strict=True, assign=True)
    folder.mkdir(parents=True, exist_ok=True)
    found.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    save_tokenizer(vocabulary, int(found.n_positions), folder)
