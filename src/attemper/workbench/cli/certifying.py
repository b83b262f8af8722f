"""attemper certify"""

from __future__ import annotations

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import save as save_certificate
from attemper.certifying.certificate import ARITHMETICS
from attemper.workbench.cli.console import out, print_json, progress_bar
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.model import load


def certify_command(folder: Folder, json: Json = False) -> None:
    """Prove what the network computes, find the horizon of every float format, and write certificate.json."""
    model = load(folder)
    with progress_bar("looking for horizons", len(ARITHMETICS), quiet=json) as progress:
        certificate = model.certify(progress)
    save_certificate(certificate, folder)
    if json:
        print_json({"file": str(folder / CERTIFICATE), "horizons": horizons_of(certificate)})
        return
    out.print(f"wrote {folder / CERTIFICATE}")
    out.print("all lengths, in real arithmetic")
    for claim in certificate.claims:
        if isinstance(claim, FloatClaim):
            out.print(horizon_text(claim))


def horizons_of(certificate: Certificate) -> list[dict[str, object]]:
    """The float claims of a certificate as JSON data."""
    return [
        {"format": c.format, "kernel": c.kernel, "horizon": c.horizon, "bottleneck": c.bottleneck}
        for c in certificate.claims
        if isinstance(c, FloatClaim)
    ]


def horizon_text(claim: FloatClaim) -> str:
    """One line for people."""
    reach = f"up to {claim.horizon:,} in {claim.format}, {claim.kernel} kernels"
    beyond = f"beyond it no proof for {claim.bottleneck}" if claim.bottleneck else "not looked further"
    return f"{reach}; {beyond}"
