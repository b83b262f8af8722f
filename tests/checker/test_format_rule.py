"""A second reader of networks, written from FORMAT.md alone.

It derives each head's gap and mass; where a rule asks which values occur, it runs all words of length 1..4.
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

FUTURE, PAST = "future-masked", "past-masked"
CONTEXT = fmpq_mpoly_ctx.get(("i", "n", "sigma_i", "1/i", "1/n"))
POS, LEN, SIGN, PER_POS, PER_LEN = CONTEXT.gens()
ONE = CONTEXT.constant(1)
Derived = tuple[str, fmpq, arb]  # rule, gap, W
VISIBLE = {FUTURE: POS, PAST: LEN - POS + 1, "unmasked": LEN}


def tidy(form: fmpq_mpoly) -> fmpq_mpoly:
    """The form with i * 1/i, n * 1/n and sigma^2 cancelled."""
    total = 0 * ONE
    for (a, b, s, c, d), factor in form.terms():
        exponents = (max(a - c, 0), max(b - d, 0), s % 2, max(c - a, 0), max(d - b, 0))
        total += CONTEXT.from_dict({exponents: factor})
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


def ratio(above: fmpq_mpoly, below: fmpq_mpoly, mask: str) -> fmpq:
    """A c with above >= c below wherever two positions are visible: the end of section 4."""
    found = []
    for i, d, hidden in [(2, 0, PAST), (1, 1, FUTURE)]:
        if mask != hidden:
            corner = (fmpq(i), fmpq(i + d), fmpq(0), fmpq(1, i), fmpq(1, i + d))
            found.append(above(*corner) / below(*corner))
            rest = tidy((above - found[-1] * below) * POS**9 * LEN**9)
            assert max(rest.degrees()[2:]) <= 0
            assert all(c > 0 for c in rest.compose(POS + i, POS + LEN + (i + d), ONE, ONE, ONE).coeffs())
    return min(found)


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
                for (a, b, s, c, d), factor in self.forms.get(y, ONE).terms():
                    key = (a - c, s, -1 if y in self.forms else y, -1 if x in self.forms else x)
                    total[key] = tidy(total[key] + left * LEN**b * PER_LEN**d * factor)
        return {key: form for key, form in total.items() if len(form) and key[:3] != (0, 0, -1)}

    def derive(self, layer: int, head: int) -> Derived:
        mask, score = self.heads[layer][head]["masking"], self.score(layer, head)
        if not score:
            return "Uniform", fmpq(0), arb(0)
        if any(x != -1 for *_, x in score):
            return self._sign(layer, mask, score)
        forms = {key[:3]: form for key, form in score.items()}
        [power] = [p for p, t, y in forms if (t, y) == (0, -1)]
        key = forms.pop((power, 0, -1))
        g = max(key, -key, key=lambda form: sum(form.coeffs()))
        size, per_size = (POS, PER_POS) if mask == FUTURE else (LEN, PER_LEN)
        gap = ratio(g, {1: ONE, -1: size**2}[power], mask)
        assert gap > 0
        r = arb(-gap).exp()
        if forms.keys() == {(0, 1, -1)}:
            assert mask == (FUTURE if g == power * key else PAST)
            twice = tidy(-2 * SIGN * forms[0, 1, -1])
            own = ratio(twice - (g if power == 1 else 2 * g * PER_POS**2), ONE, mask)
            parity_mass = arb(-ratio(twice, ONE, mask)).exp()
            return "Shift", gap, arb(-own).exp() + (r**2 + parity_mass * r) / (1 - r**2)
        others = VISIBLE[mask] - 1
        behind = -g * (others if power == 1 else 1 - per_size) - others + 1
        return "TieBreak", gap, r / (1 - r) + (self._far_mass(layer, mask, forms, behind) if forms else 0)

    def _far_mass(self, layer: int, mask: str, forms: dict[Any, fmpq_mpoly], behind: fmpq_mpoly) -> arb:
        """e^-far, far = P' + behind. The forms are what multiplies coordinates at j: multiples of P."""
        some = next(iter(forms.values()))
        penalty = max(some, -some, key=lambda form: sum(form.coeffs()))
        b = np.zeros(len(self.tensors["embed.W_E"][0]))
        for (p, t, y), form in forms.items():
            factor: Any = -sum(form.coeffs()) / sum(penalty.coeffs())
            assert (p, t, form) == (0, 0, -factor * penalty)
            b[y] = Fraction(str(factor))
        levels = sorted(set().union(*self.values(layer, b).values()))
        penalty *= fmpq(min(high - low for low, high in itertools.pairwise(levels)), 2**20)
        far = ratio(tidy(penalty + behind), ONE, mask)
        assert far > 0
        return arb(-far).exp()

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
        gap = ratio(kappa * fmpq(u, 2**20), {0: VISIBLE[mask], 1: ONE}[p], mask)
        return "Sign", gap, 1 / (arb(gap).exp() - arb(gap / 3).exp()) if p else 2 * arb(-2 * gap).exp()


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


def derived(folder: Path) -> tuple[str, list[tuple[int, int, Fraction, Fraction]]]:
    """The digest of the folder, and gap and stray mass of each head as the checker derives them."""
    loaded, source = load_network(folder)
    analysis = prove(loaded, attemper.load(folder).language.definition)
    heads = [
        (layer, head, own.rule.gap, mass)
        for layer, fact in enumerate(analysis.layers)
        for head, (own, mass) in enumerate(zip(fact.heads, fact.masses, strict=True))
    ]
    return digest_of(loaded, source), heads


@pytest.mark.sweep(5)
def test_a_second_reading_derives_what_the_checker_does(folder: Path) -> None:
    certificate, network = json.loads((folder / "certificate.json").read_text()), SavedNetwork(folder)
    named, heads = derived(folder)
    assert digest(folder) == certificate["network"] == network.data["digest"] == named
    for layer, head, margin, mass in heads:
        with ctx.workprec(200):
            rule, gap, others = network.derive(layer, head)
            stray_mass = others / (1 + others)
            assert gap == exact(margin)
            assert stray_mass <= exact(mass) <= stray_mass * (1 + exact("1/1000000000"))
        worst = max(1 - attention[layer][head].max(axis=1).min() for _, attention in network.runs)
        assert rule in ("Uniform", "Sign") or worst <= float(stray_mass) + 1e-12


def test_half_a_key_weight_does_not_give_the_margin(folder: Path, tmp_path: Path) -> None:
    certificate, network = json.loads((folder / "certificate.json").read_text()), SavedNetwork(folder)
    layer, head, margin, _ = next(entry for entry in derived(folder)[1] if entry[2] > 0)
    keys = network.tensor(layer, "attn.W_K")[head]
    degrees = {x: form.degrees() for x, form in network.forms.items() if keys[x].any()}
    keys[max(degrees, key=lambda x: (degrees[x][0] + degrees[x][3], degrees[x][2]))] /= 2
    (tmp_path / "network.json").write_bytes((folder / "network.json").read_bytes())
    save_file(network.tensors, tmp_path / "weights.safetensors")
    assert digest(tmp_path) != certificate["network"]
    assert SavedNetwork(tmp_path).derive(layer, head)[1] < exact(margin)
