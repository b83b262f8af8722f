"""What a file for other people's tools says of the network in it, beside the numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from attemper.exports.subject import Exported

KERNEL = "numerator-first"
"""The class of attention kernels that every traced export belongs to, as FORMAT.md, section 6, names them."""


def remarks_of(subject: Exported, dtype: str) -> dict[str, object]:
    """What readers need who have the file alone, as JSON data.

    `alphabet` has the symbols of the tokens 0, 1, ...; `read_at` and `accepts_empty` say how a verdict is
    read; `names` are those of several outputs; `horizons` are all that the certificate claims, and `horizon`
    is that of the number format `dtype` and this class of kernels: None where nothing is claimed.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> said = remarks_of(Exported(model.network, model.source, model.certify()), "float32")
    >>> said["alphabet"], said["read_at"], said["accepts_empty"], said["kernel"]
    (['a', 'b'], 'last', False, 'numerator-first')
    >>> said["horizons"]["float32"]["numerator-first"] == said["horizon"]
    True
    """
    network, horizons = subject.network, subject.horizons()
    return {
        "format": "attemper-export/2",
        "source": subject.title,
        "source_kind": subject.source.kind,
        "regime": subject.source.regime,
        "digest": subject.digest,
        "alphabet": list(network.alphabet.symbols),
        "names": [name for name, _ in network.symbols],
        "read_at": "first" if network.reads_first else "last",
        "accepts_empty": network.accepts_empty,
        "puts_out": str(network.measure or ("symbol" if network.symbols else "bit")),
        "dtype": dtype,
        "kernel": KERNEL,
        "horizon": horizons.get(dtype, {}).get(KERNEL),
        "horizons": horizons,
    }


def as_texts(remarks: Mapping[str, object]) -> dict[str, str]:
    """The remarks where only texts can be kept: what is no text stands there as JSON.

    >>> as_texts({"read_at": "last", "accepts_empty": False, "alphabet": ["a", "b"]})
    {'read_at': 'last', 'accepts_empty': 'false', 'alphabet': '["a", "b"]'}
    """
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in remarks.items()
    }


def indented(text: str) -> str:
    """The text as a block of code, whatever characters are in it."""
    return "\n".join(f"    {line}" for line in text.splitlines())
