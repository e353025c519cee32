"""What the recommendation page says: everything its template needs, from a recommendation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from analysis.ciphers.cipher_ranking import Gain
from analysis.ciphers.default_cipher import against_default
from analysis.ciphers.host_ciphers import CipherRate
from analysis.ciphers.ssh_configuration import CLIENT_DECIDES
from analysis.groups import FEW_VOTES
from exports.palette import colour_slot
from pages.compare.comparison_view import Bar, doubtful_of
from pages.formatting import percent, three_digits, throughput
from pages.page_query import PageAddress
from pages.recommend.recommend_form import api_params
from results.recommendation.advice import Advice, Loss, Place

LOSSES_SHOWN = 20
RUNS_SHOWN = 20


@dataclass(frozen=True)
class ShownPlace:
    """A cipher in its place with the bar of its rate, and its rate against today's default.

    `measured`: each host's rate and its mark, "low confidence" or empty; `doubt`: of them all.
    """

    number: int
    place: Place
    slot: str
    bar: Bar
    gain: str
    gain_range: str
    cpu_saved: str
    fills: str
    doubt: str
    measured: tuple[tuple[CipherRate, str], ...]


@dataclass(frozen=True)
class ShownLosses:
    """The hosts that lose most, or those that a search found."""

    rows: tuple[tuple[Loss, Bar], ...]
    found: int
    total: int
    find: str


def result_context(advice: Advice, params: QueryDict) -> dict[str, Any]:
    """The answer as the template shows it."""
    asked = api_params(params)
    latest = PageAddress(params).changed(until=None)
    places = shown_places(advice.places)
    return {
        "advice": advice,
        "headline": headline(advice),
        "title": title(advice),
        "places": places,
        "cost": advice.places[0].slower_than_default if advice.places else None,
        "has_gain": any(one.place.gain for one in places),
        "doubts": any(one.doubt for one in places),
        "has_cpu": any(rate.cpu_seconds_per_gb is not None for rate in _rates(advice)),
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
        "api_address": f"/api/v1/recommendation/?{asked.urlencode()}",
    }


def title(advice: Advice) -> str:
    """Whom the recommendation is for."""
    names = [host.ciphers.name for host in advice.hosts]
    if advice.question.kind == "pair":
        return f"Ciphers from {names[0]} to {names[-1]}" if len(names) == 2 else "Two hosts"
    if advice.question.kind == "host":
        return f"Ciphers for {names[0]}" if names else "One host"
    return f"Ciphers for {len(names)} host{'' if len(names) == 1 else 's'}"


def headline(advice: Advice) -> str:
    """The answer in one sentence, made of the figures that the table shows."""
    if not advice.places:
        return advice.nothing or ""
    first = advice.places[0]
    said = f"Prefer {first.cipher}: {_figure(advice, first)}"
    if advice.question.kind == "group":
        return f"{said}."
    if advice.today.gain is None:
        return f"{said}. What that gains is not known: {advice.today.unknown}."
    return f"{said}, {_against_default(first, advice.today.gain)}."


def _figure(advice: Advice, first: Place) -> str:
    if advice.question.kind == "pair":
        return f"{throughput(first.median or 0)} expected, limited by the {first.limited_by}"
    if first.median is not None:
        return throughput(first.median)
    return (
        f"with it these {len(advice.hosts)} hosts keep {percent(first.share or 0)} of the rate of "
        "their own best ciphers (geometric mean)"
    )


def _against_default(first: Place, gain: Gain) -> str:
    """With the bounds by the noise and, where it was measured, the CPU time saved."""
    words = first.slower_than_default or against_default(first.cipher, gain)
    if gain.over == first.cipher:
        return words
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


def shown_places(places: Sequence[Place]) -> tuple[ShownPlace, ...]:
    """The table's rows; the longest bar ends at the highest bound."""
    longest = max((place.high or place.share or 0 for place in places), default=0)

    def part(value: float | None) -> float | None:
        return None if value is None or not longest else round(100 * value / longest, 2)

    return tuple(
        ShownPlace(
            number=number,
            place=place,
            slot=colour_slot(place.cipher),
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
        for number, place in enumerate(places, start=1)
    )


def _doubt(place: Place) -> str:
    """As beside a comparison's figures: only for a few hosts."""
    n = len(place.doubtful)
    return doubtful_of(sum(place.doubtful), n) if n <= FEW_VOTES else ""


def _fills(links: Mapping[str, bool | None]) -> str:
    """ "1 GbE, perhaps 2.5 GbE": those that are filled, and those that the noise hides."""
    shown = [
        name if filled else f"perhaps {name}"
        for name, filled in links.items()
        if filled is not False
    ]
    return ", ".join(shown) or ("none" if links else "")


def _gain(place: Place) -> str:
    if place.gain is None:
        return ""
    return "default" if place.gain.over == place.cipher else f"{place.gain.ratio:.2f} ×"


def _rates(advice: Advice) -> list[Any]:
    return [rate for place in advice.places for rate in place.rates]


def _losses(losses: Sequence[Loss], find: str) -> ShownLosses:
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
    return ShownLosses(rows, len(found), len(losses), find)
