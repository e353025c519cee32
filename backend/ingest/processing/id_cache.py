"""Numbers of rows that never change, remembered by the process: hundreds of look-ups a run less.

Only what is committed is remembered, and only as long as the connections to the database last
(a minute, by the settings): a database that was restored or emptied meanwhile is asked again.
"""

from collections.abc import Callable, Hashable, Mapping, Set
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

    def numbers(
        self,
        wanted: Set[Key],
        find: Callable[[Set[Key]], dict[Key, int]],
        make: Callable[[Set[Key]], object],
    ) -> dict[Key, int]:
        """Those of the wanted keys; what is not remembered is found, what is not found is made.

        Other workers may make the same rows: `make` leaves those as they are.
        """
        remembered = self._numbers
        numbers = {key: remembered[key] for key in wanted if key in remembered}
        unknown = wanted - numbers.keys()
        if unknown:
            found = find(unknown)
            if missing := unknown - found.keys():
                make(missing)
                found = find(unknown)
            self._remember(found)
            numbers |= found
        return numbers

    def _remember(self, found: Mapping[Key, int]) -> None:
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
