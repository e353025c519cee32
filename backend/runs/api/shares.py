"""POST shares/: an unlisted link to one comparison view."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.http import QueryDict
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from runs.api.asked_ciphers import asked_comparison
from runs.api.known_parameters import ApiView, misspelt, names_of
from runs.api.permissions import MayShare
from runs.api.schema import COMPARISON_PARAMETERS
from runs.audit import actor_of
from runs.queries.profiles import UnknownProfile, usable_profile
from runs.shares import LONGEST_DAYS, make_share

MOST_PARAMETERS = 500


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


def checked_view(query: str) -> str:
    """The query string of a comparison view, as it is stored; `ValidationError` if it is none."""
    query = query.removeprefix("?")
    if query.count("&") >= MOST_PARAMETERS:
        raise serializers.ValidationError(f"A view has fewer than {MOST_PARAMETERS} parameters.")
    try:
        params = QueryDict(query)
        _refuse_misspelt(params)
        usable_profile(asked_comparison(params).profile)
    except ValidationError as error:
        detail = error.detail if isinstance(error.detail, dict) else {"query": error.detail}
        said = [f"{name}: {' '.join(_texts(texts))}" for name, texts in detail.items()]
        raise serializers.ValidationError(said) from None
    except UnknownProfile as error:
        raise serializers.ValidationError(error.sentence) from None
    return query


def _refuse_misspelt(params: QueryDict) -> None:
    """What else the compare page and mails put into its address is let through."""
    meant = misspelt(params, names_of(COMPARISON_PARAMETERS))
    if meant:
        raise ValidationError({name: f"did you mean {known}?" for name, known in meant.items()})


def _texts(said: object) -> list[str]:
    return [str(one) for one in said] if isinstance(said, list) else [str(said)]


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
        asked = ShareRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        fields = asked.validated_data
        share, secret = make_share(
            fields["name"],
            fields["query"],
            fields["expires_days"],
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
