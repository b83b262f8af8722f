"""Options as users write them: each is checked, and an error says what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from attemper.errors import OptionError

if TYPE_CHECKING:
    import torch

    from attemper.certifying.choosing import Goal
    from attemper.compiling.literal.single_heads import Heads
    from attemper.compiling.softening.normalise import LayerNorm
    from attemper.networks.regime import Regime

    DTypeLike = Literal["float64", "float32", "bfloat16"] | torch.dtype
    """A float format by name, or as torch has it."""

WeightsName = Literal["soft", "hard"]
DType = Literal["float64", "float32", "bfloat16"]
RegimeName = Literal["unbounded", "temperature", "decoder"]
EngineName = Literal["auto", "matrix", "fused", "scan", "numpy"]
DeviceName = Literal["cpu", "cuda", "mps"]
ConstructionName = Literal["ours", "paper"]
HeadsName = Literal["one", "many"]
KernelName = Literal["numerator-first", "normalise-first", "scan"]

TARGETS = ("parity-even", "parity-odd", "dyck1", "dyck2", "ones", "anbn")
"""Some languages of the zoo that models are refuted with: over the model's own symbols, in their order."""

WITHOUT_POLARITY = {"parity": "parity-even"}
"""A name that says no polarity, and what it stands for, here as in the zoo."""


def choice(option: str, value: str, allowed: Sequence[str]) -> str:
    """The value, if it is allowed; else `OptionError` with what is."""
    if value not in allowed:
        raise OptionError(f"{option}={value!r} is none of {', '.join(repr(str(a)) for a in allowed)}")
    return value


def with_polarity(name: str) -> str:
    """The name that says the polarity; every other name as it is.

    >>> with_polarity("parity"), with_polarity("dyck2")
    ('parity-even', 'dyck2')
    """
    return WITHOUT_POLARITY.get(name, name)


def polarity_note(name: str, ones: str) -> str | None:
    """What is said of a name without polarity: which words it stands for, by the number of `ones`; else None.

    >>> polarity_note("parity", "1s")
    "note: 'parity' is parity-even: an even number of 1s, as in Hahn 2020; parity-odd has the other words"
    """
    if name not in WITHOUT_POLARITY:
        return None
    return (
        f"note: '{name}' is {with_polarity(name)}: an even number of {ones}, as in Hahn 2020; parity-odd has "
        "the other words"
    )


def require(name: str, value: object, kind: type, remedy: str) -> None:
    """Raises `OptionError` with the remedy if the value is of another kind.

    >>> require("formula", 3, str, "give a text, for example 'O a'")
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: formula is of the type int: give a text, for example 'O a'
    """
    if not isinstance(value, kind):
        raise OptionError(f"{name} is of the type {type(value).__name__}: {remedy}")


def dtype_name(dtype: DTypeLike) -> str:
    """The name of a float format, which may be given as torch has it. Raises `OptionError`.

    >>> import torch
    >>> dtype_name(torch.float32)
    'float32'
    """
    return choice("dtype", str(dtype).removeprefix("torch."), get_args(DType))


def literal_of(construction: str, heads: str | None, layer_norm: LayerNorm | None) -> Heads | None:
    """How many heads a layer of the papers' own network has; None for ours. Raises `OptionError`."""
    from attemper.compiling.literal.single_heads import Heads

    is_literal = choice("construction", construction, get_args(ConstructionName)) == "paper"
    if heads is not None and not is_literal:
        raise OptionError(
            "only the papers' construction is asked how many heads a layer has: give construction='paper'",
            options=("heads", "construction"),
        )
    if layer_norm is not None and is_literal:
        raise OptionError(
            "the papers' construction has no layer normalisation: leave it out, or use construction='ours'",
            options=("layer_norm", "construction"),
        )
    return Heads(choice("heads", heads or "one", get_args(HeadsName))) if is_literal else None


def goal_of(horizon: int | None, dtype: DTypeLike, kernel: str) -> Goal | None:
    """What is to be reached. Raises `OptionError`."""
    # Whoever only reads names of languages here needs no compiler.
    from attemper.certifying.choosing import Goal
    from attemper.checker.rounding.arithmetic import Kernel
    from attemper.exact.formats import FORMATS

    form = FORMATS[dtype_name(dtype)]
    one = Kernel(choice("kernel", kernel, tuple(Kernel)))
    if horizon is None:
        return None
    if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
        raise OptionError(
            f"horizon={horizon!r} is no length: give a number of symbols from 1 on", options=("horizon",)
        )
    return Goal(form, one, horizon)


def regimes_for(named: Regime | None, goal: Goal | None, layer_norm: LayerNorm | None) -> tuple[Regime, ...]:
    """The regimes to try: the one that is named; else the first that there is, or for a goal all of them.

    With a LayerNorm the unbounded one is none of them.
    """
    from attemper.networks.regime import Regime

    if named is not None:
        return (named,)
    all_of_them = tuple(one for one in Regime if layer_norm is None or one is not Regime.UNBOUNDED)
    return all_of_them if goal is not None else all_of_them[:1]
