import secrets
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit import Actor, Subject, actor_of, record
from accounts.tokens import digest_of
from compare.comparison import check_splits
from compare.models import Share
from compare.question import ComparisonForm
from core.api_view import ApiView, sent
from core.errors import Unanswerable
from core.parameters import misspelt
from core.permissions import MayShare

LONGEST_DAYS = 365


def check_view(query: str) -> None:
    """Raise `ValidationError` if `query` is not the query string of a valid comparison.

    Accept unknown parameters such as `utm_source`, except names that are similar to a known
    parameter.
    """
    form = ComparisonForm(QueryDict(query.removeprefix("?")))
    meant = misspelt(form.data, form.fields)
    faults = form.faults() + [(name, f"did you mean {near}?") for name, near in meant.items()]
    if not faults:
        try:
            check_splits(form.query)
        except Unanswerable as error:
            faults = [(error.parameter, error.sentence)]
    if faults:
        raise ValidationError([f"{name}: {sentence}" for name, sentence in faults])


@transaction.atomic
def make_share(
    name: str, query: str, expires_days: int, *, made_by: Any, by: Actor
) -> tuple[Share, str]:
    """Create a share. Return the share, and the secret for the URL of the share.

    The database stores only a hash of the secret.
    """
    secret = secrets.token_urlsafe(32)
    share = Share.objects.create(
        name=name,
        query=query.removeprefix("?"),
        digest=digest_of(secret),
        made_by=made_by,
        expires_at=timezone.now() + timedelta(days=expires_days),
    )
    fields = {"query": share.query, "expires_at": share.expires_at}
    record(by, "share.create", Subject.of(share), after=fields)
    return share, secret


def create_share_link(request: Request | HttpRequest, **fields: Any) -> tuple[Share, str]:
    share, secret = make_share(**fields, made_by=request.user, by=actor_of(request))
    return share, request.build_absolute_uri(reverse("share", args=[secret]))


class ShareSerializer(serializers.ModelSerializer[Share]):
    """Describe a new share. Only the response to the request that creates the share has a `url`."""

    query = serializers.CharField(
        max_length=4000,
        allow_blank=True,
        write_only=True,
        validators=[check_view],
        help_text="Query string of the comparison, such as tool=ssh&group_by=cpu.",
    )
    expires_days = serializers.IntegerField(
        min_value=1, max_value=LONGEST_DAYS, default=30, write_only=True
    )
    url = serializers.URLField(read_only=True)

    class Meta:
        model = Share
        fields = ("id", "name", "query", "expires_days", "url", "expires_at")
        read_only_fields = ("expires_at",)


class ShareList(ApiView):
    """Create share links."""

    permission_classes = (MayShare,)

    @extend_schema(
        operation_id="shares_make", request=ShareSerializer, responses={201: ShareSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create an unlisted link. Anyone with the link can read the comparison until expiry."""
        share, url = create_share_link(request, **sent(ShareSerializer, request))
        return Response(
            {**ShareSerializer(share).data, "url": url},
            status=status.HTTP_201_CREATED,
            headers={"Cache-Control": "no-store"},
        )
