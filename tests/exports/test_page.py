"""The page as a file: one file that loads nothing, in which nothing of a network is markup; its command."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.errors import ExitCode, UnsupportedError, WordError
from attemper.exact.closed_forms import times
from attemper.exports.page.contents import MOST_BYTES, MOST_COORDINATES, json_of, page_contents
from attemper.exports.page.writing import document, page_text
from attemper.exports.subject import Exported
from attemper.networks.layers import HardWeighting, LinearForm
from attemper.networks.structure import HARD, Provenance
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.exported import MODELS, all_masks
from tests.support.drawn.typed_networks import uniform_only

HOSTILE = ("<", "&", "</script>", "<!--", "--><script>", '"', "'", "\\u003c", "$network", "]]>")


class Reader(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts.setdefault(self.tags[-1], []).append(data)


def subject_of(formula: str = "O a", alphabet: Any = "ab", **options: Any) -> Exported:
    model = attemper.compile(formula, alphabet, **options)
    return Exported(model.network, model.source)


def network_in(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="network">(.*?)</script>', text, re.DOTALL)
    assert found
    contents: dict[str, Any] = json.loads(found[1])
    return contents


def test_a_page_asks_nobody_for_anything() -> None:
    text = page_text(subject_of())
    reader = Reader(text)
    assert not {"src", "action", "srcset", "style", "onclick"} & set(reader.attributes)
    assert reader.attributes["href"] == ["data:,"]
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttpRequest|WebSocket|import\(", text)


def test_its_policy_names_its_own_scripts_and_styles_alone() -> None:
    text = page_text(subject_of(), above="<style>p{}</style><script>let x = 1;</script>")
    policy = dict(part.split(" ", 1) for part in Reader(text).attributes["content"][0].split("; "))
    assert policy["default-src"] == policy["connect-src"] == policy["base-uri"] == "'none'"
    for element in ("script", "style"):
        inline = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        hashes = [f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'" for own in inline]
        assert policy[f"{element}-src"].split() == hashes
        assert len(hashes) == 2


def test_only_a_page_of_a_server_may_ask_and_only_that_server() -> None:
    text = page_text(subject_of(), connect=True)
    assert "connect-src 'self';" in Reader(text).attributes["content"][0]


def test_nothing_of_a_network_is_markup() -> None:
    plain, hostile = page_text(subject_of(alphabet=["a", "b"])), subject_of("true S '<'", HOSTILE)
    text = page_text(hostile, HOSTILE, title="<b>&</title></script>")
    assert Reader(text).tags == Reader(plain).tags
    contents = network_in(text)
    assert contents["alphabet"] == contents["word"] == list(HOSTILE)
    assert contents["coordinates"] == list(hostile.network.coordinates)
    assert contents["title"] == "<b>&</title></script>"
    assert "<title>&lt;b&gt;&amp;&lt;/title&gt;&lt;/script&gt; \u00b7 attemper</title>" in text


def test_weights_read_back_as_the_same_numbers() -> None:
    """Of networks with fractions, large numbers and norms: every weight, gain and bias, bit for bit."""
    for build in (MODELS["layer norm"], MODELS["parity"], MODELS["rms norm"], MODELS["bigrams"]):
        model = build()
        network, contents = model.network, network_in(page_text(Exported(model.network, model.source)))
        assert [rows_of(row) for row in contents["embedding"]] == [
            floats_of(row) for row in network.embedding
        ]
        for layer, shown in zip(network.layers, contents["layers"], strict=True):
            for head, own in zip(layer.heads, shown["heads"], strict=True):
                for name in ("query", "key", "values"):
                    assert [rows_of(row) for row in own[name]] == [
                        floats_of(row) for row in getattr(head, name)
                    ]
                assert own["writes"] == [[[target, 1]] for target in head.targets]
            for unit, own in zip(layer.hidden, shown["hidden"], strict=True):
                assert rows_of(own["reads"]) == floats_of(unit.form)
                assert rows_of(own["writes"]) == floats_of(unit.outputs)
                assert own["bias"] == float(unit.bias)
        if network.normalisation is not None:
            gains = [norm.gain for norm in network.normalisation.before_attention]
            assert [layer["beforeHeads"]["gain"] for layer in contents["layers"]] == [
                [float(x) for x in gain] for gain in gains
            ]


def rows_of(row: list[tuple[int, float]]) -> list[tuple[int, float]]:
    return [(coordinate, float(weight)) for coordinate, weight in row]


def floats_of(form: LinearForm) -> list[tuple[int, float]]:
    return [(coordinate, float(weight)) for coordinate, weight in form]


def test_a_page_says_what_the_certificate_claims() -> None:
    model = attemper.compile("#<['0'] <= #<['1']", "01")
    subject = Exported(model.network, model.source, model.certify())
    claims = network_in(page_text(subject))["certificate"]
    assert claims == {
        "isReal": True,
        "real": None,
        "horizon": subject.horizons()["float64"]["numerator-first"],
    }
    assert network_in(page_text(replace(subject, certificate=None)))["certificate"] is None


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (Provenance("formula", "O   a", "last", "unbounded"), "O a"),
        (Provenance("regex", "(ab)*", "last", "unbounded"), "(ab)*"),
        (
            attemper.compile(attemper.regex("(ab)*", "ab").automaton()).source,
            "an automaton with 3 states",
        ),
        (MODELS["histogram"]().source, "an attention program of 6 steps"),
        (Provenance(HARD, "0" * 64, "last", "unbounded"), "a softened network"),
        (Provenance("formula", "a" * 300, "last", "unbounded"), "a" * 200 + "..."),
    ],
)
def test_the_title_is_the_source_or_how_large_it_is(source: Provenance, title: str) -> None:
    assert page_contents(Exported(subject_of().network, source))["title"] == title


def test_a_network_with_too_many_coordinates_is_refused_with_their_number() -> None:
    subject = subject_of()
    width = len(subject.network.coordinates)
    more = tuple(f"more {k}" for k in range(MOST_COORDINATES - width))
    fits = replace(subject.network, coordinates=(*subject.network.coordinates, *more))
    assert network_in(page_text(replace(subject, network=fits)))["coordinates"][-1] == more[-1]
    large = replace(fits, coordinates=(*fits.coordinates, "one more"))
    with pytest.raises(
        UnsupportedError, match=r"the network has 2,001 coordinates, and a page shows at most 2,000"
    ):
        page_text(replace(subject, network=large))


def test_a_network_whose_json_is_too_large_is_refused_with_its_size() -> None:
    contents = page_contents(subject_of())
    room = MOST_BYTES - len(json_of({**contents, "more": ""}))
    assert len(json_of({**contents, "more": "x" * room})) == MOST_BYTES
    with pytest.raises(
        UnsupportedError, match=r"takes 8,000,001 bytes as JSON, and a page holds at most 8,000,000"
    ):
        json_of({**contents, "more": "x" * (room + 1)})


def test_hard_attention_and_python_functions_are_refused_by_name() -> None:
    subject = subject_of("O (a & prime(pos))")
    with pytest.raises(UnsupportedError, match="the predicate 'prime' is a Python function"):
        page_text(subject)
    hard = uniform_only()
    assert hard.layers[0].heads[0].weighting is HardWeighting.AVERAGE
    with pytest.raises(UnsupportedError, match=r"head 0\.0 has average-hard attention.*'attemper soften'"):
        page_text(Exported(hard, subject.source))


def test_numbers_that_no_float64_holds_are_refused() -> None:
    network = subject_of().network
    large = replace(network, positions=((0, times(Fraction(10) ** 400)),))
    with pytest.raises(UnsupportedError, match="no float64"):
        page_text(replace(subject_of(), network=large))


def test_query_weights_that_are_too_small_for_their_heads_width_are_refused() -> None:
    network = subject_of().network
    head = replace(network.layers[0].heads[0], query=(((0, Fraction(1, 2**1075)),),))
    small = replace(network, layers=(replace(network.layers[0], heads=(head,)),))
    with pytest.raises(UnsupportedError, match="is no float64 when it is divided by the square root"):
        page_text(replace(subject_of(), network=small))


def test_a_word_over_another_alphabet_is_refused() -> None:
    with pytest.raises(WordError, match="symbol 'c' at position 2"):
        page_text(subject_of(), ("a", "c"))


def test_networks_that_nothing_is_said_of_have_a_page() -> None:
    subject = Exported(all_masks(), Provenance("formula", "true", "last", "unbounded"))
    contents = network_in(page_text(subject))
    assert len(contents["outputs"]) == len(subject.network.outputs)
    assert {head["mask"] for head in contents["layers"][0]["heads"]} == {
        "future-masked",
        "strictly future-masked",
        "past-masked",
        "strictly past-masked",
        "unmasked",
    }


def test_a_page_without_a_network_waits_for_one() -> None:
    assert network_in(document(None)) is None


def test_a_picture_is_data() -> None:
    picture = '<svg xmlns="http://www.w3.org/2000/svg"><text>a</text></svg>'
    text = page_text(subject_of(), picture=picture)
    assert network_in(text)["picture"] == picture
    assert "svg" not in Reader(text).tags


# The command ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = attemper.compile("O a", "ab")
    model.save(tmp_path / "once", certificate=model.certify())
    return tmp_path / "once"


def test_the_command_writes_the_page(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "once.html"
    ran = command("page", folder, "-o", page, "--word", "b a")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"wrote {page}: open it in a browser\n"
    text = page.read_text(encoding="utf-8")
    assert text == page_text(Exported.load(folder), ("b", "a"))
    record = command("page", folder, "-o", page, "--title", "a <b>", "--json").record
    assert network_in(page.read_text(encoding="utf-8"))["title"] == "a <b>"
    assert record == {
        "output": str(page),
        "bytes": page.stat().st_size,
        "digest": Exported.load(folder).digest,
    }


def test_the_command_refuses_bad_places_and_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.html").mkdir()
    (tmp_path / "file").write_text("")
    for output, said in (
        (tmp_path / "taken.html", "is a folder; -o needs a file"),
        (tmp_path / "once.json", "does not end in .html"),
    ):
        ran = command("page", folder, "-o", output)
        assert ran.code == ExitCode.USAGE
        assert said in ran.err
    ran = command("page", folder, "-o", tmp_path / "file" / "x.html")
    assert ran.code == ExitCode.FILE
    ran = command("page", folder, "-o", tmp_path / "x.html", "--word", "abc")
    assert ran.code == ExitCode.WORD
    assert "symbol 'c' at position 3" in ran.err
    assert not (tmp_path / "x.html").exists()
    assert command("page", tmp_path / "nothing", "-o", tmp_path / "x.html").code == ExitCode.FILE


def test_the_command_refuses_a_network_that_is_too_large(tmp_path: Path) -> None:
    subject = subject_of()
    more = tuple(f"more {k}" for k in range(MOST_COORDINATES))
    large = replace(subject.network, coordinates=(*subject.network.coordinates, *more))
    replace(subject, network=large).save(tmp_path / "large")
    ran = command("page", tmp_path / "large", "-o", tmp_path / "large.html")
    assert ran.code == ExitCode.UNSUPPORTED
    assert "the network has 2,005 coordinates, and a page shows at most 2,000" in ran.err
    assert not (tmp_path / "large.html").exists()
