"""`make audit`: secrets in the repository, known holes of the packages.

`python -m tests.audit [PART...]`. A part that needs an index and gets no answer is not counted as
passed. `make test` runs `secrets`, which needs none.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from launch.console import say

PROJECT = Path(__file__).parent.parent

NOT_OURS = frozenset(
    {".git", ".data", ".venv", "node_modules", "dist", "__pycache__", "captures", "recorded"}
)
"""Folders without text of our own; captures are what openssl
printed, recorded are sites of older versions with their tokens."""

HASHES = ("package-lock.json", ".png", ".woff2", "requirements.txt", "-sbom.txt", "-dev.txt")
"""Ends of the names of files that consist of hashes or are no text."""

HARMLESS = "PASSWORD@|noqa: S105|secretName: "
"""What .env.example has where a password belongs; lines with a reason for ruff; what
Kubernetes calls a secret."""


INVENTED = ("Secret Keyword", "Basic Auth Credentials")
"""Passwords that tests make up for people who do not exist; keys of real services are found there
too."""


FILES = ("requirements.txt", "requirements-dev.txt")
PLATFORMS = (
    *("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"),
    *("x86_64-apple-darwin", "aarch64-apple-darwin"),
)
PYTHONS = ("3.11.2", "3.12", "3.13", "3.14")

UNANSWERED = ("error sending request", "Request failed", "Failed to fetch", "network was disabled")
"""What uv writes when no index answers."""


class Outcome(NamedTuple):
    """How a part ended. `passed` None: nobody answered."""

    passed: bool | None
    note: str


def _run(*command: str | Path, folder: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=PROJECT / folder, capture_output=True, text=True, check=False
    )


def secrets() -> Outcome:
    """detect-secrets over every file of ours, in git or not."""
    names = [str(path.relative_to(PROJECT)) for path in _files(PROJECT)]
    found = _run(
        *(sys.executable, "-m", "detect_secrets", "scan", "--exclude-lines", HARMLESS, *names)
    )
    if found.returncode != 0:
        return Outcome(False, found.stderr.strip()[-300:])
    results = json.loads(found.stdout)["results"]
    lines = [
        f"{name}:{one['line_number']}: {one['type']}"
        for name, of_file in results.items()
        for one in of_file
        if not (name.startswith("tests/") and one["type"] in INVENTED)
    ]
    return _judged(lines, len(lines))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in NOT_OURS and not path.name.endswith("_cache"):
            yield from _files(path)
        elif path.is_file() and not path.name.endswith(HASHES):
            yield path


def python_packages() -> Outcome:
    """pip-audit over what is installed by hash."""
    asked = ("--requirement", "requirements-dev.txt", "--require-hashes", "--disable-pip")
    found = _run(sys.executable, "-m", "pip_audit", *asked, "--format", "json")
    try:
        packages = json.loads(found.stdout)["dependencies"]
    except ValueError:
        return Outcome(None, _last_line(found.stderr))
    unanswered = [one["name"] for one in packages if "skip_reason" in one]
    if unanswered:
        return Outcome(None, f"the index knows nothing of {len(unanswered)} packages")
    holes = [f"{one['name']}: {hole['id']}" for one in packages for hole in one["vulns"]]
    return _judged(holes, len(holes))


def wheels() -> Outcome:
    """Every pinned package has a wheel for each Python and platform that the README names.

    uv resolves the whole set for each of them and installs nothing.
    """
    missing, sets = [], list(product(FILES, PLATFORMS, PYTHONS))
    for file, platform, python in sets:
        found = _run(*_resolving(file, platform, python))
        if any(words in found.stderr for words in UNANSWERED):
            return Outcome(None, _last_line(found.stderr))
        if found.returncode != 0:
            why = " ".join(found.stderr.split())
            missing.append(f"{file} on {platform}, Python {python}: {why[:300]}")
    if missing:
        return _judged(missing, len(missing))
    return Outcome(True, f"{len(sets)} sets: {', '.join(PLATFORMS)}; {', '.join(PYTHONS)}")


def _resolving(file: str, platform: str, python: str) -> tuple[str | Path, ...]:
    return (
        *(Path(sys.executable).with_name("uv"), "pip", "install", "--dry-run", "--no-progress"),
        *("--only-binary", ":all:", "--require-hashes", "--target", PROJECT / ".data" / "nowhere"),
        *("--python-platform", platform, "--python-version", python, "--requirement", file),
    )


def npm_packages() -> Outcome:
    """npm audit over the lock file."""
    found = _run("npm", "audit", "--package-lock-only", "--json", folder="frontend")
    try:
        answer = json.loads(found.stdout)
        holes = [f"{name}: {one['severity']}" for name, one in answer["vulnerabilities"].items()]
    except (ValueError, KeyError):
        return Outcome(None, _last_line(found.stderr or found.stdout))
    return _judged(holes, len(holes))


def _judged(lines: Sequence[str], status: int) -> Outcome:
    for line in lines:
        say(f"  {line}")
    return Outcome(status == 0, f"{len(lines)} found" if lines else "")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it said nothing")


PARTS: dict[str, Callable[[], Outcome]] = {
    "secrets": secrets,
    "python-packages": python_packages,
    "wheels": wheels,
    "npm-packages": npm_packages,
}

WORDS = {True: "passed", False: "FAILED", None: "NO ANSWER"}


def main(names: Sequence[str]) -> int:
    """Run the parts (all by default); 0 when each has passed."""
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    outcomes = {}
    for name in names or PARTS:
        outcomes[name] = PARTS[name]()
        say(f"{name:<16} {WORDS[outcomes[name].passed]:<9} {outcomes[name].note}".rstrip())
    return 0 if all(outcome.passed for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
