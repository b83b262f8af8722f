"""Tests of `attemper.theories.softening.lemmas`."""
