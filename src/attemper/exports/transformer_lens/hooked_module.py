"""A network as a module of TransformerLens: our own numbers at TransformerLens' own hook points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attemper.errors import OptionError, WordError
from attemper.exports.extras import library
from attemper.exports.kinds import FORMATS
from attemper.exports.subject import Exported
from attemper.exports.transformer_lens.settings import LensConfig, settings_of
from attemper.exports.transformer_lens.uniform_heads import with_uniform_heads
from attemper.languages.words import Word, check_word, parse_word
from attemper.networks.layers import Network
from attemper.running import hooks
from attemper.running.batches import tokens_of
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import Engine

library("transformer_lens", "transformer-lens")

from transformer_lens import HookedRootModule  # noqa: E402 - after the error that says what is missing
from transformer_lens.hook_points import HookPoint  # noqa: E402

from attemper.exports.transformer_lens.hooked_cache import LensCache  # noqa: E402

KEPT = {
    "use_split_qkv_input": ("hook_q_input", "hook_k_input", "hook_v_input"),
    "use_hook_mlp_in": ("hook_mlp_in",),
    "use_attn_result": ("hook_result",),
}
"""TransformerLens' settings that say whether caches have what parts of layers read and write."""

GivenWords = str | Sequence[str | Sequence[str]]
"""A word's text, or several words, each as a text or as its symbols."""


class LensPoint(HookPoint, hooks.HookPoint):  # type: ignore[misc]
    """A hook point of TransformerLens, which our modules know as one of theirs."""


class LensTransformer(HookedRootModule):  # type: ignore[misc]
    """The network, running as `DenseTransformer(network, dtype, engine="matrix")` does, bit for bit.

    Words are a text or a list of words, each a text or a list of its symbols, or tokens [batch, position],
    padded on the right with `padding` or, where `lengths` [batch] are given, with any token. What comes out
    is the output at every position, [batch, position], or [batch, position, name] where several names are
    put out. Every regime, mask, temperature and length runs, hard attention too.

    `run_with_cache`, `run_with_hooks`, `hooks`, `add_hook` and `reset_hooks` are TransformerLens' own, with
    its names of hook points; a hook on `hook_attn_scores` or `hook_pattern` can change what it sees, too, and
    one on `hook_q_input`, `hook_k_input`, `hook_v_input`, `hook_mlp_in` or `hook_result` what one part alone
    reads or writes.
    """

    def __init__(self, network: Network, dtype: torch.dtype = torch.float64, name: str = "attemper") -> None:
        super().__init__()
        dense = DenseTransformer(network, dtype, engine=Engine.MATRIX)
        _replace_points(dense)
        # In a tuple: its parts are registered below, under the names that they have there.
        self._dense = (dense,)
        self._title = name
        self._kept = dict.fromkeys(KEPT, False)
        self.embed, self.blocks = dense.embed, dense.blocks
        self.hook_embed, self.hook_pos_embed = dense.hook_embed, dense.hook_pos_embed
        self.setup()
        self.eval()

    @classmethod
    def of_folder(cls, folder: Path, dtype: str, *, uniform_heads: bool = False) -> LensTransformer:
        """What `attemper.exports.transformer_lens.load` gives out. Raises what that raises."""
        if dtype not in FORMATS:
            raise OptionError(f"dtype={dtype!r} is none of {', '.join(FORMATS)}")
        subject = Exported.load(folder)
        network = with_uniform_heads(subject.network) if uniform_heads else subject.network
        return cls(network, getattr(torch, dtype), subject.title)

    @property
    def dense(self) -> DenseTransformer:
        """The module that computes everything; it has the same parameters and hook points."""
        return self._dense[0]

    @property
    def network(self) -> Network:
        """The network as exact data: labels of coordinates, what heads are for, closed forms."""
        return self.dense.network

    @property
    def cfg(self) -> LensConfig:
        """The sizes and settings that TransformerLens' tools ask for."""
        return settings_of(self.dense.cfg, self._title, self._kept)

    def set_use_split_qkv_input(self, use_split_qkv_input: bool) -> None:
        """Whether caches have what queries, keys and values read: hooks see it, and change it, anyway."""
        self._kept["use_split_qkv_input"] = use_split_qkv_input

    def set_use_hook_mlp_in(self, use_hook_mlp_in: bool) -> None:
        """Whether caches have what hidden units read: hooks see it, and change it, anyway."""
        self._kept["use_hook_mlp_in"] = use_hook_mlp_in

    def set_use_attn_result(self, use_attn_result: bool) -> None:
        """Whether caches have what each head writes: hooks see it, and change it, anyway."""
        self._kept["use_attn_result"] = use_attn_result

    @property
    def padding(self) -> int:
        """The token for padding: the number behind the last symbol's."""
        return len(self.network.alphabet.symbols)

    def forward(self, words: GivenWords | Tensor, lengths: Tensor | None = None) -> Tensor:
        """The output at every position; entries past a word's length mean nothing. Raises `WordError`."""
        output: Tensor = self.dense(*self._tokens_and_lengths(words, lengths))
        return output

    def unclamped(self, words: GivenWords | Tensor, lengths: Tensor | None = None) -> Tensor:
        """The output without the clamps that write it, to be differentiated: `DenseTransformer.unclamped`."""
        return self.dense.unclamped(*self._tokens_and_lengths(words, lengths))

    def run_with_margin(
        self, words: GivenWords | Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The output, and each word's smallest margin [batch]: where that is negative, read no output."""
        return self.dense.run_with_margin(*self._tokens_and_lengths(words, lengths))

    def run_with_cache(
        self,
        *words: Any,
        return_cache_object: bool = True,
        remove_batch_dim: bool = False,
        names_filter: Any = None,
        **options: Any,
    ) -> tuple[Tensor, LensCache | dict[str, Tensor]]:
        """The output, and the activations at hook points as an `ActivationCache`, or else as a dict."""
        kept = self._is_kept if names_filter is None else names_filter
        output, found = super().run_with_cache(
            *words, remove_batch_dim=remove_batch_dim, names_filter=kept, **options
        )
        if not return_cache_object:
            return output, found
        return output, LensCache(found, self, has_batch_dim=not remove_batch_dim)

    def to_tokens(self, words: GivenWords, prepend_bos: bool = False) -> Tensor:
        """The words as tokens [word, position], padded on the right with `padding`.

        Raises `WordError` for a symbol outside the alphabet and for an empty word, and `OptionError` if a
        beginning-of-sequence token is asked for: there is none.
        """
        if prepend_bos:
            raise OptionError("there is no beginning-of-sequence token: leave prepend_bos out")
        given = [words] if isinstance(words, str) else list(words)
        found = list(map(self._word, given))
        if not found or not all(found):
            raise WordError("a tensor of tokens needs words, and none of them empty")
        tokens, lengths = tokens_of(self.network.alphabet, found)
        behind = torch.arange(tokens.shape[1])[None] >= lengths[:, None]
        return tokens.masked_fill(behind, self.padding).to(self.dense.device)

    def to_str_tokens(self, words: GivenWords | Tensor) -> list[str] | list[list[str]]:
        """The symbols of a word, or of each of several, given as text, as texts, or as tokens."""
        if isinstance(words, str):
            return list(self._word(words))
        if not isinstance(words, Tensor):
            return [list(self._word(word)) for word in words]
        rows = [self._symbols(row) for row in words.reshape(-1, words.shape[-1]).tolist()]
        return rows[0] if words.ndim == 1 else rows

    def to_string(self, tokens: Tensor) -> str | list[str]:
        """The text of tokens [position], or the texts of [batch, position], as `to_tokens` reads them."""
        joint = "" if self.network.alphabet.is_single_character else " "
        if tokens.ndim == 1:
            return joint.join(self._symbols(tokens.tolist()))
        return [joint.join(self._symbols(row)) for row in tokens.tolist()]

    def to_single_token(self, symbol: str) -> int:
        """The number of a symbol. Raises `WordError`."""
        return int(self.to_tokens(symbol)[0, 0])

    def accumulated_bias(
        self, layer: int, mlp_input: bool = False, include_mlp_biases: bool = True
    ) -> Tensor:
        """What biases add to the stream before a layer, [d_model]: nothing, as no sublayer has one there."""
        del layer, mlp_input, include_mlp_biases
        return torch.zeros(self.cfg.d_model, dtype=self.cfg.dtype, device=self.cfg.device)

    def _is_kept(self, name: str) -> bool:
        """Whether caches have what stands at a hook point."""
        point = name.rpartition(".")[2]
        return all(self._kept[setting] for setting, points in KEPT.items() if point in points)

    def _word(self, given: object) -> Word:
        """A word as a text, or as a list or tuple of its symbols."""
        if isinstance(given, str):
            return parse_word(given, self.network.alphabet)
        if isinstance(given, list | tuple):
            return check_word(tuple(given), self.network.alphabet)
        raise WordError(f"{given!r} is no word: give a text, a list of symbols, or a tensor for all words")

    def _symbols(self, tokens: list[int]) -> list[str]:
        symbols = self.network.alphabet.symbols
        odd = [token for token in tokens if not 0 <= token <= self.padding]
        if odd:
            raise WordError(f"the token {odd[0]} does not exist: there are the tokens 0 to {self.padding}")
        return [symbols[token] for token in tokens if token != self.padding]

    def _tokens_and_lengths(
        self, words: GivenWords | Tensor, lengths: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """What our modules read: texts as tokens, and padding as lengths."""
        tokens = words if isinstance(words, Tensor) else self.to_tokens(words)
        if tokens.ndim != 2 or tokens.is_floating_point():
            return tokens, lengths
        if lengths is not None:
            return _without_padding(tokens, lengths, self.padding), lengths
        is_padding = tokens == self.padding
        if not bool((is_padding[:, 1:] | ~is_padding[:, :-1]).all()):
            raise WordError(
                "padding stands on the right of words only: a token for padding is before a symbol"
            )
        return tokens.masked_fill(is_padding, 0), (~is_padding).sum(dim=1)


def _without_padding(tokens: Tensor, lengths: Tensor, padding: int) -> Tensor:
    """The tokens with 0 for padding past each length; as they are, where these are no lengths of them."""
    if not isinstance(lengths, Tensor) or lengths.shape != tokens.shape[:1]:
        return tokens
    behind = torch.arange(tokens.shape[1], device=tokens.device) >= lengths.to(tokens.device)[:, None]
    return tokens.masked_fill(behind & (tokens == padding), 0)


def _replace_points(module: DenseTransformer) -> None:
    """Put a hook point of TransformerLens in place of each of ours."""
    for name, point in list(module.named_modules()):
        if isinstance(point, hooks.HookPoint):
            parent, _, own = name.rpartition(".")
            setattr(module.get_submodule(parent), own, LensPoint())
