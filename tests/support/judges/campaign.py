"""Campaigns against the checker: many networks, and every claim that it makes of them judged from files.

Kinds: `hand-built` networks with float claims, `mutants` of compiled networks with float claims, and `real`:
files of compiled and hand-built networks with bytes changed, judged in real arithmetic. What the checker says
is taken from the library; whether that is true is not: the files are read, run and compared with the source's
truth by code that imports nothing of the library.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

import attemper
from attemper.certificates.claims import Certificate
from attemper.certificates.files import CERTIFIED
from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.errors import AttemperError
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import PredicateError
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.networks.wellformed import complaints
from tests.support.drawn.hand_built import KINDS, hand_built
from tests.support.mutants.one_change import gentle_mutant, random_network_mutant
from tests.support.oracles import raw_exact, raw_forward, raw_truth
from tests.support.oracles.raw_files import RawNetwork, places_of, raw_network, read_folder
from tests.support.oracles.raw_forward import Batch, Order, Way, all_words, batch_of, covered_ways

QUARTER = 0.25
"""How far an output may be from the truth."""

LONGEST = 2000
"""Longer words are not run."""

Word = tuple[int, ...]


# What the checker claims --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatClaim:
    """All words of up to `horizon` symbols, in a format, for a class of kernels.

    Horizons of at least `LONGEST` are not told apart: longer words are not run.
    """

    format: str
    kernel: str
    horizon: int


def float_claims(network: Network, formula: Formula) -> list[FloatClaim] | None:
    """What the checker proves of floats; None if it does not prove the formula in real arithmetic."""
    analysis = proof_of(network, formula)
    if analysis is None:
        return None
    found = []
    for name, form in FORMATS.items():
        for kernel in Kernel:
            horizon, _ = horizon_of(analysis, form, kernel, LONGEST)
            found.append(FloatClaim(name, str(kernel), horizon))
    return [claim for claim in found if claim.horizon]


def proof_of(network: Network, formula: Formula) -> Analysis | None:
    """What the network computes, if the checker proves the formula for all lengths in real arithmetic."""
    try:
        return prove(network, TemporalLanguage(formula, At.LAST, accepts_empty=False))
    except (UnprovenError, TooLargeError, PredicateError):
        return None


# Files --------------------------------------------------------------------------------------------------


def source_of(formula: Formula) -> list[Any]:
    """The language as a certificate has it, which is what a claim speaks of."""
    language = TemporalLanguage(formula, At.LAST, accepts_empty=False)
    source: list[Any] = CERTIFIED.encode(Certificate("", language, ()))["language"]
    return source


def saved(network: Network, text: str, folder: Path) -> tuple[Network, RawNetwork]:
    """The network as the library reads it back from files, and as it stands there."""
    files.save(network, Provenance("formula", text, "last", "unbounded"), folder)
    return files.load(folder)[0], read_folder(folder)


# Words --------------------------------------------------------------------------------------------------


def adversarial(length: int, symbols: int, rng: random.Random) -> list[Word]:
    """Words that are hard for attention: constant, one symbol alone, ties of counts, blocks, random ones."""
    a, b = rng.sample(range(symbols), 2)
    half, block = length // 2, rng.randint(1, max(1, length // 3))
    more, less = rng.choice(((1, 2), (1, 2), (1, 3), (2, 3), (1, 6), (5, 7), (1, 65)))
    place = rng.randrange(length)
    return [
        (a,) * length,
        (b,) * length,
        (b, *[a] * (length - 1)),
        (*[a] * (length - 1), b),
        (*[b] * place, a, *[b] * (length - 1 - place)),
        tuple((b, a)[k % 2] for k in range(length)),
        tuple((a, b)[k % 2] for k in range(length)),
        (*[a] * half, *[b] * (length - half)),
        (*[b] * (length - half), *[a] * half),
        tuple((a, b)[k // block % 2] for k in range(length)),
        tuple(a if (k + 1) * more // less > k * more // less else b for k in range(length)),
        tuple(rng.randrange(symbols) for _ in range(length)),
        tuple(a if rng.random() < 0.05 else b for _ in range(length)),
        tuple(b if rng.random() < 0.05 else a for _ in range(length)),
    ]


SHORT_WAYS, MIDDLE_WAYS, LONG_WORDS = 8, 3, 2
"""How much each network is run: ways for the short words and for longer ones, runs of the longest."""

SHORT = {2: 5, 3: 4}
"""All words up to this length run, for so many symbols."""

MIDDLE = (6, 7, 10, 16, 17, 33, 64)
LONG = 300


@dataclass(frozen=True)
class Judged:
    """Words with the truth at each position."""

    batch: Batch
    truth: Any
    real: Any

    def up_to(self, length: int) -> Judged | None:
        """Those that are not longer."""
        rows = self.batch.lengths <= length
        if rows.all():
            return self
        if not rows.any():
            return None
        most = int(self.batch.lengths[rows].max())
        batch = Batch(self.batch.tokens[rows][:, :most], self.batch.lengths[rows])
        return Judged(batch, self.truth[rows][:, :most], self.real[rows][:, :most])


def judged(words: Sequence[Word], source: list[Any], alphabet: Sequence[str]) -> Judged:
    """The words as a batch, with the truth."""
    batch = batch_of(words)
    return Judged(batch, raw_truth.truth(source, alphabet, batch), places_of(batch.lengths).real)


# Judging floats -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Falsehood:
    """A claim, and a run that contradicts it."""

    name: str
    claim: str
    way: str
    word: str
    position: int
    value: float
    expected: bool

    def __str__(self) -> str:
        word = self.word if len(self.word) <= 40 else f"{self.word[:40]}... ({len(self.word)} symbols)"
        return (
            f"{self.name}: {self.claim}; {self.way}; {word} at {self.position}: "
            f"{self.value:.6g}, not {int(self.expected)}"
        )


@dataclass
class Tally:
    """What became of the networks of one kind."""

    built: int = 0
    proved: int = 0
    claimed: int = 0
    claims: int = 0
    runs: int = 0
    false: list[Falsehood] = field(default_factory=list)
    wrong: int = 0

    def row(self, name: str) -> str:
        """A line of the table."""
        return (
            f"{name:16s} {self.built:7,} {self.proved:7,} {self.claimed:7,} {self.claims:7,} "
            f"{self.runs:10,} {self.wrong:6,}"
        )


COLUMNS = ("built", "proved", "floats", "claims")
HEADER = f"{'kind':16s} " + " ".join(f"{name:>7s}" for name in COLUMNS) + f" {'words run':>10s} {'false':>6s}"


def judge(
    raw: RawNetwork,
    source: list[Any],
    claims: Sequence[FloatClaim],
    rng: random.Random,
    *,
    name: str,
    tally: Tally,
) -> Falsehood | None:
    """Run a network as its claims allow, and return the first run that contradicts one."""
    symbols = len(raw.alphabet)
    short = judged(list(all_words(symbols, SHORT.get(symbols, 3))), source, raw.alphabet)
    middle = [word for length in MIDDLE for word in rng.sample(adversarial(length, symbols, rng), 2)]
    longer = judged(middle, source, raw.alphabet)
    for claim in claims:
        for words, ways in ((short, SHORT_WAYS), (longer, MIDDLE_WAYS)):
            own = words.up_to(claim.horizon)
            for way in _ways(claim, rng, ways) if own else ():
                assert own is not None
                if found := _contradiction(raw, own, claim, way, name, tally):
                    return found
    far = [claim for claim in claims if claim.horizon > max(MIDDLE)]
    for claim in rng.sample(far, min(len(far), LONG_WORDS)):
        length = _long_length(claim.horizon, rng)
        count = max(1, min(6, 2 * LONG // length))
        words = judged(rng.sample(adversarial(length, symbols, rng), count), source, raw.alphabet)
        for way in _ways(claim, rng, 1):
            cheap = replace(way, order=Order.TORCH) if length > LONG else way
            if found := _contradiction(raw, words, claim, cheap, name, tally):
                return found
    return None


def _long_length(horizon: int, rng: random.Random) -> int:
    """The horizon itself, or one less, where it can be run; else as long as there is time for."""
    if horizon < LONGEST and (horizon <= LONG or rng.random() < 0.3):
        return horizon - rng.randrange(2)
    return min(horizon, LONG) - rng.randrange(2)


def _ways(claim: FloatClaim, rng: random.Random, count: int) -> list[Way]:
    """Some of the ways to run that the claim is about."""
    every = covered_ways(claim.kernel)
    return rng.sample(every, min(count, len(every)))


def _contradiction(
    raw: RawNetwork, words: Judged, claim: FloatClaim, way: Way, name: str, tally: Tally
) -> Falsehood | None:
    output = raw_forward.run(raw, words.batch, raw_forward.FORMATS[claim.format], way)
    tally.runs += len(words.batch.lengths)
    wrong = ~(np.abs(output - words.truth) <= QUARTER) & words.real
    if not wrong.any():
        return None
    row = min(np.flatnonzero(wrong.any(axis=1)), key=lambda k: int(words.batch.lengths[k]))
    place = int(np.flatnonzero(wrong[row])[0])
    return Falsehood(
        name,
        f"{claim.format} {claim.kernel} to {claim.horizon:,}",
        str(way),
        _shown(words.batch.tokens[row][: words.batch.lengths[row]], raw.alphabet),
        place + 1,
        float(output[row, place]),
        bool(words.truth[row, place]),
    )


def _shown(word: Sequence[int], alphabet: Sequence[str]) -> str:
    return "".join(alphabet[int(k)] for k in word)


# Hand-built networks ------------------------------------------------------------------------------------


def judge_hand_built(kind: str, seed: object, tally: Tally, folder: Path) -> Falsehood | None:
    """Build, check and judge one network; the seed and the kind say which."""
    rng = random.Random(f"{kind} {seed}")
    built = hand_built(kind, rng)
    tally.built += 1
    formula = parse(built.formula, built.network.alphabet)
    try:
        network, raw = saved(built.network, built.formula, folder)
    except AttemperError:
        return None
    claims = float_claims(network, formula)
    tally.proved += claims is not None
    if not claims:
        return None
    tally.claimed += 1
    tally.claims += len(claims)
    return judge(raw, source_of(formula), claims, rng, name=f"{kind} {seed}", tally=tally)


def hand_built_campaign(kind: str, count: int, seed: object) -> Tally:
    """So many networks of a kind."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            note(tally, judge_hand_built(kind, f"{seed}.{number}", tally, Path(folder)))
    return tally


def note(tally: Tally, found: Falsehood | None) -> None:
    """Count a falsehood, and keep the first ones."""
    if found:
        tally.wrong += 1
        tally.false += [found][: max(0, 50 - len(tally.false))]


def _until_claimed(count: int, judge_one: Callable[[int, Tally, Path], Falsehood | None]) -> Tally:
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory() as folder:
        while tally.claimed < count and number < 40 * count:
            note(tally, judge_one(number, tally, Path(folder)))
            number += 1
    return tally


# Mutants of compiled networks ---------------------------------------------------------------------------

COMPILED: tuple[tuple[str, str], ...] = (
    ("a S b", "unbounded"),
    ("a S b", "decoder"),
    ("O a", "decoder"),
    ("O a", "temperature"),
    ("a S (b & Y a)", "decoder"),
    ("Y a", "temperature"),
    ("Y a", "decoder"),
    ("X a", "unbounded"),
    ("a U b", "temperature"),
    ("#<[a] <= #<[b]", "unbounded"),
    ("#<[a] <= #<[b]", "decoder"),
    ("#[a] <= #[b]", "temperature"),
    ("#<[a] >= #>[b]", "unbounded"),
    ("#<[a] >= #>[b]", "temperature"),
    ("even(#<[a])", "unbounded"),
    ("even(#<[a])", "decoder"),
    ("prime(#<[a])", "unbounded"),
    ("prime(#[a])", "temperature"),
    ("pos % 3 == 1 & O a", "temperature"),
)
"""Formulas and regimes with every construction of a head."""


@lru_cache(maxsize=64)
def compiled(text: str, regime: str) -> Network:
    """The network that the compiler makes."""
    return attemper.compile(text, "ab", regime=regime, at="last").network  # type: ignore[arg-type]


def judge_mutant(seed: object, tally: Tally, folder: Path) -> Falsehood | None:
    """Change a compiled network in one to three places, check and judge it."""
    rng = random.Random(f"mutant {seed}")
    text, regime = rng.choice(COMPILED)
    network, names = compiled(text, regime), []
    formula = parse(text, network.alphabet)
    tally.built += 1
    for _ in range(rng.choice((1, 1, 2, 3))):
        draw = random_network_mutant if rng.random() < 0.35 else gentle_mutant
        name, changed = draw(network, rng)
        if changed is None or complaints(changed):
            return None
        network = changed
        names.append(name)
    if proof_of(network, formula) is None:
        return None
    tally.proved += 1
    try:
        network, raw = saved(network, text, folder)
    except AttemperError:
        return None
    claims = float_claims(network, formula)
    if not claims:
        return None
    tally.claimed += 1
    tally.claims += len(claims)
    full = f"mutant {seed} ({text}, {regime}: {'; '.join(names)})"
    return judge(raw, source_of(formula), claims, rng, name=full, tally=tally)


def mutant_campaign(count: int, seed: object) -> Tally:
    """Mutants until so many have float claims."""
    return _until_claimed(count, lambda k, tally, folder: judge_mutant(f"{seed}.{k}", tally, folder))


# Files with changed bytes, in real arithmetic -----------------------------------------------------------

REAL_LENGTH = 5
"""All words up to this length are evaluated exactly."""

Structure = dict[str, Any]
Tensors = dict[str, Any]
Change = Callable[[Structure, Tensors, random.Random], str | None]


def digest(structure: Structure, weights: bytes) -> str:
    """The digest of FORMAT.md, section 1."""
    plain = {name: value for name, value in structure.items() if name != "digest"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(hashlib.sha256(text).digest() + hashlib.sha256(weights).digest()).hexdigest()


def _head_place(structure: Structure, rng: random.Random) -> tuple[int, int, Structure] | None:
    places = [
        (layer, number, head)
        for layer, own in enumerate(structure["layers"])
        for number, head in enumerate(own["heads"])
    ]
    return rng.choice(places) if places else None


def change_rows(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """Another number of rows or values than the tensors are made for."""
    found = _head_place(structure, rng)
    if found is None:
        return None
    layer, number, head = found
    name = rng.choice(("rows", "values"))
    head[name] = max(0, head[name] + rng.choice((-2, -1, 1, 2, 3)))
    return f"layer {layer}, head {number}: {head[name]} {name}"


def change_columns(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """Numbers in columns that no row, or no value, uses."""
    found = _head_place(structure, rng)
    if found is None:
        return None
    layer, number, head = found
    width = structure["head_width"]
    pairs = (("W_Q", "W_K", head["rows"]), ("W_V", "W_O", head["values"]))
    left, right, used = rng.choice(pairs)
    if used >= width:
        return None
    column = rng.choice((used, rng.randrange(used, width)))
    coordinates = len(structure["coordinates"])
    for name in (left, right):
        own = tensors[f"blocks.{layer}.attn.{name}"]
        value = rng.choice((1.0, -1.0, 8.0, 2.0**20))
        places = rng.sample(range(coordinates), rng.randint(1, min(3, coordinates)))
        for place in places:
            index = (number, column, place) if name == "W_O" else (number, place, column)
            own[index] = value
    return f"layer {layer}, head {number}: column {column} of {left} and {right}"


def change_number(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """One number of one tensor."""
    name = rng.choice([own for own, numbers in tensors.items() if numbers.size])
    numbers = tensors[name].reshape(-1)
    nonzero = np.flatnonzero(numbers)
    place = int(rng.choice(nonzero)) if len(nonzero) and rng.random() < 0.7 else rng.randrange(numbers.size)
    old = float(numbers[place])
    changes = (2 * old, old / 2, -old, 0.0, old + 1, np.nextafter(old, np.inf), 4 * old, 1024 * old, 1.0)
    numbers[place] = rng.choice(changes)
    return f"{name}[{place}]: {old} to {numbers[place]}"


def change_form(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """A temperature or position embedding scaled, shifted, or replaced."""
    found = _head_place(structure, rng)
    forms = [*structure["positions"]]
    chance = rng.random()
    factor = rng.choice(
        (
            *(["number", text] for text in ("2", "1/2", "3", "-1", "1024")),
            *(["position"], ["length"], ["power", ["length"], -1], ["power", ["position"], -1]),
            ["sum", [["position"], ["number", "1"]]],
        )
    )
    if found is not None and (chance < 0.5 or not forms):
        name, inverse_temperature = found[2]["weighting"]
        found[2]["weighting"] = [name, ["product", [factor, inverse_temperature]]]
        return f"layer {found[0]}, head {found[1]}: colder by {factor}"
    if not forms:
        return None
    own = rng.choice(forms)
    own[1] = [rng.choice(("product", "sum")), [factor, own[1]]]
    return f"position embedding of {own[0]} with {factor}"


def change_head(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """Another mask, another label, or the output of another coordinate."""
    found = _head_place(structure, rng)
    if found is None or rng.random() < 0.1:
        structure["output"] = rng.randrange(len(structure["coordinates"]))
        return f"output at {structure['output']}"
    masks = ("future-masked", "strictly future-masked", "past-masked", "strictly past-masked", "unmasked")
    head = found[2]
    if rng.random() < 0.5:
        head["masking"] = rng.choice(masks)
        return f"layer {found[0]}, head {found[1]}: {head['masking']}"
    labels: tuple[list[Any], ...] = (
        ["uniform"],
        ["select", False, []],
        ["select", True, []],
        ["neighbour", False],
        ["neighbour", True],
        ["sign", []],
        ["lookup", [], []],
    )
    head["construction"] = rng.choice(labels)
    return f"layer {found[0]}, head {found[1]}: said to be {head['construction'][0]}"


def change_exact_identity(structure: Structure, tensors: Tensors, rng: random.Random) -> str | None:
    """A row's query times a power of two, its key divided by the same: true, and to be accepted."""
    found = _head_place(structure, rng)
    if found is None or not found[2]["rows"]:
        return None
    layer, number, head = found
    row, factor = rng.randrange(min(head["rows"], structure["head_width"])), 2.0 ** rng.randint(-6, 6)
    tensors[f"blocks.{layer}.attn.W_Q"][number, :, row] *= factor
    tensors[f"blocks.{layer}.attn.W_K"][number, :, row] /= factor
    return f"layer {layer}, head {number}, row {row}: query times {factor}, key divided by it"


CHANGES: tuple[Change, ...] = (
    change_rows,
    change_columns,
    change_number,
    change_number,
    change_form,
    change_head,
    change_exact_identity,
)


@lru_cache(maxsize=256)
def _compiled_bytes(text: str, regime: str) -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return _bytes_of(compiled(text, regime), text, Path(folder))


def _bytes_of(network: Network, text: str, folder: Path) -> tuple[bytes, bytes]:
    files.save(network, Provenance("formula", text, "last", "unbounded"), folder)
    return (folder / files.STRUCTURE).read_bytes(), (folder / files.WEIGHTS).read_bytes()


def judge_real(seed: object, tally: Tally, folder: Path, length: int = REAL_LENGTH) -> Falsehood | None:
    """Change the bytes of a network's files; what is read and proved of them is judged exactly."""
    rng = random.Random(f"real {seed}")
    if rng.random() < 0.7:
        text, regime = rng.choice(COMPILED)
        base, what = _compiled_bytes(text, regime), f"{text}, {regime}"
    else:
        kind = rng.choice(tuple(KINDS))
        built = hand_built(kind, rng)
        text, what = built.formula, kind
        try:
            base = _bytes_of(built.network, text, folder)
        except AttemperError:
            return None
    tally.built += 1
    structure: Structure = json.loads(base[0])
    tensors = {name: np.array(own) for name, own in raw_network(*base).tensors.items()}
    names = [rng.choice(CHANGES)(structure, tensors, rng) for _ in range(rng.choice((1, 1, 2)))]
    weights = save({name: np.ascontiguousarray(own, dtype="<f8") for name, own in tensors.items()})
    structure["digest"] = digest(structure, weights)
    (folder / files.WEIGHTS).write_bytes(weights)
    text_of_structure = json.dumps(structure, ensure_ascii=False) + "\n"
    (folder / files.STRUCTURE).write_text(text_of_structure, encoding="utf-8")
    network = _read(folder)
    if network is None:
        return None
    formula = parse(text, network.alphabet)
    if proof_of(network, formula) is None:
        return None
    tally.proved += 1
    tally.claimed += 1
    tally.claims += 1
    shown = "; ".join(name for name in names if name) or "unchanged"
    return _judge_exactly(
        read_folder(folder), source_of(formula), length, f"real {seed} ({what}: {shown})", tally
    )


def _read(folder: Path) -> Network | None:
    """The network that the strict reader finds, else the one read of changed weights; None if neither."""
    try:
        return files.load(folder)[0]
    except AttemperError:
        pass
    try:
        return files.load_edited(folder)[0].network
    except AttemperError:
        return None


def _judge_exactly(
    raw: RawNetwork, source: list[Any], length: int, name: str, tally: Tally
) -> Falsehood | None:
    words = list(all_words(len(raw.alphabet), length if len(raw.alphabet) == 2 else length - 2))
    truths = raw_truth.truth(source, raw.alphabet, batch_of(words))
    for word, row in zip(words, truths, strict=True):
        tally.runs += 1
        for place, value in enumerate(raw_exact.outputs(raw, word)):
            if not abs(value - int(row[place])) <= QUARTER:
                expected = bool(row[place])
                shown = _shown(word, raw.alphabet)
                return Falsehood(name, "real", "exact", shown, place + 1, float(value.mid()), expected)
    return None


def real_campaign(count: int, seed: object, length: int = REAL_LENGTH) -> Tally:
    """Changed files until so many are proved, and judged."""
    return _until_claimed(count, lambda k, tally, folder: judge_real(f"{seed}.{k}", tally, folder, length))
