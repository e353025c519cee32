import json
import re
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from compare.models import Share
from compare.question import MOST_SPLITS
from tests.cases import each
from tests.conftest import StoreRun
from tests.pages.conftest import page, table_values, text_of
from tests.sample_documents import run_document, ssh_measurement


def made(editor: Client, **fields: object) -> dict[str, str]:
    body = {"query": "tool=ssh&group_by=os", "name": "report", **fields}
    response = editor.post("/api/v1/shares/", json.dumps(body), content_type="application/json")
    assert response.status_code == 201, response.content
    answer: dict[str, str] = response.json()
    return answer


def path_of(share: dict[str, str]) -> str:
    return share["url"].removeprefix("http://testserver")


def test_a_share_shows_its_view_and_leads_nowhere_else(editor: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("aes128-gcm@openssh.com", 400e6)))
    path = path_of(made(editor))
    stranger = Client()
    html = page(stranger, path)
    assert table_values(html) == {"debian-gnu-linux": {"aes128-gcm@openssh.com": 400e6}}
    assert 'id="chart-view"' in html
    assert "SSH pipeline results from 1 host in 1 group" in text_of(html)
    links = set(re.findall(r'(?:href|action)="([^"#]*)"', html))
    assert {link for link in links if not link.startswith("/static/")} <= {
        "",
        f"{path}comparison.csv",
    }
    csv = stranger.get(f"{path}comparison.csv").getvalue()
    assert b"aes128-gcm@openssh.com" in csv
    for elsewhere in ("/", "/hosts/", "/api/v1/comparison/"):
        assert stranger.get(elsewhere).status_code in (302, 401)


def test_a_share_names_a_single_baseline(editor: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("aes128-ctr", 4e8), ssh_measurement("3des-cbc", 2e7)))
    path = path_of(made(editor, query="metric=normalised"))
    said = "Baseline here: 3DES only. Reference host: MacBookPro8,2 with Fedora 21."
    assert said in text_of(page(Client(), path))


def test_the_query_of_the_visitor_changes_nothing(editor: Client, store_run: StoreRun) -> None:
    store_run(run_document(ssh_measurement("aes128-gcm@openssh.com", 400e6)))
    path = path_of(made(editor))
    assert set(table_values(page(Client(), path, group_by="host"))) == {"debian-gnu-linux"}


def test_the_secret_travels_no_further(editor: Client) -> None:
    share = made(editor)
    response = Client().get(path_of(share))
    assert response["Referrer-Policy"] == "no-referrer"
    assert "noindex" in response["X-Robots-Tag"]
    assert "no-store" in response["Cache-Control"]
    stored = Share.objects.get()
    secret = path_of(share).split("/")[2]
    assert secret not in str(stored.__dict__)
    assert secret not in page(editor, "/shares/")


def test_an_expired_or_revoked_link_opens_nothing(editor: Client) -> None:
    expired, revoked = path_of(made(editor)), path_of(made(editor))
    first, second = Share.objects.order_by("id")
    first.expires_at = timezone.now() - timedelta(seconds=1)
    first.save()
    assert editor.post(f"/shares/{second.pk}/revoke/").status_code == 302
    for path in (expired, revoked, "/shares/" + "x" * 43 + "/"):
        assert "This link does not work" in text_of(page(Client(), path, expect=404))
        assert Client().get(f"{path}comparison.csv").status_code == 404


@each(
    ("fields", "attr"),
    (
        ({"query": "tool=gpg"}, "query"),
        ({"query": "group_b=os"}, "query"),
        ({"name": ""}, "name"),
        ({"expires_days": 0}, "expires_days"),
        ({"expires_days": 366}, "expires_days"),
        ({"expires_at": "2026-11-28T00:00:00Z"}, "expires_at"),
    ),
)
def test_what_cannot_be_shared_is_answered_at_its_field(
    editor: Client, fields: dict[str, object], attr: str
) -> None:
    body = json.dumps({"query": "", "name": "report", **fields})
    response = editor.post("/api/v1/shares/", body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"].startswith(attr)


def test_the_compare_page_leads_to_a_link_of_what_it_shows(
    editor: Client, store_run: StoreRun
) -> None:
    store_run(run_document())
    html = page(editor, "/?group_by=os&cipher=aes128-gcm@openssh.com")
    (address,) = re.findall(r'href="(/shares/\?view=[^"]*)"', html)
    form = page(editor, address.replace("&amp;", "&"))
    assert "group_by=os&amp;cipher=aes128-gcm%40openssh.com" in form
    assert 'value="SSH throughput by operating system"' in form
    fields = {"name": "for Bob", "view": "group_by=os", "expires_days": "7"}
    answer = editor.post("/shares/", fields).content.decode()
    (path,) = re.findall(r"http://testserver(/shares/[\w-]{43}/)", answer)
    assert page(Client(), path)
    faulty = {**fields, "view": "tool=gpg"}
    assert "tool:" in text_of(editor.post("/shares/", faulty).content.decode())


def test_a_view_with_too_many_splits_is_said_to_be_so(editor: Client, store_run: StoreRun) -> None:
    for number in range(MOST_SPLITS):
        store_run(run_document(host={"name": f"h{number}"}))
    view = "group_by=os&split_by=host"
    path = path_of(made(editor, query=view))
    page(Client(), path)
    store_run(run_document(host={"name": "another"}))
    sentence = "host has 13 values here. Use filters to select at most 12."
    for answer in (
        Client().get(path),
        Client().get(f"{path}comparison.csv"),
        editor.post("/shares/", {"name": "x", "view": view, "expires_days": "7"}),
        editor.post("/api/v1/shares/", {"name": "x", "query": view}, "application/json"),
    ):
        assert answer.status_code == 400
        assert sentence in answer.content.decode()
