"""attemper certify"""

from __future__ import annotations

from typing import assert_never

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.files import save as save_certificate
from attemper.certifying.certificate import ARITHMETICS
from attemper.files import CERTIFICATE
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.progress import counting
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load


@limited
def certify_command(folder: Folder, seconds: SecondsOption = 600, json: Json = False) -> None:
    """Prove what the network computes, find the horizon of every float format, and write certificate.json."""
    model = load(folder)
    with counting("looking for horizons", len(ARITHMETICS)) as progress:
        certificate = model.certify(progress)
    save_certificate(certificate, folder)
    if json:
        print_json({"file": str(folder / CERTIFICATE), "horizons": horizons_of(certificate)})
        return
    out.print(f"wrote {folder / CERTIFICATE}")
    for claim in certificate.claims:
        out.print(claim_text(claim))


def horizons_of(certificate: Certificate) -> list[dict[str, object]]:
    """The claims of a certificate that have a horizon, as JSON data."""
    real: list[dict[str, object]] = [
        {"format": "real", "kernel": None, "horizon": c.horizon, "bottleneck": ""}
        for c in certificate.claims
        if isinstance(c, RealClaim) and c.horizon is not None
    ]
    return [
        *real,
        *(
            {"format": c.format, "kernel": c.kernel, "horizon": c.horizon, "bottleneck": c.bottleneck}
            for c in certificate.claims
            if isinstance(c, FloatClaim)
        ),
    ]


def claim_text(claim: Claim) -> str:
    """One line for people.

    >>> claim_text(RealClaim(1_000))
    'up to 1,000 in real arithmetic'
    """
    match claim:
        case RealClaim(None):
            return "all lengths, in real arithmetic"
        case RealClaim(horizon):
            return f"{_up_to(horizon)} in real arithmetic"
        case FloatClaim():
            return horizon_text(claim)
        case _:
            assert_never(claim)


def horizon_text(claim: FloatClaim) -> str:
    """One line for people."""
    reach = f"{_up_to(claim.horizon)} in {claim.format}, {claim.kernel} kernels"
    beyond = "beyond it no proof" if claim.horizon else "no proof"
    return f"{reach}; {beyond} for {claim.bottleneck}" if claim.bottleneck else f"{reach}; not looked further"


def _up_to(horizon: int | None) -> str:
    return f"up to {horizon:,}" if horizon else "nothing is proved"
