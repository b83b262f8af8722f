"""The greatest length up to which the checker proves a network right in a float format.

The checker judges one length at a time. What fails at a length fails at every longer one, so that the
greatest proved one is found by a search; nothing that is found here is believed by anybody.
"""

from __future__ import annotations

from attemper.checker.analysis import Analysis
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import LONGEST, failure_at
from attemper.exact.formats import FloatFormat


def horizon_of(analysis: Analysis, form: FloatFormat, kernel: Kernel, most: int = LONGEST) -> tuple[int, str]:
    """The greatest length up to `most` that is proved, and the place that has no proof beyond.

    That is what fails at the next length; empty if nothing fails at `most`.
    """
    blame = failure_at(analysis, form, kernel, most)
    if blame is None:
        return most, ""
    good, bad = 0, most
    while bad - good > 1:
        middle = (good + bad) // 2
        found = failure_at(analysis, form, kernel, middle)
        good, bad, blame = (middle, bad, blame) if found is None else (good, middle, found)
    return good, blame
