"""Measure this machine with the agent, as its user would, and say where it stands."""

import contextlib
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from config.measurement_marker import told_as_measuring
from launch import openssh, paths, processes
from launch.console import Problem, say

PROCESSING_SECONDS = 60.0
"""From uploaded to `ready`: normally a second."""

Watch = Callable[[], None]


class Mode(Enum):
    """When to measure: `MEASURE` in the environment."""

    NEVER = "0"
    ALWAYS = "1"
    UNLESS_KNOWN = ""


def chosen_mode() -> Mode:
    """`MEASURE=0`, `MEASURE=1` or unset."""
    text = os.environ.get("MEASURE", "")
    try:
        return Mode(text)
    except ValueError as error:
        raise Problem(
            f"MEASURE={text} is unknown: 0 skips the benchmark, 1 repeats it, unset measures once."
        ) from error


def measure_if_wanted(url: str, data_dir: Path, mode: Mode, watch: Watch) -> None:
    """Benchmark this machine when asked or not yet known, then print its place in the charts."""
    document = data_dir / "this-machine.json"
    known = _run_status(url, _run_id(document)) == "ready"
    if mode is Mode.ALWAYS or (mode is Mode.UNLESS_KNOWN and not known):
        known = _measure(url, data_dir, document, watch)
    elif known:
        say("This machine was measured before; MEASURE=1 make run measures it again.")
    if known:
        say(f"\nThis machine beside the published ones: {comparison_url(url, document)}")


def _measure(url: str, data_dir: Path, document: Path, watch: Watch) -> bool:
    sshd = openssh.provide_sshd(data_dir, watch)
    if sshd is None:
        say("No sshd here and none could be brought: measuring openssl only.")
    say("Measuring this machine's ciphers (make run MEASURE=0 skips this) ...")
    measured = document.with_suffix(".part.json")
    try:
        agent = _download_agent(url, data_dir)
    except OSError as error:
        say(f"The agent cannot be downloaded ({error}); the site goes on without a benchmark.")
        return False
    with _upload_token(data_dir, watch) as token_file, told_as_measuring(data_dir):
        command: list[str | Path] = [sys.executable, agent, "run", "--quick"]
        command += ["--server", url]
        command += ["--token-file", token_file, "--output", measured]
        command += ["--sshd", sshd] if sshd else []
        status = processes.run("agent", command, watch=watch)
    if status != 0:
        say(f"The benchmark did not finish (exit code {status}); the site goes on without it.")
        return False
    measured.replace(document)  # an interrupted run never takes the place of a whole one
    return _wait_for_processing(url, document, watch)


def _download_agent(url: str, data_dir: Path) -> Path:
    """The file that every other host gets, from the site itself."""
    path = data_dir / "agent.py"
    with urllib.request.urlopen(f"{url}agent.py", timeout=30) as answer:
        path.write_bytes(answer.read())
    return path


@contextlib.contextmanager
def _upload_token(data_dir: Path, watch: Watch) -> Iterator[Path]:
    """A token for this upload, in a file of this user's: never on a command line."""
    path, log = data_dir / "upload-token", data_dir / "log" / "token.log"
    path.unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, paths.PROJECT / "manage.py", "create_token"]
    name = f"make run {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    command += [name, "--scope", "upload", "--expires-days", "1"]
    with open(path, "x", opener=_private) as stream:
        status = processes.run("create_token", command, output=stream, log=log, watch=watch)
    try:
        processes.require("Making an upload token", status, log)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _wait_for_processing(url: str, document: Path, watch: Watch) -> bool:
    run_id = _run_id(document)
    final = ("ready", "rejected")
    processes.wait_until(
        lambda: _run_status(url, run_id) in final, seconds=PROCESSING_SECONDS, watch=watch
    )
    status = _run_status(url, run_id)
    if status != "ready":
        say(f"The uploaded run is {status or 'unknown'} and not in the charts: {url}runs/{run_id}/")
    return status == "ready"


def _run_id(document: Path) -> str:
    return str(_read(document).get("run_id", ""))


def _read(document: Path) -> dict[str, Any]:
    try:
        content = json.loads(document.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _run_status(url: str, run_id: str) -> str:
    """The run's status on the site, or nothing when the site does not know it."""
    if not run_id:
        return ""
    try:
        run = f"{url}api/v1/runs/{run_id}/"
        with urllib.request.urlopen(run, timeout=5) as answer:
            return str(json.load(answer).get("status", ""))
    except (urllib.error.URLError, OSError, ValueError):
        return ""


def comparison_url(url: str, document: Path) -> str:
    """The compare page with what was measured: ssh when there is some, else openssl."""
    tools = {measurement.get("tool") for measurement in _read(document).get("measurements", [])}
    tool = "ssh" if "ssh" in tools else "openssl"
    return f"{url}?{urllib.parse.urlencode({'tool': tool, 'group_by': 'cpu'})}"
