"""Lists by cursor: stable while rows arrive, and as fast on the last page as on the first."""

from rest_framework.pagination import CursorPagination


class ByCursor(CursorPagination):
    """{"next", "previous", "results"}, the latest first."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    ordering = "-id"
