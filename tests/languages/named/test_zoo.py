"""The zoo: sources mean what oracles say, and words that are given out are what they are called."""

from __future__ import annotations

import ast
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest

from attemper.attention_program.meaning import numbers, outputs
from attemper.attention_program.ops import Program
from attemper.errors import OptionError, UnsupportedError
from attemper.languages.measures import Measure
from attemper.languages.named import zoo
from attemper.languages.named.drawing import changed
from attemper.languages.named.entry import (
    EVERY_REGIME,
    Entry,
    FormulaText,
    Rasp,
    SourceText,
    Transduction,
)
from attemper.languages.named.zoo import (
    ALIASES,
    FAMILIES,
    everything,
    named,
)
from attemper.languages.named.zoo import language_named as language
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet, Word
from attemper.workbench.zoo_sources import language_of
from tests.support.corpora.zoo import REGULAR, short_words
from tests.support.slowly import every_nth

OTHERS = (
    "mod-2",
    "mod-16",
    "dyck-shuffle-3",
    "dyck-shuffle-6",
    "dyck-1-depth-1",
    "dyck-1-depth-98",
    "dyck-2-depth-5",
    "dyck-3-depth-3",
    "dyck-8-depth-3",
    "dyck-8",
    "dyck-8-appendix-e",
    "k-hop-4",
    "seen-2",
    "seen-20",
    "detect-ab",
    "detect-abbabaab",
)
"""Members of families that no list shows, the greatest ones among them."""

LANGUAGES = [one for one in zoo.everything() if isinstance(one, Entry)]

EVERY = [*LANGUAGES, *map(language, OTHERS)]

LISTED_TRANSDUCING = [one for one in zoo.everything() if isinstance(one, Transduction)]

TRANSDUCING = [*LISTED_TRANSDUCING, named("k-hop-4-symbol")]

SOURCES = [(one, source) for one in EVERY for source in one.sources]

LONG = 256


def is_one_change(word: Word, other: Word) -> bool:
    """Whether one symbol was replaced, left out or put in, or two neighbours were swapped."""
    if len(word) > len(other):
        word, other = other, word
    if len(word) < len(other):
        return any(word == (*other[:place], *other[place + 1 :]) for place in range(len(other)))
    different = [place for place, pair in enumerate(zip(word, other, strict=True)) if len(set(pair)) > 1]
    match different:
        case [_]:
            return True
        case [left, right]:
            swapped = (word[left], word[right]) == (other[right], other[left])
            return right == left + 1 and swapped
        case _:
            return False


def can_differ(entry: Entry | Transduction, length: int) -> bool:
    """Whether two words of that length are told apart, of all that there are."""
    every = product(entry.alphabet, repeat=length)
    told = entry.accepts if isinstance(entry, Entry) else entry.outputs
    return len({repr(told(word)) for word in every}) > 1


@pytest.mark.sweep(8)
@pytest.mark.parametrize("entry", every_nth([*EVERY, *TRANSDUCING], 8), ids=lambda one: one.name)
def test_pairs_are_of_one_length_and_differ_in_one_place(entry: Entry | Transduction) -> None:
    possible = {
        length: can_differ(entry, length) for length in range(5) if len(entry.alphabet) ** length < 300
    }
    for length in (*possible, 10, 12, 24, 129):
        if not possible.get(length, pairs_of(entry, length)):
            with pytest.raises(OptionError, match=f"of {length} symbols no .* try another length"):
                entry.pairs(length=length)
            continue
        found = entry.pairs(length=length, count=5)
        assert found == entry.pairs(length=length, count=5)
        assert 0 < len(found) == len(set(found)) <= 5
        for clean, corrupted, *index in found:
            assert [len(clean), sum(map(str.__ne__, clean, corrupted))] == [length, 1]
            if isinstance(entry, Entry):
                assert (entry.accepts(clean), entry.accepts(corrupted)) == (True, False)
            else:
                assert entry.outputs(clean)[index[0]] != entry.outputs(corrupted)[index[0]]


def test_every_entry_has_pairs_at_some_length() -> None:
    for entry in [*EVERY, *TRANSDUCING]:
        assert any(pairs_of(entry, length) for length in (10, 12, 24)), entry.name


def pairs_of(entry: Entry | Transduction, length: int) -> int:
    try:
        return len(entry.pairs(length=length, count=1))
    except OptionError:
        return 0


# Sources -------------------------------------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("entry", "source"),
    every_nth(SOURCES, 3),
    ids=[f"{one.name} {type(source).__name__}" for one, source in SOURCES],
)
def test_every_source_means_what_the_oracle_says(entry: Entry, source: SourceText) -> None:
    written = language_of(entry, source).definition
    assert not written.reads_first
    for word in short_words(entry):
        said = written.bits(word)[-1] if word else written.accepts_empty
        assert said == entry.accepts(word), word


def test_texts_of_programs_are_sources_where_they_are_best() -> None:
    best = {one.name for one in LANGUAGES if isinstance(one.source, Rasp)}
    assert best == {
        *("k-hop-1", "k-hop-2", "k-hop-3", "detect-aab", "detect-aaaab"),
        *("dyck-2", "dyck-3", "dyck-2-appendix-e", "palindromes", "tomita-3"),
    }
    others = {one.name for one in LANGUAGES if any(isinstance(source, Rasp) for source in one.also)}
    assert others == {"flip-flop", "mqar", "dyck-2"}


def require_numbers(program: Program, entry: Transduction) -> None:
    """By the program's exact meaning, the numbers are those of the oracle."""
    said = program.numbers
    assert said is not None
    assert said.names == entry.puts_out
    for word in filter(None, short_words(entry)):
        rows, n = numbers(program, word), len(word)
        match said.measure:
            case Measure.INTEGER:
                shown = [len(said.mask.visible(i, n)) for i in range(1, n + 1)]
                assert tuple(x * k for x, k in zip(rows[0], shown, strict=True)) == entry.outputs(word)
            case Measure.FRACTION:
                assert rows[0] == entry.outputs(word)
            case _:
                put_out = (dict(zip(said.names, column, strict=True)) for column in zip(*rows, strict=True))
                assert tuple(put_out) == entry.outputs(word)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("entry", [one for one in TRANSDUCING if one.sources], ids=lambda one: one.name)
def test_what_is_put_out_is_what_the_oracle_says(entry: Transduction) -> None:
    (source,) = entry.sources
    found = parse_rasp(source.text)
    assert found.program.alphabet == Alphabet(entry.alphabet)
    if found.program.numbers is not None:
        require_numbers(found.program, entry)
        return
    names = tuple(name for name, _ in found.program.symbols)
    assert names == entry.puts_out
    for word in short_words(entry):
        rows = zip(*outputs(found.program, word), strict=True)
        put_out = tuple(names[column.index(True)] for column in rows) if word else ()
        assert put_out == entry.outputs(word), word


@pytest.mark.parametrize("entry", [one for one in EVERY if one.kind in REGULAR], ids=lambda one: one.name)
def test_regular_languages_are_of_the_class_that_is_said(entry: Entry) -> None:
    """Where there is an expression or an automaton; a formula has none."""
    for source in entry.sources:
        written = language_of(entry, source).definition
        if isinstance(written, Dfa):
            assert classify(written).kind.value == entry.kind


def test_oracles_share_nothing_with_the_compiler() -> None:
    """What defines languages knows nothing of attemper but what a word is, and the error for a wrong name."""
    folder = Path(zoo.__file__).parent
    allowed = {"attemper.languages.words", "attemper.errors"}
    for path in folder.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        ours = {name for name in imported if name.startswith("attemper")}
        assert {name for name in ours if not name.startswith("attemper.languages.named")} <= allowed, path


# Entries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", EVERY, ids=lambda one: one.name)
def test_an_entry_is_complete(entry: Entry) -> None:
    assert Alphabet(entry.alphabet).symbols == entry.alphabet
    assert entry.definition[0].islower() or not entry.definition[0].isalpha()
    assert len(entry.definition) <= 80
    assert not entry.definition.endswith(".")
    assert 1 <= entry.layers <= 8
    assert set(entry.regimes) <= set(EVERY_REGIME)
    assert entry.regimes[0] == "unbounded"
    assert len(set(entry.sources)) == len(entry.sources)


@pytest.mark.parametrize("entry", TRANSDUCING, ids=lambda one: one.name)
def test_an_entry_that_puts_something_out_is_complete(entry: Transduction) -> None:
    assert Alphabet(entry.alphabet).symbols == entry.alphabet
    assert entry.definition[0].islower()
    assert len(entry.definition) <= 80
    assert 1 <= entry.layers <= 5
    assert set(entry.regimes) <= set(EVERY_REGIME)
    assert entry.references


def test_names_are_names() -> None:
    names = [one.name for one in everything()]
    assert len(names) == len(set(names)) == len(LANGUAGES) + len(LISTED_TRANSDUCING) == 54
    assert all(named(name).name == name for name in names)
    assert set(ALIASES.values()) <= set(names)
    assert not set(ALIASES) & set(names)


def test_every_family_lists_members_and_has_others() -> None:
    for family in FAMILIES:
        made = [family.make(*parameters) for parameters in family.listed]
        assert made
        assert all(one.name in {entry.name for entry in everything()} for one in made)
        assert all(family.allows(*parameters) for parameters in family.listed)
    for name in OTHERS:
        assert named(name).name == name


def test_languages_and_what_is_put_out_are_told_apart() -> None:
    assert isinstance(named("k-hop-2"), Entry)
    assert isinstance(named("induction-head"), Transduction)
    with pytest.raises(UnsupportedError, match="'sort' is no language"):
        language("sort")


def test_parity_alone_is_an_alias_that_says_its_polarity() -> None:
    assert named("parity").name == "parity-even"
    assert language("parity").polarity.startswith("even")
    even, odd = language("parity-even"), language("parity-odd")
    assert all(even.accepts(word) != odd.accepts(word) for word in short_words(even))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("parety", "there is no 'parety' in the zoo; the nearest name is 'parity'"),
        ("dyck", "no 'dyck' in the zoo; names with it are 'dyck-1', 'dyck-shuffle-2', 'dyck-1-depth-3',"),
        ("dyck", "'dyck-2', 'dyck-3', 'dyck-2-appendix-e', 'dyck1', 'dyck2'"),
        ("dyck-1-appendix-e", "of 'dyck-K-appendix-e' there are K = 2 to 8"),
        ("Flip", "names with it are 'flip-flop'"),
        ("nope", "there is no 'nope' in the zoo; 'attemper zoo' lists all names"),
        ("", "there is no '' in the zoo; 'attemper zoo' lists all names"),
        ("x" * 10**6, "'attemper zoo' lists all names"),
        ("tomita-8", "the nearest name is 'tomita-"),
        ("k-hop-5", "there is no 'k-hop-5' in the zoo: of 'k-hop-K' there are K = 1 to 4"),
        ("k-hop-0", "the nearest name is 'k-hop-"),
        ("mod-1", "of 'mod-K' there are K = 2 to 16"),
        ("mod-17", "of 'mod-K' there are K = 2 to 16"),
        ("dyck-2-depth-6", "of 'dyck-K-depth-M' there are M = 1 to 98 for K = 1, to 5 for K = 2, to 3"),
        ("dyck-9-depth-1", "of 'dyck-K-depth-M' there are"),
        ("dyck-9", "of 'dyck-K' there are K = 1 to 8"),
        ("detect-a", "words of 2 to 8 letters a and b"),
        ("detect-abc", "words of 2 to 8 letters a and b"),
        ("detect-aaaaaaaaa", "words of 2 to 8 letters a and b"),
        ("seen-1", "K = 2 to 20"),
        ("k-hop-5-symbol", "of 'k-hop-K-symbol' there are K = 1 to 4"),
        ("", "'attemper zoo' lists all names"),
        ("?", "'attemper zoo' lists all names"),
    ],
)
def test_a_name_that_is_none_is_met_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        named(name)
    assert message in str(raised.value)


# Words ---------------------------------------------------------------------------------------------------


@pytest.mark.sweep(34)
@pytest.mark.parametrize("longest", [24, 25, LONG])
@pytest.mark.parametrize("entry", EVERY, ids=lambda one: one.name)
def test_words_are_what_they_are_called(entry: Entry, longest: int) -> None:
    members = entry.members(count=30, longest=longest)
    strangers = entry.strangers(count=30, longest=longest)
    pairs = entry.near_misses(count=30, longest=longest)
    assert len(members) == len(strangers) == len(pairs) == 30
    assert all(map(entry.accepts, members))
    assert not any(map(entry.accepts, strangers))
    for inside, outside in pairs:
        assert entry.accepts(inside)
        assert not entry.accepts(outside)
        assert is_one_change(inside, outside), (inside, outside)
    words = [*members, *strangers, *(word for pair in pairs for word in pair)]
    assert max(map(len, words)) == longest
    assert set().union(*words) <= set(entry.alphabet)


@pytest.mark.parametrize("entry", EVERY, ids=lambda one: one.name)
def test_a_drawn_word_is_a_member_of_about_the_length(entry: Entry) -> None:
    draw = Random(entry.name)
    for length in (*range(40, 60), LONG - 1, LONG):
        word = entry.member(draw, length)
        assert len(word) <= length
        assert entry.accepts(word), word
        assert entry.name == "date" or len(word) >= length - 20
    for length in range(1, 40):
        assert len(entry.member(draw, length)) <= max(length, 24)
        for word in entry.edges(draw, length):
            assert len(word) <= length
            assert set(word) <= set(entry.alphabet)


@pytest.mark.sweep(37)
@pytest.mark.parametrize("longest", [0, 1, 3])
@pytest.mark.parametrize("entry", EVERY, ids=lambda one: one.name)
def test_there_may_be_few_short_words_but_no_wrong_ones(entry: Entry, longest: int) -> None:
    members = entry.members(count=2, longest=longest)
    strangers = entry.strangers(count=2, longest=longest)
    pairs = entry.near_misses(count=2, longest=longest)
    assert all(len(word) <= longest for word in (*members, *strangers, *(w for pair in pairs for w in pair)))
    assert all(map(entry.accepts, members))
    assert not any(map(entry.accepts, strangers))
    assert all(entry.accepts(inside) and not entry.accepts(outside) for inside, outside in pairs)


@pytest.mark.sweep(24)
@pytest.mark.parametrize("longest", [0, 1, 24, LONG])
@pytest.mark.parametrize("entry", TRANSDUCING, ids=lambda one: one.name)
def test_words_of_what_is_put_out_are_random_and_edges(entry: Transduction, longest: int) -> None:
    words = entry.words(count=40, longest=longest)
    assert len(words) == 40 or longest < 24
    assert max(map(len, words), default=0) <= longest
    assert set().union(*words) <= set(entry.alphabet)
    for word in words:
        names = entry.outputs(word)
        assert len(names) == len(word)
        assert entry.measured or set(map(str, names)) <= set(entry.puts_out)
    if longest == LONG:
        assert max(map(len, words)) == LONG
        put_out = {str(name) for word in words for name in entry.outputs(word)}
        assert entry.measured or put_out >= set(entry.puts_out)
        assert set(entry.edges(Random(1), LONG)) & set(words) or entry.name not in {"sort", "mqar-symbol"}
    assert words == entry.words(count=40, longest=longest)
    assert words != entry.words(seed=1, count=40, longest=longest) or longest < 24


PUT_OUT = {
    "k-hop-1-symbol": ("abcab", "none none none b c"),
    "k-hop-2-symbol": ("abcabc", "none none none none none b"),
    "mqar-symbol": ("kxlykykl", "none none none none x none y y"),
    "copy-previous-symbol": ("abc", "none a b"),
    "most-frequent-symbol": ("cbbaac", "c b b b a a"),
    "sort": ("cabca", "a a b c c"),
    "reverse": ("aabc", "c b a a"),
    "histogram": ("abca", "2 1 1 2"),
    "histogram-so-far": ("abca", "1 1 1 2"),
    "fraction-seen": ("bacaa", "0 1/2 1/3 1/2 3/5"),
}


@pytest.mark.parametrize("name", PUT_OUT)
def test_what_is_put_out_by_hand(name: str) -> None:
    word, expected = PUT_OUT[name]
    assert " ".join(map(str, named(name).outputs(tuple(word)))) == expected


def test_how_likely_symbols_are_after_the_last_two() -> None:
    likely = named("n-gram-lm").outputs(tuple("bab"))
    assert [" ".join(map(str, row.values())) for row in likely if isinstance(row, dict)] == [
        "1 0 0",
        "1/3 1/3 1/3",
        "2/5 0 3/5",
    ]


def test_languages_ask_for_one_symbol_of_what_is_put_out() -> None:
    """Where a language and a transduction have one name, one is the other at the last position."""
    asked = {"mqar": "x", "copy-previous": None, "k-hop-1": "a", "k-hop-3": "a"}
    for name, symbol in asked.items():
        entry, putting = language(name), named(f"{name}-symbol")
        for word in filter(None, short_words(putting)):
            if symbol is None:
                bits = tuple("1" if one == "a" else "0" for one in word)
                assert entry.accepts(bits) == (putting.outputs(word)[-1] == "a")
            else:
                assert entry.accepts(word) == (putting.outputs(word)[-1] == symbol)


def test_a_seed_gives_the_same_words_again_and_another_seed_others() -> None:
    entry = language("k-hop-2")
    for draws in (entry.members, entry.strangers, entry.near_misses):
        assert draws(seed=3, count=20) == draws(seed=3, count=20)
        assert draws(seed=3, count=20) != draws(seed=4, count=20)


EDGES = {
    "parity-even": ["1" * 12, "1" * 11 + "0"],
    "majority": ["1" * 6 + "0" * 6],
    "tomita-3": ["1" + "0" * 11],
    "a-n-b-n": ["aaaaaabbbbbbb"[:12], "ab" * 6],
    "dyck-1": ["((((((" + "))))))", ")(" + "()" * 5, "()" * 5 + "(("],
    "dyck-2": ["[()()()()()]"],
    "dyck-1-depth-3": ["((()))" * 2, "(((())))"],
    "detect-aab": ["ab" + "b" * 9 + "aa"[:1]],
    "k-hop-1": ["b" * 11 + "a", "a" + "b" * 10 + "a"],
    "copy-previous": ["1", "10"],
    "seen-3": ["aaa", "ababab"],
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_have_the_words_on_which_models_go_wrong(name: str) -> None:
    found = {"".join(word) for word in language(name).edges(Random(1), 12)}
    assert set(EDGES[name]) <= found, found


def test_flip_flops_are_written_far_away_and_keys_bound_again() -> None:
    far = ("w1", *["i"] * 10, "r1")
    assert far in list(language("flip-flop").edges(Random(1), 12))
    bindings = ["".join(word) for word in language("mqar").edges(Random(1), 10)]
    assert {"kxlylylylk"[:10], "kxkylylylk"[:10]} <= set(bindings), bindings
    assert any(word.endswith("kk") for word in bindings)
    assert any(word.endswith("klk") for word in bindings)


def test_changes_are_of_all_kinds() -> None:
    draw, word = Random(2), tuple("abcabc")
    others = [changed(word, ("a", "b", "c"), draw) for _ in range(300)]
    assert {len(other) for other in others} == {5, 6, 7}
    assert all(is_one_change(word, other) or word == other for other in others)
    assert changed((), ("a",), draw) == ("a",)


# What some languages are, once more ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("k-hop-1", "aa", "a"),
        ("k-hop-1", "bacb", "bcab"),
        ("k-hop-1", "bab", "bcb"),
        ("k-hop-2", "cabcb", "ccbcb"),
        ("mqar", "kxk", "kyk"),
        ("mqar", "kykxllk", "kxkyk"),
        ("mqar", "kxlk", "kxll"),
        ("mqar", "kxkk", "kk"),
        ("dyck-shuffle-2", "([)]", "([))"),
        ("dyck-2", "([])", "([)]"),
        ("dyck-2-depth-2", "[()]", "[[()]]"),
        ("palindromes", "abba", "abab"),
        ("majority", "01", "0"),
        ("majority-strict", "1", "01"),
        ("multiples-of-3", "110", "111"),
    ],
)
def test_words_by_hand(name: str, inside: str, outside: str) -> None:
    assert language(name).accepts(tuple(inside))
    assert not language(name).accepts(tuple(outside))


def hops_by_definition(word: Word, hops: int) -> str | None:
    """find^k(i) = find^(k-1)(find(i)), find(i) = max({0} | {j <= i : w_(j-1) = w_i}), positions from 1."""
    place = len(word)
    for _ in range(hops):
        if place == 0:
            return None
        places = [j for j in range(2, place + 1) if word[j - 2] == word[place - 1]]
        place = max([0, *places])
    return word[place - 1] if place else None


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_hops_are_those_of_the_paper(hops: int) -> None:
    entry = language(f"k-hop-{hops}")
    for word in islice(product("abc", repeat=8), 0, None, 5):
        assert entry.accepts(word) == (hops_by_definition(word, hops) == "a")


def test_formulas_are_as_short_as_they_are_said_to_be() -> None:
    texts = {
        one.name: source.text
        for one in LANGUAGES
        for source in reversed(one.sources)
        if isinstance(source, FormulaText)
    }
    assert texts["k-hop-1"].startswith("a & (!(Y a) S (Y a & a)) | b & ")
    assert texts["a-n-b-n"] == "H (a -> !O b) & #<[a] = #<[b]"
    assert texts["detect-aab"] == "O (b & Y (a & Y a))"
    assert texts["a-n-b-n-c-n"] == "H ((a -> !O (b | c)) & (b -> !O c)) & #<[a] = #<[b] & #<[b] = #<[c]"
