import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from changes.models import FleetChangeMember
from cipherspeed import baselines, choices, palette
from compare.question import ComparisonForm, GroupsForm, OrderedForm
from core import formatting
from core.first_steps import many_machines
from core.page_query import api_params, misspelt_parameters
from hosts.views import series
from hosts.views.history import series_path
from runs.filters import RunFilter

register = template.Library()

MENU = "compare/parts/downloads_menu.html"

LONG = 72
"""Maximum number of characters of a text in a list. Longer texts are shortened or folded."""


def _or(unknown: str, write: Callable[..., str]) -> Callable[..., str]:
    """Return a function that formats None as `unknown`, and other values with `write`."""

    @wraps(write)
    def written(value: float | None, *unit: str) -> str:
        return unknown if value is None else write(value, *unit)

    return written


_FILTERS: dict[str, Callable[..., str]] = {
    "throughput": _or("–", formatting.throughput),
    "quantity": _or("–", formatting.quantity),
    "three_digits": _or("–", formatting.three_digits),
    "exactly": _or("", formatting.exact),
    "data_size": _or("–", formatting.data_size),
    "factor": formatting.factor,
    "percent": _or("–", formatting.percent),
    "difference": formatting.difference,
    "signed_percent": formatting.signed_percent,
    "colour_slot": palette.colour_slot,
    "only": baselines.only,
    "standing_words": series.standing_words,
}
for _name, _written in _FILTERS.items():
    register.filter(_name, _written)


@register.filter
def breakable(cipher: str) -> SafeString:
    name, at, domain = cipher.partition("@")
    return format_html("{}<wbr>{}{}", name, at, domain)


register.filter("in_sentence", choices.in_sentence)


@register.filter
def tool_name(tool: str) -> str:
    return choices.TOOL_NAMES[tool]


@register.filter
def dom_id(text: str) -> str:
    # Different non-ASCII names must have different IDs.
    return re.sub(
        r"[^A-Za-z0-9_-]", lambda found: "-" if found[0].isascii() else f"-{ord(found[0]):x}", text
    )


@register.filter
def known(label: str | None) -> SafeString:
    """Render a label of an environment, such as a CPU model.

    An unknown label has a muted colour. A long label is shortened.
    """
    if not label:
        return format_html('<span class="muted">{}</span>', "–")
    if label.startswith("Unknown "):
        return format_html('<span class="muted" title="{}">unknown</span>', label)
    return format_html("{}", label if len(label) <= LONG else label[: LONG - 1] + "…")


@register.filter
def is_long(text: str) -> bool:
    return len(text) > LONG


@register.simple_tag
def utc(moment: datetime | None, *, unknown: str = "–") -> SafeString | str:
    """Render a time in UTC as a `time` element. If the time is midnight, render only the date."""
    if moment is None:
        return unknown
    moment = moment.astimezone(UTC)
    bare_date = moment.time() == time.min
    return format_html(
        '<time datetime="{}" class="nowrap">{}</time>',
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        moment.strftime("%Y-%m-%d" if bare_date else "%Y-%m-%d %H:%M UTC"),
    )


@register.simple_tag(takes_context=True)
def poll(context: template.Context, since: datetime | None, address: str = "") -> SafeString:
    """Return htmx attributes that reload a page every 2 to 15 seconds.

    The interval grows with the time since `since`. `address`: URL to load, by default the page.
    """
    age = timezone.now() - since if since else timedelta()
    return format_html(
        ' data-poll hx-get="{}" hx-trigger="every {}s, visibilitychange from:document"'
        ' hx-sync="#main:drop"',
        address or context["request"].get_full_path(),
        min(max(int(age.total_seconds() / 10), 2), 15),
    )


@register.simple_tag
def quantity_range(low: float, high: float, unit: str = "B/s") -> str:
    return formatting.quantity_range(low, high, unit)


@register.simple_tag
def history_address(member: FleetChangeMember) -> str:
    query = urlencode({"series": series_path(member.series)}) if member.series else ""
    host = member.run.host_id
    return f"{reverse('host-page', args=[host])}?{query}#history"


@register.inclusion_tag("core/parts/many_machines.html", takes_context=True)
def many_machines_section(context: template.Context) -> dict[str, Any]:
    return {"many": many_machines(context["request"])}


@register.inclusion_tag(MENU)
def download_menu(**chosen: Any) -> dict[str, Any]:
    """Render download links for the measurements of a host (`host=KEY`) or run (`run_id=ID`)."""
    return {"measurements": urlencode(chosen)}


@register.inclusion_tag(MENU, takes_context=True)
def list_download_menu(context: template.Context) -> dict[str, Any]:
    params = api_params(context["request"].GET, frozenset(RunFilter.base_filters))
    return {"measurements": params.urlencode()}


@register.inclusion_tag(MENU, takes_context=True)
def comparison_download_menu(context: template.Context) -> dict[str, Any]:
    params, query = context["valid_params"].copy(), context["query"]
    params["tool"] = query.tool
    params.setlist("cipher", list(query.ciphers))
    if query.block_size is not None:
        params["block_size"] = str(query.block_size)
    return {
        "comparison": api_params(params, GroupsForm.base_fields).urlencode(),
        "groups": api_params(params, OrderedForm.base_fields).urlencode(),
        "measurements": api_params(params, ComparisonForm.base_fields).urlencode(),
    }


@register.inclusion_tag("core/parts/misspelt.html", takes_context=True)
def misspelt_notice(context: template.Context) -> dict[str, Any]:
    return {"misspelt": misspelt_parameters(context["request"].GET)}
