from datetime import time
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet

from cipherspeed.naming import tags_by_key
from core.parameters import (
    Choice,
    HostsFilter,
    MomentFilter,
    ParameterFilterSet,
    RunId,
    Tag,
    TextFilter,
    ValuesFilter,
)
from runs.models import Run
from runs.models.dimension import OF_LIBRARIES

VERDICTS = ("hidden", "unused", "software", "unknown", "hardware")
"""AES verdicts. Verdicts that require action by the user come first."""

UNACCELERATED = ("hidden", "unused")
"""Verdicts of runs that did not use the AES hardware of the host."""


class TagsFilter(ValuesFilter):
    def filter(self, rows: QuerySet[Any], values: tuple[str, ...]) -> QuerySet[Any]:
        for key, wanted in tags_by_key(values).items() if values else ():
            rows = rows.filter(reduce(or_, (Q(tags__contains={key: value}) for value in wanted)))
        return rows


class LibraryFilter(ValuesFilter):
    """Select runs in which the openssl program or ssh uses one of these libraries."""

    def filter(self, rows: QuerySet[Any], values: tuple[str, ...]) -> QuerySet[Any]:
        if not values:
            return rows
        environment, _, own = str(self.field_name).rpartition("__")
        names = (own, OF_LIBRARIES[own])
        return rows.filter(
            reduce(or_, (Q(**{f"{environment}__{name}__key__in": values}) for name in names))
        )


class NarrowingFilter(ParameterFilterSet):
    """Define the filters that are common to all queries of measurements."""

    host = HostsFilter("host__slug", help_text="Key or number of a host. Repeatable.")
    cpu = ValuesFilter("environment__cpu__key")
    cpu_vendor = ValuesFilter("environment__cpu_vendor__key")
    microarchitecture = ValuesFilter("environment__microarchitecture__key")
    os = ValuesFilter("environment__os__key")
    os_version = ValuesFilter("environment__os_version__key")
    openssl = LibraryFilter("environment__openssl")
    openssl_series = LibraryFilter("environment__openssl_series")
    openssh = ValuesFilter("environment__openssh__key")
    virtualization = ValuesFilter("environment__virtualization__key")
    verdict = ValuesFilter("acceleration", item=Choice(VERDICTS))
    tag = TagsFilter(
        item=Tag(),
        help_text="KEY:VALUE. Repeatable. Runs match one of the values of every key: "
        "tag=env:prod&tag=dc:fra&tag=dc:ams selects production runs in either data centre.",
    )
    source = ValuesFilter("source", item=Choice(Run.Source.values))
    disturbed = ValuesFilter(
        item=Choice(("no", "yes")),
        method="by_conditions",
        help_text="no selects only undisturbed runs.",
    )
    since = MomentFilter("started_at", "gte", help_text="Earliest start (date or time).")
    until = MomentFilter("started_at", "lte", at=time.max, help_text="Latest start (date or time).")

    class Meta(ParameterFilterSet.Meta):
        model = Run
        fields = ()

    def by_conditions(self, rows: QuerySet[Run], name: str, values: tuple[str, ...]) -> Any:
        calm = Q(conditions=[])
        return rows.filter(reduce(or_, (calm if value == "no" else ~calm for value in values)))


class RunFilter(NarrowingFilter):
    run_id = ValuesFilter("run_id", item=RunId(), help_text="ID of a run. Repeatable.")
    status = ValuesFilter("status", item=Choice(Run.Status.values))
    q = TextFilter(method="named", help_text="Part of the host name or beginning of the run ID.")

    def named(self, rows: QuerySet[Run], name: str, text: str) -> QuerySet[Run]:
        named = Q(host_name__icontains=text) | Q(host__name__icontains=text)
        return rows.filter(named | Q(run_id__startswith=text.lower()))


# `Any`, because mypy does not accept a class that is built at run time as a base class.
NarrowingForm: Any = NarrowingFilter().get_form_class()

FILTERS = tuple(name for name in NarrowingFilter.base_filters if name not in ("since", "until"))
"""Names of the filters that a URL can repeat, such as `cpu` in `?cpu=a&cpu=b`."""
