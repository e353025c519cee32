from typing import Any

from django.test import Client

from accounts.models import AuditEntry
from accounts.tokens import create_token
from runs.models import Host, HostAlias, Run
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document

MACHINE = "a" * 64


def named(name: str, machine_id: str | None = MACHINE, **more: Any) -> dict[str, Any]:
    return run_document(host={"name": name, "machine_id": machine_id}, **more)


def listed(client: Client | ApiClient) -> dict[str, Any]:
    rows = client.get("/api/v1/hosts/").json()["results"]
    return {row["name"]: row for row in rows}


def test_a_clone_with_another_name_is_another_host_at_once(
    reader: ApiClient, store_run: StoreRun
) -> None:
    for name in ("web1", "web2", "web1", "web2"):
        store_run(named(name))
    rows = listed(reader)
    assert {name: row["runs"] for name, row in rows.items()} == {"web1": 2, "web2": 2}
    assert rows["web1"]["same_machine_id"] == "web2"
    store_run(named("alone", "b" * 64))
    store_run(named("plain", None))
    assert {listed(reader)[name]["same_machine_id"] for name in ("alone", "plain")} == {None}


def test_a_renamed_machine_is_offered_to_be_merged(
    editor: Client, member: Client, store_run: StoreRun
) -> None:
    old = store_run(named("old")).host
    new = store_run(named("new")).host
    assert old is not None
    assert new is not None
    merge = f"/hosts/{new.pk}/merge/{old.pk}/"
    for page in (f"/hosts/{new.pk}/", "/hosts/"):
        assert merge in editor.get(page).content.decode()
        seen = member.get(page).content.decode()
        assert "ame machine ID as" in seen
        assert merge not in seen
    assert member.post(merge).status_code == 403
    assert editor.post(merge)["Location"] == f"/hosts/{new.pk}/"
    assert list(Run.objects.values_list("host", flat=True)) == [new.pk, new.pk]
    row = listed(editor)["new"]
    assert (row["former_names"], row["same_machine_id"]) == (["old"], None)
    for address in (f"/hosts/{old.pk}/", "/hosts/old/"):
        assert editor.get(address)["Location"] == f"/hosts/{new.pk}/"
    assert store_run(named("old")).host == new
    assert store_run(named("third")).host not in (new, old)


def test_a_merge_is_undone_for_later_runs(
    editor: Client, member: Client, store_run: StoreRun
) -> None:
    kept, other = store_run(named("kept")), store_run(named("other", None))
    editor.post(f"/hosts/{kept.host_id}/merge/{other.host_id}/")
    alias = HostAlias.objects.get()
    address = f"/hosts/aliases/{alias.pk}/remove/"
    assert address in editor.get(f"/hosts/{kept.host_id}/").content.decode()
    assert address not in member.get(f"/hosts/{kept.host_id}/").content.decode()
    assert member.post(address).status_code == 403
    assert editor.post(address)["Location"] == f"/hosts/{kept.host_id}/"
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor) == ("host.unalias", "edith")
    assert entry.before == {"name": "other", "machine_id": None, "slug": "other"}
    again = store_run(named("other", None)).host
    assert again is not None
    assert again.pk != kept.host_id
    other.refresh_from_db()
    assert other.host_id == kept.host_id
    assert editor.get("/hosts/other/")["Location"] == f"/hosts/{again.pk}/"
    assert editor.get(f"/hosts/{alias.former_key}/")["Location"] == f"/hosts/{kept.host_id}/"


def test_addresses_of_a_merged_host_outlive_its_name(editor: Client, store_run: StoreRun) -> None:
    old, kept = store_run(named("old")).host_id, store_run(named("new")).host_id
    editor.post(f"/hosts/{kept}/merge/{old}/")
    for name in ("old", "third", "fourth"):
        editor.post(f"/hosts/{kept}/rename/", {"name": name})
        for address in (f"/hosts/{old}/", "/hosts/old/"):
            assert editor.get(address)["Location"] == f"/hosts/{kept}/"
        assert {store_run(named(sent)).host_id for sent in ("old", "new")} == {kept}


def test_a_name_that_only_an_editor_gave_is_followed_no_longer(
    editor: Client, store_run: StoreRun
) -> None:
    host = store_run(named("nas", None)).host_id
    for name in ("a slip", "Cellar"):
        editor.post(f"/hosts/{host}/rename/", {"name": name})
    assert store_run(named("a slip", None)).host_id != host
    assert store_run(named("nas", None)).host_id == host


def test_an_editors_name_stays_and_uploads_of_the_old_one_follow(
    editor: Client, store_run: StoreRun
) -> None:
    host = store_run(named("nas")).host
    assert host is not None
    assert editor.post(f"/hosts/{host.pk}/rename/", {"name": "Cellar"}).status_code == 302
    for name in ("nas", "Cellar"):
        assert store_run(named(name)).host == host
    store_run(named("nas", None))
    assert {name: row["runs"] for name, row in listed(editor).items()} == {"Cellar": 3, "nas": 1}
    assert f"/hosts/{host.pk}/" in editor.get("/hosts/?q=nas").content.decode()


def test_a_refused_name_stays_in_the_form(editor: Client, store_run: StoreRun) -> None:
    host, _ = (store_run(named(name)).host_id for name in ("nas", "web"))
    answer = editor.post(f"/hosts/{host}/rename/", {"name": "web"})
    assert (answer.status_code, answer.context["form"]["name"].value()) == (409, "web")
    assert "“web” is already in use by host web" in answer.content.decode()


def test_a_merged_host_brings_its_own_aliases(editor: Client, store_run: StoreRun) -> None:
    first, second, third = (store_run(named(name)).host_id for name in ("a", "b", "c"))
    editor.post(f"/hosts/{second}/merge/{first}/")
    editor.post(f"/hosts/{third}/merge/{second}/")
    assert editor.get(f"/hosts/{first}/")["Location"] == f"/hosts/{third}/"
    assert store_run(named("a")).host_id == third
    assert Host.objects.count() == 1


def test_a_host_named_by_digits_has_a_key_that_is_no_number(
    editor: Client, store_run: StoreRun
) -> None:
    first = store_run(named("plain", None)).host
    assert first is not None
    host = store_run(named(str(first.pk), None)).host
    assert host is not None
    assert host.slug == f"host-{first.pk}"
    for address in ("/api/v1/runs/?host={}", "/api/v1/comparison/?group_by=host&host={}"):
        number, key = (editor.get(address.format(name)) for name in (first.pk, host.slug))
        assert "plain" in number.content.decode()
        assert "plain" not in key.content.decode()
    assert editor.get(f"/api/v1/hosts/{first.pk}/").json()["name"] == "plain"
    assert editor.get(f"/hosts/host-{first.pk}/")["Location"] == f"/hosts/{host.pk}/"


def test_a_host_without_runs_that_count_leaves_the_lists(
    editor: Client, store_run: StoreRun
) -> None:
    first, second = store_run(named("nas")), store_run(named("nas"))
    editor.post(f"/runs/{first.run_id}/hide/")
    assert listed(editor)["nas"]["last_run_id"] == str(second.run_id)
    editor.post(f"/runs/{second.run_id}/remove/")
    assert listed(editor) == {}
    assert editor.get(f"/hosts/{first.host_id}/").status_code == 404
    editor.post(f"/runs/{first.run_id}/show/")
    assert listed(editor)["nas"]["runs"] == 1


def test_a_token_of_one_host_reaches_no_host_of_another_name(store_run: StoreRun) -> None:
    router = store_run(named("router"))
    bound = ApiClient(create_token("nas only", "upload", host_name="nas"))
    assert bound.upload(named("nas")).status_code == 202
    assert bound.upload(named("router")).status_code == 403
    assert store_run(named("nas")).host_id != router.host_id
