"""`python -m launch TARGET`: what each make target does.

It runs twice: first in any Python, to check the machine and make the virtual environment (only
the standard library there), then in that environment with `--inside`.
"""

import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import NoReturn

from launch import paths, preconditions, processes, virtual_environment
from launch.console import Problem, say, tell_problem

INTERRUPTED = 130

SUITE = ("test", "check", "lint", "types", "portable")
OWN_FOLDERS = ("test", "check", "portable", "bench")
"""Targets that leave the data of `make run` alone."""

TARGETS = {
    "run": "launch.site:run_site",
    "requirements": "launch.virtual_environment:make_requirements",
}
"""What each of the others calls."""


def main(arguments: Sequence[str]) -> int:
    """Do the target; returns the exit code. Problems are one sentence on the error stream."""
    processes.end_on_signals()
    inside = arguments[:1] == ["--inside"]
    target = arguments[-1] if arguments else "run"
    try:
        return _inside(target) if inside else _outside(target)
    except Problem as problem:
        tell_problem(problem)
        return 1
    except processes.Interrupted as interrupted:
        say(f"Stopped ({interrupted}).")
        return INTERRUPTED


def _outside(target: str) -> int:
    """In whatever Python: check, make the environment, go on in it."""
    if target in OWN_FOLDERS:
        os.environ["CIPHERMARK_DATA_DIR"] = str(paths.PROJECT / ".data" / target)
    preconditions.check_files()
    preconditions.check_folders()
    inherited: dict[str, str] = {}
    if target == "clean":
        from launch.clean import clean

        return clean()
    if target in ("run", *OWN_FOLDERS):
        lock = preconditions.FolderLock.take(paths.data_dir(), target)
        inherited = lock.hand_over()
    requirements = virtual_environment.RUN if target == "run" else virtual_environment.TEST
    if target == "run" and not virtual_environment.is_ready(requirements):
        preconditions.check_port(preconditions.chosen_port())
    virtual_environment.prepare(requirements)
    return _go_inside(target, inherited)


def _go_inside(target: str, inherited: dict[str, str]) -> NoReturn:
    variables = {
        **os.environ,
        **inherited,
        "PYTHONPATH": str(paths.BACKEND),
        "PYTHONUNBUFFERED": "1",
        "CIPHERMARK_DATA_DIR": str(paths.data_dir()),
    }
    python = str(paths.venv_python())
    os.execve(python, [python, "-m", "launch", "--inside", target], variables)  # noqa: S606 - no shell meant


def _inside(target: str) -> int:
    """In the virtual environment: do it. Imported only now, for most needs packages of that."""
    if target in SUITE:
        from tests.suite import main as run_suite

        return int(run_suite(target))
    if target == "bench":
        from tests.bench.__main__ import main as run_bench

        return int(run_bench([]))
    return int(resolve_name(TARGETS[target])())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
