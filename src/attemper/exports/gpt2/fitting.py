"""Whether a network is one that a stock GPT-2 computes, or which head or coordinate forbids that."""

from __future__ import annotations

from attemper.errors import OptionError, UnsupportedError
from attemper.exact.closed_forms import Number, depends_on_length, show_form
from attemper.exports.dependencies import head_name
from attemper.exports.kinds import FORMATS
from attemper.exports.subject import Exported
from attemper.languages.measures import describe
from attemper.networks.layers import Head, Masking, Network, Softmax
from attemper.running.traceable.architecture import architecture_of

ELSEWHERE = "the kinds hugging-face, onnx, torch and transformer-lens hold it"


def require_fitting(subject: Exported, dtype: str, positions: int) -> None:
    """Refuse what a GPT-2 with a table of so many positions cannot compute.

    GPT-2 has heads that are future-masked, softmax without a temperature, one normalisation, which is used
    up, and a vector for each position, whatever the length of the word. Raises `UnsupportedError`, naming
    the head, the coordinate or the predicate, and `OptionError` for a format or a number of positions that
    there is not.

    >>> import attemper
    >>> model = attemper.compile(attemper.regex("a*b*", "ab"))
    >>> require_fitting(Exported(model.network, model.source), "float64", 8)
    Traceback (most recent call last):
    ...
    attemper.errors.UnsupportedError: GPT-2 is future-masked (j <= i), and head 0.0 is strictly \
future-masked: export another kind: the kinds hugging-face, onnx, torch and transformer-lens hold it
    """
    if dtype not in FORMATS:
        raise OptionError(f"dtype={dtype!r} is none of {', '.join(FORMATS)}", options=("dtype",))
    if positions < 1:
        raise OptionError(
            f"positions={positions}: a table has at least one position, for example 512",
            options=("positions",),
        )
    architecture_of(subject.structure)
    network = subject.network
    if network.normalisation is not None:
        raise UnsupportedError(
            "the network normalises what its sublayers read, and the norms of GPT-2 are used up, to do "
            f"nothing: compile without LayerNorm and RMSNorm, or export another kind: {ELSEWHERE}"
        )
    if network.measure is not None:
        raise UnsupportedError(
            f"the network puts out {describe(network.measure)}, and a stock GPT-2 labels tokens: {ELSEWHERE}"
        )
    _require_positions_alone(network)
    for number, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            _require_causal_softmax(head_name(number, index), head)


def _require_positions_alone(network: Network) -> None:
    for coordinate, form in network.positions:
        if depends_on_length(form):
            raise UnsupportedError(
                "GPT-2 has one vector for each position, whatever the length of the word, and the coordinate "
                f"'{network.coordinates[coordinate]}' is {show_form(form)}: compile with regime='unbounded', "
                f"or export another kind: {ELSEWHERE}",
                options=("regime",),
            )


def _require_causal_softmax(name: str, head: Head) -> None:
    if head.masking is not Masking.FUTURE:
        raise UnsupportedError(
            f"GPT-2 is future-masked (j <= i), and {name} is {head.masking}: export another kind: {ELSEWHERE}"
        )
    cold = head.weighting.inverse_temperature if isinstance(head.weighting, Softmax) else None
    if cold is not None and not (isinstance(cold, Number) and cold.value == 1):
        raise UnsupportedError(
            f"GPT-2 has no temperatures, and {name} has softmax at temperature 1/({show_form(cold)}): "
            f"compile with regime='unbounded', or export another kind: {ELSEWHERE}",
            options=("regime",),
        )
