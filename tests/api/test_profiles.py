"""/api/v1/reference-profiles/ and /api/v1/sensitivity/"""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from ingest.tasks import index_profile
from store.models import ReferenceProfile
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document, ssh_measurement

ADDRESS = "/api/v1/reference-profiles/"
GCM = "aes128-gcm@openssh.com"


@pytest.fixture
def manager(db: None) -> Client:
    """Somebody with the permission, and no other."""
    person = User.objects.create_user("manager")
    person.user_permissions.add(Permission.objects.get(codename="add_referenceprofile"))
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, address: str = ADDRESS, expect: int = 202, **body: Any) -> Any:
    response = client.post(address, body, content_type="application/json")
    assert response.status_code == expect, response.content
    return response.json()


def get(client: Client, address: str, expect: int = 200, **query: Any) -> Any:
    response = client.get(address, query)
    assert response.status_code == expect, response.content
    return response.json()


def make(client: Client, name: str, origin: str = "fleet", **body: Any) -> Any:
    """The answer to a request for a profile."""
    return post(client, **{"name": name, "from": origin, **body})


def compared_with(client: Client, other: str, expect: int = 200, **query: Any) -> Any:
    """The profile 2015 and another."""
    return get(client, f"{ADDRESS}2015/compare/", expect, **{"with": other, **query})


@pytest.mark.usefixtures("published")
def test_the_worked_example_over_the_api(manager: Client, reader: ApiClient) -> None:
    answer = make(manager, "ours", reference="macbookpro8-2")
    assert (answer["state"], answer["origin"], answer["run_id"]) == ("computing", "fleet", None)
    assert answer["progress"]["done"] == 0 < answer["progress"]["total"]
    ssh, _ = answer["tools"]
    assert [one["family"] for one in ssh["known"]] == ["arcfour", "blowfish", "3des"]
    assert ssh["unknown"] == []
    assert ssh["fit"]["rms"] > 0
    assert ssh["fit"]["one_family_uncertainty"] > 1
    assert len(ssh["fit"]["largest"]) == 5
    refused = get(reader, "/api/v1/comparison/", 400, metric="normalised", profile="ours")
    assert "still being computed" in refused["errors"][0]["detail"]
    index_profile(answer["id"], 0)
    assert get(reader, f"{ADDRESS}ours/")["state"] == "ready"
    compared = get(
        reader, "/api/v1/comparison/", metric="normalised", profile="ours", group_by="os"
    )
    assert compared["profile"] == "ours"
    assert post(manager, f"{ADDRESS}ours/activate/", 200)["active"] is True
    assert get(reader, "/api/v1/comparison/", metric="normalised")["profile"] == "ours"
    assert get(reader, f"{ADDRESS}2015/")["state"] == "ready"


@pytest.mark.usefixtures("published")
def test_normalised_values_say_how_uncertain_they_are(reader: ApiClient) -> None:
    compared = get(
        reader, "/api/v1/comparison/", metric="normalised", group_by="os", cipher="aes128-ctr"
    )
    factors = {group["label"]: group.get("uncertainty") for group in compared["groups"]}
    # ln(b/a) of the worked example by hand: exp(stdev / sqrt(3)).
    assert factors["Mac OS X"] == {"aes128-ctr": pytest.approx(1.069, abs=5e-4)}
    assert factors["Fedora"] == {"aes128-ctr": pytest.approx(1.027, abs=5e-4)}
    plain = get(reader, "/api/v1/comparison/", group_by="os")
    assert all("uncertainty" not in group for group in plain["groups"])


@pytest.mark.usefixtures("published")
def test_the_same_runs_under_two_profiles(manager: Client, reader: ApiClient) -> None:
    runs = get(reader, "/api/v1/runs/", host="macbookpro8-2")["results"]
    (mac,) = (run for run in runs if "OS X" in run["os"])
    mine = make(manager, "mac", "run", run_id=mac["run_id"])
    index_profile(mine["id"], 0)
    answer = compared_with(reader, "mac", group_by="os")
    levels = {one["family"]: one for one in answer["levels"]}
    assert levels["3des"]["with_level"] == pytest.approx(14.98e6)
    assert levels["3des"]["ratio"] == pytest.approx(14.98 / 19.12631)
    groups = {group["label"]: group["values"]["aes128-ctr"] for group in answer["groups"]}
    assert groups["Mac OS X"]["median"] == pytest.approx(121.70e6, rel=0.002)
    assert groups["Mac OS X"]["with_median"] == pytest.approx(87.18e6, rel=0.002)
    assert groups["Mac OS X"]["ratio"] == pytest.approx(0.7163, rel=0.002)
    alone = get(reader, "/api/v1/comparison/", metric="normalised", group_by="os")
    assert answer["left_out"] == alone["excluded"]["no_baseline"] == 3
    detail = compared_with(reader, "none", 400)["errors"][0]
    assert (detail["attr"], detail["detail"]) == ("with", "There is no reference profile “none”.")


@pytest.mark.parametrize(
    ("body", "attr"),
    (
        ({"from": "fleet"}, "name"),
        ({"name": "x"}, "from"),
        ({"name": "x", "from": "moon"}, "from"),
        ({"name": "x", "from": "run"}, "run_id"),
        ({"name": "x", "from": "run", "run_id": "0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"}, "run_id"),
        ({"name": "2015", "from": "fleet"}, "name"),
        ({"name": "a/b", "from": "fleet"}, "name"),
        ({"name": "x", "from": "fleet", "tools": []}, "tools"),
        ({"name": "x", "from": "fleet", "tools": ["gpg"]}, "tools.0"),
        ({"name": "x", "from": "fleet", "reference": "nobody"}, "reference"),
        ({"name": "x", "from": "fleet", "tools": ["openssl"]}, "tools"),
    ),
)
def test_what_cannot_be_made_is_refused(
    manager: Client, store_run: StoreRun, body: dict[str, Any], attr: str
) -> None:
    store_run(run_document(ssh_measurement("3des-cbc", 2e7)))
    answer = post(manager, expect=400, **body)
    assert answer["type"] == "validation_error"
    assert [one["attr"] for one in answer["errors"]] == [attr]
    assert ReferenceProfile.objects.count() == 1


def test_states_that_forbid_it_are_a_conflict(manager: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("3des-cbc", 2e7)))
    early = make(manager, "early")
    for address in (f"{early['id']}/activate/", "early/activate/", "2015/retire/"):
        answer = post(manager, ADDRESS + address, 409)
        assert answer["errors"][0]["code"] == "conflict"
    assert compared_with(manager, "early", 409)
    index_profile(early["id"], 0)
    assert post(manager, f"{ADDRESS}early/retire/", 200)["state"] == "retired"
    assert post(manager, f"{ADDRESS}early/activate/", 409)
    assert post(manager, f"{ADDRESS}nobody/activate/", 404)
    assert get(manager, f"{ADDRESS}nobody/", 404)


@pytest.mark.parametrize("path", ("%00/", "%00/compare/?with=2015", "2015/compare/?with=%00"))
def test_a_name_that_cannot_be_is_no_profile(reader: ApiClient, path: str) -> None:
    assert reader.get(f"/api/v1/reference-profiles/{path}").status_code in (400, 404)
