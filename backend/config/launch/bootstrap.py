"""Prepare the virtual environment of a make target, then execute the target's program.

This module imports only the standard library, because other packages may not be installed yet.
"""

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
VENV = Path(os.environ.get("CIPHERMARK_VENV") or PROJECT / ".venv").absolute()
PYTHON = VENV / "bin" / "python"
RUN, TEST = "requirements.txt", "requirements-dev.txt"

BUILT = (
    *(".venv", "frontend/node_modules", "frontend/dist"),
    *(f".data/{name}" for name in ("tools", "test", "check", "portable", "bench")),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache"),
)


def main(target: str) -> None:
    own = PROJECT / ".data" / target
    if target in ("run", "clean"):
        own = Path(os.environ.get("CIPHERMARK_DATA_DIR") or PROJECT / ".data").absolute()
    hold(own, "run" if target == "clean" else target)
    os.chdir(PROJECT)
    if target == "clean":
        clean(own)
        return
    if target == "run":
        check_port(os.environ.get("PORT") or "8000")
    with Path(RUN).open() as lock:  # all targets share the environment
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_environment()
        for requirements in (RUN,) if target == "run" else (RUN, TEST):
            fill_environment(requirements)
    os.environ |= {"CIPHERMARK_DATA_DIR": str(own), "PYTHONPATH": str(PROJECT / "backend")}
    if target == "run":
        if subprocess.run([PYTHON, "-m", "config.launch.frontend"]).returncode:
            sys.exit(1)
        become("manage.py", "run_site")
    elif target == "bench":
        become("-m", "tests.bench")
    elif target != "environment":
        become("-m", "tests.suite", target)


def become(*words: str) -> None:
    os.execv(PYTHON, [str(PYTHON), *words])  # noqa: S606 - no shell meant


def hold(folder: Path, target: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / f"{target}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        sys.exit(
            f"{folder} is not writable ({error.strerror}). Change its owner, or set "
            "CIPHERMARK_DATA_DIR to another folder."
        )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(lock, 200, 0).decode()
        sys.exit(
            f"`make {target}` is already running in this folder ({owner}). Stop it, or set "
            "CIPHERMARK_DATA_DIR to another folder."
        )
    os.ftruncate(lock, 0)
    port = f", port {os.environ.get('PORT') or 8000}" if target == "run" else ""
    os.pwrite(lock, f"process {os.getpid()}{port}".encode(), 0)
    os.set_inheritable(lock, True)  # the lock survives exec


def check_port(text: str) -> None:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        sys.exit(f"PORT={text} is not a port number. Use a number from 1 to 65535.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(text)))
        except OSError as error:
            sys.exit(
                f"Port {text} is not available ({error.strerror}). Stop the program using it, or "
                f"choose another port, as in `PORT={8000 if int(text) != 8000 else 8001} make run`."
            )


def make_environment() -> None:
    suits = "import pip, sys; sys.exit(not (3, 11, 2) <= sys.version_info[:3] < (3, 15))"
    if (
        PYTHON.exists()
        and not subprocess.run([PYTHON, "-c", suits], capture_output=True).returncode
    ):
        return
    print(f"Creating the virtual environment {VENV} ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)


def fill_environment(requirements: str) -> None:
    digest = hashlib.sha256(Path(requirements).read_bytes()).hexdigest()
    stamp = VENV / f"filled-from-{requirements}"
    if stamp.exists() and stamp.read_text() == digest:
        return
    print(f"Installing packages from {requirements} (only once; takes a minute) ...", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
    # The file lists every package. If pip resolved dependencies, it would choose the newest release
    # of a package required with an extra, and stop because its hash is missing (pypa/pip#9644).
    pip += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", requirements]
    if subprocess.run(pip).returncode:
        sys.exit(
            "Could not install the Python packages; see pip's error above. "
            "Check the network connection and the free disk space, or choose another Python, as in "
            "`make run PYTHON=/path/to/python3.13`."
        )
    stamp.write_text(digest)


def clean(data: Path) -> None:
    for folder in (*BUILT, *([str(data)] if os.environ.get("DATA") == "1" else [])):
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(130)
