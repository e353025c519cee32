"""The house's rules: pure packages stay pure, and imports run one way."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.cases import each

BACKEND = Path(__file__).parent.parent / "backend"

_PURE = {"documents", "texts", "analysis", "exports"}
_BELOW_QUESTIONS = _PURE | {"store", "access", "results"}
_ALL_BUT_HTTP = _BELOW_QUESTIONS | {
    *("telemetry", "ingest", "notifications", "questions", "reports")
}

ALLOWED: dict[str, set[str]] = {
    "documents": set(),
    "texts": {"documents", "analysis"},
    "analysis": {"documents"},
    "exports": {"documents", "analysis"},
    "store": {"documents", "analysis"},
    "telemetry": {"store"},
    "access": {"store"},
    "ingest": {"documents", "texts", "analysis", "store", "telemetry", "access"},
    "results": {"documents", "analysis", "store"},
    "notifications": {"store", "results"},
    "questions": _BELOW_QUESTIONS,
    "reports": _BELOW_QUESTIONS | {"questions"},
    "monitoring": _ALL_BUT_HTTP,
    "api": _ALL_BUT_HTTP | {"monitoring"},
    "pages": _ALL_BUT_HTTP,
    "config": _ALL_BUT_HTTP | {"monitoring", "api", "pages"},
    "launch": {"config", "store", "access"},
}
"""What each room may import besides itself: the way of the data, read from top to bottom.

What writes (`ingest`) and what reads (`results`) do not know each other, nor do API and pages.
"""

PURE = sorted(_PURE)

MOST_MODULES = 16
CROWDED = {"texts": 20}
"""Folders that have more; none of them may grow."""

UNCOUNTED = "migrations"

AGENT_MODULES = sorted((BACKEND.parent / "agent" / "ciphermark_agent").glob("*.py"))
AGENT_NAMES = {f"ciphermark_agent.{path.stem}" for path in AGENT_MODULES}


def modules(package: str = ".") -> list[Path]:
    return sorted((BACKEND / package).rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(BACKEND).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> Iterator[str]:
    """Modules that it imports; of `from a import b` both a and a.b, which may be one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@each("package", sorted(ALLOWED))
def test_a_package_imports_only_what_lies_before_it(package: str) -> None:
    for path in modules(package):
        for name in imported(path):
            top = name.split(".")[0]
            if top in ALLOWED and top != package:
                assert top in ALLOWED[package], f"{path.relative_to(BACKEND)} imports {name}"


def test_the_packages_form_no_circle() -> None:
    order = list(TopologicalSorter(ALLOWED).static_order())
    assert order[0] == "documents"


def test_every_package_is_known_here() -> None:
    assert {path.parent.name for path in BACKEND.glob("*/__init__.py")} == set(ALLOWED)


def test_the_folders_form_no_circle() -> None:
    """But for a folder and those inside it: it holds what they share, or chooses among them."""
    folders = {module_name(path): module_name(path.parent) for path in modules()}
    graph: dict[str, set[str]] = {}
    for path in modules():
        own = folders[module_name(path)]
        used = {folders[name] for name in imported(path) if name in folders}
        graph.setdefault(own, set()).update(
            other
            for other in used - {own}
            if not f"{own}.".startswith(f"{other}.") and not f"{other}.".startswith(f"{own}.")
        )
    assert set(graph) <= set(TopologicalSorter(graph).static_order())  # CycleError for a circle


def test_no_folder_is_a_pile() -> None:
    for folder in {path.parent for path in modules()}:
        count = len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        name = folder.relative_to(BACKEND).as_posix()
        if folder.name != UNCOUNTED:
            assert count <= CROWDED.get(name, MOST_MODULES), name


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_import_with_django_absent(package: str) -> None:
    names = [module_name(path) for path in modules(package)]
    absent = ("django", "rest_framework", "celery", "psycopg", "redis")
    program = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({absent!r}))\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=BACKEND, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_agent_imports_the_standard_library_and_itself_one_way() -> None:
    graph: dict[str, set[str]] = {}
    for path in AGENT_MODULES:
        names = set(imported(path))
        assert {one.split(".")[0] for one in names} <= {
            "ciphermark_agent",
            *sys.stdlib_module_names,
        }
        graph[f"ciphermark_agent.{path.stem}"] = names & AGENT_NAMES
    assert set(TopologicalSorter(graph).static_order()) == AGENT_NAMES  # CycleError for a circle


def test_no_module_of_the_agent_is_long() -> None:
    for path in AGENT_MODULES:
        assert len(path.read_text("utf-8").splitlines()) <= 400, path.name
