"""The recommendation page, `/recommend/`: what is asked, and everything that its template needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from analysis.ciphers.cipher_catalogue import DEFAULT_POLICY, policies
from analysis.ciphers.cipher_ranking import Gain
from analysis.ciphers.default_cipher import against_default
from analysis.ciphers.group_recommendation import GroupGain
from analysis.ciphers.host_ciphers import CipherRate
from analysis.ciphers.ssh_configuration import CLIENT_DECIDES
from analysis.groups import FEW_VOTES
from pages.access import HOSTS, reader_page
from pages.compare.filters import FILTER_TITLES
from pages.compare.page import DATES, Chip
from pages.compare.table import Bar, doubtful_of
from pages.formatting import percent, three_digits, throughput
from pages.metrics import METHODS
from pages.page_query import RECOMMENDATION_NAMES, PageAddress, api_params, query_faults
from pages.setup.first_steps import agent_command, nobody_measured_yet
from questions.recommendation_parameters import recommendation_question
from results.hosts.hosts import latest_runs_of
from results.recommendation.advice import Advice, Loss, Place, advise
from results.recommendation.host_choice import (
    HostName,
    hosts_called,
    hosts_like,
    hosts_to_choose,
    values_of_dimensions,
)
from results.recommendation.measured_ssh import PERIOD_FILTERS, TooManyHosts
from results.recommendation.question import LINK_KEYS, Kind
from runs.filters import FILTERS
from store.models import Run

TEMPLATE = "pages/recommend.html"
KINDS: Mapping[Kind, str] = {"host": "Host", "pair": "Pair", "group": "Group"}
TO_CHOOSE = 200
"""Hosts that a text field offers; others are found by their name."""

TO_LIST = 20
DIMENSIONS = {name: FILTER_TITLES[name] for name in ("os", "openssh", "cpu", "virtualization")}
"""Filters with a control of their own -> title."""

TITLES = {**FILTER_TITLES, **DATES}

LOSSES_SHOWN = 20
RUNS_SHOWN = 20


@reader_page
def recommend_page(request: HttpRequest) -> HttpResponse:
    """One host, a pair or a group; a parameter that cannot be is answered 400 and in words."""
    params, unclear = _with_keys(_filled(request.GET))
    if unclear:
        status = 200 if unclear["several"] else 404
        return _page(request, params, {"unclear": unclear}, status)
    # The tab for pairs brings the host along.
    if ("client" in params) != ("server" in params) and not set(FILTERS) & set(params):
        return _page(request, params, {"nobody_measured": nobody_measured_yet()})
    try:
        question = recommendation_question(api_params(params, RECOMMENDATION_NAMES))
        if question.empty:
            return _page(request, params, {"nobody_measured": nobody_measured_yet()})
        advice = advise(question, request.build_absolute_uri(reverse("recommend")), timezone.now())
    except ValidationError as error:
        return _page(request, params, {"faults": query_faults(error)}, status=400)
    except TooManyHosts as error:
        return _page(request, params, {"faults": [("host", str(error))]}, status=400)
    return _page(request, params, _result_context(advice, params))


def _page(
    request: HttpRequest, params: QueryDict, result: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = {**_form_context(params), **result, "agent_command": agent_command(request)}
    return render(request, TEMPLATE, context, status=status)


def _filled(params: QueryDict) -> QueryDict:
    """The parameters without those that a form sends empty, and without blanks around them."""
    kept = QueryDict(mutable=True)
    for name, values in params.lists():
        texts = [value.strip() for value in values if value.strip()]
        if texts:
            kept.setlist(name, texts)
    return kept


def _with_keys(params: QueryDict) -> tuple[QueryDict, dict[str, Any] | None]:
    """The parameters with hosts by key where their names were typed; or the first unclear one."""
    texts = [text for name in HOSTS for text in params.getlist(name)]
    if not texts or any("\x00" in text for text in texts):
        return params, None
    called = hosts_called(texts)
    resolved = params.copy()
    for name in HOSTS:
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


def _unclear(params: QueryDict, name: str, text: str, found: list[HostName]) -> dict[str, Any]:
    """A text that names no host, or several; hosts it may mean, with addresses that take them."""
    hosts = found[:TO_LIST] or hosts_like(text, TO_LIST)
    others = [other for other in params.getlist(name) if other != text]
    address = PageAddress(params)
    return {
        "text": text,
        "several": bool(found),
        "hosts": [(host, address.changed(**{name: (*others, host.key)})) for host in hosts],
    }


def _kind_of(params: QueryDict) -> Kind:
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


def _form_context(params: QueryDict) -> dict[str, object]:
    """The form with what is chosen in it, and the ways out of that."""
    kind = _kind_of(params)
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
        "typed": {name: params.get(name, "") for name in HOSTS},
        "hosts_to_choose": hosts_to_choose(TO_CHOOSE),
        "dimensions": [(name, DIMENSIONS[name], values.get(name, ())) for name in DIMENSIONS],
        "chips": _chips(params, kind, values),
        "carried": _carried(params, kind),
    }


def _kind_address(params: QueryDict, kind: Kind) -> str:
    """The page for that kind, with what is known already: a host stays the host or the client."""
    first = next((params.get(name, "") for name in HOSTS if params.get(name)), "")
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
    marked = params.copy()
    marked["for"] = kind  # a group that is left with one host is still a group
    address = PageAddress(marked)
    return [
        Chip(TITLES[name], labels.get((name, value), value), address.without(name, value))
        for name, value in _carried(params, kind)
    ]


@dataclass(frozen=True)
class ShownPlace:
    """A cipher in its place with the bar of its rate, and its rate against today's default.

    `measured`: each host's rate and its mark, "low confidence" or empty; `doubt`: of them all.
    """

    place: Place
    bar: Bar
    gain: str
    gain_range: str
    cpu_saved: str
    fills: str
    doubt: str
    measured: tuple[tuple[CipherRate, str], ...]


def _result_context(advice: Advice, params: QueryDict) -> dict[str, Any]:
    """The answer as the template shows it."""
    asked = api_params(params, RECOMMENDATION_NAMES)
    latest = PageAddress(params).changed(until=None)
    places = _shown_places(advice.places)
    return {
        "advice": advice,
        "headline": headline(advice),
        "without_aes": _without_aes(advice),
        "title": _title(advice),
        "places": places,
        "cost": advice.places[0].slower_than_default if advice.places else None,
        **excluded_context(advice),
        "has_gain": any(one.place.gain for one in places),
        "doubts": any(one.doubt for one in places),
        "has_cpu": any(
            rate.cpu_seconds_per_gb is not None for place in advice.places for rate in place.rates
        ),
        "losses": _losses(advice.losses, params.get("find", "").strip()),
        "found_by": [
            (name, value)
            for name, values in params.lists()
            for value in values
            if name != "find" and value
        ],
        "runs": advice.runs[:RUNS_SHOWN],
        "more_runs": len(advice.runs) - RUNS_SHOWN,
        "client_decides": CLIENT_DECIDES,
        "latest_address": latest if advice.question.selection.until else None,
        "api_address": f"{reverse('api:recommendation')}?{asked.urlencode()}",
    }


def _without_aes(advice: Advice) -> list[Run]:
    """The latest runs of those of one or two hosts that have AES hardware and do not use it."""
    if advice.question.kind == "group":
        return []
    latest = latest_runs_of(one.id for one in advice.hosts)
    return list(latest.filter(acceleration__in=("hidden", "unused")).select_related("host"))


def excluded_context(advice: Advice) -> dict[str, Any]:
    """The excluded ciphers, each with its rate; of these the faster ones, and the unmeasured."""
    figure = percent if advice.question.kind == "group" else throughput
    return {
        "faster": [(one, figure(one.rate or 0)) for one in advice.faster],
        "unmeasured": [one.cipher for one in advice.unmeasured] if advice.places else [],
        "excluded": [(one, figure(one.rate) if one.rate else "") for one in advice.unranked],
    }


def _title(advice: Advice) -> str:
    """Whom the recommendation is for."""
    names = [host.ciphers.name for host in advice.hosts]
    if advice.question.kind == "pair":
        return f"Ciphers from {names[0]} to {names[-1]}" if len(names) == 2 else "Two hosts"
    if advice.question.kind == "host":
        return f"Ciphers for {names[0]}" if names else "One host"
    return f"Ciphers for {len(names)} host{'' if len(names) == 1 else 's'}"


def headline(advice: Advice) -> str:
    """What to use, what that gains or costs over the default, and why: the table's figures."""
    if not advice.places:
        return advice.nothing or ""
    first, gain = advice.places[0], advice.today.gain
    verb = "Keep" if gain and gain.over == first.cipher else "Prefer"
    said = f"{verb} {first.cipher}: {_figure(advice, first)}"
    if advice.question.kind == "group":
        said = f"{said}, {_of_hosts(advice.today.gain_of_hosts)}."
    elif gain is None:
        said = f"{said}. What that gains is not known: {advice.today.unknown}."
    else:
        said = f"{said}, {_against_default(first, gain, advice.hosts[0].ciphers.client)}."
    return " ".join(filter(None, (said, _why(advice))))


def _of_hosts(gain: GroupGain | None) -> str:
    """What a group gains over the default ciphers of its hosts."""
    if gain is None:
        return "against their default ciphers unknown, because no host measured its own"
    slower = f"; {gain.slower} get{'s' if gain.slower == 1 else ''} slower" if gain.slower else ""
    return (
        f"{gain.ratio:.2f} times the rate of their default ciphers (geometric mean of "
        f"{gain.hosts}{slower})"
    )


def _why(advice: Advice) -> str:
    """Why the first place is the first, where the words about its cost do not say so already."""
    first, *others = advice.places
    rate, policy = _rate_of(first), advice.policy.name
    rated_lower = [
        one
        for one in others
        if _rate_of(one) > rate and one.assessment.status != first.assessment.status
    ]
    rival = max(rated_lower, key=_rate_of, default=None)
    if rival and not (first.slower_than_default and _is_default(rival)):
        times = f"{_rate_of(rival) / rate:.2f} times as fast"
        return f"{rival.cipher} is {times}, but rated {rival.assessment.status}: safer goes first."
    if first.slower_than_default:
        return ""
    if first.ahead_of:
        return f"{first.ahead_of} is less safe, and faster only within the noise."
    if not others:
        return f"The {policy} policy allows no other cipher that was measured."
    allowed = f"other measured ciphers that the {policy} policy allows"
    if any(_rate_of(one) >= rate for one in others):
        return f"None of the {len(others)} {allowed} is faster beyond the noise, or safer."
    if len(others) == 1:
        return f"It is faster than the only {allowed.replace('ciphers', 'cipher')}."
    return f"It is faster than the {len(others)} {allowed}."


def _is_default(place: Place) -> bool:
    return bool(place.gain and place.gain.over == place.cipher)


def _rate_of(place: Place) -> float:
    return place.median or place.share or 0


def _figure(advice: Advice, first: Place) -> str:
    if advice.question.kind == "pair":
        return f"{throughput(first.median or 0)} expected, limited by the {first.limited_by}"
    if first.median is not None:
        return throughput(first.median)
    return (
        f"with it these {len(advice.hosts)} hosts keep {percent(first.share or 0)} of the rate of "
        "their own best ciphers (geometric mean)"
    )


def _against_default(first: Place, gain: Gain, client: str | None) -> str:
    """With the bounds by the noise and, where it was measured, the CPU time saved."""
    words = first.slower_than_default or against_default(first.cipher, gain, client)
    if gain.over == first.cipher:
        return f"already {words}"
    # Where a link limits both, the noise of the hosts does not show; "at least" has said it.
    told = gain.lowest == gain.highest or (gain.is_open and gain.beyond_noise)
    bounds = "" if told or first.slower_than_default else f" ({gain.bounds} with the noise)"
    saved = _cpu_saved(gain)
    return f"{words}{bounds}{f', {saved}' if saved else ''}"


def _cpu_saved(gain: Gain | None) -> str:
    """ "0.31 CPU seconds per GB less"; empty where either was not measured."""
    seconds = gain.cpu_seconds_saved_per_gb if gain else None
    if seconds is None or (gain and seconds == 0):
        return ""
    return f"{three_digits(abs(seconds))} CPU s/GB {'less' if seconds > 0 else 'more'}"


def _shown_places(places: Sequence[Place]) -> tuple[ShownPlace, ...]:
    """The table's rows; the longest bar ends at the highest bound."""
    longest = max((place.high or place.share or 0 for place in places), default=0)

    def part(value: float | None) -> float | None:
        return None if value is None or not longest else round(100 * value / longest, 2)

    return tuple(
        ShownPlace(
            place=place,
            bar=Bar(part(place.median or place.share) or 0, part(place.low), part(place.high)),
            gain=_gain(place),
            gain_range=place.gain.bounds if place.gain and place.gain.over != place.cipher else "",
            doubt=_doubt(place),
            measured=tuple(
                (rate, "low confidence" if doubtful else "")
                for rate, doubtful in zip(place.rates, place.doubtful, strict=False)
            ),
            cpu_saved=_cpu_saved(place.gain),
            fills=_fills(place.fills or {}),
        )
        for place in places
    )


def _doubt(place: Place) -> str:
    """As beside a comparison's figures: only for a few hosts."""
    n = len(place.doubtful)
    return doubtful_of(sum(place.doubtful), n) if n <= FEW_VOTES else ""


def _fills(links: Mapping[str, bool | None]) -> str:
    """ "1 GbE, perhaps 2.5 GbE": links that it fills, or may; "below 1 GbE": not even that."""
    shown = [
        name if filled else f"perhaps {name}"
        for name, filled in links.items()
        if filled is not False
    ]
    return ", ".join(shown) or (f"below {next(iter(links))}" if links else "")


def _gain(place: Place) -> str:
    if place.gain is None:
        return ""
    return "default" if place.gain.over == place.cipher else f"{place.gain.ratio:.2f} ×"


def _losses(losses: Sequence[Loss], find: str) -> dict[str, Any]:
    """At most `LOSSES_SHOWN`, the greatest loss first."""
    wanted = find.casefold()
    found = [
        loss
        for loss in losses
        if wanted in loss.host.ciphers.name.casefold() or wanted in loss.host.key
    ]
    ordered = sorted(found, key=lambda loss: (-loss.figures.loss, loss.host.key))[:LOSSES_SHOWN]
    most = max((loss.figures.loss for loss in losses), default=0)
    rows = tuple(
        (loss, Bar(round(100 * max(loss.figures.loss, 0) / most, 2) if most > 0 else 0, None, None))
        for loss in ordered
    )
    return {"rows": rows, "found": len(found), "total": len(losses), "find": find}
