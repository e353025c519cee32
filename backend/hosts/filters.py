"""Filter the lists of hosts and notes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import time
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower

from cipherspeed.groups import natural_key
from core.parameters import (
    Choice,
    HostsFilter,
    MomentFilter,
    ParameterFilterSet,
    ParameterForm,
    Text,
    Values,
)
from hosts.models import Note
from runs.filters import VERDICTS
from runs.models import Host, RunSpeedIndex
from runs.models.host import HostQuerySet

ENVIRONMENT = "latest_run__environment__"
FACTS = {
    "cpu": ("cpu",),
    "os": ("os",),
    "openssl_series": ("openssl_series", "ssh_library_series"),
}
"""Environment properties by filter; at least one property must match."""

TITLES = {"cpu": "CPU", "os": "Operating system", "openssl_series": "OpenSSL release series"}

_SPEED = RunSpeedIndex.objects.filter(run=OuterRef("latest_run")).order_by("tool").values("index")
ORDERS: dict[str, str | Combinable] = {
    "id": "pk",
    "name": Lower("name"),
    "acceleration": "latest_run__acceleration",
    "speed_index": Subquery(_SPEED[:1]),
    "cpu": f"{ENVIRONMENT}cpu__label",
    "os": f"{ENVIRONMENT}os_version__label",
    "openssl": f"{ENVIRONMENT}openssl__label",
    "openssh": f"{ENVIRONMENT}openssh__label",
    "runs": "run_count",
    "last_run_at": "latest_run__started_at",
}
NEWEST = "-id"


class Option(NamedTuple):
    """Describe a value with its number of hosts under the other filters."""

    key: str
    label: str
    hosts: int


class HostForm(ParameterForm):
    """Filter the list of hosts by their latest runs."""

    q = Text(help_text="Part of the host's current or former name.")
    cpu = Values(help_text="Key of a CPU. Repeatable.")
    os = Values(help_text="Key of an operating system. Repeatable.")
    openssl_series = Values(help_text="Key of an OpenSSL release series. Repeatable.")
    verdict = Values(
        Choice(VERDICTS), help_text="AES verdict. Repeatable: verdict=hidden&verdict=unused."
    )
    ordering = Choice(
        (*ORDERS, *(f"-{name}" for name in ORDERS)),
        help_text="Default: -id (newest first). Hosts with unknown values come last.",
    )

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        return {name: self.given[name] for name in (*FACTS, "verdict") if name in self.given}

    @property
    def order(self) -> str:
        order: str = self.given.get("ordering", NEWEST)
        return order

    @property
    def _named(self) -> HostQuerySet:
        return Host.objects.counted().named_like(self.given.get("q", ""))

    def matching_ids(self) -> list[int]:
        """Return the IDs of matching hosts in order; among equal hosts, the newest comes first."""
        hosts = self._named
        for name, values in self.filters.items():
            facts = [f"{ENVIRONMENT}{fact}__key" for fact in FACTS.get(name, ())]
            condition = Q()
            for lookup in facts or ["latest_run__acceleration"]:
                condition |= Q(**{f"{lookup}__in": values})
            hosts = hosts.filter(condition)
        name = self.order.removeprefix("-")
        if name == "runs":
            hosts = hosts.with_run_count()
        rows = hosts.order_by("-pk").values_list("pk", ORDERS[name])
        places = {value: _place(name, value) for _, value in rows}
        known = [pk_value for pk_value in rows if places[pk_value[1]] is not None]
        known.sort(key=lambda row: places[row[1]], reverse=self.order.startswith("-"))
        return [pk for pk, _ in known] + [pk for pk, value in rows if places[value] is None]

    def facets(self) -> dict[str, list[Option]]:
        kinds = list(self._kinds())
        facets = {}
        for name in (*FACTS, "verdict"):
            others = {other: set(keys) for other, keys in self.filters.items() if other != name}
            labels = {key: key for key in self.filters.get(name, ())}
            counts = Counter[str]()
            for values, hosts in kinds:
                labels |= values[name]
                if all(values[other].keys() & keys for other, keys in others.items()):
                    counts.update(dict.fromkeys(values[name], hosts))
            shown = counts.keys() | self.filters.get(name, ())
            options = (Option(key, labels[key], counts[key]) for key in shown)
            facets[name] = sorted(options, key=lambda option: natural_key(option.label))
        return facets

    def _kinds(self) -> Iterable[tuple[dict[str, Mapping[str, str]], int]]:
        """Yield keys and labels by filter, with the number of hosts that have each value."""
        facts = [fact for facts in FACTS.values() for fact in facts]
        columns = [f"{ENVIRONMENT}{fact}__{part}" for fact in facts for part in ("key", "label")]
        rows = self._named.order_by().values_list("latest_run__acceleration", *columns)
        for verdict, *texts, hosts in rows.annotate(hosts=Count("pk")):
            pairs = dict(zip(facts, zip(texts[::2], texts[1::2], strict=True), strict=True))
            values: dict[str, Mapping[str, str]] = {
                name: dict(pairs[fact] for fact in facts if pairs[fact][0])
                for name, facts in FACTS.items()
            }
            yield {**values, "verdict": {verdict: verdict}}, hosts


def _place(name: str, value: Any) -> Any:
    """Return the sort key of a value; unknown values (None) come last."""
    if name == "acceleration":
        return VERDICTS.index(value)
    if name in ("cpu", "os", "openssl", "openssh"):
        return None if value is None or value.startswith("Unknown ") else natural_key(value)
    return value


class NoteFilter(ParameterFilterSet):
    host = HostsFilter("host__slug", help_text="Key or number of a host. Repeatable.")
    since = MomentFilter("at", "gte", help_text="Earliest date or time.")
    until = MomentFilter("at", "lte", at=time.max, help_text="Latest date or time.")

    class Meta(ParameterFilterSet.Meta):
        model = Note
        fields = ()
