"""The house rules that no other tool checks: light imports, honest docs, a documented surface."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import inspect
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import get_args

import pytest

import attemper
from attemper.networks.layers import Construction
from tests.support.cli import command_line
from tests.support.cli.checked_here import checked_here
from tests.support.writers.listing import PAGE, listing

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "attemper"
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TRUSTED = (
    "attemper",
    "attemper.errors",
    "attemper.escapes",
    "attemper.documents",
    "attemper.exact.codec",
    "attemper.exact.closed_forms",
    "attemper.exact.predicates",
    "attemper.exact.balls",
    "attemper.languages.words",
    "attemper.languages.temporal.syntax",
    "attemper.languages.temporal.core",
    "attemper.languages.temporal.meaning",
    "attemper.languages.temporal.show",
    "attemper.languages.temporal.reading",
    "attemper.networks.files",
    "attemper.networks.meaning_hard",
    "attemper.networks.meaning_soft",
    "attemper.networks.wellformed",
    "attemper.certificates.files",
    "attemper.checker.check",
    "attemper.checker.__main__",
    "attemper.checker.folders",
    "attemper.theories.influence.check.floors",
    "attemper.theories.softening.check.uniform",
    "attemper.languages.sources.sampling",
)
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")
OF_SOME_CONSTRUCTIONS = {
    "compiling/literal/retrieved.py",
    "networks/typed.py",
    "exports/transformer_lens/uniform_heads.py",
}


def modules_loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh process has after the statement."""
    script = f"{statement}; import sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(finished.stdout.split())


def test_the_trusted_base_loads_nothing_heavy() -> None:
    loaded = modules_loaded_by("import " + ", ".join(TRUSTED))
    assert not loaded & set(HEAVY)


def test_that_test_would_notice_a_heavy_import() -> None:
    assert "numpy" in modules_loaded_by("import attemper.models.hard.probing")


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (["--version"], {"errors", "escapes", "workbench"}),
        (
            ["classify", "regex:a*", "--alphabet", "ab"],
            # The limits of a check and of the compiler, by their names, and nothing that is limited by them.
            {
                *("checker", "compiling", "errors", "escapes", "exact", "files", "html_tables"),
                *("languages", "missing", "workbench", "writing"),
            },
        ),
        # The process that checks is another one.
        (
            ["check", "once"],
            {"checker", "errors", "escapes", "exact", "html_tables", "languages", "missing", "workbench"},
        ),
        (["source", "dyck2", "--p", "1/3", "--length", "8"], None),
        (["--help"], None),
    ],
)
def test_a_command_loads_what_it_needs(
    command: list[str], parts: set[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a fresh process: no torch, no numpy, no part of the package but those that are listed."""
    attemper.compile("O a", "ab").save(tmp_path / "once")
    monkeypatch.chdir(tmp_path)
    run = f"import sys; sys.argv[1:] = {command}; import attemper.__main__ as it"
    script = f"{run}\ntry: it.main()\nexcept SystemExit: pass\nprint('loaded', *sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {tuple(name.split(".")) for name in finished.stdout.rpartition("loaded ")[2].split()}
    assert not {("torch",), ("numpy",)} & loaded
    own = {name[1] for name in loaded if name[0] == "attemper" and len(name) > 1} - {
        "__main__",
        "registry",
        "version",
    }
    assert parts is None or own == parts
    if parts is not None:
        assert ("lark",) not in loaded
        assert ("flint",) not in loaded
        assert not {("attemper", "checker", "check"), ("attemper", "compiling", "pipeline")} & loaded


def test_a_word_is_run_without_compiler_and_checker(tmp_path: Path) -> None:
    """In a fresh process, and a network that streams: at most 60 modules of ours, of these rooms alone."""
    attemper.compile("O a", "ab", regime="decoder").save(tmp_path)
    (tmp_path / "certificate.json").write_text("nobody asks for it", encoding="utf-8")
    run = f"import sys; sys.argv[1:] = ['run', {str(tmp_path)!r}, 'ba']; import attemper.__main__ as it"
    script = f"{run}\ntry: it.main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    said, _, names = finished.stdout.partition("\n")
    assert said == "accepted  ba  01"
    assert not {"torch", "flint", "safetensors"} & set(names.split())
    ours = sorted(name for name in names.split() if name.partition(".")[0] == "attemper")
    rooms = {"exact", "languages", "networks", "running", "workbench"}
    assert [name for name in ours if name.count(".") > 1 and name.split(".")[1] not in rooms] == []
    assert len(ours) <= 60, ours


def test_attention_programs_load_nothing_heavy() -> None:
    parts = ("ops", "show", "parse", "meaning", "machine", "wellformed")
    loaded = modules_loaded_by("import " + ", ".join(f"attemper.attention_program.{part}" for part in parts))
    assert not loaded & set(HEAVY)


def test_compiling_never_loads_torch() -> None:
    assert "torch" not in modules_loaded_by("import attemper; attemper.compile('O a', 'ab')")


def test_every_public_name_has_a_docstring() -> None:
    for name in attemper.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(attemper, name)), name
    fields = {field.name for field in dataclasses.fields(attemper.Model)}  # their texts stand below them
    for name, member in inspect.getmembers(attemper.Model):
        if not name.startswith("_") and name not in fields:
            assert inspect.getdoc(member), name


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not text or text.startswith('"""'), path


def test_a_construction_is_a_file_of_its_name_in_every_room() -> None:
    names = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", one.__name__).lower() for one in get_args(Construction)}
    assert {"uniform", "local_sign"} <= names
    rooms = [ROOT / "src" / "attemper" / part / "constructions" for part in ("checker", "compiling")]
    for room in filter(Path.exists, rooms):
        files = {path.stem for path in room.glob("[!_]*.py")}
        assert names <= files, room
        # The table says which file is for which construction.
        assert files <= names | {"table"}, room


def test_contributing_lists_every_file_that_knows_a_construction() -> None:
    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = recipe.split("**A new construction.**")[1].split("**A new pass.**")[0]
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", recipe)
    constructions = get_args(Construction)
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    files = {
        path: _names(ast.parse(text))
        for path, text in texts.items()
        if any(construction.__name__ in text for construction in constructions)
    }
    for construction in constructions:
        own = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", construction.__name__).lower()
        listed = {path.removesuffix("/") + f"/{own}.py" if path.endswith("/") else path for path in paths}
        known = {
            str(path.relative_to(SOURCE)) for path, names in files.items() if construction.__name__ in names
        }
        assert known <= listed, construction.__name__
        optional = {
            path
            for path in listed
            if path.startswith(("tests/", "src/", "models/hard/", "checker/constructions/"))
            or path in OF_SOME_CONSTRUCTIONS
        }
        assert listed - optional <= known, construction.__name__


def _names(tree: ast.AST) -> set[str]:
    """The names that a module uses or imports."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return used | {alias.name for node in imported for alias in node.names}


def test_the_paths_in_the_documents_exist() -> None:
    named = re.compile(r"`((?:src|tests|docs|benchmarks)/[\w/.-]+)`|\]\((?!http)([\w/.-]+)\)")
    for document in DOCS:
        for inside, link in named.findall(document.read_text(encoding="utf-8")):
            target = ROOT / inside if inside else document.parent / link
            assert target.exists(), f"{document.name}: {inside or link}"


def test_theory_names_a_test_for_every_row() -> None:
    theory = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    tables = theory.split("## How each step")[0]
    rows = [line for line in tables.splitlines() if line.startswith("|") and "src/" in line]
    assert len(rows) >= 15
    assert all("`tests/" in row for row in rows)


def commands_shown(document: Path) -> list[tuple[str, str]]:
    """The commands of the document's console blocks, each with the output shown below it.

    Lines that begin with `> ` continue a command.
    """
    shown: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *lines = part.splitlines(keepends=True)
            more = list(takewhile(lambda line: line.startswith("> "), lines))
            command = "".join([first, *(line.removeprefix("> ") for line in more)]).rstrip("\n")
            shown.append((command, "".join(lines[len(more) :])))
    return shown


def files_shown(document: Path) -> list[tuple[str, str]]:
    """The document's blocks that begin with a file's name, as in `# models.py`: name and text."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(
        r"```(?:python|rasp|machine)\n# (\w+\.(?:py|rasp|machine))\n(.*?)```", text, re.DOTALL
    )
    return [(name, body) for name, body in blocks]


DEAR = ("limits.md",)
"""Pages whose commands load torch in processes of their own: the quick suite leaves them to the whole one."""

MODELS = {"judging.md": {"brackets": ROOT / "tests" / "theories" / "judging" / "fixtures" / "gpt2_depth2"}}
"""Folders that a page's commands find: models that were trained elsewhere."""

SHOWING = [path for path in DOCS if commands_shown(path)]


@pytest.mark.parametrize("document", [p for p in SHOWING if p.name not in DEAR], ids=lambda p: p.name)
def test_the_commands_in_the_documents_print_what_is_shown(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with of_this_folder_alone(), checked_here():
        try_what_is_shown(document, tmp_path)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("document", [p for p in SHOWING if p.name in DEAR], ids=lambda p: p.name)
def test_the_commands_in_the_dear_documents_print_what_is_shown(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_the_commands_in_the_documents_print_what_is_shown(document, tmp_path, monkeypatch)


def try_what_is_shown(document: Path, tmp_path: Path) -> None:
    """Write the document's files and run its commands here, in this process: each as `attemper` would."""
    for name, text in files_shown(document):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, folder in MODELS.get(document.name, {}).items():
        shutil.copytree(folder, tmp_path / name)
    for command, output in commands_shown(document):
        words = shlex.split(command, comments=True)  # as a shell reads it
        if words[0] == "make":
            # The two set-up commands are what runs this very test, and the demo's own test.
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            continue
        assert words[0] in {"attemper", "python"}, command
        if words[0] == "attemper":
            ended = command_line.attemper(*words[1:], columns=None)
            assert ended.out + ended.err == output, command
            continue
        run = [sys.executable, *words[1:]]
        finished = subprocess.run(run, capture_output=True, text=True, check=False)
        assert finished.stdout + finished.stderr == output, command


def test_the_readme_is_one_screen_of_a_book() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.split()) <= 1_100


@contextmanager
def of_this_folder_alone() -> Iterator[None]:
    """Modules that are imported from the working folder are forgotten at the end: others have their names."""
    here, paths = Path.cwd(), sys.path.copy()
    try:
        yield
    finally:
        sys.path[:] = paths
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file is not None and here in Path(file).parents:
                del sys.modules[name]


@pytest.mark.parametrize("document", [p for p in DOCS if ">>>" in p.read_text(encoding="utf-8")])
def test_the_python_in_the_documents_runs(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failures, tried = doctest.testfile(str(document), module_relative=False)
    assert tried > 0
    assert failures == 0


def test_the_python_of_the_readme_is_strictly_typed(tmp_path: Path) -> None:
    """As `mypy --strict` sees a file that it was typed into; `make check` has filled mypy's cache."""
    if not (ROOT / ".mypy_cache").exists():
        pytest.skip("make check has not run yet: mypy would read all of torch")
    examples = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text(encoding="utf-8"))
    typed = tmp_path / "typed.py"
    typed.write_text("".join(example.source for example in examples), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", str(typed)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert len(examples) > 4
    assert finished.stdout == "Success: no issues found in 1 source file\n", finished.stdout


def test_exit_codes_are_documented() -> None:
    """The docstring of `ExitCode`, its page and `attemper --help` agree with the codes that there are."""
    from attemper.errors import ExitCode
    from attemper.workbench.cli.app import EPILOG

    def rows_of(text: str) -> dict[int, str]:
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        return {int(code): said for code, said in re.findall(r"^ *\| (\d+) \| (.*) \|$", plain, re.MULTILINE)}

    said = rows_of(ExitCode.__doc__ or "")
    assert list(said) == [int(code) for code in ExitCode]
    assert rows_of((ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")) == said
    assert {int(number) for number in re.findall(r"(?<![\w-])\d+(?= )", EPILOG)} == set(said)


def test_every_error_has_an_exit_code_of_the_table() -> None:
    from attemper import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 10
    internal = {kind for kind in kinds if kind.exit_code is errors.ExitCode.INTERNAL}
    assert internal == {errors.AttemperError, errors.InternalError}


def test_the_repository_names_no_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    machine_path = re.compile(rb"/(?:root|home/\w|work|tmp)/")
    for name in filter(None, listed.stdout.split(b"\0")):
        path = ROOT / name.decode()
        if path.exists():
            assert not machine_path.search(path.read_bytes()), path


THEORIES = sorted(path for path in (SOURCE / "theories").iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("theory", THEORIES, ids=lambda path: path.name)
def test_a_theory_says_what_it_is_and_names_files_that_there_are(theory: Path) -> None:
    """What it is asked, how that is checked, and in which order to read it."""
    text = (theory / "README.md").read_text(encoding="utf-8")
    for part in ("Question", "Theorem", "What is said", "How it is checked", "To read in order", "To extend"):
        assert f"**{part}.**" in text, part
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 5
    for name in named:
        assert (theory / name).is_file() or (SOURCE / name).is_file() or (ROOT / name).is_file(), name


def test_the_list_of_what_tests_are_made_of_is_written() -> None:
    listed = listing()
    assert PAGE.read_text(encoding="utf-8") == listed, "run python -m tests.support.writers.listing"
    assert not [line for line in listed.splitlines() if line.endswith(": ")]
