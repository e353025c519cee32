from collections.abc import Mapping
from typing import Any

from django.forms import BaseForm
from django.http import HttpResponse
from django.views.generic import ListView
from django.views.generic.edit import FormMixin

from core.access import EditorMixin, ReaderMixin
from core.api_view import ByCursor
from core.page_query import PageAddress, first_page
from core.paging import CURSOR, page_of
from core.parameters import ParameterFilterSet


class CursorListView(ListView):
    ordering: tuple[str, ...] = ("-id",)
    paginate_by = ByCursor.page_size

    def paginate_queryset(self, queryset: Any, page_size: int) -> Any:
        page = page_of(queryset, self.request.GET, *self.ordering)
        return None, page, page.rows, bool(page.newer or page.older)


class FilteredListView(ReaderMixin, CursorListView):
    """Filter a list by URL parameters. Ignore an invalid filter, but return status 400."""

    filterset_class: type[ParameterFilterSet]
    chips: Mapping[str, str]
    """Titles, by parameter name, of filters that have no form control."""

    def get_queryset(self) -> Any:
        self.filters = self.filterset_class(self.request.GET, super().get_queryset())
        return self.filters.qs

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        params, given = self.request.GET, self.filters.given
        address = PageAddress(first_page(params, CURSOR))
        return super().get_context_data(
            filters=self.filters,
            faults=self.filters.errors,
            narrowed=bool(given),
            dates={name: params.get(name, "")[:10] for name in ("since", "until")},
            chips=[
                (name, title, value, address.without(name, value))
                for name, title in self.chips.items()
                for value in given.get(name, ())
            ],
            **context,
        )


class EditorFormMixin(EditorMixin, FormMixin):
    def form_invalid(self, form: BaseForm) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = 400
        return response
