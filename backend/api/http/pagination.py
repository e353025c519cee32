"""Lists by cursor: stable while rows arrive, and as fast on the last page as on the first."""

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class ByCursor(CursorPagination):
    """{"next", "previous", "results"}, the latest first."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    ordering = "-id"
    invalid_cursor_message = (
        "This `cursor` is none of this list's: ask without it, then follow `next` and `previous`."
    )

    def get_page_size(self, request: Request) -> int | None:
        """As asked for, at most `max_page_size`; a fault is named, not passed over."""
        text = request.query_params.get(self.page_size_query_param) or str(self.page_size)
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
            raise ValidationError({"page_size": f"{text[:50]!r} is no whole number above 0."})
        return min(int(text), self.max_page_size)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """As OpenAPI 3.1 says that a text may be null; DRF's own says it as 3.0 did."""
        page: dict[str, Any] = super().get_paginated_response_schema(schema)
        for link in ("next", "previous"):
            page["properties"][link] = {"type": ["string", "null"], "format": "uri"}
        return page

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """With the bounds of the size."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
        return parameters
