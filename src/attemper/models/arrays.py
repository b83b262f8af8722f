"""What arrays hold: the types that models, and who asks about them, share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Activations, a row of numbers each, or scores: numbers, Python's integers among them."""

Floats = NDArray[np.float64]

Integers = NDArray[np.int64]

Booleans = NDArray[np.bool_]
