"""What every address of the API has in common: it refuses parameters that it does not take."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from api.http.pagination import ByCursor
from questions.parameters import names_of
from questions.unknown_parameters import refuse_unknown

OF_LISTS = frozenset({"cursor", "page_size"})
READING = ("get", "head")


class ApiView(APIView):
    """A view that answers no question which it has not understood in full."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """After who asks, what is asked: 400 for a parameter that the operation does not have."""
        super().initial(request, *args, **kwargs)
        known = self.known_parameters(request)
        if known is not None:
            refuse_unknown(request.query_params, known)

    def known_parameters(self, request: Request) -> frozenset[str] | None:
        """What this request may say in its address; None: anything."""
        method = str(request.method).lower()
        return parameters_of(type(self), method)  # type: ignore[arg-type]  # the class is hashable


class ListView(ApiView):
    """An address with a list of things that is read page by page."""

    pagination_class = ByCursor

    def page(
        self,
        request: Request,
        rows: QuerySet[Any],
        shape: type[Serializer[Any]],
        read: Callable[[Sequence[Any]], Sequence[Any]] = list,
    ) -> Response:
        """The page that the cursor asks for; `read` makes of its rows what is shown."""
        paginator = self.pagination_class()
        found = paginator.paginate_queryset(rows, request) or []
        return paginator.get_paginated_response(shape(read(found), many=True).data)


@cache
def parameters_of(view: type[APIView], method: str) -> frozenset[str] | None:
    """What the operation takes in its address; None where the address does not matter to it.

    It matters to whatever reads. A change that takes all it must know in its body is not refused
    for what a relay put into the address: a run would be lost for nothing.
    """
    described = getattr(getattr(view, "get" if method == "head" else method, None), "kwargs", None)
    if described is None:
        return None
    schema = described["schema"]()
    schema.view = view(request=None, kwargs={})
    declared = names_of(schema.get_override_parameters())
    if method not in READING:
        return declared or None
    return declared | (OF_LISTS if hasattr(view, "pagination_class") else frozenset())
