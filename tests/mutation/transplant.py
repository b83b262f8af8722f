"""A mutant put into the running process: everything is imported already, only what is changed is exchanged.

A function gets the code and the defaults of the changed one, so every reference to it is to the mutant. A
constant of a module, or an enumeration, is exchanged wherever a module holds it by its name.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from enum import EnumType
from functools import cached_property
from importlib import import_module
from types import CodeType, FunctionType, ModuleType

from tests.mutation.mutants import Mutant, at, mutated, path_of


class NotImportedError(Exception):
    """The mutant cannot be imported: every test fails."""


def transplant(mutant: Mutant) -> None:
    """Make the imported module the mutant. Raises `NotImportedError` if it is none that can be imported."""
    module, tree = import_module(mutant.module), mutated(mutant)
    owner = _live(module, mutant.owner)
    if owner is module or isinstance(owner, EnumType):
        _exchange_constants(module, _statement(tree, mutant))
    elif isinstance(owner, type):
        _exchange_defaults(module, owner, tree, mutant)
    else:
        function = _function(owner)
        function.__code__ = _code(tree, mutant, function.__qualname__)
        _exchange_own_defaults(module, function, tree, mutant)


def _statement(tree: ast.Module, mutant: Mutant) -> ast.stmt:
    """The statement of the module that is changed."""
    statement = at(tree, mutant.way[:2])
    assert isinstance(statement, ast.stmt)
    return statement


def _live(module: ModuleType, name: str) -> object:
    found: object = module
    for part in filter(None, name.split(".")):
        found = vars(found)[part]
    return found


def _function(owner: object) -> FunctionType:
    match owner:
        case FunctionType(__wrapped__=inner):
            return _function(inner)
        case FunctionType():
            return owner
        case property(fget=FunctionType() as function) | cached_property(func=FunctionType() as function):
            return function
        case staticmethod() | classmethod():
            return _function(owner.__func__)
        case _:
            return _function(vars(owner)["__wrapped__"])


def _code(tree: ast.Module, mutant: Mutant, name: str) -> CodeType:
    whole = compile(tree, str(path_of(mutant.module)), "exec")
    return next(code for code in _codes(whole) if code.co_qualname == name)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _exchange_own_defaults(
    module: ModuleType, function: FunctionType, tree: ast.Module, mutant: Mutant
) -> None:
    """The defaults of the changed function, if those are what is changed."""
    if "args" not in mutant.way:
        return
    node = at(tree, mutant.way[: mutant.way.index("args")])
    if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
        values = [_evaluated(module, default) for default in node.args.defaults]
        function.__defaults__ = tuple(values) or None
        keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        function.__kwdefaults__ = {a.arg: _evaluated(module, d) for a, d in keywords if d is not None}


def _exchange_constants(module: ModuleType, statement: ast.stmt) -> None:
    before = dict(vars(module))
    after = dict(before)
    try:
        exec(compile(ast.Module([statement], []), "mutant", "exec"), after)
    except Exception as error:
        raise NotImportedError(repr(error)) from error
    changed = {name for name in before if name != "__builtins__" and after[name] is not before[name]}
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith(("attemper", "tests")):
            for name in changed:
                if vars(other).get(name) is before[name]:
                    setattr(other, name, after[name])


def _exchange_defaults(module: ModuleType, owner: type, tree: ast.Module, mutant: Mutant) -> None:
    """A field of a data class has its default in the class and in the constructor; of a named tuple only
    there.
    """
    statement = at(tree, mutant.way[:4])
    assert isinstance(statement, ast.AnnAssign)
    assert isinstance(statement.target, ast.Name)
    assert statement.value is not None
    name, value = statement.target.id, _evaluated(module, statement.value)
    if issubclass(owner, tuple):
        constructor = vars(owner)["__new__"].__func__
    else:
        setattr(owner, name, value)
        constructor = vars(owner)["__init__"]
    names = constructor.__code__.co_varnames[: constructor.__code__.co_argcount]
    defaults = constructor.__defaults__
    own = dict(zip(names[-len(defaults) :], defaults, strict=True))
    constructor.__defaults__ = tuple((own | {name: value}).values())


def _evaluated(module: ModuleType, node: ast.expr) -> object:
    return eval(compile(ast.Expression(node), "mutant", "eval"), dict(vars(module)))
