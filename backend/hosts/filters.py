from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import time
from typing import NamedTuple

from django.db.models import Case, Count, F, Func, OuterRef, Q, Subquery, Value, When
from django.db.models.expressions import Expression
from django.db.models.functions import Collate, Lower

from cipherspeed.groups import natural_key
from core.parameters import (
    Choice,
    ChoiceFilter,
    HostsFilter,
    MomentFilter,
    ParameterFilterSet,
    TextFilter,
    ValuesFilter,
)
from hosts.models import Note
from runs.filters import VERDICTS, LibraryFilter
from runs.models import Host, RunSpeedIndex
from runs.models.host import HostQuerySet

ENVIRONMENT = "latest_run__environment__"
FACTS = {
    "cpu": ("cpu",),
    "os": ("os",),
    "openssl_series": ("openssl_series", "ssh_library_series"),
}
"""Environment properties by filter. A host matches if at least one property has a selected
value."""

TITLES = {"cpu": "CPU", "os": "Operating system", "openssl_series": "OpenSSL release series"}


def _replaced(text: Expression, pattern: str, replacement: str) -> Func:
    return Func(text, Value(pattern), Value(replacement), Value("g"), function="regexp_replace")


def natural(column: str) -> Expression:
    """Return an SQL sort key that pads numbers to ten digits, so that `nas2` precedes `nas10`."""
    padded = _replaced(Lower(column), r"(\d+)", r"0000000000\1")
    return Collate(_replaced(padded, r"0*(\d{10,})", r"\1"), "C")


def _label(fact: str) -> Expression:
    label = f"{ENVIRONMENT}{fact}__label"
    return Case(When(Q(**{f"{label}__startswith": "Unknown "}), then=None), default=natural(label))


_SPEED = RunSpeedIndex.objects.filter(run=OuterRef("latest_run")).order_by("tool").values("index")
ORDERS: dict[str, Expression | F | Subquery] = {
    "id": F("pk"),
    "name": natural("name"),
    "acceleration": Case(
        *(When(latest_run__acceleration=key, then=rank) for rank, key in enumerate(VERDICTS))
    ),
    "speed_index": Subquery(_SPEED[:1]),
    "cpu": _label("cpu"),
    "os": _label("os_version"),
    "openssl": _label("openssl"),
    "openssh": _label("openssh"),
    "runs": F("run_count"),
    "last_run_at": F("latest_run__started_at"),
}
NEWEST = "-id"


class Option(NamedTuple):
    """Describe a value of a filter.

    `hosts`: number of hosts that have this value and pass the other filters.
    """

    key: str
    label: str
    hosts: int


class HostFilter(ParameterFilterSet):
    q = TextFilter(method="named", help_text="Part of the host's current or former name.")
    cpu = ValuesFilter(f"{ENVIRONMENT}cpu__key", help_text="Key of a CPU. Repeatable.")
    os = ValuesFilter(f"{ENVIRONMENT}os__key", help_text="Key of an operating system. Repeatable.")
    openssl_series = LibraryFilter(
        f"{ENVIRONMENT}openssl_series", help_text="Key of an OpenSSL release series. Repeatable."
    )
    verdict = ValuesFilter(
        "latest_run__acceleration",
        item=Choice(VERDICTS),
        help_text="AES verdict. Repeatable: verdict=hidden&verdict=unused.",
    )
    ordering = ChoiceFilter(
        method="ordered",
        known=(*ORDERS, *(f"-{name}" for name in ORDERS)),
        help_text="Default: -id (newest first). Hosts with unknown values come last.",
    )

    class Meta(ParameterFilterSet.Meta):
        model = Host
        fields = ()

    def named(self, hosts: HostQuerySet, name: str, text: str) -> HostQuerySet:
        return hosts.named_like(text)

    def ordered(self, hosts: HostQuerySet, name: str, value: str) -> HostQuerySet:
        """Sort the hosts. Hosts with equal values are sorted by ID, newest first."""
        name = value.removeprefix("-")
        if name == "runs":
            hosts = hosts.with_run_count()
        key = ORDERS[name]
        order = key.desc if value.startswith("-") else key.asc
        return hosts.order_by(order(nulls_last=True), "-pk")

    @property
    def order(self) -> str:
        order: str = self.given.get("ordering", NEWEST)
        return order

    @property
    def selected(self) -> dict[str, tuple[str, ...]]:
        return {name: self.given[name] for name in (*FACTS, "verdict") if name in self.given}

    def facets(self) -> dict[str, list[Option]]:
        kinds = list(self._kinds())
        facets = {}
        for name in (*FACTS, "verdict"):
            others = {other: set(keys) for other, keys in self.selected.items() if other != name}
            labels = {key: key for key in self.selected.get(name, ())}
            counts = Counter[str]()
            for values, hosts in kinds:
                labels |= values[name]
                if all(values[other].keys() & keys for other, keys in others.items()):
                    counts.update(dict.fromkeys(values[name], hosts))
            shown = counts.keys() | self.selected.get(name, ())
            options = (Option(key, labels[key], counts[key]) for key in shown)
            facets[name] = sorted(options, key=lambda option: natural_key(option.label))
        return facets

    def _kinds(self) -> Iterable[tuple[dict[str, Mapping[str, str]], int]]:
        """Yield each combination of values, and the number of hosts with the combination.

        A combination is {filter: {key: label}}.
        """
        facts = [fact for facts in FACTS.values() for fact in facts]
        columns = [f"{ENVIRONMENT}{fact}__{part}" for fact in facts for part in ("key", "label")]
        hosts = Host.objects.counted().named_like(self.given.get("q", ""))
        rows = hosts.order_by().values_list("latest_run__acceleration", *columns)
        for verdict, *texts, count in rows.annotate(count=Count("pk")):
            pairs = dict(zip(facts, zip(texts[::2], texts[1::2], strict=True), strict=True))
            values: dict[str, Mapping[str, str]] = {
                name: dict(pairs[fact] for fact in facts if pairs[fact][0])
                for name, facts in FACTS.items()
            }
            yield {**values, "verdict": {verdict: verdict}}, count


class NoteFilter(ParameterFilterSet):
    host = HostsFilter("host__slug", help_text="Key or number of a host. Repeatable.")
    since = MomentFilter("at", "gte", help_text="Earliest date or time.")
    until = MomentFilter("at", "lte", at=time.max, help_text="Latest date or time.")

    class Meta(ParameterFilterSet.Meta):
        model = Note
        fields = ()
