"""The changes of one series, each beside the entry of `/changes/` that it is part of.

They are found apart: here in one series, there in a family of them or in the AES verdict. So the
one may confirm what the other leaves open.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime

from analysis.ciphers.cipher_catalogue import cipher_family
from results.hosts.fleet_changes import ListedChange, changes_of_family
from results.hosts.history import FoundChange, History
from results.hosts.runs import MeasurementDetail

NEAR = 2
"""Runs that may lie between them: each dates the change by its own noise."""


def listed_changes(
    found: History, detail: MeasurementDetail
) -> list[tuple[FoundChange, ListedChange | None]]:
    """The changes of the history, the latest first, each with its entry if it has one."""
    listed = _candidates(found, detail) if found.changes else []
    times = [point.started_at for point in found.points]
    return [(one, _entry_of(one, listed, times)) for one in reversed(found.changes)]


def _candidates(found: History, detail: MeasurementDetail) -> list[ListedChange]:
    """None of a series that says nothing of the host's own speed (`family_of_series`)."""
    if detail.acceleration != "default" or detail.target_kind == "remote":
        return []
    family = cipher_family(detail.tool, detail.cipher)
    listed = changes_of_family(found.host_id, detail.tool, family)
    return [one for one in listed if one.family or family.startswith("aes-")]


def _entry_of(
    step: FoundChange, listed: Sequence[ListedChange], times: Sequence[datetime]
) -> ListedChange | None:
    slower = step.change.direction in ("slower", "dearer")
    near = [
        (abs(bisect_left(times, one.at) - step.change.index), one)
        for one in listed
        if one.slower == slower
    ]
    distance, entry = min(
        near, key=lambda one: (one[0], not one[1].family), default=(NEAR + 1, None)
    )
    return entry if distance <= NEAR else None
