"""Rollups: the answers asked for most, kept, and never older than they say.

A rollup is made when it is first asked for and is exact while the version of the data is the one
that it was made from. After a change it is made anew before it answers where that takes no longer
than anybody notices, which on ordinary sites it does; while changes follow each other, those made
quickest are not even stored. Where it takes longer, and the caller says that it may lag
(`allowing_lag`), the old one answers with its moment and a worker makes it anew.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from celery import current_app
from django.core.cache import cache
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from runs.data_version import data_version
from runs.models import Rollup, RollupSlot

logger = logging.getLogger(__name__)

LOCK = 5_901_215
"""Of the database's advisory locks, the first key of those under which rollups are made."""

AT_ONCE_SECONDS = 0.25
"""A rollup that takes no longer is made anew by whoever asks."""

IN_PASSING_SECONDS = 0.05
"""A rollup that takes no longer is made for one answer alone: storing it would take longer."""

STORED_EVERY = timedelta(seconds=30)
"""Of those: the answers of a quiet site come from what is stored."""

PAUSE_SECONDS, PAUSE_TIMES = 3, 20
"""Between two times that workers make one rollup: so many seconds, and so many times what it
takes, so that no rollup has more than a twentieth of a core."""

KEPT = timedelta(days=7)

READINGS = 3
"""Of a rollup and its slots until both are of one version."""

TASK = "runs.tasks.make_rollup"


@dataclass
class Lag:
    """What a page or answer was made of: the moment of its oldest figures, None: all are exact.

    `version` is that of the data when the answer was begun: figures of it are exact. `made` are
    the rollups that were made for this answer alone, by their keys: it asks for one several times.
    """

    version: UUID
    as_of: datetime | None = None
    made: "dict[str, Made]" = field(default_factory=dict)

    @property
    def seconds(self) -> int:
        """How long ago that was; 0 where all are exact."""
        return round((timezone.now() - self.as_of).total_seconds()) if self.as_of else 0

    def note(self, as_of: datetime) -> None:
        """Figures of this moment were used."""
        self.as_of = as_of if self.as_of is None else min(self.as_of, as_of)


_lag: ContextVar[Lag | None] = ContextVar("lag", default=None)


@contextmanager
def allowing_lag(version: UUID | None = None) -> Iterator[Lag]:
    """Within, rollups may be older than the data; what is given says how old they were.

    `version` is the present one for who has asked for it already.
    """
    lag = Lag(version or data_version())
    token = _lag.set(lag)
    try:
        yield lag
    finally:
        _lag.reset(token)


_in_use: ContextVar[bool] = ContextVar("rollups_in_use", default=True)


@contextmanager
def without_rollups() -> Iterator[None]:
    """Within, answers are made from the figures themselves: what is read is of one moment."""
    token = _in_use.set(False)
    try:
        yield
    finally:
        _in_use.reset(token)


def in_use() -> bool:
    """Whether rollups may answer."""
    return _in_use.get()


@dataclass(frozen=True)
class Made:
    """A rollup that has just been made: values of JSON, and by slot what is read by slots.

    `ranks` of a slot are sorted numbers, to be counted in by the database.
    """

    body: Mapping[str, Any]
    slots: Mapping[int, Any] = field(default_factory=dict)
    ranks: Mapping[int, Sequence[float]] = field(default_factory=dict)


Question = Mapping[str, Any]
Maker = Callable[[Question], Made]

_makers: dict[str, Maker] = {}


def maker(kind: str) -> Callable[[Maker], Maker]:
    """Declare how rollups of a kind are made from their question."""

    def declare(make: Maker) -> Maker:
        _makers[kind] = make
        return make

    return declare


def rollup(kind: str, question: Question) -> Mapping[str, Any]:
    """The body of this question's rollup: exact, or inside `allowing_lag` noted there."""
    return _found(kind, question).body


def stored_rollup(kind: str, question: Question) -> Rollup:
    """The same as a row, for statements that read its slots."""
    key = _key(kind, question)
    return _present(key, _row(key), _version())


def rollup_with_slots(
    kind: str, question: Question, choose: Callable[[Mapping[str, Any]], list[int]]
) -> tuple[Mapping[str, Any], dict[int, Any]]:
    """The rollup's body, and what it has of the slots that `choose` picks by that.

    Both of one version: where it was made anew between the two reads, it is read again. One that
    is still not whole then is damaged, and made anew.
    """
    for reading in count(1):
        found = _found(kind, question)
        wanted = choose(found.body)
        if isinstance(found, Made):
            return found.body, {slot: found.slots[slot] for slot in wanted}
        rows = RollupSlot.objects.filter(rollup=found, version=found.version, slot__in=wanted)
        slots = dict(rows.values_list("slot", "body"))
        if len(slots) == len(wanted):
            return found.body, slots
        if reading >= READINGS:
            Rollup.objects.filter(pk=found.pk, version=found.version).delete()
    raise AssertionError("counting does not end")


def _key(kind: str, question: Question) -> str:
    return json.dumps([kind, question], sort_keys=True, separators=(",", ":"))


def _row(key: str) -> Rollup | None:
    return Rollup.objects.filter(key=key).first()


def _version() -> UUID:
    """The version that a rollup has to be of: that of the answer it is a part of."""
    lag = _lag.get()
    return lag.version if lag else data_version()


def _found(kind: str, question: Question) -> Rollup | Made:
    """As it is stored, or made just now and perhaps not stored."""
    key, lag = _key(kind, question), _lag.get()
    if lag is not None and key in lag.made:
        return lag.made[key]
    stored, version = _row(key), _version()
    if stored is None or stored.version == version or not _made_in_passing(stored):
        return _present(key, stored, version)
    made = _makers[kind](question)
    if lag is not None:
        lag.made[key] = made
    return made


def _made_in_passing(stored: Rollup) -> bool:
    return stored.seconds < IN_PASSING_SECONDS and _age(stored) < STORED_EVERY


def _present(key: str, stored: Rollup | None, version: UUID) -> Rollup:
    """A stored one: what there is where it is exact or may lag, else a new one."""
    lag = _lag.get()
    if stored is not None and stored.version == version:
        return stored
    if lag is None or stored is None or stored.seconds < AT_ONCE_SECONDS or not _asked_for(stored):
        return make_rollup(key)
    lag.note(stored.as_of)
    return stored


def _age(stored: Rollup) -> timedelta:
    return timezone.now() - stored.as_of


@transaction.atomic
def make_rollup(key: str) -> Rollup:
    """Make a rollup, unless somebody else just did: of two that want to, one waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LOCK, key])
    as_of, version = timezone.now(), data_version()
    stored = Rollup.objects.filter(key=key).first()
    if stored is not None and stored.version == version:
        return stored
    kind, question = json.loads(key)
    begun = time.monotonic()
    made = _makers[kind](question)
    seconds = time.monotonic() - begun
    facts = {"version": version, "as_of": as_of, "seconds": seconds, "body": made.body}
    stored, _ = Rollup.objects.update_or_create(key=key, defaults=facts)
    stored.slots.all().delete()
    RollupSlot.objects.bulk_create(
        RollupSlot(rollup=stored, version=version, slot=slot, body=body, ranks=made.ranks.get(slot))
        for slot, body in made.slots.items()
    )
    return stored


def forget_rollups() -> None:
    """Remove rollups made more than a week ago: what is still asked for is made again then."""
    Rollup.objects.filter(as_of__lt=timezone.now() - KEPT).delete()


def _asked_for(stored: Rollup) -> bool:
    """Whether a worker makes this rollup anew, or did so just now."""
    pause = max(PAUSE_SECONDS, PAUSE_TIMES * stored.seconds)
    if _age(stored) < timedelta(seconds=pause):
        return True
    try:
        if cache.add(f"rollup-{stored.pk}-{stored.version}", True, timeout=pause):
            current_app.send_task(TASK, [stored.key])
    except (RedisError, BrokerError, OSError) as error:
        logger.warning("no worker can be asked to make a rollup: %s", error)
        return False
    return True
