"""Tokens: what programs sign in with. Made here, shown once, revoked here."""

from datetime import timedelta

from django import forms
from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from pages.first_steps import schedule_commands, set_up_command
from runs.api.agent import agent_release
from runs.models import ApiToken
from runs.tokens import create_token

EXPIRIES = {"": "Never", "30": "After 30 days", "90": "After 90 days", "365": "After a year"}
SCOPES = {
    ApiToken.Scope.UPLOAD.value: "Upload: an agent sends runs, and reads nothing",
    ApiToken.Scope.READ.value: "Read: a script reads figures and exports, and changes nothing",
}


class TokenForm(forms.Form):
    """What a new token is for."""

    name = forms.CharField(max_length=100)
    scope = forms.ChoiceField(choices=list(SCOPES.items()))
    expires_days = forms.TypedChoiceField(
        choices=list(EXPIRIES.items()), coerce=int, empty_value=None, required=False
    )

    def clean_name(self) -> str:
        """A name says which token to revoke, so no two valid ones share one."""
        name: str = self.cleaned_data["name"]
        if any(token.is_valid for token in ApiToken.objects.filter(name=name)):
            raise forms.ValidationError(
                "There is a valid token of this name. Revoke it first, or take another name."
            )
        return name


@login_required
@permission_required("runs.view_apitoken", raise_exception=True)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_page(request: HttpRequest) -> HttpResponse:
    """The tokens; a POST makes one and answers with its secret, which nothing shows again."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, status=400 if form.is_bound else 200)
    if not request.user.has_perm("runs.add_apitoken"):
        return render(request, "403.html", status=403)
    made = form.cleaned_data
    secret = create_token(made["name"], made["scope"], made["expires_days"])
    return _page(request, TokenForm(), secret=secret, made=made)


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
        "scopes": SCOPES,
        "expiries": EXPIRIES,
        "tokens": [
            (token, token.expires_at is not None and token.expires_at < soon)
            for token in ApiToken.objects.order_by("-id")
        ],
        "made": made,
        "secret": secret,
        "agent_command": set_up_command(request, secret) if secret else "",
        "schedule_command": schedule_commands(request, secret) if secret else "",
        "release": agent_release(),
    }
    return render(request, "pages/tokens.html", context, status=status)


@login_required
@permission_required("runs.change_apitoken", raise_exception=True)
@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a token now; uploads that it made stay."""
    token = get_object_or_404(ApiToken, pk=token_id)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
    return redirect("tokens")
