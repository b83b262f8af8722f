"""Makes a chain smaller without changing its codes: what is never told apart is merged.

From the last level down: symbols of the last level with the same code are merged; then, on each level,
labels of a latch that lead to the same symbols in all other circumstances; then the symbols below that store
the same and lead to the same. Rows that a table leaves out never occur, and so forbid nothing. A latch left
with nothing but its empty label is dropped, and a level left without registers becomes part of the table
below it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from attemper.compiling.cascade import (
    Chain,
    Content,
    Counter,
    Delay,
    Latch,
    Register,
    RegisterLevel,
    Sum,
    SymbolNumber,
)

TableKey = tuple[SymbolNumber, tuple[Content, ...]]
Behaviour = dict[Hashable, Hashable]


def merge(chain: Chain) -> Chain:
    """A chain with the same codes, never larger, found in a few rounds."""
    while True:
        smaller = _drop_plain_levels(_merge_once(chain))
        if _size(smaller) >= _size(chain):
            return chain
        chain = smaller


def _size(chain: Chain) -> tuple[int, int, int]:
    return (
        len(chain.levels),
        sum(len(level.rows) for level in chain.levels),
        sum(len(r.store) + 1 for level in chain.levels for r in level.registers if isinstance(r, Latch)),
    )


def _merge_once(chain: Chain) -> Chain:
    if not chain.levels:
        return chain
    occurring = {symbol for _, symbol in chain.levels[-1].rows}
    number: dict[int, int] = {}
    classes = {
        s: number.setdefault(code, len(number)) for s, code in enumerate(chain.codes) if s in occurring
    }
    levels: list[RegisterLevel] = []
    for height in range(len(chain.levels) - 1, -1, -1):
        level = chain.levels[height]
        level = RegisterLevel(level.registers, tuple((key, classes[symbol]) for key, symbol in level.rows))
        for register in range(len(level.registers)):
            level = _merge_labels(level, register)
        level = _drop_registers(level)
        if height:
            classes = _alike(level)
            level = _relabelled(level, classes)
        levels.append(level)
    return Chain(tuple(reversed(levels)), tuple(number))


def _partition(behaviours: Iterable[tuple[SymbolNumber, Hashable, Behaviour]]) -> dict[SymbolNumber, int]:
    """Classes of things with the same first sign whose behaviours do not contradict each other.

    Greedy, those that occur in most circumstances first. The first thing is in class 0.
    """
    things = list(behaviours)
    groups: dict[Hashable, list[tuple[int, Behaviour]]] = {}
    found: dict[SymbolNumber, int] = {}
    for thing, sign, behaviour in sorted(things, key=lambda entry: -len(entry[2])):
        group = groups.setdefault(sign, [])
        for leader, joint in group:
            if _agree(joint, behaviour):
                joint.update(behaviour)
                found[thing] = leader
                break
        else:
            group.append((thing, dict(behaviour)))
            found[thing] = thing
    number: dict[int, int] = {}
    return {thing: number.setdefault(found[thing], len(number)) for thing, _, _ in things}


def _agree(one: Behaviour, other: Behaviour) -> bool:
    few, many = (one, other) if len(one) < len(other) else (other, one)
    return all(many.get(key, value) == value for key, value in few.items())


def _merge_labels(level: RegisterLevel, place: int) -> RegisterLevel:
    """Merges the labels of one register, if it is a latch."""
    register = level.registers[place]
    if not isinstance(register, Latch):
        return level
    behaviours: dict[Content, Behaviour] = {None: {}}
    for (symbol, contents), result in level.rows:
        rest = symbol, contents[:place], contents[place + 1 :]
        behaviours.setdefault(contents[place], {})[rest] = result
    labels = list(behaviours)
    classes = _partition((n, None, behaviours[label]) for n, label in enumerate(labels))
    new: dict[Content, Content] = {
        label: classes[n] - 1 if classes[n] else None for n, label in enumerate(labels)
    }
    store = tuple((symbol, new.get(label)) for symbol, label in register.store)
    rows = {
        (symbol, (*contents[:place], new[contents[place]], *contents[place + 1 :])): result
        for (symbol, contents), result in level.rows
    }
    registers = (*level.registers[:place], Latch(store), *level.registers[place + 1 :])
    return RegisterLevel(registers, tuple(rows.items()))


def _drop_registers(level: RegisterLevel) -> RegisterLevel:
    """Leaves out the registers that always hold the same."""
    varying = [
        n for n in range(len(level.registers)) if len({contents[n] for (_, contents), _ in level.rows}) > 1
    ]
    if len(varying) == len(level.registers):
        return level
    rows = {
        (symbol, tuple(contents[n] for n in varying)): result for (symbol, contents), result in level.rows
    }
    return RegisterLevel(tuple(level.registers[n] for n in varying), tuple(rows.items()))


def _alike(level: RegisterLevel) -> dict[SymbolNumber, int]:
    """Classes of symbols below that a level treats alike."""
    behaviours: dict[SymbolNumber, Behaviour] = {}
    for (symbol, contents), result in level.rows:
        behaviours.setdefault(symbol, {})[contents] = result
    stored = [_stored(register) for register in level.registers]
    return _partition(
        (symbol, tuple(look(symbol) for look in stored), behaviour)
        for symbol, behaviour in behaviours.items()
    )


def _stored(register: Register) -> Callable[[SymbolNumber], Hashable]:
    """What a register keeps of a symbol."""
    if isinstance(register, Latch):
        return lambda symbol: (symbol in register.by_symbol, register.by_symbol.get(symbol))
    if isinstance(register, Counter):
        return lambda symbol: symbol in register.counted
    if isinstance(register, Sum):
        return lambda symbol: register.by_symbol.get(symbol, 0)
    return lambda symbol: symbol


def _relabelled(level: RegisterLevel, classes: dict[SymbolNumber, int]) -> RegisterLevel:
    """The level above merged symbols; where delays stand, no symbols are merged but they are renumbered."""
    delays = [isinstance(register, Delay) for register in level.registers]
    rows: dict[TableKey, SymbolNumber] = {}
    for (symbol, contents), result in level.rows:
        seen = tuple(
            classes[content] if delay and content is not None else content
            for delay, content in zip(delays, contents, strict=True)
        )
        rows[classes[symbol], seen] = result
    registers: list[Register] = []
    for register in level.registers:
        if isinstance(register, Latch):
            store = {classes[symbol]: label for symbol, label in register.store if symbol in classes}
            registers.append(Latch(tuple(store.items())))
        elif isinstance(register, Counter):
            counted = frozenset(classes[symbol] for symbol in register.counted if symbol in classes)
            registers.append(replace(register, counted=counted))
        elif isinstance(register, Sum):
            weights = {classes[symbol]: weight for symbol, weight in register.weights if symbol in classes}
            registers.append(replace(register, weights=tuple(weights.items())))
        else:
            registers.append(register)
    return RegisterLevel(tuple(registers), tuple(rows.items()))


def _drop_plain_levels(chain: Chain) -> Chain:
    """Puts the table of a level without registers into that of the level below it."""
    levels: list[RegisterLevel] = []
    codes = chain.codes
    for level in chain.levels:
        if levels and not level.registers:
            rows = tuple((key, level.table[symbol, ()]) for key, symbol in levels[-1].rows)
            levels[-1] = replace(levels[-1], rows=rows)
        else:
            levels.append(level)
    return Chain(tuple(levels), codes)
