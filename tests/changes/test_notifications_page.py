from django.test import Client

from accounts.models import AuditEntry
from changes.models import NotificationChannel
from tests.cases import each
from tests.changes.conftest import Days, channel_to, send_all
from tests.changes.receivers import Receiver
from tests.pages.conftest import page, text_of


def test_a_channel_is_added_tested_changed_and_deleted_and_its_secrets_stay_unseen(
    administrator: Client, hook: Receiver
) -> None:
    fields = {"name": "ops", "address": hook.url, "severity": "2", "tags": "rack:b2, rack:b2"}
    assert administrator.post("/notifications/", {**fields, "kinds": "speed"}).status_code == 302
    channel = NotificationChannel.objects.get()
    assert (channel.address, channel.kinds, channel.tags) == (hook.url, ["speed"], ["rack:b2"])
    address = f"/notifications/{channel.pk}/"
    assert "rack:b2" in page(administrator, address)
    rule = {"severity": "3", "tags": "", "daily": "on", "paused": "on"}
    assert administrator.post(address, rule).status_code == 302
    channel.refresh_from_db()
    assert (channel.severity, channel.tags, channel.kinds) == (3, [], [])
    assert (channel.daily, channel.paused) == (True, True)
    administrator.post(f"{address}test/")
    assert "data-poll" in page(administrator, "/notifications/")
    send_all()
    assert "This is a test" in hook.received[0]["message"]
    shown = page(administrator, "/notifications/")
    assert "paused test sent" in text_of(shown)
    administrator.post(f"{address}delete/")
    assert not NotificationChannel.objects.exists()
    entries = AuditEntry.objects.filter(object_kind="channel").order_by("id")
    done = ["channel.create", "channel.change", "channel.test", "channel.delete"]
    assert [entry.action for entry in entries] == done
    noted = str([(entry.before, entry.after) for entry in entries])
    assert "'service': 'json'" in noted
    assert "secret" not in noted + shown + page(administrator, "/notifications/")


def test_administrators_see_the_log_and_editors_nothing(
    administrator: Client, editor: Client, days: Days, hook: Receiver
) -> None:
    channel_to(hook.url)
    days()
    send_all()
    assert "nas: slower ops sent" in text_of(page(administrator, "/notifications/"))
    assert editor.get("/notifications/").status_code == 403


@each(
    ("fields", "words"),
    (
        ({"address": "json://127.0.0.1:99999/hook"}, "99999 is not a valid port"),
        ({"address": "nonsense://example.org"}, "Not a valid Apprise URL"),
        ({"address": "https://example.org/hook"}, "Not a valid Apprise URL"),
        ({"address": "mailto://mail.example.org"}, "Invalid ~From~ email specified"),
        ({"address": "slack://onlyone"}, "An invalid Slack (second) Token"),
        ({"tags": "rack"}, "Enter each tag as KEY:VALUE"),
        ({"severity": "9"}, "Select a valid choice"),
        ({"kinds": "weather"}, "Select a valid choice"),
    ),
)
def test_what_cannot_be_is_answered_at_its_field(
    administrator: Client, fields: dict[str, str], words: str
) -> None:
    good = {"name": "x", "address": "json://example.org/hook", "severity": "2"}
    answer = administrator.post("/notifications/", {**good, **fields})
    assert answer.status_code == 400
    assert words in text_of(answer.content.decode())
    assert not NotificationChannel.objects.exists()
