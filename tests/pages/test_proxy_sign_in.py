import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import ApiToken, AuditEntry, ExternalIdentity
from accounts.tokens import create_token
from tests.conftest import ApiClient
from tests.pages.conftest import page, text_of
from tests.sample_documents import run_document

SECRET = "the-secret-of-the-proxy-in-tests"
PASSWORD = "correct-horse-battery"


@pytest.fixture(autouse=True)
def proxy(settings: Settings) -> None:
    settings.CIPHERMARK_PROXY_USER_HEADER = "X-Forwarded-User"
    settings.CIPHERMARK_PROXY_GROUPS_HEADER = "X-Forwarded-Groups"
    settings.CIPHERMARK_PROXY_SECRET = SECRET
    settings.CIPHERMARK_ROLES = {"bench-admins": "administrator", "bench": "viewer"}


def through_proxy(name: str = "ada", groups: str = "bench", secret: str = SECRET) -> Client:
    headers = {"X-Forwarded-User": name, "X-Forwarded-Groups": groups}
    return Client(headers={**headers, "X-Ciphermark-Proxy-Secret": secret})


def roles(name: str) -> list[str]:
    return list(User.objects.get(username=name).groups.values_list("name", flat=True))


@pytest.mark.django_db
def test_whom_the_proxy_names_is_signed_in_with_the_role_of_their_groups() -> None:
    client = through_proxy(groups="staff, bench")
    said = page(client, "/runs/")
    assert "ada" in text_of(said)
    assert "Sign out" not in said
    assert client.get("/tokens/").status_code == 403
    assert client.get("/api/v1/runs/").status_code == 200
    assert roles("ada") == ["viewer"]
    assert list(AuditEntry.objects.order_by("id").values_list("action", "actor")) == [
        ("account.create", "proxy"),
        ("account.role", "proxy"),
    ]
    assert "sessionid" not in client.cookies
    last_seen = User.objects.get().last_login
    assert last_seen is not None
    page(client, "/runs/")
    assert User.objects.get().last_login == last_seen


@pytest.mark.django_db
def test_the_role_is_that_of_the_groups_of_this_request() -> None:
    assert "Audit log" in page(through_proxy(groups="bench|bench-admins"), "/runs/")
    assert roles("ada") == ["administrator"]
    assert through_proxy().get("/audit/").status_code == 403
    assert roles("ada") == ["viewer"]


@pytest.mark.django_db
def test_who_has_no_role_is_refused_everywhere(settings: Settings) -> None:
    client = through_proxy("bob", "staff")
    for path in ("/", "/runs/", "/docs/"):
        said = text_of(page(client, path, expect=403))
        assert "signed in as bob, but none of your groups has a role on this site" in said
    answer = client.get("/api/v1/runs/")
    assert answer.status_code == 403
    assert "none of your groups has a role" in answer.json()["errors"][0]["detail"]
    assert not User.objects.exists()
    settings.CIPHERMARK_PUBLIC = True
    assert client.get("/runs/").status_code == 403


@pytest.mark.django_db
def test_who_has_a_role_no_more_loses_it_and_their_read_tokens() -> None:
    page(through_proxy(), "/runs/")
    reading = create_token("report", "read", made_by=User.objects.get())
    assert through_proxy(groups="").get("/runs/").status_code == 403
    assert roles("ada") == []
    assert ApiClient(reading).get("/api/v1/runs/").status_code == 401
    entries = AuditEntry.objects.count()
    assert through_proxy(groups="").get("/runs/").status_code == 403
    assert AuditEntry.objects.count() == entries


@pytest.mark.django_db
@pytest.mark.parametrize("secret", ("", "guessed", SECRET + "x", "\xe4" * 20))
def test_without_the_secret_the_headers_count_nothing(
    secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = through_proxy(groups="bench-admins", secret=secret)
    assert client.get("/runs/")["Location"] == "/accounts/login/?next=/runs/"
    assert client.get("/api/v1/runs/").status_code == 401
    assert not User.objects.exists()
    assert "ignored X-Forwarded-User" in caplog.text


@pytest.mark.django_db
def test_nobody_takes_a_local_account_over() -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    client = through_proxy("root")
    page(client, "/runs/")
    assert client.get("/audit/").status_code == 403
    assert ExternalIdentity.objects.get().person != root
    assert roles("root@proxy") == ["viewer"]


@pytest.mark.django_db
def test_a_deactivated_account_stays_shut() -> None:
    page(through_proxy(), "/runs/")
    User.objects.update(is_active=False)
    said = text_of(page(through_proxy(), "/runs/", expect=403))
    assert "The account ada is deactivated on this site." in said


@pytest.mark.django_db
def test_tokens_and_probes_go_on_without_the_proxys_headers(uploader: ApiClient) -> None:
    assert uploader.upload(run_document()).status_code == 202
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/agent.py").status_code == 200


@pytest.mark.django_db
def test_another_site_cannot_act_through_a_browser_that_the_proxy_signs_in() -> None:
    client = Client(
        enforce_csrf_checks=True,
        headers={
            "X-Forwarded-User": "ada",
            "X-Forwarded-Groups": "bench-admins",
            "X-Ciphermark-Proxy-Secret": SECRET,
        },
    )
    page(client, "/tokens/")
    assert client.post("/tokens/", {"name": "n", "scope": "read"}).status_code == 403
    body = json.dumps({"name": "report", "query": ""})
    answer = client.post("/api/v1/shares/", body, content_type="application/json")
    assert answer.status_code == 403
    token = client.cookies["csrftoken"].value
    fields = {"name": "n", "scope": "read", "csrfmiddlewaretoken": token}
    assert client.post("/tokens/", fields).status_code == 200
    assert ApiToken.objects.get().made_by == User.objects.get()
