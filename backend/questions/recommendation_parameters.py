"""Query parameters of a recommendation, checked and named."""

import re
from typing import Any, cast

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from analysis.ciphers.cipher_policies import DEFAULT_POLICY, policies
from documents.types import Method
from questions.near_names import none_of
from questions.parameters import CHOICES, comparison_query
from questions.schema import FILTER_PARAMETERS
from results.host_aliases import what_they_became
from results.recommendation.measured_ssh import HostSelection
from results.recommendation.question import LINK_KEYS, Question
from results.selection import FILTERS

RECOMMENDATION_PARAMETERS = [
    OpenApiParameter("policy", OpenApiTypes.STR, enum=tuple(policies())),
    OpenApiParameter(
        "method",
        OpenApiTypes.STR,
        enum=CHOICES["method"],
        description="Default: that by which all hosts measured most ciphers.",
    ),
    OpenApiParameter("client", OpenApiTypes.STR, description="Key of a host; of a pair."),
    OpenApiParameter("server", OpenApiTypes.STR, description="Key of a host; of a pair."),
    OpenApiParameter(
        "link",
        OpenApiTypes.STR,
        description=f"Between the two: {', '.join(LINK_KEYS)}, or bits per second.",
    ),
    *FILTER_PARAMETERS,
]

SHARED = (*FILTERS, "since", "until", "method")
"""What the comparison has too; here it chooses hosts."""

LONGEST_KEY = 220
"""Characters of a host's key."""

_BITS = re.compile(r"[1-9][0-9]{0,14}")


def recommendation_question(params: QueryDict) -> Question:
    """The question that the parameters ask; empty ones count as absent.

    Raises DRF's `ValidationError`, keyed by parameter and naming every fault.
    """
    faults: dict[str, Any] = {}
    selection = HostSelection()
    try:
        selection = _selection(params)
    except ValidationError as error:
        # Every fault of the comparison's parameters is keyed by its parameter.
        faults.update(cast(dict[str, Any], error.detail))
    policy = params.get("policy") or DEFAULT_POLICY
    if policy not in policies():
        faults["policy"] = none_of(policy, policies())
    client, server = (_key(params, name, faults) for name in ("client", "server"))
    link = _link(params, faults)
    faults.update(_contradictions(selection, client, server, link))
    if faults:
        raise ValidationError(faults)
    if client and server:
        became = what_they_became([client, server])
        client, server = became.get(client, client), became.get(server, server)
    return Question(policy, selection, client, server, link)


def _selection(params: QueryDict) -> HostSelection:
    shared = QueryDict(mutable=True)
    for name in SHARED:
        shared.setlist(name, params.getlist(name))
    query = comparison_query(shared)
    # None is not the comparison's default: then the method that measured most ciphers counts.
    method = cast(Method, query.method) if params.get("method") else None
    return HostSelection(query.filters, query.since, query.until, method)


def _key(params: QueryDict, name: str, faults: dict[str, Any]) -> str | None:
    key = params.get(name) or None
    if key and (len(key) > LONGEST_KEY or "\x00" in key):
        faults[name] = "This is no key of a host; GET /api/v1/hosts/ lists them."
    return key


def _link(params: QueryDict, faults: dict[str, Any]) -> float | None:
    """Bits per second, from a usual name or from the number itself."""
    text = params.get("link", "").replace(" ", "")
    usual = {name.lower(): bits for name, bits in LINK_KEYS.items()}
    if text.lower() in usual:
        return usual[text.lower()]
    if text and not _BITS.fullmatch(text):
        known = ", ".join(LINK_KEYS)
        faults["link"] = (
            f"{text[:50]!r} is none of {known}, and no whole number of bits per second."
        )
        return None
    return float(text) if text else None


def _contradictions(
    selection: HostSelection, client: str | None, server: str | None, link: float | None
) -> dict[str, str]:
    pair = client or server
    if pair and selection.filters:
        name = next(iter(selection.filters))
        return {name: "Ask either for client and server, or for hosts and filters."}
    if pair and not (client and server):
        missing = "server" if client else "client"
        return {missing: "A pair needs both client=KEY and server=KEY."}
    if link is not None and not pair:
        return {"link": "A link lies between two hosts: it needs client=KEY and server=KEY."}
    return {}
