import logging
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from changes import sending
from changes.detect import find_due, find_silent
from changes.messages import Message, Notice, as_text
from changes.models import FleetChange, Notification, NotificationChannel
from changes.sending import GIVE_UP, NO_END, send_due
from runs.models import Host, HostWatch, Run
from tests.changes.conftest import (
    LATELY,
    OLD,
    Days,
    Severity,
    channel_to,
    let_time_pass,
    send_all,
)
from tests.changes.receivers import Receiver, mailbox
from tests.conftest import StoreRun
from tests.histories import with_openssl
from tests.sample_documents import run_document


def test_a_change_found_in_runs_is_one_message_with_its_evidence(
    days: Days, hook: Receiver
) -> None:
    channel_to(hook.url)
    days()
    for _ in range(3):
        send_all()
        let_time_pass()
    (message,) = hook.received
    assert (message["title"], message["type"]) == ("Ciphermark: nas: slower", "warning")
    lines = message["message"].splitlines()
    assert lines[0] == "nas: slower"
    assert "OpenSSL aes-gcm: 20 % slower" in lines
    assert "Differences: OpenSSL 1.1.1w → 3.0.11" in lines
    assert f"https://bench.example.org/changes/{FleetChange.objects.get().pk}/" in lines
    assert lines[-1] == "All changes: https://bench.example.org/changes/"


def test_what_is_found_again_or_long_ago_is_not_sent(days: Days, hook: Receiver) -> None:
    channel_to(hook.url)
    days("old", first=0)
    days()
    HostWatch.objects.mark_due([host.pk for host in Host.objects.all()])
    assert find_due()
    assert [notification.title for notification in Notification.objects.all()] == ["nas: slower"]


def test_hosts_that_change_alike_are_one_message(days: Days, hook: Receiver) -> None:
    channel_to(hook.url)
    days("nas")
    days("web")
    send_all()
    (message,) = hook.received
    assert message["title"] == "Ciphermark: 2 hosts: slower"
    assert "Hosts: nas, web" in message["message"]


def test_hosts_that_join_an_entry_later_are_told_of_once_a_day_until_somebody_looks(
    days: Days, hook: Receiver
) -> None:
    channel_to(hook.url)
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
    assert hook.received[1]["title"] == "Ciphermark: 3 hosts: slower"
    assert all(name in hook.received[1]["message"] for name in ("nas", "web", "pi"))
    days("late")
    FleetChange.objects.update(status="acknowledged")
    Notification.objects.update(due_at=timezone.now())
    let_time_pass()
    send_all()
    assert len(hook.received) == 2


def test_what_is_found_soon_after_a_message_waits_a_minute(days: Days, hook: Receiver) -> None:
    channel_to(hook.url)
    days("nas")
    send_all()
    days("web", environment=with_openssl(OLD), count=8)
    days("pi", environment=with_openssl(OLD), count=8)
    send_all()
    assert len(hook.received) == 1
    let_time_pass()
    send_all()
    assert hook.received[1]["title"].endswith("slower and 1 more")
    assert {"web: slower", "pi: slower"} <= set(hook.received[1]["message"].splitlines())


def test_without_a_channel_or_with_a_paused_one_nothing_is_written(
    days: Days, hook: Receiver
) -> None:
    days("nas")
    channel = channel_to(hook.url)
    NotificationChannel.objects.filter(pk=channel.pk).update(paused=True)
    days("web")
    assert not Notification.objects.exists()


@pytest.mark.parametrize(
    ("rule", "told"),
    (
        ({"kinds": ["speed", "silent"]}, True),
        ({"kinds": ["verdict", "rejected"]}, False),
        ({"tags": ["rack:b1", "rack:b2"]}, True),
        ({"tags": ["rack:b2", "room:1"]}, False),
        ({"severity": Severity.CRITICAL}, False),
    ),
)
def test_a_rule_chooses_by_kind_tag_and_severity(
    days: Days, hook: Receiver, rule: dict[str, Any], told: bool
) -> None:
    channel_to(hook.url, **rule)
    days()
    assert Notification.objects.exists() == told


def test_a_silent_host_and_a_rejected_run_are_told(
    store_run: StoreRun, days: Days, hook: Receiver
) -> None:
    days("nas", first=LATELY - 5)
    channel_to(hook.url)
    HostWatch.objects.update(silent_after=timezone.now() - timedelta(hours=1))
    find_silent()
    for _ in range(2):  # for each of its runs, but only one message a day
        run = store_run(run_document(finished_at="2020-01-01T00:00:00Z", host={"name": "pi"}))
        assert run.status == Run.Status.REJECTED
    send_all()
    assert hook.received[0]["title"] == "Ciphermark: pi: run rejected"
    Notification.objects.update(due_at=timezone.now(), state="waiting")
    let_time_pass()
    send_all()
    text = hook.received[1]["message"]
    assert "nas: host silent\n" in text
    first = Run.objects.filter(status="rejected").order_by("id")[0]
    assert f"pi: run rejected\n{first.rejection}\n" in text
    assert f"/runs/{first.run_id}/\n" in text


def test_a_host_that_sends_again_within_the_hour_was_not_silent(days: Days, hook: Receiver) -> None:
    days(first=LATELY - 9)
    channel_to(hook.url)
    find_silent()
    days(first=LATELY)
    Notification.objects.filter(topic="silent").update(due_at=timezone.now())
    send_all()
    assert {
        (notification.topic, notification.state) for notification in Notification.objects.all()
    } >= {("silent", "withdrawn")}


def test_a_failed_message_is_tried_again_later_and_later_and_given_up_in_the_end(
    days: Days, hook: Receiver
) -> None:
    channel = channel_to(hook.url)
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
    row = Notification.objects.get()
    assert (row.state, row.attempts) == ("waiting", 3)
    assert "error=500" in row.error
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
    channel_to(hook.url)
    days()
    FleetChange.objects.update(status="ignored")
    send_all()
    assert hook.received == []
    assert Notification.objects.get().state == "withdrawn"


def test_a_digest_waits_for_the_morning_and_is_one_message(days: Days, hook: Receiver) -> None:
    channel_to(hook.url, daily=True)
    days("nas")
    days("web", first=LATELY - 1, environment=with_openssl(OLD), count=8)
    send_all()
    assert hook.received == []
    due = Notification.objects.values_list("due_at", flat=True)
    assert {(moment.hour, moment.minute) for moment in due} == {(6, 0)}
    assert all(timezone.now() < moment <= timezone.now() + timedelta(days=1) for moment in due)
    Notification.objects.update(due_at=timezone.now())
    send_all()
    (message,) = hook.received
    assert message["title"] == "Ciphermark: 2 changes in the last day"
    assert {"nas: slower", "web: slower"} <= set(message["message"].splitlines())


def test_a_text_that_would_be_too_long_says_how_much_is_left_out() -> None:
    notices = [
        Notice(f"host{n}: slower", ("ä" * 200,), "https://x/", Severity.WARNING) for n in range(50)
    ]
    text = as_text(Message(notices, "https://bench.example.org/changes/"), longest=4000)
    assert 3000 < len(text) <= 4000
    shown = text.count(": slower")
    assert f"and {50 - shown} more\n" in text
    assert text.endswith("All changes: https://bench.example.org/changes/\n")


def test_a_mail_says_what_changed_and_where_the_evidence_is(days: Days) -> None:
    with mailbox() as inbox:
        to = "?from=bench@example.org&to=ops@example.org,edith@example.org"
        channel_to(f"mailto://127.0.0.1:{inbox.port}{to}")
        days("nas\u2028bcc: all@example.org")
        send_all()
    assert set(inbox.recipients) == {"ops@example.org", "edith@example.org"}
    mail = inbox.mails[0]
    assert mail["Subject"] == "Ciphermark: nas bcc: all@example.org: slower"
    assert "OpenSSL aes-gcm: 20 % slower" in mail.get_content()


def test_one_worker_sends_at_a_time_and_one_that_died_counts_as_a_failed_attempt(
    days: Days, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = channel_to(hook.url)
    days()

    def dies(*_: object) -> str:
        send_due(channel.pk)  # like another worker at the same time
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(sending, "deliver", dies)
        with pytest.raises(SystemExit):
            send_due(channel.pk)
    send_all()
    assert hook.received == []
    channel.refresh_from_db()
    row = Notification.objects.get()
    assert (channel.failures, row.attempts, row.error) == (1, 1, NO_END)
    let_time_pass()
    send_all()
    assert len(hook.received) == 1


@pytest.mark.django_db
def test_a_test_message_is_tried_once_and_has_failed_with_its_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel = channel_to("json://127.0.0.1:1/", paused=True)
    test = channel.notifications.create(topic="test", title="Test", due_at=timezone.now())

    def dies(*_: object) -> str:
        raise SystemExit

    monkeypatch.setattr(sending, "deliver", dies)
    with pytest.raises(SystemExit):
        send_all()
    send_all()
    test.refresh_from_db()
    assert test.state == "waiting", "whoever asked still waits"
    Notification.objects.update(due_at=timezone.now())
    send_all()
    test.refresh_from_db()
    assert (test.state, test.attempts, test.error) == ("failed", 1, NO_END)


def test_no_error_repeats_a_secret_of_the_address(
    days: Days, caplog: pytest.LogCaptureFixture
) -> None:
    channel_to("json://me:secret-word@127.0.0.1:1/hook/secret-part")
    days()
    with caplog.at_level(logging.DEBUG):
        send_all()
    error = Notification.objects.get().error
    assert "Connection error" in error
    assert "cannot send a message" in caplog.text
    assert "secret" not in error + caplog.text


def test_whatever_a_service_raises_is_a_failed_attempt(
    days: Days, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = channel_to(hook.url)
    days()
    monkeypatch.setattr(sending, "deliver", lambda *_: 1 / 0)
    send_all()
    channel.refresh_from_db()
    assert channel.failures == 1
    assert Notification.objects.get().error == "The message was not sent (ZeroDivisionError)."
