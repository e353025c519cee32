import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from config.launch import bootstrap, frontend, node
from tests.launch.tools import PROJECT, MakeProgram


def found_python(**variables: str) -> "subprocess.CompletedProcess[str]":
    script = PROJECT / "backend" / "config" / "launch" / "find_python.sh"
    settings = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(["sh", script], env=settings, capture_output=True, text=True, check=False)


def test_the_first_python_that_suits_is_taken_or_the_named_one(programs: MakeProgram) -> None:
    programs("python3.13", "exit 127")  # a shim of a missing version
    programs(
        "python3.12", 'case "$2" in *venv*) exit 1;; esac'
    )  # Debian's Python without python3-venv
    programs("python3.11", f'exec {sys.executable} "$@"')
    programs("python3", "exit 0")
    assert found_python().stdout.strip().endswith("/python3.11")
    named = programs("mypython", "exit 0")
    assert found_python(PYTHON=str(named)).stdout.strip() == str(named)


@pytest.mark.parametrize(
    ("script", "named", "sentence"),
    (
        ("exit 1", "", "requires Python 3.11.2 to 3.14, but none was found on PATH. Install one"),
        ("exit 1", "python3", "but PYTHON=python3 is not suitable. Install one"),
        ("exit 0", "nopython", "but PYTHON=nopython is not suitable. Install one"),
        ('case "$2" in *venv*) exit 1;; esac', "", "python3 cannot create virtual environments. "),
    ),
)
def test_without_one_that_suits_one_sentence_says_what_to_do(
    programs: MakeProgram, script: str, named: str, sentence: str
) -> None:
    programs("python3", script)
    missing = found_python(PYTHON=named)
    assert missing.returncode == 1
    assert missing.stderr.count("\n") == 1
    assert sentence in missing.stderr
    assert "apt install" in missing.stderr


def test_packages_are_installed_by_their_hash_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small-1.0.dist-info/METADATA", "Name: small\nVersion: 1.0\n")
        archive.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        archive.writestr("small-1.0.dist-info/RECORD", "")
    for name, place in (("VENV", ".venv"), ("PYTHON", ".venv/bin/python")):
        monkeypatch.setattr(bootstrap, name, tmp_path / place)
    for name, text in {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(f"PIP_{name}", text)
    monkeypatch.chdir(tmp_path)
    bootstrap.make_environment()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"small==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SystemExit, match="Could not install the Python packages"):
        bootstrap.fill_environment("requirements.txt")
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    requirements.write_text(f"small==1.0 --hash=sha256:{digest}\n")
    bootstrap.fill_environment("requirements.txt")
    assert "Installing" in capfd.readouterr().out
    bootstrap.make_environment()
    bootstrap.fill_environment("requirements.txt")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("version", "npm", "suitable"),
    (
        ("v20.19.0", "11.6.0", True),
        ("v20.18.3", "11.6.0", False),
        ("v21.7.0", "11.6.0", False),
        ("v22.12.0", "10.9.2", False),
        ("nonsense", "11.6.0", False),
    ),
)
def test_only_a_node_that_can_build_the_frontend_is_used(
    programs: MakeProgram, monkeypatch: pytest.MonkeyPatch, version: str, npm: str, suitable: bool
) -> None:
    folder = programs("node", f"echo {version}").parent
    programs("npm", f"echo {npm}")
    fetched = node.Node(Path("/fetched"))
    monkeypatch.setattr(node, "_fetch", lambda: fetched)
    assert node.provide() == (node.Node(folder) if suitable else fetched)


def test_the_frontend_is_built_again_only_when_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "src" / "main.ts"
    source.parent.mkdir()
    source.write_text("1")
    monkeypatch.setattr(frontend, "FRONTEND", tmp_path)
    before = frontend.sources_digest()
    for ignored in ("node_modules", "dist"):
        (tmp_path / ignored).mkdir()
        (tmp_path / ignored / "file.js").touch()
    assert frontend.sources_digest() == before
    source.write_text("2")
    assert frontend.sources_digest() != before
