"""Changes found in processed runs, sent to real receivers: once, signed, tried again, or not."""

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from access.audit import COMMAND
from exports.messages import Message, Notice, as_text
from ingest.edits.notes import decide
from ingest.fleet_changes.watching import find_due, find_silent, mark_due
from notifications.channels import Rule, make_channel
from notifications.sending import GIVE_UP, send_due
from store.models import (
    FleetChange,
    Host,
    HostWatch,
    Notification,
    NotificationChannel,
    Run,
)
from tests.conftest import StoreRun
from tests.histories import with_openssl
from tests.notifications.conftest import (
    LATELY,
    OLD,
    Days,
    Severity,
    let_time_pass,
    send_all,
    web_hook,
)
from tests.notifications.receivers import Mailbox, Receiver
from tests.sample_documents import run_document


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
    assert entry["title"] == "2 hosts: slower"
    assert "Hosts: nas, web" in entry["facts"]


def test_hosts_that_join_an_entry_later_are_told_of_once_a_day_until_somebody_looks(
    days: Days, hook: Receiver
) -> None:
    web_hook(hook)
    days("nas")
    send_all()
    for name in ("web", "pi"):
        days(name)
        let_time_pass()
        send_all()
    assert len(hook.received) == 1
    (waiting,) = Notification.objects.filter(state="waiting")
    assert timedelta(hours=23) < waiting.due_at - timezone.now() <= timedelta(days=1)
    Notification.objects.update(due_at=timezone.now())
    send_all()
    (entry,) = hook.received[1].json()["entries"]
    assert (entry["title"], set(entry["hosts"])) == ("3 hosts: slower", {"nas", "web", "pi"})
    days("late")
    decide(FleetChange.objects.get().pk, COMMAND, status="acknowledged")
    Notification.objects.update(due_at=timezone.now())
    let_time_pass()
    send_all()
    assert len(hook.received) == 2


def test_what_one_run_suggests_is_not_sent(days: Days, hook: Receiver) -> None:
    web_hook(hook)
    days(count=6)
    assert FleetChange.objects.count() == 1
    assert not Notification.objects.exists()


def test_what_is_found_soon_after_a_message_waits_a_minute(days: Days, hook: Receiver) -> None:
    web_hook(hook)
    days("nas")
    send_all()
    days("web", environment=with_openssl(OLD), count=8)
    days("pi", environment=with_openssl(OLD), count=8)
    send_all()
    assert len(hook.received) == 1
    let_time_pass()
    send_all()
    titles = {one["title"] for one in hook.received[1].json()["entries"]}
    assert titles == {"web: slower", "pi: slower"}


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

    days("web", environment=with_openssl(OLD), count=8)
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
    days("web", first=LATELY - 1, environment=with_openssl(OLD), count=8)
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


def test_slack_matrix_and_ntfy_have_their_own_shapes(days: Days, hook: Receiver) -> None:
    site = hook.url.partition("/hook")[0]
    make_channel("s", "slack", f"{site}/services/T0/B0", Rule(), by=COMMAND)
    make_channel("m", "matrix", f"{site}/!room:example.org", Rule(), token="mtoken", by=COMMAND)
    make_channel("n", "ntfy", f"{site}/fleet", Rule(), token="ntoken", by=COMMAND)
    days("<!channel> & co")
    send_all()
    received = {one.path: one for one in hook.received}
    slack = received.pop("/services/T0/B0")
    assert slack.json()["text"].startswith("Ciphermark: &lt;!channel&gt; &amp; co: slower\n\n")
    ntfy = received.pop("/")
    change = f"https://bench.example.org/changes/{FleetChange.objects.get().pk}/"
    assert ntfy.headers["authorization"] == "Bearer ntoken"
    shape = ntfy.json()
    assert (shape["topic"], shape["priority"], shape["click"]) == ("fleet", 3, change)
    assert "openssl aes-gcm: 20% slower" in shape["message"]
    ((path, matrix),) = received.items()
    room = "/_matrix/client/v3/rooms/%21room%3Aexample.org/send/m.room.message/"
    assert (matrix.method, path.startswith(room)) == ("PUT", True)
    assert matrix.headers["authorization"] == "Bearer mtoken"
    assert matrix.json()["msgtype"] == "m.notice"
    assert change in matrix.json()["body"]


def test_a_text_that_would_be_too_long_says_how_much_is_left_out() -> None:
    notices = [
        Notice(n, "slower", "warning", f"host{n}: slower", ("ä" * 200,), "https://x/", "now")
        for n in range(50)
    ]
    text = as_text(Message(notices, "https://bench.example.org/changes/"), most=4000)
    assert 3000 < len(text.encode()) <= 4000
    shown = text.count(": slower")
    assert f"and {50 - shown} more\n" in text
    assert text.endswith("All changes: https://bench.example.org/changes/\n")


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


def test_one_worker_sends_at_a_time_and_one_that_died_is_not_waited_for(
    days: Days, hook: Receiver
) -> None:
    channel, _ = web_hook(hook)
    days()
    claims = NotificationChannel.objects.filter(pk=channel.pk)
    claims.update(busy_until=timezone.now() + timedelta(minutes=1))
    send_all()
    send_due(channel.pk)
    assert hook.received == []
    claims.update(busy_until=timezone.now() - timedelta(minutes=1))
    send_all()
    assert len(hook.received) == 1
