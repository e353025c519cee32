"""Cards above the chart with findings about the site's hosts."""

from datetime import timedelta
from typing import NamedTuple

from django.urls import reverse
from django.utils import timezone

from changes.models import FleetChange, FleetChangeMember
from cipherspeed.cipher_catalogue import cipher_catalogue
from cipherspeed.palette import short_names
from compare.comparison import fastest_ciphers
from compare.question import ComparisonQuery
from compare.views.table import counted_hosts
from core.page_query import PageAddress
from runs.models import Host

RECENT = timedelta(days=30)
UNACCELERATED = ("hidden", "unused")
"""Verdicts of hosts that do not use their AES hardware."""

RECOMMENDED = tuple(
    cipher.name
    for cipher in cipher_catalogue().ciphers
    if cipher.tool == "ssh" and cipher.assessment.status == "recommended"
)


class Card(NamedTuple):
    """A finding; `address` leads to its details."""

    figure: str
    text: str
    address: str


def answers() -> list[Card]:
    cards = []
    if slower := _slower_hosts():
        address = reverse("change-pages") + PageAddress.of(direction="slower")
        cards.append(Card(counted_hosts(slower), "became slower in the last 30 days", address))
    without = Host.objects.counted().filter(
        published=False, latest_run__acceleration__in=UNACCELERATED
    )
    if count := without.count():
        verdicts = "&".join(f"verdict={verdict}" for verdict in UNACCELERATED)
        address = f"{reverse('host-pages')}?{verdicts}"
        verb = "does" if count == 1 else "do"
        cards.append(Card(counted_hosts(count), f"{verb} not use AES instructions", address))
    own = ComparisonQuery(group_by="host", ciphers=RECOMMENDED, filters={"source": ("agent",)})
    if fastest := fastest_ciphers(own):
        cipher = max(fastest, key=lambda name: (fastest[name], name))
        hosts = f"{fastest[cipher]} of {counted_hosts(sum(fastest.values()))}"
        address = reverse("recommend") + PageAddress.of(source="agent", **{"for": "group"})
        text = f"is the fastest recommended cipher on {hosts}"
        cards.append(Card(short_names([cipher])[cipher], text, address))
    return cards


def _slower_hosts() -> int:
    """Count hosts that recently became slower and still are."""
    status = FleetChange.Status
    return (
        FleetChangeMember.objects.filter(
            change__direction=FleetChange.Direction.SLOWER,
            at__gt=timezone.now() - RECENT,
            ended_at=None,
        )
        .exclude(change__status__in=(status.IGNORED, status.FIXED))
        .values("run__host")
        .distinct()
        .count()
    )
