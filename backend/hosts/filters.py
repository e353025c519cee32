"""Which hosts and notes are asked for."""

from datetime import time
from typing import Any

from results.hosts.host_facets import HOST_FILTERS
from results.hosts.host_list import NEWEST, ORDERINGS, listed_hosts
from runs.filters import VERDICTS, HostsFilter
from runs.parameters import Choice, MomentFilter, ParameterFilterSet, ParameterForm, Text, Values
from store.models import Note


class HostForm(ParameterForm):
    """The list of hosts, by their latest runs."""

    q = Text(help_text="Hosts of which a name has this text.")
    cpu = Values(help_text="Key of a value; may be repeated, any of them matches.")
    os = Values(help_text="Key of a value; may be repeated, any of them matches.")
    openssl_series = Values(help_text="Key of a value; may be repeated, any of them matches.")
    verdict = Values(
        Choice(VERDICTS),
        help_text="AES verdict of the latest run; may be repeated: verdict=hidden&verdict=unused "
        "are the hosts that do not use their AES hardware.",
    )
    ordering = Choice(
        ORDERINGS, help_text="Default: -id, the newest first. What is unknown comes last."
    )

    @property
    def filters(self) -> dict[str, tuple[Any, ...]]:
        """Return those by the values that a host has."""
        given = self.given
        return {name: given[name] for name in HOST_FILTERS if name in given}

    @property
    def order(self) -> str:
        order: str = self.given.get("ordering", NEWEST)
        return order

    @property
    def hosts(self) -> list[int]:
        """Return their ids in order."""
        return listed_hosts(self.given.get("q", ""), self.filters, self.order)


class NoteFilter(ParameterFilterSet):
    """The list of notes."""

    host = HostsFilter("host__slug", help_text="Key or number of a host; may be repeated.")
    since = MomentFilter("at", "gte", help_text="On or after: date or time.")
    until = MomentFilter("at", "lte", at=time.max, help_text="On or before: date or time.")

    class Meta(ParameterFilterSet.Meta):
        model = Note
        fields = ()
