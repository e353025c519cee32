"""What the bench prints while it works."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHOWN_EVERY_SECONDS = 0.5


def say(text: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Steps:
    """Steps of something that takes minutes, each with its time."""

    def __init__(self, title: str) -> None:
        self._begun = time.monotonic()
        say(title)

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[float], None]]:
        """Show one step; what it yields takes how much is done, from 0 to 1."""
        begun = shown = time.monotonic()

        def progress(done: float) -> None:
            nonlocal shown
            if sys.stdout.isatty() and time.monotonic() - shown > SHOWN_EVERY_SECONDS:
                shown = time.monotonic()
                sys.stdout.write(f"\r\033[K  {name}: {done:.0%}")
                sys.stdout.flush()

        yield progress
        end = "\r\033[K" if sys.stdout.isatty() else ""
        say(f"{end}  {name}: {time.monotonic() - begun:.1f} s")

    def end(self) -> None:
        """Say how long all of it took."""
        say(f"  together {time.monotonic() - self._begun:.1f} s")
