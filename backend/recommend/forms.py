"""What an address asks of a recommendation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from analysis.ciphers.cipher_catalogue import Policy, cipher_catalogue
from analysis.recommendation import LINKS
from runs.filters import FILTERS, NarrowingFilter, NarrowingForm
from runs.parameters import LONGEST_NAMED, Choice, Text, fault
from store.models import Host, Run

POLICIES = cipher_catalogue().policies
DEFAULT_POLICY = "modern"
LINK_KEYS = {name.replace(" ", ""): bits for name, bits in LINKS.items()}
"""How addresses name the usual links -> bits per second."""

MOST_HOSTS = 1000
"""In one recommendation: beyond that its answer would take longer than anybody waits."""

PAIR = ("client", "server")


@dataclass(frozen=True)
class Question:
    """One host, a pair, or all hosts whose latest run passes the filters.

    `link`: bits per second between a pair. Source, since and until say which runs count at all.
    """

    policy: Policy = POLICIES[DEFAULT_POLICY]
    pair: tuple[str, ...] = ()
    link: float | None = None
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Return the hosts that are named, by key."""
        return self.pair or self.filters.get("host", ())

    @property
    def kind(self) -> Literal["host", "pair", "group"]:
        """Return "host" for one by its name alone."""
        if self.pair:
            return "pair"
        narrowed = self.filters.keys() - {"host", "source"}
        return "host" if len(self.named) == 1 and not narrowed else "group"

    @property
    def query_string(self) -> str:
        """Return the parameters of its address."""
        usual = {bits: key for key, bits in LINK_KEYS.items()}
        asked: dict[str, Any] = {
            **dict(zip(PAIR, self.pair, strict=False)),
            **self.filters,
            "policy": self.policy.name,
            "link": self.link and usual.get(self.link, f"{self.link:.0f}"),
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }
        return urlencode({name: value for name, value in asked.items() if value}, doseq=True)


class Link(Text):
    """Bits per second, from a usual name or from the number itself."""

    def clean(self, value: str) -> float | None:
        plain = super().clean(value).replace(" ", "").lower()
        usual = {name.lower(): bits for name, bits in LINK_KEYS.items()}
        if not plain or plain in usual:
            return usual.get(plain)
        if not re.fullmatch(r"[1-9][0-9]{0,14}", plain):
            known = ", ".join(LINK_KEYS)
            raise fault(f"{value[:LONGEST_NAMED]!r} is none of {known}, and no number of bits.")
        return float(plain)


class RecommendationForm(NarrowingForm):  # type: ignore[misc]  # made of the filters of runs
    """A policy, and a host, a pair, or filters."""

    policy = Choice(tuple(POLICIES), help_text=f"Default: {DEFAULT_POLICY}.")
    client = Text(help_text="Key of a host; of a pair.")
    server = Text(help_text="Key of a host; of a pair.")
    link = Link(help_text=f"Between the two: {', '.join(LINK_KEYS)}, or bits per second.")

    def clean(self) -> None:
        super().clean()
        ends = [name for name in PAIR if name in self.data]
        narrowing = [name for name in FILTERS if name in self.data]
        if ends and narrowing:
            sentence = "Ask either for client and server, or for hosts and filters."
            self.add_error(narrowing[0], fault(sentence))
        elif len(ends) == 1:
            (missing,) = set(PAIR) - set(ends)
            self.add_error(missing, fault("A pair needs both client=KEY and server=KEY."))
        elif "link" in self.data and not ends:
            sentence = "A link lies between two hosts: it needs client=KEY and server=KEY."
            self.add_error("link", fault(sentence))
        elif not ends and not narrowing:
            sentence = "Name host=KEY, or client=KEY and server=KEY, or a filter as tag=KEY:VALUE."
            self.add_error("host", fault(sentence))
        elif narrowing and narrowing != ["host"] and not self.errors:
            runs = NarrowingFilter(self.data, Run.objects.counted()).qs
            if runs.values("host").distinct().count() > MOST_HOSTS:
                sentence = f"These are more than {MOST_HOSTS} hosts: narrow it by another filter."
                self.add_error(narrowing[0], fault(sentence))

    @property
    def question(self) -> Question:
        """Return the question of a valid form."""
        given = self.given
        filters = {name: given[name] for name in FILTERS if name in given}
        pair = tuple(Host.objects.present_keys([given[name]])[0] for name in PAIR if name in given)
        if len(set(pair)) == 1:
            pair, filters = (), {"host": pair[:1]}
        policy = POLICIES[given.get("policy", DEFAULT_POLICY)]
        rest = {name: given.get(name) for name in ("link", "since", "until")}
        return Question(policy, pair, filters=filters, **rest)
