"""The Python object: what is done to its modules stays there; words in every form; options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attemper
from attemper import errors
from attemper.certificates.files import CERTIFICATE
from attemper.checker.verdict import Status
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.errors import OptionError, UnsupportedError, WordError
from attemper.languages.words import Alphabet
from attemper.running.blocks import Block, BlockList
from attemper.running.dense import DenseTransformer
from attemper.workbench.model import Model

MAJORITY = "#<['0'] <= #<['1']"
WORDS = ("0110", "0010", "1", "01" * 20)


@pytest.fixture(scope="module")
def model() -> Model:
    return attemper.compile(MAJORITY, "01")


# A module is nobody else's ------------------------------------------------------------------------------


def ablate(module: DenseTransformer) -> None:
    module.blocks[1].mlp.W_out.data.zero_()


def cast(module: DenseTransformer) -> None:
    module.float()


def halve(module: DenseTransformer) -> None:
    module.half()


def leave_a_hook(module: DenseTransformer) -> None:
    module.blocks[0].attn.hook_z.register_forward_hook(lambda _module, _inputs, z: torch.zeros_like(z))


def query(module: DenseTransformer) -> None:
    module.blocks[0].attn.W_Q.data.fill_(1)


def turn(module: DenseTransformer) -> None:
    module.blocks[0].attn.maskings.reverse()
    module.blocks[0].attn.weightings.clear()


@pytest.mark.sweep(3)
@pytest.mark.parametrize("harm", [ablate, cast, halve, leave_a_hook, query, turn])
def test_what_is_done_to_a_module_changes_neither_the_model_nor_another_module(
    harm: Callable[[DenseTransformer], None],
) -> None:
    model = attemper.compile(MAJORITY, "01")
    before = [(model.accepts(word), model.positions(word)) for word in WORDS]
    traced = model.trace("0110")
    harm(model.dense())
    harm(model.dense(weights="hard"))
    assert [(model.accepts(word), model.positions(word)) for word in WORDS] == before
    assert model.trace("0110") == traced
    tokens, _ = model.to_tokens(["0110"])
    assert model.dense()(tokens).round().tolist() == [[0, 1, 1, 1]]
    assert model.check(model.certify()).status is Status.PROVED


def test_every_module_is_a_new_one(model: Model) -> None:
    one, other = model.dense(), model.dense()
    storages = {tensor.data_ptr() for tensor in one.state_dict().values() if tensor.numel()}
    assert one is not other
    assert not storages & {tensor.data_ptr() for tensor in other.state_dict().values()}


@pytest.mark.parametrize(
    ("move", "dtype"),
    [
        (lambda module: module.float(), torch.float32),
        (lambda module: module.half(), torch.float16),
        (lambda module: module.bfloat16(), torch.bfloat16),
        (lambda module: module.to(torch.float32).double(), torch.float64),
        (lambda module: module.to(dtype=torch.float32), torch.float32),
    ],
)
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_everything_follows_a_cast(move: Callable[[Any], Any], dtype: torch.dtype, regime: Any) -> None:
    """Position embeddings and temperatures as well: the module runs, in one format throughout."""
    module = move(attemper.compile("O b", "ab", regime=regime).dense())
    tokens = torch.tensor([[0, 0, 1, 0]])
    output, cache = module.run_with_cache(tokens)
    assert module.dtype is output.dtype is dtype
    assert {activation.dtype for activation in cache.values()} == {dtype}
    assert output.round().tolist() == module(tokens).round().tolist() == [[0, 0, 1, 1]]


def test_a_cast_module_is_the_module_of_that_format(model: Model) -> None:
    tokens = torch.tensor([[0, 1] * 30])
    cast_later, made_so = model.dense().float(), model.dense(dtype="float32")
    assert torch.equal(cast_later(tokens), made_so(tokens))
    cast_later(tokens)
    assert torch.equal(cast_later.double()(tokens), model.dense()(tokens))


def test_the_device_follows(model: Model) -> None:
    module = model.dense().to("meta")
    assert (module.device.type, module.cfg.device.type) == ("meta", "meta")


def test_the_config_has_the_names_of_transformer_lens(model: Model) -> None:
    cfg, network = model.cfg, model.network
    assert (cfg.n_layers, cfg.n_heads, cfg.d_head) == (2, 1, network.head_width)
    assert (cfg.d_model, cfg.d_vocab, cfg.act_fn) == (len(network.coordinates), 2, "relu")
    assert cfg.d_mlp == max(len(layer.hidden) for layer in network.layers)
    assert (cfg.dtype, cfg.device) == (torch.float64, torch.device("cpu"))
    assert model.dense(dtype="float32").cfg.dtype is torch.float32
    assert model.dense().float().cfg == model.dense(dtype="float32").cfg


# Words ---------------------------------------------------------------------------------------------------

SAME_WORD = [
    "0110",
    "0 1 1 0",
    ["0", "1", "1", "0"],
    ("0", "1", "1", "0"),
    [0, 1, 1, 0],
    range(0, 2),
    np.array([0, 1, 1, 0]),
    np.array([0, 1, 1, 0], dtype=np.uint8),
    np.array(["0", "1", "1", "0"]),
    np.array(["0", "1", "1", "0"], dtype=object),
    [np.int64(0), np.int64(1), np.int64(1), np.int64(0)],
    torch.tensor([0, 1, 1, 0]),
    torch.tensor([0, 1, 1, 0], dtype=torch.uint8),
    list(torch.tensor([0, 1, 1, 0]).unbind()),
]


@pytest.mark.parametrize("given", SAME_WORD, ids=lambda given: f"{type(given).__name__} {given}"[:40])
def test_a_word_can_be_given_in_many_forms(given: Any, model: Model) -> None:
    word = ("0", "1") if isinstance(given, range) else ("0", "1", "1", "0")
    assert model.word(given) == word
    assert all(type(symbol) is str for symbol in model.word(given))
    assert model.accepts(given) is model.accepts(word)
    assert model.positions(given) == model.positions(word)
    assert model.trace(given) == model.trace(word)
    assert [run.word for run in model.run([given, word])] == [word, word]


def test_the_empty_word_can_be_given_in_many_forms(model: Model) -> None:
    for given in ("", (), [], np.array([], dtype=int), torch.tensor([], dtype=torch.int64)):
        assert model.word(given) == ()
        assert model.accepts(given) is False


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0, 2], "number 2 at position 2 is no symbol's: the alphabet has the numbers 0 to 1"),
        ([0, -1], "number -1 at position 2"),
        ([0.0, 1.0], "0.0 at position 1 is neither a symbol nor a symbol's number"),
        (np.array([0.5]), "0.5 at position 1"),
        (torch.tensor([0.0, 1.0]), "0.0 at position 1"),
        ([True, False], "True at position 1"),
        (torch.tensor([True]), "True at position 1"),
        (["0", 1], "'0' at position 1"),
        ([None], "None at position 1"),
        ([[0, 1]], r"\[0, 1\] at position 1"),
        (torch.tensor([[0, 1]]), r"one dimension, not 2 \(shape \[1, 2\]\)"),
        (np.zeros((2, 2), dtype=int), r"one dimension, not 2 \(shape \[2, 2\]\)"),
        (torch.tensor(1), "one dimension, not 0"),
        (b"01", "b'01' is not a word: for example '01'"),
        ({"0", "1"}, "is not a word"),
        ({"0": 1}, "is not a word"),
        (7, "7 is not a word"),
        (None, "None is not a word"),
    ],
)
def test_what_is_no_word_is_refused(given: Any, said: str, model: Model) -> None:
    for ask in (model.word, model.accepts, model.positions, model.trace, lambda word: model.run([word])):
        with pytest.raises(WordError, match=said):
            ask(given)


def test_numbers_that_could_be_symbols_are_refused() -> None:
    """Over 1 2 3 the number 1 would be the symbol 2."""
    for symbols in ("123", "10", "1a", ["01", "00"]):
        model = attemper.compile("O first", symbols)
        with pytest.raises(WordError, match="can be read in two ways, since the alphabet has the symbol"):
            model.accepts([0, 0])
        with pytest.raises(WordError, match="can be read in two ways"):
            model.to_tokens([[1]])
    assert attemper.compile("O c", "01c").accepts([2, 0])


def test_one_text_is_not_several_words(model: Model) -> None:
    for given in ("0110", b"01", {"01"}, 3, None):
        with pytest.raises(WordError, match=r"several words are needed, not .*: for example \['01'\]"):
            model.run(given)  # type: ignore[arg-type]


def test_rows_of_a_matrix_are_words(model: Model) -> None:
    for rows in (np.array([[0, 1], [1, 1]]), torch.tensor([[0, 1], [1, 1]])):
        assert [run.word for run in model.run(rows)] == [("0", "1"), ("1", "1")]


def test_words_become_tokens_and_are_read_as_such(model: Model) -> None:
    tokens, lengths = model.to_tokens(["011", [1], "0110"])
    assert (tokens.tolist(), lengths.tolist()) == ([[0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 1, 0]], [3, 1, 4])
    rows = model.dense()(tokens, lengths).round().bool().tolist()
    assert [tuple(row[:n]) for row, n in zip(rows, lengths.tolist(), strict=True)] == [
        model.positions(word) for word in ("011", "1", "0110")
    ]
    for words in ([], ["01", ""]):
        with pytest.raises(WordError, match="none of them empty"):
            model.to_tokens(words)


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16"])
def test_a_format_can_be_given_as_torch_has_it(name: Any, model: Model) -> None:
    dtype = getattr(torch, name)
    assert model.dense(dtype=dtype).dtype is model.dense(dtype=name).dtype is dtype
    assert list(model.run(WORDS, dtype=dtype)) == list(model.run(WORDS, dtype=name))
    assert model.accepts("0110", dtype=dtype) is model.accepts("0110", dtype=name) is True
    assert model.positions("0110", dtype=dtype) == model.positions("0110")


def test_other_formats_are_refused(model: Model) -> None:
    for dtype in ("float16", torch.float16, torch.int64, float, None, 64):
        with pytest.raises(OptionError, match=r"dtype=.* is none of 'float64', 'float32', 'bfloat16'"):
            model.accepts("0", dtype=dtype)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="weights='warm' is none of"):
        model.run(["0"], weights="warm")  # type: ignore[arg-type]


# Options of the command line ------------------------------------------------------------------------------


def horizon(model: Model, name: str) -> int:
    claims = model.certify().claims[1:]
    return next(c.horizon for c in claims if (c.format, c.kernel) == (name, "numerator-first"))


@pytest.mark.sweep(0)
def test_a_horizon_is_reached_or_refused() -> None:
    """Comparing left and right counts needs wider margins, or other embeddings, for longer words."""
    formula = "#<[a] <= #>[b]"
    plain = attemper.compile(formula, "ab", at="last")
    wanted = horizon(plain, "float32") + 1
    wide = attemper.compile(formula, "ab", at="last", horizon=wanted, dtype=torch.float32)
    assert horizon(wide, "float32") >= wanted
    assert wide.network != plain.network
    with pytest.raises(UnsupportedError, match=r"no network reaches a horizon of .* in bfloat16"):
        attemper.compile(formula, "ab", at="last", horizon=100_000, dtype="bfloat16")


def test_a_horizon_is_for_expressions_and_automata_too() -> None:
    dfa = attemper.regex("a*b", "ab")
    for model in (
        attemper.compile(attemper.regex("a*b", "ab"), horizon=5_000, dtype="float32"),
        attemper.compile(dfa, horizon=5_000, dtype="float32", regime="decoder"),
    ):
        assert horizon(model, "float32") >= 5_000
    assert model.regime == "decoder"


def test_values_of_options_are_checked() -> None:
    for options, said in (
        ({"horizon": 0}, "horizon=0 is no length"),
        ({"horizon": True}, "horizon=True is no length"),
        ({"horizon": 1.5}, "horizon=1.5 is no length"),
        ({"horizon": 5, "dtype": "float16"}, "dtype='float16' is none of"),
        ({"kernel": "eager"}, "kernel='eager' is none of 'numerator-first', 'normalise-first', 'scan'"),
        ({"regime": "warm"}, "regime='warm' is none of"),
        (
            {"limits": {"symbol": 1}},
            "there is no limit 'symbol'; the limits are: image_sets, .*symbols, labels",
        ),
        ({"limits": {"counter": 1}}, "there is no limit 'counter'"),
        ({"limits": {3: 3}}, "there is no limit '3'"),
        ({"limits": {"symbols": "many"}}, "the limit 'symbols' is a whole number from 0 on, not 'many'"),
        ({"limits": {"symbols": True}}, "is a whole number from 0 on"),
        ({"limits": {"symbols": -1}}, "is a whole number from 0 on"),
    ):
        for language in ("regex:a*b", "O a"):
            no_cascade = language == "O a" and "limits" in options
            wanted = "a formula or program has none" if no_cascade else said
            with pytest.raises(OptionError, match=wanted):
                attemper.compile(language, "ab", **options)


def test_a_cap_that_a_refusal_names_can_be_set() -> None:
    regex = "(a|b)*abba(a|b)*"
    for options in ({}, {"horizon": 100}):
        with pytest.raises(UnsupportedError, match=r"symbols of a level, beyond the cap of 3; .*symbols"):
            attemper.compile(attemper.regex(regex, "ab"), limits={"symbols": 3}, **options)
        raised = attemper.compile(
            attemper.regex(regex, "ab"), limits={"symbols": CascadeCaps().symbols}, **options
        )
        assert raised.accepts("babbab")


def test_a_formula_takes_no_caps() -> None:
    for options in ({}, {"horizon": 100}):
        with pytest.raises(OptionError, match=r"a formula or program has none: leave them out, .*regex:TEXT"):
            attemper.compile("O a", "ab", limits={"symbols": 8_000}, **options)
        assert attemper.compile("O a", "ab", limits={}, **options).accepts("ba")


def test_things_of_another_type_are_refused_with_a_remedy() -> None:
    model: Any = attemper.compile("O a", "ab")
    public: Any = attemper
    for ask, said in (
        (lambda: public.compile(5, "ab"), "int names no language: give formula:TEXT"),
        (lambda: public.regex(None, "ab"), "text is of the type NoneType: give an expression"),
        (lambda: public.formula(5, "ab"), "text is of the type int: give a formula"),
        (lambda: public.compile("a*b", "ab"), "cannot stand here"),
        (
            lambda: public.compile("regex:a", "ab", limits=["symbols"]),
            "limits is of the type list: give names and",
        ),
        (lambda: public.compile("O a", 5), "5 is no alphabet: give a text or a list"),
        (lambda: public.compile("O a", {"a"}), "is no alphabet: give a text or a list"),
        (lambda: public.classify(3), "int names no language"),
        (lambda: public.to_formula(b"a*b"), "bytes names no language"),
        (lambda: public.verify("majority"), r"model is of the type str: .*attemper.load\(DIR\) reads one"),
        (
            lambda: public.check("majority", "O a"),
            "there is no 'majority': give the folder of a network",
        ),
        (lambda: model.save("nowhere", certificate="proof"), "certificate is of the type str"),
    ):
        with pytest.raises(attemper.AttemperError, match=said):
            ask()
    assert not Path("nowhere").exists()


def test_an_alphabet_can_be_a_text_a_list_or_an_alphabet() -> None:
    ab = Alphabet(("a", "b"))
    for alphabet in ("ab", "a b", ["a", "b"], ("a", "b"), ab):
        assert attemper.compile("O a", alphabet).alphabet == ab
        assert attemper.compile(attemper.regex("a*b", alphabet)).alphabet == ab
        assert attemper.regex("a*b", alphabet) == attemper.regex("a*b", ab)


# What it shows, and what it writes ------------------------------------------------------------------------


def test_everything_shows_itself_on_one_short_line(model: Model) -> None:
    long = attemper.compile(" & ".join(f"O (a & #<[b] >= {k})" for k in range(9)), "ab")
    (run,) = model.run(["01" * 500])
    dfa = attemper.regex("(0|11)*", "01")
    for shown in (model, long, run, model.trace("01"), model.trace(""), attemper.to_formula(dfa)):
        text = repr(shown)
        assert "\n" not in text
        assert len(text) <= 210
        assert text.startswith(f"<{type(shown).__name__} ")
    assert repr(attemper.classify(dfa)) == "<Classified: quasi-aperiodic, 3 states>"
    certificate = attemper.compile(attemper.regex("a*b", "ab")).certify()
    assert len(repr(certificate)) < 800
    assert "Attend" not in repr(certificate)


def test_a_certificate_is_saved_with_the_model(tmp_path: Path, model: Model) -> None:
    from attemper.checker.folders import check_path

    model.save(tmp_path, certificate=model.certify())
    assert check_path(tmp_path).status is Status.PROVED
    model.save(tmp_path)  # the same network: its certificate stays
    assert check_path(tmp_path).status is Status.PROVED
    other = attemper.compile("O '1'", "01")
    with pytest.raises(OptionError, match="the certificate is of another network"):
        other.save(tmp_path, certificate=model.certify())
    assert check_path(tmp_path).status is Status.PROVED  # nothing was written
    other.save(tmp_path)
    assert not (tmp_path / CERTIFICATE).exists()


def test_a_run_says_its_verdict() -> None:
    """At the first position, at the last, of the empty word; and none for a symbol."""
    first = attemper.compile("F b", "ab", at="first", empty="accept")
    last = attemper.compile("O b & a", "ab")
    words = ["ba", "ab", "aa", ""]
    assert [run.accepted for run in first.run(words)] == [True, True, False, True]
    assert [run.accepted for run in last.run(words)] == [True, False, False, False]
    assert str(next(iter(first.run([""])))) == "<Run (empty): accepted, margin inf>"
    assert str(next(iter(last.run(["ab"])))) == "<Run ab: rejected, 00, margin 0.25>"
    (run,) = attemper.compile("zoo:reverse").run(["abc"])
    assert str(run) == "<Run abc: cba, margin 0.25>"
    with pytest.raises(UnsupportedError, match="there is no verdict: a symbol is put out"):
        _ = run.accepted


def test_the_blocks_of_a_module_are_a_list_of_modules_to_torch(model: Model) -> None:
    """Nothing but their types is new, so that what torch knows of lists holds: slices, changes, copies."""
    module = model.dense()
    assert [type(block) for block in module.blocks] == [Block] * 2
    assert type(module.blocks[:1]) is BlockList
    assert vars(BlockList).keys().isdisjoint({"__getitem__", "__iter__", "__len__"})


# The public surface ---------------------------------------------------------------------------------------


def test_every_public_name_has_an_example() -> None:
    for name in attemper.__all__:
        if name != "__version__":
            assert ">>>" in (inspect.getdoc(getattr(attemper, name)) or ""), name
    for name in (
        "accepts",
        "positions",
        "run",
        "trace",
        "dense",
        "cfg",
        "to_tokens",
        "save",
        "certify",
        "check",
    ):
        assert ">>>" in (inspect.getdoc(getattr(Model, name)) or ""), name


def test_every_error_is_public() -> None:
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and kind.__module__ == errors.__name__
    }
    assert len(kinds) > 10
    assert kinds | {"ModuleError", "PredicateError"} <= set(attemper.__all__)
    for name in kinds:
        assert getattr(attemper, name) is getattr(errors, name)


def test_completion_offers_what_is_public() -> None:
    assert dir(attemper) == sorted(attemper.__all__)
    assert {"verify", "refute", "check", "classify", "to_formula"} <= set(dir(attemper))
