"""Filters and tags of the templates: units, times, names."""

import re
from datetime import UTC, datetime, time
from uuid import UUID

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis.percentile import Standing
from exports import palette
from pages import formatting
from pages.hosts import standing_view

register = template.Library()

LONG = 72
"""Characters after which a text in a list is cut or folded."""


@register.filter
def throughput(value: float | None) -> str:
    """Bytes per second as text; a value that is not known as a dash."""
    return "–" if value is None else formatting.throughput(value)


@register.filter
def quantity(value: float | None, unit: str) -> str:
    """A value in its unit ("B/s", "s/GB", "ratio")."""
    return "–" if value is None else formatting.quantity(value, unit)


@register.filter
def exactly(value: float | None, unit: str) -> str:
    """The value without prefix, for a title."""
    return "" if value is None else formatting.exact(value, unit)


@register.filter
def data_size(value: float | None) -> str:
    """Bytes with a binary prefix."""
    return "–" if value is None else formatting.data_size(value)


@register.filter
def factor(value: float | None) -> str:
    """An uncertainty, or that it is unknown."""
    return "unknown" if value is None else formatting.factor(value)


@register.filter
def percent(value: float | None) -> str:
    """A fraction in per cent."""
    return "–" if value is None else formatting.percent(value)


@register.filter
def colour_slot(cipher: str) -> str:
    """The colour slot of a cipher, for a class name."""
    return palette.colour_slot(cipher)


@register.filter
def breakable(cipher: str) -> SafeString:
    """A cipher's name that may be broken before its "@domain"."""
    name, at, domain = cipher.partition("@")
    return format_html("{}<wbr>{}{}", name, at, domain)


@register.filter
def dom_id(text: str) -> str:
    """A name as part of an element's id; names in other scripts stay apart."""
    return re.sub(
        r"[^A-Za-z0-9_-]", lambda found: "-" if found[0].isascii() else f"-{ord(found[0]):x}", text
    )


@register.filter
def known(label: str | None) -> SafeString:
    """A label of the environment, quietly where it says that it is unknown."""
    if label is None:
        return format_html('<span class="muted">{}</span>', "–")
    if label.startswith("Unknown "):
        return format_html('<span class="muted" title="{}">unknown</span>', label)
    return format_html("{}", label if len(label) <= LONG else label[: LONG - 1] + "…")


@register.filter
def short_id(run_id: UUID) -> str:
    """The first group of a run's id: enough to tell runs of a list apart."""
    return str(run_id)[:8]


@register.filter
def is_long(text: str) -> bool:
    """Whether a fact takes more than about two lines."""
    return len(text) > LONG


@register.simple_tag
def utc(moment: datetime | None, *, unknown: str = "–") -> SafeString | str:
    """A time in UTC that machines can read as well; a bare date (midnight sharp) as a date."""
    if moment is None:
        return unknown
    moment = moment.astimezone(UTC)
    bare_date = moment.time() == time.min
    return format_html(
        '<time datetime="{}" class="nowrap">{}</time>',
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        moment.strftime("%Y-%m-%d" if bare_date else "%Y-%m-%d %H:%M UTC"),
    )


@register.simple_tag
def rate_range(low: float, high: float) -> str:
    """The slowest and the fastest try: "410 – 447 MB/s"."""
    return formatting.quantity_range(low, high, "B/s")


@register.filter
def signed_percent(ratio: float) -> str:
    """A ratio as a difference: "+12.3 %", "−24.8 %"."""
    return formatting.signed_percent(ratio)


@register.filter
def standing_words(standing: Standing) -> str:
    """ "faster than 83 % of 41 other hosts"."""
    return standing_view.standing_words(standing)


@register.filter
def bar_width(fraction: float) -> str:
    """A fraction as the width of a bar of 100, at most that."""
    return f"{100 * min(fraction, 1):.2f}"
