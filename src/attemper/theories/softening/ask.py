"""Softening somebody's average-hard network, and what the independent checker says to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from attemper.checker.report import record_of
from attemper.checker.verdict import Status, Verdict
from attemper.errors import ExitCode, OptionError
from attemper.files import CERTIFICATE
from attemper.html_tables import Tabled
from attemper.missing import torch_needed
from attemper.modules import ModuleError, blaming, imported
from attemper.networks.files import bare_digest, digest_of
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.networks.typed import Amount
from attemper.networks.wellformed import require_wellformed
from attemper.theories.softening.certificate import APPROXIMATION, Approximation
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.enumeration import MOST_WORDS
from attemper.theories.softening.lemmas.compared import LemmaTable, lemma_tables
from attemper.theories.softening.pieces import Knot, Pieces, least_pieces
from attemper.theories.softening.report import (
    SofteningReport,
    number_parts,
    softening_report,
    verdict_lines,
)
from attemper.theories.softening.search.soften import Softening, SofteningRequest, soften_network
from attemper.theories.softening.texts import gap_of, magnitude_of
from attemper.workbench.cli.console import text_of
from attemper.workbench.limits import limits_among
from attemper.workbench.model import Model
from attemper.workbench.options import dtype_name

if TYPE_CHECKING:
    from attemper.running.dense import DenseTransformer
    from attemper.workbench.options import DTypeLike

SOFTENED = "softened"
"""What the source of a softened network has in place of a regime."""


@final
@dataclass(frozen=True, repr=False)
class Softened(Tabled):
    """A softmax network with the weights of a hard one, its certificate and the checker's verdict.

    It prints as the lines of `attemper soften`: the claims, and, if they are proved, how cold the heads of
    the `original` network now are and how cold they had to be.
    """

    original: Network
    softening: Softening
    source: Provenance
    certificate: Approximation
    verdict: Verdict

    @property
    def status(self) -> Status:
        """What the checker says."""
        return self.verdict.status

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return self.verdict.exit_code

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a softening can be refuted or UNKNOWN, so it is neither true nor false: see its status"
        )

    @property
    def is_proved(self) -> bool:
        """Whether the claims are proved, if only under assumptions: else nothing is worth writing."""
        return self.status in {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}

    @cached_property
    def numbers(self) -> SofteningReport | None:
        """Temperatures and budgets; None where nothing is proved."""
        return softening_report(self.softening, self.original) if self.is_proved else None

    @cached_property
    def lemmas(self) -> tuple[LemmaTable, ...]:
        """X, gaps and errors of each layer by the lemmas of Theorem 26 as published, by ours, and measured.

        All words of one length are run, in balls. Raises `UnsupportedError` where these are too many.
        """
        return lemma_tables(self.softening)

    @property
    def record(self) -> dict[str, object]:
        """The verdict and the numbers, as JSON data."""
        return {**record_of(self.verdict), **(self.numbers.as_record() if self.numbers else {})}

    def __str__(self) -> str:
        parts = number_parts(self.numbers) if self.numbers else ()
        return text_of([*verdict_lines(self.verdict), *parts])

    @property
    def network(self) -> Network:
        """The softmax network."""
        return self.softening.soft

    @property
    def hard(self) -> Network:
        """The average-hard network that it is close to."""
        return self.softening.hard

    def __repr__(self) -> str:
        return f"<Softened: {self.status}, {self.verdict.claims[0].text}>"

    def save(self, folder: str | Path) -> None:
        """Write the network and its certificate, for `attemper check`.

        Raises `MalformedFileError` if that fails, and `UnsupportedError` for weights that are not float64.
        """
        save_network(self.network, self.source, Path(folder))
        APPROXIMATION.save(self.certificate, Path(folder) / CERTIFICATE)


def soften(
    network: Network | Model | str,
    *,
    epsilon: Fraction | str | float,
    gaps: Mapping[str, str] | None = None,
    magnitudes: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    first: int = 1,
    up_to: int | None = None,
    rounding: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Softened:
    """Make a softmax network of an average-hard one, with a temperature that is proved to be low enough.

    For all words of the lengths n that the certificate names, at every position, every coordinate that is put
    out is within epsilon of the hard network's, in real arithmetic; the weights are the same. Each head must
    be uniform (its score does not depend on j) or tieless (one visible position has the greatest score, or
    several whose values are the same).
    (Yang, Strobl, Chiang, Angluin, Theorem 26; `docs/soften.md` has the budget.) That a head is tieless is

    * *by rule* proved for all n, where its scores fit a rule of `certificates/FORMAT.md`, sections 5 and 10;
    * *given* by you in `gaps`: {"0.1": "1/2 n^-1"} says that in layer 0, head 1, every visible score but the
      greatest is at least n^-1 / 2 below it. That is checked for all words up to a length, and an assumption
      beyond; `magnitudes`, {"0": "3 n"}, bound the sizes of what a layer reads in the same way;
    * *tried* otherwise, word by word: then the claim ends with the greatest length that was tried.

    * `network`: one from `hard_network`, a model or network with softmax heads, which are read at temperature
      0, or what the command line takes, `"DIR"` or `"MODULE:OBJECT"`.
    * `limits`: {"words": N}, how many words may be tried in all (2^20); `up_to`: the greatest length of any.
    * `first`: the least length that is claimed where words are tried.
    * `rounding`: add a layer that rounds what is put out to 0 or 1; the claim's epsilon then is 0.

    Raises `UnsupportedError` for a tie, with the word and both positions, and for heads that break ties by
    themselves; `OptionError`; `UnprovedError` where no temperature is seen to be low enough.

    >>> from attemper.networks.typed import HeadOf, LayerOf, hard_network
    >>> last_a = HeadOf("<=", {"seen": {"a": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])
    >>> network = hard_network(
    ...     "ab",
    ...     embedding={"a": {"a": 1}},
    ...     positions={"one": 1, "place": ["product", [["position"], ["power", ["length"], -1]]]},
    ...     layers=[LayerOf([last_a])],
    ...     output="seen",
    ... )
    >>> found = soften(network, epsilon="1/100")
    >>> found.status, found.certificate.last
    (<Status.PROVED: 'PROVED'>, None)
    """
    original = network_of(network)
    asked = SofteningRequest(
        epsilon=_share(epsilon),
        first=first,
        up_to=up_to,
        gaps=dict(gap_of(*pair) for pair in (gaps or {}).items()),
        magnitudes=dict(magnitude_of(*pair) for pair in (magnitudes or {}).items()),
        words=limits_among(limits, {"words": MOST_WORDS})["words"],
        rounded=rounding,
        report=report,
    )
    found = soften_network(original, asked)
    hard = bare_digest(found.hard)
    source = Provenance("hard", hard, "first" if found.soft.reads_first else "last", SOFTENED)
    digest = digest_of(found.soft, source)
    certificate = Approximation(digest, hard, found.epsilon, found.first, found.last, found.evidence)
    report("checking")
    return Softened(
        original, found, source, certificate, check_approximation(found.soft, digest, certificate)
    )


def load_softened(folder: str | Path, dtype: DTypeLike = "float64") -> DenseTransformer:
    """The softmax network in a folder that `attemper soften` wrote, as a `torch.nn.Module`.

    It maps tokens [batch, position] to what is put out [batch, position], as those of `Model.dense` do.
    Raises `MalformedFileError`, and `OptionError` for another `dtype` than a model runs in.

    >>> from tempfile import TemporaryDirectory
    >>> import torch
    >>> from attemper.workbench.compiling import compile
    >>> with TemporaryDirectory() as folder:
    ...     soften(compile("O a", "ab"), epsilon="1/100").save(folder)
    ...     load_softened(folder)(torch.tensor([[1, 0, 1]])).round().tolist()
    [[0.0, 1.0, 1.0]]
    """
    with torch_needed("a network as a module"):
        import torch

        from attemper.running.dense import DenseTransformer

    return DenseTransformer(load_network(Path(folder))[0], getattr(torch, dtype_name(dtype)))


def pieces(table: Mapping[Any, Amount]) -> Pieces:
    """The least affine pieces of a continuous function f with f(x) = y for each x: y of a table, exactly.

    A number is an int, a fraction, a text such as "1/3", or the binary number that a float is. Lemma 27 of
    Yang, Strobl, Chiang and Angluin, *Simulating Hard Attention Using Soft Attention*, counts at least 2^r
    pieces of a function that rounds p bits to r < p; there are 2^(r+1) - 1 (ours), which W = 2^(r+1) - 2
    hidden units attain.

    Raises `OptionError` for fewer than two points, what is no number, and an x that stands there twice.

    >>> p, r = 4, 2
    >>> rounding = {Fraction(x, 2**p): Fraction(x >> (p - r), 2**r) for x in range(2**p)}
    >>> found = pieces(rounding)
    >>> found.count, found.least_width(), len(found.units), found.least_width(hidden_layers=2)
    (7, 6, 6, 2)
    """
    points = sorted(Knot(_number(x), _number(y)) for x, y in table.items())
    if len(points) < 2 or any(one.x == other.x for one, other in pairwise(points)):
        raise OptionError("table: at least two points are needed, each with an x of its own")
    return least_pieces(points)


def network_of(network: Network | Model | str) -> Network:
    """The network that is meant. Raises `OptionError`, `ModuleError` and what loading a folder raises."""
    match network:
        case Network():
            return require_wellformed(network)
        case Model():
            return network.network
        case str() if ":" not in network or Path(network).is_dir():
            return load_network(Path(network))[0]
        case str():
            found = imported(network)
            if callable(found) and not isinstance(found, type):
                with blaming(network, wholly=True):
                    found = found()
            if isinstance(found, Model | Network):
                return network_of(found)
            raise ModuleError(
                f"'{network}' is of the type {type(found).__name__}, and no network: attemper.hard_network "
                "makes one"
            )
        case _:
            raise OptionError(
                f"network={type(network).__name__} is no network: attemper.hard_network makes one"
            )


def _share(epsilon: Fraction | str | float) -> Fraction:
    try:
        found = Fraction(epsilon)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError):
        found = Fraction(0)
    if found <= 0:
        raise OptionError("epsilon must be a number above 0, for example 1/100")
    return found


def _number(value: Amount) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise OptionError(f"table: {value!r} is no number") from None
