"""Leaves out the rows of a chain that no word uses, if its registers have few configurations."""

from __future__ import annotations

from dataclasses import replace

from attemper.compiling import cascade


def prune(
    chain: cascade.Chain, base: tuple[tuple[int, tuple[cascade.SymbolNumber, ...]], ...], limit: int
) -> cascade.Chain:
    """The chain with the rows that are used; the same chain if more than `limit` configurations occur.

    `base` has, for each place, the next place and the symbols below the first level there.
    Delays are supported over any distance on the first level only, which is where they are used.
    """
    used = _used_rows(chain, base, limit)
    if used is None:
        return chain
    levels = []
    for level, keys in zip(chain.levels, used, strict=True):
        seen = {symbol for symbol, _ in keys}
        registers = tuple(
            cascade.Latch(tuple(entry for entry in register.store if entry[0] in seen))
            if isinstance(register, cascade.Latch)
            else register
            for register in level.registers
        )
        levels.append(cascade.RegisterLevel(registers, tuple((key, level.table[key]) for key in keys)))
    return replace(chain, levels=tuple(levels))


def _used_rows(
    chain: cascade.Chain, base: tuple[tuple[int, tuple[cascade.SymbolNumber, ...]], ...], limit: int
) -> list[dict[tuple[cascade.SymbolNumber, cascade.Contents], None]] | None:
    begin = 0, tuple(cascade.start(level) for level in chain.levels)
    seen = {begin}
    waiting = [begin]
    used: list[
        dict[tuple[cascade.SymbolNumber, cascade.Contents], tuple[cascade.Contents, cascade.SymbolNumber]]
    ] = [{} for _ in chain.levels]
    stack = list(zip(chain.levels, used, strict=True))
    while waiting:
        place, configuration = waiting.pop()
        following, symbols = base[place]
        for below in symbols:
            symbol = below
            contents: list[cascade.Contents] = []
            for held, (level, known) in zip(configuration, stack, strict=True):
                row = known.get((symbol, held))
                if row is None:
                    row = advance(level, symbol, held), level.table[symbol, held]
                    known[symbol, held] = row
                contents.append(row[0])
                symbol = row[1]
            reached = following, tuple(contents)
            if reached not in seen:
                if len(seen) >= limit:
                    return None
                seen.add(reached)
                waiting.append(reached)
    return [dict.fromkeys(known) for known in used]


def advance(
    level: cascade.RegisterLevel, symbol: cascade.SymbolNumber, held: cascade.Contents
) -> cascade.Contents:
    """What all registers hold after a position; the delays of a level have the distances 1, 2, ..."""
    delayed = {1: symbol} | {
        register.distance + 1: content
        for register, content in zip(level.registers, held, strict=True)
        if isinstance(register, cascade.Delay) and content is not None
    }
    return tuple(
        delayed.get(register.distance)
        if isinstance(register, cascade.Delay)
        else cascade.after(register, symbol, content)
        for register, content in zip(level.registers, held, strict=True)
    )
