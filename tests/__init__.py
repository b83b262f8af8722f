"""The tests. What they are made of is in tests/support; README.md there lists it."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""
