"""Saved views: whose they are, what is kept, what is refused."""

import pytest
from django.test import Client

from store.models import SavedView
from tests.conftest import StoreRun, signed_in
from tests.pages.conftest import page, text_of
from tests.sample_documents import run_document

FIRST = {"name": "Nightly", "query": "tool=openssl&sort=&page=3&find-cpu=x&more=cpu&q=xeon"}


def test_a_view_is_its_address_without_the_place_in_a_list(
    member: Client, store_run: StoreRun
) -> None:
    store_run(run_document())
    answer = member.post("/views/", FIRST)
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/?tool=openssl&q=xeon"
    html = page(member, "/", q="xeon", tool="openssl", page="2")
    assert "View “ Nightly ”" in text_of(html)


def test_names_tell_views_apart(member: Client) -> None:
    member.post("/views/", FIRST)
    member.post("/views/", {"name": "Weekly", "query": ""})
    answer = member.post("/views/", FIRST)
    assert answer.status_code == 400
    said = text_of(answer.content.decode())
    assert "You have a view called “Nightly” already." in said
    assert "Save it under another name" in said
    weekly = SavedView.objects.get(name="Weekly")
    assert member.post(f"/views/{weekly.pk}/rename/", {"name": "Nightly"}).status_code == 400
    assert member.post(f"/views/{weekly.pk}/rename/", {"name": "Weekly"}).status_code == 302


@pytest.mark.parametrize(
    ("form", "words"),
    (
        ({"name": " ", "query": ""}, "A view needs a name"),
        ({"name": "x" * 101, "query": ""}, "at most 100 characters"),
        ({"name": "a\x00b", "query": ""}, "Null characters"),
        ({"name": "long", "query": "cipher=" + "x" * 9000}, "too much for an address"),
    ),
)
def test_what_cannot_be_saved_is_answered_in_words(
    member: Client, form: dict[str, str], words: str
) -> None:
    answer = member.post("/views/", form)
    assert answer.status_code == 400
    assert words in text_of(answer.content.decode())
    assert not SavedView.objects.exists()


def test_nobody_sees_or_touches_the_views_of_others(member: Client) -> None:
    member.post("/views/", FIRST)
    view = SavedView.objects.get()
    other = signed_in("bob")
    assert "Nightly" not in page(other, "/views/") + page(other, "/")
    for deed in ("rename", "delete"):
        assert other.post(f"/views/{view.pk}/{deed}/", {"name": "mine"}).status_code == 404
    assert other.post("/views/", FIRST).status_code == 302
    assert member.post(f"/views/{view.pk}/delete/").status_code == 302
    assert [str(one.person) for one in SavedView.objects.all()] == ["bob"]
