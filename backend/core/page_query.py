"""Addresses of pages: what they say, and those of their neighbours."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from compare.question import PageForm
from core.parameters import MAX_LENGTH, misspelt
from hosts.filters import HostForm
from recommend.forms import RecommendationForm
from runs.filters import RunFilter

TOPS = ("20", "50", "100", "all")

KNOWN = {
    "more",
    *PageForm.base_fields,
    *RunFilter.base_filters,
    *RecommendationForm.base_fields,
    *HostForm.base_fields,
}


def page_number(params: QueryDict) -> int:
    """Return the page of a list, from 1; what is no number means the first."""
    page = params.get("page", "")
    return int(page) if re.fullmatch(r"[1-9][0-9]{0,5}", page) else 1


def search_text(params: QueryDict, name: str = "q") -> str:
    """Return what the list is searched for; no text of a host or CPU has the character NUL."""
    return params.get(name, "").replace("\x00", "").strip()[:MAX_LENGTH]


def api_params(params: QueryDict, names: Collection[str]) -> QueryDict:
    """Return the parameters of these names; empty ones, as a form sends them, are left out."""
    known = QueryDict(mutable=True)
    for name, values in params.lists():
        filled = [value for value in values if value != ""]
        if name in names and filled:
            known.setlist(name, filled)
    return known


def first_page(params: QueryDict, *names: str) -> QueryDict:
    """Return the parameters without `page`, or without those that say which page of a list."""
    first = params.copy()
    for name in names or ("page",):
        first.pop(name, None)
    return first


@dataclass(frozen=True)
class PageAddress:
    """Addresses that lead from this page to its neighbours: relative, beginning with "?"."""

    params: QueryDict

    def changed(self, **values: str | tuple[str, ...] | None) -> str:
        """Return the page with these parameters; None or () takes one away."""
        params = self.params.copy()
        for name, value in values.items():
            wanted = (value,) if isinstance(value, str) else (value or ())
            params.setlist(name, list(wanted))
        return self._address(params)

    def without(self, name: str, value: str) -> str:
        params = self.params.copy()
        params.setlist(name, [kept for kept in params.getlist(name) if kept != value])
        return self._address(params)

    @classmethod
    def of(cls, **values: str) -> str:
        return cls(QueryDict()).changed(**values)

    @staticmethod
    def _address(params: QueryDict) -> str:
        pairs = [(name, value) for name, values in params.lists() for value in values if value]
        return f"?{urlencode(pairs)}"


def misspelt_parameters(params: QueryDict) -> list[tuple[str, str, str]]:
    """Return ignored parameters that surely meant a filter: name, meaning, address.

    Addresses come with all kinds of parameters, of mails and of search engines, and none of them
    breaks a page. But figures of everything must not be taken for those of a filter.
    """
    address = PageAddress(params)
    misspelled = []
    for name, meant in misspelt(params, KNOWN).items():
        values = tuple(dict.fromkeys((*params.getlist(meant), *params.getlist(name))))
        misspelled.append((name, meant, address.changed(**{name: None, meant: values})))
    return misspelled
