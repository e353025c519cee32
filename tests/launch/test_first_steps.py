"""The steps before anything runs: finding Python, the environment, Node, and what is refused."""

import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from launch import (
    benchmark,
    frontend,
    node,
    openssh,
    paths,
    preconditions,
    python_versions,
    virtual_environment,
)
from launch.console import Problem
from tests.launch.tools import PROJECT, MakeProgram

BOOTSTRAP = PROJECT / "backend" / "launch" / "bootstrap.py"


def found_python(**variables: str) -> "subprocess.CompletedProcess[str]":
    script = PROJECT / "backend" / "launch" / "find_python.sh"
    settings = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(["sh", script], env=settings, capture_output=True, text=True, check=False)


def test_the_first_python_that_is_new_enough_is_taken(programs: MakeProgram) -> None:
    programs("python3.12", "exit 127")  # a shim without the version behind it
    programs("python3.11", f'exec {sys.executable} "$@"')
    programs("python3", "exit 0")
    assert found_python().stdout.strip().endswith("/python3.11")


def test_an_old_python_is_found_so_that_it_can_say_so(programs: MakeProgram) -> None:
    programs("python3", 'case "$1" in -c) exit 0;; *) exit 1;; esac')
    assert found_python().stdout.strip().endswith("/python3")


def test_a_named_python_is_taken_and_a_wrong_name_is_one_sentence(programs: MakeProgram) -> None:
    named = programs("mypython", "exit 0")
    assert found_python(PYTHON="mypython").stdout.strip() == str(named)
    wrong = found_python(PYTHON="nopython")
    assert wrong.returncode == 1
    assert wrong.stderr.count("\n") == 1
    assert "PYTHON=nopython is not a program" in wrong.stderr


def test_no_python_at_all_is_one_sentence(programs: MakeProgram) -> None:
    missing = found_python()
    assert missing.returncode == 1
    assert missing.stderr.count("\n") == 1
    assert "needs Python 3.11.2 to 3.14, and none is on PATH" in missing.stderr


@pytest.mark.parametrize("name", ("bootstrap.py", "python_versions.py", "__init__.py"))
def test_the_bootstrap_can_be_read_by_python_3_6(name: str) -> None:
    ast.parse(BOOTSTRAP.with_name(name).read_text(), feature_version=(3, 6))


@pytest.mark.parametrize(
    ("version", "shown"),
    (
        ("(2, 7, 18)", "2.7.18"),
        ("(3, 6, 15)", "3.6.15"),
        ("(3, 11, 1)", "3.11.1"),
        ("(3, 15, 0)", "3.15.0"),
    ),
)
def test_a_python_that_does_not_suit_is_one_sentence(version: str, shown: str) -> None:
    pretend = f"import sys, runpy; sys.version_info = {version}; "
    pretend += f"runpy.run_path({str(BOOTSTRAP)!r}, run_name='__main__')"
    ended = subprocess.run(
        [sys.executable, "-c", pretend], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "needs Python 3.11.2 to 3.14" in ended.stderr
    assert f"is {shown}: " in ended.stderr
    assert "make run PYTHON=" in ended.stderr


def test_a_python_that_can_make_no_environment_is_the_second_choice(programs: MakeProgram) -> None:
    without = programs("python3.13", 'case "$2" in import*) exit 1;; *) exit 0;; esac')
    assert found_python().stdout.strip() == str(without)
    programs("python3.11", f'exec {sys.executable} "$@"')
    assert found_python().stdout.strip().endswith("/python3.11")


def test_all_places_that_name_the_versions_agree() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    oldest = ".".join(map(str, python_versions.OLDEST))
    too_new = ".".join(map(str, python_versions.TOO_NEW))
    assert project["requires-python"] == f">={oldest},<{too_new}"
    assert f"{oldest} to 3.{python_versions.TOO_NEW[1] - 1}" == python_versions.IN_WORDS
    for name in ("README.md", "docs/operations.md", "backend/launch/find_python.sh"):
        assert f"Python {python_versions.IN_WORDS}" in (PROJECT / name).read_text(), name


@pytest.fixture
def other_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with an environment of its own, which is this one's interpreter."""
    project = tmp_path / "project"
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(paths, "PROJECT", project)
    monkeypatch.delenv("CIPHERMARK_VENV", raising=False)
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(project / ".data"))
    return project


def test_a_python_without_venv_names_the_package_to_install(
    other_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(other_project / ".venv")
    (other_project / "requirements.txt").write_text("")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(Problem, match=r"has no venv module: install it .*apt install python3"):
        virtual_environment.prepare(virtual_environment.RUN)


def test_no_network_for_pip_is_one_sentence(
    other_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other_project / "requirements.txt").write_text("surely-absent-package==1.0\n")
    (other_project / ".venv" / "bin" / "python").unlink()
    # A link would lose which environment it belongs to, and pip with it.
    script = other_project / ".venv" / "bin" / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    for name, text in {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(Problem, match="the package index cannot be reached"):
        virtual_environment.prepare(virtual_environment.RUN)
    assert not virtual_environment.is_ready(virtual_environment.RUN)


def test_a_package_without_a_wheel_is_one_sentence_and_nothing_is_compiled(
    other_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other_project / "requirements.txt").write_text("only-source==1.0\n")
    script = other_project / ".venv" / "bin" / "python"
    script.unlink()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "only_source-1.0.tar.gz").write_bytes(b"")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    with pytest.raises(Problem, match=r"no wheel of only-source==1.0 for Python 3.*PYTHON="):
        virtual_environment.prepare(virtual_environment.RUN)
    assert "Building" not in (other_project / ".data" / "log" / "pip.log").read_text()


def test_a_changed_requirement_makes_the_environment_unready(other_project: Path) -> None:
    script = other_project / ".venv" / "bin" / "python"
    script.unlink()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    requirements = other_project / "requirements.txt"
    requirements.write_text("# nothing\n")
    virtual_environment.prepare(virtual_environment.RUN)
    assert virtual_environment.is_ready(virtual_environment.RUN)
    requirements.write_text("# nothing, yet\n")
    assert not virtual_environment.is_ready(virtual_environment.RUN)


def test_a_filled_environment_is_known_again_by_every_later_start() -> None:
    """A set has another order in each process."""
    program = "from launch import virtual_environment as e; print(e._digest(e.TEST))"
    kept = {**os.environ, "PYTHONPATH": str(PROJECT / "backend")}
    digests = [
        subprocess.check_output(
            [sys.executable, "-c", program], env={**kept, "PYTHONHASHSEED": seed}
        )
        for seed in "0123456"
    ]
    assert len(set(digests)) == 1


def test_an_incomplete_copy_is_one_sentence(other_project: Path) -> None:
    with pytest.raises(Problem, match=r"manage\.py is missing in .*: this copy"):
        preconditions.check_files()


def test_a_data_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(Problem, match=r"cannot be made \(Not a directory\)"):
        preconditions.check_folders()


def test_a_folder_without_write_permission_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the kernel answers to an ordinary user; root may write anywhere.
    monkeypatch.setattr("os.access", lambda path, _mode: path != tmp_path)
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(tmp_path))
    with pytest.raises(Problem, match="is not writable for this user"):
        preconditions.check_folders()


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(preconditions, "LATER_START_BYTES", 10**18)
    with pytest.raises(Problem, match=r"MB free and \d+ MB are needed"):
        preconditions.check_folders()


@pytest.mark.parametrize(
    ("version", "npm", "suitable"),
    (
        ("v20.19.0", "11.6.0", True),
        ("v20.18.3", "11.6.0", False),
        ("v21.7.0", "11.6.0", False),
        ("v22.12.0", "11.0.0", True),
        ("v22.12.0", "10.9.2", False),
        ("v26.1.0", "12.0.0", True),
        ("nonsense", "11.6.0", False),
    ),
)
def test_only_a_node_that_can_build_the_frontend_is_used(
    programs: MakeProgram, version: str, npm: str, suitable: bool
) -> None:
    folder = programs("node", f"echo {version}").parent
    programs("npm", f"echo {npm}")
    found = node.find()
    assert (found is not None) == suitable
    if found is not None:
        assert found.environment()["PATH"].startswith(f"{folder}{os.pathsep}")


def test_a_node_without_npm_is_not_used(programs: MakeProgram) -> None:
    programs("node", "echo v22.12.0")
    assert node.find() is None


def test_the_frontend_is_built_again_only_when_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "src" / "main.ts"
    source.parent.mkdir()
    source.write_text("1")
    monkeypatch.setattr(paths, "FRONTEND", tmp_path)
    before = frontend.sources_digest()
    for ignored in ("node_modules", "dist"):
        (tmp_path / ignored).mkdir()
        (tmp_path / ignored / "file.js").touch()
    assert frontend.sources_digest() == before
    source.write_text("2")
    assert frontend.sources_digest() != before


def test_a_program_that_is_no_sshd_is_not_taken_for_one(programs: MakeProgram) -> None:
    assert not openssh.starts(programs("sshd", "echo unrelated; exit 1"))
    assert not openssh.starts(Path("/nonexistent/sshd"))
    assert openssh.starts(programs("sshd", "echo OpenSSH_9.9p1 >&2; exit 1"))


def test_without_dpkg_query_any_version_of_sshd_will_do(
    programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("apt-get", "dpkg-deb"):
        programs(name, "exit 1")
    monkeypatch.setattr(openssh, "USUAL_FOLDERS", str(tmp_path))
    assert openssh.provide_sshd(tmp_path / "data", lambda: None) is None


def test_without_apt_and_sshd_there_is_none_and_nothing_is_tried(
    programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openssh, "USUAL_FOLDERS", str(tmp_path))
    assert openssh.provide_sshd(tmp_path / "data", lambda: None) is None
    assert not (tmp_path / "data").exists()


def test_fetching_a_private_sshd_is_bounded_in_time(
    programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openssh, "USUAL_FOLDERS", str(tmp_path))
    monkeypatch.setattr(openssh, "SECONDS", 1.0)
    for name in ("apt-get", "dpkg-deb", "dpkg-query"):
        programs(name, "[ $0 = dpkg-query ] || exec sleep 30")
    programs("dpkg-query", "exit 1")
    assert openssh.provide_sshd(tmp_path / "data", lambda: None) is None


@pytest.mark.parametrize(("status", "kept"), ((1, "whole"), (0, "new")))
def test_an_interrupted_benchmark_does_not_replace_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, kept: str
) -> None:
    document = tmp_path / "this-machine.json"
    document.write_text('{"run_id": "whole"}')
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, os, sys\n"
        "output = sys.argv[sys.argv.index('--output') + 1]\n"
        f"told = os.path.exists({str(tmp_path / 'measuring')!r})\n"
        "open(output, 'w').write(json.dumps({'run_id': 'new', 'told': told}))\n"
        f"sys.exit({status})\n"
    )
    monkeypatch.setattr(benchmark, "_download_agent", lambda *_: program)
    monkeypatch.setattr(openssh, "provide_sshd", lambda *_: None)
    token = contextlib.nullcontext(tmp_path / "token")
    monkeypatch.setattr(benchmark, "_upload_token", lambda *_: token)
    monkeypatch.setattr(benchmark, "PROCESSING_SECONDS", 0.0)
    benchmark.measure_if_wanted(
        "http://127.0.0.1:9/", tmp_path, benchmark.Mode.ALWAYS, lambda: None
    )
    assert json.loads(document.read_text())["run_id"] == kept
    if status == 0:
        assert json.loads(document.read_text())["told"]
    assert not (tmp_path / "measuring").exists()


def test_an_agent_that_cannot_be_downloaded_does_not_end_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openssh, "provide_sshd", lambda *_: None)
    benchmark.measure_if_wanted(
        "http://127.0.0.1:9/", tmp_path, benchmark.Mode.ALWAYS, lambda: None
    )
    assert "The agent cannot be downloaded" in capsys.readouterr().out
