import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.cases import each

BACKEND = Path(__file__).parent.parent / "backend"

# These packages import only each other, and no Django.
PURE = ("cipherspeed", "texts")

# Folders that each folder may import. Views may import all folders.
FOLLOWS = {
    "runs": (),
    "hosts": ("runs",),
    "compare": ("runs", "hosts"),
    "recommend": ("runs", "hosts", "compare"),
    "changes": ("runs", "hosts", "compare"),
}

AGENT_MODULES = sorted((BACKEND.parent / "agent" / "ciphermark_agent").glob("*.py"))
AGENT_NAMES = {f"ciphermark_agent.{path.stem}" for path in AGENT_MODULES}


def modules(package: str = ".") -> list[Path]:
    return sorted((BACKEND / package).rglob("*.py"))


def is_view(path: Path) -> bool:
    return bool({"views", "views.py", "notification_views.py", "urls.py"} & set(path.parts))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(BACKEND).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> Iterator[str]:
    # `from a import b` yields a and a.b, because b may be a module.
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@each("package", PURE)
def test_a_pure_package_imports_pure_packages(package: str) -> None:
    ours = {path.parent.name for path in BACKEND.glob("*/__init__.py")}
    for path in modules(package):
        tops = {name.split(".")[0] for name in imported(path)}
        assert tops & ours <= set(PURE), path.relative_to(BACKEND)


@each("package", sorted(FOLLOWS))
def test_a_folder_imports_only_those_before_it(package: str) -> None:
    for path in modules(package):
        if is_view(path):
            continue
        names = set(imported(path))
        tops = {name.split(".")[0] for name in names}
        allowed = {package, *FOLLOWS[package]}
        assert tops & set(FOLLOWS) <= allowed, path.relative_to(BACKEND)
        above = {name for name in names if re.match(rf"({'|'.join(FOLLOWS)})\.views\b", name)}
        assert not above, path.relative_to(BACKEND)


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
        assert {name.split(".")[0] for name in names} <= {
            "ciphermark_agent",
            *sys.stdlib_module_names,
        }
        graph[f"ciphermark_agent.{path.stem}"] = names & AGENT_NAMES
    assert (
        set(TopologicalSorter(graph).static_order()) == AGENT_NAMES
    )  # raises CycleError for a cycle


def test_no_module_of_the_agent_is_long() -> None:
    for path in AGENT_MODULES:
        assert len(path.read_text("utf-8").splitlines()) <= 400, path.name
