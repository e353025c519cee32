"""No regular expression has what Python 3.11.2 matches wrongly.

CPython before 3.11.5 has faults in possessive quantifiers and atomic groups: `(?:ab)++` and the
like match too much, too little or not at all. Held twice: by the patterns that exist once every
module is imported, however they were put together, and by the literals in the sources, which
also covers those that are compiled when they are used.
"""

import ast
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cases import each

PROJECT = Path(__file__).parent.parent

SOURCES = ("backend", "agent", "tests", "manage.py")

MARKS = ("*+", "++", "?+", "}+", "(?>")
"""Without one of these no pattern has such a part."""

FORBIDDEN = frozenset({"POSSESSIVE_REPEAT", "ATOMIC_GROUP"})

HERE = Path(__file__).name
"""This file quotes what it looks for."""

IMPORTING = """
import importlib, json, os, re, sys
compiled = []
original = re._parser.parse
def recording(source, *arguments):
    frame = sys._getframe(1)
    while frame and os.path.basename(os.path.dirname(frame.f_code.co_filename)) == "re":
        frame = frame.f_back
    found = source if isinstance(source, str) else source.decode("latin-1")
    if frame and not frame.f_code.co_filename.startswith("<frozen"):
        compiled.append((frame.f_code.co_filename, found))
    return original(source, *arguments)
re._parser.parse = recording
import django
django.setup()
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(compiled))
"""


def sources(ending: str) -> Iterator[Path]:
    for name in SOURCES:
        path = PROJECT / name
        yield from ([path] if path.is_file() else sorted(path.rglob(f"*.{ending}")))


def parts(tree: Any) -> Iterator[str]:
    """The names of all operations in a parsed pattern."""
    if isinstance(tree, (list, tuple, re._parser.SubPattern)):
        for part in tree:
            yield from parts(part)
    elif hasattr(tree, "name"):
        yield tree.name


def forbidden(text: str) -> bool:
    """Whether this is a pattern with a part that is matched wrongly."""
    if not any(mark in text for mark in MARKS):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = re._parser.parse(text)
        except (re.error, OverflowError, RecursionError):
            return False
    return not FORBIDDEN.isdisjoint(parts(tree))


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in a source; what an f-string fills in counts as a letter."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            text = node.value
            yield node.lineno, text if isinstance(text, str) else text.decode("latin-1")
        elif isinstance(node, ast.JoinedStr):
            texts = [getattr(part, "value", None) for part in node.values]
            yield node.lineno, "".join(one if isinstance(one, str) else "x" for one in texts)


def json_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from json_texts(one)


@each(
    ("pattern", "wrong"),
    (
        (r"[0-9]++", True),
        (r"(?:(?<=\d)[,'’](?=\d)[a-z]+)*+", True),
        (r"a{2,3}+b", True),
        (r"x(y(?>ab|a)z)?", True),
        (r"(?(1)a++|b)", False),  # no pattern: there is no group 1
        (r"(a)(?(1)b++|c)", True),
        (r"[*+]+\++", False),
        (r"(\+)+", False),
        (r"\(?>", False),
    ),
)
def test_the_check_finds_them_anywhere_in_a_pattern(pattern: str, wrong: bool) -> None:
    assert forbidden(pattern) == wrong


def test_no_literal_of_the_sources_has_one() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{line}: {text[:60]!r}"
        for path in sources("py")
        if path.name != HERE
        for line, text in literals(path)
        if forbidden(text)
    ]
    assert found == []


def test_no_text_of_the_json_files_has_one() -> None:
    paths = [path for path in sources("json") if path.suffix == ".json"]
    assert paths
    for path in paths:
        for text in json_texts(json.loads(path.read_text("utf-8"))):
            assert not forbidden(text), f"{path.relative_to(PROJECT)}: {text[:60]!r}"


def modules() -> list[str]:
    """All but the tests themselves, by their names for `import`."""
    roots = {PROJECT / "backend": "", PROJECT / "agent": "", PROJECT / "tests": "tests."}
    names = [
        prefix + ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for root, prefix in roots.items()
        for path in root.rglob("*.py")
        if not path.name.startswith(("test_", "conftest", "__main__"))
    ]
    return sorted(names)


def test_no_pattern_that_exists_after_importing_every_module_has_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, json.dumps(modules())],
        env={"PYTHONPATH": "backend:agent:.", "DJANGO_SETTINGS_MODULE": "tests.settings"},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    compiled = [
        (Path(name), text)
        for name, text in json.loads(done.stdout)
        if Path(name).is_relative_to(PROJECT) and "site-packages" not in name
    ]
    assert len(compiled) > 100, "the patterns of the modules are not seen"
    assert [(name.name, text) for name, text in compiled if forbidden(text)] == []
