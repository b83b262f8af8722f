"""Whether a trained encoder answers every word of a language up to a length; or a word that it gets wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attemper.errors import OptionError, UnsupportedError
from attemper.models.soft.gpt2 import config_of, is_gpt2, tokens_in
from attemper.models.soft.trained import is_folder, settings_in
from attemper.models.soft.vocabulary import AskedToken, ModelTokens
from attemper.models.soft.weights import Encoder
from attemper.theories.judging.certificate import MOST_LENGTH, Reading
from attemper.theories.judging.check.cells import JudgedTask
from attemper.theories.judging.check.claims import load_judged, unfit
from attemper.theories.judging.search.found import JudgedEncoder
from attemper.theories.judging.search.judging import JudgingSearch
from attemper.workbench import naming
from attemper.workbench.automata import automaton_required
from attemper.workbench.counted import counted_to

if TYPE_CHECKING:
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike

UP_TO = 64

SEARCHING = 0.6
"""So much of the time is for searching: the rest is for the checker, who looks at all of it again."""

FIRST = 16
"""With "auto" words of so many symbols come first, and then twice as many."""


def judge(
    model: str | Path | Encoder,
    language: LanguageLike | None = None,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    vocab: Sequence[str] | None = None,
    answer: tuple[str, str, str] | None = None,
    up_to: int | Literal["auto"] = UP_TO,
    offsets: tuple[int, int] | Literal["all"] = (0, 0),
    seconds: float = 60,
    report: Callable[[str], None] = lambda _: None,
) -> JudgedEncoder:
    """Whether a trained transformer of one layer answers all words of a language up to a length right.

    With e_j = exp(q k_j / sqrt(c)) a head reads sum_j e_j v_j / sum_j e_j at the last position, an average
    whose greatest coordinate over all words of a length that lead to one state of the language's automaton is
    found exactly, as a longest path (FORMAT.md, section 18); what follows is enclosed. So PROVED is said of
    all words, for n = 0, ..., `up_to`, in real arithmetic; REFUTED of a word whose answer has the wrong sign,
    in real arithmetic, and what PyTorch says of it in float32 stands beside; else UNKNOWN.

    * `model`: the folder of a run of `attemper train` (task.kind "recognition" or "next"), that of a GPT-2 as
      `transformers` saves it, MODULE:OBJECT, or an `attemper.models.soft.weights.Encoder`. With an end marker
      it is asked whether a word is in the language: the sign of its output, or of the second less the first.
      Without one it reads a start, and is asked after each prefix of a word of the language what may come
      next: a positive output for each symbol that may, and one for the end.
    * `vocab`: of a GPT-2 the tokens by their numbers, left out those of its vocab.json. The start and the end
      are those of its config.json, or else `<bos>` and `<eos>`; its outputs for all tokens but the letters
      and the end are to be negative everywhere.
    * `answer`: of a GPT-2 three tokens (query, yes, no): it reads a start, a word and the query, and is asked
      there whether the word is in the language: whether the output of yes is above that of no.
    * `language`, `alphabet`, `at`, `empty`: as for `attemper.language`; left out, that of the run. Its
      automaton must be found; a comparison of counts has one that is right to the length that is asked for.
    * `up_to`: the most symbols of a word; "auto" begins with 16 and doubles until something is not proved.
    * `offsets`: the first and the last number of positions that are left out before the input; "all" are 0 to
      `up_to`. With o of them words have at most `up_to` - o symbols.
    * `seconds`: how long to search, give or take a step, and to check what was found. An interrupt ends the
      search with what is known so far.

    >>> import numpy as np
    >>> from attemper.models.soft.weights import EncoderLayer, Mask, NoPositions
    >>> one, zero, none = np.eye(1), np.zeros((1, 1)), np.zeros(1)
    >>> heads = np.concatenate([zero, zero, one])  # all positions weigh the same
    >>> layer = EncoderLayer(heads, np.zeros(3), one, none, zero, none, zero, none, None, 1, False)
    >>> letters, rows = ("a", "b", "$"), np.array([[1.0], [0.0], [0.0]])
    >>> rest = NoPositions(), Mask.UNMASKED, (layer,), one, np.array([-0.1]), ("a",)
    >>> share = Encoder(letters, "$", rows, *rest)  # the share of a, less 1/10
    >>> judge(share, "regex:b*a(a|b)*", "ab", up_to=8)
    <JudgedEncoder: PROVED, proved to 8 of 8>
    >>> sorted(judge(share, "regex:b*a(a|b)*", "ab", up_to=10).wrong.word).count("b")  # and one a: 1/11
    9

    Raises `OptionError` for options, `UnsupportedError` for what cannot be judged, `MalformedFileError` for a
    folder that is no run's, and what reading a language or loading an encoder raises.
    """
    if up_to != "auto" and (type(up_to) is not int or not 0 <= up_to <= MOST_LENGTH):
        raise OptionError(f"up_to={up_to!r} is no length from 0 to {MOST_LENGTH:,}", options=("up_to",))
    if offsets != "all" and not 0 <= offsets[0] <= offsets[1] <= (FIRST if up_to == "auto" else up_to):
        raise OptionError(f"offsets={offsets!r} are none from 0 to {up_to}", options=("offsets",))
    if isinstance(model, Path):
        model = str(model)
    if language is None:
        language, alphabet, at, empty = _of_the_run(model, alphabet, at, empty)
    report("making the automaton")
    meant = naming.language(language, alphabet, at=at, empty=empty)
    meant.require_verdicts()
    letters = meant.alphabet.symbols
    vocabulary = _vocabulary_of(model, vocab, answer, letters)
    loads = partial(_loaded, model, letters, vocabulary)
    encoder = loads(1)
    reading = Reading.NEXT if encoder.ending is None else Reading.VERDICT
    source = model if isinstance(model, str) else ""
    deadline = time.monotonic() + SEARCHING * seconds
    length = FIRST if up_to == "auto" else up_to
    automaton = None
    while True:
        counted = counted_to(meant.definition, meant.alphabet, length)
        automaton = counted or automaton or automaton_required(meant.definition, meant.alphabet, meant)
        task = JudgedTask(automaton, reading, vocabulary)
        for complaint in unfit(encoder, task):
            raise UnsupportedError(complaint)
        here = (0, length) if offsets == "all" else offsets
        found = JudgingSearch(meant, task, source, loads, length, here, report, deadline).run()
        is_over = up_to != "auto" or found.proved_to != length or 2 * length > MOST_LENGTH
        if is_over or time.monotonic() > deadline - SEARCHING * seconds / 2:
            return found
        length *= 2


def _loaded(
    model: str | Encoder, letters: tuple[str, ...], vocabulary: ModelTokens | None, places: int
) -> Encoder:
    return model if isinstance(model, Encoder) else load_judged(model, letters, places, vocabulary)


def _vocabulary_of(
    model: str | Encoder,
    vocab: Sequence[str] | None,
    answer: tuple[str, str, str] | None,
    letters: Sequence[str],
) -> ModelTokens | None:
    """The tokens of a GPT-2's folder; None of another model."""
    if isinstance(model, Encoder) or not is_folder(model) or not is_gpt2(model):
        if (vocab, answer) != (None, None):
            raise OptionError(
                "vocab and answer are for the folder of a GPT-2: other models name their symbols",
                options=("vocab", "answer"),
            )
        return None
    folder = Path(model)
    config, tokens = config_of(folder), tuple(vocab or tokens_in(folder) or ())
    if not tokens:
        raise OptionError(
            f"'{model}' has no vocab.json: say which tokens it has, by their numbers, as in "
            "'a,b,<bos>,<sep>,<eos>,<pad>'",
            options=("vocab",),
        )
    start, end = (
        _token_of(config.get(name), tokens, usual, name)
        for name, usual in (("bos_token_id", "<bos>"), ("eos_token_id", "<eos>"))
    )
    found = ModelTokens(tokens, start, end, None if answer is None else AskedToken(*answer))
    for complaint in found.complaints(letters):
        raise OptionError(complaint, options=("vocab",))
    return found


def _token_of(number: object, tokens: Sequence[str], usual: str, name: str) -> str:
    if type(number) is int and 0 <= number < len(tokens):
        return tokens[number]
    if usual not in tokens:
        raise OptionError(
            f"config.json has {name} {number}, which is none of the {len(tokens):,} tokens, and none of them "
            f"is {usual}: write there the number that is meant",
            options=("vocab",),
        )
    return usual


def _of_the_run(
    model: str | Encoder, alphabet: AlphabetLike | None, at: AtName | None, empty: EmptyName | None
) -> tuple[str, AlphabetLike | None, AtName | None, EmptyName | None]:
    """The language that a run was trained for, as its settings name it."""
    if isinstance(model, Encoder) or not is_folder(model) or is_gpt2(model):
        raise OptionError("say which language is meant: only a folder of 'attemper train' names one")
    if (alphabet, at, empty) != (None, None, None):
        raise OptionError("the run's own language is meant: leave alphabet, at and empty out")
    task = settings_in(Path(model)).get("task")
    if not isinstance(task, dict) or not isinstance(task.get("language"), str):
        raise UnsupportedError(f"'{model}' is no run about a language: only 'recognition' and 'next' are")
    return task["language"], task.get("alphabet"), task.get("at"), task.get("empty")
