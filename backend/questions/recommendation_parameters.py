"""What an address asks of a recommendation."""

import re
from typing import Any

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from analysis.ciphers.cipher_catalogue import DEFAULT_POLICY, policies
from compare.question import METHODS
from questions.comparison_parameters import NARROWING, chosen_filters
from questions.parameters import Parameter, choice, read
from results.hosts.host_names import what_they_became
from results.recommendation.measured_ssh import HostSelection
from results.recommendation.question import LINK_KEYS, Question

LONGEST_KEY = 220
"""Characters of a host's key."""


def _key(value: str) -> str:
    if len(value) > LONGEST_KEY or "\x00" in value:
        raise ValueError("This is no key of a host; GET /api/v1/hosts/ lists them.")
    return value


def _link(value: str) -> float:
    """Bits per second, from a usual name or from the number itself."""
    plain = value.replace(" ", "").lower()
    usual = {name.lower(): bits for name, bits in LINK_KEYS.items()}
    if plain in usual:
        return usual[plain]
    if not re.fullmatch(r"[1-9][0-9]{0,14}", plain):
        known = ", ".join(LINK_KEYS)
        raise ValueError(
            f"{value[:50]!r} is none of {known}, and no whole number of bits per second."
        )
    return float(plain)


RECOMMENDATION = [
    choice("policy", tuple(policies())),
    choice("method", METHODS, "Default: that by which all hosts measured most ciphers."),
    Parameter("client", _key, "Key of a host; of a pair."),
    Parameter("server", _key, "Key of a host; of a pair."),
    Parameter("link", _link, f"Between the two: {', '.join(LINK_KEYS)}, or bits per second."),
    *NARROWING,
]


def recommendation_question(params: QueryDict) -> Question:
    """The question that the parameters ask; empty ones count as absent.

    Raises DRF's `ValidationError`, keyed by parameter and naming every fault.
    """
    chosen, faults = read(params, RECOMMENDATION)
    filters = chosen_filters(chosen)
    faults = faults or _contradictions(chosen, filters)
    if faults:
        raise ValidationError(faults)
    client, server = chosen.get("client"), chosen.get("server")
    if client and server:
        became = what_they_became([client, server])
        client, server = became.get(client, client), became.get(server, server)
    # Without a method the one that measured most ciphers counts.
    selection = HostSelection(
        filters, chosen.get("since"), chosen.get("until"), chosen.get("method")
    )
    policy = chosen.get("policy", DEFAULT_POLICY)
    return Question(policy, selection, client, server, chosen.get("link"))


def _contradictions(chosen: dict[str, Any], filters: dict[str, Any]) -> dict[str, str]:
    client, server = chosen.get("client"), chosen.get("server")
    pair = client or server
    if pair and filters:
        return {next(iter(filters)): "Ask either for client and server, or for hosts and filters."}
    if pair and not (client and server):
        missing = "server" if client else "client"
        return {missing: "A pair needs both client=KEY and server=KEY."}
    if "link" in chosen and not pair:
        return {"link": "A link lies between two hosts: it needs client=KEY and server=KEY."}
    return {}
