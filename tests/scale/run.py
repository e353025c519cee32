"""One call of `make scale`: fleets of these sizes, one after the other, each by every engine."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import psutil

from tests.bench.telling import Steps
from tests.scale import fleet, prototypes
from tests.scale.engines import ENGINES, MOST_HOSTS

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
DISK_BYTES_PER_HOST = 2_500
"""What its Parquet takes, and what an engine puts beside it."""


class WrongSetting(Exception):
    """A variable of the environment that makes no sense, or too little room; says what to do."""


@dataclass(frozen=True)
class Asked:
    """HOSTS, MEMORY_GB and KEEP: sizes, what an engine may take, whether the Parquet stays."""

    sizes: tuple[int, ...]
    memory_gb: int
    keep: bool


def asked(variables: Mapping[str, str]) -> Asked:
    """Settings of a call; `WrongSetting`."""
    text = variables.get("HOSTS") or ",".join(map(str, SIZES))
    memory = variables.get("MEMORY_GB") or "8"
    sizes = [_number(part) for part in text.split(",")]
    if not all(sizes):
        raise WrongSetting(f"HOSTS={text}: numbers of hosts, by commas, such as 10000,1000000.")
    if not _number(memory):
        raise WrongSetting(f"MEMORY_GB={memory}: a number of gigabytes, such as 8.")
    return Asked(tuple(sorted(sizes)), _number(memory), variables.get("KEEP") == "1")


def _number(text: str) -> int:
    """0 for what is none."""
    return int(text) if text.strip().isdecimal() else 0


def measure(asked: Asked) -> dict[str, Any]:
    """What each engine took for each fleet, and on which machine."""
    room = Path(tempfile.gettempdir())
    check_room(room, max(asked.sizes))
    begun = time.monotonic()
    steps = Steps(f"Fleets of {', '.join(f'{size:,}' for size in asked.sizes)} hosts")
    with steps.step("runs that the program processes"):
        prototypes.provide()
    fleets = []
    for hosts in asked.sizes:
        folder = Path(tempfile.mkdtemp(prefix=f"ciphermark-scale-{hosts}-", dir=room))
        try:
            fleets.append(_fleet(asked, hosts, folder, steps))
        finally:
            if not asked.keep:
                shutil.rmtree(folder)
    steps.end()
    return {"machine": machine(asked), "seconds": time.monotonic() - begun, "fleets": fleets}


def check_room(folder: Path, hosts: int) -> None:
    """`WrongSetting` where a fleet does not fit."""
    wanted, free = hosts * DISK_BYTES_PER_HOST, shutil.disk_usage(folder).free
    if free < wanted:
        raise WrongSetting(
            f"{folder} has {free / 1e9:.1f} GB free, and {hosts:,} hosts need {wanted / 1e9:.1f}:"
            " make room, name another folder by TMPDIR, or fewer HOSTS."
        )


def _fleet(asked: Asked, hosts: int, folder: Path, steps: Steps) -> dict[str, Any]:
    begun = time.monotonic()
    with steps.step(f"{hosts:,} hosts as Parquet in {folder}"):
        prototypes.name_hosts(hosts)
        duck, state = prototypes.read()
        snapshot = fleet.write(duck, state, hosts, folder)
        duck.close()
    written = time.monotonic() - begun
    engines = []
    for name in ENGINES:
        if hosts > MOST_HOSTS.get(name, hosts):
            continue
        with steps.step(f"{hosts:,} hosts, {name}"):
            engines.append(_measured(name, snapshot, asked.memory_gb))
    return {
        "hosts": hosts,
        "write_seconds": written,
        "parquet_bytes": {one.stem: one.stat().st_size for one in snapshot.glob("*.parquet")},
        "engines": engines,
    }


def _measured(name: str, snapshot: Path, memory_gb: int) -> dict[str, Any]:
    """By a process of its own, whose memory is the engine's; it spills beside the snapshot."""
    path = snapshot.parent / "figures.json"
    command = ("-m", "tests.scale", "--engine", name, "--snapshot", snapshot, "--json", path)
    variables = {"MEMORY_GB": str(memory_gb), "TMPDIR": str(snapshot.parent)}
    subprocess.run([sys.executable, *command], env={**os.environ, **variables}, check=True)
    found: dict[str, Any] = json.loads(path.read_text())
    path.unlink()
    return found


def machine(asked: Asked) -> dict[str, Any]:
    """On what, with which engines."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "load": os.getloadavg()[0],
        "engine_memory_gb": asked.memory_gb,
        "duckdb": duckdb.__version__,
        "chdb": version("chdb-core"),
    }
