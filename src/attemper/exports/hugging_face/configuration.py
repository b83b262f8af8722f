"""The configuration of a Hugging Face model: the network's structure and certificate, as data."""

from __future__ import annotations

from typing import Any

from attemper.certificates.claims import FloatClaim
from attemper.certificates.files import CERTIFIED
from attemper.documents import brief
from attemper.errors import MalformedFileError
from attemper.exact.codec import CodecError
from attemper.exports.extras import library
from attemper.exports.hugging_face_files import BIT_ANSWERS, answers_of
from attemper.exports.remarks import KERNEL
from attemper.networks.files import digest_of_parts, read_structure
from attemper.networks.structure import Structure
from attemper.running.traceable.labels import LABELS

transformers: Any = library("transformers", "hugging-face")

assert BIT_ANSWERS == LABELS


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
        if "transformers_weights" in rest:
            raise MalformedFileError(
                "the entry 'transformers_weights' names other weights than model.safetensors: remove it"
            )
        if self.network is not None:
            structure = self.structure
            self.pad_token_id = len(structure.alphabet.symbols)
            rest |= {
                "vocab_size": len(structure.alphabet.symbols) + 1,
                "hidden_size": len(structure.coordinates),
                "num_hidden_layers": len(structure.layers),
                "num_attention_heads": max((len(layer.heads) for layer in structure.layers), default=0),
            }
            if self.id2label is None:
                self._name_labels(answers_of([name for name, _ in structure.symbols]))
        super().__post_init__(**rest)

    @property
    def structure(self) -> Structure:
        """What `network` says. Raises `MalformedFileError`."""
        try:
            return read_structure(self.network or {})
        except CodecError as error:
            raise MalformedFileError(f"the entry 'network' holds none: {brief(error)}") from None

    @property
    def answers(self) -> list[str]:
        """The names of the labels. Raises `MalformedFileError` if `id2label` gives them others.

        Their numbers are what the model says, so that other names would be other answers.
        """
        names = answers_of([str(name) for name, _ in (self.network or {}).get("symbols", ())])
        if self.id2label != dict(enumerate(names)):
            raise MalformedFileError(
                f"id2label is {str(self.id2label)[:120]}, but the labels 0, 1, ... mean {', '.join(names)}: "
                "leave it as it was exported"
            )
        return names

    def _name_labels(self, names: list[str]) -> None:
        self.id2label: dict[int, str] | None = dict(enumerate(names))
        self.label2id = {name: number for number, name in enumerate(names)}

    @property
    def horizons(self) -> dict[str, int]:
        """How long words may be in symbols, by number format, as the certificate claims; empty without one.

        A certificate that names another network claims nothing of this one, nor does its own if `network` or
        `weights_sha256` was changed. What counts of a model is the format in which it runs, and whether its
        weights are the network's own: `model.horizon` has both.
        """
        certificate = self.certificate or {}
        if self.network is None or self.weights_sha256 is None:
            return {}
        digest = digest_of_parts(self.network, bytes.fromhex(self.weights_sha256))
        if not digest == self.network["digest"] == certificate.get("network"):
            return {}
        try:
            claims = CERTIFIED.decode(certificate).claims
        except CodecError:
            return {}
        return {
            claim.format: claim.horizon
            for claim in claims
            if isinstance(claim, FloatClaim) and claim.kernel == KERNEL
        }
