"""`make release-check`: whether this commit can be tagged as a release.

The version stands in the agent's package, from which the server reads it; all other places that
have to name it are compared with that one. The standard library alone, in any Python of ours.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent

VERSION = "agent/ciphermark_agent/__init__.py", r'^__version__ = "(.+)"$'

MIGRATIONS = "backend/store/migrations"
RECORDED = "tests/upgrades/recorded"
"""Sites of released versions, which the tests upgrade."""

NAMED_AGAIN = (
    ("pyproject.toml", r'^version = "(.+)"$'),
    ("Dockerfile", r'image\.version="(.+?)"'),
    ("frontend/package.json", r'^  "version": "(.+)",$'),
)


def read(project: Path, file: str, pattern: str) -> str:
    """The first that the pattern finds in a file; empty for nothing."""
    found = re.search(pattern, (project / file).read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


def disagreements(project: Path) -> list[str]:
    """Places that name another version than the agent's package does."""
    version = read(project, *VERSION)
    named = [(file, read(project, file, pattern)) for file, pattern in NAMED_AGAIN]
    return [f"{file} says {other}, not {version}" for file, other in named if other != version]


def unfinished(project: Path) -> list[str]:
    """What is left to do before the tag."""
    version, left = read(project, *VERSION), []
    newest = read(project, "CHANGELOG.md", r"^## (.+)$")
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", newest):
        left.append(f"CHANGELOG.md begins with {newest!r}, not with '{version} (YEAR-MONTH-DAY)'")
    if recorded_migration(project, version) != newest_migration(project):
        left.append(f"{RECORDED} has no site of {version} as it is now: make record-site")
    if changed := _git(project, "status", "--porcelain"):
        left.append(f"{len(changed.splitlines())} files are not committed")
    if _git(project, "tag", "--list", f"v{version}"):
        left.append(f"the tag v{version} exists already: raise the version")
    return left


def newest_migration(project: Path) -> str:
    """The name of the last one of `runs`."""
    return max(path.stem for path in (project / MIGRATIONS).glob("[0-9]*.py"))


def recorded_migration(project: Path, version: str) -> str:
    """The last migration of a version's recorded site; empty when it has none."""
    path = project / RECORDED / f"{version}.json"
    return str(json.loads(path.read_text())["migration"]) if path.exists() else ""


def _git(project: Path, *arguments: str) -> str:
    command = ["git", "-C", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """0 when the tag may be set."""
    faults = [*disagreements(PROJECT), *unfinished(PROJECT)]
    for fault in faults:
        sys.stderr.write(f"{fault}.\n")
    if not faults:
        version = read(PROJECT, *VERSION)
        sys.stdout.write(f"{version} can be released: git tag --annotate v{version}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
