"""The agent is one file for Python 3.6 and later, of the standard library only."""

import ast
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ingest.agent_archive import build_agent
from tests.agent.running import AGENT, PACKAGE, RunAgent

SOURCES = {path.stem: path.read_text() for path in sorted(PACKAGE.glob("*.py"))}
NODES = [node for text in SOURCES.values() for node in ast.walk(ast.parse(text))]
# What 3.6 lacks in modules that it has: the usual ways to break the promise unnoticed.
NEWER_THAN_36 = {
    "capture_output",
    "fromisoformat",
    "time_ns",
    "perf_counter_ns",
    "removeprefix",
    "removesuffix",
    "waitstatus_to_exitcode",
    "ThreadingHTTPServer",
    "fmean",
    "quantiles",
    "reconfigure",
    "pidfd_open",
    "cache",
    "cached_property",
    "dirs_exist_ok",
    "missing_ok",
    "is_relative_to",
    "UTC",
}


def test_syntax_is_that_of_python_36() -> None:
    for text in SOURCES.values():
        ast.parse(text, feature_version=(3, 6))
    assert not [node for node in NODES if isinstance(node, ast.NamedExpr)]


def test_imports_are_of_the_standard_library() -> None:
    names: set[str] = set()
    for node in NODES:
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names - {"ciphermark_agent"} <= sys.stdlib_module_names
    assert not names & {"dataclasses", "contextvars", "zoneinfo", "tomllib", "graphlib"}


def test_nothing_newer_than_36_is_used() -> None:
    used: set[str] = set()
    for node in NODES:
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.keyword):
            used.add(node.arg or "")
    assert not used & NEWER_THAN_36


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_sources_are_plain_ascii(name: str) -> None:
    assert SOURCES[name].isascii()


def test_the_same_sources_give_the_same_file(tmp_path: Path) -> None:
    """Whatever a clone does to times, modes and the order of a folder."""
    clone = tmp_path / "ciphermark_agent"
    clone.mkdir(mode=0o700)
    for path in sorted(PACKAGE.glob("*.py"), reverse=True):
        shutil.copy(path, clone)
        (clone / path.name).chmod(0o600)
    (clone / "__pycache__").mkdir()
    assert build_agent(clone) == build_agent(PACKAGE) == AGENT.read_bytes()


def test_the_one_file_is_a_zip_of_the_sources_as_they_are() -> None:
    with zipfile.ZipFile(AGENT) as archive:
        for name, text in SOURCES.items():
            assert archive.read(f"ciphermark_agent/{name}.py").decode() == text
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-W", "error", "-B", *words)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_source_prints_what_runs(run_agent: RunAgent) -> None:
    printed = run_agent("source").out
    for name, text in SOURCES.items():
        assert f"# ciphermark_agent/{name}.py\n\n{text}" in printed


def test_source_unpacks_what_runs(run_agent: RunAgent, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    said = run_agent("source", str(folder))
    assert said.code == 0, said.err
    unpacked = folder / "ciphermark_agent"
    assert str(unpacked) in said.out
    digests = {hashlib.sha256(build_agent(path)).hexdigest() for path in (unpacked, PACKAGE)}
    assert len(digests) == 1
    assert run(unpacked, "--version").stdout == run(AGENT, "--version").stdout
    again = run_agent("source", str(folder))
    assert again.code == 2
    assert "cannot be written: File exists" in again.err


def test_a_checkout_runs_as_a_folder_and_as_a_module() -> None:
    for path in (PACKAGE, PACKAGE / "__main__.py"):
        done = run(path, "schedule")
        assert done.returncode == 0, done.stderr
        assert f"{PACKAGE} run --progress none" in done.stdout


def test_the_readme_lists_the_modules_in_an_order_in_which_each_imports_those_before() -> None:
    table = (PACKAGE.parent / "README.md").read_text().split("## Its modules")[1]
    rows = re.findall(r"^\| [^|]+ \| (.*) \|$", table, re.M)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(["__init__", *listed]) == sorted(SOURCES)
    for at, name in enumerate(listed):
        used = set(re.findall(r"^\s*from ciphermark_agent\.(\w+) import", SOURCES[name], re.M))
        assert used <= set(listed[:at]), name
