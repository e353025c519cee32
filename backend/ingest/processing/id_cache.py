"""Numbers of rows that never change, remembered by the process: hundreds of look-ups a run less.

Only what is committed is remembered, and only as long as the connections to the database last
(a minute, by the settings): a database that was restored or emptied meanwhile is asked again.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

Key = TypeVar("Key", bound=Hashable)

LIMIT = 20_000
"""Keys of one kind; more can only come from documents that differ in everything."""

_memories: "list[Remembered[Any]]" = []


class Remembered(Generic[Key]):
    """Keys of one kind of rows with the rows' numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        _memories.append(self)

    def known(self, wanted: Iterable[Key]) -> dict[Key, int]:
        """Those of the wanted keys that are remembered."""
        numbers = self._numbers
        return {key: numbers[key] for key in wanted if key in numbers}

    def remember(self, found: Mapping[Key, int]) -> None:
        """Keep these, once the surrounding transaction is committed; never what is rolled back."""

        def keep() -> None:
            if len(self._numbers) + len(found) > LIMIT:
                self._numbers = {}
            self._numbers.update(found)

        transaction.on_commit(keep)

    def forget(self) -> None:
        """Look everything up again."""
        self._numbers = {}


def forget_everything(**_: Any) -> None:
    """Look everything up again: the database may be another one."""
    for memory in _memories:
        memory.forget()


connection_created.connect(forget_everything, dispatch_uid="ingest.processing.id_cache")
# Emptying a database (`flush`) ends with this too.
post_migrate.connect(forget_everything, dispatch_uid="ingest.processing.id_cache")
