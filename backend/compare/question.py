import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from django.http import QueryDict

from cipherspeed.choices import TAG_PREFIX
from cipherspeed.group_view import CIPHER_SORT, MOST_GROUPS, SCALES, SORTS, GroupView
from cipherspeed.groups import UNITS
from core.parameters import (
    Choice,
    Number,
    Switch,
    Text,
    Values,
    fault,
    none_of,
    unmeasured,
)
from runs.filters import FILTERS, NarrowingForm
from runs.models import DimensionValue, Host
from runs.models.dimension import DIMENSIONS

TOOLS = ("ssh", "openssl")
METRICS = tuple(UNITS)
METHODS = ("pipeline", "steady")
GROUPINGS = (*DIMENSIONS, "acceleration", "host")
"""Permitted values of `group_by`, in addition to `tag:KEY`."""

BLOCK_SIZE = 8192
"""Default block size of openssl in bytes. Every release of openssl measures this size."""

MOST_SPLITS = 12
HOST_PREFIX = "host:"


@dataclass(frozen=True)
class ComparisonQuery:
    """Store the parameters of a comparison. The names and defaults are those of the API.

    `ciphers`: all ciphers if empty. `block_size`: None means any block size. `mac`: None means the
    default MAC of the client. `relative_to`: key of a group, or "host:" and the key of a host.
    """

    tool: str = "ssh"
    group_by: str = "cpu"
    metric: str = "throughput"
    ciphers: tuple[str, ...] = ()
    block_size: int | None = BLOCK_SIZE
    operation: str = "encrypt"
    method: str = "pipeline"
    mac: str | None = None
    compression: bool = False
    target_kind: str = "loopback"
    acceleration: str = "default"
    threads: int = 1
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    split_by: str | None = None
    relative_to: str | None = None
    matched: bool = False

    @property
    def plain(self) -> "ComparisonQuery":
        return replace(self, split_by=None, relative_to=None, matched=False)

    @property
    def reference_host(self) -> str | None:
        wanted = self.relative_to or ""
        if wanted.startswith(HOST_PREFIX):
            return wanted.removeprefix(HOST_PREFIX)
        return wanted if wanted and self.group_by == "host" and not self.split_by else None


NAMES = frozenset(field.name for field in fields(ComparisonQuery))
RELATING = ("split_by", "relative_to", "matched")
"""Parameters for splits and ratios. The compare page ignores invalid values of these parameters;
the API rejects invalid values."""


class Grouping(Text):
    def validate(self, value: str) -> None:
        super().validate(value)
        tag = value.removeprefix(TAG_PREFIX)
        if value in ("", *GROUPINGS) or (tag != value and re.fullmatch(r"[\w.-]{1,50}", tag)):
            return
        raise fault(none_of(value, GROUPINGS, f"{TAG_PREFIX}KEY"))


class ComparisonForm(NarrowingForm):  # type: ignore[misc]  # made of the filters of runs
    tool = Choice(TOOLS, help_text="Default: ssh.")
    metric = Choice(METRICS, help_text="Default: throughput.")
    operation = Choice(("encrypt", "decrypt"), help_text="Only openssl. Default: encrypt.")
    method = Choice(METHODS, help_text="Only ssh. Default: pipeline.")
    target_kind = Choice(("loopback", "remote"), help_text="Only ssh. Default: loopback.")
    acceleration = Choice(("default", "masked"), help_text="Default: default.")
    cipher = Values(help_text="Default: all.")
    block_size = Number(help_text=f"Only openssl: block size in bytes. Default: {BLOCK_SIZE}.")
    threads = Number(help_text="Only openssl. Default: 1.")
    mac = Text(help_text="Only ssh: requested or negotiated MAC.")
    compression = Switch(help_text="Only ssh. Default: off.")
    group_by = Grouping(help_text="Such as cpu, os, openssl or tag:KEY. Default: cpu.")
    split_by = Grouping(help_text=f"Second property to group by, with up to {MOST_SPLITS} values.")
    relative_to = Text(help_text="Reference for ratios: key of a group, or host:ID.")
    matched = Switch(help_text="1 compares only hosts with results in every group.")

    @property
    def query(self) -> ComparisonQuery:
        """Return the query, with default values for invalid parameters."""
        given = self.given
        return ComparisonQuery(
            ciphers=given.get("cipher", ()),
            filters={name: given[name] for name in FILTERS if name in given},
            **{name: value for name, value in given.items() if name in NAMES},
        )

    def clean(self) -> None:
        super().clean()
        query = self.query
        for sentence in unmeasured(query.tool, query.ciphers):
            self.add_error("cipher", fault(sentence))
        if query.split_by == query.group_by:
            words = f"Results are already grouped by {query.group_by}; choose another split_by."
            self.add_error("split_by", fault(words))
        if query.matched and "host" in (query.group_by, query.split_by):
            self.add_error("matched", fault("Results by host cannot be matched; change group_by."))
        if query.reference_host:
            host = Host.objects.find(query.reference_host)
            if host is None:
                sentence = Host.objects.missing(query.reference_host)
                self.add_error("relative_to", fault(sentence))
            else:
                self.cleaned_data["relative_to"] = f"{HOST_PREFIX}{host.slug}"
        elif query.relative_to and not _is_group(query.group_by, query.relative_to):
            sentence = f"No {query.group_by} group has the key {query.relative_to!r}."
            self.add_error("relative_to", fault(sentence))


class Sort(Text):
    def validate(self, value: str) -> None:
        super().validate(value)
        if value not in ("", *SORTS) and not value.startswith(CIPHER_SORT):
            raise fault(none_of(value, SORTS, f"{CIPHER_SORT}NAME"))


class Top(Number):
    def __init__(self, **more: Any) -> None:
        super().__init__(max_value=MOST_GROUPS, **more)
        self.schema = {"anyOf": [self.schema, {"type": "string", "enum": ["all"]}]}

    def clean(self, value: str | None) -> int | None:
        return MOST_GROUPS if value == "all" else super().clean(value)


class OrderedForm(ComparisonForm):
    sort = Sort(help_text=f"{', '.join(SORTS)}, {CIPHER_SORT}NAME. Default: name.")


class GroupsForm(OrderedForm):
    q = Text(help_text="Text that the name of a group must contain.")
    top = Top(help_text="Groups per page: 1 to 200, or all.")
    page = Number(max_value=999_999, help_text="Page number.")
    scale = Choice(SCALES, help_text="Scale of the chart.")

    @property
    def view(self) -> GroupView:
        """Return the display options, with default values for invalid parameters."""
        given = self.given
        return GroupView(
            search=given.get("q", ""),
            logarithmic=given.get("scale") == SCALES[1],
            **{name: given[name] for name in ("sort", "top", "page") if name in given},
        )


class PageForm(GroupsForm):
    """Ignore invalid display options and invalid `RELATING` parameters, which the API rejects."""

    @property
    def refused(self) -> list[tuple[str, str]]:
        besides = {*self.fields} - {*ComparisonForm.base_fields} | {*RELATING}
        faults: list[tuple[str, str]] = self.faults(besides)
        return faults

    def faultless(self, params: QueryDict) -> QueryDict:
        """Return `params` without invalid parameters, for links to the API and to exports."""
        kept = params.copy()
        for name in self.errors:
            kept.pop(name, None)
        return kept

    @property
    def passed_over(self) -> list[str]:
        """Return an error message for each ignored `RELATING` parameter."""
        return [sentence for name, sentence in self.faults() if name in RELATING]


def _is_group(group_by: str, key: str) -> bool:
    if group_by == "host":
        return Host.objects.filter(slug=key).exists()
    known = DimensionValue.objects.filter(dimension=group_by, key=key)
    return group_by not in DIMENSIONS or known.exists()
