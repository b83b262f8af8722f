"""Named predicates are values; whether a name means something is asked where a name is read or evaluated."""

from __future__ import annotations

import pytest

from attemper.exact.closed_forms import predicate_from_tree
from attemper.exact.predicates import Named, PredicateError, holds, named, register_predicate


def test_a_value_can_be_made_before_its_name_is_registered() -> None:
    early = Named("made_early")
    with pytest.raises(
        PredicateError, match=r"no numerical predicate is called 'made_early'; known: .*\beven, "
    ):
        holds(early, 9)
    register_predicate("made_early", lambda value: value > 8)
    assert (holds(early, 9), holds(early, 8)) == (True, False)
    assert named("made_early") == early


def test_a_name_that_is_read_must_be_registered() -> None:
    for read in (named, lambda name: predicate_from_tree(["named", name])):
        with pytest.raises(PredicateError, match="Register it from Python"):
            read("nobody")
