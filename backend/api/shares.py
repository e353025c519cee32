"""POST shares/: an unlisted link to one comparison view."""

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from access.audit import actor_of
from api.http.api_view import ApiView, sent
from api.http.permissions import MayShare
from questions.comparison_parameters import checked_view
from reports.shares import LONGEST_DAYS, make_share


class ShareRequestSerializer(serializers.Serializer[Any]):
    """What is shared, with whom, for how long."""

    query = serializers.CharField(
        max_length=4000, allow_blank=True, help_text="A comparison's query string: tool=ssh&..."
    )
    name = serializers.CharField(max_length=100, help_text="Whom or what it is for.")
    expires_days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS, default=30)

    def validate_query(self, value: str) -> str:
        """A view that cannot be is not shared."""
        return checked_view(value)


class ShareSerializer(serializers.Serializer[Any]):
    """A share just made: its address is shown this once."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class ShareList(ApiView):
    """Unlisted links."""

    permission_classes = (MayShare,)

    @extend_schema(
        operation_id="shares_make",
        request=ShareRequestSerializer,
        responses={201: ShareSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make a link to one comparison view, readable by whoever has it until it expires."""
        asked = sent(ShareRequestSerializer, request)
        share, secret = make_share(
            asked["name"],
            asked["query"],
            asked["expires_days"],
            made_by=cast(User, request.user),
            by=actor_of(request),
        )
        url = reverse("share", args=[secret], request=request)
        answer = ShareSerializer(
            {"id": share.pk, "name": share.name, "url": url, "expires_at": share.expires_at}
        )
        return Response(
            answer.data, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"}
        )
