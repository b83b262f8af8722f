"""attemper certify, attemper check"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.checker.edited import check_edited
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.errors import MalformedFileError
from attemper.workbench.certify import ARITHMETICS
from attemper.workbench.cli.console import out, print_json, progress_bar
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.refuting import check_refutation_file
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


def check_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE", help="A folder made by 'attemper compile', or a refutation's file."
        ),
    ],
    json: Json = False,
    ignore_rounding: Annotated[
        bool,
        typer.Option(
            "--ignore-rounding",
            help="Take float operations to be exact: what then holds is PROVED_UNDER_ASSUMPTIONS at best.",
        ),
    ] = False,
    edited: Annotated[
        bool,
        typer.Option(
            "--edited",
            help="Judge the weights as they are now, whoever changed them after they were certified.",
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="DIR|MODULE:OBJECT", help="The model that a refutation is about."),
    ] = None,
) -> int:
    """Check a network's certificate, or a refutation, from the raw weights, trusting nothing that it says.

    With --edited the certificate's language and claims are judged of whatever weights stand in the folder;
    its digest and evidence are about the weights as they were, and are not looked at.

    Exit codes: 0 PROVED, 10 REFUTED, 11 PROVED_UNDER_ASSUMPTIONS, 12 UNKNOWN, 6 MALFORMED.
    """
    try:
        if path.is_file():
            if edited:
                raise typer.BadParameter("--edited is about the weights in a folder, not about a refutation")
            return check_refutation_file(path, model, json=json)
        if edited:
            verdict = check_edited(path, ignore_rounding=ignore_rounding)
        else:
            verdict = load(path).check(load_certificate(path), ignore_rounding=ignore_rounding)
    except MalformedFileError as error:
        verdict = Verdict((ClaimVerdict(Status.MALFORMED, str(error)),))
    if json:
        print_json(_record(verdict))
    else:
        out.print(str(verdict.status))
        for claim in verdict.claims:
            out.print(f"  {claim.status}: {claim.text}")
            for assumption in claim.assumptions:
                out.print(f"    assuming {assumption}")
        for arithmetic in dict.fromkeys(claim.arithmetic for claim in verdict.claims if claim.arithmetic):
            out.print(f"  float arithmetic: {arithmetic}")
    return verdict.exit_code


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


def _record(verdict: Verdict) -> dict[str, object]:
    return {
        "verdict": str(verdict.status),
        "claims": [
            {
                "verdict": str(claim.status),
                "text": claim.text,
                "assumptions": list(claim.assumptions),
                "arithmetic": claim.arithmetic or "real",
                "witness": None if claim.witness is None else list(claim.witness),
            }
            for claim in verdict.claims
        ],
    }
