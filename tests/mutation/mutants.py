"""Mutants of a module: its syntax tree with one comparison, sign, constant or connective changed.

A mutant is known by the function that it is in and by the expression before and after the change, not by
a line, so that a list of mutants outlives edits elsewhere in the file.

Not changed are texts, annotations and names of types, `assert`, `raise` (what is said, not whether it is),
decorators, and `strict=` of `zip`, which can only raise.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"

BESIDE = (
    "attemper.documents",
    "attemper.exact.codec",
    "attemper.exact.laurent",
    "attemper.exact.monomials",
    "attemper.languages.masks",
    "attemper.attention_program.meaning",
    "attemper.attention_program.wellformed",
    "attemper.models.hard.probing",
)
"""Single modules that verdicts rest on."""

ROOMS = ("checker", "models/enclosures", "models/exact_arrays", "theories/*/check")
"""Folders all of whose modules verdicts rest on."""


def modules_in(rooms: Iterable[str]) -> list[str]:
    """The modules of folders of the library."""
    return [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for room in rooms
        for folder in sorted((SOURCE / "attemper").glob(room))
        for path in sorted(folder.rglob("[!_]*.py"))
    ]


MODULES = (*modules_in(ROOMS), *BESIDE)
"""The modules that verdicts rest on."""

LONGEST = 110
"""A longer expression is not shown around a change in it."""

Way = tuple[str | int, ...]
"""From a tree to one of its nodes: the names of fields, and indices of those that are lists."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """A change of a module: another node at the end of the way.

    `owner` is the outermost function around the change, or the class if there is none, by its qualified name;
    empty for a statement of the module. `lines` are those of the changed statement, without a body.
    """

    name: str
    module: str
    owner: str
    in_function: bool
    lines: range
    way: Way
    node: ast.AST

    @property
    def function(self) -> str:
        """The function around the change, which may stand inside another."""
        return function_of(self.name)


def function_of(name: str) -> str:
    """The function around a change of that name."""
    return name.split(": ", 1)[0]


COMPARISONS: dict[type[ast.AST], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

OPERATORS: dict[type[ast.AST], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}

NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
NAMES |= {"minimum": "maximum", "argmax": "argmin", "ceil": "floor"}


def path_of(module: str) -> Path:
    """The file of a module of the library."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


def name_of(module: str) -> str:
    """A module as it is called here: `heads`, `attention.contests` of the checker, `depth.pairs` of a
    theory.

    Of all others that verdicts rest on the last part of their own name, and else the whole name.
    """
    match module.split(".")[1:]:
        case ["checker", *own]:
            return ".".join(own)
        case ["theories", theory, "check", *own]:
            return ".".join((theory, *own))
        case own:
            return own[-1] if module in MODULES else ".".join(own)


def mutants_of(module: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    found = []
    for place in _places(_Place(tree, (), (name_of(module),), (), False, range(0))):
        for node in _changes(place.node):
            name = f"{'.'.join(place.names)}: {_shown(tree, place, node)}"
            seen[name] += 1
            own = name if seen[name] == 1 else f"{name} ({seen[name]})"
            owner = ".".join(place.owner)
            found.append(Mutant(own, module, owner, place.in_function, place.lines, place.way, node))
    return found


def mutated(mutant: Mutant) -> ast.Module:
    """The syntax tree of the changed module."""
    tree = ast.parse(path_of(mutant.module).read_text(encoding="utf-8"))
    put(tree, mutant.way, mutant.node)
    return ast.fix_missing_locations(tree)


def put(tree: ast.AST, way: Way, node: ast.AST) -> None:
    """Put another node at the end of the way."""
    *before, last = way
    holder = at(tree, tuple(before))
    if isinstance(holder, list):
        assert isinstance(last, int)
        holder[last] = node
    else:
        setattr(holder, str(last), node)


def at(tree: ast.AST, way: Way) -> object:
    """What stands at the end of the way."""
    found: object = tree
    for step in way:
        found = found[step] if isinstance(found, list) else getattr(found, str(step))  # type: ignore[index]
    return found


# Places ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Place:
    """A node, the way to it, the scopes around it, the lines of its statement.

    `owner` is the scopes up to the first function.
    """

    node: ast.AST
    way: Way
    names: tuple[str, ...]
    owner: tuple[str, ...]
    in_function: bool
    lines: range


def _places(place: _Place) -> Iterator[_Place]:
    """All nodes that can be changed, in the order of the text."""
    node = place.node
    if _is_skipped(node):
        return
    if isinstance(node, ast.stmt | ast.match_case):
        place = replace(place, lines=_lines(node))
    yield place
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        owner = place.owner if place.in_function else (*place.owner, node.name)
        in_function = place.in_function or isinstance(node, ast.FunctionDef)
        place = replace(place, names=(*place.names, node.name), owner=owner, in_function=in_function)
    for name, child in _children(node):
        yield from _places(replace(place, node=child, way=(*place.way, *name)))


def _children(node: ast.AST) -> Iterator[tuple[Way, ast.AST]]:
    for name, field in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        if isinstance(field, ast.AST):
            yield (name,), field
        elif isinstance(field, list):
            for number, item in enumerate(field):
                if isinstance(item, ast.AST):
                    yield (name, number), item


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr())):
            return node.col_offset == 0  # the name of a type
        case _:
            return False


def _lines(node: ast.AST) -> range:
    """The lines of a statement, up to its body."""
    first = min(part.lineno for part in ast.walk(node) if hasattr(part, "lineno"))
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if body else max(p.end_lineno for p in ast.walk(node) if hasattr(p, "lineno"))
    return range(first, max(first, last) + 1)


# Changes ---------------------------------------------------------------------------------------------


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may stand in its place."""
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
                    yield _with(node, ops=ops)
        case ast.BinOp() | ast.AugAssign() if type(node.op) in OPERATORS:
            yield _with(node, op=OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(value)):
            yield _with(node, value=value + 1)
            yield _with(node, value=value - 1)
        case ast.MatchSingleton(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Name(id=str(name), ctx=ast.Load()) if name in NAMES:
            yield _with(node, id=NAMES[name])
        case ast.Attribute(attr=str(name)) if name in NAMES:
            yield _with(node, attr=NAMES[name])
        case _:
            pass


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _shown(tree: ast.AST, place: _Place, node: ast.AST) -> str:
    """The change, with the expression around a mere constant or name."""
    way = place.way
    while len(way) > 1:
        is_large = not isinstance(at(tree, way), _SMALL)
        if is_large or isinstance(at(tree, way[:-1]), ast.FunctionDef | ast.ClassDef | ast.Module):
            break
        wider = way[:-1] if not isinstance(way[-1], int) else way[:-2]
        if isinstance(at(tree, wider), ast.stmt | ast.match_case) and hasattr(at(tree, wider), "body"):
            break
        if len(_text(at(tree, wider))) > LONGEST:
            break
        way = wider
    before = _text(at(tree, way))
    if way == place.way:
        after = _text(node)
    else:
        whole = copy.deepcopy(at(tree, way))
        put(whole, place.way[len(way) :], node)  # type: ignore[arg-type]
        after = _text(whole)
    return f"{before}  ->  {after}"


_SMALL = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.MatchValue, ast.MatchSingleton, list)
"""What is shown with what stands around it."""


def _text(node: object) -> str:
    assert isinstance(node, ast.AST)
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
