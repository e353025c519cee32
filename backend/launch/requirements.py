"""`make requirements`: the requirements*.txt from the requirements*.in, with hashes.

Each .in names what we chose and why; its .txt has everything that those need in turn, one version
for every Python from 3.11 and every platform, with the hashes of all files of each version, so
that an installation takes exactly what was looked at here.
"""

from launch import paths, processes

FILES = ("requirements", "requirements-dev")

EVERYWHERE = ("--universal", "--python-version", "3.11")
OPTIONS = (*EVERYWHERE, "--generate-hashes", "--no-annotate", "--quiet")


def make_requirements() -> int:
    """Make all of them anew where something changed; what is pinned already stays as it is."""
    for number, name in enumerate(FILES):
        same = ("-c", f"{FILES[number - 1]}.txt") if number else ()
        words = ("pip", "compile", *OPTIONS, f"{name}.in", *same, "-o", f"{name}.txt")
        header = ("--custom-compile-command", "make requirements")
        status = processes.run("uv", [paths.venv() / "bin" / "uv", *words, *header])
        if status != 0:
            return status
    return 0
