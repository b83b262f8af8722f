"""What is loaded goes out as it came: with its certificate, and in evaluation mode."""

from __future__ import annotations

import json
from pathlib import Path

import attemper


def test_a_loaded_model_is_exported_with_its_certificate(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab")
    certificate = model.certify()
    model.save(tmp_path / "net", certificate=certificate)
    loaded = attemper.load(tmp_path / "net")
    assert loaded.certificate == certificate
    assert model.certificate is None
    loaded.export("transformer-lens", tmp_path / "out")
    model.export("transformer-lens", tmp_path / "given", certificate=certificate)
    name = "certificate.json"
    assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "given" / name).read_bytes()
    said = json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))
    assert said["network"] == model.digest


def test_a_certificate_of_another_network_is_not_loaded(tmp_path: Path) -> None:
    model, other = attemper.compile("O a", "ab"), attemper.compile("O b", "ab")
    model.save(tmp_path / "net", certificate=model.certify())
    other.save(tmp_path / "other", certificate=other.certify())
    (tmp_path / "net" / "certificate.json").write_bytes(
        (tmp_path / "other" / "certificate.json").read_bytes()
    )
    assert attemper.load(tmp_path / "net").certificate is None


def test_modules_are_in_evaluation_mode() -> None:
    assert not any(module.training for module in attemper.compile("O a", "ab").dense().modules())
