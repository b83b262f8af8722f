"""The object a user holds: a language together with the transformer that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final, get_args

from attemper.errors import OptionError, UndecidedError, UnsupportedError, WordError
from attemper.files import parse_json
from attemper.languages.words import Alphabet, Word, show_word
from attemper.missing import has_torch, torch_needed
from attemper.networks.files import digest_of
from attemper.networks.files import save as save_network
from attemper.networks.layers import HardWeighting, Network, parameter_count
from attemper.networks.regime import Regime
from attemper.networks.structure import Provenance
from attemper.workbench.options import DeviceName, EngineName, WeightsName, choice, dtype_name, require
from attemper.workbench.words import word_of, words_of

if TYPE_CHECKING:
    import torch

    from attemper.attention_program.realisation import Realisation
    from attemper.certificates.claims import Certificate
    from attemper.running.arrays import Arrays
    from attemper.running.config import Config
    from attemper.running.dense import DenseTransformer
    from attemper.running.runs import PutOut, Run
    from attemper.running.streaming.stream import Stream
    from attemper.workbench.checked import Checked
    from attemper.workbench.generating import Generated
    from attemper.workbench.language import Language
    from attemper.workbench.options import DTypeLike
    from attemper.workbench.trace import Trace
    from attemper.workbench.words import WordLike

    ExportKind = Literal["hugging-face", "gpt2", "transformer-lens", "onnx", "torch", "circuit"]

SHOWN = 60
"""How many characters of a title or a word a line shows."""

TEXT = "network.rasp"
"""The file in a network's folder that has its program's text: a remark, by which nothing is proved."""


@final
@dataclass(frozen=True, repr=False)
class Model:
    """A language, its softmax network, and ways to run it, at every length n.

    A word is a text, a list of symbols, or a list, array or tensor [position] of the symbols' numbers in the
    alphabet, from 0 on (`docs/networks.md`). What is done to the modules that `dense()` gives out leaves the
    model as it is.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> model.accepts("bab"), model.accepts(["b", "b"]), model.accepts([1, 0])
    (True, False, True)
    """

    network: Network
    language: Language
    """What the network is meant to compute; what it does compute, `certify` and `decompile` find out."""
    regime: Regime = Regime.UNBOUNDED
    """In which it was compiled: a remark."""
    said: Realisation | bytes | None = field(default=None, compare=False, repr=False)
    """What is known of the program that it runs: as the compiler says, or certificate.json, not yet read."""
    _runners: dict[tuple[str, str, str], DenseTransformer] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _arrays: dict[str, Arrays] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        layers = self.network.layers
        heads = sum(len(layer.heads) for layer in layers)
        size = f"{len(layers)} layers, {heads} heads, {parameter_count(self.network)} parameters"
        return f"<Model {shortened(self.title)}: {self.regime}, {size}>"

    def _repr_html_(self) -> str:
        """The model in a notebook: its source, regime, sizes and layers, and how each head attends on a word.

        >>> import attemper
        >>> "<td>unbounded</td>" in attemper.compile("O a", "ab")._repr_html_()
        True
        """
        from attemper.workbench.report.model_html import model_html

        return model_html(self.network, self.title, self.regime, lambda word: self.trace(word).heads)

    def __post_init__(self) -> None:
        if self.network.alphabet != self.language.alphabet:
            raise OptionError("the language has another alphabet than the network")

    @property
    def source(self) -> Provenance:
        """What the model was compiled from, as a text that can be read back."""
        from attemper.workbench.sources import source_of

        return source_of(self.language, self.regime)

    @property
    def title(self) -> str:
        """The formula, the regular expression, or how large the automaton or the program is."""
        return self.language.title

    @cached_property
    def certificate(self) -> Certificate | None:
        """Its own certificate in the folder that it was loaded from, if any: exports say its horizons."""
        if not isinstance(self.said, bytes):
            return None
        from attemper.certificates.files import CERTIFIED

        try:
            found = CERTIFIED.decode(parse_json(self.said))
        except (ValueError, RecursionError):
            return None
        return found if (found.network, found.language) == (self.digest, self.language.definition) else None

    @property
    def realisation(self) -> Realisation | None:
        """The program that the network runs, and where its groups of bits are, if that is known."""
        if not isinstance(self.said, bytes):
            return self.said
        return None if self.certificate is None else self.certificate.realisation

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that words may have."""
        return self.network.alphabet

    @property
    def cfg(self) -> Config:
        """The sizes of the network, under TransformerLens' names; dtype and device are those of `dense()`.

        >>> import attemper
        >>> cfg = attemper.compile("#<['0'] <= #<['1']", "01").cfg
        >>> cfg.n_layers, cfg.n_heads, cfg.d_model, cfg.d_head, cfg.d_vocab, cfg.act_fn
        (2, 1, 11, 4, 2, 'relu')
        """
        return self._runner("soft", "float64").cfg

    def dense(
        self, *, weights: WeightsName = "soft", dtype: DTypeLike = "float64", engine: EngineName = "auto"
    ) -> DenseTransformer:
        """The network as a new `torch.nn.Module`: tokens [batch, position] to bits [batch, position].

        Nothing that is done to the module changes the model or another module. `hard` replaces softmax by
        average-hard attention. `engine` is how attention is computed (`docs/scan.md`): `scan` in time n,
        `fused` in n^2, `matrix` with the n x n matrices that hooks on scores and patterns, nnsight and
        exports see, and `auto` by the size of a batch. Raises `OptionError`.

        >>> import attemper
        >>> import torch
        >>> module = attemper.compile("O a", "ab").dense(dtype=torch.float32)
        >>> module(torch.tensor([[1, 0, 1]])).round().tolist()
        [[0.0, 1.0, 1.0]]
        """
        return self._module(weights, dtype, engine, sealed=False)

    def _runner(self, weights: WeightsName, dtype: DTypeLike, device: DeviceName = "cpu") -> DenseTransformer:
        """The model's own module, which nobody else gets."""
        key = weights, dtype_name(dtype), device
        if key not in self._runners:
            runner = self._module(weights, dtype, "auto", sealed=True)
            from attemper.running.devices import device_named

            self._runners[key] = runner.to(device_named(device, runner.dtype))
        return self._runners[key]

    def _module(
        self, weights: WeightsName, dtype: DTypeLike, engine: EngineName, *, sealed: bool
    ) -> DenseTransformer:
        choice("weights", weights, get_args(WeightsName))
        name = dtype_name(dtype)
        with torch_needed("a network as a module"):
            import torch

            from attemper.running.dense import DenseTransformer

        form = getattr(torch, name)
        return DenseTransformer(self.network, form, _override(weights), engine=engine, sealed=sealed)

    def to_tokens(self, words: Iterable[WordLike]) -> tuple[torch.Tensor, torch.Tensor]:
        """The words as a module reads them: tokens [word, position], padded on the right, and lengths [word].

        A token is the number of a symbol in the alphabet, from 0 on. Raises `WordError`, also for the empty
        word, which has no position, and for no words.

        >>> import attemper
        >>> attemper.compile("O a", "ab").to_tokens(["ab", "b"])
        (tensor([[0, 1],
                [1, 0]]), tensor([2, 1]))
        """
        with torch_needed("a tensor of tokens"):
            from attemper.running.batches import tokens_of

        found = words_of(words, self.alphabet)
        if not found or not all(found):
            raise WordError("a tensor of tokens needs words, and none of them empty")
        return tokens_of(self.alphabet, found)

    def accepts(
        self,
        word: WordLike,
        *,
        weights: WeightsName = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> bool:
        """The verdict on a word.

        Raises `WordError`, `OptionError`, and `UndecidedError` where a bit visibly could not be rounded in
        this format. Far beyond a format's horizon an answer can be wrong without that sign.

        >>> import attemper
        >>> attemper.compile("O a", "ab").accepts("bab", dtype="float32")
        True
        """
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        if run.accepted is None:
            raise UndecidedError(self.undecided_message(run, dtype))
        return run.accepted

    def positions(
        self,
        word: WordLike,
        *,
        weights: WeightsName = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> tuple[bool, ...]:
        """The truth of the formula at the positions 1..n, as entries 0..n-1; raises what `accepts` does.

        >>> import attemper
        >>> attemper.compile("O a", "ab").positions("bab")
        (False, True, True)
        """
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        bits = tuple(bit for bit in run.bits if bit is not None)
        if len(bits) != len(run.bits):
            raise UndecidedError(self.undecided_message(run, dtype))
        return bits

    def run(
        self,
        words: Iterable[WordLike],
        *,
        weights: WeightsName = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
        device: DeviceName = "cpu",
    ) -> Iterator[Run]:
        """Run words of any lengths in batches, in their order. Raises `WordError` and `OptionError` at once.

        `engine` as for `dense`: long words and large batches run by the scan, unless it is said otherwise.
        One word of up to 1,024 symbols runs in float64 without torch, by the engine `numpy`; where torch is
        not installed, so do any number of them. `device` is where torch computes: `cpu`, `cuda`, or
        `mps`, which has no float64.

        >>> import attemper
        >>> for run in attemper.compile("O a", "ab").run(["bab", "b"]):
        ...     print(run)
        <Run bab: accepted, 011, margin 0.25>
        <Run b: rejected, 0, margin 0.25>
        """
        from attemper.running.engines.names import SHORT, Engine, engine_of, what_needs_torch

        choice("weights", weights, get_args(WeightsName))
        named, name, found = engine_of(engine), dtype_name(dtype), words_of(words, self.alphabet)
        if named is Engine.NUMPY and name != "float64":
            raise OptionError(f"engine='numpy' is float64, not {name}: leave one of them out")
        if named is Engine.NUMPY and device != "cpu":
            raise OptionError(f"engine='numpy' runs on the cpu, not on {device}: leave one of them out")
        are_short = name == "float64" and device == "cpu" and all(len(word) <= SHORT for word in found)
        is_quick = named is Engine.AUTO and are_short and (len(found) == 1 or not has_torch())
        if named is Engine.NUMPY or is_quick:
            return self._in_arrays(weights).runs(found)
        with torch_needed(what_needs_torch(named, name)):
            from attemper.running.batches import runs_of

        runner = self._runner(weights, dtype, device)
        return runs_of(runner, found, runner.require_engine(engine))

    def _in_arrays(self, weights: WeightsName) -> Arrays:
        """The model in numpy."""
        from attemper.running.arrays import Arrays

        if weights not in self._arrays:
            self._arrays[weights] = Arrays(self.network, _override(weights))
        return self._arrays[weights]

    def scans(self, length: int, weights: WeightsName, dtype: DTypeLike, engine: EngineName) -> bool:
        """Whether a word of that length runs by the scan, in time linear in its length.

        >>> import attemper
        >>> model = attemper.compile("O a", "ab")
        >>> model.scans(100, "soft", "float64", "auto"), model.scans(10_000, "soft", "float64", "auto")
        (False, True)
        """
        from attemper.running.engines.names import Engine, engine_of

        if engine_of(engine) is Engine.NUMPY:
            return False
        runner = self._runner(weights, dtype)
        return runner.engine_for(length, runner.require_engine(engine)) == "scan"

    def output(
        self,
        word: WordLike,
        *,
        weights: WeightsName = "soft",
        dtype: DTypeLike = "float64",
        engine: EngineName = "auto",
    ) -> tuple[PutOut, ...]:
        """What is put out at each position 1..n: a bit, the name of a symbol, or a number.

        An integer is an int, a fraction a float, a distribution a dict with the probability of each name.
        Raises as `accepts` does.

        >>> import attemper
        >>> attemper.compile("O a", "ab").output("bab")
        (False, True, True)
        """
        (run,) = self.run([word], weights=weights, dtype=dtype, engine=engine)
        if None in run.outputs:
            raise UndecidedError(self.undecided_message(run, dtype))
        return tuple(one for one in run.outputs if one is not None)

    def stream(
        self, *, dtype: DTypeLike = "float64", state: str | Path | Mapping[str, object] | None = None
    ) -> Stream:
        """The network as a reader of symbols one at a time, with a state that does not grow, in float64.

        For networks whose heads look to the past only, and which do not read n: of the regime `decoder`, and
        many of the regime `unbounded` (`docs/streaming.md`). `state` is what a stream of this network has
        saved, as a file or as data. Raises `UnsupportedError`, naming the head that forbids it;
        `MalformedFileError` for a state that is none of this network; `OptionError` for another format.

        >>> import attemper
        >>> stream = attemper.compile("#<['0'] <= #<['1']", "01", regime="decoder").stream()
        >>> [stream.push(symbol) for symbol in "0110"]
        [False, True, True, True]
        """
        from attemper.running.streaming.stream import Stream

        if dtype != "float64" and dtype_name(dtype) != "float64":
            raise OptionError(
                f"dtype={dtype_name(dtype)!r}: a stream is computed in float64 only, leave dtype out",
                options=("dtype",),
            )
        return Stream(self.network, self.digest, state)

    def generate(
        self,
        prompt: WordLike | Mapping[str, int] = (),
        *,
        state: str | Path | Mapping[str, object] | None = None,
        beyond: bool = False,
    ) -> Generated:
        """The tokens that the model writes after a prompt, each of which is read before the next one.

        `prompt` are symbols, or of a counter machine the numbers that its registers begin with; `state` is
        that of a stream, as for `stream`. For models that put out their own symbols, or `none`, at which
        nothing follows (`docs/machines.md`). Where a claim has a horizon it ends there with `UnprovedError`,
        unless it is to go `beyond`. Raises `UnsupportedError`, `WordError` and `OptionError`.

        >>> import attemper
        >>> doubling = attemper.machine("input x n; sub n else halt; add m 2 -> 1")
        >>> list(attemper.compile(doubling, regime="decoder").generate({"n": 1}))
        ['1-', '2+', '10']
        """
        from attemper.languages.machines.reading import MachineLanguage
        from attemper.workbench import generating

        generating.require_tokens(self.network)
        meant = self.language.definition
        tokens = generating.tokens_of(meant, self.alphabet, prompt)
        machine = meant.machine if isinstance(meant, MachineLanguage) else None
        try:
            reader: generating.ReadsTokens = (stream := self.stream(state=state))
            kernel = generating.STREAMED if stream.is_scan else None
        except UnsupportedError:
            if state is not None:
                raise
            reader, kernel = generating.WholeWords(self._run_whole), generating.WHOLE
        horizon = generating.horizon_in(self.certificate, kernel)
        return generating.Generated(reader, tokens, machine, kernel, horizon, beyond=beyond)

    def _run_whole(self, word: Word) -> Run:
        """In float64, and never as a scan: certificates tell that apart."""
        from attemper.running.engines.names import SHORT

        return next(self.run([word], engine="numpy" if len(word) <= SHORT else "fused"))

    def trace(self, word: WordLike) -> Trace:
        """Every subformula, every head's attention (n x n, soft and hard) and every margin on one word.

        In float64. Raises `WordError`.

        >>> import attemper
        >>> trace = attemper.compile("O a", "ab").trace("bab")
        >>> trace.subformulas[-1], trace.heads[0].hard[2]
        (('O a', (False, True, True)), (0.0, 1.0, 0.0))
        """
        from attemper.workbench.programs import names_of
        from attemper.workbench.trace import trace_word

        soft, hard = self._in_arrays("soft"), self._in_arrays("hard")
        (run,) = soft.runs([self.word(word)])
        return trace_word(self.language, run, soft, hard, names_of(self.language))

    def save(self, folder: str | Path, *, certificate: Certificate | None = None) -> None:
        """Write the model to a folder, which is made: `network.json` and `weights.safetensors`.

        The text of a program is written beside them, as `network.rasp`: `trace` takes names from there.

        With a certificate of this model, `certificate.json` is written, too, as `attemper compile` does and
        `attemper check` asks for; without one, a certificate of another network that stands in the folder is
        removed. Raises `OptionError` for a certificate of another network, `MalformedFileError` if writing
        fails.

        >>> import attemper
        >>> from tempfile import TemporaryDirectory
        >>> model = attemper.compile("O a", "ab")
        >>> with TemporaryDirectory() as folder:
        ...     model.save(folder, certificate=model.certify())
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['certificate.json', 'network.json', 'weights.safetensors']
        """
        from attemper.certificates import files as certificates
        from attemper.certificates.claims import Certificate
        from attemper.writing import write_together

        folder, digest = Path(folder), self.digest
        if certificate is not None:
            require("certificate", certificate, Certificate, "give what this model's certify() returns")
        if certificate is not None and certificate.network != digest:
            raise OptionError("the certificate is of another network: give that of this model's certify()")
        save_network(self.network, self.source, folder)
        if self.source.kind == "program" and self.language.written:
            write_together({folder / TEXT: self.language.written.encode("utf-8", errors="replace")})
        else:
            (folder / TEXT).unlink(missing_ok=True)
        if certificate is not None:
            certificates.save(certificate, folder)
            return
        standing = certificates.load_if_any(folder)
        if standing is None or standing.network != digest:
            certificates.discard(folder)

    def export(
        self,
        kind: ExportKind,
        path: str | Path,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        positions: int | None = None,
        certificate: Certificate | None = None,
        uniform_heads: bool = False,
        force: bool = False,
    ) -> None:
        """Write the network for other people's tools: `docs/exports.md` says what each kind is.

        `hugging-face`, `gpt2` and `transformer-lens` write a folder, `onnx`, `torch` and `circuit` a file.
        `dtype` is the format of the exported weights; `positions`, for gpt2 alone, is the greatest length.
        What is written says the horizons of `certificate`, this model's own; without it of the one that the
        model was loaded with. `uniform_heads`, for transformer-lens alone, gives all layers as many heads.
        With `force` a folder may have other files, too.

        Raises `OptionError` (a value, a missing extra, the certificate of another network),
        `UnsupportedError` (this kind cannot hold the network, with the head or coordinate that forbids it)
        and `MalformedFileError` (the path cannot be written).

        >>> import attemper
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     attemper.compile("O a", "ab").export("circuit", Path(folder, "once.json"))
        """
        from attemper.exports.export import export
        from attemper.exports.kinds import FORMATS, ExportTarget
        from attemper.exports.subject import Exported

        certificate = certificate or self.certificate
        if certificate is not None and certificate.network != self.digest:
            raise OptionError("the certificate is of another network: give that of this model's certify()")
        named = ExportTarget(choice("kind", kind, tuple(ExportTarget)))
        subject = Exported(self.network, self.source, certificate)
        export(
            subject,
            named,
            Path(path),
            dtype=choice("dtype", dtype, FORMATS),
            positions=positions,
            uniform_heads=uniform_heads,
        )

    @property
    def digest(self) -> str:
        """What names this network in its certificate."""
        return digest_of(self.network, self.source)

    def certify(self, progress: Callable[[int], None] = lambda _: None) -> Certificate:
        """The strongest certificate that the checker accepts, with the horizon of every float format.

        `progress` is called with 1 after each horizon that was found. Nothing is written: see `save`.
        Raises `UnprovedError` if the checker has no proof.

        >>> import attemper
        >>> attemper.compile("#<['0'] <= #<['1']", "01").certify().claims[0]
        RealClaim()
        """
        from attemper.certifying.certificate import certify
        from attemper.certifying.realisations import realisations

        said = self.realisation or next(realisations(self.network, self.language.definition))
        return certify(self.network, self.digest, self.language.definition, said, progress)

    def check(self, certificate: Certificate, *, ignore_rounding: bool = False) -> Checked:
        """What the independent checker says to a certificate of this model; see `checker/check.py`.

        With `ignore_rounding` floats are taken for real numbers, which is PROVED_UNDER_ASSUMPTIONS at best.

        >>> import attemper
        >>> model = attemper.compile("O a", "ab")
        >>> print(model.check(model.certify()).status)
        PROVED
        """
        from attemper.checker.check import check
        from attemper.checker.verdict import ClaimVerdict, Status, Verdict
        from attemper.workbench.checked import Checked

        if certificate.language != self.language.definition:
            text = "the certificate is about another language than this network's source"
            return Checked(Verdict((ClaimVerdict(Status.MALFORMED, text),)))
        return Checked(check(self.network, self.digest, certificate, ignore_rounding=ignore_rounding))

    def word(self, word: WordLike) -> Word:
        """The word as a tuple of symbols; raises `WordError`.

        >>> import attemper
        >>> attemper.compile("O a", "ab").word([1, 0])
        ('b', 'a')
        """
        return word_of(word, self.alphabet)

    def undecided_message(self, run: Run, dtype: DTypeLike) -> str:
        """What to say when an output is neither near 0 nor near 1."""
        name = dtype_name(dtype)
        shown = f"'{show_word(run.word)[:60]}' (length {len(run.word)})"
        if run.margin < 0:
            what = f"on {shown} a bit inside the network could not be rounded (margin {run.margin:.3f})"
        else:
            place = next(i for i, found in enumerate(run.outputs, start=1) if found is None)
            what = f"the output at position {place} of {shown} is {run.values[place - 1]:.3f}"
        advice = "" if name == "float64" else " Use a wider format, such as float64."
        return f"undecided: {what}. The word is beyond what {name} can compute.{advice}"


def _override(weights: WeightsName) -> HardWeighting | None:
    """What replaces every head's own weighting."""
    return HardWeighting.AVERAGE if weights == "hard" else None


def shortened(text: str) -> str:
    """The text on one line, cut off where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}..."
