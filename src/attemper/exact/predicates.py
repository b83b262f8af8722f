"""Numerical predicates: sets of integers with a name.

They are read of positions (as position embeddings) and of counts (as looked-up values). Users add
their own with `register_predicate`; the name is then a word of the formula language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import assert_never, final

from attemper.errors import AttemperError, ExitCode
from attemper.exact.codec import Codec, Ordinary


@final
@dataclass(frozen=True)
class Remainder:
    """{v : v mod modulus = remainder}, with the non-negative remainder also for negative v."""

    modulus: Ordinary
    remainder: Ordinary

    def __post_init__(self) -> None:
        if self.modulus < 1:
            raise PredicateError(f"a modulus is at least 1, not {self.modulus}")
        if not 0 <= self.remainder < self.modulus:
            raise PredicateError(
                f"a remainder mod {self.modulus} lies in 0..{self.modulus - 1}, not {self.remainder}"
            )


@final
@dataclass(frozen=True)
class Zero:
    """{0}."""


@final
@dataclass(frozen=True)
class NonNegative:
    """{0, 1, 2, ...}."""


@final
@dataclass(frozen=True)
class Named:
    """The predicate registered under `name`; even, odd, prime and square always are.

    Raises `PredicateError`, with those there are, if none is registered.
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in _REGISTERED:
            known = ", ".join(sorted(_REGISTERED))
            raise PredicateError(
                f"no numerical predicate is called '{self.name[:80]}'; known: {known}. "
                f"Register it from Python: attemper.register_predicate('{self.name[:80]}', function)"
            )


Predicate = Remainder | Zero | NonNegative | Named

PREDICATE: Codec[Predicate] = Codec(Predicate)
"""Predicates as JSON data."""

_REMAINDERS = {"even": Remainder(2, 0), "odd": Remainder(2, 1)}


def periodic(predicate: Predicate) -> Predicate:
    """The predicate; `even` and `odd` as the remainders that they are."""
    return _REMAINDERS.get(predicate.name, predicate) if isinstance(predicate, Named) else predicate


class PredicateError(AttemperError):
    """A numerical predicate that does not exist or is not well defined.

    >>> import attemper
    >>> try:
    ...     attemper.register_predicate("odd", lambda value: value % 2 == 1)
    ... except attemper.PredicateError as error:
    ...     print(error)
    a predicate called 'odd' is registered already
    """

    exit_code = ExitCode.SOURCE


RESERVED_WORDS = frozenset({"true", "false", "first", "last", "not", "and", "or", "xor", "pos", "len"})
"""Words of the formula language that name neither a symbol nor a predicate."""


def register_predicate(name: str, function: Callable[[int], bool]) -> None:
    """Make `name(t)` a numerical predicate of positions and counts.

    `function` must always give the same bool for the same integer. It is called with every value
    that its term can take on words of the length at hand (also negative ones, also values that the
    word itself does not reach), since a lookup head keeps them all in its position embedding.
    A name can be registered again only with the same function, so that a saved network never
    changes its meaning within a process. Where the function cannot be sure it must raise an error, and
    what rests on its answer is UNKNOWN; nothing looks at whether its answers are true.

    Raises `PredicateError` for a name that is not a lower-case identifier or is taken.

    >>> register_predicate("power_of_two", lambda v: v > 0 and v & (v - 1) == 0)
    >>> [v for v in range(10) if holds(Named("power_of_two"), v)]
    [1, 2, 4, 8]
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in RESERVED_WORDS:
        raise PredicateError(f"'{name}' cannot name a predicate: use a lower-case identifier")
    if _REGISTERED.get(name, function) is not function:
        raise PredicateError(f"a predicate called '{name}' is registered already")
    _REGISTERED[name] = function


def registered_names() -> frozenset[str]:
    """The names that `Named` accepts now."""
    return frozenset(_REGISTERED)


def holds(predicate: Predicate, value: int) -> bool:
    """Whether the integer `value` is in the predicate's set."""
    match predicate:
        case Remainder(modulus, remainder):
            return value % modulus == remainder
        case Zero():
            return value == 0
        case NonNegative():
            return value >= 0
        case Named(name):
            return _holds_named(name, value)
        case _:
            assert_never(predicate)


def show_predicate(predicate: Predicate, argument: str) -> str:
    """A human's text, for example `pos mod 3 = 1`."""
    match predicate:
        case Remainder(modulus, remainder):
            return f"{argument} mod {modulus} = {remainder}"
        case Zero():
            return f"{argument} = 0"
        case NonNegative():
            return f"{argument} >= 0"
        case Named(name):
            return f"{name}({argument})"
        case _:
            assert_never(predicate)


def _is_prime(value: int) -> bool:
    """Miller and Rabin's test, which with these 13 bases is a proof below `UNDECIDED_FROM`."""
    if value >= UNDECIDED_FROM:
        raise ValueError("its 13 bases prove nothing of so large a number")
    if value < 2 or any(value % small == 0 for small in _SMALL_PRIMES):
        return value in _SMALL_PRIMES
    twos = ((value - 1) & (1 - value)).bit_length() - 1
    odd = (value - 1) >> twos
    return all(_passes(base, odd, twos, value) for base in _SMALL_PRIMES)


def _passes(base: int, odd: int, twos: int, value: int) -> bool:
    power = pow(base, odd, value)
    if power in {1, value - 1}:
        return True
    return any((power := power * power % value) == value - 1 for _ in range(twos - 1))


UNDECIDED_FROM = 3_317_044_064_679_887_385_961_981
"""1,287,836,182,261 * 2,575,672,364,521: the least product that passes the test to all bases (Sorenson and
Webster, "Strong pseudoprimes to twelve prime bases", 2017). From there on nobody is told what is prime."""

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)

_REGISTERED: dict[str, Callable[[int], bool]] = {
    "even": lambda value: value % 2 == 0,
    "odd": lambda value: value % 2 == 1,
    "prime": _is_prime,
    "square": lambda value: value >= 0 and isqrt(value) ** 2 == value,
}


BUILT_IN = frozenset(_REGISTERED)
"""The names that always mean the same."""


@lru_cache(maxsize=1 << 16)
def _holds_named(name: str, value: int) -> bool:
    function = _REGISTERED[Named(name).name]
    try:
        answer: object = function(value)
    except Exception as error:
        raise PredicateError(f"predicate '{name}' failed on {value}: {error!r}") from error
    # A numpy bool is fine, a truthy string is a mistake of whoever registered the predicate.
    if type(answer).__name__ not in {"bool", "bool_"}:
        raise PredicateError(f"predicate '{name}' gave {answer!r} for {value}; it must give True or False")
    return bool(answer)
