"""The house's rules: pure packages stay pure, and imports run one way."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

BACKEND = Path(__file__).parent.parent / "backend"

ALLOWED: dict[str, set[str]] = {
    "documents": set(),
    "parsers": {"documents"},
    "analysis": {"documents"},
    "exports": {"documents", "analysis"},
    "runs": {"documents", "parsers", "analysis", "exports"},
    "pages": {"documents", "parsers", "analysis", "exports", "runs"},
    "launch": {"config"},
    "config": {"runs", "pages"},
}
"""What each package may import besides itself: the way of the data, read from top to bottom."""

PURE = ("documents", "parsers", "analysis", "exports")

LAYERS = ("models", "analytics", "queries", "api")
"""Inside `runs`: tables, the columnar copy, reads, HTTP; a layer imports those before it."""


def modules(package: str) -> list[Path]:
    return sorted((BACKEND / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.mark.parametrize("package", sorted(ALLOWED))
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


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_import_with_django_absent(package: str) -> None:
    names = [".".join(path.relative_to(BACKEND).with_suffix("").parts) for path in modules(package)]
    absent = ("django", "rest_framework", "celery", "psycopg", "redis")
    program = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({absent!r}))\n"
        f"for name in {names!r}: importlib.import_module(name.removesuffix('.__init__'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=BACKEND, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_layers_of_runs_import_downwards() -> None:
    for number, layer in enumerate(LAYERS):
        above = {f"runs.{name}" for name in LAYERS[number + 1 :]}
        for path in modules(f"runs/{layer}"):
            for name in imported(path):
                assert ".".join(name.split(".")[:2]) not in above, f"{path} imports {name}"


def test_the_agent_imports_the_standard_library_alone() -> None:
    agent = BACKEND.parent / "agent" / "ciphermark_agent.py"
    for name in imported(agent):
        assert name.split(".")[0] in sys.stdlib_module_names, name
