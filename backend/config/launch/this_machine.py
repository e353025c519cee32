import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.tokens import create_token
from config.launch import processes
from runs.models import Run

PROCESSING_SECONDS = 60.0  # timeout from upload to the status ready, which normally takes a second

NO_SSH = (
    "ssh was not measured because sshd is missing. Install it (Debian, Ubuntu: "
    "sudo apt install openssh-server), then run `MEASURE=1 make run`."
)


def measure_if_wanted(url: str, watch: Callable[[], None]) -> None:
    """Measure this machine, unless an earlier run exists, and print the URL of the results.

    The environment variable MEASURE=1 forces a measurement, and MEASURE=0 prevents a measurement.
    `watch` is called several times a second during the measurement.
    """
    document = settings.DATA_DIR / "this-machine.json"
    wanted = os.environ.get("MEASURE") or ("0" if _is_stored(document) else "1")
    if wanted == "1":
        _measure(url, document, watch)
    elif _is_stored(document):
        print("This machine was measured before. To measure it again, run `MEASURE=1 make run`.")
    if _is_stored(document):
        tools = {measurement["tool"] for measurement in _read(document)["measurements"]}
        tool = "ssh" if "ssh" in tools else "openssl"
        if tool == "openssl":
            print(NO_SSH)
        print(f"\nCompare this machine with published results: {url}?tool={tool}&group_by=cpu")


def _measure(url: str, document: Path, watch: Callable[[], None]) -> None:
    print("Measuring this machine (MEASURE=0 make run skips this) ...", flush=True)
    # An interrupted run must not replace a complete one.
    measured, token = document.with_suffix(".part.json"), settings.DATA_DIR / "upload-token"
    token.unlink(missing_ok=True)
    token.touch(mode=0o600)
    token.write_text(create_token(f"make run {datetime.now(UTC):%Y-%m-%d %H:%M:%S}", "upload", 1))
    settings.MEASURING_FILE.touch()
    agent = processes.start(
        [
            *(sys.executable, settings.AGENT_PACKAGE, "run", "--quick", "--server", url),
            *("--token-file", token, "--output", measured),
        ],
        settings.DATA_DIR,
    )
    try:
        while agent.poll() is None:
            watch()
            time.sleep(0.1)
    finally:
        processes.end(agent)
        for path in (token, settings.MEASURING_FILE):
            path.unlink(missing_ok=True)
    if agent.returncode != 0:
        print(f"The benchmark failed (exit code {agent.returncode}); the site is still running.")
        print("To retry, stop the site and run `MEASURE=1 make run`.")
        return
    measured.replace(document)
    deadline = time.monotonic() + PROCESSING_SECONDS
    while not _is_stored(document) and time.monotonic() < deadline:
        watch()
        time.sleep(0.1)
    if not _is_stored(document):
        print(f"The run is still being processed: {url}runs/{_read(document)['run_id']}/")


def _read(document: Path) -> dict[str, Any]:
    try:
        content = json.loads(document.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_stored(document: Path) -> bool:
    run_id = _read(document).get("run_id", "")
    return bool(run_id) and Run.objects.filter(run_id=run_id, status=Run.Status.READY).exists()
