"""Networks in transformers: Auto classes, batches, outputs, formats; what is refused or undecided."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper import Model
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import MalformedFileError, OptionError, UnsupportedError, WordError
from attemper.exports.hugging_face_files import CONFIG, WEIGHTS, config_of
from attemper.exports.remarks import KERNEL
from attemper.exports.restoring import read_hugging_face
from attemper.exports.subject import Subject
from attemper.languages.words import Word, show_word
from tests.support.exported import MODELS, all_masks

pytestmark = pytest.mark.exports

BITS = ("since", "until", "parity", "strict", "both sides counted", "layer norm", "rms norm")
LABEL = {False: "rejected", True: "accepted", None: "undecided"}


@pytest.fixture(scope="module")
def auto() -> Any:
    """The Auto classes, which know our models."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    return transformers


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Model, Path]]]:
    """Models and the folders that they were exported to, made when they are first asked for."""

    class Folders(dict[str, tuple[Model, Path]]):
        def __missing__(self, name: str) -> tuple[Model, Path]:
            model = BUILDS[name]() if name in BUILDS else MODELS[name]()
            folder = tmp_path_factory.mktemp("exported") / "folder"
            model.export("hugging-face", folder, certificate=model.certify())
            self[name] = model, folder
            return self[name]

    return Folders()


BUILDS = {
    "lookup": lambda: attemper.compile("even(#<['a'])", "ab"),
    "often": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "push": lambda: attemper.compile("O push", "push pop"),
    "no heads": lambda: attemper.compile("'a' & even(pos)", "ab"),
}


def some_words(model: Model, longest: int = 4) -> list[Word]:
    symbols, draw = model.alphabet.symbols, random.Random(3)
    short = [word for n in range(longest + 1) for word in product(symbols, repeat=n)]
    return short + [tuple(draw.choices(symbols, k=n)) for n in (7, 30, 31, 120)]


def answers(
    auto: Any, task: str, folder: Path, words: Sequence[Word], side: str, dtype: torch.dtype
) -> list[Any]:
    """The labels of each word: one, or one for each position; words in one batch, padded on that side."""
    model = getattr(auto, f"AutoModelFor{task}").from_pretrained(folder, dtype=dtype)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder, padding_side=side)
    given = tokenizer([show_word(word) if word else "" for word in words], padding=True, return_tensors="pt")
    labels = model(**given).logits.argmax(-1)
    names = model.config.id2label
    if labels.ndim == 1:
        return [names[number] for number in labels.tolist()]
    rows = zip(labels, given["attention_mask"].bool(), strict=True)
    return [[names[number] for number in row[mask].tolist()] for row, mask in rows]


# Answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", BITS)
def test_answers_are_those_of_run(name: str, side: str, auto: Any, exported: Any) -> None:
    model, folder = exported[name]
    words = some_words(model)
    for dtype in (torch.float64, torch.float32):
        runs = list(model.run(words, dtype=dtype))
        verdicts = answers(auto, "SequenceClassification", folder, words, side, dtype)
        assert verdicts == [LABEL[model.verdict(run)] for run in runs]
        bits = answers(auto, "TokenClassification", folder, words, side, dtype)
        assert bits == [[LABEL[bit] for bit in run.bits] for run in runs]


def test_beyond_the_horizon_undecided_is_what_run_says(auto: Any, exported: Any) -> None:
    """A lookup on a^n: first a clamp's margin breaks, which no answer hides."""
    model, folder = exported["lookup"]
    words = ["a" * n for n in range(2300, 2760, 21)]
    expected = [LABEL[model.verdict(run)] for run in model.run(words, dtype="float32", engine="fused")]
    assert set(expected) == {"undecided", "accepted", "rejected"}
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder)
    for word, label in zip(words, expected, strict=True):
        (own,) = loaded(**tokenizer([word], return_tensors="pt")).logits.argmax(-1).tolist()
        assert loaded.config.id2label[own] == label


def test_symbols_are_the_labels_of_what_puts_out_symbols(auto: Any, exported: Any) -> None:
    model, folder = exported["previous symbol"]
    words = some_words(model)[1:]
    found = answers(auto, "TokenClassification", folder, words, "left", torch.float64)
    assert found == [list(model.output(word)) for word in words]
    config = auto.AutoConfig.from_pretrained(folder)
    assert list(config.id2label.values()) == [*(name for name, _ in model.network.symbols), "undecided"]
    assert config.architectures == ["AttemperForTokenClassification"]


@pytest.mark.parametrize("labels", [{0: "accepted", 1: "rejected", 2: "undecided"}, {0: "no", 1: "yes"}, {}])
def test_other_names_of_labels_are_refused(labels: dict[int, str], auto: Any, exported: Any) -> None:
    """When a model is made, and when it runs: the names are what people read."""
    _, folder = exported["since"]
    kind = auto.AutoModelForSequenceClassification
    with pytest.raises(MalformedFileError, match="mean rejected, accepted, undecided"):
        kind.from_pretrained(folder, id2label=labels)
    loaded = kind.from_pretrained(folder)
    loaded.config.id2label = labels
    with pytest.raises(MalformedFileError, match="leave it as it was exported"):
        loaded(torch.tensor([[0]]))


def test_of_several_symbols_none_is_read(auto: Any) -> None:
    from attemper.exports.hugging_face.looking import names_of

    rows = list(product((0.0, 0.25, 0.5, 0.75, 1.0, float("nan")), repeat=2))
    expected = []
    for one, other in rows:
        known = all(value <= 0.25 or value >= 0.75 for value in (one, other))
        held = [number for number, value in enumerate((one, other)) if value >= 0.75]
        expected.append(held[0] if known and len(held) == 1 else 2)
    assert names_of(torch.tensor([rows]), torch.tensor([0.0])).tolist() == [expected]
    assert names_of(torch.tensor([rows]), torch.tensor([-0.1])).tolist() == [[2] * len(rows)]
    assert names_of(torch.tensor([rows]), torch.tensor([float("nan")])).tolist() == [[2] * len(rows)]


# Pipelines -------------------------------------------------------------------------------------------


def test_text_classification(auto: Any, exported: Any) -> None:
    model, folder = exported["often"]
    pipe = auto.pipeline("text-classification", model=str(folder))
    words = ["", "0", "1", "01" * 250, "", "0" + "01" * 250, "1" * 500, "0 1 1"]
    expected = [LABEL[model.accepts(word)] for word in words]
    for size in (1, 2, 3, len(words)):
        found = pipe(words, batch_size=size)
        assert [one["label"] for one in found] == expected
        assert {one["score"] for one in found} == {1.0}
    assert pipe("") == [{"label": "rejected", "score": 1.0}]
    assert {one["label"]: one["score"] for one in pipe("0", top_k=None)} == {
        "rejected": 1.0,
        "accepted": pytest.approx(0, abs=1e-17),
        "undecided": pytest.approx(0, abs=1e-17),
    }


def test_the_empty_word_has_the_networks_own_verdict(auto: Any, exported: Any) -> None:
    model, folder = exported["automaton"]
    assert model.accepts("")
    pipe = auto.pipeline("text-classification", model=str(folder))
    assert [one["label"] for one in pipe(["", "a", " "], batch_size=3)] == [
        "accepted",
        "rejected",
        "accepted",
    ]


def test_an_unknown_symbol_is_a_word_error(auto: Any, exported: Any) -> None:
    _, folder = exported["often"]
    pipe = auto.pipeline("text-classification", model=str(folder))
    with pytest.raises(WordError, match=r"symbol '2' at position 3 is not in the alphabet \{0 1\}") as error:
        pipe(["01", "012"])
    assert error.value.details == {"position": 3}


def test_words_beyond_bfloat16_are_undecided_in_the_pipeline(auto: Any, exported: Any) -> None:
    """Beyond the horizon engines round apart: undecided follows from the own outputs and margin."""
    model, folder = exported["lookup"]
    pipe = auto.pipeline("text-classification", model=str(folder), dtype=torch.bfloat16)
    words = ["a" * n for n in range(1, 80)]
    found = [one["label"] for one in pipe(words, batch_size=8)]
    module = Subject(model.network, model.source).traceable(torch.bfloat16)
    runs = list(model.run(words, dtype="bfloat16", engine="fused"))
    both = 0
    for n, (label, run) in enumerate(zip(found, runs, strict=True), start=1):
        outputs, (margin,) = module(torch.zeros(1, n, dtype=torch.int64), torch.ones(1, n))
        last = outputs[0, -1].item()
        bit = None if margin < 0 or 0.25 < last < 0.75 else last >= 0.75
        assert label == LABEL[bit]
        both += label == "undecided" == LABEL[model.verdict(run)]
        if n <= pipe.model.config.horizon:
            assert label == LABEL[n % 2 == 0]
    assert both > 10
    assert {"accepted", "rejected"} <= set(found)


def test_token_classification(auto: Any, exported: Any) -> None:
    _, folder = exported["push"]
    pipe = auto.pipeline("token-classification", model=str(folder))
    found = pipe(["pop  push pop", "", "pop"], batch_size=2)
    shown = [[(one["word"], one["entity"], one["start"], one["end"]) for one in word] for word in found]
    assert shown == [
        [("pop", "rejected", 0, 3), ("push", "accepted", 5, 9), ("pop", "accepted", 10, 13)],
        [],
        [("pop", "rejected", 0, 3)],
    ]


def test_a_fresh_process_needs_one_import_and_no_code_of_the_folder(exported: Any) -> None:
    _, folder = exported["since"]
    script = (
        "import sys, attemper.exports.hugging_face; from transformers import pipeline\n"
        "print([one['label'] for one in pipeline('text-classification', model=sys.argv[1])(['abc', 'ba'])])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "['rejected', 'accepted']\n"
    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors", ".md"}


# What else a model puts out --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["since", "strict", "layer norm", "majority"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_streams_and_patterns_are_those_of_the_dense_module(
    name: str, side: str, auto: Any, exported: Any
) -> None:
    model, folder = exported[name]
    loaded = auto.AutoModelForTokenClassification.from_pretrained(folder)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder, padding_side=side)
    dense, word = model.dense(), "".join(random.Random(1).choices(model.alphabet.symbols, k=9))
    _, cache = dense.run_with_cache(*model.to_tokens([word]))
    given = tokenizer([word, word + word[:2]], padding=True, return_tensors="pt")
    found = loaded(**given, output_hidden_states=True, output_attentions=True)
    place = slice(2, None) if side == "left" else slice(0, 9)
    layers = len(model.network.layers)
    assert (len(found.hidden_states), len(found.attentions)) == (layers + 1, layers)
    for number in range(layers):
        before = cache[f"blocks.{number}.hook_resid_pre"][0]
        torch.testing.assert_close(found.hidden_states[number][0, place], before, rtol=1e-12, atol=1e-12)
        pattern = cache[f"blocks.{number}.attn.hook_pattern"][0]
        own = found.attentions[number]
        assert own.shape == (2, len(model.network.layers[number].heads), 11, 11)
        torch.testing.assert_close(own[0, :, place, place], pattern, rtol=1e-9, atol=1e-12)
    after = cache[f"blocks.{layers - 1}.hook_resid_post"][0]
    torch.testing.assert_close(found.hidden_states[-1][0, place], after, rtol=1e-12, atol=1e-12)
    assert torch.equal(found.logits, loaded(**given).logits)


def test_a_layer_without_heads_has_a_pattern_without_heads(auto: Any, exported: Any) -> None:
    model, folder = exported["no heads"]
    assert [len(layer.heads) for layer in model.network.layers] == [0]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    found = loaded(torch.tensor([[0, 0, 1]]), output_attentions=True)
    assert [own.shape for own in found.attentions] == [(1, 0, 3, 3)]
    assert found.logits.argmax(-1).tolist() == [0]


def test_empty_words_have_streams_and_patterns_without_positions(auto: Any, exported: Any) -> None:
    model, folder = exported["since"]
    loaded = auto.AutoModelForTokenClassification.from_pretrained(folder)
    empty = torch.zeros(2, 0, dtype=torch.int64)
    found = loaded(empty, output_hidden_states=True, output_attentions=True)
    width = len(model.network.coordinates)
    assert found.logits.shape == (2, 0, 3)
    assert [own.shape for own in found.hidden_states] == [(2, 0, width)] * 2
    assert [own.shape for own in found.attentions] == [(2, 1, 0, 0)]


def test_a_tuple_and_a_loss(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    tokens, labels = torch.tensor([[1, 0], [2, 2]]), torch.tensor([1, 1])
    loss, logits = loaded(tokens, labels=labels, return_dict=False)
    assert logits.tolist() == [[0, 40, 0], [40, 0, 0]]
    assert loss.item() == pytest.approx(20, abs=1e-12)
    assert len(loaded(tokens, return_dict=False)) == 1
    positions = auto.AutoModelForTokenClassification.from_pretrained(folder)
    ignoring = torch.tensor([[1, -100], [-100, -100]])
    assert positions(tokens, labels=ignoring).loss.item() == pytest.approx(0, abs=1e-12)


def test_without_a_mask_the_padding_token_is_padding(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    given = torch.tensor([[1, 0, 3, 3], [3, 3, 1, 0], [3, 1, 3, 0]])
    assert loaded.config.pad_token_id == 3
    assert loaded(given).logits.argmax(-1).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"input_ids": torch.tensor([[0, 4]])}, WordError, "token 4 of word 0, position 2"),
        ({"input_ids": torch.tensor([[-1]])}, WordError, "token -1 of word 0"),
        (
            {"input_ids": torch.tensor([[3]]), "attention_mask": torch.tensor([[1]])},
            WordError,
            "token 3 of word 0",
        ),
        ({"input_ids": torch.tensor([[0.0]])}, WordError, "integers"),
        ({"input_ids": torch.tensor([0])}, WordError, r"\[batch, position\]"),
        (
            {"input_ids": torch.tensor([[0, 1]]), "attention_mask": torch.tensor([[1]])},
            WordError,
            r"attention_mask has the shape \[1, 1\]",
        ),
        ({}, UnsupportedError, "give input_ids"),
        ({"inputs_embeds": torch.zeros(1, 1, 5)}, UnsupportedError, "its own embedding"),
        ({"input_ids": torch.tensor([[0]]), "position_ids": torch.tensor([[0]])}, TypeError, "position_ids"),
    ],
)
def test_other_inputs_are_refused(
    given: dict[str, Any], error: type[Exception], said: str, auto: Any, exported: Any
) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    with pytest.raises(error, match=said):
        loaded(**given)


# Weights and formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_configuration_says_the_horizon_of_the_format(dtype: str, auto: Any, exported: Any) -> None:
    model, folder = exported["since"]
    horizons = Subject(model.network, model.source, model.certify()).horizons()
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder, dtype=getattr(torch, dtype))
    assert loaded.dtype is getattr(torch, dtype)
    assert loaded.config.horizon == horizons[dtype][KERNEL] > 0
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"| {dtype} | {horizons[dtype][KERNEL]:,} |" in card
    assert model.digest in card


def test_a_network_without_a_certificate_claims_nothing(auto: Any, tmp_path: Path) -> None:
    model = MODELS["since"]()
    model.export("hugging-face", tmp_path)
    assert auto.AutoConfig.from_pretrained(tmp_path).horizon is None
    assert "nothing is claimed" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_no_entry_is_named_as_a_parameter_of_generation(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    assert not set(config) & set(auto.GenerationConfig._get_default_generation_params())


@pytest.mark.parametrize("name", ["since", "previous symbol", "push", "no heads", "layer norm"])
def test_transformers_writes_the_same_configuration(
    name: str, auto: Any, exported: Any, tmp_path: Path
) -> None:
    model, folder = exported[name]
    auto.AutoConfig.from_pretrained(folder).save_pretrained(tmp_path)
    auto.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    for file in (CONFIG, "tokenizer.json", "tokenizer_config.json"):
        found, own = (json.loads((one / file).read_text(encoding="utf-8")) for one in (tmp_path, folder))
        assert {**own, **found} == found
        assert set(found) - set(own) <= {"is_local", "local_files_only"}
    said = config_of(Subject(model.network, model.source, model.certify()), "float64")
    assert json.loads((folder / CONFIG).read_text(encoding="utf-8")) == {
        **said,
        "transformers_version": auto.__version__,
    }


def test_missing_weights_leave_every_answer_undecided(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    model, folder = exported["since"]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(folder / WEIGHTS)
    del weights["network.blocks.0.mlp.W_in"]
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    found = answers(auto, "SequenceClassification", tmp_path, some_words(model)[1:], "right", torch.float64)
    assert set(found) == {"undecided"}


def test_other_files_of_weights_are_refused(auto: Any, exported: Any, tmp_path: Path) -> None:
    """An entry of the configuration would have transformers load them instead."""
    _, folder = exported["since"]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "other.safetensors").write_bytes((folder / WEIGHTS).read_bytes())
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    (tmp_path / CONFIG).write_text(json.dumps({**config, "transformers_weights": "other.safetensors"}))
    with pytest.raises(MalformedFileError, match="'transformers_weights' names other weights"):
        auto.AutoModelForSequenceClassification.from_pretrained(tmp_path)


def test_tensors_of_other_names_are_not_loaded(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    model, folder = exported["since"]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(folder / WEIGHTS)
    twin = weights["network.embed.W_E"].flip(0)
    save_file({**weights, "embed.W_E": twin}, tmp_path / WEIGHTS, metadata={"format": "pt"})
    words = some_words(model)
    found = answers(auto, "SequenceClassification", tmp_path, words, "right", torch.float64)
    assert found == [LABEL[model.verdict(run)] for run in model.run(words)]
    with pytest.raises(MalformedFileError, match=r"a tensor 'embed.W_E', which no export writes"):
        read_hugging_face(tmp_path)


def test_a_configuration_alone_decides_nothing(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    made = auto.AutoModelForSequenceClassification.from_config(auto.AutoConfig.from_pretrained(folder))
    assert made(torch.tensor([[1, 0]])).logits.argmax(-1).tolist() == [2]
    with pytest.raises(UnsupportedError, match="no network"):
        auto.AutoModelForSequenceClassification.from_config(auto.AutoConfig.for_model("attemper"))


def test_a_model_that_transformers_saves_again_is_the_same(auto: Any, exported: Any, tmp_path: Path) -> None:
    model, folder = exported["parity"]
    auto.AutoModelForSequenceClassification.from_pretrained(folder).save_pretrained(tmp_path / "again")
    auto.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "again")
    assert read_hugging_face(tmp_path / "again") == read_hugging_face(folder)
    words = some_words(model)
    args = ("SequenceClassification", tmp_path / "again", words, "left", torch.float64)
    assert answers(auto, *args) == [LABEL[model.verdict(run)] for run in model.run(words)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_export_and_import_keep_digest_and_proof(dtype: Any, auto: Any, tmp_path: Path) -> None:
    for name in ("since", "dyck-1", "previous symbol"):
        model = MODELS[name]()
        certificate = model.certify()
        model.export("hugging-face", tmp_path / name, dtype=dtype, certificate=certificate)
        found = read_hugging_face(tmp_path / name)
        assert (found.network, found.source, found.certificate) == (
            model.network,
            model.source,
            certificate,
        )
        found.save(tmp_path / "back")
        assert check_path(tmp_path / "back").status is Status.PROVED


def test_one_changed_weight_is_not_accepted(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    _, folder = exported["since"]
    weights = load_file(folder / WEIGHTS)
    weights["network.embed.W_E"][1, 0] += 2.0**-40
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    for path in folder.iterdir():
        if path.name != WEIGHTS:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(MalformedFileError, match="other weights than were exported"):
        read_hugging_face(tmp_path)


def test_a_card_says_that_rounded_weights_cannot_be_checked(auto: Any, tmp_path: Path) -> None:
    model = MODELS["layer norm"]()
    model.export("hugging-face", tmp_path, dtype="float32", certificate=model.certify())
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "cannot be checked" in card
    assert "attemper check" not in card
    with pytest.raises(MalformedFileError, match="in float64"):
        read_hugging_face(tmp_path)


# What is refused -------------------------------------------------------------------------------------


def test_symbols_have_no_verdict(auto: Any, exported: Any) -> None:
    _, folder = exported["previous symbol"]
    with pytest.raises(UnsupportedError, match="AutoModelForTokenClassification"):
        auto.AutoModelForSequenceClassification.from_pretrained(folder)


@pytest.mark.parametrize("name", ["histogram", "bigrams"])
def test_numbers_are_refused(name: str, auto: Any, tmp_path: Path) -> None:
    model = MODELS[name]()
    with pytest.raises(UnsupportedError, match="numbers: export as onnx or torch"):
        model.export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    from attemper.exports.hugging_face import AttemperConfig

    config = AttemperConfig(network=Subject(model.network, model.source).structure)
    for kind in ("SequenceClassification", "TokenClassification"):
        with pytest.raises(UnsupportedError, match="numbers are put out"):
            getattr(auto, f"AutoModelFor{kind}").from_config(config)


def test_a_predicate_that_is_a_function_is_refused(auto: Any, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="'prime' is a Python function"):
        attemper.compile("prime(pos)", "ab").export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(auto: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MalformedFileError, match="cannot write"):
        MODELS["since"]().export("hugging-face", tmp_path / "file" / "out")


def test_without_the_libraries_the_extra_is_named(
    auto: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(OptionError, match=r"attemper\[hugging-face\]"):
        MODELS["since"]().export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_heads_under_every_mask_have_patterns_that_sum_to_one(auto: Any, tmp_path: Path) -> None:
    from attemper.exports.hugging_face.writing import write_hugging_face
    from attemper.networks.files import Source

    network = all_masks()
    write_hugging_face(Subject(network, Source("formula", "true", "last", "unbounded")), tmp_path, "float64")
    loaded = auto.AutoModelForTokenClassification.from_pretrained(tmp_path)
    found = loaded(torch.tensor([[0, 1, 0, 1]]), output_attentions=True)
    sums = torch.cat([own.sum(-1).flatten() for own in found.attentions])
    assert set(sums.round(decimals=12).tolist()) == {0.0, 1.0}
