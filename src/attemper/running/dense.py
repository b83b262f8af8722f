"""A compiled network as a `torch.nn.Module`, with the whole attention matrix only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attemper.networks.layers import HardWeighting, Network
from attemper.running.blocks import BlockStack, Look, clamp_room
from attemper.running.closed_form_tensors import form_values
from attemper.running.config import Config, config_of
from attemper.running.engines import choice
from attemper.running.engines.names import ON_PARTS, SCAN_FROM, Engine, engine_of, engine_reaching
from attemper.running.hooks import HookPoint, hooks
from attemper.running.kept import KeptTensors
from attemper.running.places import Places
from attemper.running.tokens import checked_tokens

if TYPE_CHECKING:
    from attemper.running.engines.scan.forward import ModuleScan


class DenseTransformer(BlockStack):
    """The network, running: tokens [batch, position] to the output coordinate [batch, position].

    `dtype` is the format of weights and activations; `weighting` replaces every head's own
    weighting (None: softmax for a soft network). The parameters do not depend on the length of the
    words; position embeddings and temperatures are evaluated from their closed forms, in float64, and then
    rounded to the format of the parameters, so that `.to(...)`, `.float()` and `.half()` take all along.
    Of a `sealed` module nobody will change a parameter, so that what follows from them is computed once.

    Hook points carry TransformerLens' names: hook_embed, hook_pos_embed, blocks.L.hook_resid_pre,
    blocks.L.attn.hook_q, hook_k, hook_v, hook_attn_scores, hook_pattern, hook_z,
    blocks.L.hook_attn_out, hook_resid_mid, blocks.L.mlp.hook_pre, hook_post, hook_mlp_out,
    hook_resid_post; of a normalised network blocks.L.ln1.hook_normalized and ln2.hook_normalized, too. What
    one part reads or writes alone is blocks.L.attn.hook_q_input, hook_k_input, hook_v_input and hook_result
    [batch, position, head, d_model], and blocks.L.hook_mlp_in.
    `docs/networks.md` shows how to use them.

    `engine` says how attention is computed (`docs/scan.md`): `matrix` makes the n x n matrices that hooks on
    scores and patterns see, `fused` takes time n^2 and memory n, `scan` takes time n. `auto` is the scan for
    batches of 4,096 positions or more where all heads have a linear way, else fused. A call can name another
    engine. A hook on a point that the engine does not reach is an `OptionError`; `run_with_cache` and
    `run_with_hooks` take an engine that reaches the points that they are told.

    >>> import attemper
    >>> module = attemper.compile("O a", "ab").dense(dtype="float32")
    >>> module(torch.tensor([[1, 0, 1], [1, 1, 0]])).round().tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        network: Network,
        dtype: torch.dtype = torch.float64,
        weighting: HardWeighting | None = None,
        *,
        engine: str = Engine.AUTO,
        sealed: bool = False,
    ) -> None:
        super().__init__(network, dtype, weighting, sealed=sealed)
        self._sealed = sealed
        self._scan: ModuleScan | None = None
        self.engine = engine_of(engine)
        choice.require_runnable(self, self.engine)
        self._tabulated, self._position_tables = network.positions, KeptTensors()
        self.eval()  # nothing in it is different in training, and tools ask for it

    @property
    def cfg(self) -> Config:
        """The sizes of the network, under TransformerLens' names."""
        return config_of(self.network, self.dtype, self.device)

    def forward(self, tokens: Tensor, lengths: Tensor | None = None, engine: str | None = None) -> Tensor:
        """The output at every position; entries past a word's length mean nothing.

        A bit is [batch, position]; a symbol is [batch, position, symbol], one-hot over `network.symbols`. An
        integer's share and a fraction are [batch, position], a distribution [batch, position, name].

        `tokens` [batch, position] are the numbers of symbols in the alphabet, from 0 on, padded on the right
        with any of them; `lengths` [batch] are the words' lengths, from 1 on (default: no padding). Both are
        tensors of integers, on any device. `engine`: the one for this call. Raises `WordError` for other
        tokens, and `OptionError` for an engine that cannot run the network or reach a hook.
        """
        tokens, lengths = checked_tokens(tokens, lengths, len(self.network.embedding), self.device)
        return self._run(tokens, lengths, self.require_engine(engine), None)

    def require_engine(self, name: str | None) -> Engine:
        """The engine of that name, or the module's own. Raises `OptionError` if that cannot run it."""
        engine = self.engine if name is None else engine_of(name)
        choice.require_runnable(self, engine)
        return engine

    def engine_for(self, positions: int, asked: Engine = Engine.AUTO) -> Engine:
        """The engine that is asked for; what `auto` is for so many positions (words times the longest)."""
        if asked is not Engine.AUTO:
            return asked
        if positions < SCAN_FROM or torch.compiler.is_compiling():
            return Engine.FUSED
        return Engine.FUSED if choice.scan_is_refused(self) or choice.wants_gradients(self) else Engine.SCAN

    def _run(self, tokens: Tensor, lengths: Tensor, asked: Engine, margins: Tensor | None) -> Tensor:
        """The outputs; `margins` [batch], if any, takes each word's smallest margin."""
        engine = self.engine_for(tokens.numel(), asked)
        watched = choice.require_reached(self, engine)
        if engine is not Engine.SCAN:
            return self._read(tokens, Places(lengths, tokens.shape[1]), engine, margins)
        from attemper.running.engines.scan.past import UnfitError

        try:
            dense = watched or asked is Engine.SCAN
            output = self.scanner().run(tokens, lengths, margins, whole=watched, dense=dense)
        except UnfitError:
            return self._read(tokens, Places(lengths, tokens.shape[1]), Engine.FUSED, margins)
        return output if self.network.symbols else output[..., 0]

    def scanner(self) -> ModuleScan:
        """The weights as the scan reads them: anew each time, unless nobody can change them."""
        from attemper.running.engines.scan.forward import ModuleScan

        if not self._sealed:
            return ModuleScan(self)
        if self._scan is None or (self._scan.dtype, self._scan.device) != (self.dtype, self.device):
            self._scan = ModuleScan(self)
        return self._scan

    def _read(self, tokens: Tensor, places: Places, engine: Engine, margins: Tensor | None) -> Tensor:
        x = self.hook_embed(self.embed.W_E[tokens]) + self._position_embedding(places)
        for number, block in enumerate(self.blocks):
            x = block(x, places, engine, self._look(number, places, margins))
        outputs = self.network.outputs
        output: Tensor = x[..., list(outputs)] if self.network.symbols else x[..., outputs[0]]
        normalisation = self.network.normalisation
        return output if normalisation is None else output / float(normalisation.unit)

    def _look(self, number: int, places: Places, margins: Tensor | None) -> Look | None:
        """What keeps the smallest margin of a layer's clamps."""
        layer = self.network.layers[number]
        if margins is None or not layer.clamps:
            return None

        def look(pre: Tensor) -> None:
            room = clamp_room(layer, pre).amin(dim=-1).double()
            if places.is_ragged:
                room = room.masked_fill(~places.real, float("inf"))
            torch.minimum(margins, room.amin(dim=-1), out=margins)

        return look

    def run_with_cache(
        self, tokens: Tensor, lengths: Tensor | None = None, names: Iterable[str] | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The output, and the activations at the hook points called `names` (default: all but what one part
        reads or writes alone, which follows from the others).

        The engine is the matrix where scores or patterns are among them. Raises `WordError` (tokens) and
        `KeyError` (a name).
        """
        if names is None:
            points = (name for name, module in self.named_modules() if isinstance(module, HookPoint))
            names = [name for name in points if name.rpartition(".")[2] not in ON_PARTS]
        cache: dict[str, Tensor] = {}

        def keep(name: str) -> Callable[[Tensor], None]:
            return lambda activation: cache.__setitem__(name, activation.detach())

        on = {name: keep(name) for name in names}
        return self.run_with_hooks(tokens, lengths, on=on), cache

    def run_with_hooks(
        self,
        tokens: Tensor,
        lengths: Tensor | None = None,
        *,
        on: Mapping[str, Callable[[Tensor], Tensor | None]],
    ) -> Tensor:
        """The output, where each function sees the activation at the hook point of its name.

        A function that returns a tensor replaces the activation. The engine is the matrix where scores or
        patterns are among the points. Raises `WordError` and `KeyError`.
        """
        with hooks(self, on):
            output: Tensor = self(tokens, lengths, engine_reaching(on, self.engine))
        return output

    def run_with_margin(
        self, tokens: Tensor, lengths: Tensor | None = None, engine: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The output, and for each word the smallest margin of its clamps [batch].

        A clamp that rounds an approximate bit works while its sum stays out of an open interval of
        width 1/2; the margin is how far it stays out (1/4 is perfect, negative is broken). It is
        infinite for a network without clamps.
        """
        tokens, lengths = checked_tokens(tokens, lengths, len(self.network.embedding), self.device)
        margins = torch.full((tokens.shape[0],), float("inf"), dtype=torch.float64, device=tokens.device)
        return self._run(tokens, lengths, self.require_engine(engine), margins), margins

    def unclamped(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The output, where the clamps that write it are the lines of their middle parts, for gradients.

        A clamp is flat around each of its bits, so that the output has gradient 0 there. Its line is the sum
        that it rounds, and of one clamp is above 1/2 where the bit is 1. Clamps before these round as ever.
        Raises what a call raises.

        >>> import attemper
        >>> module = attemper.compile("O a", "ab").dense()
        >>> module.unclamped(torch.tensor([[1, 0, 1]])).round(decimals=3).tolist()
        [[-0.5, 1.5, 1.5]]
        """
        seen: dict[int, Tensor] = {}
        clamped = [number for number, layer in enumerate(self.network.layers) if layer.clamps]
        keep = {f"blocks.{number}.mlp.hook_pre": partial(seen.__setitem__, number) for number in clamped}
        output = self.run_with_hooks(tokens, lengths, on=keep)
        for number, pre in seen.items():
            low, high = torch.tensor(self.network.layers[number].clamps, device=pre.device).unbind(dim=1)
            written = self.blocks[number].mlp.W_out[:, list(self.network.outputs)]
            line = pre[..., low] @ written[low]
            lost = line - pre[..., low].relu() @ written[low] - pre[..., high].relu() @ written[high]
            normalisation = self.network.normalisation
            lost = lost if normalisation is None else lost / float(normalisation.unit)
            output = output + (lost if self.network.symbols else lost[..., 0])
        return output

    def _position_embedding(self, places: Places) -> Tensor:
        """What hook_pos_embed gives out [batch or 1, position, d_model]."""
        if self._tabulated is not self.network.positions:  # somebody has given the module another network
            self._tabulated, self._position_tables = self.network.positions, KeptTensors()
        table = places.tabulate(self._position_tables, (self.dtype,), self._position_table)
        if not self.hook_pos_embed.is_watched:
            return table
        # Whoever watches may write to what they see; every word has rows of its own then.
        seen: Tensor = self.hook_pos_embed(table.expand(len(places.n), -1, -1).clone())
        return seen

    def _position_table(self, i: Tensor, n: Tensor) -> Tensor:
        width = len(self.network.coordinates)
        table = torch.zeros(*i.shape, width, dtype=self.dtype, device=i.device)
        for coordinate, form in self.network.positions:
            table[..., coordinate] += form_values(form, i, n).to(self.dtype)
        return table
