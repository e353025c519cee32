"""The audit finds what it is there for."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from tests import audit


def test_a_secret_is_found_in_git_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "AKIA" + "IOSFODNN7" + "EXAMPLQ"
    (tmp_path / "settings.py").write_text(f"aws = '{key}'\n")
    monkeypatch.setattr(audit, "PROJECT", tmp_path)
    assert audit.secrets() == (False, "1 found")
    (tmp_path / "settings.py").write_text("aws = None\n")
    assert audit.secrets() == (True, "")


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of its own: one package with wheels for Linux alone."""
    folder = tmp_path / "links"
    folder.mkdir()
    for platform in ("manylinux2014_x86_64", "manylinux2014_aarch64"):
        with zipfile.ZipFile(folder / f"thing-1.0-py3-none-{platform}.whl", "w") as archive:
            archive.writestr("thing-1.0.dist-info/METADATA", "Name: thing\nVersion: 1.0\n")
            archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()]
    line = " ".join(("thing==1.0", *(f"--hash=sha256:{one}" for one in hashes)))
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    monkeypatch.setattr(audit, "PROJECT", tmp_path)
    monkeypatch.setattr(audit, "FILES", ("requirements.txt",))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    return folder


def test_a_package_without_a_wheel_for_some_platform_is_found(
    links: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.wheels() == (False, f"{2 * len(audit.PYTHONS)} found")
    said = capsys.readouterr().out
    assert "on aarch64-apple-darwin, Python 3.14: " in said
    assert "linux" not in said


def test_a_package_with_all_wheels_passes_and_the_sets_are_named(
    links: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "PLATFORMS", audit.PLATFORMS[:2])
    outcome = audit.wheels()
    assert outcome.passed, outcome
    assert outcome.note.startswith("8 sets: x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu; ")


def test_an_index_that_does_not_answer_is_no_pass(
    links: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    assert audit.wheels().passed is None


def test_no_answer_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "PARTS", {"packages": lambda: audit.Outcome(None, "no index")})
    assert audit.main([]) == 1
