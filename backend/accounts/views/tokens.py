from datetime import timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.generic import FormView

from accounts.audit import Actor, actor_of
from accounts.models import ApiToken
from accounts.tokens import NameTaken, create_token, revoke_token
from core.first_steps import reverse_tunnel_command, schedule_commands, set_up_command
from core.views.confirm import ConfirmView
from core.views.generic import EditorFormMixin
from runs.agent import agent_release

EXPIRIES = {"": "Never", "30": "After 30 days", "90": "After 90 days", "365": "After a year"}
UPLOAD, READ = ApiToken.Scope.UPLOAD.value, ApiToken.Scope.READ.value
SCOPES = {
    UPLOAD: "Upload: agents can only upload runs",
    READ: "Read: scripts can only read results and exports",
}
PUBLIC_SCOPES = {
    UPLOAD: SCOPES[UPLOAD],
    READ: "Read: scripts can read results and exports (this site is public and needs no token)",
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
            self.add_error("host_name", "Only upload tokens can be restricted to a host.")
        return cleaned


class TokenPage(EditorFormMixin, FormView):
    permission_required = "accounts.add_apitoken"
    form_class = TokenForm
    template_name = "accounts/tokens.html"

    def form_valid(self, form: TokenForm) -> HttpResponse:
        fields = form.cleaned_data
        try:
            secret = create_token(
                **fields, made_by=cast(User, self.request.user), by=actor_of(self.request)
            )
        except NameTaken as refusal:
            form.add_error("name", str(refusal))
            return self.form_invalid(form)
        context = self.get_context_data(
            form=TokenForm(),
            created=fields,
            secret=secret,
            agent_command=set_up_command(self.request, secret),
            schedule_command=schedule_commands(self.request, secret),
        )
        return self.render_to_response(context)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        soon = timezone.now() + timedelta(days=7)
        return super().get_context_data(
            scopes=PUBLIC_SCOPES if settings.CIPHERMARK_PUBLIC else SCOPES,
            expiries=EXPIRIES,
            tokens=[
                (token, token.expires_at is not None and token.expires_at < soon)
                for token in _visible_tokens(self.request)
            ],
            reverse_tunnel_command=reverse_tunnel_command(self.request),
            release=agent_release(),
            **context,
        )


def _visible_tokens(request: HttpRequest) -> QuerySet[ApiToken]:
    tokens = ApiToken.objects.select_related("made_by").order_by("-id")
    if request.user.has_perm("accounts.view_apitoken"):
        return tokens
    return tokens.filter(made_by=cast(User, request.user))


class RevokeToken(ConfirmView):
    permission_required = "accounts.add_apitoken"
    heading, button = "Revoke this token", "Revoke"
    is_destructive = True
    sentences = ("Agents and scripts will no longer be able to use it. This cannot be undone.",)
    success_message = "Token “{object.name}” revoked."
    success_url = reverse_lazy("tokens")

    def get_queryset(self) -> QuerySet[ApiToken]:
        return _visible_tokens(self.request)

    def change(self, by: Actor) -> None:
        revoke_token(self.object.pk, by)
