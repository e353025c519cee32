"""What the reader of the terminal gets to see: plain lines, and one sentence for a problem."""

import os
import sys


class Problem(Exception):
    """What stops us, where, and what to do about it: one sentence, shown without a traceback."""


def say(text: str) -> None:
    """Print one line at once. A terminal that is gone must not stop an orderly end."""
    try:
        print(text, flush=True)
    except OSError:
        _fall_silent()


def tell_problem(problem: Problem) -> None:
    """Show the sentence, on the error stream."""
    try:
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
    except OSError:
        _fall_silent()


def _fall_silent() -> None:
    # Also keeps Python's own last flush from failing.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
