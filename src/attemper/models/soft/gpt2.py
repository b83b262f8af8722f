"""A GPT-2 of `transformers`, from its folder, without that library: a decoder that says what may come next.

config.json          what the model computes: each entry is understood, or the folder is not read
model.safetensors    the weights, by the names that `transformers` gives them
vocab.json           the tokens with their numbers, if it is there
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.files import parse_json, read_bytes
from attemper.models.arrays import Floats
from attemper.models.soft.activations import Activation
from attemper.models.soft.vocabulary import ModelTokens
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, Periodic
from attemper.models.soft.wellformed import complaints
from attemper.networks.safetensors import decode_any_tensors

CONFIG, WEIGHTS, TOKENS = "config.json", "model.safetensors", "vocab.json"

REMEDY = "give the folder of a GPT2LMHeadModel, as save_pretrained writes it"

MOST_BYTES = 2**30
"""The most bytes of weights that are read."""

ACTIVATIONS = {
    "gelu_new": Activation.GELU_TANH,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
    "gelu": Activation.GELU,
    "relu": Activation.RELU,
}

FIXED: Mapping[str, tuple[object, ...]] = {
    "model_type": ("gpt2",),
    "architectures": (["GPT2LMHeadModel"],),
    "scale_attn_weights": (True,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "add_cross_attention": (False,),
    "dtype": ("float32", "float64"),
    "torch_dtype": ("float32", "float64"),
}
"""Entries that have one of these values, the first where they are left out; of the last two one is given."""

NUMBERS = ("n_embd", "n_head", "n_layer", "n_positions", "vocab_size")

WITHOUT_EFFECT = {
    *("attn_pdrop", "embd_pdrop", "resid_pdrop", "initializer_range", "use_cache", "transformers_version"),
    *("summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type"),
    *("summary_use_proj", "reorder_and_upcast_attn", "pad_token_id", "_name_or_path", "n_ctx"),
    *("task_specific_params", "gradient_checkpointing"),
}
"""Entries that say how it is trained or run, and nothing of the function that its weights compute."""

ACTIVATION = "activation_function"

READ = {
    *(*NUMBERS, "n_inner", ACTIVATION),
    *("layer_norm_epsilon", "tie_word_embeddings", "bos_token_id", "eos_token_id"),
}


def is_gpt2(folder: str) -> bool:
    """Whether there is a folder with a model's configuration."""
    return Path(folder, CONFIG).is_file()


def config_of(folder: Path) -> dict[str, Any]:
    """A folder's configuration, every entry of which is understood.

    Raises `MalformedFileError` for what is no such file, and `UnsupportedError` for another model.
    """
    config = _object_in(folder / CONFIG)
    for name, values in FIXED.items():
        if name in config and not any(_same(config[name], value) for value in values):
            raise UnsupportedError(
                f"'{folder / CONFIG}': {name} = {config[name]!r} is not read, only {values[0]!r}"
            )
    if config.get(ACTIVATION, "gelu_new") not in tuple(ACTIVATIONS):
        raise UnsupportedError(
            f"'{folder / CONFIG}': {ACTIVATION} = {config[ACTIVATION]!r} is none of {', '.join(ACTIVATIONS)}"
        )
    for name in NUMBERS:
        if type(config.get(name)) is not int:
            raise UnsupportedError(f"'{folder / CONFIG}': {name} = {config.get(name)!r} is no number")
    types = {config[name] for name in ("dtype", "torch_dtype") if name in config}
    if len(types) != 1:
        raise UnsupportedError(f"'{folder / CONFIG}' does not say in which dtype it runs: write float32")
    unknown = set(config) - set(FIXED) - WITHOUT_EFFECT - READ
    if unknown:
        raise UnsupportedError(f"'{folder / CONFIG}': '{min(unknown)[:40]}' is not understood")
    return config


def _same(found: object, wanted: object) -> bool:
    return type(found) is type(wanted) and found == wanted


def _object_in(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_bytes(path, REMEDY))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{path}' is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise MalformedFileError(f"'{path}' is not an object; {REMEDY}")
    return found


def tokens_in(folder: Path) -> tuple[str, ...] | None:
    """The tokens by their numbers, as `vocab.json` has them; None where there is none.

    Raises `MalformedFileError` where numbers are left out.
    """
    path = folder / TOKENS
    if not path.is_file():
        return None
    numbers = _object_in(path)
    tokens = {number: token for token, number in numbers.items() if type(number) is int}
    if sorted(tokens) != list(range(len(numbers))):
        raise MalformedFileError(f"'{path}' does not number tokens from 0 on")
    return tuple(tokens[number] for number in range(len(tokens)))


def read_gpt2(folder: Path, vocabulary: ModelTokens, letters: Sequence[str], places: int) -> Encoder:
    """The decoder as an `Encoder` that reads a start and letters, and perhaps a token with which it is asked.

    Its symbols and outputs are those of `ModelTokens.symbols_for` and `outputs_for`. Words have at
    most `places` symbols, the start among them: positions are `Periodic` with at least so many rows. Weights
    are the file's numbers, exactly. Raises `MalformedFileError` for what is no such folder, or has other
    tokens, and `UnsupportedError` for a model of another kind.
    """
    for complaint in vocabulary.complaints(letters):
        raise MalformedFileError(complaint)
    config = config_of(folder)
    _require_tokens(folder, config, vocabulary)
    data = read_bytes(folder / WEIGHTS, REMEDY, MOST_BYTES)
    try:
        tensors = decode_any_tensors(data)
        arrays = {
            name.removeprefix("transformer."): np.array(tensor.numbers, dtype=np.float64).reshape(
                tensor.shape
            )
            for name, tensor in tensors.items()
        }
        if "float64" not in (config.get("dtype"), config.get("torch_dtype")):
            _require_float32(arrays)
        if len(arrays) < len(tensors):
            raise ValueError("a tensor is there twice, with 'transformer.' before its name and without")
        encoder = _decoder(arrays, config, vocabulary, tuple(letters))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise MalformedFileError(f"'{folder / WEIGHTS}' is not of this configuration: {error}") from None
    if arrays:
        raise MalformedFileError(f"'{folder / WEIGHTS}' has a tensor '{min(arrays)}' that is not understood")
    for complaint in complaints(encoder):
        raise MalformedFileError(f"'{folder}' is no model to say anything about: {complaint}")
    assert isinstance(encoder.positions, Periodic)
    if len(encoder.positions.table) < places:
        count = len(encoder.positions.table)
        raise UnsupportedError(
            f"the model has {count:,} positions: judge words of at most {count - 1:,} symbols"
        )
    return encoder


def _require_float32(arrays: Mapping[str, Floats]) -> None:
    """Raises ValueError for weights that are others when the model runs in float32."""
    with np.errstate(over="ignore"):
        others = [name for name, own in arrays.items() if not np.array_equal(own.astype(np.float32), own)]
    if others:
        raise ValueError(f"'{others[0]}' has numbers that are none in float32, its dtype")


def _require_tokens(folder: Path, config: Mapping[str, Any], vocabulary: ModelTokens) -> None:
    """Raises `MalformedFileError` where the folder says something else of the tokens.

    A number of a start or end that is no token's says nothing: it is the one of the models of English.
    """
    tokens = vocabulary.tokens
    if config.get("vocab_size") != len(tokens):
        raise MalformedFileError(
            f"'{folder / CONFIG}' has vocab_size {config.get('vocab_size')!r}, and {len(tokens):,} tokens "
            "are named"
        )
    said = tokens_in(folder)
    if said not in (None, tokens):
        raise MalformedFileError(f"'{folder / TOKENS}' has other tokens: {' '.join(said or ())[:200]}")
    for name, token in (("bos_token_id", vocabulary.start), ("eos_token_id", vocabulary.end)):
        number = config.get(name)
        if number is not None and type(number) is not int:
            raise MalformedFileError(f"'{folder / CONFIG}' has {name} {number!r}: give one number, or null")
        if number is not None and 0 <= number < len(tokens) and tokens[number] != token:
            raise MalformedFileError(
                f"'{folder / CONFIG}' has {name} {number}, which is '{tokens[number][:40]}', not "
                f"'{token[:40]}'"
            )


def _decoder(
    arrays: dict[str, Floats], config: Mapping[str, Any], vocabulary: ModelTokens, letters: tuple[str, ...]
) -> Encoder:
    """The decoder of these tensors, each of which is taken once.

    Raises ValueError, KeyError, TypeError or IndexError.
    """
    layers, heads, width = (int(config[name]) for name in ("n_layer", "n_head", "n_embd"))
    inner = config.get("n_inner")
    epsilon, tied = config.get("layer_norm_epsilon", 1e-5), config.get("tie_word_embeddings", True)
    if type(tied) is not bool or type(inner) not in (int, type(None)):
        raise ValueError("tie_word_embeddings or n_inner is of another type")
    activation = ACTIVATIONS[config.get(ACTIVATION, "gelu_new")]
    embedding, table = arrays.pop("wte.weight"), arrays.pop("wpe.weight")
    head = arrays.pop("lm_head.weight", embedding if tied else None)
    if head is None or head.shape != embedding.shape or (tied and not np.array_equal(head, embedding)):
        raise ValueError(
            "lm_head.weight is left out, or of another shape, or not wte.weight though it is tied"
        )
    shapes = (len(vocabulary.tokens), width), (config["n_positions"], width)
    if (embedding.shape, table.shape) != shapes:
        raise ValueError("wte or wpe has another shape than the configuration says")

    def norm(name: str) -> EncoderNorm:
        return EncoderNorm(arrays.pop(f"{name}.weight"), arrays.pop(f"{name}.bias"), epsilon)

    def layer(number: int) -> EncoderLayer:
        def taken(name: str) -> tuple[Floats, Floats]:
            # These modules have the rows and columns of a Linear's weight exchanged.
            weight, bias = (arrays.pop(f"h.{number}.{name}.{part}") for part in ("weight", "bias"))
            return np.ascontiguousarray(weight.T), bias

        parts = (*taken("attn.c_attn"), *taken("attn.c_proj"), *taken("mlp.c_fc"), *taken("mlp.c_proj"))
        if len(parts[5]) != (4 * width if inner is None else inner):
            raise ValueError(f"it has {len(parts[5])} hidden units, not n_inner = {inner!r}")
        both = norm(f"h.{number}.ln_1"), norm(f"h.{number}.ln_2")
        return EncoderLayer(*parts, both, heads, norm_first=True, activation=activation)

    symbols, outputs = vocabulary.symbols_for(letters), vocabulary.outputs_for(letters)
    return Encoder(
        symbols,
        None if vocabulary.asked is None else vocabulary.asked.query,
        embedding[vocabulary.numbers_of(symbols)],
        Periodic(table),
        Mask.FUTURE_MASKED,
        tuple(layer(number) for number in range(layers)),
        head[vocabulary.numbers_of(outputs)],
        np.zeros(len(outputs)),
        outputs,
        norm("ln_f"),
    )
