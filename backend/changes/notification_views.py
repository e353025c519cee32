"""Create, test, pause and delete notification channels, and show their deliveries."""

from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.audit import Actor, Subject, actor_of, record
from changes.models import Notification, NotificationChannel
from changes.models.notification import TEST
from changes.services import AddressRefused, check_address
from core.access import FORM, permission_page
from core.paging import page_of
from core.views.confirm import Confirmation, confirm

EDIT = "changes.change_notificationchannel"

Severity = NotificationChannel.Severity

SEVERITIES = [
    (Severity.CRITICAL, "Critical: AES acceleration lost"),
    (Severity.WARNING, "Warning: also slower, silent, rejected, another AES verdict"),
    (Severity.INFO, "Info: also faster, AES acceleration regained"),
]


class TagsField(forms.CharField):
    """Tags as KEY:VALUE, separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        tags = [tag.strip() for tag in super().clean(value).split(",") if tag.strip()]
        for tag in tags:
            key, _, text = tag.partition(":")
            if not key or not text:
                raise forms.ValidationError("Write each tag as KEY:VALUE, such as rack:b2.")
        return list(dict.fromkeys(tags))


if TYPE_CHECKING:
    ModelForm = forms.ModelForm[NotificationChannel]
else:
    ModelForm = forms.ModelForm  # subscriptable for the type checker only


class RuleForm(ModelForm):
    kinds = forms.MultipleChoiceField(
        label="Only these kinds",
        choices=NotificationChannel.Kind,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    severity = forms.TypedChoiceField(
        label="Severity at least", choices=SEVERITIES, coerce=int, initial=Severity.WARNING
    )
    tags = TagsField(label="Only tags (KEY:VALUE, by commas)", max_length=2000, required=False)

    class Meta:
        model = NotificationChannel
        fields: tuple[str, ...] = ("kinds", "severity", "tags", "daily", "paused")


class ChannelForm(RuleForm):
    class Meta(RuleForm.Meta):
        fields = ("name", "address", "kinds", "severity", "tags", "daily")

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        try:
            check_address(address)
        except AddressRefused as refused:
            raise forms.ValidationError(str(refused)) from None
        return address


@permission_page(EDIT, *FORM)
def notification_page(request: HttpRequest) -> HttpResponse:
    """Show channels and deliveries; a POST creates a channel."""
    form = ChannelForm(request.POST or None)
    if form.is_valid():
        form.instance.made_by = actor_of(request).name[:200]
        _save(request, form, "channel.create", None)
        return redirect("notifications")
    log = page_of(Notification.objects.select_related("channel"), request.GET)
    context = {"form": form, "channels": _channels(), "log": log, "page": log}
    status = 400 if form.is_bound else 200
    return render(request, "changes/notifications.html", context, status=status)


def _channels() -> QuerySet[NotificationChannel]:
    """Return channels with their latest messages."""
    latest = Notification.objects.filter(channel=OuterRef("pk")).order_by("-pk")
    return NotificationChannel.objects.annotate(
        last_state=Subquery(latest.values("state")[:1]),
        last_at=Subquery(latest.values("created_at")[:1]),
        last_error=Subquery(latest.values("error")[:1]),
        last_topic=Subquery(latest.values("topic")[:1]),
    )


@permission_page(EDIT, *FORM)
def channel_page(request: HttpRequest, channel_id: int) -> HttpResponse:
    channel = get_object_or_404(NotificationChannel, pk=channel_id)
    before = channel.facts()
    form = RuleForm(request.POST or None, instance=channel)
    if form.is_valid():
        _save(request, form, "channel.change", before)
        return redirect("notifications")
    context = {"form": form, "channel": channel}
    return render(request, "changes/channel.html", context, status=400 if form.is_bound else 200)


@transaction.atomic
def _save(request: HttpRequest, form: RuleForm, action: str, before: dict[str, Any] | None) -> None:
    channel = form.save()
    record(actor_of(request), action, _subject(channel), before, channel.facts())


def _subject(channel: NotificationChannel) -> Subject:
    return Subject("channel", channel.pk, channel.name)


@permission_page(EDIT, "POST")
@transaction.atomic
def test_channel(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Queue a test message, even for a paused channel."""
    channel = get_object_or_404(NotificationChannel, pk=channel_id)
    channel.notifications.create(topic=TEST, title="Test message", due_at=timezone.now())
    record(actor_of(request), "channel.test", _subject(channel))
    return redirect("notifications")


@permission_page(EDIT, *FORM)
def remove_channel(request: HttpRequest, channel_id: int) -> HttpResponse:
    channel = get_object_or_404(NotificationChannel, pk=channel_id)
    confirmation = Confirmation(
        "Delete this channel",
        channel.name,
        ("Its messages that wait are not sent, and its deliveries leave the log.",),
        "Delete it",
        reverse("notifications"),
        f"Deleted: the channel “{channel.name}”.",
    )
    return confirm(request, confirmation, partial(_remove, channel), confirmation.back)


@transaction.atomic
def _remove(channel: NotificationChannel, by: Actor) -> None:
    record(by, "channel.delete", _subject(channel), before=channel.facts())
    channel.delete()
