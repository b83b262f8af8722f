"""Formulas that count: of languages that are not regular, and of regular ones whose totals rise and fall."""

from __future__ import annotations

ENDLESS: tuple[tuple[str, str], ...] = (
    ("#<[a] = 2 * #<[b]", "ab"),
    ("#<[a] < #<[b]", "ab"),
    ("#<[a] <= #<[b] + 1", "ab"),
    ("#<[a] == #<[b]", "ab"),
    ("#<[a] != #<[b]", "ab"),
    ("#<[a] == #<[b] + 20", "ab"),
    ("#<[a] >= #<[b] & #<[a] <= #<[b] + 5", "ab"),
    ("3*#<[a] == 5*#<[b]", "ab"),
    ("2*#<[a] >= pos", "ab"),
    ("O (#<[a] > 2*#<[b])", "ab"),
    ("H (#<[a] >= #<[b]) & #<[a] == #<[b]", "ab"),
    ("H (a -> #<[a] <= 2*#<[b] + 3)", "ab"),
    ("a S (#<[a] == #<[b])", "ab"),
    ("#<[a & Y b] == #<[b & Y b]", "ab"),
    ("#<[a] == #<[b] & pos % 3 = 0", "ab"),
    ("#<[a] % 2 = 1 & #<[a] > #<[b]", "ab"),
    ("#<[#<[a] >= #<[b]] <= #<[b]", "ab"),
    ("#<[a] + #<[b] == 2*#<[c]", "abc"),
    ("#<[a] == #<[b] & #<[b] == #<[c]", "abc"),
    ("#<[a] == #<[b] & #<[b] == #<[c] & H (a -> !O (b | c)) & H (b -> !O c)", "abc"),
)
"""No automaton has these: each is a text and an alphabet."""

REGULAR = (
    "H (#<[a] <= #<[b] + 3 & #<[b] <= #<[a] + 3)",
    "H (#<[a] >= #<[b] & #<[a] <= #<[b] + 30) & #<[a] == #<[b]",
    "H (#<[a] <= #<[b] + 1 & #<[b] <= #<[a])",
    "#<[a] <= 7 & #<[b] <= 7 & #<[b] <= #<[a]",
    "#<[a] % 2 = 1 & H (#<[a] <= #<[b] + 12 & #<[b] <= #<[a] + 7)",
)
"""Automata have these, though totals of their programs rise and fall."""
