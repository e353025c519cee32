"""What a recommendation is asked for, and the address at which it can be read again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import urlencode

from analysis.ciphers.cipher_catalogue import DEFAULT_POLICY
from analysis.ciphers.link_saturation import LINKS
from results.recommendation.measured_ssh import PERIOD_FILTERS, HostSelection

Kind = Literal["host", "pair", "group"]

LINK_KEYS: Mapping[str, float] = {name.replace(" ", ""): bits for name, bits in LINKS.items()}
"""How addresses name the usual links -> bits per second."""


@dataclass(frozen=True)
class Question:
    """One host, a pair or a group, under a policy.

    A pair has `client` and `server` (keys of hosts), and may have a `link` (bits per second);
    otherwise the hosts are those of `selection`.
    """

    policy: str = DEFAULT_POLICY
    selection: HostSelection = field(default_factory=HostSelection)
    client: str | None = None
    server: str | None = None
    link: float | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are named, by key."""
        if self.client and self.server:
            return (self.client, self.server)
        return self.selection.filters.get("host", ())

    @property
    def kind(self) -> Kind:
        """One host by its name alone, a pair, or else a group."""
        if self.client:
            return "pair"
        narrowed = any(name not in PERIOD_FILTERS for name in self.selection.filters)
        return "host" if len(self.hosts) == 1 and not narrowed else "group"

    @property
    def empty(self) -> bool:
        """Whether no host is asked for."""
        return not self.client and not self.selection.filters


def of_host(key: str) -> Question:
    """The recommendation for one host, under the default policy."""
    return Question(selection=HostSelection({"host": (key,)}))


def query_string(question: Question, until: datetime | None) -> str:
    """The question as parameters of an address, its figures up to `until` (None: the latest)."""
    chosen = question.selection
    pairs: list[tuple[str, str]] = []
    if question.client and question.server:
        pairs += [("client", question.client), ("server", question.server)]
    pairs += [(name, one) for name, values in chosen.filters.items() for one in values]
    pairs.append(("policy", question.policy))
    if question.link is not None:
        pairs.append(("link", link_key(question.link)))
    if chosen.method:
        pairs.append(("method", chosen.method))
    for name, moment in (("since", chosen.since), ("until", until)):
        pairs += [(name, moment.isoformat().replace("+00:00", "Z"))] if moment else []
    return urlencode(pairs)


def link_key(bits_per_second: float) -> str:
    """A link as addresses name it: "10GbE", or bits per second for an unusual one."""
    usual = {bits: key for key, bits in LINK_KEYS.items()}
    return usual.get(bits_per_second, f"{bits_per_second:.0f}")
