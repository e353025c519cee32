"""What the recommendation page is asked: hosts by key or name, filters that can be taken away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from analysis.ciphers.cipher_policies import DEFAULT_POLICY, policies
from pages.compare.compare_page import Chip
from pages.metrics import METHODS
from pages.page_query import PageAddress
from questions.known_parameters import names_of
from questions.recommendation_parameters import RECOMMENDATION_PARAMETERS
from results.recommendation.host_choice import (
    HostName,
    hosts_called,
    hosts_like,
    hosts_to_choose,
    values_of_dimensions,
)
from results.recommendation.measured_ssh import PERIOD_FILTERS
from results.recommendation.question import LINK_KEYS, Kind
from results.selection import FILTERS

KNOWN = names_of(RECOMMENDATION_PARAMETERS)
KINDS: Mapping[Kind, str] = {"host": "Host", "pair": "Pair", "group": "Group"}
NAMED = ("host", "client", "server")
TO_CHOOSE = 200
"""Hosts that a text field offers; others are found by their name."""

TO_LIST = 20
DIMENSIONS = {
    "os": "Operating system",
    "openssh": "OpenSSH version",
    "cpu": "CPU",
    "virtualization": "Virtualisation",
}
"""Filters with a control of their own -> title."""

TITLES = {
    **DIMENSIONS,
    "host": "Host",
    "tag": "Tag",
    "cpu_vendor": "CPU vendor",
    "microarchitecture": "Microarchitecture",
    "verdict": "AES acceleration",
    "openssl": "OpenSSL version",
    "openssl_series": "OpenSSL series",
    "source": "Source",
    "since": "Since",
    "until": "Until",
}


@dataclass(frozen=True)
class Unclear:
    """A text that is the name of no host, or of several; `hosts` are those it may mean."""

    text: str
    several: bool
    hosts: tuple[tuple[HostName, str], ...]
    """Each with the address that takes it."""


def api_params(params: QueryDict) -> QueryDict:
    """The parameters that the API knows."""
    known = QueryDict(mutable=True)
    for name, values in params.lists():
        if name in KNOWN:
            known.setlist(name, values)
    return known


def filled(params: QueryDict) -> QueryDict:
    """The parameters without those that a form sends empty, and without blanks around them."""
    kept = QueryDict(mutable=True)
    for name, values in params.lists():
        texts = [value.strip() for value in values if value.strip()]
        if texts:
            kept.setlist(name, texts)
    return kept


def with_keys(params: QueryDict) -> tuple[QueryDict, Unclear | None]:
    """The parameters with hosts by key where their names were typed; or the first unclear one."""
    texts = [text for name in NAMED for text in params.getlist(name)]
    if not texts or any("\x00" in text for text in texts):
        return params, None
    called = hosts_called(texts)
    resolved = params.copy()
    for name in NAMED:
        keys = []
        for text in params.getlist(name):
            found = _meant(text, called)
            if len(found) != 1:
                return params, _unclear(params, name, text, found)
            keys.append(found[0].key)
        if keys:
            resolved.setlist(name, list(dict.fromkeys(keys)))
    return resolved, None


def _meant(text: str, called: Sequence[HostName]) -> list[HostName]:
    """The host of that key; else those of that name."""
    by_key = [host for host in called if host.key == text]
    return by_key or [host for host in called if host.name == text]


def _unclear(params: QueryDict, name: str, text: str, found: list[HostName]) -> Unclear:
    hosts = found[:TO_LIST] or hosts_like(text, TO_LIST)
    others = [other for other in params.getlist(name) if other != text]
    address = PageAddress(params)
    return Unclear(
        text,
        bool(found),
        tuple((host, address.changed(**{name: (*others, host.key)})) for host in hosts),
    )


def kind_of(params: QueryDict) -> Kind:
    """What the page is about: what its address says, else what its parameters are of."""
    for kind in KINDS:
        if params.get("for") == kind:
            return kind
    if params.get("client") or params.get("server"):
        return "pair"
    hosts = params.getlist("host")
    # The source says which runs count; beside a host it makes no group.
    narrowing = [name for name in FILTERS if params.get(name) and name != "host"]
    one_host = len(hosts) == 1 and set(narrowing) <= set(PERIOD_FILTERS)
    return "host" if one_host or not (hosts or narrowing) else "group"


def form_context(params: QueryDict) -> dict[str, object]:
    """The form with what is chosen in it, and the ways out of that."""
    kind = kind_of(params)
    policy = params.get("policy", "")
    values = values_of_dimensions(DIMENSIONS) if kind == "group" else {}
    link = params.get("link", "")
    return {
        "kind": kind,
        "kinds": [(one, label, _kind_address(params, one)) for one, label in KINDS.items()],
        "policies": tuple(policies().values()),
        "policy": policies().get(policy, policies()[DEFAULT_POLICY]),
        "methods": METHODS,
        "method": params.get("method", ""),
        "links": [*LINK_KEYS, *([link] if link and link not in LINK_KEYS else [])],
        "link": link,
        "typed": {name: params.get(name, "") for name in NAMED},
        "hosts_to_choose": hosts_to_choose(TO_CHOOSE),
        "dimensions": [(name, DIMENSIONS[name], values.get(name, ())) for name in DIMENSIONS],
        "chips": _chips(params, kind, values),
        "carried": _carried(params, kind),
    }


def _kind_address(params: QueryDict, kind: Kind) -> str:
    """The page for that kind, with what is known already: a host stays the host or the client."""
    first = next((params.get(name, "") for name in NAMED if params.get(name)), "")
    kept = QueryDict(mutable=True)
    kept["for"] = kind
    if first:
        kept["client" if kind == "pair" else "host"] = first
    for name in ("policy", "method"):
        if params.get(name):
            kept[name] = params.get(name, "")
    return f"?{kept.urlencode()}"


def _carried(params: QueryDict, kind: Kind) -> list[tuple[str, str]]:
    """What the form has no control for, or adds to: sent along."""
    names = (*FILTERS, "since", "until") if kind == "group" else ("source", "since", "until")
    return [(name, value) for name in names for value in params.getlist(name)]


def _chips(
    params: QueryDict, kind: Kind, values: Mapping[str, Sequence[tuple[str, str]]]
) -> list[Chip]:
    """What narrows the choice, each with the way out."""
    labels = {(name, key): label for name, of_it in values.items() for key, label in of_it}
    address = PageAddress(_marked(params, kind))
    return [
        Chip(TITLES[name], labels.get((name, value), value), address.without(name, value))
        for name, value in _carried(params, kind)
    ]


def _marked(params: QueryDict, kind: Kind) -> QueryDict:
    """A group that is left with one host is still a group."""
    marked = params.copy()
    marked["for"] = kind
    return marked
