"""What a file for other people's tools says of the network in it, beside the numbers."""

from __future__ import annotations

import json

from attemper.exports.subject import Exported

KERNEL = "numerator-first"
"""The class of attention kernels that every traced export belongs to, as FORMAT.md, section 6, names them."""


def remarks_of(subject: Exported, dtype: str) -> dict[str, str]:
    """What readers need who have the file alone; each value is a text, that of lists and objects JSON.

    `alphabet` has the symbols of the tokens 0, 1, ...; `read_at` and `accepts_empty` say how a verdict is
    read; `names` are those of several outputs; `horizons` are all that the certificate claims, and `horizon`
    is that of the number format `dtype` and this class of kernels: the empty text where nothing is claimed.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> said = remarks_of(Exported(model.network, model.source, model.certify()), "float32")
    >>> said["alphabet"], said["read_at"], said["accepts_empty"], said["kernel"]
    ('["a", "b"]', 'last', 'false', 'numerator-first')
    >>> json.loads(said["horizons"])["float32"]["numerator-first"] == int(said["horizon"])
    True
    """
    network, horizons = subject.network, subject.horizons()
    values: dict[str, object] = {
        "alphabet": list(network.alphabet.symbols),
        "accepts_empty": network.accepts_empty,
        "names": [name for name, _ in network.symbols],
        "horizons": horizons,
    }
    return {
        "format": "attemper-export/1",
        "source": subject.title,
        "source_kind": subject.source.kind,
        "regime": subject.source.regime,
        "digest": subject.digest,
        "read_at": "first" if network.reads_first else "last",
        "puts_out": str(network.measure or ("symbol" if network.symbols else "bit")),
        "dtype": dtype,
        "kernel": KERNEL,
        "horizon": str(horizons.get(dtype, {}).get(KERNEL, "")),
        **{name: json.dumps(value, ensure_ascii=False) for name, value in values.items()},
    }


def indented(text: str) -> str:
    """The text as a block of code, whatever characters are in it."""
    return "\n".join(f"    {line}" for line in text.splitlines())
