"""Keeping an exception in one parser from what the others read."""

import traceback
from collections.abc import Callable
from typing import TypeVar

from parsers.types import ParserFailure

Read = TypeVar("Read")


class Guard:
    """Runs parsers and collects their failures."""

    def __init__(self) -> None:
        self.failures: list[ParserFailure] = []

    def run(self, parser: str, read: Callable[[], Read], otherwise: Read) -> Read:
        """What `read` returns; `otherwise` when it raises."""
        try:
            return read()
        except Exception:  # noqa: BLE001 - whatever it is, the text is not at fault
            self.failures.append(ParserFailure(parser, traceback.format_exc()))
            return otherwise
