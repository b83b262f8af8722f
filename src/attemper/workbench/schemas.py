"""JSON Schemas of the files that attemper writes, made of the annotations that the codec goes by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

from attemper.documents import Document
from attemper.errors import OptionError
from attemper.exact.codec import LARGEST, SHARED, Within, tag_of
from attemper.registry import DOCUMENTS

Schema = dict[str, Any]
"""A JSON Schema, or a part of one."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"

SEALED = {"network", "stream"}
"""Kinds of files with a digest beside their other entries."""


def schema(kind: str) -> Schema:
    """The JSON Schema of a kind of file, one of `registry.DOCUMENTS`.

    It says of a file's shape what the codec refuses; what a file means, `attemper check` judges. A schema has
    no word for 1.0 where 1 is meant, for lowest terms, and for a key that stands twice.

    Raises `OptionError` for another kind.

    >>> schema("depth")["properties"]["format"]
    {'const': 'attemper-depth/2'}
    """
    if kind not in DOCUMENTS:
        raise OptionError(f"'{kind[:80]}' is no kind of file: {', '.join(DOCUMENTS)}")
    module, _, name = DOCUMENTS[kind].partition(":")
    document: Document[Any] = getattr(import_module(module), name)
    found = _Definitions()
    entries = {"format": {"const": document.format}, **found.entries(document.codec.kind)}
    if kind in SEALED:
        entries["digest"] = {"type": "string"}
    return {
        "$schema": DIALECT,
        "title": f"{document.noun} of attemper, as {document.format}",
        **_object(entries),
        "$defs": found.made,
    }


class _Definitions:
    """The schemas of classes and unions, each made once, under names that others refer to."""

    def __init__(self) -> None:
        self.made: dict[str, Schema] = {}

    def entries(self, kind: Any, part: Any = None) -> dict[str, Schema]:
        """The schema of each field of a class; `part` is the kind of parts that are numbered."""
        hints = get_type_hints(kind, include_extras=True)
        return {own.name: self.of(hints[own.name], part) for own in fields(kind)}

    def of(self, kind: Any, part: Any = None) -> Schema:
        """The schema of an annotation: one case for each of `codec._rule`."""
        origin, inner = get_origin(kind), get_args(kind)
        if kind == part:
            return {"type": "integer", "minimum": 0}
        if origin is Annotated and inner[1] == SHARED:
            return {"type": "array", "items": self._union(get_args(inner[0]), inner[0]), "minItems": 1}
        if origin is Annotated:
            return _number(*inner)
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in {Union, UnionType}:
            return self._union(inner, part)
        if origin is frozenset or inner[1:] == (...,):
            return {"type": "array", "items": self.of(inner[0], part)}
        if origin is tuple:
            return _row([self.of(each, part) for each in inner])
        if is_dataclass(kind):
            return self._named(tag_of(kind), part, lambda: self._class(kind, part))
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return {"enum": [str(each) for each in kind]}
        return _number(kind, Within(-LARGEST, LARGEST)) if kind is int else _plain(kind)

    def _class(self, kind: Any, part: Any) -> Schema:
        entries = self.entries(kind, part)
        return next(iter(entries.values())) if len(entries) == 1 else _object(entries)

    def _union(self, kinds: Sequence[Any], part: Any) -> Schema:
        several = [kind for kind in kinds if kind is not NoneType]
        others: list[Schema] = [{"type": "null"}] if len(several) < len(kinds) else []
        if len(several) == 1:
            return {"anyOf": [*others, self.of(several[0], part)]}
        for kind in several:
            others.append(self._tagged(kind, part) if is_dataclass(kind) else self.of(kind, part))
        return {"anyOf": others}

    def _tagged(self, kind: Any, part: Any) -> Schema:
        tag = tag_of(kind)
        return self._named(
            f"one {tag}", part, lambda: _row([{"const": tag}, *self.entries(kind, part).values()])
        )

    def _named(self, name: str, part: Any, make: Callable[[], Schema]) -> Schema:
        """A reference to the definition of that name, which may refer to itself while it is made."""
        own = name if part is None else f"{name} in a formula"
        if own not in self.made:
            self.made[own] = {}
            self.made[own] = make()
        return {"$ref": f"#/$defs/{quote(own)}"}


def _object(entries: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": entries,
        "required": list(entries),
        "additionalProperties": False,
    }


def _row(entries: Sequence[Schema]) -> Schema:
    count = len(entries)
    return {
        "type": "array",
        "prefixItems": list(entries),
        "minItems": count,
        "maxItems": count,
    }


def _number(kind: Any, limits: Within) -> Schema:
    if kind is not int:
        sign = "" if limits.least is not None and limits.least >= 0 else "-?"
        more = f"[0-9]{{0,{limits.digits - 1}}}"
        return {"type": "string", "pattern": f"^{sign}(0|[1-9]{more})(/[1-9]{more})?$"}
    sides = (("minimum", limits.least), ("maximum", limits.most))
    return {"type": "integer", **{name: side for name, side in sides if side is not None}}


def _plain(kind: Any) -> Schema:
    if kind is Fraction:
        return _number(kind, Within())
    if kind is float:
        return {"type": "string", "pattern": r"^(-?0x[01]\.[0-9a-f]+p[+-][0-9]+|-?inf|nan)$"}
    return {"type": {bool: "boolean", str: "string", NoneType: "null"}[kind]}
