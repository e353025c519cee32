"""What a killed `make run` left running, recognised by the mark in its environment."""

from pathlib import Path

import psutil

from launch.processes import MARK

SERVERS = ("postgres", "redis-server", "valkey-server")
"""Stopped by their last user (config.embedded), never here: that could lose what they hold."""

PATIENCE_SECONDS = 5.0


def marked_processes(data_dir: Path) -> list[psutil.Process]:
    """Everything alive, except ourselves, that was started for this data folder."""
    return [process for process in psutil.process_iter() if _is_marked(process, data_dir)]


def _is_marked(process: psutil.Process, data_dir: Path) -> bool:
    try:
        return (
            process.pid != psutil.Process().pid
            and process.environ().get(MARK) == str(data_dir)
            and process.name() not in SERVERS
        )
    except (psutil.Error, OSError):
        return False  # another user's, or gone


def end_marked_processes(data_dir: Path) -> int:
    """End them: asked first, killed after a few seconds. Returns how many there were."""
    found = marked_processes(data_dir)
    for process in found:
        _signal(process, "terminate")
    _, alive = psutil.wait_procs(found, timeout=PATIENCE_SECONDS)
    for process in alive:
        _signal(process, "kill")
    psutil.wait_procs(alive, timeout=PATIENCE_SECONDS)
    return len(found)


def _signal(process: psutil.Process, how: str) -> None:
    try:
        getattr(process, how)()
    except psutil.Error:
        return
