"""Languages and tasks that the papers name: compiled, proved, and run beside other definitions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from re import fullmatch

from attemper.languages.named.entry import Entry, Rasp, RegimeName
from attemper.languages.named.zoo import named
from attemper.languages.regular.sensitivity import average_sensitivity
from attemper.workbench.classifying import classify
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.naming import program as read_program
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal
from attemper.workbench.papers.theorems import proof_of, wrong_words


def entry(name: str, regime: RegimeName = "unbounded") -> Iterator[Observed]:
    """An entry of the zoo: its network is proved, and right on words that are drawn, to 30 symbols."""
    found, model = named(name), compiled(f"zoo:{name}", regime=regime)
    yield proof_of(model).about(f"{name}:")
    if isinstance(found, Entry):
        pairs = found.near_misses(count=10, longest=30)
        drawn = [
            *found.members(count=20, longest=30),
            *found.strangers(count=20, longest=30),
            *sum(pairs, ()),
        ]
        words = list(filter(None, drawn))
        wanted: list[object] = list(map(found.accepts, words))
        answers: list[object] = [run.accepted for run in model.run(words, engine="numpy")]
    else:
        words = list(filter(None, found.words(count=20, longest=30)))
        wanted = [tuple(found.outputs(word)) for word in words]
        answers = [run.outputs for run in model.run(words, engine="numpy")]
    wrong = sum(answer != meant for answer, meant in zip(answers, wanted, strict=True))
    yield equal(f"{name}: wrong on, of {len(words)} words", wrong, 0)
    yield at_least(f"{name}: different answers among these", len(set(answers)), 2)


def _even_ones(word: str) -> bool:
    return word.count("1") % 2 == 0


def _odd_ones(word: str) -> bool:
    return not _even_ones(word)


def polarity() -> Iterator[Observed]:
    """Which words PARITY has: those with an even number of 1s, as Hahn says."""
    for name, members in (("parity", _even_ones), ("parity-even", _even_ones), ("parity-odd", _odd_ones)):
        yield wrong_words(compiled(f"zoo:{name}"), members).about(f"{name}:")


def _nested(word: str) -> bool:
    before = None
    while word != before:
        before, word = word, word.replace("()", "").replace("[]", "")
    return not word


def brackets() -> Iterator[Observed]:
    """Well-nested words, which are those from which pairs can be crossed out one after the other."""
    for name in ("dyck-1", "dyck-2"):
        model = compiled(f"zoo:{name}")
        yield proof_of(model).about(f"{name}:")
        yield wrong_words(model, _nested).about(f"{name}:")


def depths(word: str) -> list[object]:
    """How many brackets are open behind each position; before it, where it closes one."""
    opened = [word[: i + 1].count("(") + word[: i + 1].count("[") for i in range(len(word))]
    return [2 * opened[i] - (i + 1) + (symbol in ")]") for i, symbol in enumerate(word)]


def last_alike(word: str, values: list[object]) -> list[object]:
    """The symbol at the last earlier position that has the same value."""
    return [
        next((word[j] for j in range(i - 1, -1, -1) if values[j] == values[i]), "none")
        for i in range(len(word))
    ]


def program() -> Iterator[Observed]:
    """Two lines as they are typed, and what they put out by Python."""
    alike = "x = count[j <= i] in 'a'\noutput rightmost[j < i : x(j) = x(i)] symbol else none\n"
    model, words = compiled(read_program(f"alphabet a b c\n{alike}")), ["abcac", "ccabab", "aaa"]
    yield proof_of(model).about("count, and rightmost of the same count:")
    for run in model.run(words, engine="numpy"):
        word = "".join(run.word)
        wanted = last_alike(word, [word[: i + 1].count("a") for i in range(len(word))])
        yield equal(f"on {word}", " ".join(map(str, run.outputs)), " ".join(map(str, wanted)))
    yield from (*entry("reverse"), *entry("most-frequent-symbol"))


def appendix_e() -> Iterator[Observed]:
    """The program at each prefix of all words up to 3 and of some others, and what two of its lines are."""
    model = compiled("zoo:dyck-2-appendix-e")
    yield proof_of(model)
    longer = ["([])[]", "([)]", "(([]"]
    words = [*longer, *("".join(word) for n in (1, 2, 3) for word in product("()[]", repeat=n))]
    wrong = 0
    for run in model.run(words, engine="numpy"):
        wanted = ["1" if _nested("".join(run.word[: i + 1])) else "0" for i in range(len(run.word))]
        found = "".join(str(int(bool(one))) for one in run.outputs)
        wrong += found != "".join(wanted)
        if "".join(run.word) in longer:
            yield equal(f"on {''.join(run.word)}", found, "".join(wanted))
    yield equal(f"words of {len(words)} that are wrong at some prefix", wrong, 0)
    source = named("dyck-2-appendix-e").source
    assert isinstance(source, Rasp)
    lines = source.text.replace("empty accept\n", "").partition("output")[0]
    for name, meant in (("depth", depths), ("leftmatch", lambda word: last_alike(word, depths(word)))):
        one = compiled(read_program(f"{lines}output {name}\n"))
        runs = one.run(words, engine="numpy")
        wrong = sum(list(run.outputs) != meant("".join(run.word)) for run in runs)
        yield equal(f"{name}: words that are wrong", wrong, 0)


def aperiodic() -> Iterator[Observed]:
    """Which regular languages need counting: PARITY does; 1*, and (aa)* where positions are known, do not."""
    for language, alphabet, kind, modulus in (
        ("zoo:parity-even", None, "solvable", "none"),
        ("regex:1*", "01", "star-free", "1"),
        ("regex:(aa)*", "ab", "quasi-aperiodic", "2"),
    ):
        found = classify(language, alphabet).record
        yield equal(f"{language}: class", str(found["class"]), kind)
        yield equal(
            f"{language}, period", "none" if found["modulus"] is None else str(found["modulus"]), modulus
        )


def forcing() -> Iterator[Observed]:
    """How many symbols decide membership at n = 100: nearly all of PARITY's, one of 1*'s."""
    for language, alphabet, fixed, sensitive in (
        ("zoo:parity-even", None, 100, True),
        ("regex:1*", "01", 1, False),
    ):
        found = classify(language, alphabet).record["forcing"]
        assert isinstance(found, dict)
        yield equal(f"{language}: symbols that must be fixed at n = 100", found["fixed"], fixed)
        yield equal(f"{language}: sensitive", found["sensitive"], sensitive)


def sensitivity() -> Iterator[Observed]:
    """At how many positions of a word, on average, membership turns: at n = 100, and at 8 by all words."""
    for text, alphabet, most in (("(b*ab*a)*b*", "ab", 100.0), ("(0|11)*", "01", 1e-6)):
        found = classify(f"regex:{text}", alphabet)
        assert found.sensitivity is not None
        yield (equal if most == 100 else at_most)(f"{text}: at n = 100", float(found.sensitivity), most)
        turned = 0
        members = {"".join(w) for w in product(alphabet, repeat=8) if fullmatch(text, "".join(w))}
        for letters in product(alphabet, repeat=8):
            word = "".join(letters)
            for i in range(8):
                other = word[:i] + alphabet[1 - alphabet.index(word[i])] + word[i + 1 :]
                turned += (word in members) != (other in members)
        exact = average_sensitivity(found.automaton, 8)
        yield equal(f"{text}: at n = 8", str(exact), str(Fraction(turned, 2**8)))


NEGATED = "(_|!_*!)*1|_*!(_|!_*!)*0"
"""Formulas like `!_!1`: negations, with blanks between them, of a truth value."""


def negations() -> Iterator[Observed]:
    """What nested negations evaluate to, by Python's own `not`."""
    model = compiled(f"regex:{NEGATED}", "!_01")
    yield proof_of(model)

    def holds(word: str) -> bool:
        text = word[:-1]
        value = word[-1] == "1"
        for _ in range(text.count("!")):
            value = not value
        return value and set(text) <= {"!", "_"} and word[-1] in "01"

    yield wrong_words(model, holds)
    yield equal(
        "class of the language", str(classify(f"regex:{NEGATED}", "!_01").record["class"]), "solvable"
    )


STATEMENTS = (
    Statement(
        *(37, Paper.YANG, ("induction-heads", "k-hop"), "Induction heads and k-hop (sections 1 and 6)"),
        "`k-hop-1-symbol`, `k-hop-2-symbol`: the symbol behind the last earlier one like this; programs, "
        "compiled.",
        "",
        "attemper zoo induction-head",
        lambda: (*entry("k-hop-1-symbol", "temperature"), *entry("k-hop-2-symbol")),
    ),
    Statement(
        *(39, Paper.YANG, ("mqar",), "Multi-query associative recall (section 1)"),
        "`mqar-symbol`: the value that stood behind the last key like this.",
        "",
        "attemper zoo mqar-symbol",
        partial(entry, "mqar-symbol"),
    ),
    Statement(
        *(
            40,
            Paper.YANG,
            ("s-rasp", "section-6-programs"),
            "S-RASP programs become softmax transformers (section 6)",
        ),
        "Programs (docs/programs.md) compile, and are proved from the weights.",
        "A subset: what is refused is refused with the reason, and a caret under it.",
        "attemper zoo reverse",
        program,
    ),
    Statement(
        *(
            41,
            Paper.YANG,
            ("dyck-k", "section-6-dyck"),
            "DYCK-k by attention to the nearest equal depth (section 6)",
        ),
        "`dyck-2`: depths are counts, and each closing bracket reads the nearest opening one of its depth.",
        "Another program than Appendix E's own, in 4 layers; no decoder; short horizons in float32.",
        "attemper zoo dyck-2",
        lambda: (*entry("dyck-2", "temperature"), *entry("dyck-2", "unbounded")),
    ),
    Statement(
        *(42, Paper.YANG, ("app-e", "appendix-e"), "Appendix E: the program for DYCK-k, line by line"),
        "`dyck-2-appendix-e`: its lines, as they are printed; the network is proved, and right.",
        "",
        "attemper compile zoo:dyck-2-appendix-e -o e",
        appendix_e,
    ),
    Statement(
        *(46, Paper.YANG, ("section-2.3", "sparsemax"), "Sparsemax and geometric attention (section 2.3)"),
        "Heads are softmax, or hard.",
        "the paper's background: other papers attend so, and no theorem of this one is about it",
        "attemper show DIR",
        None,
    ),
    Statement(
        *(53, Paper.HAHN, ("parity", "section-4-parity"), "PARITY: words with an even number of 1s"),
        "`parity-even`; `parity` alone stands for it, and commands say so.",
        "",
        "attemper zoo parity",
        polarity,
    ),
    Statement(
        *(54, Paper.HAHN, ("dyck", "1dyck", "section-4-dyck"), "1DYCK and 2DYCK"),
        "`dyck-1`, `dyck-2`: well-nested words of one or two kinds of brackets.",
        "",
        "attemper zoo dyck-1",
        brackets,
    ),
    Statement(
        *(
            55,
            Paper.HAHN,
            ("footnote-2", "quasi-aperiodic"),
            "Footnote 2: regular languages that are not quasi-aperiodic",
        ),
        "`attemper classify` reads star-free, quasi-aperiodic and solvable off the automaton, with two "
        "words.",
        "",
        "attemper classify zoo:parity-even",
        aperiodic,
    ),
    Statement(
        *(61, Paper.HAHN, ("section-5-sensitive", "sensitive"), "Languages that no few fixed symbols decide"),
        "The forcing number: how many symbols must be fixed until membership is decided, for each n.",
        "",
        "attemper classify zoo:parity-even",
        forcing,
    ),
    Statement(
        *(
            62,
            Paper.HAHN,
            ("section-2-average-sensitivity", "average-sensitivity"),
            "Average sensitivity of a language",
        ),
        "`classify` computes it exactly at n = 100, from the automaton.",
        "",
        'attemper classify "regex:(0|11)*"',
        sensitivity,
    ),
    Statement(
        *(
            87,
            Paper.HAHN,
            ("section-1-negation", "iterated-negation"),
            "Iterated negation: evaluating nested negations",
        ),
        "A regular expression of formulas like !_!1: two words of equal length permute states, as for "
        "PARITY.",
        "Connectives with two operands nest brackets, and are not tried.",
        f"""attemper compile "regex:{NEGATED}" --alphabet "!_01" -o negated""",
        negations,
    ),
)
