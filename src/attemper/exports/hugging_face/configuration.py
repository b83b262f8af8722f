"""The configuration of a Hugging Face model: the network's structure and certificate, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attemper.exports.extras import library
from attemper.exports.remarks import KERNEL
from attemper.running.traceable.labels import LABELS, UNDECIDED

transformers: Any = library("transformers", "hugging-face")


class AttemperConfig(transformers.PreTrainedConfig):  # type: ignore[misc]
    """What `config.json` holds of a network: `network` is its `network.json`, `certificate` its certificate.

    `weights_sha256` is the digest of the network's `weights.safetensors`. Sizes and the number of the padding
    token, one more than the symbols have, follow from `network`. `id2label` names the answers.
    """

    model_type = "attemper"

    network: dict[str, Any] | None = None
    certificate: dict[str, Any] | None = None
    weights_sha256: str | None = None

    def __post_init__(self, **rest: Any) -> None:
        if self.network is not None:
            layers = self.network["layers"]
            self.pad_token_id = len(self.network["alphabet"])
            rest |= {
                "vocab_size": len(self.network["alphabet"]) + 1,
                "hidden_size": len(self.network["coordinates"]),
                "num_hidden_layers": len(layers),
                "num_attention_heads": max((len(layer["heads"]) for layer in layers), default=0),
            }
            if self.id2label is None:
                self._name_labels(answers_of(self.network))
        super().__post_init__(**rest)

    def _name_labels(self, names: list[str]) -> None:
        self.id2label: dict[int, str] | None = dict(enumerate(names))
        self.label2id = {name: number for number, name in enumerate(names)}

    @property
    def horizon(self) -> int | None:
        """How long words may be in the number format `dtype`, as the certificate claims; None: no claim.

        Whether the claim holds, `attemper check` says of the folder that `attemper import` restores.
        """
        name = str(self.dtype).removeprefix("torch.")
        for claim in (self.certificate or {}).get("claims", []):
            if (claim["arithmetic"], claim.get("kernel")) == (name, KERNEL):
                return int(claim["horizon"])
        return None


def answers_of(network: Mapping[str, Any]) -> list[str]:
    """The names of the labels: of a bit, or of the names that are put out and of no answer, which is last."""
    if not isinstance(network["output"], list):
        return list(LABELS)
    names = [str(name) for name, _ in network["output"]]
    return [*names, unused(LABELS[UNDECIDED], names)]


def unused(name: str, taken: list[str]) -> str:
    """The name, with as many underscores behind as make it none of those that are taken."""
    return unused(f"{name}_", taken) if name in taken else name
