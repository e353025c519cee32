"""Speed indices of runs under reference profiles: with a new run, and for a new profile."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Least
from django.utils import timezone

from analysis.profiles.baselines import FAMILIES, speed_index
from store.data_version import data_changed
from store.models import BaselineLevel, ReferenceProfile, Run, RunSpeedIndex

CHUNK_RUNS = 500
"""Runs of one task: some tenths of a second, so that uploads are processed in between."""

TOOLS = ("ssh", "openssl")

KEY = ("run", "profile", "tool")
FIGURES = ("index", "uncertainty", "families")


@dataclass(frozen=True)
class StoredIndex:
    """A row of `runs_runspeedindex` without its run."""

    profile_id: int
    tool: str
    index: float
    uncertainty: float | None
    families: tuple[str, ...]


def stored_index(
    profile: ReferenceProfile, tool: str, levels: Mapping[str, float]
) -> StoredIndex | None:
    """A run's index in one tool, from its levels (bytes per second by family); None if none."""
    # In the order of FAMILIES, in which no figure depends on that of the rows.
    ordered = {family: levels[family] for family in FAMILIES if family in levels}
    speed = speed_index(ordered, profile.levels.get(tool, {}))
    if speed is None:
        return None
    return StoredIndex(profile.pk, tool, speed.index, speed.uncertainty, speed.families)


def speed_indices(
    levels_of: Callable[[str], Mapping[str, float]], profiles: Iterable[ReferenceProfile]
) -> list[StoredIndex]:
    """All indices of one run; `levels_of` a tool: family -> level, bytes per second."""
    found = (stored_index(profile, tool, levels_of(tool)) for profile in profiles for tool in TOOLS)
    return [one for one in found if one is not None]


def store_speed_indices(
    run_pks: Collection[int], profiles: Iterable[ReferenceProfile]
) -> list[RunSpeedIndex]:
    """The runs' indices in each tool under these profiles, from their stored baseline levels.

    What is stored already is written over with the same figures; a bounded number of statements.
    """
    levels: defaultdict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for stored in BaselineLevel.objects.filter(run_id__in=run_pks):
        levels[stored.run_id, stored.tool][stored.family] = stored.level
    rows = [
        RunSpeedIndex(run_id=run_pk, **asdict(row))
        for profile in profiles
        for (run_pk, tool), of_tool in levels.items()
        if (row := stored_index(profile, tool, of_tool)) is not None
    ]
    return RunSpeedIndex.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=KEY, update_fields=FIGURES
    )


@transaction.atomic
def index_next_runs(profile_pk: int, after: int) -> int | None:
    """Store the indices of the next runs and how far that is, both or neither.

    `after` is the key of the run that the caller believes to be the last one done; where
    somebody else has gone on since, nothing is done. Returns that key for the next call, None
    when there is nothing more to do for this caller.
    """
    # No-key locks: runs that arrive just now refer to the profile and are not held up by this.
    profile = ReferenceProfile.objects.select_for_update(no_key=True).filter(pk=profile_pk).first()
    if profile is None or profile.completed_at is not None or profile.indexed_to != after:
        return None
    # Locked, so that a run that is deleted or read again meanwhile keeps no index of its past.
    run_pks = list(
        Run.objects.select_for_update(no_key=True)
        .filter(status=Run.Status.READY, pk__gt=after, pk__lte=profile.index_end)
        .order_by("pk")
        .values_list("pk", flat=True)[:CHUNK_RUNS]
    )
    store_speed_indices(run_pks, [profile])
    more = len(run_pks) == CHUNK_RUNS
    _note_progress(profile, run_pks, more)
    return run_pks[-1] if more else None


def _note_progress(profile: ReferenceProfile, run_pks: list[int], more: bool) -> None:
    now = timezone.now()
    done = Least(F("runs_done") + len(run_pks), F("runs_total")) if more else F("runs_total")
    ReferenceProfile.objects.filter(pk=profile.pk).update(
        indexed_to=run_pks[-1] if run_pks else profile.indexed_to,
        runs_done=done,
        progressed_at=now,
        completed_at=None if more else now,
    )
    if not more:
        data_changed()
