"""Reference profiles as they are stored: the active one, one by its name, their levels."""

from django.db import connection
from django.db.models import Max, Q, QuerySet

from store.models import ReferenceProfile, Run
from store.outage import Unanswerable

LOCK = 5_901_214
"""Of the database's advisory locks, the one between making a profile and processing runs."""

KEEP_PROFILES = f"SELECT pg_advisory_xact_lock_shared({LOCK})"
"""A statement after which, until its transaction ends, no profile is added: no run misses one."""


class UnknownProfile(Unanswerable):
    """There is no reference profile of this name."""

    def __init__(self, name: str) -> None:
        super().__init__("profile", f"There is no reference profile “{name}”.")


class IncompleteProfile(UnknownProfile):
    """The speed indices under this profile are not all there yet."""

    def __init__(self, profile: ReferenceProfile) -> None:
        super().__init__(profile.name)
        self.sentence = (
            f"The reference profile “{profile.name}” is still being computed: "
            f"{profile.runs_done} of {profile.runs_total} runs are done."
        )


def select_profiles() -> QuerySet[ReferenceProfile]:
    """Every profile, the latest first."""
    return ReferenceProfile.objects.select_related("run").order_by("-id")


def active_profile() -> ReferenceProfile | None:
    """The one that `profile` defaults to; None on a site without any."""
    return ReferenceProfile.objects.filter(active=True).first()


def offered_profiles(*also: str | None) -> list[ReferenceProfile]:
    """The profiles to choose from: complete and not retired; and those chosen already."""
    return list(
        ReferenceProfile.objects.filter(
            Q(completed_at__isnull=False, retired_at=None) | Q(name__in=also)
        ).order_by("-active", "-id")
    )


def find_profile(name_or_id: str) -> ReferenceProfile | None:
    """The profile of this name or, failing that, with this id."""
    if "\x00" in name_or_id:  # no text that PostgreSQL could hold
        return None
    profiles = select_profiles()
    found = profiles.filter(name=name_or_id).first()
    if found is None and name_or_id.isascii() and name_or_id.isdigit() and len(name_or_id) < 19:
        found = profiles.filter(pk=int(name_or_id)).first()
    return found


def usable_profile(name: str | None) -> ReferenceProfile | None:
    """The profile of this name, or with None the active one.

    `UnknownProfile` when there is none of this name, `IncompleteProfile` while it is computed.
    """
    if name is None:
        return active_profile()
    profile = ReferenceProfile.objects.filter(name=name).first()
    if profile is None:
        raise UnknownProfile(name)
    if profile.completed_at is None:
        raise IncompleteProfile(profile)
    return profile


def has_levels(tool: str) -> bool:
    """Whether any profile knows baseline levels of this tool, so that it can be normalised."""
    return any(
        levels.get(tool) for levels in ReferenceProfile.objects.values_list("levels", flat=True)
    )


def wait_for_processing() -> None:
    """Wait for the runs being processed; until this transaction ends no other is begun.

    Runs processed before can be seen now, those processed later will see what is committed here.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock({LOCK})")


def hold_off_edits() -> None:
    """Wait for an edit that is being made; until this transaction ends no other is begun.

    What is derived from runs locks their rows in another order than edits do.
    """
    with connection.cursor() as cursor:
        cursor.execute(KEEP_PROFILES)


def ready_runs() -> tuple[int, int]:
    """How many runs are ready, hidden ones too, and the largest of their keys (0: none)."""
    ready = Run.objects.filter(status=Run.Status.READY)
    return ready.count(), ready.aggregate(largest=Max("pk"))["largest"] or 0
