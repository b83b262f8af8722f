"""Words with a verdict: every verdict is the oracle's, every length is asked for, every seed repeats."""

from __future__ import annotations

from itertools import product

import pytest

from attemper.errors import AlphabetError, OptionError, SourceError, UnsupportedError
from attemper.languages.named.zoo import entries, transducing
from attemper.languages.words import Word
from attemper.training.labelled import drawn, task_named

WORDS = [word for n in range(6) for word in product("ab", repeat=n)]


@pytest.mark.sweep(15)
@pytest.mark.parametrize("name", [entry.name for entry in entries()])
def test_every_language_of_the_zoo_has_words(name: str) -> None:
    task = task_named(name)
    for lengths in ((0, 0), (1, 1), (0, 9), (12, 14)):
        words = list(drawn(task, lengths, 6, seed=0))
        assert len(words) == 6
        for one in words:
            assert lengths[0] <= len(one.word) <= lengths[1]
            assert set(one.word) <= set(task.alphabet)
            assert one.label == task.accepts(one.word)


def test_half_of_the_words_are_in_the_language_where_there_are_such() -> None:
    words = list(drawn(task_named("parity-odd"), (3, 30), 40, seed=2))
    assert [one.label for one in words] == [True, False] * 20
    for one in words:
        assert one.label is (one.word.count("1") % 2 == 1)


def test_a_length_without_members_has_words_that_are_none() -> None:
    even = task_named("regex:((a|b)(a|b))*", "ab")
    assert [one.label for one in drawn(even, (3, 3), 4, seed=0)] == [False] * 4
    assert [one.label for one in drawn(even, (4, 4), 4, seed=0)] == [True] * 4
    rare = task_named("regex:a*", "ab")
    assert {one.label for one in drawn(rare, (60, 60), 4, seed=0)} >= {False}


def test_a_word_depends_on_its_number_alone() -> None:
    task = task_named("dyck-1")
    assert list(drawn(task, (0, 20), 9, seed=1))[:4] == list(drawn(task, (0, 20), 4, seed=1))
    assert list(drawn(task, (0, 20), 9, seed=1)) != list(drawn(task, (0, 20), 9, seed=2))


def ends_with_a(word: Word) -> bool:
    return word[-1:] == ("a",)


def begins_with_a(word: Word) -> bool:
    return word[:1] == ("a",)


@pytest.mark.parametrize(
    ("task", "definition"),
    [
        (task_named("regex:(ab)*", "ab"), lambda word: word == ("a", "b") * (len(word) // 2)),
        (task_named("formula:a", "ab"), ends_with_a),
        (task_named("formula:a", "ab", "last"), ends_with_a),
        (task_named("formula:a", "ab", "first"), begins_with_a),
        (task_named("formula:O b", "ab", "last"), lambda word: "b" in word),
    ],
    ids=range(5),
)
def test_texts_mean_what_they_say(task: object, definition: object) -> None:
    for word in WORDS:
        assert task.accepts(word) is definition(word), word  # type: ignore[attr-defined, operator]


@pytest.mark.parametrize("name", [one.name for one in transducing()])
def test_what_is_no_language_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="is no language: it puts something out at every position"):
        task_named(name)


def test_what_names_no_task_is_refused() -> None:
    with pytest.raises(OptionError, match="nearest name is 'parity'"):
        task_named("parety")
    with pytest.raises(OptionError, match="has its own alphabet"):
        task_named("parity", "01")
    with pytest.raises(OptionError, match="needs an alphabet"):
        task_named("regex:a")
    with pytest.raises(OptionError, match="'regexp:' is neither"):
        task_named("regexp:a", "ab")
    with pytest.raises(AlphabetError):
        task_named("regex:a", "aa")
    with pytest.raises(SourceError):
        task_named("regex:(a", "ab")
    with pytest.raises(SourceError):
        task_named("formula:(", "ab")


def test_the_polarity_says_which_parity_it_is() -> None:
    assert task_named("parity").accepts(())
    assert task_named("parity").polarity.startswith("even")
    assert task_named("parity-odd").polarity.startswith("odd")
    assert not task_named("parity-odd").accepts(())
