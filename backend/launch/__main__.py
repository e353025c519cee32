"""`python -m launch TARGET`: what each make target does.

It runs twice: first in any Python, to check the machine and make the virtual environment (only
the standard library there), then in that environment with `--inside`.
"""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from launch import environment, paths, preconditions, processes, system_programs
from launch.console import Problem, say, tell_problem

INTERRUPTED = 130

PROOFS = ("chaos", "load", "soak", "fuzz", "audit")
BENCHES = ("bench", "lighthouse")
"""They share a data folder, for the data set in it takes minutes to make."""

OWN_FOLDERS = ("test", "check", "compat", *BENCHES, *PROOFS)
"""Targets that leave the data of `make run` alone."""


def main(arguments: Sequence[str]) -> int:
    """Do the target; returns the exit code. Problems are one sentence on the error stream."""
    processes.end_on_signals()
    inside = arguments[:1] == ["--inside"]
    target = arguments[-1] if arguments else "run"
    try:
        return _targets()[target]() if inside else _outside(target)
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
        return _clean()
    if target in ("run", *OWN_FOLDERS):
        lock = preconditions.FolderLock.take(paths.data_dir(), target)
        inherited = lock.hand_over()
    if target == "test":
        system_programs.provide_all()
    requirements = environment.RUN if target == "run" else environment.TEST
    if target == "run" and not environment.is_ready(requirements):
        preconditions.check_port(preconditions.chosen_port())
    environment.prepare(requirements)
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


def _targets() -> dict[str, Callable[[], int]]:
    """Imported only when needed: most need packages of the virtual environment."""
    proofs = {name: partial(_prove, name) for name in PROOFS}
    benches = {"bench": _bench, "lighthouse": _lighthouse}
    others = {
        "lint": _lint,
        "check": _check,
        "types": _types,
        "requirements": _requirements,
    }
    return {"run": _run, "test": _test, "compat": _compat, **benches, **others, **proofs}


def _run() -> int:
    from launch.site import run_site

    return run_site()


def _test() -> int:
    from launch.checks import run_all

    return run_all()


def _check() -> int:
    from launch.checks import run_check

    return run_check()


def _compat() -> int:
    from launch.checks import run_compatibility, run_on_this_python

    return run_on_this_python() if _names_a_python("compat") else run_compatibility()


def _bench() -> int:
    from launch.bench import run_bench

    return run_bench()


def _lighthouse() -> int:
    from launch.bench import run_lighthouse

    return run_lighthouse()


def _lint() -> int:
    from launch.checks import run_lint

    return run_lint()


def _types() -> int:
    from launch.checks import run_types

    return run_types()


def _prove(name: str) -> int:
    from launch.long_tests import run_proof

    return run_proof(name)


def _requirements() -> int:
    from launch.requirements import make_requirements

    return make_requirements()


def _clean() -> int:
    from launch.clean import clean

    return clean()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
