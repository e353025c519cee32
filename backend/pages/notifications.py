"""Channels that changes are sent to: made, tested, paused and deleted here, with what was sent."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.validators import URLValidator, validate_email
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from access.audit import actor_of
from documents.naming import slug
from notifications.channels import (
    Rule,
    ask_for_test,
    change_rule,
    delete_channel,
    make_channel,
    rule_of,
    set_paused,
    shown_address,
)
from pages.access import FORM, editors
from pages.paging import page_of
from store.models import HostAlias, HostName, Notification, NotificationChannel
from store.models.host import Host

EDIT = "runs.change_notificationchannel"
SEE_LOG = "runs.view_notification"
MOST_NAMED = 100

Kind, Severity = NotificationChannel.Kind, NotificationChannel.Severity

SEVERITIES = {
    str(Severity.CRITICAL): "Critical: AES acceleration lost",
    str(Severity.WARNING): "Warning: also slower, silent, rejected, another AES verdict",
    str(Severity.INFO): "Info: also faster, AES acceleration regained",
}


DAILY = "1"
WHEN = [("", "At once"), (DAILY, "Once a day, 06:00 UTC")]


PATHS: dict[str, tuple[str, str]] = {
    Kind.MATRIX: ("/![^/]+", "Write it as https://SERVER/!ROOM:SERVER, with the room's id."),
    Kind.NTFY: ("/[-_A-Za-z0-9]{1,64}/?", "Write it as https://SERVER/TOPIC."),
}
"""What the path of an address must be, and what is said otherwise."""


class ListField(forms.CharField):
    """Texts separated by commas."""

    def to_python(self, value: Any) -> Any:
        """The texts without blanks around them."""
        parts = (one.strip() for one in (super().to_python(value) or "").split(","))
        found = list(dict.fromkeys(one for one in parts if one))
        if len(found) > MOST_NAMED:
            raise forms.ValidationError(f"At most {MOST_NAMED}.")
        return found

    def validate(self, value: Any) -> None:
        """Only whether there is anything; each text is its form's business."""
        if self.required and not value:
            raise forms.ValidationError("This field is required.")

    def run_validators(self, value: Any) -> None:
        """Those of a text do not fit a list."""


class RuleForm(forms.Form):
    """Which entries a channel is sent, and when."""

    severity = forms.TypedChoiceField(
        choices=list(SEVERITIES.items()), coerce=int, initial=str(Severity.WARNING)
    )
    hosts = ListField(required=False)
    tags = ListField(required=False)
    daily = forms.ChoiceField(choices=WHEN, required=False)

    def clean_hosts(self) -> list[str]:
        """Keys of hosts that there are, by any name that they have or had."""
        keys = {name: slug(name) for name in self.cleaned_data["hosts"]}
        known: set[str] = set()
        for model in (Host, HostName, HostAlias):
            rows = model._default_manager.filter(slug__in=keys.values())
            known.update(rows.values_list("slug", flat=True))
        for name, key in keys.items():
            if key not in known:
                raise forms.ValidationError(f"There is no host “{name}”.")
        return list(keys.values())

    def clean_tags(self) -> list[str]:
        """KEY:VALUE each."""
        for one in self.cleaned_data["tags"]:
            key, _, value = one.partition(":")
            if not key or not value:
                raise forms.ValidationError("Write each tag as KEY:VALUE, such as rack:b2.")
        return list(self.cleaned_data["tags"])

    @property
    def rule(self) -> Rule:
        """The rule of a valid form."""
        made = self.cleaned_data
        return Rule(made["severity"], made["hosts"], made["tags"], made["daily"] == DAILY)


class ChannelForm(RuleForm):
    """A new channel."""

    name = forms.CharField(max_length=100)
    kind = forms.ChoiceField(choices=Kind.choices)
    address = forms.CharField(max_length=1000)
    token = forms.RegexField(
        r"^[!-~]+$",
        max_length=500,
        required=False,
        error_messages={"invalid": "A token has no blanks and no letters beyond ASCII."},
    )

    def clean_name(self) -> str:
        """Not that of another channel."""
        name: str = self.cleaned_data["name"]
        if NotificationChannel.objects.filter(name=name).exists():
            raise forms.ValidationError("There is a channel of this name.")
        return name

    def clean(self) -> dict[str, Any]:
        """What an address is, and whether there is a token, depends on the kind."""
        made = super().clean() or {}
        kind, token = made.get("kind"), made.get("token")
        if kind == Kind.MATRIX and not token and "token" not in self.errors:
            self.add_error("token", "Matrix needs the access token of an account in the room.")
        if token and kind not in (Kind.MATRIX, Kind.NTFY):
            self.add_error("token", "Only Matrix and ntfy take a token.")
        if made.get("address") and made.get("kind"):
            try:
                made["address"] = _checked_address(made["kind"], made["address"])
            except forms.ValidationError as error:
                self.add_error("address", error)
        return made


def _checked_address(kind: str, address: str) -> str:
    if kind == Kind.EMAIL:
        if not settings.EMAIL_HOST:
            raise forms.ValidationError("This site sends no e-mail: set CIPHERMARK_EMAIL_URL.")
        recipients = [one.strip() for one in address.split(",") if one.strip()]
        for one in recipients:
            validate_email(one)
        return ", ".join(recipients)
    URLValidator(schemes=["http", "https"])(address)
    if "@" in urlsplit(address).netloc:
        raise forms.ValidationError("No user name or password in the address.")
    pattern, words = PATHS.get(kind, ("", ""))
    if pattern and not re.fullmatch(pattern, urlsplit(address).path):
        raise forms.ValidationError(words)
    return address


@editors(EDIT, *FORM)
def notification_page(request: HttpRequest) -> HttpResponse:
    """The channels and what was sent; a POST makes a channel, whose secret is shown once."""
    form = ChannelForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, status=400 if form.is_bound else 200)
    made = form.cleaned_data
    channel, secret = make_channel(
        made["name"],
        made["kind"],
        made["address"],
        form.rule,
        token=made["token"],
        by=actor_of(request),
    )
    return _page(request, ChannelForm(), made=channel, secret=secret)


def _channels() -> QuerySet[NotificationChannel]:
    """Each with the latest of what was or is to be sent."""
    latest = Notification.objects.filter(channel=OuterRef("pk")).order_by("-pk")
    return NotificationChannel.objects.annotate(
        last_state=Subquery(latest.values("state")[:1]),
        last_at=Subquery(latest.values("created_at")[:1]),
        last_error=Subquery(latest.values("error")[:1]),
        last_topic=Subquery(latest.values("topic")[:1]),
    )


def _page(
    request: HttpRequest, form: ChannelForm, status: int = 200, **made: NotificationChannel | str
) -> HttpResponse:
    log = None
    if request.user.has_perm(SEE_LOG):
        log = page_of(Notification.objects.select_related("channel"), request.GET)
    context = {
        "form": form,
        "kinds": Kind.choices,
        "severities": SEVERITIES,
        "channels": [(one, shown_address(one)) for one in _channels()],
        "log": log,
        "page": log,  # of the pager
        **made,
    }
    return render(request, "pages/notifications.html", context, status=status)


@editors(EDIT, *FORM)
def channel_page(request: HttpRequest, channel_id: int) -> HttpResponse:
    """The rule of a channel; a POST changes it."""
    channel = get_object_or_404(NotificationChannel, pk=channel_id)
    rule = rule_of(channel)
    stored = {
        "severity": str(rule.severity),
        "hosts": ", ".join(rule.hosts),
        "tags": ", ".join(rule.tags),
        "daily": DAILY if rule.daily else "",
    }
    form = RuleForm(request.POST if request.method == "POST" else None, initial=stored)
    if form.is_bound and form.is_valid():
        change_rule(channel.pk, form.rule, actor_of(request))
        return redirect("notifications")
    context = {
        "form": form,
        "channel": channel,
        "address": shown_address(channel),
        "severities": SEVERITIES,
    }
    return render(request, "pages/channel.html", context, status=400 if form.is_bound else 200)


@editors(EDIT, "POST")
def test_channel(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Have a test message sent; the page shows what became of it."""
    ask_for_test(_key(channel_id), actor_of(request))
    return redirect("notifications")


@editors(EDIT, "POST")
def pause_channel(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Send nothing for now, or go on."""
    set_paused(_key(channel_id), request.POST.get("paused") == "1", actor_of(request))
    return redirect("notifications")


@editors(EDIT, "POST")
def remove_channel(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Delete a channel with all that it was sent."""
    delete_channel(_key(channel_id), actor_of(request))
    return redirect("notifications")


def _key(channel_id: int) -> int:
    return get_object_or_404(NotificationChannel, pk=channel_id).pk
