"""Exported networks that several tests look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper import Model
from attemper.exports.subject import Exported
from tests.support.drawn.exported import MODELS
from tests.support.judges.hugging_face import BUILDS
from tests.support.mutants.exported_folders import subject_of


@pytest.fixture(scope="session")
def auto() -> Any:
    """The Auto classes of transformers, which know our models."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    return transformers


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Model, Path]]:
    """Models and the Hugging Face folders that they were exported to, made when they are first asked for."""

    class Folders(dict[str, tuple[Model, Path]]):
        def __missing__(self, name: str) -> tuple[Model, Path]:
            model = {**MODELS, **BUILDS}[name]()
            folder = tmp_path_factory.mktemp("exported") / "folder"
            model.export("hugging-face", folder, certificate=model.certify())
            self[name] = model, folder
            return self[name]

    return Folders()


@pytest.fixture(scope="session")
def since() -> Exported:
    """A small network with its certificate."""
    return subject_of(attemper.compile("(!'c') S 'b'", "abc", regime="decoder"))
