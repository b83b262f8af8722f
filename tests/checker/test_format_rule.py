"""A second reader of networks, written from FORMAT.md alone.

It derives each head's leads and mass; where a rule asks which values occur, it runs all words of length 1..4.
The checker is imported only to be compared with.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from fractions import Fraction
from functools import cache, reduce
from math import gcd, isqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from safetensors.numpy import load_file, save_file

import attemper
from attemper.certificates import files
from attemper.checker.proof import prove
from attemper.networks.files import digest_of
from attemper.networks.files import load as load_network

FUTURE, PAST, BOTH = "future-masked", "past-masked", "unmasked"
CONTEXT = fmpq_mpoly_ctx.get(("i", "n", "j", "w", "sigma_i", "1/i", "1/n", "1/j", "1/w"))
POS, LEN, OTHER, WINNER, SIGN, PER_POS, PER_LEN, PER_OTHER, PER_WINNER = CONTEXT.gens()
VARIABLES = POS, LEN, OTHER, WINNER
ONE = CONTEXT.constant(1)
Derived = tuple[str, tuple[fmpq, ...], arb]  # rule, by how much the first of each kind is behind, W
Order = list[tuple[fmpq_mpoly, int]]  # variables, each so much beyond the one before it, or more
VISIBLE = {FUTURE: POS, PAST: LEN - POS + 1, BOTH: LEN}
SEVERAL: dict[str, list[Order]] = {FUTURE: [[(POS, 2), (LEN, 0)]], PAST: [[(POS, 1), (LEN, 1)]]}
SEVERAL[BOTH] = [*SEVERAL[FUTURE], *SEVERAL[PAST]]


def tidy(form: fmpq_mpoly) -> fmpq_mpoly:
    """The form with i * 1/i and so on and sigma^2 cancelled."""
    total = 0 * ONE
    for powers, factor in form.terms():
        left = [a - b for a, b in zip(powers[:4], powers[5:], strict=True)]
        above, below = (tuple(max(sign * power, 0) for power in left) for sign in (1, -1))
        total += CONTEXT.from_dict({(*above, powers[4] % 2, *below): factor})
    return total


def exact(value: Any) -> fmpq:
    return fmpq(*Fraction(value).as_integer_ratio())


def evaluate(tree: Any, i: Any, n: Any, sign: Any) -> Any:
    """A closed form of network.json, at numbers or at POS, LEN, SIGN."""
    match tree:
        case ["number", text]:
            return exact(text) + 0 * i
        case ["position" | "length" | "alternating" as name]:
            return {"position": i, "length": n, "alternating": sign}[name]
        case ["power", ["position" | "length" as base], int(exponent)] if exponent < 0 and isinstance(
            i, fmpq_mpoly
        ):
            return {"position": PER_POS, "length": PER_LEN}[base] ** -exponent
        case ["power", base, exponent]:
            return evaluate(base, i, n, sign) ** exponent
        case ["test", ["remainder", 2, parity], 1, 0, 0]:
            return (1 + (-1) ** parity * sign) * fmpq(1, 2)
        case ["test", ["zero"], a, b, c] if not isinstance(i, fmpq_mpoly):
            return fmpq(int(a * i + b * n + c == 0))
        case ["sum" | "product" as operation, parts]:
            values = [evaluate(part, i, n, sign) for part in parts]
            return reduce(lambda x, y: x + y if operation == "sum" else x * y, values)
    raise ValueError(tree)


def coldness(head: Any) -> Any:
    """The inverse temperature of a softmax head."""
    tag, tree = head["weighting"]
    assert tag == "softmax"
    return tree


@cache
def column(tree: str, n: int) -> Any:
    values = [evaluate(json.loads(tree), fmpq(i), fmpq(n), (-1) ** i) for i in range(1, n + 1)]
    return np.array([float(Fraction(str(value))) for value in values])


def in_distances(forms: list[fmpq_mpoly], order: Order) -> list[dict[tuple[int, ...], fmpq]]:
    """The coefficients in what the variables of an order are beyond the least, denominators cleared."""
    most = [max(0, *own) for own in zip(*(form.degrees()[5:] for form in forms), strict=True)]
    factor = reduce(lambda x, y: x * y, (one**power for one, power in zip(VARIABLES, most, strict=True)))
    forms = [tidy(form * factor) for form in forms]
    assert all(max(form.degrees()[4:]) <= 0 for form in forms)
    at, before = dict.fromkeys(map(str, VARIABLES), 0 * ONE), 0 * ONE
    for variable, gap in order:
        before = before + gap + variable
        at[str(variable)] = before
    places = [*(at[str(variable)] for variable in VARIABLES), *[ONE] * 5]
    return [dict(form.compose(*places).terms()) for form in forms]


def largest(above: fmpq_mpoly, below: fmpq_mpoly, orders: list[Order]) -> fmpq:
    """The largest c such that above - c below has no negative coefficient: section 4."""
    found = []
    for order in orders:
        ours, theirs = in_distances([above, below], order)
        assert all(c > 0 for c in theirs.values())
        assert all(c > 0 for place, c in ours.items() if place not in theirs)
        found += [ours.get(place, fmpq(0)) / c for place, c in theirs.items()]
    return min(found)


def lead(difference: fmpq_mpoly, mask: str, low: fmpq_mpoly, apart: int = 1) -> tuple[fmpq, fmpq]:
    """start and step of the lemma of heads that choose."""
    high = OTHER if low == WINNER else WINNER
    left, right = [(low, 1), (high, apart)], [(low, 0), (high, apart)]
    orders: dict[str, list[Order]] = {
        FUTURE: [[*left, (POS, 0), (LEN, 0)]],
        PAST: [[(POS, 1), *right, (LEN, 0)]],
    }
    orders[BOTH] = [*orders[FUTURE], *orders[PAST], [(low, 1), (POS, 1), (high, 1), (LEN, 0)]]
    start = largest(difference, ONE, orders[mask])
    step = largest(difference - start, high - low - apart, orders[mask])
    assert step > 0
    return start, step


def weight(own: tuple[fmpq, fmpq], every: int = 1) -> arb:
    """What those behind by that weigh together, of the winner."""
    start, step = own
    return arb(-start).exp() / (1 - arb(-every * step).exp())


class SavedNetwork:
    """A network's folder, with its residual streams and attention on short words."""

    def __init__(self, folder: Path) -> None:
        self.data = json.loads((folder / "network.json").read_text())
        self.tensors = load_file(folder / "weights.safetensors")
        self.heads = [layer["heads"] for layer in self.data["layers"]]
        self.root = isqrt(self.data["head_width"])
        assert self.root**2 == self.data["head_width"]
        forms = {x: tree for x, tree in self.data["positions"] if '"zero"' not in json.dumps(tree)}
        self.forms = {x: tidy(evaluate(tree, POS, LEN, SIGN)) for x, tree in forms.items()}
        for name, tensor in self.tensors.items():
            assert not name.endswith(("W_E", "W_O", "W_out")) or not tensor[..., [*self.forms]].any()
        words = [itertools.product(range(len(self.data["alphabet"])), repeat=n) for n in range(1, 5)]
        self.runs = [self._run(word) for word in itertools.chain(*words)]

    def tensor(self, layer: int, name: str) -> Any:
        return self.tensors[f"blocks.{layer}.{name}"]

    def _run(self, word: tuple[int, ...]) -> tuple[list[Any], list[list[Any]]]:
        n, x = len(word), self.tensors["embed.W_E"][list(word)]
        for coordinate, tree in self.data["positions"]:
            x[:, coordinate] += column(json.dumps(tree), n)
        states = [x]
        attention: list[list[Any]] = []
        for layer, heads in enumerate(self.heads):
            q, k, v, o = (self.tensor(layer, f"attn.W_{which}") for which in "QKVO")
            attention.append([])
            for h, head in enumerate(heads):
                scale = column(json.dumps(coldness(head)), n)[:, None]
                scores = (x @ q[h]) @ (x @ k[h]).T / self.root * scale
                hidden = {FUTURE: np.triu(scores + np.inf, 1), PAST: np.tril(scores + np.inf, -1)}
                scores -= hidden.get(head["masking"], 0)
                shares = np.exp(scores - scores.max(axis=1, keepdims=True))
                attention[-1].append(shares / shares.sum(axis=1, keepdims=True))
            x = x + sum(shares @ x @ v[h] @ o[h] for h, shares in enumerate(attention[-1]))
            hidden_units = x @ self.tensor(layer, "mlp.W_in") + self.tensor(layer, "mlp.b_in")
            x = x + np.maximum(hidden_units, 0) @ self.tensor(layer, "mlp.W_out")
            states.append(x)
        return states, attention

    def values(self, layer: int, weights: Any) -> dict[tuple[int, int], set[int]]:
        """By i and n, 2^20 times the values of a linear form of the coordinates before the layer."""
        found = defaultdict(set)
        for states, _ in self.runs:
            exactly = states[layer] @ weights * 2**20
            assert np.abs(exactly - exactly.round()).max() < 1e-3
            for i, value in enumerate(exactly.round(), start=1):
                found[i, len(exactly)].add(int(value))
        return found

    def score(self, layer: int, head: int) -> dict[tuple[int, int, int, int], fmpq_mpoly]:
        """What multiplies j^p sigma_j^t (coordinate y at j), by (p, t, y, coordinate at i); -1: none."""
        q, k = (self.tensor(layer, f"attn.W_{which}")[head] for which in "QK")
        scale = evaluate(coldness(self.heads[layer][head]), POS, LEN, SIGN) / fmpq(self.root)
        total: dict[Any, fmpq_mpoly] = defaultdict(lambda: 0 * ONE)
        for row, x, y in itertools.product(range(q.shape[1]), range(len(q)), range(len(k))):
            if q[x, row] and k[y, row]:
                left = scale * self.forms.get(x, ONE) * exact(q[x, row]) * exact(k[y, row])
                for (a, b, _, _, s, c, d, _, _), factor in self.forms.get(y, ONE).terms():
                    key = (a - c, s, -1 if y in self.forms else y, -1 if x in self.forms else x)
                    total[key] = tidy(total[key] + left * LEN**b * PER_LEN**d * factor)
        return {key: form for key, form in total.items() if len(form) and key[:3] != (0, 0, -1)}

    def derive(self, layer: int, head: int) -> Derived:
        mask, score = self.heads[layer][head]["masking"], self.score(layer, head)
        if not score:
            return "Uniform", (), arb(0)
        if any(x != -1 for *_, x in score):
            return self._sign(layer, mask, score)
        forms = {key[:3]: form for key, form in score.items()}
        [power] = [p for p, t, y in forms if (t, y) == (0, -1)]
        factor = forms.pop((power, 0, -1))
        rises = self._at_shortest(factor, mask) * power > 0
        tie = factor * {1: WINNER - OTHER, -1: PER_WINNER - PER_OTHER}[power]
        farther, nearer = (OTHER, WINNER) if rises else (WINNER, OTHER)
        if forms.keys() == {(0, 1, -1)}:
            assert mask == (FUTURE if rises else PAST)
            apart = tidy(-2 * SIGN * forms[0, 1, -1])  # whichever parity i has
            behind, worse = lead(tie, mask, farther, 2), lead(apart + tie, mask, farther)
            # In j's place stands i, one step from w.
            at_i = tidy((apart + tie).compose(POS, LEN, POS, *CONTEXT.gens()[3:7], PER_POS, PER_WINNER))
            beside = largest(*self._beside(at_i, mask))
            assert behind[0] > 0
            mass = weight(behind, 2) + weight(worse, 2) + arb(-beside).exp()
            return "Neighbour", (behind[0], worse[0], beside), mass
        behind = lead(tie, mask, farther)
        assert behind[0] > 0
        levels = self._levels(layer, mask, forms)
        ahead = [lead(better - worse + tie, mask, nearer) for better, worse in itertools.pairwise(levels)]
        if not ahead:
            return "Select", (behind[0],), weight(behind)
        start, step = (min(parts) for parts in zip(*ahead, strict=True))
        assert start > 0
        return "Select", (behind[0], start), weight(behind) + weight((start, step))

    @staticmethod
    def _at_shortest(form: fmpq_mpoly, mask: str) -> fmpq:
        """What a form is in the shortest word in which two positions are visible."""
        i, n = fmpq(1 if mask == PAST else 2), fmpq(2)
        nothing = [fmpq(0)] * 2
        return form(i, n, *nothing, fmpq(0), 1 / i, 1 / n, *nothing)

    @staticmethod
    def _beside(form: fmpq_mpoly, mask: str) -> tuple[fmpq_mpoly, fmpq_mpoly, list[Order]]:
        """A form about i and w, one step apart, as one of i, and where it is looked at."""
        w = POS - 1 if mask == FUTURE else POS + 1
        most = max(form.degrees()[8], 0)
        cleared = tidy(form * WINNER**most).compose(POS, LEN, OTHER, w, *CONTEXT.gens()[4:])
        return cleared, w**most, SEVERAL[mask]

    def _levels(self, layer: int, mask: str, forms: dict[Any, fmpq_mpoly]) -> list[fmpq_mpoly]:
        """What the forms, which multiply coordinates at j, add up to, the greatest first."""
        found: list[fmpq_mpoly] = []
        coordinates = [y for _, _, y in forms]
        assert all((p, t) == (0, 0) for p, t, _ in forms)
        exactly = {tuple(map(float, row)) for states, _ in self.runs for row in states[layer][:, coordinates]}
        for values in {tuple(round(2**20 * value) for value in row) for row in exactly}:
            level = 0 * ONE
            for form, value in zip(forms.values(), values, strict=True):
                level += form * fmpq(value, 2**20)
            found += [level] if level not in found else []
        return sorted(found, key=lambda form: self._at_shortest(form, mask), reverse=True)

    def _sign(self, layer: int, mask: str, score: dict[tuple[int, int, int, int], fmpq_mpoly]) -> Derived:
        [((p, parity, y, mean), kappa)] = score.items()
        assert (parity, y) == (1, -1)
        outs = [self.tensor(before, "attn.W_O") for before in range(layer)]
        [(before, h)] = [(k, h) for k, o in enumerate(outs) for h in range(len(o)) if o[h, :, mean].any()]
        assert (self.heads[before][h]["masking"], self.derive(before, h)[0]) == (mask, "Uniform")
        values = self.values(before, self.tensor(before, "attn.W_V")[h] @ outs[before][h, :, mean])
        u = gcd(*set().union(*values.values()))
        for (i, n), found in values.items():
            assert all(x // u % 2 == (i == (n if mask == PAST else 1)) for x in found)
        gap = largest(kappa * fmpq(u, 2**20), {0: VISIBLE[mask], 1: ONE}[p], SEVERAL[mask])
        if p:
            return "Sign", (gap,), 1 / (arb(gap).exp() - arb(gap / 3).exp())
        return "Sign", (2 * gap, 2 * gap), 2 * arb(-2 * gap).exp()


def digest(folder: Path) -> str:
    entries = json.loads((folder / "network.json").read_text()).items()
    structure = {key: entry for key, entry in entries if key != "digest"}
    plain = json.dumps(structure, sort_keys=True, separators=(",", ":")).encode()
    parts = [plain, (folder / "weights.safetensors").read_bytes()]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


CASES = """
a S b | unbounded | last; a S b | decoder | last; a U b | temperature | first; Y a | temperature | last
Y a | decoder | last; X a | unbounded | first; O (a & X b) | unbounded | last; H a | decoder | last
(a S b) S (a & !Y a) | temperature | last; #<[a] >= #<[b] | unbounded | last
O (#<[a] = #<[b]) | temperature | last; #>[a] < #>[b] | unbounded | first"""


@pytest.fixture(scope="module", params=CASES.strip().replace("\n", "; ").split("; "))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    formula, regime, at = request.param.split(" | ")
    folder = tmp_path_factory.mktemp("saved") / "network"
    attemper.compile(formula, "ab", at=at, regime=regime).save(folder)
    files.save(attemper.load(folder).certify(), folder)
    return folder


Said = tuple[int, int, tuple[Fraction, ...], Fraction]


def derived(folder: Path) -> tuple[str, list[Said]]:
    """The digest of the folder; of each head by how much others are behind, and its stray mass."""
    loaded, source = load_network(folder)
    analysis = prove(loaded, attemper.load(folder).language.definition)
    heads: list[Said] = []
    for layer, fact in enumerate(analysis.layers):
        for head, (own, mass) in enumerate(zip(fact.heads, fact.masses, strict=True)):
            tails = {(*rule.behind, *rule.ahead) for rule in own.rules}
            assert len(tails) == 1
            heads.append((layer, head, tuple(tail.start for tail in tails.pop()), mass))
    return digest_of(loaded, source), heads


@pytest.mark.sweep(5)
def test_a_second_reading_derives_what_the_checker_does(folder: Path) -> None:
    certificate, network = json.loads((folder / "certificate.json").read_text()), SavedNetwork(folder)
    named, heads = derived(folder)
    assert digest(folder) == certificate["network"] == network.data["digest"] == named
    for layer, head, starts, mass in heads:
        with ctx.workprec(200):
            rule, own, others = network.derive(layer, head)
            stray_mass = others / (1 + others)
            assert own == tuple(map(exact, starts))
            assert stray_mass <= exact(mass) <= stray_mass * (1 + exact("1/1000000000"))
        worst = max(1 - attention[layer][head].max(axis=1).min() for _, attention in network.runs)
        assert rule in ("Uniform", "Sign") or worst <= float(stray_mass) + 1e-12


def test_half_a_key_weight_does_not_give_the_margin(folder: Path, tmp_path: Path) -> None:
    certificate, network = json.loads((folder / "certificate.json").read_text()), SavedNetwork(folder)
    layer, head, starts, _ = next(entry for entry in derived(folder)[1] if entry[2])
    keys = network.tensor(layer, "attn.W_K")[head]
    degrees = {x: form.degrees() for x, form in network.forms.items() if keys[x].any()}
    keys[max(degrees, key=lambda x: (degrees[x][0] + degrees[x][5], degrees[x][4]))] /= 2
    (tmp_path / "network.json").write_bytes((folder / "network.json").read_bytes())
    save_file(network.tensors, tmp_path / "weights.safetensors")
    assert digest(tmp_path) != certificate["network"]
    own = SavedNetwork(tmp_path).derive(layer, head)[1]
    assert any(half < exact(start) for half, start in zip(own, starts, strict=True))
