"""Create, list and revoke API tokens."""

from datetime import timedelta
from functools import partial
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone

from accounts.audit import actor_of
from accounts.models import ApiToken
from accounts.tokens import NameTaken, create_token, revoke_token
from core.access import FORM, permission_page
from core.first_steps import reverse_tunnel_command, schedule_commands, set_up_command
from core.views.confirm import Confirmation, confirm
from runs.agent import agent_release

EXPIRIES = {"": "Never", "30": "After 30 days", "90": "After 90 days", "365": "After a year"}
UPLOAD, READ = ApiToken.Scope.UPLOAD.value, ApiToken.Scope.READ.value
SCOPES = {
    UPLOAD: "Upload: an agent sends runs, and reads nothing",
    READ: "Read: a script reads figures and exports, and changes nothing",
}
PUBLIC_SCOPES = {
    UPLOAD: "Upload: an agent sends runs, and changes nothing else",
    READ: "Read: a script reads figures and exports, for which this public site needs no token",
}


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100)
    scope = forms.ChoiceField(choices=list(SCOPES.items()))
    expires_days = forms.TypedChoiceField(
        choices=list(EXPIRIES.items()), coerce=int, empty_value=None, required=False
    )

    host_name = forms.CharField(max_length=200, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("host_name") and cleaned.get("scope") != ApiToken.Scope.UPLOAD:
            self.add_error("host_name", "Only an upload token is bound to a host.")
        return cleaned


@permission_page("accounts.add_apitoken", *FORM)
def token_page(request: HttpRequest) -> HttpResponse:
    """List the tokens; a POST creates one and shows its secret once.

    Editors see and revoke their own tokens, administrators all tokens.
    """
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, status=400 if form.is_bound else 200)
    fields = form.cleaned_data
    try:
        secret = create_token(
            fields["name"],
            fields["scope"],
            fields["expires_days"],
            host_name=fields["host_name"],
            made_by=cast(User, request.user),
            by=actor_of(request),
        )
    except NameTaken as refusal:
        form.add_error("name", str(refusal))
        return _page(request, form, status=400)
    return _page(request, TokenForm(), secret=secret, made=fields)


def _seen(request: HttpRequest) -> QuerySet[ApiToken]:
    """Return the tokens that the user may see."""
    tokens = ApiToken.objects.select_related("made_by").order_by("-id")
    if request.user.has_perm("accounts.view_apitoken"):
        return tokens
    return tokens.filter(made_by=cast(User, request.user))


def _page(
    request: HttpRequest,
    form: TokenForm,
    secret: str = "",
    made: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    soon = timezone.now() + timedelta(days=7)
    context = {
        "form": form,
        "scopes": PUBLIC_SCOPES if settings.CIPHERMARK_PUBLIC else SCOPES,
        "expiries": EXPIRIES,
        "tokens": [
            (token, token.expires_at is not None and token.expires_at < soon)
            for token in _seen(request)
        ],
        "made": made,
        "secret": secret,
        "agent_command": set_up_command(request, secret) if secret else "",
        "reverse_tunnel_command": reverse_tunnel_command(request),
        "schedule_command": schedule_commands(request, secret) if secret else "",
        "release": agent_release(),
    }
    return render(request, "accounts/tokens.html", context, status=status)


@permission_page("accounts.add_apitoken", *FORM)
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(_seen(request), pk=token_id)
    confirmation = Confirmation(
        "Revoke this token",
        token.name,
        ("Whatever uses it is refused from now on. This cannot be undone.",),
        "Revoke it",
        reverse("tokens"),
        f"Revoked: the token “{token.name}”.",
    )
    return confirm(request, confirmation, partial(revoke_token, token.pk), confirmation.back)
