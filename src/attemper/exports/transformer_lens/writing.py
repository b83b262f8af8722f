"""A folder that `attemper.exports.transformer_lens.load` reads: the network's own, and a number format."""

from __future__ import annotations

import json
from pathlib import Path

from attemper.errors import MalformedFileError, OptionError
from attemper.exports.kinds import FORMATS
from attemper.exports.subject import Exported
from attemper.files import parse_json, read_bytes
from attemper.writing import write_together

MARK = "transformer-lens.json"
FORMAT = "attemper-transformer-lens/1"


def write_transformer_lens(
    subject: Exported, folder: Path, dtype: str, *, uniform_heads: bool = False
) -> None:
    """Write the network's folder, and in `transformer-lens.json` how it is to be loaded.

    No library is needed for that. Weights stay float64 in the file, as the network's digest says, and are
    rounded when they are loaded. Raises `OptionError` for another format, and `MalformedFileError` if writing
    fails.
    """
    if dtype not in FORMATS:
        raise OptionError(f"dtype={dtype!r} is none of {', '.join(FORMATS)}", options=("dtype",))
    subject.save(folder)
    entry = {"format": FORMAT, "dtype": dtype} | ({"uniform_heads": True} if uniform_heads else {})
    mark = json.dumps(entry) + "\n"
    write_together({folder / MARK: mark.encode()})


def settings_in(folder: Path) -> tuple[str, bool]:
    """The number format that an exported folder names, and whether its layers get as many heads each.

    Of any other network's folder float64, and no.

    Raises `MalformedFileError` for a file of another shape.
    """
    if not (folder / MARK).exists():
        return FORMATS[0], False
    try:
        entry = parse_json(read_bytes(folder / MARK, "export the network again"))
    except (ValueError, RecursionError):
        entry = None
    match entry:
        case {"format": format_name, "dtype": str(dtype), **more} if (
            format_name == FORMAT and dtype in FORMATS
        ):
            return dtype, more.get("uniform_heads") is True
        case _:
            raise MalformedFileError(
                f"'{folder / MARK}' does not say a number format of {FORMAT}: export the network again"
            )
