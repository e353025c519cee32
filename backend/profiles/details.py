"""Reference profiles as plain values: levels with their uncertainty, fit, state, progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from analysis.profiles.baselines import FAMILIES
from analysis.profiles.profile_summary import ToolFit, tool_fit
from results.selection import TOOLS
from store.models import ReferenceProfile


@dataclass(frozen=True)
class KnownLevel:
    """A family's level, bytes per second; `uncertainty` is a factor, None where unknown."""

    family: str
    level: float
    uncertainty: float | None
    machines: int


@dataclass(frozen=True)
class UnknownLevel:
    """A family without a level, and why."""

    family: str
    reason: str


@dataclass(frozen=True)
class ToolDetail:
    """One tool of a profile: its levels, what is unknown, and how they were fitted."""

    tool: str
    known: tuple[KnownLevel, ...]
    unknown: tuple[UnknownLevel, ...]
    fit: ToolFit


@dataclass(frozen=True)
class Progress:
    """Runs that have their speed indices, of those that were there when it was made."""

    done: int
    total: int


@dataclass(frozen=True)
class ProfileDetail:
    """One profile; `run_id` where it was made from a run that is still here."""

    id: int
    name: str
    state: str
    active: bool
    origin: str
    made_from: str
    run_id: UUID | None
    levels: Mapping[str, Mapping[str, float]]
    tools: tuple[ToolDetail, ...]
    progress: Progress
    created_at: datetime
    completed_at: datetime | None
    retired_at: datetime | None


def profile_detail(profile: ReferenceProfile) -> ProfileDetail:
    """Everything that is known of a profile; no query where its run was selected with it."""
    return ProfileDetail(
        id=profile.pk,
        name=profile.name,
        state=profile.state,
        active=profile.active,
        origin=profile.origin,
        made_from=profile.made_from,
        run_id=profile.run.run_id if profile.run else None,
        levels=profile.levels,
        tools=tuple(_tool(profile, tool) for tool in TOOLS if tool in profile.fits),
        progress=Progress(profile.runs_done, profile.runs_total),
        created_at=profile.created_at,
        completed_at=profile.completed_at,
        retired_at=profile.retired_at,
    )


def _tool(profile: ReferenceProfile, tool: str) -> ToolDetail:
    fit = tool_fit(profile.fits[tool])
    levels = profile.levels.get(tool, {})
    return ToolDetail(
        tool=tool,
        known=tuple(
            KnownLevel(
                family,
                levels[family],
                fit.families[family].uncertainty,
                fit.families[family].machines,
            )
            for family in FAMILIES
            if family in levels
        ),
        unknown=tuple(
            UnknownLevel(family, fit.unknown[family])
            for family in FAMILIES
            if family in fit.unknown
        ),
        fit=fit,
    )
