"""The page of the gallery that walks through a depth reduction, with a picture for each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from attemper.exports.pictures.rows import Panel, panels_svg
from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.lemma.pictures import every_layer
from attemper.theories.refutation.lemma.reducing import OneLayerLess, all_removed, attends
from attemper.theories.refutation.lemma.transformers import CTransformer, own_layer

TITLE = "Hahn's depth reduction: two layers are taken away"

MODEL = RandomTables(12, (1, 1), seed=172)
"""What `attemper lemma --reduce --length 12 --seed 172` takes apart, and draws with --svg."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} \u00b7 attemper</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
:root {{ background: #fbfaf7; color: #1d2430; }}
body {{ max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem; }}
h1 {{ font-size: 1.5rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 .3rem; }}
svg {{ max-width: 100%; height: auto; }}
@media (prefers-color-scheme: dark) {{ :root {{ background: #14171c; color: #e7e9ee; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def removed() -> tuple[OneLayerLess, ...]:
    """The reductions that the page and the figures show."""
    return tuple(all_removed(own_layer(MODEL), 1))


def page() -> bytes:
    """The page."""
    found = removed()
    first = found[0].given
    opening = (
        f"<p>A transformer with hard attention, {len(first.heads)} layers of one head and random scores "
        f"reads {first.size} symbols, the last of which is an end marker. Hahn (2020) fixes some symbols, so "
        "that each head has few to look at; then a layer can be left out, and what is above it is computed "
        "by a transformer with one layer less. Shaded cells depend on nothing that is free. Lines lead from "
        "a head to what it may attend to, faint ones to what is constant; dashed ones from an activation to "
        "the inputs that it depends on, whose number stands in it.</p>"
    )
    parts = [opening]
    for panel, text in zip(every_layer(found), _texts(found), strict=True):
        picture = panels_svg(panel.caption, [Panel("", panel.rows)])
        parts.append(f"<h2>{escape(panel.caption)}</h2>\n<p>{escape(text)}</p>\n{picture}")
    return PAGE.format(title=escape(TITLE), body="\n".join(parts)).encode()


def _texts(found: Sequence[OneLayerLess]) -> Iterator[str]:
    """What is said above each picture: two for each layer, and one for what is left."""
    for one in found:
        yield (
            f"There are {_pairs(one.given)} pairs of a position and one that it may attend to, as the free "
            "inputs are."
        )
        after = one.transformer
        yield (
            f"{_counted(len(one.given.free) - len(one.before.free), 'more input')} fixed to attract "
            f"attention, {len(after.free)} are free: {_pairs(one.before)} pairs are left, and an activation "
            f"of the layer depends on at most {after.most_inputs} inputs. The layer can be left out: its "
            f"activations are tables over these inputs."
        )
    last = found[-1].transformer
    reads = ", ".join(str(q + 1) for q in last.reads[-1])
    yield (
        f"All layers are gone. The output, at position {last.size}, depends on the inputs {reads} and on no "
        f"others of the {len(last.free)} that are free: that is Hahn's Theorem 1."
    )


def _pairs(transformer: CTransformer) -> int:
    return int(attends(transformer).any(axis=0).sum())


def _counted(count: int, what: str) -> str:
    return f"{count} {what} is" if count == 1 else f"{count} {what}s are"
