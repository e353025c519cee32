import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from cipherspeed.cipher_catalogue import Policy, cipher_catalogue
from cipherspeed.recommendation import LINKS
from core.parameters import LONGEST_NAMED, Choice, Text, fault
from runs.filters import FILTERS, NarrowingFilter, NarrowingForm
from runs.models import Host, Run

POLICIES = cipher_catalogue().policies
DEFAULT_POLICY = "modern"
# Bits per second by name in URLs, such as 10GbE.
LINK_KEYS = {name.replace(" ", ""): bits for name, bits in LINKS.items()}

MOST_HOSTS = 1000  # limits the response time

PAIR = ("client", "server")


NARROWING = {*FILTERS, "since", "until"} - {"host"}
# These filters apply to all runs. The others apply to the latest run of a host.
OF_PERIOD = ("source", "since", "until")


@dataclass(frozen=True)
class Question:
    hosts: tuple[str, ...] = ()  # keys; of a pair: the client's key, then the server's
    is_pair: bool = False
    policy: Policy = POLICIES[DEFAULT_POLICY]
    link: float | None = None  # bits per second
    filters: Mapping[str, list[str]] = field(default_factory=dict)
    query: str = ""

    @property
    def kind(self) -> Literal["host", "pair", "group"]:
        if self.is_pair:
            return "pair"
        narrowed = self.filters.keys() - OF_PERIOD
        return "host" if len(self.hosts) == 1 and not narrowed else "group"


class Link(Text):
    def clean(self, value: str) -> float | None:
        plain = super().clean(value).replace(" ", "").lower()
        usual = {name.lower(): bits for name, bits in LINK_KEYS.items()}
        if not plain or plain in usual:
            return usual.get(plain)
        if not re.fullmatch(r"[1-9][0-9]{0,14}", plain):
            known = ", ".join(LINK_KEYS)
            raise fault(
                f"{value[:LONGEST_NAMED]!r} is not valid; use {known} or a number of bits per"
                " second."
            )
        return float(plain)


class RecommendationForm(NarrowingForm):  # type: ignore[misc]  # made of the filters of runs
    policy = Choice(tuple(POLICIES), help_text=f"Default: {DEFAULT_POLICY}.")
    client = Text(help_text="Key of a host in a pair.")
    server = Text(help_text="Key of a host in a pair.")
    link = Link(help_text=f"Speed of the network link: {', '.join(LINK_KEYS)}, or bits per second.")

    def clean(self) -> None:
        super().clean()
        ends = [name for name in PAIR if name in self.data]
        narrowing = [name for name in FILTERS if name in self.data]
        if ends and narrowing:
            sentence = "Use either client and server, or hosts and filters, not both."
            self.add_error(narrowing[0], fault(sentence))
        elif len(ends) == 1:
            (missing,) = set(PAIR) - set(ends)
            self.add_error(missing, fault("A pair requires client=HOST and server=HOST."))
        elif "link" in self.data and not ends:
            sentence = "A link requires client=HOST and server=HOST."
            self.add_error("link", fault(sentence))
        elif not ends and not narrowing:
            sentence = (
                "Specify host=HOST, both client=HOST and server=HOST, or a filter "
                "such as tag=KEY:VALUE."
            )
            self.add_error("host", fault(sentence))
        elif narrowing and narrowing != ["host"] and not self.errors:
            runs = NarrowingFilter(self.data, Run.objects.counted()).qs
            if runs.values("host").distinct().count() > MOST_HOSTS:
                sentence = f"More than {MOST_HOSTS} hosts match. Add a filter."
                self.add_error(narrowing[0], fault(sentence))

    @property
    def question(self) -> Question:
        given = {name: values for name, values in self.data.lists() if name in self.fields}
        ends = [self.cleaned_data[name] for name in PAIR if name in given]
        pair = tuple(Host.objects.present_keys([end])[0] for end in ends)
        return Question(
            tuple(dict.fromkeys(pair)) or self.cleaned_data["host"],
            is_pair=len(set(pair)) == 2,
            policy=POLICIES[self.cleaned_data["policy"] or DEFAULT_POLICY],
            link=self.cleaned_data["link"],
            filters={name: given[name] for name in given if name in NARROWING},
            query=urlencode(given, doseq=True),
        )
