"""Somebody's masked hard-attention model as a softmax network: what is measured of it, and what is proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from attemper.certificates.claims import Certificate
from attemper.compiling.decomposing.limits import CAPS, CascadeCaps
from attemper.errors import ExitCode, UnsupportedError
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.networks.regime import Regime
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench import compiling, options
from attemper.workbench.checked import Checked
from attemper.workbench.limits import limits_among
from attemper.workbench.model import Model
from attemper.workbench.reading_models import ModelReading, read_model
from attemper.workbench.report.summary import summary_of

if TYPE_CHECKING:
    from attemper.workbench.options import RegimeName

READING = "configurations"
"""The limit of reading; all others are a cascade's."""

Heard = Callable[[str], None]


@final
@dataclass(frozen=True)
class Certified:
    """The softmax network of the automaton that was measured, its certificate, and the checker's verdict."""

    model: Model
    certificate: Certificate
    checked: Checked


@final
@dataclass(frozen=True, repr=False)
class Simulated(Tabled):
    """A masked hard-attention model, and a softmax network of its language, at every length n.

    `reading` is *measured* of the model's functions: an automaton, compared with runs of the definition.
    `network` is *proved* to compute this automaton, in real arithmetic and up to horizons in floats; None
    where a run of the model differs from the automaton. `str(...)` is what `attemper simulate` prints.
    """

    reading: ModelReading
    network: Certified | None

    def __repr__(self) -> str:
        if self.network is None:
            return "<Simulated: DISAGREEMENT>"
        return f"<Simulated: MEASURED, and of the network {self.network.checked.status}: {self.model!r}>"

    def __str__(self) -> str:
        return "\n".join(map(escaped, self.lines()))

    def __bool__(self) -> bool:
        """One part is measured and the other proved: look at both."""
        raise TypeError(
            "what was simulated is not true or false; look at its reading and its checked network"
        )

    @property
    def model(self) -> Model:
        """The network, to be run, saved and exported. Raises `UnsupportedError` where there is none."""
        return self._certified.model

    @property
    def checked(self) -> Checked:
        """What the checker says of every claim about the network. Raises `UnsupportedError`."""
        return self._certified.checked

    @property
    def _certified(self) -> Certified:
        if self.network is None:
            raise UnsupportedError("there is no network: the model's own runs differ from its tables")
        return self.network

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper simulate` returns to the shell."""
        return self.reading.exit_code if self.network is None else self.network.checked.exit_code

    def save(self, folder: str | Path) -> None:
        """Write the network with its certificate into a folder. Raises what `Model.save` raises."""
        self.model.save(folder, certificate=self._certified.certificate)

    def lines(self) -> tuple[str, ...]:
        """What was measured, and what was proved, a sentence a line."""
        if self.network is None:
            return self.reading.lines()
        summary = summary_of(self.model)
        return (
            *self.reading.lines(),
            f"a network is made of the automaton ({summary.regime}): {summary.layers} layers, "
            f"{summary.heads} heads, {summary.parameters} parameters",
            *self.checked.lines(),
        )

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        if self.network is None:
            return {"measured": self.reading.record, "network": None, "proved": None}
        network = {"digest": self.model.digest, **summary_of(self.model).as_record()}
        return {"measured": self.reading.record, "network": network, "proved": self.checked.record}


def simulate(
    model: object,
    *,
    regime: RegimeName | None = None,
    count: int = 10_000,
    seconds: float = SECONDS,
    limits: Mapping[str, int] | None = None,
    seed: int = 0,
    progress: Heard = lambda _: None,
) -> Simulated:
    """A softmax network of the language of somebody's masked transformer of unique hard attention.

    (Yang, Strobl, Chiang, Angluin, Corollary 17, with Yang, Chiang and Angluin, 2024: masked unique-hard
    attention without position embeddings has exactly the star-free languages.) The model is a
    `attemper.models.hard.masked.MaskedModel`, an object that is read as one, or `"MODULE:OBJECT"`: functions
    of activations, with masks to either side or both, and ties to the left or the right. Two steps:

    * *measured*: the automaton of the words of any length n that the model accepts, by following which
      activations its heads pick (`docs/reading-back.md`). The functions are believed; they are probed, and
      the automaton is compared with runs of the definition on `count` words, which `seed` draws.
    * *proved*: the automaton is compiled in a `regime` (default: unbounded), and the checker proves that the
      network computes it, at every length, and how far float formats go. The network has the model's
      language, not its layers.

    Reading takes at most so many `seconds`; `limits` are its `configurations`, and those of a cascade
    (`attemper.compile`).

    Raises `OptionError`, `ModuleError` (with the place of the function that is to blame), `UnsupportedError`
    (no such model; a cascade beyond its limits) and `UnprovedError` (reading beyond limits or `seconds`).

    >>> from attemper.models.hard.masked_examples import Surrounded
    >>> found = simulate(Surrounded(), count=100)
    >>> found.reading.status, str(found.checked.status)
    ('MEASURED', 'PROVED')
    >>> found.model.accepts("baabaab"), found.model.accepts("baaaab"), found.model.accepts("abb")
    (False, True, True)
    """
    if regime is not None:
        options.choice("regime", regime, tuple(Regime))
    usual = {name: getattr(CascadeCaps(), name) for name in CAPS}
    most = limits_among(limits, {READING: CONFIGURATIONS, **usual}, least=0)[READING]
    reading = read_model(
        model, count=count, seconds=seconds, limits={READING: most}, seed=seed, progress=progress
    )
    if reading.disagreement is not None:
        return Simulated(reading, None)
    progress("compiling the automaton")
    caps = {name: number for name, number in (limits or {}).items() if name != READING}
    made = compiling.compile(reading.dfa, regime=regime, limits=caps)
    progress("looking for horizons")
    certificate = made.certify()
    progress("checking")
    return Simulated(reading, Certified(made, certificate, made.check(certificate)))
