"""Words with a verdict: every verdict is the oracle's, every length is asked for, every seed repeats."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import AlphabetError, OptionError, SourceError, UnsupportedError
from attemper.languages.named.entry import Entry, Transduction
from attemper.languages.named.zoo import everything
from attemper.languages.words import Word
from attemper.training.labelled import Labelled, Task, drawn, task_of, unbalanced
from attemper.workbench.naming import dfa, language, program


def task_named(text: str, alphabet: str | None = None, at: Any = None) -> Task:
    return task_of(language(text, alphabet, at=at))


WORDS = [word for n in range(6) for word in product("ab", repeat=n)]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", [entry.name for entry in everything() if isinstance(entry, Entry)])
def test_every_language_of_the_zoo_has_words(name: str) -> None:
    task = task_named(f"zoo:{name}")
    for lengths in ((0, 0), (1, 1), (0, 9), (12, 14)):
        words = list(drawn(task, lengths, 6, seed=0))
        assert len(words) == 6
        for one in words:
            assert lengths[0] <= len(one.word) <= lengths[1]
            assert set(one.word) <= set(task.alphabet)
            assert one.label == task.accepts(one.word)


def test_half_of_the_words_are_in_the_language_where_there_are_such() -> None:
    words = list(drawn(task_named("zoo:parity-odd"), (3, 30), 40, seed=2))
    assert [one.label for one in words] == [True, False] * 20
    for one in words:
        assert one.label is (one.word.count("1") % 2 == 1)


def test_a_length_without_members_has_words_that_are_none() -> None:
    even = task_named("regex:((a|b)(a|b))*", "ab")
    assert [one.label for one in drawn(even, (3, 3), 4, seed=0)] == [False] * 4
    assert [one.label for one in drawn(even, (4, 4), 4, seed=0)] == [True] * 4
    assert [one.label for one in drawn(even, (0, 0), 4, seed=0)] == [True] * 4
    assert [(len(one.word) % 2, one.label) for one in drawn(even, (3, 9), 4, seed=0)] == [
        (0, True),
        (1, False),
    ] * 2


@pytest.mark.parametrize(
    ("text", "alphabet", "lengths"),
    [
        ("regex:(ab|ba)*c?", "abc", (32, 64)),
        ("regex:a*b", "ab", (32, 64)),
        ("regex:a*", "ab", (60, 60)),
        ("regex:a{7}", "ab", (0, 99)),
        ("formula:H (a <-> WY b)", "ab", (32, 64)),
    ],
)
def test_half_of_the_words_of_an_automaton_are_members_however_rare_these_are(
    text: str, alphabet: str, lengths: tuple[int, int]
) -> None:
    task = task_named(text, alphabet)
    words = list(drawn(task, lengths, 40, seed=0))
    assert [one.label for one in words] == [True, False] * 20
    for one in words:
        assert task.accepts(one.word) is one.label
        assert lengths[0] <= len(one.word) <= lengths[1]


def test_words_too_long_to_be_counted_are_tried_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.languages.regular.numbering.MOST_BITS", 0)
    task = task_named("regex:(aabb){10}", "ab")
    words = list(drawn(task, (40, 40), 4, seed=0))
    assert [len(one.word) for one in words] == [40] * 4
    assert not any(one.label for one in words)
    assert unbalanced(task, (40, 40), words).endswith("no more were found at random")


def test_every_choice_of_a_number_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that chance decides of a member of 3 symbols is a number below 2, of a stranger one below 25."""
    task = task_named("regex:(ab|ba)*c?", "abc")
    found: dict[bool, list[Word]] = {True: [], False: []}
    for number in range(2 * 25):
        monkeypatch.setattr("attemper.training.labelled.Random.randrange", lambda _, stop, n=number: n % stop)
        for one in drawn(task, (3, 3), 2, seed=0):
            found[one.label].append(one.word)
    for member, times in ((True, 25), (False, 2)):
        words = [word for word in product("abc", repeat=3) if task.accepts(word) is member]
        assert Counter(found[member]) == dict.fromkeys(words, times)


@pytest.mark.parametrize(
    ("text", "lengths", "said"),
    [
        ("(aa)*", (3, 3), "length 3 has no word in the language"),
        ("(aa)*", (0, 0), "length 0 has no word outside the language"),
        ("(aa)*", (0, 4), "2 of these 4 lengths, such as 1, have no word in the language"),
        ("a*", (0, 9), ""),
        (".*", (0, 9), "these lengths have no word outside the language"),
        (
            "(..)*",
            (3, 4),
            "1 of these 2 lengths, such as 3, have no word in the language; "
            "1 of these 2 lengths, such as 4, have no word outside the language",
        ),
    ],
)
def test_lengths_with_words_of_one_verdict_are_said(text: str, lengths: tuple[int, int], said: str) -> None:
    assert unbalanced(task_named(f"regex:{text}", "ab"), lengths, ()) == said


def test_a_verdict_that_is_hardly_found_at_random_is_said() -> None:
    task, member, stranger = (
        task_named("formula:#<[b] = 0", "ab"),
        Labelled(("a",), True),
        Labelled(("b",), False),
    )
    none = "0 of 4 words are in the language: no more were found at random"
    assert unbalanced(task, (1, 1), [stranger] * 4) == none
    assert unbalanced(task, (1, 1), [member] * 4).startswith("0 of 4 words are outside the language")
    assert unbalanced(task, (1, 1), [member] + [stranger] * 10).startswith(
        "1 of 11 words are in the language"
    )
    assert unbalanced(task, (1, 1), [member] + [stranger] * 9) == ""
    assert unbalanced(task, (1, 1), [member]) == ""


def test_a_word_depends_on_its_number_alone() -> None:
    task = task_named("zoo:dyck-1")
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


@pytest.mark.parametrize("name", [one.name for one in everything() if isinstance(one, Transduction)])
def test_what_is_no_language_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="is no language: it puts something out at every position"):
        task_named(f"zoo:{name}")


def test_what_names_no_task_is_refused() -> None:
    with pytest.raises(OptionError, match="nearest name is 'parity'"):
        task_named("zoo:parety")
    with pytest.raises(OptionError, match="write zoo:parity"):
        task_named("parity")
    with pytest.raises(SourceError, match="write zoo:parity-odd"):
        task_named("parity-odd")
    with pytest.raises(OptionError, match="say which there are"):
        task_named("regex:a")
    with pytest.raises(OptionError, match="'regexp:' is no kind"):
        task_named("regexp:a", "ab")
    with pytest.raises(AlphabetError):
        task_named("regex:a", "aa")
    with pytest.raises(SourceError):
        task_named("regex:(a", "ab")
    with pytest.raises(SourceError):
        task_named("formula:(", "ab")
    with pytest.raises(UnsupportedError, match="has no verdicts"):
        task_of(program("alphabet a b\noutput rightmost[j < i] symbol(j) else none"))


@pytest.mark.parametrize("name", ["parity", "dyck-1", "dyck-2", "majority", "tomita-4"])
def test_other_symbols_stand_for_those_of_the_zoo_in_their_order(name: str) -> None:
    own = task_named(f"zoo:{name}")
    there = dict(zip(own.alphabet, "wxyz", strict=False))
    other = task_named(f"zoo:{name}", "".join(there.values()))
    for one, same in zip(drawn(own, (0, 20), 30, 2), drawn(other, (0, 20), 30, 2), strict=True):
        assert same == Labelled(tuple(there[symbol] for symbol in one.word), one.label)
        assert other.accepts(same.word) is same.label


KEPT = {
    "zoo:parity": "dd69b4b88027",
    "zoo:dyck-2": "73506efbbee7",
    "regex:(ab|ba)*c?": "268957988dd9",
    "formula:H (a <-> WY b)": "c1a5394e8999",
    "formula:#<[a] <= #<[b]": "485af8d04e5f",
}


@pytest.mark.parametrize("text", KEPT)
def test_what_was_drawn_before_is_drawn_again(text: str) -> None:
    """Sets of words and runs of version 0.12 are those of their seeds."""
    alphabet = None if text.startswith("zoo:") else "abc" if "c" in text else "ab"
    words = [(one.word, one.label) for one in drawn(task_named(text, alphabet), (0, 20), 50, seed=3)]
    assert sha256(repr(words).encode()).hexdigest().startswith(KEPT[text])


@pytest.mark.parametrize(
    ("text", "at"), [("odd(#<[a])", "last"), ("F (a & X b)", "first"), ("b & Y H a", "last")]
)
def test_every_formula_with_an_automaton_is_counted(text: str, at: str) -> None:
    task = task_named(f"formula:{text}", "ab", at)
    assert task.automaton is not None
    for word in WORDS:
        assert task.automaton.accepts(word) is task.accepts(word), word


@pytest.mark.parametrize(
    ("text", "at"), [("#<[a] <= #<[b]", "last"), ("F a", "last"), ("prime(pos)", "last")]
)
def test_a_formula_without_one_is_tried_at_random(text: str, at: str) -> None:
    assert task_named(f"formula:{text}", "ab", at).automaton is None


def test_chance_depends_on_what_a_file_says_and_not_on_where_it_stands(tmp_path: Path) -> None:
    text = (
        '{"alphabet": ["a", "b"], "states": ["even", "odd"], "start": "even", "accepting": ["even"], '
        '"moves": {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}}'
    )
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    one, two = (task_named(f"dfa:{tmp_path / name}") for name in ("one.json", "two.json"))
    assert (
        list(drawn(one, (0, 9), 9, 0))
        == list(drawn(two, (0, 9), 9, 0))
        == list(drawn(task_of(dfa(one.language.automaton())), (0, 9), 9, 0))
    )


def test_the_polarity_says_which_parity_it_is() -> None:
    assert task_named("zoo:parity").accepts(())
    assert task_named("zoo:parity").polarity.startswith("even")
    assert task_named("zoo:parity-odd").polarity.startswith("odd")
    assert not task_named("zoo:parity-odd").accepts(())
