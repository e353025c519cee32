"""Several names under one machine id: a machine that was renamed, or clones that are split."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from access.audit import COMMAND
from access.tokens import create_token
from ingest.edits.editing import EditConflict, EditRefused, remove_run, rename_host, set_hidden
from ingest.edits.merging import merge_hosts
from ingest.edits.splitting import confirm_one_machine, split_host
from results.hosts.host_names import HostNames, host_names, present_id, present_keys
from results.hosts.latest import latest_results
from runs.processing import DERIVED_VERSION, process_run
from store.models import AuditEntry, Host, HostAlias, Measurement, Run
from tests.conftest import ApiClient, StoreRun, accepted
from tests.sample_documents import run_document, ssh_measurement

MACHINE = "a" * 64
START = datetime(2026, 1, 1, tzinfo=UTC)


def document(name: str, day: float, machine_id: str | None = MACHINE, **more: Any) -> Any:
    """A run of five minutes, so many days after the start; its rate tells the name and day."""
    started = START + timedelta(days=day)
    rate = 1e8 + 1e6 * day + sum(map(ord, name))
    return run_document(
        ssh_measurement("aes128-gcm@openssh.com", rate),
        host={"name": name, "machine_id": machine_id},
        started_at=started.isoformat(),
        finished_at=(started + timedelta(minutes=5)).isoformat(),
        **more,
    )


@pytest.fixture
def clones(store_run: StoreRun) -> Host:
    """web1 and web2, measured in turn, as one host."""
    for day, name in enumerate(("web1", "web2", "web1", "web2")):
        store_run(document(name, day))
    (host,) = Host.objects.all()
    return host


def latest_rates() -> dict[str, list[float | None]]:
    """Name of a host -> the medians of its latest results."""
    hosts = Host.objects.order_by("name")
    return {host.name: [one.detail.median for one in latest_results(host.pk)] for host in hosts}


def by_host() -> dict[str, list[str]]:
    """Key of a host -> the names of its runs."""
    runs = Run.objects.order_by("host__slug", "started_at").values_list("host__slug", "host_name")
    found: dict[str, list[str]] = {}
    for key, name in runs:
        found.setdefault(str(key), []).append(name)
    return found


def compared(client: Client) -> dict[str, int]:
    """Label of a host -> its votes, as the comparison by host counts them."""
    groups = client.get("/api/v1/comparison/?group_by=host").json()["groups"]
    return {group["label"]: group["hosts"] for group in groups}


def flagged(host: Host) -> list[str]:
    return sorted(one.name for one in host_names([host.pk]).get(host.pk, HostNames()).alternating)


# --- One machine, renamed


def test_the_newest_name_is_shown_and_the_older_ones_find_the_host(
    store_run: StoreRun, reader: ApiClient, settings: Settings
) -> None:
    for day, name in enumerate(("old name", "old name", "middle", "new")):
        store_run(document(name, day))
    (host,) = Host.objects.all()
    assert (host.name, flagged(host)) == ("new", [])
    settings.CIPHERMARK_PUBLIC = True
    client = Client()
    for name in ("old name", "middle", "new"):
        assert f"/hosts/{host.pk}/" in client.get(f"/hosts/?q={name}").content.decode()
    for key in ("old-name", "middle", "new"):
        assert client.get(f"/hosts/{key}/")["Location"] == f"/hosts/{host.pk}/"
        groups = client.get(f"/api/v1/comparison/?group_by=host&host={key}").json()["groups"]
        assert [one["label"] for one in groups] == ["new"]
    answer = reader.get(f"/api/v1/hosts/{host.pk}/").json()
    assert (answer["name"], answer["alternating_names"]) == ("new", [])
    assert answer["former_names"] == ["old name", "middle"]
    assert client.get("/hosts/never/").status_code == 404
    assert client.get("/hosts/a%00b/").status_code == 404


def test_spooled_runs_of_weeks_ago_rename_nothing_and_are_no_clones(store_run: StoreRun) -> None:
    for day, name in ((30, "new"), (1, "old"), (31, "new"), (2, "old")):
        store_run(document(name, day))
    (host,) = Host.objects.all()
    assert (host.name, flagged(host)) == ("new", [])


def test_a_key_of_another_host_is_that_hosts(store_run: StoreRun, reader: ApiClient) -> None:
    store_run(document("web", 1))
    store_run(document("db", 2))
    own = store_run(document("web", 3, machine_id="b" * 64)).host
    assert own is not None
    assert {"web", "web-2"} == set(Host.objects.values_list("slug", flat=True))
    groups = reader.get("/api/v1/comparison/?group_by=host&host=web").json()["groups"]
    assert [one["label"] for one in groups] == ["db"]


def test_an_editors_name_stays_until_the_machine_is_renamed(store_run: StoreRun) -> None:
    host = store_run(document("nas", 1)).host
    assert host is not None
    rename_host(host.pk, "Cellar", COMMAND)
    for day, name, shown in ((2, "nas", "Cellar"), (3, "attic", "attic"), (4, "nas", "Cellar")):
        store_run(document(name, day))
        host.refresh_from_db()
        if day != 4:
            assert host.name == shown


def test_a_name_goes_with_its_last_run(store_run: StoreRun) -> None:
    store_run(document("nas", 1))
    wrong = store_run(document("typo", 2))
    host = Host.objects.get()
    assert host.name == "typo"
    set_hidden(wrong.pk, True, COMMAND)
    host.refresh_from_db()
    assert host.name == "nas"
    assert host_names([host.pk]) == {}
    remove_run(wrong.pk, COMMAND)
    assert sorted(host.names.values_list("name", flat=True)) == ["nas"]


def test_a_run_without_machine_id_renames_nothing(store_run: StoreRun) -> None:
    store_run(document("nas", 1))
    other = store_run(document("nas", 2, machine_id=None)).host
    assert other is not None
    merge_hosts(Host.objects.exclude(pk=other.pk).get().pk, other.pk, COMMAND)
    store_run(document("attic", 3, machine_id=None))
    assert sorted(Host.objects.values_list("name", flat=True)) == ["attic", "nas"]


# --- Clones


def test_names_in_turn_are_flagged_on_page_list_and_api(
    clones: Host, reader: ApiClient, store_run: StoreRun, settings: Settings
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    store_run(document("alone", 1, machine_id="c" * 64))
    assert flagged(clones) == ["web1", "web2"]
    page = Client().get(f"/hosts/{clones.pk}/").content.decode()
    assert "Probably several machines" in page
    assert Client().get("/hosts/").content.decode().count("several machines?") == 1
    found = {one["name"]: one for one in reader.get("/api/v1/hosts/").json()["results"]}
    assert found["alone"]["alternating_names"] == []
    names = found["web2"]["alternating_names"]
    assert [(one["name"], one["runs"]) for one in names] == [("web2", 2), ("web1", 2)]
    assert names[0]["first"] == "2026-01-02T00:00:00Z"
    assert names[0]["last"] == "2026-01-04T00:05:00Z"


def test_a_split_makes_two_hosts_of_everything(
    clones: Host, store_run: StoreRun, settings: Settings
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    documents = set(Run.objects.values_list("run_id", "document__content_digest"))
    assert compared(Client()) == {"web2": 1}
    new = split_host(clones.pk, "web2", COMMAND)
    clones.refresh_from_db()
    assert (clones.name, clones.slug, new.name, new.slug) == ("web1", "web1", "web2", "web2")
    assert compared(Client()) == {"web1": 1, "web2": 1}
    assert by_host() == {"web1": ["web1", "web1"], "web2": ["web2", "web2"]}
    assert flagged(clones) == flagged(new) == []
    assert set(Run.objects.values_list("run_id", "document__content_digest")) == documents
    assert Measurement.objects.count() == 4
    assert latest_rates() == {
        name: [
            Measurement.objects.get(
                run__host_name=name, run__started_at=START + timedelta(day)
            ).median
        ]
        for name, day in (("web1", 2), ("web2", 3))
    }


def test_later_runs_of_both_names_go_to_their_own_host(clones: Host, store_run: StoreRun) -> None:
    new = split_host(clones.pk, "web2", COMMAND)
    assert store_run(document("web1", 9)).host_id == clones.pk
    assert store_run(document("web2", 8)).host_id == new.pk
    assert store_run(document(" WEB2 ", 7)).host_id == new.pk
    third = store_run(document("web3", 9)).host
    assert third is not None
    assert third.slug == "web3"
    assert store_run(document("web3", 10)).host_id == third.pk
    assert {flag for host in Host.objects.all() for flag in flagged(host)} == set()


def test_the_key_goes_with_the_name(clones: Host) -> None:
    new = split_host(clones.pk, "web1", COMMAND)
    clones.refresh_from_db()
    assert (clones.name, clones.slug) == ("web2", "web2")
    assert (new.name, new.slug) == ("web1", "web1")


def test_three_clones_are_split_one_by_one(clones: Host, store_run: StoreRun) -> None:
    for day in (0.5, 2.5):
        store_run(document("web3", day))
    assert flagged(clones) == ["web1", "web2", "web3"]
    second = split_host(clones.pk, "web2", COMMAND)
    assert flagged(clones) == ["web1", "web3"]
    third = split_host(clones.pk, "web3", COMMAND)
    for name, host in (("web1", clones), ("web2", second), ("web3", third)):
        assert store_run(document(name, 9)).host_id == host.pk
    with pytest.raises(EditRefused, match="nothing to split"):
        split_host(clones.pk, "web1", COMMAND)


def test_the_hosts_own_name_can_be_split_off_last(clones: Host, store_run: StoreRun) -> None:
    for day in (0.5, 2.5):
        store_run(document("web3", day))
    split_host(clones.pk, "web2", COMMAND)
    clones.refresh_from_db()
    assert (clones.name, clones.machine_name) == ("web3", "web1")
    off = split_host(clones.pk, "web1", COMMAND)
    for name, host in (("web1", off.pk), ("web3", clones.pk)):
        assert store_run(document(name, 9)).host_id == host


def test_an_older_name_stays_with_what_it_was(store_run: StoreRun) -> None:
    for day, name in enumerate(("gold", "web1", "web2", "web1")):
        store_run(document(name, day))
    host = Host.objects.get()
    assert flagged(host) == ["web1", "web2"]
    split_host(host.pk, "web2", COMMAND)
    assert by_host() == {"gold": ["gold", "web1", "web1"], "web2": ["web2"]}
    assert store_run(document("gold", 0.5)).host_id == host.pk


@pytest.mark.parametrize("name", ("web9", "", "web1\x00"))
def test_what_cannot_be_split_changes_nothing(clones: Host, name: str) -> None:
    before = by_host()
    with pytest.raises(EditRefused, match="nothing to split"):
        split_host(clones.pk, name, COMMAND)
    assert by_host() == before
    assert not AuditEntry.objects.exists()


def test_a_host_without_machine_id_is_not_split(store_run: StoreRun) -> None:
    for name in ("a", "b"):
        store_run(document(name, 1, machine_id=None))
    first, second = Host.objects.order_by("id")
    merge_hosts(first.pk, second.pk, COMMAND)
    with pytest.raises(EditRefused, match="nothing to split"):
        split_host(first.pk, "b", COMMAND)


def test_runs_without_machine_id_keep_their_host(clones: Host, store_run: StoreRun) -> None:
    anonymous = store_run(document("web2", 5, machine_id=None)).host
    assert anonymous is not None
    assert anonymous.pk != clones.pk
    split_host(clones.pk, "web2", COMMAND)
    assert store_run(document("web2", 6, machine_id=None)).host_id == anonymous.pk


def test_unicode_names_are_the_same_in_every_spelling(store_run: StoreRun) -> None:
    composed, decomposed = "Gr\u00f6\u00dfe", "GRO\u0308SSE"
    for day, name in enumerate(("web", composed, "web", decomposed)):
        store_run(document(name, day))
    host = Host.objects.get()
    assert flagged(host) == [decomposed, "web"]
    new = split_host(host.pk, composed, COMMAND)
    assert new.name == decomposed
    assert new.runs.count() == 2
    assert store_run(document(composed, 9)).host_id == new.pk
    assert store_run(document("\u0433\u0440\u043e\u0441", 9)).host_id not in (host.pk, new.pk)


def test_hidden_held_and_undated_runs_move_too(clones: Host, store_run: StoreRun) -> None:
    hidden = store_run(document("web2", 5))
    set_hidden(hidden.pk, True, COMMAND)
    undated = document("web2", 6)
    undated["times_of"] = "import"
    store_run(undated, source="import")
    new = split_host(clones.pk, "web2", COMMAND)
    assert set(Run.objects.filter(host_name="web2").values_list("host", flat=True)) == {new.pk}
    hidden.refresh_from_db()
    assert hidden.hidden


def test_a_run_processed_after_the_split_finds_its_host(clones: Host, uploader: ApiClient) -> None:
    run_id = uploader.upload(document("web2", 9)).json()["run_id"]
    new = split_host(clones.pk, "web2", COMMAND)
    run = Run.objects.get(run_id=run_id)
    process_run(run.pk)
    run.refresh_from_db()
    assert run.host_id == new.pk


def test_runs_derived_anew_stay_with_their_hosts(clones: Host) -> None:
    split_host(clones.pk, "web2", COMMAND)
    before = by_host(), latest_rates()
    Run.objects.update(derived_version=DERIVED_VERSION - 1)
    call_command("renew_runs", verbosity=0)
    assert (by_host(), latest_rates()) == before


def test_split_hosts_merge_again_and_are_one_machine_then(
    clones: Host, store_run: StoreRun
) -> None:
    new = split_host(clones.pk, "web2", COMMAND)
    merge_hosts(clones.pk, new.pk, COMMAND)
    assert flagged(clones) == []
    for day, name in ((8, "web1"), (9, "web2"), (10, "web1"), (11, "renamed")):
        assert store_run(document(name, day)).host_id == clones.pk
    clones.refresh_from_db()
    assert (clones.name, flagged(clones)) == ("renamed", [])
    store_run(document("web1", 12))
    assert flagged(clones) == ["renamed", "web1", "web2"]


def test_a_merge_under_a_shared_id_is_undone_with_its_key(
    clones: Host, store_run: StoreRun
) -> None:
    new = split_host(clones.pk, "web2", COMMAND)
    third = store_run(document("web3", 5)).host
    assert third is not None
    merge_hosts(clones.pk, new.pk, COMMAND)
    assert store_run(document("web4", 5)).host_id not in (clones.pk, third.pk)
    again = split_host(clones.pk, "web2", COMMAND)
    assert (again.pk, again.slug) == (new.pk, "web2")
    assert store_run(document("web2", 9)).host_id == new.pk
    assert not HostAlias.objects.filter(machine_name="web2").exists()


def test_a_machine_id_that_came_by_a_merge_is_split(clones: Host, store_run: StoreRun) -> None:
    kept = store_run(document("kept", 1, machine_id="e" * 64)).host
    assert kept is not None
    merge_hosts(kept.pk, clones.pk, COMMAND)
    new = split_host(kept.pk, "web2", COMMAND)
    assert by_host() == {"kept": ["web1", "kept", "web1"], "web2": ["web2", "web2"]}
    assert present_keys(["web1", "web2"]) == ("kept", "web2")
    assert present_id(clones.pk) == kept.pk
    for name, day, host in (("web1", 8, kept.pk), ("web2", 8, new.pk)):
        assert store_run(document(name, day)).host_id == host
    assert store_run(document("other", 9, machine_id="e" * 64)).host_id == kept.pk
    assert store_run(document("other", 9)).host_id not in (kept.pk, new.pk)


def test_a_split_host_that_is_merged_with_another_machine_id(
    clones: Host, store_run: StoreRun
) -> None:
    new = split_host(clones.pk, "web2", COMMAND)
    mended = store_run(document("web2", 20, machine_id="d" * 64)).host
    assert mended is not None
    merge_hosts(mended.pk, new.pk, COMMAND)
    assert store_run(document("web2", 8)).host_id == mended.pk
    assert store_run(document("web1", 8)).host_id == clones.pk
    assert store_run(document("web5", 8)).host_id not in (clones.pk, mended.pk)
    assert flagged(mended) == []


def test_tokens_of_one_host_reach_it_alone(clones: Host, store_run: StoreRun) -> None:
    tokens = {
        name: ApiClient(create_token(name, "upload", host_name=name)) for name in ("web1", "web3")
    }
    assert tokens["web1"].upload(document("web1", 5)).status_code == 202
    assert tokens["web3"].upload(document("web3", 5)).status_code == 403
    split_host(clones.pk, "web2", COMMAND)
    assert tokens["web1"].upload(document("web1", 6)).status_code == 202
    assert tokens["web1"].upload(document("web2", 6)).status_code == 403
    assert tokens["web3"].upload(document("web3", 6)).status_code == 202


def test_one_machine_with_changing_names_is_told_so(clones: Host, store_run: StoreRun) -> None:
    confirm_one_machine(clones.pk, COMMAND)
    store_run(document("web1", 9))
    assert flagged(clones) == []
    for day, name in ((10, "web3"), (11, "web1")):
        store_run(document(name, day))
    assert flagged(clones) == ["web1", "web2", "web3"]


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_a_run_goes_where_those_of_its_name_and_id_are(
    store_run: StoreRun, seed: int
) -> None:
    random = Random(seed)
    identities = [(f"web{n}", machine) for n in range(4) for machine in ("a" * 64, "b" * 64, None)]
    for day in range(25):
        name, machine_id = random.choice(identities)
        known = set(
            Run.objects.filter(host_name=name, machine_id=machine_id).values_list("host", flat=True)
        )
        run = store_run(document(name, day, machine_id=machine_id))
        assert known <= {run.host_id}, (seed, day, name)
        assert len(known) <= 1
        with suppress(EditRefused):
            changed_at_random(random, day)
    assert Run.objects.count() == 25
    assert not Host.objects.filter(runs=None).exists()


def changed_at_random(random: Random, day: int) -> None:
    """Split, merge, rename or leave alone."""
    hosts = list(Host.objects.order_by("id").values_list("pk", flat=True))
    host = random.choice(hosts)
    match random.randrange(6):
        case 0 | 1:
            name = random.choice(Run.objects.filter(host=host).values_list("host_name", flat=True))
            new = split_host(host, name, COMMAND)
            apart = Run.objects.filter(host=host, machine_id=new.machine_id, host_name=name)
            assert not apart.exists()
        case 2 | 3:
            merge_hosts(host, random.choice(hosts), COMMAND)
        case 4:
            rename_host(host, f"editor's {day}", COMMAND)


@pytest.mark.usefixtures("transactional_db")
def test_workers_at_once_beside_a_split_lose_and_mix_nothing() -> None:
    keys = [accepted(document(f"web{n % 3}", n)).pk for n in range(60)]
    processed(keys[:2])
    host = Host.objects.get()
    with ThreadPoolExecutor(4) as workers:
        done = [workers.submit(processed, keys[number::4]) for number in range(4)]
        split_patiently(host, "web1")
    for one in done:
        one.result()
    if flagged(host):  # its third name had come before the split
        split_patiently(host, "web2")
    runs = {key: set(names) for key, names in by_host().items()}
    assert runs == {f"web{n}": {f"web{n}"} for n in range(3)}
    assert Run.objects.filter(status="ready").count() == 60
    assert [len(rates) for rates in latest_rates().values()] == [1, 1, 1]


def processed(keys: list[int]) -> None:
    """As a worker does it, over a connection of its own."""
    try:
        for key in keys:
            process_run(key)
    finally:
        connection.close()


def split_patiently(host: Host, name: str) -> None:
    """Again where a run that was just being begun stood in the way."""
    for _ in range(5):
        with suppress(EditConflict):
            split_host(host.pk, name, COMMAND)
            return


# --- Pages and API


def test_an_editor_splits_on_the_page(clones: Host, editor: Client) -> None:
    page = editor.get(f"/hosts/{clones.pk}/split/").content.decode()
    assert 'value="web1"' in page
    assert 'value="web2"' in page
    answer = editor.post(f"/hosts/{clones.pk}/split/", {"name": "web2"})
    new = Host.objects.get(slug="web2")
    assert answer["Location"] == f"/hosts/{new.pk}/"
    assert "nothing to split" in editor.get(f"/hosts/{clones.pk}/split/").content.decode()
    refused = editor.post(f"/hosts/{clones.pk}/split/", {"name": "web2"})
    assert refused.status_code == 400
    entry = AuditEntry.objects.get(action="host.split")
    assert (entry.actor, entry.object_key) == ("edith", str(clones.pk))
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["runs"], entry.after["kept"]["runs"]) == (4, 2)
    assert len(entry.after["split_off"]["runs"]) == 2


def test_an_editor_says_on_the_page_that_it_is_one_machine(clones: Host, editor: Client) -> None:
    assert "It is one machine" in editor.get(f"/hosts/{clones.pk}/split/").content.decode()
    editor.post(f"/hosts/{clones.pk}/split/", {"one_machine": "1"})
    assert flagged(clones) == []
    assert AuditEntry.objects.get().action == "host.confirm"
    assert "It is one machine" not in editor.get(f"/hosts/{clones.pk}/split/").content.decode()


def api(client: Client, method: str, path: str, body: Any) -> Any:
    call = getattr(client, method)
    return call(f"/api/v1/{path}", json.dumps(body), content_type="application/json")


def test_an_editor_splits_over_the_api(clones: Host, editor: Client) -> None:
    answer = api(editor, "post", f"hosts/{clones.pk}/split/", {"name": "web2"})
    new = Host.objects.get(slug="web2")
    assert answer.status_code == 201
    assert answer.json() == {"id": new.pk, "host": "web2", "name": "web2"}
    again = api(editor, "post", f"hosts/{clones.pk}/split/", {"name": "web2"})
    assert (again.status_code, again.json()["errors"][0]["attr"]) == (400, "name")
    assert api(editor, "post", "hosts/999999/split/", {"name": "x"}).status_code == 404
    assert api(editor, "patch", f"hosts/{new.pk}/", {"one_machine": True}).status_code == 200
