"""Build the cards at the top of the compare page, such as "2 hosts became slower"."""

from datetime import timedelta
from typing import NamedTuple

from django.http import QueryDict
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone

from changes.filters import ChangeFilter
from changes.models import FleetChange
from cipherspeed.cipher_catalogue import cipher_catalogue
from cipherspeed.palette import short_names
from compare.comparison import fastest_ciphers
from compare.question import ComparisonQuery
from compare.views.table import counted_hosts
from core.page_query import PageAddress
from runs.filters import UNACCELERATED
from runs.models import Host

RECENT = timedelta(days=30)

RECOMMENDED = tuple(
    cipher.name
    for cipher in cipher_catalogue().ciphers
    if cipher.tool == "ssh" and cipher.assessment.status == "recommended"
)


class Card(NamedTuple):
    figure: str
    text: str
    address: str


def answers() -> list[Card]:
    cards = []
    since = f"{timezone.now() - RECENT:%Y-%m-%d}"
    slower = QueryDict(f"direction=slower&status=open&since={since}")
    if count := ChangeFilter(slower, FleetChange.objects.listed()).hosts:
        address = f"{reverse('change-pages')}?{slower.urlencode()}"
        cards.append(Card(counted_hosts(count), "became slower in the last 30 days", address))
    without = Host.objects.counted().filter(latest_run__acceleration__in=UNACCELERATED)
    if count := without.count():
        verdicts = "&".join(f"verdict={verdict}" for verdict in UNACCELERATED)
        address = f"{reverse('host-pages')}?{verdicts}"
        text = f"{pluralize(count, 'does,do')} not use {pluralize(count, 'its,their')} AES hardware"
        cards.append(Card(counted_hosts(count), text, address))
    own = ComparisonQuery(group_by="host", ciphers=RECOMMENDED, filters={"source": ("agent",)})
    if fastest := fastest_ciphers(own):
        cipher = max(fastest, key=lambda name: (fastest[name], name))
        every = sum(fastest.values())
        hosts = f"{fastest[cipher]} of {every} measured host{pluralize(every)}"
        address = reverse("recommend") + PageAddress.of(source="agent", **{"for": "group"})
        text = f"is the fastest recommended cipher on {hosts}"
        cards.append(Card(short_names([cipher])[cipher], text, address))
    return cards
