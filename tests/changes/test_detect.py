from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.audit import COMMAND
from changes import detect
from changes.api import decide
from changes.detect import find_due, find_silent
from changes.models import FleetChange, FleetChangeMember
from changes.tasks import find_changes
from hosts.editing import merge_hosts
from runs.editing import remove_run, set_hidden
from runs.models import Host, HostWatch, Run
from tests.conftest import StoreRun
from tests.histories import FIRST_DAY, run_of_day, with_openssl
from tests.known_fleet import KnownFleet, KnownHost, known_fleet
from tests.sample_documents import openssl_measurement, ssh_measurement

Member = FleetChangeMember

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
DIFFERENCE = "OpenSSL 1.1.1w → 3.0.11"
BUSY = [{"code": "busy", "detail": "31 %"}]


def look() -> None:
    while find_due():
        pass


def is_true(member: Member, host: KnownHost) -> bool:
    near = timedelta(days=3.5 * host.every)
    if member.change.kind == "verdict":
        return host.aes_lost_at is not None and abs(member.at - host.aes_lost_at) <= near
    return (
        host.costs
        and member.change.direction == "slower"
        and abs(member.at - host.upgraded_at) <= near
    )


def test_a_known_year_of_60_hosts_has_its_changes_and_hardly_any_other(
    store_run: StoreRun, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = known_fleet()
    for document in fleet.documents():
        store_run(document)
    look()
    by_id = {host.machine_id: host for host in fleet.hosts}
    members = list(Member.objects.select_related("change", "run__host"))
    of_host = {member: by_id[str(member.run.machine_id)] for member in members}
    true = {member for member in members if is_true(member, of_host[member])}
    false = {(member.change_id, of_host[member].number) for member in members if member not in true}
    slower = {of_host[change].number for change in true if change.change.direction == "slower"}
    lost = {of_host[change].number for change in true if change.change.direction == "lost"}
    costly = {host.number for host in fleet.hosts if host.costs}
    series = 22 * len(fleet.hosts)
    with capsys.disabled():
        print(
            f"\n{len(slower)} of {len(costly)} losses of 7 % and {len(lost)} of 3 of AES found,"
            f" {len(false)} false in {series} pairs of host and series"
        )
    assert lost == {4, 7, 41}
    assert len(slower) >= 0.95 * len(costly)
    assert 1000 * len(false) <= series
    joined = FleetChange.objects.filter(direction="slower", difference=DIFFERENCE)
    assert Counter(joined.values_list("family")).most_common(1)[0][1] <= 2


Store = Callable[..., Run]


@pytest.fixture
def at_level(store_run: StoreRun) -> Store:
    def store(day: int, level: float = 1.0, version: str = OLD, **changes: Any) -> Run:
        wobble = 1 + 0.002 * (day % 3)
        series = [
            openssl_measurement(f"aes-{bits}-gcm", 4e9 * level * wobble, block_size=size)
            for bits in (128, 256)
            for size in (1024, 16384)
        ]
        series.append(ssh_measurement("3des-cbc", 2e7 * wobble))
        made = {"environment": with_openssl(version), **changes}
        return store_run(run_of_day(day, *series, **made))

    return store


def entries() -> list[FleetChange]:
    look()
    return list(FleetChange.objects.listed())


def test_a_slower_family_is_listed_from_its_second_run_on(at_level: Store) -> None:
    runs = [at_level(day) for day in range(5)]
    first = at_level(5, 0.8, NEW)
    assert entries() == []
    at_level(6, 0.8, NEW)
    (entry,) = entries()
    member = entry.members.get()
    assert (entry.kind, entry.direction, entry.family) == ("speed", "slower", "aes")
    assert (entry.difference, entry.status) == (DIFFERENCE, "new")
    assert (member.tool, member.family, member.series_count) == ("openssl", "aes-gcm", 4)
    assert member.ratio == pytest.approx(0.8, rel=0.01)
    assert (member.previous, member.run) == (runs[-1], first)
    assert member.differences == [DIFFERENCE]
    assert entry.last_at == first.started_at


def test_an_upgrade_shortly_before_a_change_is_named(at_level: Store) -> None:
    for day in range(5):
        at_level(day, version=OLD if day < 3 else NEW)
    for day in (5, 6):
        at_level(day, 0.8, NEW)
    (entry,) = entries()
    assert entry.difference == f"{DIFFERENCE} (at most 14 days before the change)"


def test_five_hosts_that_lose_with_one_upgrade_are_one_entry(at_level: Store) -> None:
    # With two runs before and two after, only the tries show the variation.
    for number in range(5):
        for day in (0, 7):
            at_level(day + number, host={"name": f"web-{number}"})
        for day in (14, 21):
            at_level(day + number, 0.93, NEW, host={"name": f"web-{number}"})
    (entry,) = entries()
    assert (entry.direction, entry.difference, entry.members.count()) == ("slower", DIFFERENCE, 5)
    assert entry.last_at - entry.first_at == timedelta(days=4)
    assert [member.confidence for member in entry.members.all()] == [Member.Confidence.LOW] * 5


def test_hosts_are_joined_within_31_days_by_the_difference_that_they_share(
    at_level: Store,
) -> None:
    def changed(name: str, day: int, version: str) -> None:
        for before in range(3):
            at_level(day - 3 + before, host={"name": name})
        for after in range(2):
            at_level(day + after, 0.8, version, host={"name": name})

    changed("a", 10, NEW)
    changed("b", 40, NEW)  # 30 days later
    changed("c", 80, NEW)
    changed("d", 10, OLD)
    changed("e", 10, OLD)  # no environment difference, so not grouped
    joined = [
        sorted({member.run.host_name for member in entry.members.all()}) for entry in entries()
    ]
    assert sorted(joined) == [["a", "b"], ["c"], ["d"], ["e"]]


def test_a_host_that_joins_a_decided_entry_makes_it_new_again(at_level: Store) -> None:
    def changed(name: str) -> None:
        for day in range(5):
            at_level(day, 0.8 if day > 2 else 1, NEW if day > 2 else OLD, host={"name": name})

    changed("a")
    (entry,) = entries()
    decide(entry, {"status": "ignored", "note": "known"}, COMMAND)
    at_level(5, 0.8, NEW, host={"name": "a"})
    assert [entry.status for entry in entries()] == ["ignored"]
    changed("b")
    (entry,) = entries()
    assert (entry.status, entry.note, entry.members.count()) == ("new", "known", 2)


def test_the_tools_and_modes_of_a_family_are_one_entry(store_run: StoreRun) -> None:
    for day in range(6):
        level = 0.8 if day > 3 else 1.0
        series = (
            openssl_measurement("aes-128-gcm", 4e9 * level),
            openssl_measurement("aes-128-cbc", 1e9 * level),
            ssh_measurement("aes128-ctr", 4e8 * level),
            ssh_measurement("3des-cbc", 2e7 / level),
        )
        store_run(run_of_day(day, *series))
    look()
    found = FleetChange.objects.values_list("family", "direction", "members__family")
    assert sorted(found) == [
        ("3des", "faster", "3des-cbc"),
        ("aes", "slower", "aes-cbc"),
        ("aes", "slower", "aes-ctr"),
        ("aes", "slower", "aes-gcm"),
    ]


def test_losing_aes_is_one_entry(store_run: StoreRun) -> None:
    host = known_fleet().hosts[7]
    assert host.aes_lost_at is not None
    for document in KnownFleet(1, (host,)).documents():
        if document["started_at"] < (host.aes_lost_at + timedelta(days=80)).isoformat():
            store_run(document)
    (entry,) = entries()
    assert (entry.kind, entry.direction, entry.family) == ("verdict", "lost", "aes")
    assert entry.difference == "CPU flags (lost aes)"
    verdict, *modes = entry.members.order_by("family", "tool")
    assert (verdict.before, verdict.after, verdict.ratio) == ("hardware", "hidden", None)
    assert [(mode.tool, mode.family) for mode in modes] == [
        ("openssl", "aes-cbc"),
        *((tool, f"aes-{mode}") for mode in ("ctr", "gcm") for tool in ("openssl", "ssh")),
    ]
    assert all(mode.ratio == pytest.approx(0.25, rel=0.1) for mode in modes)


def test_a_disturbed_run_neither_starts_nor_confirms_nor_sizes_a_change(at_level: Store) -> None:
    for day in range(5):
        at_level(day)
    at_level(5, 0.6, NEW, conditions=BUSY)
    first = at_level(6, 0.8, NEW)
    at_level(7, 0.6, NEW, conditions=BUSY)
    assert entries() == []
    at_level(8, 0.8, NEW)
    (entry,) = entries()
    member = entry.members.get()
    assert member.run == first
    assert member.ratio == pytest.approx(0.8, rel=0.01)


def test_what_openssl_measures_otherwise_is_no_change(at_level: Store) -> None:
    for day in range(8):
        slow = day > 3
        at_level(day, 0.4 if slow else 1.0, f"OpenSSL 3.0.{19 if slow else 15}")
    assert entries() == []


def test_a_change_that_is_taken_back_is_fixed(at_level: Store) -> None:
    for day in range(5):
        at_level(day)
    for day in range(5, 9):
        at_level(day, 0.8, NEW)
    back = at_level(9)
    at_level(10)
    look()
    slower, faster = FleetChange.objects.order_by("first_at")
    assert (slower.fixed_at, slower.state) == (back.started_at, "fixed")
    assert (faster.direction, faster.fixed_at) == ("faster", None)


def test_an_entry_is_kept_when_the_host_is_looked_at_again_and_goes_with_its_runs(
    at_level: Store,
) -> None:
    for day in range(5):
        at_level(day)
    first, second, third = (at_level(day, 0.8) for day in (5, 6, 7))
    (entry,) = entries()
    decide(entry, {"status": "acknowledged", "note": "known"}, COMMAND)
    at_level(8, 0.82)
    at_level(4, 1.01)  # came late
    set_hidden(second.pk, True, COMMAND)
    (same,) = entries()
    assert (same.pk, same.status, same.note) == (entry.pk, "acknowledged", "known")
    set_hidden(first.pk, True, COMMAND)
    for run, shows_it in ((second, third), (second, second), (first, first)):
        set_hidden(run.pk, run != shows_it, COMMAND)
        (same,) = entries()
        assert (same.pk, same.status, same.note) == (entry.pk, "acknowledged", "known")
        assert (same.members.get().run, same.first_at) == (shows_it, shows_it.started_at)
    for run in (first, second, third, *Run.objects.filter(started_at__gt=third.started_at)):
        set_hidden(run.pk, True, COMMAND)
    assert entries() == []
    for run in Run.objects.filter(hidden=True):
        set_hidden(run.pk, False, COMMAND)
    (same,) = entries()
    assert (same.pk, same.note, same.members.get().run) == (entry.pk, "known", first)
    for run in Run.objects.filter(started_at__gte=first.started_at):
        remove_run(run.pk, COMMAND)
    assert entries() == []


def test_what_was_found_before_the_latest_runs_stays(
    at_level: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(7):
        at_level(day, 0.8 if day > 4 else 1.0)
    (entry,) = entries()
    monkeypatch.setattr(detect, "LATEST_RUNS", 12)
    for day in range(7, 30):
        at_level(day, 0.8)
    assert entries() == [entry]


def test_merged_hosts_keep_their_changes(at_level: Store) -> None:
    for day in range(8):
        at_level(day, 0.8 if day > 4 else 1, host={"name": "web"})
    at_level(0, host={"name": "db"})
    (entry,) = entries()
    kept, other = Host.objects.get(name="db"), Host.objects.get(name="web")
    merge_hosts(kept.pk, other.pk, COMMAND)
    assert entries() == [entry]
    assert entry.members.get().run.host == kept


def test_a_host_is_silent_after_three_of_its_usual_gaps(at_level: Store) -> None:
    for day in range(0, 10, 2):
        last = at_level(day)
    look()
    find_silent(FIRST_DAY + timedelta(days=13))
    assert entries() == []
    find_silent(FIRST_DAY + timedelta(days=15))
    (entry,) = entries()
    assert (entry.kind, entry.members.get().run) == ("silent", last)
    assert entry.last_at == FIRST_DAY + timedelta(days=14)
    find_silent(timezone.now())
    again = at_level(20)
    assert [entry.fixed_at for entry in entries()] == [again.started_at]


def test_a_host_whose_runs_come_late_was_not_silent(at_level: Store) -> None:
    for day in range(0, 10, 2):
        at_level(day)
    look()
    find_silent(FIRST_DAY + timedelta(days=30))
    at_level(12)
    assert entries() == []


def test_deleted_or_hidden_runs_have_a_silent_host_looked_at_again(at_level: Store) -> None:
    runs = [at_level(day) for day in (0, 20, 30, 31, 32, 33)]
    look()
    find_silent(FIRST_DAY + timedelta(days=40))
    (entry,) = entries()
    assert entry.last_at == FIRST_DAY + timedelta(days=36)
    decide(entry, {"status": "acknowledged"}, COMMAND)
    set_hidden(runs[-1].pk, True, COMMAND)
    (entry,) = entries()
    assert (entry.status, entry.members.get().run) == ("acknowledged", runs[-2])
    for run in runs[2:4]:  # on days 0, 20, 32; the next is due by day 80
        remove_run(run.pk, COMMAND)
    (entry,) = entries()
    assert entry.last_at == FIRST_DAY + timedelta(days=80)
    remove_run(runs[0].pk, COMMAND)
    assert entries() == []


def test_a_host_that_cannot_be_looked_at_stops_no_other(
    at_level: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        for day in range(6):
            at_level(day, 0.8 if day > 3 else 1.0, host={"name": name})
    broken = Host.objects.get(name="a").pk
    look_at = detect._look
    monkeypatch.setattr(
        detect, "_look", lambda watch: 1 / 0 if watch.pk == broken else look_at(watch)
    )
    find_changes()
    assert "cannot compute changes" in caplog.text
    found = Member.objects.filter(change__kind="speed")
    assert [member.run.host_name for member in found] == ["b"]
    assert not HostWatch.objects.filter(due_at__isnull=False).exists()


def test_the_task_finds_changes_and_silent_hosts(at_level: Store) -> None:
    for day in range(6):
        at_level(day, 0.8 if day > 3 else 1.0)
    find_changes()
    assert sorted(FleetChange.objects.values_list("kind", flat=True)) == ["silent", "speed"]
