from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from compare.question import PageForm
from core.parameters import MAX_LENGTH, misspelt
from hosts.filters import HostFilter
from recommend.forms import RecommendationForm
from runs.filters import RunFilter

TOPS = ("20", "50", "100", "all")

KNOWN = {
    "more",
    *PageForm.base_fields,
    *RunFilter.base_filters,
    *RecommendationForm.base_fields,
    *HostFilter.base_filters,
}


def search_text(params: QueryDict, name: str = "q") -> str:
    # PostgreSQL does not accept NUL.
    return params.get(name, "").replace("\x00", "").strip()[:MAX_LENGTH]


def api_params(params: QueryDict, names: Collection[str]) -> QueryDict:
    known = QueryDict(mutable=True)
    for name, values in params.lists():
        filled = [value for value in values if value != ""]
        if name in names and filled:
            known.setlist(name, filled)
    return known


def first_page(params: QueryDict, *names: str) -> QueryDict:
    """Return a copy of `params` without the parameters `names` (by default without `page`)."""
    first = params.copy()
    for name in names or ("page",):
        first.pop(name, None)
    return first


@dataclass(frozen=True)
class PageAddress:
    params: QueryDict

    def changed(self, **values: str | tuple[str, ...] | None) -> str:
        """Return the URL with changed parameters. The value None or () removes a parameter."""
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
    """Return (misspelt name, probable name, corrected URL) for each misspelt filter.

    Pages ignore other unknown parameters, such as parameters of search engines. A misspelt filter
    is reported, because the page shows results without this filter.
    """
    address = PageAddress(params)
    misspelled = []
    for name, meant in misspelt(params, KNOWN).items():
        values = tuple(dict.fromkeys((*params.getlist(meant), *params.getlist(name))))
        misspelled.append((name, meant, address.changed(**{name: None, meant: values})))
    return misspelled
