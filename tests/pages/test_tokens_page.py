import hashlib
import re

from django.test import Client

from accounts.models import ApiToken
from accounts.tokens import create_token
from tests.cases import each
from tests.conftest import ApiClient
from tests.pages.conftest import page, text_of

SECRET = re.compile(r"cmk_[\w-]{43}")


def make(client: Client, expect: int = 200, **fields: str) -> str:
    response = client.post("/tokens/", {"name": "nas", "scope": "upload", **fields})
    assert response.status_code == expect, response.content
    return response.content.decode()


def test_a_new_token_is_shown_once_with_the_line_that_sets_a_host_up(
    administrator: Client,
) -> None:
    html = make(administrator, expires_days="90")
    (secret,) = set(SECRET.findall(html))
    line = (
        "curl -fsO http://testserver/agent.py && "
        f"python3 agent.py run --quick --server http://testserver --token {secret}"
    )
    assert line in text_of(html)
    again = page(administrator, "/tokens/")
    assert not SECRET.search(again)
    assert "nas upload valid" in text_of(again)
    assert ApiToken.objects.get().expires_at is not None


def test_the_token_that_the_page_shows_opens_the_api(administrator: Client) -> None:
    (secret,) = set(SECRET.findall(make(administrator, scope="read")))
    assert ApiClient(secret).get("/api/v1/runs/").status_code == 200
    assert ApiToken.objects.get().last_used_at is not None


def test_a_revoked_token_opens_nothing_any_more(administrator: Client) -> None:
    secret = create_token("old laptop", "read")
    token = ApiToken.objects.get()
    address = f"/tokens/{token.pk}/revoke/"
    assert f'href="{address}"' in page(administrator, "/tokens/")
    assert "This cannot be undone" in text_of(page(administrator, address))
    assert ApiToken.objects.get().is_valid
    response = administrator.post(f"/tokens/{token.pk}/revoke/")
    assert response["Location"] == "/tokens/"
    assert ApiClient(secret).get("/api/v1/runs/").status_code == 401
    assert "old laptop read revoked" in text_of(page(administrator, "/tokens/"))
    first = ApiToken.objects.get().revoked_at
    administrator.post(f"/tokens/{token.pk}/revoke/")
    assert ApiToken.objects.get().revoked_at == first


@each(
    ("fields", "words"),
    (
        ({"name": " "}, "This field is required"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"scope": "admin"}, "Select a valid choice"),
        ({"expires_days": "-5"}, "Select a valid choice"),
    ),
)
def test_what_cannot_be_is_answered_at_its_field(
    administrator: Client, fields: dict[str, str], words: str
) -> None:
    assert words in text_of(make(administrator, expect=400, **fields))
    assert not ApiToken.objects.exists()


def test_the_agent_is_served_with_its_version_and_checksum(
    client: Client, administrator: Client
) -> None:
    response = client.get("/agent.py")
    digest = hashlib.sha256(response.content).hexdigest()
    assert response["Ciphermark-Agent-SHA256"] == digest
    version = response["Ciphermark-Agent-Version"]
    assert f'\n__version__ = "{version}"\n'.encode() in response.content
    assert client.get("/agent.py.sha256").content.decode() == f"{digest}  agent.py\n"
    said = text_of(page(administrator, "/tokens/"))
    assert f"Version {version}" in said
    assert digest in said
