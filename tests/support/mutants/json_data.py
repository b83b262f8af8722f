"""JSON data with one thing changed: types, tags, order, entries, numbers written otherwise, depth, size."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

Path = tuple[str | int, ...]

SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 10**11, 10**11 + 1, 2**63 - 1, 2**63, -(2**63), 0.0, 1.0, 0.5, 1e300),
    *("", "0", "1", "-1", "2/4", "1/2", "-0", "+1", "01", "1/0", "0/1", "1/1", " 1", "1_0", "\u0661", "1e3"),
    *("9" * 41, "9" * 1001, "0x1p0", "inf", "nan", "null", "a", "b", "first", "last", "\u0000", "x" * 5000),
    *([], {}, [[]], [None], {"a": 1}),
)


def mutant(data: Any, rng: Random) -> str:
    """The text of the data with one thing changed; an object may then have a key twice."""
    changed = copy.deepcopy(data)
    path = rng.choice(_paths(changed))
    kind = rng.randrange(10)
    if kind == 0 and (names := [path for path in _paths(changed) if isinstance(_at(changed, path), dict)]):
        return _repeated(changed, rng.choice(names), rng)
    if kind == 1:
        return json.dumps(_put(changed, path, _deep(_at(changed, path), rng.choice((1, 2, 199, 250, 900)))))
    if kind <= 5 and (whole := _whole_changed(_at(changed, path), rng)) is not None:
        return json.dumps(_put(changed, path, whole))
    if kind <= 7:
        others = [_at(data, other) for other in _paths(data)]
        return json.dumps(_put(changed, path, copy.deepcopy(rng.choice(others))))
    return json.dumps(_put(changed, path, _near(_at(changed, path), rng)))


def _paths(data: Any) -> list[Path]:
    found: list[Path] = [()]
    for path in found:
        here = _at(data, path)
        if isinstance(here, dict):
            found.extend((*path, name) for name in here)
        elif isinstance(here, list):
            found.extend((*path, index) for index in range(len(here)))
    return found


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _put(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    _at(data, path[:-1])[path[-1]] = value
    return data


def _deep(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def _whole_changed(here: Any, rng: Random) -> Any:
    """A list or an object with an entry more or less, or in another order; None for what is neither."""
    if isinstance(here, dict) and here:
        name = rng.choice(list(here))
        match rng.randrange(4):
            case 0:
                return {other: value for other, value in here.items() if other != name}
            case 1:
                return {**here, rng.choice(("more", "", name.upper(), f"{name} ")): here[name]}
            case 2:
                return {(f"{other}s" if other == name else other): value for other, value in here.items()}
            case _:
                return list(here.values())
    if isinstance(here, list):
        index = rng.randrange(len(here) + 1)
        match rng.randrange(5):
            case 0:
                return here[:index] + here[index + 1 :]
            case 1:
                return here[:index] + here[index : index + 1] * 2 + here[index + 1 :]
            case 2:
                return here[::-1]
            case 3:
                return [*here[:index], rng.choice(SCALARS), *here[index:]]
            case _:
                return dict(enumerate(map(str, here)))
    return None


def _near(here: Any, rng: Random) -> Any:
    """A value of the same kind, or written otherwise; else any."""
    if rng.random() < 0.3:
        return rng.choice(SCALARS)
    if isinstance(here, bool):
        return rng.choice((not here, int(here), str(here)))
    if isinstance(here, int):
        return rng.choice((here + 1, here - 1, -here, float(here), str(here), here * 2, here + 2**40))
    if isinstance(here, str):
        return rng.choice((f"{here} ", here[:-1], here.upper(), f"-{here}", f"{here}/2", f"{here}0", [here]))
    return rng.choice(SCALARS)


def _repeated(data: Any, path: Path, rng: Random) -> str:
    """The text in which one object has a key twice, with the same value or another."""
    here = _at(data, path)
    if not here:
        return json.dumps(_put(data, path, {"": None}))
    name = rng.choice(list(here))
    value = here[name] if rng.random() < 0.5 else rng.choice(SCALARS)
    mark = "the object with a key twice"
    text = json.dumps(here)[:-1] + f", {json.dumps(name)}: {json.dumps(value)}}}"
    return json.dumps(_put(data, path, mark)).replace(json.dumps(mark), text)
