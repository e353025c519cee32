from datetime import datetime, time
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from changes.models import FleetChange, FleetChangeMember
from core.parameters import (
    Choice,
    HostsFilter,
    MomentFilter,
    ParameterFilterSet,
    Tag,
    ValuesFilter,
)
from runs.filters import TagsFilter
from runs.models import Run

FIXED = FleetChange.Status.FIXED
OPEN = ("new", "acknowledged")  # statuses that `status=open` includes


def with_member(**wanted: Any) -> Exists:
    return Exists(FleetChangeMember.objects.filter(change=OuterRef("pk"), **wanted))


class OfRuns(ValuesFilter):
    """Apply a run filter to changes.

    Select a change if the filter accepts the first changed run of at least one host.
    """

    def filter(self, rows: QuerySet[Any], values: tuple[Any, ...]) -> QuerySet[Any]:
        if not values:
            return rows
        return rows.filter(with_member(run__in=super().filter(Run.objects.all(), values)))


class OfHosts(OfRuns, HostsFilter):
    pass


class OfTags(OfRuns, TagsFilter):
    pass


class ChangeFilter(ParameterFilterSet):
    kind = ValuesFilter("kind", item=Choice(FleetChange.Kind.values))
    direction = ValuesFilter("direction", item=Choice(FleetChange.Direction.values))
    status = ValuesFilter(item=Choice((*FleetChange.Status.values, "open")), method="in_state")
    family = ValuesFilter(
        method="of_family", help_text="A cipher family (aes) or one of its modes (aes-gcm)."
    )
    tool = ValuesFilter(item=Choice(("ssh", "openssl")), method="of_tool")
    host = OfHosts("host__slug", help_text="Key or number of a host. Repeatable.")
    tag = OfTags(item=Tag(), help_text="Tag of the changed run, as KEY:VALUE.")
    since = MomentFilter(method="seen_since", help_text="Earliest detection (date or time).")
    until = MomentFilter(
        "first_at", "lte", at=time.max, help_text="Latest detection (date or time)."
    )

    class Meta(ParameterFilterSet.Meta):
        model = FleetChange
        fields = ()

    @property
    def hosts(self) -> int:
        """Count the hosts that the filtered changes affect from `since` to `until`."""
        changes = self.qs  # validates the parameters
        bounds = {"since": "at__gte", "until": "at__lte"}
        dates = {bounds[name]: self.given[name] for name in bounds if name in self.given}
        members = FleetChangeMember.objects.filter(change__in=changes, **dates)
        return members.values("run__host").distinct().count()

    def in_state(self, rows: QuerySet[Any], name: str, values: tuple[str, ...]) -> QuerySet[Any]:
        is_fixed = Q(fixed_at__isnull=False)
        stated = Q(status__in=(*values, *(OPEN if "open" in values else ()))) & ~is_fixed
        return rows.filter(stated | is_fixed if FIXED in values else stated)

    def of_family(self, rows: QuerySet[Any], name: str, values: tuple[str, ...]) -> QuerySet[Any]:
        return rows.filter(Q(family__in=values) | Q(with_member(family__in=values)))

    def of_tool(self, rows: QuerySet[Any], name: str, values: tuple[str, ...]) -> QuerySet[Any]:
        return rows.filter(with_member(tool__in=values))

    def seen_since(self, rows: QuerySet[Any], name: str, at: datetime) -> QuerySet[Any]:
        return rows.filter(Q(last_at__gte=at) | Q(fixed_at__gte=at))
