"""A network on disk judged against any language, by a process that reads certificates alone.

What people write is read here. It goes to the checking process as a certificate is written: the language's
tree, and a program that the network might run, of which that process believes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import final

from attemper.attention_program.language import defining_program
from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import Certificate, Claim, RealClaim
from attemper.certificates.files import CERTIFIED, format_of, load_if_any
from attemper.certifying.realisations import realisations
from attemper.checker.limits import LEAST_SECONDS, ProcessLimits, Request, check_within
from attemper.checker.names import UnprovenError
from attemper.checker.proof import registered_by
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import AlphabetError, MalformedFileError, UnsupportedError
from attemper.files import CERTIFICATE
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet, listed
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.reading.networks import program_of
from attemper.registry import FORMATS
from attemper.workbench.language import Language

READING_SECONDS = 10.0
"""So long a program is looked for in the weights."""


@final
@dataclass(frozen=True)
class Against:
    """What a network is judged against.

    `language` is asked for the language once the network is known, whose symbols and end a text may take.
    Without `claims` it is all lengths in real arithmetic, or, of a normalised network, the lengths that its
    certificate claims there. With `runs` no other program is tried.
    """

    language: Callable[[Network], Language]
    claims: Sequence[Claim] | None = None
    runs: Realisation | None = None


def check_against(request: Request, limits: ProcessLimits, against: Against) -> Verdict:
    """The verdict on the network in a folder: the first that is known with a program that it might run.

    Raises what `check_within` and reading the language raise, and `AlphabetError` where that has other
    symbols than the network.
    """
    begun, folder = monotonic(), Path(request.path)
    if not folder.is_dir() or format_of(folder / CERTIFICATE).startswith(tuple(f.prefix for f in FORMATS)):
        return check_within(replace(request, against=request.path), limits)  # which says what is wrong
    subject = Subject(About.NETWORK, request.path)
    try:
        network, digest = _network(folder, edited=request.edited)
    except MalformedFileError as error:
        return malformed(error, subject)
    except UnsupportedError as error:
        return Verdict((ClaimVerdict(Status.UNKNOWN, str(error)),), subject)
    language = against.language(network)
    require_symbols(language, network.alphabet)
    for name in registered_by(language.definition):
        raise UnsupportedError(
            f"'{name}' is a predicate that this process registered, and another one checks: load the "
            "network, and check it here, as in attemper.check(attemper.load(DIR), LANGUAGE)"
        )
    standing = load_if_any(folder)
    if standing is not None and standing.network != digest and not request.edited:
        standing = None
    claims = tuple(against.claims or _claims(network, standing))
    known = [standing.realisation] if standing is not None and standing.realisation is not None else []
    programs = [against.runs] if against.runs else programs_of(network, language.definition, known)
    with TemporaryDirectory() as place:
        file = Path(place, CERTIFICATE)

        def judged(said: Realisation | None) -> Verdict:
            CERTIFIED.save(Certificate.by_way_of(said, digest, language.definition, claims), file)
            left = max(limits.seconds - (monotonic() - begun), LEAST_SECONDS)
            return check_within(replace(request, against=str(file)), replace(limits, seconds=left))

        return first_known(map(judged, programs))


def first_known(verdicts: Iterable[Verdict]) -> Verdict:
    """The first verdict that is not UNKNOWN; else the first, which is by way of the likeliest program."""
    tried: list[Verdict] = []
    for verdict in verdicts:
        if verdict.status is not Status.UNKNOWN:
            return verdict
        tried.append(verdict)
    return tried[0]


def require_symbols(language: Language, alphabet: Alphabet) -> None:
    """Raise `AlphabetError` unless the language is over the network's symbols, in their order."""
    if language.alphabet != alphabet:
        own, other = (listed(one.symbols, "symbols") for one in (alphabet, language.alphabet))
        raise AlphabetError(f"the network reads {{{own}}} in this order, and {language} is over {{{other}}}")


def _network(folder: Path, *, edited: bool) -> tuple[Network, str]:
    if edited:
        changed, digest = files.load_edited(folder)
        return changed.network, digest
    network, source = files.load(folder)
    return network, files.digest_of(network, source)


def _claims(network: Network, standing: Certificate | None) -> Sequence[Claim]:
    """All lengths; of a normalised network, which has no such proof, as many as its certificate claims."""
    if network.normalisation is None or standing is None:
        return (RealClaim(),)
    return [claim for claim in standing.claims if isinstance(claim, RealClaim)] or (RealClaim(),)


def programs_of(
    network: Network, language: Definition, known: Iterable[Realisation] = ()
) -> Iterator[Realisation | None]:
    """The programs by way of which a network might be proved to compute the language, at least one or None.

    An automaton is proved by any program that it runs: one that is known, the one that its weights are read
    to run, or those of the compiler's own networks.
    """
    program = defining_program(language)
    if program is not None:
        yield from (one for one in known if one.program == program)
    elif isinstance(language, Dfa):
        yield from known
        with suppress(UnprovenError):
            yield program_of(network, seconds=READING_SECONDS)
    yield from realisations(network, language)
