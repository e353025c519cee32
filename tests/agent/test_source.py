import ast
import hashlib
import subprocess
import sys
from pathlib import Path

from runs.agent import build_agent
from tests.agent.running import AGENT, PACKAGE, RunAgent

SOURCES = {path.stem: path.read_text() for path in sorted(PACKAGE.glob("*.py"))}
NODES = [node for text in SOURCES.values() for node in ast.walk(ast.parse(text))]
# Names missing from modules of Python 3.6, which are easily used by mistake.
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
    assert "cannot write " in again.err
