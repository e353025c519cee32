"""`python -m launch TARGET`: what each make target does.

It runs twice: first in any Python, to check the machine and make the virtual environment (only
the standard library there), then in that environment with `--inside`.
"""

import os
import platform
import sys
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import NoReturn

from launch import paths, preconditions, processes, system_programs, virtual_environment
from launch.console import Problem, say, tell_problem

INTERRUPTED = 130

PROOFS = ("chaos", "load", "soak", "fuzz", "audit")
BENCHES = ("bench", "lighthouse", "scale")
"""The first two share a data folder, for the data set in it takes minutes to make."""

OWN_FOLDERS = ("test", "check", "compat", *BENCHES, *PROOFS)
"""Targets that leave the data of `make run` alone."""

TARGETS = {
    "run": "launch.site:run_site",
    "test": "launch.checks:run_all",
    "check": "launch.checks:run_check",
    "lint": "launch.checks:run_lint",
    "types": "launch.checks:run_types",
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
        os.environ["CIPHERMARK_DATA_DIR"] = str(paths.PROJECT / ".data" / _folder(target))
    if _names_a_python(target):
        os.environ["CIPHERMARK_VENV"] = str(paths.data_dir() / "venv")
    preconditions.check_files()
    preconditions.check_folders()
    inherited: dict[str, str] = {}
    if target == "clean":
        from launch.clean import clean

        return clean()
    if target in ("run", *OWN_FOLDERS):
        lock = preconditions.FolderLock.take(paths.data_dir(), target)
        inherited = lock.hand_over()
    if target == "test":
        system_programs.provide_all()
    requirements = virtual_environment.RUN if target == "run" else virtual_environment.TEST
    if target == "run" and not virtual_environment.is_ready(requirements):
        preconditions.check_port(preconditions.chosen_port())
    virtual_environment.prepare(requirements)
    return _go_inside(target, inherited)


def _folder(target: str) -> str:
    """The data folder of a target that does not use that of `make run`."""
    if _names_a_python(target):
        return f"compat-{platform.python_version()}"
    return {"compat": "test", "lighthouse": "bench"}.get(target, target)


def _names_a_python(target: str) -> bool:
    """Whether it is `make compat PYTHON=...`, and this is that Python."""
    return target == "compat" and bool(os.environ.get("PYTHON"))


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


def _compat() -> int:
    from launch.checks import run_compatibility, run_on_this_python

    return run_on_this_python() if _names_a_python("compat") else run_compatibility()


def _inside(target: str) -> int:
    """In the virtual environment: do it. Imported only now, for most needs packages of that."""
    if target == "compat":
        return _compat()
    if target in (*BENCHES, *PROOFS):
        from launch.long_tests import run_long_test

        return run_long_test(target)
    return int(resolve_name(TARGETS[target])())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
