"""A refusal names every cap that is met, and what to raise each to: so much is enough, if it says so."""

from __future__ import annotations

import pytest

from attemper.compiling.decomposing import looking_ahead
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CapError, CascadeCaps
from attemper.compiling.decomposing.looking_ahead import with_all_caps
from attemper.languages.regular.regex import parse_regex


@pytest.mark.parametrize(
    ("text", "alphabet"), [("((a|b)*a(a|b){3}c)*", "abc"), ("(aab|bba)*", "ab"), ("(a(bc)*d|cab)*", "abcd")]
)
def test_the_caps_that_are_named_are_enough_and_none_is_named_for_nothing(text: str, alphabet: str) -> None:
    dfa = parse_regex(text, alphabet)
    limits = CascadeCaps(symbols=10, labels=1, levels=1)
    with pytest.raises(CapError) as first:
        decompose(dfa, limits)
    assert len(first.value.met) == 1
    found = with_all_caps(dfa, limits, first.value)
    caps = {one.cap: one.more for one in found.met}
    assert set(caps) == {"symbols", "labels", "levels"}
    assert found.details == {"limits": caps, "options": ("limits",)}
    assert decompose(dfa, limits.with_caps(caps))
    assert f"; raise them with limits={caps}, which is enough, or split" in str(found)
    for cap in caps:
        with pytest.raises(CapError, match=rf"limits=\{{'{cap}': "):
            decompose(dfa, limits.with_caps({own: each for own, each in caps.items() if own != cap}))
    assert str(found).count("beyond the cap of 1,") == 1
    assert str(found).count("beyond the cap of 1;") == 1
    assert str(found).count("beyond the cap of 10,") == 1


def test_what_was_not_tried_is_said_not_to_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    dfa, limits = parse_regex("(aab|bba)*", "ab"), CascadeCaps(symbols=6, labels=1)
    with pytest.raises(CapError) as first:
        decompose(dfa, limits)
    assert "which" not in str(first.value)
    monkeypatch.setattr(looking_ahead, "AS_FAR", 0)
    found = with_all_caps(dfa, limits, first.value)
    assert found.met == first.value.met
    assert "; raise it with limits={'symbols': 24}, which may not be enough, or" in str(found)
