"""Judging a network: in memory, compiled, changed or loaded; or on disk, by a process of its own."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from attemper.attention_program.language import defining_program
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.wellformed import require_machine
from attemper.certificates.claims import Claim, RealClaim
from attemper.checker.check import judge
from attemper.checker.limits import MEMORY, SECONDS, ProcessLimits, Request, check_within
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import OptionError, UnsupportedError
from attemper.networks.edited import Edited
from attemper.networks.files import with_weights
from attemper.networks.layers import Layer, Network
from attemper.networks.safetensors import Tensor
from attemper.networks.weights import tensors_of
from attemper.networks.wellformed import complaints
from attemper.workbench import naming
from attemper.workbench.against import Against, check_against, first_known, programs_of, require_symbols
from attemper.workbench.checked import Checked
from attemper.workbench.language import Language
from attemper.workbench.model import Model

if TYPE_CHECKING:
    from attemper.running.attention import Attention
    from attemper.running.dense import DenseTransformer
    from attemper.workbench.naming import LanguageLike

Tensors = Mapping[str, Any]
"""A state dict: names of `networks/weights.py` to tensors of torch or arrays of numpy."""


def check(
    network: str | Path | Model | Network | DenseTransformer | Tensors,
    language: LanguageLike | None = None,
    *,
    like: Model | Network | None = None,
    program: LanguageLike | None = None,
    claims: Sequence[Claim] | None = None,
    explain: bool = False,
    edited: bool = False,
    model: str | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> Checked:
    """Whether weights, as they are, compute a language: PROVED, REFUTED with a word, or UNKNOWN.

    The default claim: for every word w of every length n >= 1 and every position i, the output coordinate at
    i is within 1/4 of 1 if w, i |= formula (if the automaton accepts the first i symbols; if the program's
    output is 1, as `attention_program.machine` runs it) and of 0 otherwise, in real arithmetic. The proof is
    that of `attemper check` (FORMAT.md); no certificate is needed.

    * `network`: a model, a network, or a `DenseTransformer`, whose parameters are read as they are now (its
      hooks are not looked at); or a state dict, with the names and shapes of the parameters of `like`:
      `embed.W_E` [symbol, d_model], `blocks.L.attn.W_Q`, `W_K`, `W_V` [head, d_model, d_head], `W_O` [head,
      d_head, d_model], `blocks.L.mlp.W_in` [d_model, d_mlp], `b_in` [d_mlp], `W_out` [d_mlp, d_model]; of
      a normalised network `blocks.L.ln1.w`, `ln1.b`, `ln2.w`, `ln2.b` [d_model], too.
      Numbers of any float format up to float64 are taken exactly. Or the path of a folder, or of a file that
      `attemper check` judges: this is then done as that command does it, within `seconds` and `memory` (MB),
      for a folder whose weights may have been changed if `edited`, for a file about another `model`. A
      language is read, and a program that the network might run is looked for, in this process, beside these
      limits.
    * `language`: whatever names a language, as for `attemper.language`. A formula and an expression are over
      the network's alphabet; a formula, or a program's steps, are read where the network is read and with its
      verdict on the empty word. Without it, the model's, or that of the certificate in the folder.
      That a network computes an automaton is proved by way of a program that it runs: of a model's, of what
      is read from the weights, or of what the compiler makes of the automaton.
    * `like`: the model or network that a state dict has masks, temperatures and position embeddings from.
    * `program`: what the network is said to run, in place of these.
    * `explain`: the verdict gets the proof, layer by layer, as its `explanation`.
    * `claims`: what is judged (default: all lengths, in real arithmetic); `model.certify().claims` also has
      the horizons of float formats.

    A row of W_O that writes to several coordinates, or with a factor, is the same network in real arithmetic;
    claims about floats then are UNKNOWN, except for factors that are powers of two. UNKNOWN, too, is a
    network in which a head writes more values than its width.

    Raises `OptionError` (a tensor that is missing, has another shape, or a number where the network has none;
    no claims, no language), `AlphabetError`, and what reading the language raises.

    >>> from attemper.workbench.compiling import compile
    >>> model = compile("#<['0'] <= #<['1']")
    >>> str(check(model, "#<['0'] <= #<['1']").status)
    'PROVED'
    >>> module = model.dense()
    >>> module.blocks[1].mlp.b_in[0] += 1
    >>> check(module, model).witness
    ('0',)
    """
    if claims is not None and not claims:
        raise OptionError("claims=() leaves nothing to judge: give at least RealClaim()")
    said = None if program is None else _realisation(program)
    if isinstance(network, str | Path):
        if like is not None:
            raise OptionError("like=MODEL is for a state dict; what lies on disk has its own masks")
        request = Request(str(network), model, edited=edited, explain=explain)
        return Checked(_on_disk(request, ProcessLimits(seconds, memory), language, claims, said))
    if edited or model is not None:
        raise OptionError("edited and model are about what lies on disk: give the path of a folder or a file")
    return Checked(_in_memory(network, language, like, said, tuple(claims or (RealClaim(),)), explain))


def _on_disk(
    request: Request,
    limits: ProcessLimits,
    given: LanguageLike | None,
    claims: Sequence[Claim] | None,
    said: Realisation | None,
) -> Verdict:
    if given is None:
        if claims is not None or said is not None:
            raise OptionError("claims and program are about a language: give it, too")
        return check_within(request, limits)
    against = Against(lambda network: naming.language(given, like=network), claims, said)
    return check_against(request, limits, against)


def _in_memory(
    network: Model | Network | DenseTransformer | Tensors,
    given: LanguageLike | None,
    like: Model | Network | None,
    said: Realisation | None,
    claims: tuple[Claim, ...],
    explain: bool,
) -> Verdict:
    try:
        edited = _as_it_is(network, like)
    except UnsupportedError as error:
        return Verdict((ClaimVerdict(Status.UNKNOWN, str(error)),))
    found = complaints(edited.network)
    if found:
        raise OptionError(f"this is not a well-formed network: {'; '.join(found[:3])}")
    models = [one for one in (network, like, given) if isinstance(one, Model)]
    spoken = _language(next(iter(models), None) if given is None else given, edited.network)
    known = [one.realisation for one in models if one.realisation is not None]
    programs = [said] if said else programs_of(edited.network, spoken.definition, dict.fromkeys(known))
    verdict = first_known(
        judge(edited.network, spoken.definition, claims, runs, rounding=edited.rounding, explained=explain)
        for runs in programs
    )
    subject = Subject(About.NETWORK, "", language=spoken.definition.text(edited.network.alphabet))
    return replace(verdict, subject=subject)


def _language(given: Any, network: Network) -> Language:
    """What the network is judged against. Raises `OptionError` if nobody says it."""
    if given is None:
        raise OptionError("language: this network does not say what it is to compute: give that")
    found = naming.language(given, like=network)
    require_symbols(found, network.alphabet)
    return found


def _realisation(given: LanguageLike) -> Realisation:
    """A program as what a network is said to run. Raises `OptionError`, `UnsupportedError`."""
    found = defining_program(naming.language(given).definition)
    if found is None:
        raise OptionError("program: this is a language, and no attention program")
    return Realisation(require_machine(found))


def _as_it_is(network: Model | Network | DenseTransformer | Tensors, like: Model | Network | None) -> Edited:
    """The network that is to be judged."""
    if isinstance(network, Mapping):
        if like is None:
            raise OptionError("a state dict says nothing of masks and positions: give like=MODEL")
        return _with_tensors(like.network if isinstance(like, Model) else like, network)
    if like is not None:
        raise OptionError("like=MODEL is for a state dict; this network has its own masks and positions")
    if isinstance(network, Model):
        return Edited(network.network, "")
    if isinstance(network, Network):
        return Edited(network, _unwritable(network))
    module = _dense(network)
    attentions = [block.attn for block in module.blocks]
    layers = module.network.layers
    if len(attentions) != len(layers):
        raise OptionError(f"the module has {len(attentions)} blocks, its network {len(layers)} layers")
    _require_own_norms(module)
    seen = tuple(_as_run(*pair) for pair in zip(layers, attentions, strict=True))
    return _with_tensors(replace(module.network, layers=seen), module.state_dict())


def _dense(network: object) -> DenseTransformer:
    """The torch module; nothing but its own class is known to compute what its network says."""
    running = sys.modules.get("attemper.running.dense")
    if running is None or type(network) is not running.DenseTransformer:
        raise OptionError(
            f"network={type(network).__name__} cannot be judged: "
            "give a Model (attemper.load reads a folder), a Network, a DenseTransformer, "
            "or a state dict with like=MODEL"
        )
    return cast("DenseTransformer", network)


def _require_own_norms(module: DenseTransformer) -> None:
    """Raises `OptionError` where the module normalises otherwise than its network says."""
    said = module.cfg.eps
    for number, block in enumerate(module.blocks):
        for name in ("ln1", "ln2"):
            found = getattr(block.get_submodule(name), "eps", None)
            if found != said:
                raise OptionError(f"blocks.{number}.{name} has eps={found}, and the network eps={said}")


def _as_run(layer: Layer, attention: Attention) -> Layer:
    """The layer with the masks and weightings with which the module runs."""
    ways = zip(layer.heads, attention.maskings, attention.weightings, strict=True)
    heads = tuple(replace(head, masking=masking, weighting=way) for head, masking, way in ways)
    return replace(layer, heads=heads)


def _with_tensors(network: Network, tensors: Tensors) -> Edited:
    try:
        return with_weights(network, {name: _tensor(name, value) for name, value in tensors.items()})
    except ValueError as error:
        raise OptionError(f"these are no weights of this network: {str(error)[:300]}") from None


def _tensor(name: str, value: Any) -> Tensor:
    """The numbers of a torch tensor or a numpy array, exactly. Raises ValueError if they are no floats."""
    import numpy as np

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if not value.is_floating_point():
            raise ValueError(f"tensor '{name}' holds {value.dtype}, not floats")
        value = value.detach().cpu().double().numpy()
    numbers = np.asarray(value)
    if numbers.dtype.kind != "f" or numbers.dtype.itemsize > 8:
        raise ValueError(f"tensor '{name}' holds {numbers.dtype}, not floats of at most 64 bits")
    return Tensor(numbers.shape, array("d", numbers.astype(np.float64).tobytes()))


def _unwritable(network: Network) -> str:
    """Why no floats hold the weights; empty if they do."""
    try:
        tensors_of(network)
    except UnsupportedError as error:
        return str(error)
    return ""
