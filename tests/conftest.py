"""Settings for all tests: Hypothesis profiles, one torch thread per worker, no COLUMNS."""

from __future__ import annotations

import os

import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fast", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("ATTEMPER_HYPOTHESIS", "fast"))
torch.set_num_threads(1)
# What the documents show is as wide as it is in a pipe, wherever the tests are run. (The readline module,
# which pytest loads, sets the variable for child processes behind Python's back.)
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")
