"""What an address asks of the comparison, of a history and of a shared view."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import time
from typing import Any

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from analysis.ciphers.cipher_catalogue import cipher_catalogue
from questions.parameters import (
    Parameter,
    checked,
    choice,
    described,
    moment,
    names_of,
    number,
    read,
    switch,
    text,
)
from questions.unknown_parameters import LONGEST_NAMED, SURELY_MEANT, alike, misspelt, none_of
from results.figures import measured_names
from results.hosts.history import METRICS as HISTORY_METRICS
from results.hosts.history import HistoryQuery
from results.hosts.host_names import present_keys
from results.selection import (
    FILTERS,
    GROUPINGS,
    HOST_PREFIX,
    METRICS,
    MOST_SPLITS,
    TAG_PREFIX,
    TOOLS,
    ComparisonQuery,
    member,
)
from store.models import Host
from store.outage import Unanswerable

METHODS = ("pipeline", "steady")
MOST_PARAMETERS = 500
"""Of a view that is shared."""


def grouping(value: str) -> str:
    """What groups are made by: a dimension or tag:KEY."""
    tag = value.removeprefix(TAG_PREFIX)
    if value in GROUPINGS or (value != tag and re.fullmatch(r"[\w.-]{1,50}", tag)):
        return value
    raise ValueError(none_of(value, GROUPINGS, f" and {TAG_PREFIX}KEY"))


def _tag(value: str) -> str:
    if ":" not in text(value):
        raise ValueError(f"{value[:50]!r} must be KEY:VALUE.")
    return value


_TAG_HELP = (
    "KEY:VALUE; may be repeated: any value of one key matches, and all keys must match "
    "(tag=env:prod&tag=dc:fra&tag=dc:ams: production in either data centre)."
)
_FILTER_HELP = "Key of a value; may be repeated, any of them matches."

_SPECIAL = {
    "tag": Parameter("tag", _tag, _TAG_HELP, many=True),
    "disturbed": choice("disturbed", ("no", "yes"), "no: of runs without conditions.", many=True),
}

NARROWING = [
    *(_SPECIAL.get(name) or Parameter(name, text, _FILTER_HELP, many=True) for name in FILTERS),
    Parameter("since", moment(time.min), "Started on or after: date or time."),
    Parameter("until", moment(time.max), "Started on or before."),
]
"""What chooses runs."""

RELATING = [
    Parameter("split_by", grouping, f"A second group_by, of up to {MOST_SPLITS} values."),
    Parameter(
        "relative_to",
        text,
        "Key of a group, or host:ID: each figure also as a ratio to that one's, with an interval.",
    ),
    switch("matched", "1: of hosts alone that have the figure in every group."),
]
"""How the groups stand to each other."""

COMPARISON = [
    choice("tool", TOOLS),
    choice("metric", METRICS),
    choice("operation", ("encrypt", "decrypt")),
    choice("method", METHODS),
    choice("target_kind", ("loopback", "remote")),
    choice("acceleration", ("default", "masked")),
    Parameter("group_by", grouping, "cpu (default), os, openssl, ..., or tag:KEY."),
    Parameter("cipher", text, "Default: all.", many=True),
    number("block_size", "openssl, in bytes; default: the largest that all groups have."),
    number("threads", "openssl; default 1."),
    Parameter("mac", text, "ssh; asked for or negotiated."),
    switch("compression", "ssh; default off."),
    *NARROWING,
    *RELATING,
]
COMPARISON_PARAMETERS = described(COMPARISON)


def comparison_query(params: QueryDict) -> ComparisonQuery:
    """The query that the parameters ask for; empty ones count as absent.

    A host that was merged into another stands for that one, so that old addresses hold. Raises
    DRF's `ValidationError`, keyed by parameter and naming every fault.
    """
    chosen = checked(params, COMPARISON)
    filters = chosen_filters(chosen)
    query = ComparisonQuery(ciphers=chosen.pop("cipher", ()), filters=filters, **chosen)
    faults = {}
    if query.split_by == query.group_by:
        faults["split_by"] = f"The groups are by {query.group_by} already."
    if query.matched and "host" in (query.group_by, query.split_by):
        faults["matched"] = "Groups that are hosts have no hosts in common."
    if faults:
        raise ValidationError(faults)
    return query


def chosen_filters(chosen: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The filters, taken out of what was chosen; hosts under their present keys."""
    filters = {name: chosen.pop(name) for name in FILTERS if name in chosen}
    if "host" in filters:
        filters["host"] = present_keys(filters["host"])
    return filters


def asked_comparison(params: QueryDict) -> ComparisonQuery:
    """The query that a reader's parameters ask for, its ciphers and its reference known ones.

    `ValidationError` as of `comparison_query`, and for a cipher that is not in the catalogue and
    that nobody has measured, or a reference that is none of the groups or hosts there are. Needs a
    statement only for such a cipher and for a reference.
    """
    query = comparison_query(params)
    if query.relative_to is not None:
        query = replace(query, relative_to=_reference(query))
    catalogue = {one.name for one in cipher_catalogue().ciphers} if query.ciphers else set()
    strange = [cipher for cipher in query.ciphers if cipher not in catalogue]
    if not strange:
        return query
    measured = measured_names()
    known = {cipher for _, cipher in measured}
    of_tool = {cipher for tool, cipher in measured if tool == query.tool}
    faults = [_unmeasured(one, of_tool or catalogue) for one in strange if one not in known]
    if faults:
        raise ValidationError({"cipher": faults})
    return query


def _reference(query: ComparisonQuery) -> str:
    """The reference as the query has it: hosts by their present keys."""
    wanted = query.relative_to or ""
    key = query.reference_host
    if key is None:
        if member(query.group_by, wanted) is None:
            raise ValidationError(
                {"relative_to": f"No group by {query.group_by} has the key {wanted!r}."}
            )
        return wanted
    found = present_keys([key])[0]
    if not Host.objects.filter(slug=found).exists():
        raise ValidationError({"relative_to": f"There is no host {key!r}."})
    return f"{HOST_PREFIX}{found}"


def _unmeasured(cipher: str, known: Iterable[str]) -> str:
    """Names are compared without what follows "@": aes128-gcm@openssh.com is typed aes128-gcm."""
    plain = {name.partition("@")[0]: name for name in sorted(known)}
    near = [plain[name] for name in alike(cipher.partition("@")[0], plain, SURELY_MEANT)[:1]]
    said = f"No result has the cipher {cipher[:LONGEST_NAMED]!r}"
    return f"{said}; did you mean {near[0]}?" if near else f"{said}."


_OF_ONE_SERIES = [
    Parameter("target_name", text, "ssh: the name of a remote target."),
    switch(
        "pinned", "ssh: 1 or 0; default: of each run the series that is not pinned, if it has one."
    ),
]
HISTORY = [
    Parameter("host", text, "Key or number of the host.", required=True),
    choice("tool", TOOLS, required=True),
    Parameter("cipher", text, required=True),
    choice("metric", HISTORY_METRICS),
    *(
        Parameter(name, text, said)
        for name, said in {
            "block_size": "openssl; default: what most of the host's runs have, of several the "
            "largest.",
            "threads": "openssl; default 1.",
            "operation": "openssl: encrypt (default) or decrypt.",
            "method": "ssh: pipeline (default) or steady.",
            "mac": "ssh; asked for or negotiated.",
            "compression": "ssh; default off.",
            "target_kind": "ssh: loopback (default) or remote.",
            "acceleration": "default (default) or masked.",
        }.items()
    ),
    *_OF_ONE_SERIES,
    *(one for one in NARROWING if one.name != "host"),
]
"""The comparison's, for one host and one series, as the OpenAPI document lists them."""


def history_query(params: QueryDict) -> HistoryQuery:
    """The history that the parameters ask for; raises DRF's `ValidationError`, naming faults."""
    query = asked_comparison(params)
    own, faults = read(params, _OF_ONE_SERIES)
    if len(query.filters.get("host", ())) != 1:
        faults["host"] = "Name one host by its key or number, as /api/v1/hosts/ lists it."
    if len(query.ciphers) != 1:
        faults["cipher"] = "Name one cipher: a history is that of one series."
    if not params.get("tool"):
        faults["tool"] = "Name the tool, ssh or openssl."
    if query.metric not in HISTORY_METRICS:
        faults["metric"] = none_of(query.metric, HISTORY_METRICS)
    if faults:
        raise ValidationError(faults)
    return HistoryQuery(query, **own)


def checked_view(query: str) -> str:
    """The query string of a comparison view, as it is stored; `ValidationError` if it is none.

    What else the compare page and mails put into its address is let through.
    """
    query = query.removeprefix("?")
    if query.count("&") >= MOST_PARAMETERS:
        raise ValidationError(f"A view has fewer than {MOST_PARAMETERS} parameters.")
    try:
        params = QueryDict(query)
        meant = misspelt(params, names_of(COMPARISON))
        if meant:
            raise ValidationError({name: f"did you mean {one}?" for name, one in meant.items()})
        asked_comparison(params)
    except ValidationError as error:
        detail = error.detail if isinstance(error.detail, dict) else {"query": error.detail}
        said = [f"{name}: {' '.join(_texts(texts))}" for name, texts in detail.items()]
        raise ValidationError(said) from None
    except Unanswerable as error:
        raise ValidationError(error.sentence) from None
    return query


def _texts(said: object) -> list[str]:
    return [str(one) for one in said] if isinstance(said, list) else [str(said)]
