"""Reference profiles made, chosen (activated) and retired."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from access.audit import COMMAND, Actor, Subject, record
from analysis.profiles.profile_summary import (
    MadeProfile,
    profile_of_fleet,
    profile_of_run,
    tool_fit_json,
)
from profiles.fleet import FleetHost, fleet_hosts
from store.data_version import data_changed
from store.models import ReferenceProfile, Run
from store.reference_profiles import ready_runs, wait_for_processing

TOOLS = ("ssh", "openssl")

NAME = re.compile(r"\w[\w .,:()+-]{0,98}[\w.)+-]|\w")
"""A name is part of addresses: no slash, no space at an end."""


class ProfileRefused(Exception):
    """What was asked for cannot be; `attr` is the field that the sentence is about, if any."""

    def __init__(self, sentence: str, attr: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.attr = sentence, attr


class ProfileConflict(ProfileRefused):
    """The profile's state forbids it."""


@dataclass(frozen=True)
class ProfileRequest:
    """What a profile is to be made from.

    `origin` is "run" (then `run_id` says which) or "fleet"; `reference` is the key of the host
    that gets speed 1, empty for the mean of the fleet.
    """

    name: str
    origin: str
    run_id: UUID | None = None
    reference: str = ""
    tools: Sequence[str] = TOOLS


@dataclass(frozen=True)
class _Making:
    made: MadeProfile
    words: str
    run: Run | None = None


def make_profile(request: ProfileRequest, by: Actor = COMMAND) -> ReferenceProfile:
    """Make a profile and freeze it; the caller has its speed indices computed.

    `ProfileRefused` names what cannot be. No other run is processed while it is stored: those
    before are among the runs to do, those after will find the profile.
    """
    _check_name(request.name)
    making = _from_run(request) if request.origin == "run" else _from_fleet(request)
    if not making.made.levels:
        whose = "This run has" if making.run else "The fleet has"
        raise ProfileRefused(
            f"{whose} no baseline of {' or '.join(request.tools)}: nothing to make levels of.",
            "run_id" if making.run else "tools",
        )
    with transaction.atomic():
        wait_for_processing()
        if ReferenceProfile.objects.filter(name=request.name).exists():
            raise ProfileRefused(f"There is a profile “{request.name}” already.", "name")
        profile = _store(request, making)
        made = {"origin": request.origin, "made_from": making.words}
        record(by, "profile.make", _subject(profile), after=made)
        return profile


def _subject(profile: ReferenceProfile) -> Subject:
    return Subject("profile", profile.pk, profile.name)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ProfileRefused(
            "A name has 1 to 100 letters, digits, spaces and . , : ( ) + - _ in it, "
            "beginning with a letter or a digit.",
            "name",
        )


def _store(request: ProfileRequest, making: _Making) -> ReferenceProfile:
    total, end = ready_runs()
    now = timezone.now()
    profile = ReferenceProfile.objects.create(
        name=request.name,
        levels=making.made.levels,
        made_from=making.words,
        origin=request.origin,
        run=making.run,
        fits={tool: tool_fit_json(fit) for tool, fit in making.made.fits.items()},
        runs_total=total,
        index_end=end,
        progressed_at=now,
        completed_at=None if total else now,
    )
    data_changed()
    return profile


def _from_run(request: ProfileRequest) -> _Making:
    runs = Run.objects.select_related("host", "environment__os_version")
    counted = runs.filter(status=Run.Status.READY, hidden=False)
    run = counted.filter(run_id=request.run_id).first() if request.run_id else None
    if run is None or run.host is None or run.environment is None:
        raise ProfileRefused(f"There is no run {request.run_id} that is ready.", "run_id")
    levels: dict[str, dict[str, float]] = {}
    for row in run.baseline_levels.all():
        levels.setdefault(row.tool, {})[row.family] = row.level
    name = f"{run.host.name}, {run.environment.os_version.label}"
    day = f" of {run.started_at:%Y-%m-%d}" if run.started_at else ""
    words = f"The levels of one run: {name}, run {run.run_id}{day}."
    return _Making(profile_of_run(name, levels, request.tools), words, run)


def _from_fleet(request: ProfileRequest) -> _Making:
    hosts = {tool: fleet_hosts(tool) for tool in request.tools}
    references = _references(hosts, request.reference) if request.reference else None
    made = profile_of_fleet(
        {tool: {one.key: one.levels for one in of_tool} for tool, of_tool in hosts.items()},
        {one.key: one.name for of_tool in hosts.values() for one in of_tool},
        None if references is None else {tool: one.key for tool, one in references.items()},
    )
    count = len({one.key for of_tool in hosts.values() for one in of_tool})
    scale = "the mean of the fleet"
    if references:
        scale = " and ".join(sorted({one.name for one in references.values()}))
    words = (
        f"Least-squares fit over {count} host{'' if count == 1 else 's'} of the fleet, the "
        f"latest run of each on {timezone.now():%Y-%m-%d %H:%M} UTC. Reference: {scale}."
    )
    return _Making(made, words)


def _references(hosts: dict[str, list[FleetHost]], wanted: str) -> dict[str, FleetHost]:
    """Tool -> the host of this key, where it has a baseline of the tool."""
    references = {
        tool: one for tool, of_tool in hosts.items() for one in of_tool if one.host == wanted
    }
    if not references:
        raise ProfileRefused(
            f"No host “{wanted}” has a baseline of {' or '.join(hosts)}.", "reference"
        )
    return references


@transaction.atomic
def activate(profile_pk: int, by: Actor = COMMAND) -> ReferenceProfile:
    """Make this profile the active one; the one before stays, ready to be activated again.

    `ProfileConflict` while its indices are not all there, or when it is retired. Of several
    activations at once each takes its turn, and the last one stands.
    """
    profiles = {
        one.pk: one
        for one in ReferenceProfile.objects.select_for_update(no_key=True).order_by("pk")
    }
    profile = profiles[profile_pk]
    if profile.retired_at is not None:
        raise ProfileConflict(f"The profile “{profile.name}” is retired.")
    if profile.completed_at is None:
        raise ProfileConflict(
            f"The profile “{profile.name}” is still being computed: {profile.runs_done} of "
            f"{profile.runs_total} runs are done."
        )
    active = next((one.name for one in profiles.values() if one.active), None)
    if active == profile.name:
        return profile
    before, after = {"active": active}, {"active": profile.name}
    record(by, "profile.activate", _subject(profile), before, after)
    ReferenceProfile.objects.filter(active=True).update(active=False)
    ReferenceProfile.objects.filter(pk=profile_pk).update(active=True)
    profile.active = True
    data_changed()
    return profile


@transaction.atomic
def retire(profile_pk: int, by: Actor = COMMAND) -> ReferenceProfile:
    """Offer this profile no more; its figures stay where an address names it.

    `ProfileConflict` for the active one. Retiring it again changes nothing.
    """
    profile = ReferenceProfile.objects.select_for_update(no_key=True).get(pk=profile_pk)
    if profile.active:
        raise ProfileConflict(
            f"The profile “{profile.name}” is active: activate another one first, then retire it."
        )
    if profile.retired_at is None:
        profile.retired_at = timezone.now()
        profile.save(update_fields=["retired_at"])
        retired = {"retired_at": profile.retired_at}
        record(by, "profile.retire", _subject(profile), {"retired_at": None}, retired)
        data_changed()
    return profile
