"""What is exported: a network with its source and certificate, as its folder has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, final

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.files import discard, load_if_any
from attemper.certificates.files import save as save_certificate
from attemper.networks.files import DIGEST, contents_of
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance, Structure, structure_of

if TYPE_CHECKING:
    import torch

    from attemper.running.traceable.module import TraceableTransformer


@final
@dataclass(frozen=True)
class Exported:
    """A softmax network, what it was compiled from, and the certificate that is about it, if there is one."""

    network: Network
    source: Provenance
    certificate: Certificate | None = None

    @classmethod
    def load(cls, folder: str | Path) -> Exported:
        """What a folder of `attemper compile` or `attemper soften` holds. Raises `MalformedFileError`.

        A certificate of another network is left out, as is that of a softened network: its claim is how far
        that is from a hard one.
        """
        network, source = load_network(Path(folder))
        found = load_if_any(Path(folder))
        subject = cls(network, source, found)
        return subject if found is None or found.network == subject.digest else cls(network, source)

    def save(self, folder: str | Path) -> None:
        """Write the network's folder, with the certificate if there is one. Raises `MalformedFileError`."""
        save_network(self.network, self.source, Path(folder))
        if self.certificate is None:
            discard(Path(folder))
        else:
            save_certificate(self.certificate, Path(folder))

    @cached_property
    def data(self) -> dict[str, object]:
        """What `network.json` holds, as JSON data."""
        return contents_of(self.network, self.source)[0]

    @cached_property
    def structure(self) -> Structure:
        """The network without its weights, and its source."""
        return structure_of(self.network, self.source)

    @property
    def digest(self) -> str:
        """What names the network in its certificate."""
        return str(self.data[DIGEST])

    @property
    def title(self) -> str:
        """The text that the network was compiled from."""
        return self.source.text

    def horizons(self) -> dict[str, dict[str, int]]:
        """How long words may be, by float format and class of kernels, as the certificate claims.

        Whether the claims hold, `attemper check` says.

        >>> import attemper
        >>> model = attemper.compile("O a", "ab")
        >>> subject = Exported(model.network, model.source, model.certify())
        >>> sorted(subject.horizons())
        ['bfloat16', 'float32', 'float64']
        """
        found: dict[str, dict[str, int]] = {}
        for claim in () if self.certificate is None else self.certificate.claims:
            if isinstance(claim, FloatClaim):
                found.setdefault(str(claim.format), {})[str(claim.kernel)] = claim.horizon
        return found

    def traceable(self, dtype: torch.dtype) -> TraceableTransformer:
        """The network as a module that can be traced. Raises what `architecture_of` raises."""
        from attemper.running.traceable.module import TraceableTransformer
        from attemper.running.weights import torch_weights

        module = TraceableTransformer(self.structure, dtype)
        module.load_state_dict(torch_weights(self.network, dtype), strict=True)
        return module.eval()
