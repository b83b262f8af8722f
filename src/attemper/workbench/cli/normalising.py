"""The options of `attemper compile` that make a network with LayerNorm or RMSNorm."""

from __future__ import annotations

from typing import Annotated

import typer

from attemper.compiling.softening.normalise import LayerNorm
from attemper.workbench.cli.options import rational

LayerNormOption = Annotated[
    bool,
    typer.Option("--layer-norm", help="Every sublayer reads through a LayerNorm: see docs/layer-norm.md."),
]
RmsNormOption = Annotated[
    bool, typer.Option("--rms-norm", help="As --layer-norm, with RMSNorm: no mean is taken off.")
]
LambdaOption = Annotated[
    str | None,
    typer.Option("--lambda", metavar="2^-K", help="What the residual stream holds numbers times (2^-40)."),
]
EpsOption = Annotated[
    str | None, typer.Option("--eps", metavar="X", help="What the normalisation adds to the variance (1e-5).")
]
PaddingOption = Annotated[
    str | None,
    typer.Option(metavar="M", help="A constant pair M, -M besides, for example 2^16: needed if eps is 0."),
]


def layer_norm_of(
    layer_norm: bool, rms_norm: bool, unit: str | None, eps: str | None, padding: str | None
) -> LayerNorm | None:
    """How the network is normalised; None if it is not. Raises `typer.BadParameter` and `OptionError`."""
    options = {"--lambda": unit, "--eps": eps, "--padding": padding}
    if layer_norm and rms_norm:
        raise typer.BadParameter("give one of --layer-norm and --rms-norm")
    if not (layer_norm or rms_norm):
        for option in (option for option, text in options.items() if text is not None):
            raise typer.BadParameter(f"{option} is for a normalised network: give --layer-norm, too")
        return None
    usual = LayerNorm()
    return LayerNorm(
        unit=usual.unit if unit is None else rational(unit, "--lambda"),
        eps=usual.eps if eps is None else rational(eps, "--eps"),
        padding=usual.padding if padding is None else rational(padding, "--padding"),
        is_centred=layer_norm,
    )
