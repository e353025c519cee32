"""Changes found in processed runs, sent to real receivers: once, signed, tried again, or not."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from access.audit import COMMAND
from ingest.changes.change_status import decide
from ingest.fleet_changes.watching import find_due, find_silent, mark_due
from notifications.addresses import is_allowed
from notifications.channels import Rule, make_channel
from notifications.sending import GIVE_UP, due_channels, send_due
from store.models import (
    AuditEntry,
    FleetChange,
    Host,
    HostWatch,
    Notification,
    NotificationChannel,
    Run,
)
from tests.conftest import StoreRun
from tests.histories import FIRST_DAY, run_of_day, with_openssl
from tests.notifications.receivers import Mailbox, Receiver, mailbox, receiver
from tests.pages.conftest import page, text_of
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
LATELY = (timezone.now() - FIRST_DAY).days - 10

Severity = NotificationChannel.Severity
Days = Callable[..., None]


@pytest.fixture
def hook(settings: Settings) -> Iterator[Receiver]:
    """A receiver of web hooks in a network that is allowed."""
    settings.CIPHERMARK_NOTIFY_NETWORKS = ["127.0.0.0/8"]
    settings.CIPHERMARK_SITE_URL = "https://bench.example.org"
    with receiver() as running:
        yield running


@pytest.fixture
def days(store_run: StoreRun) -> Days:
    """Store runs of a host, one a day: five as ever, then two slower by a fifth."""

    def store(name: str = "nas", first: int = LATELY, **changes: Any) -> None:
        for day in range(7):
            level, version = (1.0, OLD) if day < 5 else (0.8, NEW)
            series = [
                openssl_measurement("aes-128-gcm", 4e9 * level * (1 + 0.002 * (day % 3))),
                ssh_measurement("3des-cbc", 2e7),
            ]
            made = {"environment": with_openssl(version), "host": {"name": name}, **changes}
            store_run(run_of_day(first + day, *series, **made))

    return store


def web_hook(hook: Receiver, **rule: Any) -> tuple[NotificationChannel, str]:
    return make_channel("ops", "webhook", hook.url, Rule(**rule), by=COMMAND)


def send_all() -> None:
    for channel in due_channels():
        send_due(channel)


def let_time_pass() -> None:
    """As if the pause between two messages, or the wait after a failure, was over."""
    NotificationChannel.objects.update(next_at=None)


def test_a_change_found_in_runs_is_one_signed_message_with_its_evidence(
    days: Days, hook: Receiver
) -> None:
    _, secret = web_hook(hook)
    days()
    for _ in range(3):
        send_all()
        let_time_pass()
    (request,) = hook.received
    assert request.path == "/hook/secret-part?a=1"
    stamp = request.headers["webhook-timestamp"]
    assert abs(int(stamp) - time.time()) < 60
    signed = f"{request.headers['webhook-id']}.{stamp}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    (entry,) = request.json()["entries"]
    change = FleetChange.objects.get()
    assert entry["url"] == f"https://bench.example.org/changes/{change.pk}/"
    assert (entry["topic"], entry["severity"]) == ("slower", "warning")
    assert (entry["title"], entry["hosts"]) == ("nas: slower", ["nas"])
    assert "openssl aes-gcm: 20% slower" in entry["facts"]
    assert "What differs: OpenSSL: OpenSSL 1.1.1w → OpenSSL 3.0.11" in entry["facts"]


def test_what_is_found_again_or_long_ago_is_not_sent(days: Days, hook: Receiver) -> None:
    web_hook(hook)
    days("old", first=0)
    days()
    mark_due([one.pk for one in Host.objects.all()])
    assert find_due()
    assert [one.title for one in Notification.objects.all()] == ["nas: slower"]


def test_hosts_that_change_alike_are_one_message(days: Days, hook: Receiver) -> None:
    web_hook(hook)
    days("nas")
    days("web")
    send_all()
    (request,) = hook.received
    (entry,) = request.json()["entries"]
    assert "2 hosts: nas, web" in entry["facts"]


def test_without_a_channel_or_with_a_paused_one_nothing_is_written(
    days: Days, hook: Receiver
) -> None:
    days("nas")
    channel, _ = web_hook(hook)
    NotificationChannel.objects.filter(pk=channel.pk).update(paused=True)
    days("web")
    assert not Notification.objects.exists()


@pytest.mark.parametrize(
    ("rule", "told"),
    (
        ({"hosts": ["nas"]}, True),
        ({"hosts": ["web"]}, False),
        ({"tags": ["rack:b1", "rack:b2"]}, True),
        ({"tags": ["rack:b2", "room:1"]}, False),
        ({"severity": Severity.CRITICAL}, False),
    ),
)
def test_a_rule_chooses_by_host_tag_and_severity(
    days: Days, hook: Receiver, rule: dict[str, Any], told: bool
) -> None:
    web_hook(hook, **rule)
    days()
    assert Notification.objects.exists() == told


def test_a_silent_host_and_a_rejected_run_are_told(
    store_run: StoreRun, days: Days, hook: Receiver
) -> None:
    days("nas", first=LATELY - 5)
    web_hook(hook)
    HostWatch.objects.update(silent_after=timezone.now() - timedelta(hours=1))
    assert find_silent() == 1
    for _ in range(2):  # each of its runs: told once a day
        run = store_run(run_document(finished_at="2020-01-01T00:00:00Z", host={"name": "pi"}))
        assert run.status == Run.Status.REJECTED
    send_all()
    assert hook.received[0].json()["entries"][0]["topic"] == "rejected"
    Notification.objects.update(due_at=timezone.now(), state="waiting")
    let_time_pass()
    send_all()
    request = hook.received[1]
    silent, rejected = request.json()["entries"]
    assert (silent["title"], silent["topic"]) == ("nas: no runs any more", "silent")
    assert (rejected["title"], rejected["hosts"]) == ("pi: run rejected", ["pi"])
    first = Run.objects.filter(status="rejected").order_by("id")[0]
    assert rejected["url"].endswith(f"/runs/{first.run_id}/")
    assert first.rejection in rejected["facts"]


def test_a_host_that_sends_again_within_the_hour_was_not_silent(days: Days, hook: Receiver) -> None:
    days(first=LATELY - 9)
    web_hook(hook)
    assert find_silent() == 1
    days(first=LATELY)
    Notification.objects.filter(topic="silent").update(due_at=timezone.now())
    send_all()
    assert {(one.topic, one.state) for one in Notification.objects.all()} >= {
        ("silent", "withdrawn")
    }


def test_a_failed_message_is_tried_again_later_and_later_and_given_up_in_the_end(
    days: Days, hook: Receiver
) -> None:
    channel, _ = web_hook(hook)
    days()
    hook.status = 500
    waits = []
    for _ in range(3):
        before = timezone.now()
        send_all()
        channel.refresh_from_db()
        assert channel.next_at is not None
        waits.append(round((channel.next_at - before) / timedelta(minutes=1)))
        send_all()  # not before that
        let_time_pass()
    assert (waits, len(hook.received)) == ([1, 2, 4], 3)
    assert len({one.headers["webhook-id"] for one in hook.received}) == 1
    row = Notification.objects.get()
    assert (row.state, row.attempts, row.error) == (
        *("waiting", 3),
        "It answered with HTTP status 500.",
    )
    hook.status = 204
    send_all()
    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("sent", 4, "")

    days("web", environment=with_openssl(OLD))
    last = Notification.objects.filter(state="waiting")
    assert last.update(due_at=timezone.now() - 2 * GIVE_UP) == 1
    hook.status = 500
    let_time_pass()
    send_all()
    assert Notification.objects.filter(state="failed").count() == 1


def test_what_is_gone_or_ignored_before_it_is_sent_is_not_sent(days: Days, hook: Receiver) -> None:
    web_hook(hook)
    days()
    decide(FleetChange.objects.get().pk, COMMAND, status="ignored")
    send_all()
    assert hook.received == []
    assert Notification.objects.get().state == "withdrawn"


def test_a_digest_waits_for_the_morning_and_is_one_message(days: Days, hook: Receiver) -> None:
    web_hook(hook, daily=True)
    days("nas")
    days("web", first=LATELY - 1, environment=with_openssl(OLD))
    send_all()
    assert hook.received == []
    due = Notification.objects.values_list("due_at", flat=True)
    assert {(one.hour, one.minute) for one in due} == {(6, 0)}
    assert all(timezone.now() < one <= timezone.now() + timedelta(days=1) for one in due)
    Notification.objects.update(due_at=timezone.now())
    send_all()
    (request,) = hook.received
    assert request.json()["daily"] is True
    assert {one["title"] for one in request.json()["entries"]} == {"nas: slower", "web: slower"}


@pytest.fixture
def inbox(settings: Settings) -> Iterator[Mailbox]:
    """A real SMTP server, which the site is set to."""
    with mailbox() as running:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        settings.CIPHERMARK_SITE_URL = "https://bench.example.org"
        yield running


def test_a_mail_says_what_changed_and_where_the_evidence_is(days: Days, inbox: Mailbox) -> None:
    to = "ops@example.org, edith@example.org"
    make_channel("mail", "email", to, Rule(), by=COMMAND)
    days("nas\u2028bcc: all@example.org")
    send_all()
    (mail,) = inbox.mails
    assert inbox.recipients == [["ops@example.org", "edith@example.org"]]
    assert mail["Subject"] == "Ciphermark: nas bcc: all@example.org: slower"
    text = mail.get_content()
    assert "openssl aes-gcm: 20% slower" in text
    assert f"https://bench.example.org/changes/{FleetChange.objects.get().pk}/" in text


def test_a_mail_server_that_is_away_is_named_in_the_log(
    days: Days, inbox: Mailbox, settings: Settings
) -> None:
    settings.EMAIL_PORT = 1
    make_channel("mail", "email", "ops@example.org", Rule(), by=COMMAND)
    days()
    send_all()
    assert Notification.objects.get().error == "It cannot be reached: Connection refused."


INSIDE = (
    *("127.0.0.1", "::1", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "224.0.0.1", "255.255.255.255", "fe80::1%eth0", "fc00::1", "fd00:ec2::254"),
    *("::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("fec0::1", "ff02::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::"),
)


@pytest.mark.parametrize("address", INSIDE)
def test_no_address_of_the_own_network_is_public(address: str, settings: Settings) -> None:
    assert not is_allowed(address)
    settings.CIPHERMARK_NOTIFY_NETWORKS = ["0.0.0.0/0", "::/0"]
    assert is_allowed(address)


@pytest.mark.parametrize("address", ("9.9.9.9", "2620:fe::fe", "::ffff:9.9.9.9"))
def test_other_addresses_are(address: str) -> None:
    assert is_allowed(address)


@pytest.mark.parametrize("host", ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"))
def test_no_request_is_made_into_the_own_network(
    days: Days, hook: Receiver, settings: Settings, host: str
) -> None:
    settings.CIPHERMARK_NOTIFY_NETWORKS = []
    hook.url = hook.url.replace("127.0.0.1", host)
    web_hook(hook)
    days()
    send_all()
    assert hook.received == []
    assert "inside the server's own network" in Notification.objects.get().error


def test_no_redirection_is_followed(days: Days, hook: Receiver) -> None:
    with receiver() as other:
        hook.status, hook.location = 307, other.url
        web_hook(hook)
        days()
        send_all()
        assert len(hook.received) == 1
        assert other.received == []
    assert "status 307. Redirections are not followed" in Notification.objects.get().error


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


@pytest.mark.parametrize(
    ("fields", "words"),
    (
        ({"address": "ftp://example.org/"}, "Enter a valid URL"),
        ({"address": "https://me:pw@example.org/"}, "No user name or password"),
        ({"kind": "email", "address": "a@b@c"}, "Enter a valid email address"),
        ({"hosts": "nowhere"}, "There is no host “nowhere”"),
        ({"tags": "rack"}, "Write each tag as KEY:VALUE"),
        ({"severity": "9"}, "Select a valid choice"),
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
