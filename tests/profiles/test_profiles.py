"""Reference profiles: made, computed in the background, activated, retired; frozen always."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from analysis.profiles.profile_summary import profile_of_fleet
from analysis.profiles.reference_profiles import initial_profile
from ingest import tasks
from ingest.processing import speed_indices
from ingest.processing.persist_results import DerivedRun, store_rows
from ingest.processing.run_processing import process_run
from profiles import making as profiles
from profiles.fleet import fleet_hosts
from profiles.making import ProfileConflict, ProfileRefused, ProfileRequest
from store.models import BaselineLevel, ReferenceProfile, Run, RunSpeedIndex
from tests.conftest import StoreRun
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

MEGA = 1e6


def document(name: str, day: int = 21, **levels: float) -> dict[str, Any]:
    """A run of a host that measured these baselines (MB/s) by ssh."""
    ciphers = {"arcfour": "arcfour", "blowfish": "blowfish-cbc", "des": "3des-cbc"}
    return run_document(
        *(ssh_measurement(ciphers[family], rate * MEGA) for family, rate in levels.items()),
        host={"name": name, "machine_id": None},
        started_at=f"2025-11-{day}T06:48:10Z",
        finished_at=f"2025-11-{day}T06:52:31Z",
    )


WORKED = (
    document("proxmox", arcfour=211.355, blowfish=83.886, des=22.216),
    document("fedora", arcfour=178.179, blowfish=66.750, des=18.340),
    document("os x", arcfour=133.950, blowfish=39.960, des=14.980),
)
"""The worked example of docs/method.md, section 2."""


def compute(profile: ReferenceProfile) -> ReferenceProfile:
    """What the worker does, to the end."""
    reached: int | None = profile.indexed_to
    while reached is not None:
        reached = speed_indices.index_next_runs(profile.pk, reached)
    profile.refresh_from_db()
    return profile


def fleet_profile(name: str = "fleet", reference: str = "") -> ReferenceProfile:
    return compute(profiles.make_profile(ProfileRequest(name, "fleet", reference=reference)))


def figures(profile: ReferenceProfile) -> dict[str, tuple[float, float | None]]:
    """Host -> speed index and uncertainty under a profile."""
    rows = RunSpeedIndex.objects.filter(profile=profile).select_related("run__host")
    return {row.run.host_name: (row.index, row.uncertainty) for row in rows}


@pytest.mark.django_db
def test_the_worked_example_through_the_whole_stack(store_run: StoreRun) -> None:
    for one in WORKED:
        store_run(one)
    profile = fleet_profile(reference="fedora")
    assert profile.state == "ready"
    assert profile.levels["ssh"] == {
        "arcfour": pytest.approx(179.492 * MEGA, rel=1e-4),
        "blowfish": pytest.approx(63.538 * MEGA, rel=1e-4),
        "3des": pytest.approx(19.126 * MEGA, rel=1e-4),
    }
    assert {name: round(index, 4) for name, (index, _) in figures(profile).items()} == {
        "proxmox": 1.2177,
        "fedora": 1.0,
        "os x": 0.7163,
    }
    fit = profile.fits["ssh"]
    assert (fit["machines"], fit["cells"], fit["spare"]) == (3, 9, 4)
    assert fit["reference"] == "fedora, Debian GNU/Linux 12"
    assert set(profile.fits["openssl"]["unknown"]) == {"arcfour", "blowfish", "3des"}
    # With the guest's arcfour and blowfish unknown, its index under these levels is 22.216/19.126.
    store_run(document("lone", des=22.216))
    index, uncertainty = figures(profile)["lone"]
    assert (round(index, 3), uncertainty) == (1.162, None)


@pytest.mark.usefixtures("published")
def test_the_profile_of_2015_is_what_its_published_runs_are_fitted_to() -> None:
    stored = ReferenceProfile.objects.get(name="2015")
    assert stored.fits == initial_profile().fits
    levels: dict[str, dict[str, float]] = {}  # of each run, two of which are of one host
    rows = BaselineLevel.objects.filter(tool="ssh").select_related("run__environment__os_version")
    for row in rows:
        assert row.run.environment is not None
        name = f"{row.run.host_name}, {row.run.environment.os_version.label}"
        levels.setdefault(name, {})[row.family] = row.level
    levels = {name: known for name, known in levels.items() if set(known) > {"3des"}}
    (fedora,) = (name for name in levels if "Fedora" in name)
    made = profile_of_fleet({"ssh": levels}, {name: name for name in levels}, {"ssh": fedora})
    assert made.levels["ssh"] == pytest.approx(stored.levels["ssh"], rel=1e-4)
    fit, kept = made.fits["ssh"], stored.fits["ssh"]
    assert fit.rms == pytest.approx(kept["rms"], abs=1e-4)
    assert fit.scatter == pytest.approx(kept["scatter"], abs=1e-4)
    assert fit.families["3des"].uncertainty == pytest.approx(1.347, abs=1e-3)
    assert [one.residual for one in fit.largest] == pytest.approx(
        [one["residual"] for one in kept["largest"]], abs=1e-4
    )


@pytest.mark.django_db
def test_adding_runs_never_changes_what_a_profile_says(store_run: StoreRun) -> None:
    for one in WORKED:
        store_run(one)
    profile = fleet_profile()
    before, levels = figures(profile), profile.levels
    store_run(document("fast", arcfour=900, blowfish=20, des=90))
    store_run(document("fedora", day=22, arcfour=10, blowfish=10, des=10))
    compute(profile)
    after = figures(profile)
    old = (
        Run.objects.filter(host_name="fedora").order_by("id")[0].speed_indices.get(profile=profile)
    )
    assert {**after, "fedora": (old.index, old.uncertainty)}.items() >= before.items()
    assert profile.levels == levels
    assert fleet_profile("later").levels != levels


@pytest.mark.django_db
@pytest.mark.parametrize("order", range(3))
def test_the_order_of_uploads_never_matters(store_run: StoreRun, order: int) -> None:
    documents = [*WORKED, document("a", des=30), document("b", arcfour=300, des=31)]
    documents.append(document("b", day=20, arcfour=1, des=999))
    expected = profile_of_fleet(
        {
            "ssh": {
                "1": {"arcfour": 211.355e6, "blowfish": 83.886e6, "3des": 22.216e6},
                "2": {"arcfour": 178.179e6, "blowfish": 66.75e6, "3des": 18.34e6},
                "3": {"arcfour": 133.95e6, "blowfish": 39.96e6, "3des": 14.98e6},
                "4": {"3des": 30e6},
                "5": {"arcfour": 300e6, "3des": 31e6},
            }
        },
        {str(number): "" for number in range(1, 6)},
    )
    for one in random.Random(order).sample(documents, len(documents)):
        store_run(one)
    assert fleet_profile().levels["ssh"] == pytest.approx(expected.levels["ssh"], rel=1e-6)


@pytest.mark.django_db
def test_a_host_votes_with_its_latest_run_that_has_a_baseline(store_run: StoreRun) -> None:
    store_run(document("a", day=20, des=20))
    store_run({**document("a", day=22, des=24), "environment": environment(model="Another CPU")})
    store_run(
        run_document(
            openssl_measurement("aes-128-gcm", 1e9),
            host={"name": "a", "machine_id": None},
            started_at="2025-11-23T06:48:10Z",
            finished_at="2025-11-23T06:52:31Z",
        )
    )
    hidden = store_run(document("b", des=99))
    Run.objects.filter(pk=hidden.pk).update(hidden=True)
    (host,) = fleet_hosts("ssh")
    assert host.levels == pytest.approx({"3des": 24e6})


@pytest.mark.django_db
def test_a_profile_of_a_run_has_its_very_levels(store_run: StoreRun) -> None:
    run = store_run(WORKED[0])
    made = profiles.make_profile(ProfileRequest("of a run", "run", run_id=run.run_id))
    assert (made.origin, made.run) == ("run", run)
    assert made.levels == {
        "ssh": {row.family: row.level for row in BaselineLevel.objects.filter(run=run)}
    }
    assert figures(compute(made)) == {"proxmox": (1.0, 1.0)}
    run.delete()
    made.refresh_from_db()
    assert made.run is None
    assert str(run.run_id) in made.made_from


@pytest.mark.django_db
@pytest.mark.parametrize("field", ("name", "levels", "made_from", "origin", "fits"))
def test_the_database_refuses_to_change_a_profile(field: str) -> None:
    value: Any = {"ssh": {"3des": 1.0}} if field in ("levels", "fits") else "else"
    with pytest.raises(IntegrityError, match='"2015" is frozen'), transaction.atomic():
        ReferenceProfile.objects.filter(name="2015").update(**{field: value})


@transaction.atomic
def set_active(name: str, active: bool) -> None:
    """Past the code, to what the database holds at the end of a transaction."""
    ReferenceProfile.objects.filter(name=name).update(active=active)
    connection.check_constraints()


@pytest.mark.django_db
def test_one_complete_profile_is_always_active(store_run: StoreRun) -> None:
    store_run(WORKED[0])
    new = profiles.make_profile(ProfileRequest("new", "fleet"))
    assert new.state == "computing"
    with pytest.raises(ProfileConflict, match="0 of 1 runs are done"):
        profiles.activate(new.pk)
    for name, active in (("new", True), ("2015", False)):
        with pytest.raises(IntegrityError):
            set_active(name, active)
    with pytest.raises(ProfileConflict, match="is active: activate another one first"):
        profiles.retire(ReferenceProfile.objects.get(active=True).pk)
    profiles.activate(compute(new).pk)
    assert [one.name for one in ReferenceProfile.objects.filter(active=True)] == ["new"]
    old = profiles.retire(ReferenceProfile.objects.get(name="2015").pk)
    assert profiles.retire(old.pk).state == "retired"
    with pytest.raises(ProfileConflict, match="is retired"):
        profiles.activate(old.pk)


@pytest.mark.django_db
def test_a_name_is_taken_once(store_run: StoreRun) -> None:
    store_run(WORKED[0])
    with pytest.raises(ProfileRefused, match="already"):
        profiles.make_profile(ProfileRequest("2015", "fleet"))


@pytest.fixture
def chunks_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_indices, "CHUNK_RUNS", 2)


@pytest.mark.django_db
@pytest.mark.usefixtures("chunks_of_two")
def test_chunks_go_on_once_however_often_they_are_asked_for(
    store_run: StoreRun, django_capture_on_commit_callbacks: Any
) -> None:
    runs = [store_run(document(f"h{number}", des=20 + number)) for number in range(5)]
    profile = profiles.make_profile(ProfileRequest("new", "fleet"))
    assert (profile.runs_done, profile.runs_total) == (0, 5)
    with django_capture_on_commit_callbacks() as wanted:
        tasks.index_profile(profile.pk, 0)
        tasks.index_profile(profile.pk, 0)
    assert len(wanted) == 1
    profile.refresh_from_db()
    assert (profile.indexed_to, profile.runs_done, profile.state) == (runs[1].pk, 2, "computing")
    assert set(figures(profile)) == {"h0", "h1"}
    assert compute(profile).runs_done == 5
    assert profile.state == "ready"
    assert set(figures(profile)) == {f"h{number}" for number in range(5)}
    with django_capture_on_commit_callbacks() as wanted:
        tasks.index_profile(profile.pk, 0)
        tasks.sweep_profiles()
    assert wanted == []


@pytest.mark.django_db
def test_a_chunk_takes_a_bounded_number_of_statements(
    store_run: StoreRun, django_assert_num_queries: Any
) -> None:
    for number in range(6):
        store_run(document(f"h{number}", arcfour=100, des=20 + number))
    profile = profiles.make_profile(ProfileRequest("new", "fleet"))
    # Savepoint and its release; profile, runs, levels, indices, progress.
    with django_assert_num_queries(8):  # the last chunk also says that answers may differ
        speed_indices.index_next_runs(profile.pk, 0)


def in_thread(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    finally:
        connection.close()


@pytest.mark.usefixtures("profile_2015", "chunks_of_two")
def test_a_killed_worker_loses_its_chunk_and_the_next_one_resumes(
    store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        store_run(document(f"h{number}", des=20 + number))
    profile = profiles.make_profile(ProfileRequest("new", "fleet"))
    reached = speed_indices.index_next_runs(profile.pk, 0)
    note = speed_indices._note_progress

    def killed(*arguments: Any) -> None:
        """The worker's connection ends when its indices are written and not yet committed."""
        note(*arguments)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(speed_indices, "_note_progress", killed)
    with pytest.raises(OperationalError):
        speed_indices.index_next_runs(profile.pk, reached or 0)
    monkeypatch.setattr(speed_indices, "_note_progress", note)
    connection.close()
    profile.refresh_from_db()
    assert (profile.indexed_to, profile.runs_done) == (reached, 2)
    assert set(figures(profile)) == {"h0", "h1"}
    wanted: list[tuple[int, int]] = []
    monkeypatch.setattr(tasks, "send", lambda task, *asked: wanted.append(asked))
    monkeypatch.setattr(tasks, "SWEEP_AFTER", timedelta(hours=1))
    tasks.sweep_profiles()
    assert wanted == []  # it may still be at work
    ReferenceProfile.objects.filter(pk=profile.pk).update(
        progressed_at=profile.created_at - 2 * tasks.SWEEP_AFTER
    )
    tasks.sweep_profiles()
    assert wanted == [(profile.pk, reached)]
    assert compute(profile).runs_done == 5
    assert len(figures(profile)) == 5


@pytest.mark.usefixtures("profile_2015")
@pytest.mark.parametrize("round_", range(3))
def test_of_two_activations_at_once_one_stands(store_run: StoreRun, round_: int) -> None:
    store_run(WORKED[0])
    candidates = [fleet_profile(name) for name in ("one", "two", "three", "four")]
    together = Barrier(len(candidates))

    def activate(pk: int) -> None:
        together.wait(60)
        profiles.activate(pk)

    with ThreadPoolExecutor(len(candidates)) as pool:
        list(pool.map(lambda one: in_thread(activate, one.pk), candidates))
    active = ReferenceProfile.objects.get(active=True)
    assert active in candidates


@pytest.mark.usefixtures("profile_2015")
def test_a_run_that_is_processed_while_a_profile_is_made_is_not_missed(
    store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(WORKED[0])
    late = store_run(document("late", des=20))
    late.speed_indices.all().delete()
    late.baseline_levels.all().delete()
    late.measurements.all().delete()
    Run.objects.filter(pk=late.pk).update(status=Run.Status.ACCEPTED)
    looked, go_on = Event(), Event()

    def wait_and_store(made: Sequence[DerivedRun]) -> None:
        looked.set()
        assert go_on.wait(60)
        store_rows(made)

    monkeypatch.setattr("ingest.processing.run_processing.store_rows", wait_and_store)
    with ThreadPoolExecutor(2) as pool:
        processing = pool.submit(in_thread, process_run, late.pk)
        assert looked.wait(60)
        making = pool.submit(
            in_thread, profiles.make_profile, ProfileRequest("new", "fleet", tools=("ssh",))
        )
        with pytest.raises(TimeoutError):
            making.result(0.3)  # it waits for the run
        go_on.set()
        processing.result(60)
        profile = making.result(60)
    assert profile.runs_total == 2
    assert set(figures(compute(profile))) == {"proxmox", "late"}
