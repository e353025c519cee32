"""The agent is one file for Python 3.6 and later, of the standard library only."""

import ast
import sys

from tests.agent.running import AGENT

SOURCE = AGENT.read_text()
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
    tree = ast.parse(SOURCE, feature_version=(3, 6))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]


def test_imports_are_of_the_standard_library() -> None:
    names: set[str] = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= sys.stdlib_module_names
    assert not names & {"dataclasses", "contextvars", "zoneinfo", "tomllib", "graphlib"}


def test_nothing_newer_than_36_is_used() -> None:
    used: set[str] = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.keyword):
            used.add(node.arg or "")
    assert not used & NEWER_THAN_36


def test_the_file_is_plain_ascii() -> None:
    assert SOURCE.isascii()
