from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.generic import TemplateView

from cipherspeed.groups import natural_key
from cipherspeed.recommendation import RankedCipher
from cipherspeed.ssh_configuration import CLIENT_DECIDES
from compare.views.compare import DATES
from compare.views.filters import FILTER_TITLES
from core.access import HOSTS, ReaderMixin
from core.first_steps import agent_command, nobody_measured_yet
from core.page_query import PageAddress, api_params
from recommend.advice import Advice, advise
from recommend.forms import (
    DEFAULT_POLICY,
    LINK_KEYS,
    PAIR,
    POLICIES,
    RecommendationForm,
)
from runs.filters import FILTERS, UNACCELERATED
from runs.models import DimensionValue, Host, Measurement
from runs.models.host import is_number

KINDS = {"host": "One or two hosts", "group": "Group"}
# Titles of the filters that have a control.
DIMENSIONS = {name: FILTER_TITLES[name] for name in ("os", "openssh", "cpu", "virtualization")}

TITLES = {**FILTER_TITLES, **DATES}
TO_CHOOSE = 200  # hosts that a text field suggests

TO_LIST = 20


class RecommendPage(ReaderMixin, TemplateView):
    template_name = "recommend/recommend.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        params = api_params(request.GET, {*RecommendationForm.base_fields, "for"})
        if "server" not in params and "client" in params:
            params.setlist("host", params.pop("client"))
        unclear = _with_keys(params)
        has_question = params.keys() & {*PAIR, *FILTERS}
        result: dict[str, Any] = {"nobody_measured": not has_question and nobody_measured_yet()}
        if unclear:
            result = {"unclear": unclear}
        elif has_question:
            form = RecommendationForm(params)
            page = request.build_absolute_uri(reverse("recommend"))
            faults = form.faults()
            result = {"faults": faults} if faults else _result_context(advise(form.question, page))
        context = {**_form_context(params), **result, "agent_command": agent_command(request)}
        response = self.render_to_response(context)
        if unclear and not unclear["several"]:
            response.status_code = 404
        return response


def _with_keys(params: QueryDict) -> dict[str, Any] | None:
    """Replace host names in `params` with host keys.

    Return None, or the template context for a message about the first unknown or ambiguous name.
    """
    counted = Host.objects.counted()
    for name in HOSTS:
        texts = [text.strip() for text in params.getlist(name)]
        for place, text in enumerate(texts):
            if "\x00" in text:  # the form rejects it
                return None
            host = counted.find(text)
            named = [host] if host else counted.beginning_with(text)
            if is_number(text):  # the digits may be the name of another host
                named = list({*named, *counted.filter(name=text)[:TO_LIST]})
            if len(named) != 1:
                others = [other for other in texts if other != text]
                return {
                    "text": text,
                    "several": bool(named),
                    "hosts": [
                        (other, PageAddress(params).changed(**{name: (*others, other.slug)}))
                        for other in named or counted.named_like(text)[:TO_LIST]
                    ],
                }
            texts[place] = named[0].slug
        if texts:
            params.setlist(name, list(dict.fromkeys(texts)))
    return None


def _kind_of(params: QueryDict) -> str:
    if str(params.get("for")) in KINDS:
        return str(params["for"])
    narrowing = params.keys() & set(FILTERS) - {"host", "source"}
    return "group" if narrowing or len(params.getlist("host")) > 1 else "host"


def _form_context(params: QueryDict) -> dict[str, Any]:
    kind = _kind_of(params)
    carried = [
        (name, value)
        for name in (*FILTERS, *DATES)
        for value in params.getlist(name)
        if kind == "group" or name not in HOSTS
    ]
    marked = params.copy()
    marked["for"] = kind  # a group with one remaining host is still a group
    address = PageAddress(marked)
    first = next((str(params[name]) for name in HOSTS if name in params), "")
    policy = POLICIES.get(params.get("policy", ""), POLICIES[DEFAULT_POLICY])
    return {
        "kind": kind,
        "kinds": [
            (each, label, PageAddress.of(**{"for": each, "host": first, "policy": policy.name}))
            for each, label in KINDS.items()
        ],
        "policies": POLICIES.values(),
        "policy": policy,
        "links": dict.fromkeys([*LINK_KEYS, *params.getlist("link")]),
        "link": params.get("link", ""),
        "client": params.get("host") or params.get("client", ""),
        "server": params.get("server", ""),
        "hosts_to_choose": _measured_hosts()[:TO_CHOOSE],
        "dimensions": _dimensions() if kind == "group" else (),
        "chips": [
            (name, TITLES[name], value, address.without(name, value)) for name, value in carried
        ],
        "carried": carried,
    }


def _measured_hosts() -> QuerySet[Host]:
    ssh = Measurement.objects.filter(run__host=OuterRef("pk"), series__tool="ssh")
    return Host.objects.counted().filter(Exists(ssh)).order_by("-pk")


def _dimensions() -> list[tuple[str, str, list[DimensionValue]]]:
    values = DimensionValue.objects.filter(dimension__in=DIMENSIONS)
    ordered = sorted(values, key=lambda value: natural_key(value.label))
    return [
        (name, title, [value for value in ordered if value.dimension == name])
        for name, title in DIMENSIONS.items()
    ]


def _result_context(advice: Advice) -> dict[str, Any]:
    order, losses = advice.result.order, advice.result.losses
    longest = max((place.speed.most for place in order), default=0)
    return {
        "advice": advice,
        "title": _title(advice),
        "without_aes": [
            host
            for host in advice.hosts
            if host.acceleration in UNACCELERATED and advice.question.kind != "group"
        ],
        "rows": [(place, _bar(place, longest)) for place in order],
        "has_gain": any(place.gain for place in order),
        "has_cpu": any(
            rate.cpu_seconds_per_gb is not None for place in order for rate in place.rates
        ),
        "doubts": any(rate.doubtful for place in order for rate in place.rates),
        "losses": sorted(losses, key=lambda each: (-each.loss, each.host.key))[:TO_LIST],
        "client_decides": CLIENT_DECIDES,
        "api_address": f"{reverse('api:recommendation')}?{advice.question.query}",
    }


class Bar(NamedTuple):
    """Store the length of a bar and the ends of the error bar, in per cent of the chart's width."""

    end: float
    low: float
    high: float

    @property
    def whisker(self) -> str:
        """Return the SVG path of the error bar for a view box of 100 x 10."""
        low, high = self.low, self.high
        return f"M{low} 5H{high}M{low} 2.5V7.5M{high} 2.5V7.5"


def _bar(place: RankedCipher, longest: float) -> Bar:
    speed = place.speed
    ends = (round(100 * each / longest, 2) for each in (speed.median, speed.least, speed.most))
    return Bar(*ends)


def _title(advice: Advice) -> str:
    names = [host.name for host in advice.hosts]
    if advice.question.kind == "pair":
        return f"Ciphers for {names[0]} to {names[-1]}" if len(names) == 2 else "Two hosts"
    if advice.question.kind == "host":
        return f"Ciphers for {names[0]}" if names else "One host"
    return f"Ciphers for {len(names)} host{'' if len(names) == 1 else 's'}"
