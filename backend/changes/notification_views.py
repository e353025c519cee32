from typing import Any

from django import forms
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views import View
from django.views.generic import CreateView, UpdateView
from django.views.generic.edit import ModelFormMixin

from accounts.audit import Actor, Subject, actor_of, record
from changes.models import Notification, NotificationChannel
from changes.models.notification import TEST
from changes.services import AddressRefused, check_address
from core.access import EditorMixin
from core.paging import page_of
from core.views.confirm import ConfirmView
from core.views.generic import EditorFormMixin

EDIT = "changes.change_notificationchannel"

Severity = NotificationChannel.Severity

SEVERITIES = [
    (Severity.CRITICAL, "Critical: AES acceleration lost"),
    (Severity.WARNING, "Warning: also slowdowns, silent hosts, rejected runs, new AES verdicts"),
    (Severity.INFO, "Info: also speedups, regained AES acceleration"),
]


class TagsField(forms.CharField):
    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        tags = [tag.strip() for tag in super().clean(value).split(",") if tag.strip()]
        for tag in tags:
            key, _, text = tag.partition(":")
            if not key or not text:
                raise forms.ValidationError("Enter each tag as KEY:VALUE, such as rack:b2.")
        return list(dict.fromkeys(tags))


class RuleForm(forms.ModelForm):
    kinds = forms.MultipleChoiceField(
        label="Event types (default: all)",
        choices=NotificationChannel.Kind,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    severity = forms.TypedChoiceField(
        label="Minimum severity", choices=SEVERITIES, coerce=int, initial=Severity.WARNING
    )
    tags = TagsField(
        label="Only these tags (KEY:VALUE, comma-separated)", max_length=2000, required=False
    )

    class Meta:
        model = NotificationChannel
        fields: tuple[str, ...] = ("kinds", "severity", "tags", "daily", "paused")


class ChannelForm(RuleForm):
    class Meta(RuleForm.Meta):
        fields = ("name", "address", "kinds", "severity", "tags", "daily")
        labels = {"address": "Apprise URL"}

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        try:
            check_address(address)
        except AddressRefused as refused:
            raise forms.ValidationError(str(refused)) from None
        return address


class _ChannelForm(EditorFormMixin, ModelFormMixin):
    permission_required = EDIT
    success_url = reverse_lazy("notifications")
    object: NotificationChannel | None
    action: str

    @transaction.atomic
    def form_valid(self, form: forms.ModelForm) -> HttpResponse:
        before = self.get_object().facts() if self.object else None
        response = super().form_valid(form)
        channel = form.instance
        record(actor_of(self.request), self.action, _subject(channel), before, channel.facts())
        return response


class NotificationPage(_ChannelForm, CreateView):
    form_class = ChannelForm
    template_name = "changes/notifications.html"
    action = "channel.create"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        log = page_of(Notification.objects.select_related("channel"), self.request.GET)
        return super().get_context_data(
            channels=_channels_with_last_message(), log=log, page_obj=log, **context
        )

    def form_valid(self, form: forms.ModelForm) -> HttpResponse:
        form.instance.made_by = actor_of(self.request).name[:200]
        return super().form_valid(form)


def _channels_with_last_message() -> QuerySet[NotificationChannel]:
    latest = Notification.objects.filter(channel=OuterRef("pk")).order_by("-pk")
    return NotificationChannel.objects.annotate(
        last_state=Subquery(latest.values("state")[:1]),
        last_at=Subquery(latest.values("created_at")[:1]),
        last_error=Subquery(latest.values("error")[:1]),
        last_topic=Subquery(latest.values("topic")[:1]),
    )


class ChannelPage(_ChannelForm, UpdateView):
    model = NotificationChannel
    form_class = RuleForm
    context_object_name = "channel"
    template_name = "changes/channel.html"
    action = "channel.change"


def _subject(channel: NotificationChannel) -> Subject:
    return Subject("channel", channel.pk, channel.name)


class TestChannel(EditorMixin, View):
    """Queue a test message, even if the channel is paused."""

    permission_required = EDIT

    @transaction.atomic
    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        channel = get_object_or_404(NotificationChannel, pk=pk)
        channel.notifications.create(topic=TEST, title="Test message", due_at=timezone.now())
        record(actor_of(request), "channel.test", _subject(channel))
        return redirect("notifications")


class RemoveChannel(ConfirmView):
    permission_required = EDIT
    model = NotificationChannel
    heading, button = "Delete this channel", "Delete"
    is_destructive = True
    sentences = ("Pending messages will not be sent. Its deliveries will be deleted from the log.",)
    success_message = "Channel “{object.name}” deleted."
    success_url = reverse_lazy("notifications")

    @transaction.atomic
    def change(self, by: Actor) -> None:
        record(by, "channel.delete", _subject(self.object), before=self.object.facts())
        self.object.delete()
