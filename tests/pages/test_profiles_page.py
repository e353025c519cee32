"""Reference profiles as people see and manage them: /method/profiles/ and what leads there."""

from typing import Any

import pytest
from django.test import Client

from ingest.tasks import index_profile
from store.models import ReferenceProfile
from tests.conftest import StoreRun
from tests.pages.conftest import page, text_of
from tests.sample_documents import run_document, ssh_measurement


def make(client: Client, expect: int = 302, **fields: Any) -> str:
    asked = {"from": "fleet", "tools": ["ssh", "openssl"], **fields}
    response = client.post("/method/profiles/", asked)
    assert response.status_code == expect, response.content
    return response.content.decode()


@pytest.mark.usefixtures("published")
def test_a_profile_is_made_computed_and_activated_from_the_page(administrator: Client) -> None:
    make(administrator, name="house", reference="macbookpro8-2")
    profile = ReferenceProfile.objects.get(name="house")
    shown = page(administrator, "/method/profiles/")
    assert "house computing" in text_of(shown)
    assert f"0 of {profile.runs_total} runs have their speed index" in text_of(shown)
    assert "1 profile is being computed" in text_of(shown)
    index_profile(profile.pk, 0)
    shown = page(administrator, "/method/profiles/")
    assert "house ready" in text_of(shown)
    assert "data-pending" not in shown
    response = administrator.post(f"/method/profiles/{profile.pk}/activate/")
    assert (response.status_code, response["Location"]) == (302, "/method/profiles/")
    assert "house active" in text_of(page(administrator, "/method/profiles/"))
    assert "2015 ready" in text_of(page(administrator, "/method/profiles/"))


def test_a_profile_that_is_not_ready_is_not_activated_and_the_page_says_why(
    administrator: Client, store_run: StoreRun
) -> None:
    store_run(run_document(ssh_measurement("3des-cbc", 2e7)))
    make(administrator, name="early")
    early = ReferenceProfile.objects.get(name="early")
    html = page_of_post(administrator, f"/method/profiles/{early.pk}/activate/", 409)
    assert "“early” is still being computed: 0 of 1 runs are done." in text_of(html)
    active = ReferenceProfile.objects.get(active=True)
    html = page_of_post(administrator, f"/method/profiles/{active.pk}/retire/", 409)
    assert "activate another one first" in text_of(html)
    assert administrator.post("/method/profiles/987654/retire/").status_code == 404


def page_of_post(client: Client, address: str, expect: int) -> str:
    response = client.post(address)
    assert response.status_code == expect
    return response.content.decode()


@pytest.mark.parametrize(
    ("fields", "said"),
    (
        ({"name": "2015"}, "There is a profile “2015” already."),
        ({"name": "a/b"}, "A name has 1 to 100 letters"),
        ({"name": ""}, "This field is required."),
        ({"name": "x", "tools": []}, "Choose at least one tool."),
        ({"name": "x", "reference": "nobody"}, "No host “nobody” has a baseline of ssh or openssl"),
        ({"name": "x", "tools": ["openssl"]}, "The fleet has no baseline of openssl"),
        ({"name": "x", "from": "run", "run_id": "seven"}, "This is no run id"),
        ({"name": "x", "from": "run", "run_id": "0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"}, "no run"),
    ),
)
def test_what_cannot_be_made_is_refused_in_words(
    administrator: Client, store_run: StoreRun, fields: dict[str, Any], said: str
) -> None:
    store_run(run_document(ssh_measurement("3des-cbc", 2e7)))
    assert said in text_of(make(administrator, 400, **fields))
    assert ReferenceProfile.objects.count() == 1


def test_only_those_who_may_make_a_profile_are_offered_it(member: Client) -> None:
    assert "Make a profile" not in text_of(page(member, "/method/profiles/"))


@pytest.mark.usefixtures("published")
def test_a_run_leads_to_a_profile_made_from_it(administrator: Client, member: Client) -> None:
    runs = administrator.get("/api/v1/runs/?source=published&host=macbookpro8-2").json()["results"]
    run_id = runs[0]["run_id"]
    assert f"/method/profiles/?run={run_id}#from-run" in page(administrator, f"/runs/{run_id}/")
    assert "/method/profiles/?run=" not in page(member, f"/runs/{run_id}/")
    form = page(administrator, "/method/profiles/", run=run_id)
    assert f'name="run_id" maxlength="36" required autocomplete="off" value="{run_id}"' in form
    make(administrator, name="this one", **{"from": "run", "run_id": run_id})
    shown = text_of(page(administrator, "/method/profiles/"))
    assert f"The levels of one run: MacBookPro8,2, Mac OS X 10.10, run {run_id}" in shown
    assert "openssl arcfour unknown: The run did not measure it." in shown


@pytest.mark.usefixtures("published")
def test_the_profile_of_2015_says_how_sure_it_is(member: Client) -> None:
    shown = text_of(page(member, "/method/profiles/"))
    assert "ssh arcfour 179 MB/s ×/÷ 1.35 3" in shown
    assert "blowfish -0.130 on Mac OS X 10.10" in shown


@pytest.mark.usefixtures("published")
def test_the_normalised_view_names_its_profile_and_its_uncertainty(member: Client) -> None:
    html = page(member, "/", metric="normalised", group_by="os")
    assert 'href="/method/profiles/#profile-2015"' in html
    # Mac OS X by hand: ln(b/a) = -0.2927, -0.4638, -0.2443; exp(their stdev / √3) = 1.069.
    assert "aes128-ctr 122 MB/s – ×/÷ 1.07 1" in text_of(html)
    plain = page(member, "/", group_by="os")
    assert "Uncertainty" not in plain


@pytest.mark.usefixtures("published")
def test_menus_offer_what_is_complete_and_not_retired(administrator: Client) -> None:
    for name in ("old", "young"):
        make(administrator, name=name)
    old, young = (ReferenceProfile.objects.get(name=name) for name in ("old", "young"))
    index_profile(old.pk, 0)
    menu = page(administrator, "/", metric="normalised")
    assert '<option value="old">' in menu
    assert '<option value="young">' not in menu
    administrator.post(f"/method/profiles/{old.pk}/retire/")
    assert '<option value="old">' not in page(administrator, "/", metric="normalised")
    kept = page(administrator, "/", metric="normalised", profile="old")
    assert '<option value="old" selected>old (retired)</option>' in kept
    assert "reference profile old" in text_of(kept)
    refused = text_of(page(administrator, "/", 400, metric="normalised", profile="young"))
    assert f"“{young.name}” is still being computed" in refused


@pytest.mark.usefixtures("published")
def test_two_profiles_side_by_side(administrator: Client) -> None:
    make(administrator, name="fleet")
    index_profile(ReferenceProfile.objects.get(name="fleet").pk, 0)
    asked: dict[str, Any] = {"profile": "2015", "with": "fleet", "group_by": "os"}
    html = page(administrator, "/method/profiles/compare/", **asked)
    shown = text_of(html)
    assert "ssh arcfour 179 MB/s" in shown
    assert "Fedora" in shown
    wrong: dict[str, Any]
    for wrong in ({"profile": "2015"}, {"profile": "2015", "with": "x"}, {"tool": "gpg"}):
        refused = page(administrator, "/method/profiles/compare/", 400, **wrong)
        assert "This view cannot be shown" in refused


def test_the_administration_only_shows_profiles(administrator: Client) -> None:
    pk = ReferenceProfile.objects.get().pk
    assert "2015" in page(administrator, "/admin/runs/referenceprofile/")
    address = f"/admin/runs/referenceprofile/{pk}/change/"
    assert 'name="levels"' not in page(administrator, address)
    assert administrator.post(address, {"retired_at_0": "2026-01-01"}).status_code == 403


@pytest.mark.usefixtures("published")
def test_a_retired_profile_is_still_compared_where_an_address_names_it(
    administrator: Client,
) -> None:
    make(administrator, name="old")
    old = ReferenceProfile.objects.get(name="old")
    index_profile(old.pk, 0)
    administrator.post(f"/method/profiles/{old.pk}/retire/")
    asked: dict[str, Any] = {"profile": "2015", "with": "old"}
    html = page(administrator, "/method/profiles/compare/", **asked)
    assert '<option value="old" selected>old (retired)</option>' in html
