"""Channels are made, tested, paused and deleted by editors; administrators see the log."""

import re

from django.test import Client
from pytest_django.fixtures import Settings

from store.models import (
    AuditEntry,
    NotificationChannel,
)
from tests.cases import each
from tests.notifications.conftest import Days, send_all, web_hook
from tests.notifications.receivers import Receiver
from tests.pages.conftest import page, text_of


def test_an_editor_adds_tests_pauses_and_deletes_a_channel_and_sees_its_secret_once(
    editor: Client, hook: Receiver
) -> None:
    fields = {"name": "ops", "kind": "webhook", "address": hook.url, "severity": "2"}
    made = editor.post("/notifications/", {**fields, "tags": "rack:b2"}).content.decode()
    (secret,) = set(re.findall(r"whsec_[\w+/=]+", made))
    channel = NotificationChannel.objects.get()
    assert channel.secret == secret
    editor.post(f"/notifications/{channel.pk}/pause/", {"paused": "1"})
    editor.post(f"/notifications/{channel.pk}/test/")
    assert "data-pending" in page(editor, "/notifications/")
    send_all()
    (request,) = hook.received
    assert request.json()["entries"][0]["topic"] == "test"
    shown = page(editor, "/notifications/")
    assert "paused test sent" in text_of(shown)
    whole = shown + page(editor, f"/notifications/{channel.pk}/")
    assert secret not in whole
    assert "secret-part" not in whole
    rule = {"severity": "3", "hosts": "", "tags": "", "daily": "1"}
    editor.post(f"/notifications/{channel.pk}/", rule)
    channel.refresh_from_db()
    assert (channel.severity, channel.tags, channel.daily) == (3, [], True)
    editor.post(f"/notifications/{channel.pk}/delete/")
    assert not NotificationChannel.objects.exists()
    entries = AuditEntry.objects.filter(object_kind="channel").order_by("id")
    done = ["channel.create", "channel.change", "channel.test", "channel.change", "channel.delete"]
    assert [one.action for one in entries] == done
    noted = str([(one.before, one.after) for one in entries])
    assert secret not in noted
    assert "secret-part" not in noted


def test_administrators_see_the_log_and_editors_do_not(
    administrator: Client, editor: Client, days: Days, hook: Receiver
) -> None:
    web_hook(hook)
    days()
    send_all()
    assert "nas: slower ops sent" in text_of(page(administrator, "/notifications/"))
    assert "nas: slower" not in text_of(page(editor, "/notifications/"))


@each(
    ("fields", "words"),
    (
        ({"address": "ftp://example.org/"}, "Enter a valid URL"),
        ({"address": "https://me:pw@example.org/"}, "No user name or password"),
        ({"kind": "email", "address": "a@b@c"}, "Enter a valid email address"),
        ({"hosts": "nowhere"}, "There is no host “nowhere”"),
        ({"tags": "rack"}, "Write each tag as KEY:VALUE"),
        ({"severity": "9"}, "Select a valid choice"),
        ({"kind": "matrix", "address": "https://m.example.org/!r:x"}, "needs the access token"),
        ({"kind": "matrix", "token": "t"}, "Write it as https://SERVER/!ROOM:SERVER"),
        ({"kind": "ntfy", "address": "https://ntfy.sh/a/b"}, "Write it as https://SERVER/TOPIC"),
        ({"kind": "ntfy", "address": "https://ntfy.sh/a", "token": "a b"}, "no blanks"),
        ({"token": "t"}, "Only Matrix and ntfy take a token"),
    ),
)
def test_what_cannot_be_is_answered_at_its_field(
    editor: Client, settings: Settings, fields: dict[str, str], words: str
) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    good = {"name": "x", "kind": "webhook", "address": "https://example.org/", "severity": "2"}
    answer = editor.post("/notifications/", {**good, **fields})
    assert answer.status_code == 400
    assert words in text_of(answer.content.decode())
    assert not NotificationChannel.objects.exists()
