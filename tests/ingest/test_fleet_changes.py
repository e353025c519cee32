"""Changes in the fleet: what is found as runs are processed, held against a known truth."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from access.audit import COMMAND
from hosts import editing
from ingest import tasks
from ingest.fleet_changes.host_state import RULES
from ingest.fleet_changes.watching import find_due, find_silent, mark_due
from results.hosts.fleet_changes import (
    COLUMNS,
    ChangeQuery,
    change_rows,
    runs_and_hosts,
    summaries_of_changes,
)
from store.models import FleetChange, FleetChangeMember, Host, HostWatch, Run
from tests.conftest import StoreRun
from tests.histories import FIRST_DAY, run_of_day, with_openssl
from tests.known_fleet import KnownFleet, KnownHost, known_fleet
from tests.sample_documents import openssl_measurement, ssh_measurement

Member = FleetChangeMember

OLD, NEW = "OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.0.11 19 Sep 2023"
CAUSE = "OpenSSL: OpenSSL 1.1.1w → OpenSSL 3.0.11"


def stored(fleet: KnownFleet, store_run: StoreRun) -> None:
    for document in fleet.documents():
        store_run(document)


def said() -> set[tuple[object, ...]]:
    """All that is stored of changes, as far as it does not depend on the order of arrival."""
    return {
        (
            *(one.host.name, one.change.kind, one.change.direction, one.change.cause),
            *(one.tool, one.family, one.before, one.after, one.at, one.good_at, one.ended_at),
            *(one.confirmed, one.ratio and round(one.ratio, 6), one.series, one.agreeing),
        )
        for one in Member.objects.select_related("change", "host")
    }


def is_true(member: Member, host: KnownHost) -> bool:
    """Whether it happened, then or up to two runs before or after: some runs are disturbed."""
    near = timedelta(days=2.5 * host.every)
    lost = host.aes_lost_at is not None and abs(member.at - host.aes_lost_at) <= near
    if member.change.kind == "verdict":
        return lost
    slower = member.change.direction == "slower"
    costs = host.costs and slower and abs(member.at - host.upgraded_at) <= near
    return costs or (lost and member.family.startswith("aes-") and (member.ratio or 1) < 0.5)


def test_the_changes_of_a_known_fleet_are_listed_and_hardly_any_other(store_run: StoreRun) -> None:
    fleet = known_fleet(hosts=12)
    stored(fleet, store_run)
    by_id = {host.machine_id: host for host in fleet.hosts}
    members = list(Member.objects.select_related("change", "host"))
    false = [one for one in members if not is_true(one, by_id[str(one.host.machine_id)])]
    assert not false
    lost = {by_id[str(one.host.machine_id)].number for one in members if one.after == "hidden"}
    assert lost == {4, 7}
    upgrades = FleetChange.objects.filter(cause=CAUSE, direction="slower").order_by("first_at")
    costly = upgrades[0].members.values("host").distinct().count()
    assert costly >= 0.9 * sum(host.costs for host in fleet.hosts)
    before = said()
    mark_due([one.pk for one in Host.objects.all()])
    assert find_due()
    assert said() == before


Store = Callable[..., Run]


@pytest.fixture
def at_level(store_run: StoreRun) -> Store:
    """Store a run of a day, with all of AES-GCM at a level and other ciphers as ever."""

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
    return list(FleetChange.objects.all())


def test_a_slower_family_is_listed_with_its_size_and_its_cause(at_level: Store) -> None:
    runs = [at_level(day) for day in range(5)]
    assert entries() == []
    first = at_level(5, 0.8, NEW)
    (entry,) = entries()
    assert not entry.members.get().confirmed
    at_level(6, 0.8, NEW)
    (entry,) = entries()
    member = entry.members.get()
    assert (entry.kind, entry.direction, entry.cause, entry.status) == (
        *("speed", "slower"),
        *(CAUSE, "new"),
    )
    assert (member.tool, member.family, member.series, member.agreeing) == (
        *("openssl", "aes-gcm"),
        *(4, 4),
    )
    assert member.confirmed
    assert member.ratio == pytest.approx(0.8, rel=0.01)
    assert (member.good_run, member.first_run) == (runs[-1], first)
    assert entry.last_at == first.started_at


@pytest.mark.parametrize("runs", (1, 2))
def test_slow_runs_without_a_reason_are_a_change_only_once_it_lasts(
    at_level: Store, runs: int
) -> None:
    for day in range(5):
        at_level(day)
    for day in range(5, 5 + runs):
        at_level(day, 0.8)
    assert entries() == []
    for day in range(5 + runs, 8):
        at_level(day, 0.8)
    assert Member.objects.get().confirmed


def kernel(day: int) -> dict[str, Any]:
    """An environment as ever, with the kernel of that day."""
    made = with_openssl(OLD)
    return {**made, "os": {**made["os"], "kernel": f"Linux 6.1.{day}"}}


def causes_of_rows() -> set[object]:
    """In the list as a file."""
    return {dict(zip(COLUMNS, row, strict=True))["cause"] for row in change_rows(ChangeQuery())}


def test_a_cause_that_changed_nothing_on_like_hosts_is_none(at_level: Store) -> None:
    for name in ("web-1", "web-2", "web-3"):
        for day in range(9):
            slow = name == "web-1" and day > 4
            facts = kernel(1 if day > 4 else 0)
            at_level(day, 0.8 if slow else 1, environment=facts, host={"name": name})
    (summary,) = summaries_of_changes(entries())
    assert summary.cause == ""
    assert summary.contradicted == "kernel: Linux 6.1.0 → Linux 6.1.1"
    assert causes_of_rows() == {""}
    assert (summary.hosts, summary.unaffected) == (1, 2)


def test_a_cause_that_changed_all_like_hosts_is_named(at_level: Store) -> None:
    for name in ("web-1", "web-2", "web-3"):
        for day in range(9):
            slow = name != "web-3" and day > 4
            facts = kernel(1 if day > 4 else 0)
            at_level(day, 0.8 if slow else 1, environment=facts, host={"name": name})
    (summary,) = summaries_of_changes(entries())
    assert summary.cause == "kernel: Linux 6.1.0 → Linux 6.1.1"
    assert (summary.hosts, summary.unaffected, summary.contradicted) == (2, 1, "")
    assert causes_of_rows() == {summary.cause}


@pytest.mark.parametrize("rules", ('"rules":1', '"none":0'))
def test_what_an_earlier_version_found_is_found_again_with_the_next_run(
    at_level: Store, rules: str
) -> None:
    for day in range(9):
        at_level(day, 0.8 if day > 4 else 1.0, NEW if day > 4 else OLD)
    found = said()
    Member.objects.all().delete()
    watch = HostWatch.objects.get()
    assert f'"rules":{RULES}' in watch.state
    watch.state = watch.state.replace(f'"rules":{RULES}', rules)
    watch.save()
    at_level(9, 0.8, NEW)
    assert find_due()
    assert {one[:7] for one in said()} == {one[:7] for one in found}
    at_level(10, 0.8, NEW)
    assert HostWatch.objects.get().due == 0


def test_a_disturbed_run_neither_shows_nor_confirms(at_level: Store) -> None:
    for day in range(5):
        at_level(day)
    busy = [{"code": "busy", "detail": "31 %"}]
    at_level(5, 0.8, NEW, conditions=busy)
    assert entries() == []
    at_level(6, 0.8, NEW)
    at_level(7, 0.8, NEW, conditions=busy)
    assert not Member.objects.get().confirmed


def test_the_same_upgrade_of_many_hosts_is_one_entry(at_level: Store) -> None:
    for number in range(4):
        for day in range(5):
            at_level(day, host={"name": f"web-{number}"})
        for day in (5 + number, 6 + number):
            at_level(day, 0.8, NEW, host={"name": f"web-{number}"})
    (entry,) = entries()
    assert entry.members.count() == 4
    assert entry.last_at - entry.first_at == timedelta(days=3)


def test_a_change_that_is_taken_back_is_fixed(at_level: Store) -> None:
    for day in range(5):
        at_level(day)
    for day in range(5, 9):
        at_level(day, 0.8, NEW)
    back = at_level(9)
    at_level(10)
    slower, faster = FleetChange.objects.order_by("first_at")
    assert slower.fixed_at == back.started_at
    assert slower.members.get().ended_run == back
    assert (faster.direction, faster.fixed_at) == ("faster", None)


def test_a_run_that_comes_late_makes_the_host_be_looked_at_again(at_level: Store) -> None:
    for day in (*range(5), 6, 7, 8):
        at_level(day, 0.8 if day > 4 else 1)
    late = at_level(5, 0.8)
    assert HostWatch.objects.get().due
    assert find_due()
    assert Member.objects.get().first_run == late


def test_a_hidden_or_removed_run_takes_its_part_away(at_level: Store) -> None:
    for day in range(5):
        at_level(day)
    first, second, _ = (at_level(day, 0.8) for day in (5, 6, 7))
    editing.set_hidden(second.pk, True, COMMAND)
    assert find_due()
    assert entries() == []
    editing.set_hidden(second.pk, False, COMMAND)
    assert find_due()
    assert Member.objects.get().first_run == first
    editing.remove_run(first.pk, COMMAND)
    assert entries() == []
    assert find_due()
    assert entries() == []


def test_merged_hosts_keep_their_changes(at_level: Store) -> None:
    for day in range(8):
        at_level(day, 0.8 if day > 4 else 1, host={"name": "web"})
    at_level(0, host={"name": "db"})
    kept, other = Host.objects.get(name="db"), Host.objects.get(name="web")
    editing.merge_hosts(kept.pk, other.pk, COMMAND)
    assert find_due()
    assert Member.objects.get().host == kept


def test_a_host_is_silent_after_three_of_its_usual_gaps(at_level: Store) -> None:
    for day in range(0, 10, 2):
        last = at_level(day)
    assert find_silent(FIRST_DAY + timedelta(days=13)) == 0
    assert find_silent(FIRST_DAY + timedelta(days=15)) == 1
    (entry,) = entries()
    member = entry.members.get()
    assert (entry.kind, member.good_run) == ("silent", last)
    assert entry.last_at == FIRST_DAY + timedelta(days=14)
    assert find_silent(timezone.now()) == 0
    again = at_level(20)
    entry.refresh_from_db()
    assert entry.fixed_at == again.started_at


def test_a_host_whose_runs_come_late_was_not_silent(at_level: Store) -> None:
    for day in range(0, 10, 2):
        at_level(day)
    assert find_silent(FIRST_DAY + timedelta(days=30)) == 1
    at_level(12)
    assert entries() == []


def test_a_host_without_runs_is_in_no_entry(at_level: Store, store_run: StoreRun) -> None:
    store_run(run_of_day(0, ssh_measurement("3des-cbc", 2e7), host={"name": "stays"}))
    runs = [at_level(day) for day in range(0, 10, 2)]
    assert find_silent(FIRST_DAY + timedelta(days=30)) == 1
    assert runs_and_hosts(FIRST_DAY)[2] == 2
    for run in runs:
        editing.remove_run(run.pk, COMMAND)
    assert find_due()
    assert entries() == []
    assert runs_and_hosts(FIRST_DAY) == (1, 1, 1)


def test_the_task_finds_silent_hosts_and_those_that_are_due(at_level: Store) -> None:
    for day in range(4):
        at_level(day)
    mark_due([Host.objects.get().pk])
    tasks.find_fleet_changes()
    assert HostWatch.objects.get().due == 0
    assert [entry.kind for entry in entries()] == ["silent"]
