"""Hugging Face models of a compiled network: its verdict on a word, and its bit at every position."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attemper.errors import UnsupportedError
from attemper.exports.extras import library
from attemper.exports.hugging_face.claiming import horizon_of
from attemper.exports.hugging_face.configuration import AttemperConfig
from attemper.exports.hugging_face.looking import LookResult, look, names_of, tokens_and_mask
from attemper.running.traceable.labels import labels_of, read_at
from attemper.running.traceable.module import TraceableTransformer

transformers: Any = library("transformers", "hugging-face")
outputs: Any = library("transformers.modeling_outputs", "hugging-face")

CERTAIN = 40
"""The logit of the label that is given, where all others have 0: softmax makes 1 of it in float32."""


class AttemperPreTrainedModel(transformers.PreTrainedModel):  # type: ignore[misc]
    """What both models share: the traceable network, which `config.network` describes, as `self.network`."""

    config_class = AttemperConfig
    base_model_prefix = ""  # with one, tensors without it would be loaded over the network's own
    main_input_name = "input_ids"

    def __init__(self, config: AttemperConfig) -> None:
        super().__init__(config)
        if config.network is None:
            raise UnsupportedError(
                "this configuration has no network: load a folder that 'attemper export DIR hugging-face' "
                "wrote"
            )
        if config.structure.measure is not None:
            raise UnsupportedError(
                "numbers are put out at every position, and no class of Hugging Face answers with them: use "
                "'attemper export DIR onnx' or 'attemper export DIR torch'"
            )
        assert config.answers  # other labels are refused here, before anything runs
        self.network = TraceableTransformer(config.structure, config.dtype or torch.float64)
        self.post_init()

    @property
    def horizon(self) -> int | None:
        """How many symbols a word may have, as the certificate claims of the model as it stands and runs now.

        None is no claim: of the format that its weights have, under autocast, or since weights were changed
        or rounded. Longer words can get a wrong answer that is not undecided.
        """
        return horizon_of(self.config, self.network)

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Weights that no file has given are no numbers, so that whatever they reach is undecided."""
        for weight in module.parameters(recurse=False):
            if not getattr(weight, "_is_hf_initialized", False):
                weight.fill_(float("nan"))

    def _look(
        self,
        input_ids: Tensor | None,
        attention_mask: Tensor | None,
        inputs_embeds: Tensor | None,
        output_hidden_states: bool | None,
        output_attentions: bool | None,
    ) -> tuple[LookResult, Tensor]:
        """The outputs of a batch, and where its symbols are [batch, position]."""
        if inputs_embeds is not None or input_ids is None:
            raise UnsupportedError(
                "give input_ids, and no inputs_embeds: what is proved of the network is about its own "
                "embedding. Edit model.network.embed.W_E to try another"
            )
        config = self.config
        tokens, mask = tokens_and_mask(input_ids, attention_mask, len(config.network["alphabet"]))
        seen = look(
            self.network,
            tokens,
            mask,
            streams=config.output_hidden_states if output_hidden_states is None else output_hidden_states,
            patterns=config.output_attentions if output_attentions is None else output_attentions,
        )
        return seen, mask

    def _answer(
        self, kind: str, answers: Tensor, seen: LookResult, labels: Tensor | None, return_dict: bool | None
    ) -> Any:
        """The output of that kind: logits of `answers`, and the cross-entropy of `labels`, if any."""
        count = len(self.config.answers)
        logits = CERTAIN * nn.functional.one_hot(answers, count).to(seen.outputs.dtype)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.reshape(-1, count), labels.reshape(-1))
        found = getattr(outputs, kind)(
            loss=loss, logits=logits, hidden_states=seen.streams, attentions=seen.patterns
        )
        wanted = self.config.return_dict if return_dict is None else return_dict
        return found if wanted else found.to_tuple()


class AttemperForSequenceClassification(AttemperPreTrainedModel):
    """The verdict on each word: `logits` [batch, 3] of the labels rejected, accepted and undecided.

    The label of a verdict has the logit 40, the others 0. Undecided is a word on which a bit of the network
    could not be rounded in this number format, or whose last bit is neither near 0 nor near 1. Words may be
    padded on any side, where `attention_mask` is 0; the empty word has no symbol, or no position at all.
    With `labels` [batch], `loss` is the cross-entropy; no weight asks for gradients.

    Raises `UnsupportedError` for a network that puts out symbols or numbers, `WordError` for tokens that are
    none of the alphabet.
    """

    def __init__(self, config: AttemperConfig) -> None:
        super().__init__(config)
        if not self.network.architecture.is_plain:
            raise UnsupportedError(
                "there is no verdict: a symbol is put out at every position. Load the folder by "
                "AutoModelForTokenClassification, whose labels are the symbols"
            )

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> Any:
        seen, mask = self._look(
            input_ids, attention_mask, inputs_embeds, output_hidden_states, output_attentions
        )
        own = self.config.network
        verdicts = read_at(seen.outputs, mask, first=own["reads_first"], accepts_empty=own["accepts_empty"])
        answers = labels_of(verdicts, seen.margins)
        return self._answer("SequenceClassifierOutput", answers, seen, labels, return_dict)


class AttemperForTokenClassification(AttemperPreTrainedModel):
    """The answer at each position: `logits` [batch, position, label], 40 for the label and 0 for others.

    Labels are rejected, accepted and undecided, as `AttemperForSequenceClassification` has them, or, of a
    network that puts out symbols, these symbols and undecided. Entries at padding mean nothing. With `labels`
    [batch, position], `loss` is the cross-entropy over all that are not -100.

    Raises `UnsupportedError` for a network that puts out numbers, `WordError` for tokens that are none of the
    alphabet.
    """

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> Any:
        seen, _ = self._look(
            input_ids, attention_mask, inputs_embeds, output_hidden_states, output_attentions
        )
        read = labels_of if seen.outputs.ndim == 2 else names_of
        answers = read(seen.outputs, seen.margins)
        return self._answer("TokenClassifierOutput", answers, seen, labels, return_dict)
