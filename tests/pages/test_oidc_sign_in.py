from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import AuditEntry, ExternalIdentity
from accounts.tokens import create_token
from tests.conftest import ApiClient
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, oidc_provider
from tests.pages.conftest import page, text_of

PASSWORD = "correct-horse-battery"
BACKEND = "accounts.sign_in.oidc_backend.ProviderBackend"
ROLES = {"bench-admins": "administrator", "bench-editors": "editor", "bench": "viewer"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with oidc_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, db: None, settings: Settings) -> Iterator[Provider]:
    settings.CIPHERMARK_OIDC_ISSUER = running.url
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.CIPHERMARK_ROLES = ROLES
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, BACKEND]
    running.set_person("u-1", preferred_username="ada", groups=["staff", "bench-editors"])
    yield running
    running.spoil("")


def begin(client: Client, **query: str) -> str:
    answer = client.get("/accounts/oidc/", query)
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def back(client: Client, provider: Provider, address: str, subject: str = "u-1") -> tuple[int, str]:
    answer = client.get(provider.sign_in(address, subject))
    if answer.status_code == 302:
        return 302, str(answer["Location"])
    return answer.status_code, text_of(answer.content.decode())


def sign_in(client: Client, provider: Provider, subject: str = "u-1") -> tuple[int, str]:
    return back(client, provider, begin(client), subject)


def roles(person: User) -> list[str]:
    return list(person.groups.values_list("name", flat=True))


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def test_the_first_sign_in_makes_an_account_with_the_role_of_its_groups(provider: Provider) -> None:
    client = Client()
    assert provider.url.split("//")[1].split(":")[0] in page(client, "/accounts/login/")
    assert back(client, provider, begin(client, next="/runs/?q=a")) == (302, "/runs/?q=a")
    assert "Sign out" in page(client, "/runs/")
    ada = User.objects.get()
    assert (ada.username, roles(ada), ada.is_superuser) == ("ada", ["editor"], False)
    assert not ada.has_usable_password()
    made, role = AuditEntry.objects.order_by("id")
    assert (made.action, made.actor, made.object_name) == ("account.create", provider.url, "ada")
    assert made.after == {"issuer": provider.url, "subject": "u-1"}
    assert (role.action, role.before, role.after) == (
        *("account.role", {"roles": []}, {"roles": ["editor"]}),
    )
    assert page(client, "/tokens/")


def test_the_request_to_the_provider_has_state_nonce_and_pkce(provider: Provider) -> None:
    first, second = (parse_qs(urlsplit(begin(Client())).query) for _ in range(2))
    assert first["response_type"] == ["code"]
    assert first["code_challenge_method"] == ["S256"]
    assert first["scope"] == ["openid profile email"]
    assert first["redirect_uri"] == ["http://testserver/accounts/oidc/callback/"]
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name][0]) >= 32
        assert first[name] != second[name]


def test_the_database_has_no_session_before_the_provider_answers(provider: Provider) -> None:
    client = Client()
    for _ in range(8):  # more than the maximum of pending sign-ins
        address = begin(client)
    assert not Session.objects.exists()
    assert back(client, provider, address) == (302, "/")
    assert Session.objects.count() == 1
    assert not client.cookies["ciphermark-oidc"].value


def test_the_role_is_set_anew_at_each_sign_in(provider: Provider) -> None:
    sign_in(Client(), provider)
    provider.set_person("u-1", preferred_username="ada", groups=["bench", "bench-admins"])
    client = Client()
    assert sign_in(client, provider) == (302, "/")
    assert roles(User.objects.get()) == ["administrator"]
    page(client, "/audit/")
    # Permissions that others have added to the account are removed.
    User.objects.update(is_superuser=True)
    others = Group.objects.create(name="choir")
    User.objects.get().groups.add(Group.objects.get(name="editor"), others)
    provider.set_person("u-1", preferred_username="ada", groups="bench")
    sign_in(client, provider)
    ada = User.objects.get()
    assert (sorted(roles(ada)), ada.is_superuser) == (["choir", "viewer"], False)
    entry = AuditEntry.objects.latest("id")
    assert entry.before == {"roles": ["administrator", "editor"], "superuser": True}
    assert entry.after == {"roles": ["viewer"]}
    assert client.get("/audit/").status_code == 403
    before = actions()
    sign_in(client, provider)
    assert actions() == before


def test_who_has_no_role_is_refused_and_gets_no_account(provider: Provider) -> None:
    provider.set_person("u-2", email="bob@example.org", groups=["staff"])
    client = Client()
    status, said = sign_in(client, provider, "u-2")
    assert status == 403
    assert "signed in as bob@example.org, but none of your groups has a role on this site" in said
    assert not User.objects.exists()
    assert client.get("/runs/").status_code == 302
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.object_name) == ("sign-in.refused", "bob@example.org")
    assert entry.after == {"subject": "u-2", "groups": ["staff"]}


def test_who_has_a_role_no_more_loses_sessions_and_read_tokens(provider: Provider) -> None:
    open_elsewhere = Client()
    sign_in(open_elsewhere, provider)
    reading = create_token("report", "read", made_by=User.objects.get())
    provider.set_person("u-1", preferred_username="ada")
    assert sign_in(Client(), provider)[0] == 403
    assert open_elsewhere.get("/runs/").status_code == 302
    assert ApiClient(reading).get("/api/v1/runs/").status_code == 401
    assert roles(User.objects.get()) == []
    assert actions()[-3:] == ["token.revoke", "account.role", "sign-in.refused"]
    provider.set_person("u-1", preferred_username="ada", groups=["bench"])
    assert sign_in(open_elsewhere, provider)[0] == 302
    assert roles(User.objects.get()) == ["viewer"]


@pytest.mark.parametrize("name", ("root", "ROOT", "root@127.0.0.1"))
def test_nobody_takes_a_local_account_over(provider: Provider, name: str) -> None:
    mail = "root@example.org"
    root = User.objects.create_superuser(name, mail, PASSWORD)
    claims = {"preferred_username": "root", "email": mail, "email_verified": True}
    provider.set_person("u-3", **claims, groups=["bench"])
    sign_in(Client(), provider, "u-3")
    other = ExternalIdentity.objects.get().person
    assert other.pk != root.pk
    assert other.username == ("root" if "@" in name else "root@127.0.0.1")
    root.refresh_from_db()
    assert (root.is_superuser, roles(root)) == (True, [])
    fields = {"username": name, "password": PASSWORD}
    assert Client().post("/accounts/login/", fields).status_code == 302


def test_a_deactivated_account_stays_shut(provider: Provider) -> None:
    sign_in(Client(), provider)
    User.objects.update(is_active=False)
    status, said = sign_in(Client(), provider)
    assert (status, "The account ada is deactivated on this site." in said) == (403, True)
    assert actions()[-1] == "sign-in.refused"


def test_a_password_is_no_way_past_the_provider(provider: Provider) -> None:
    sign_in(Client(), provider)
    ada = User.objects.get()
    ada.set_password(PASSWORD)
    ada.save()
    answer = Client().post("/accounts/login/", {"username": "ada", "password": PASSWORD})
    assert "Sign in through your provider" in text_of(answer.content.decode())
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("fault", "reason"),
    (
        ("signature", "Signature verification failed"),
        ("unsigned", "alg value is not allowed"),
        ("client secret", "alg value is not allowed"),
        ("issuer", "Invalid issuer"),
        ("audience", "Audience doesn't match"),
        ("given to another", "it was issued to another client"),
        ("expired", "Signature has expired"),
        ("not yet valid", "not yet valid (iat)"),
        ("nonce", "Nonce verification failed"),
        ("userinfo", "the user information belongs to another user"),
    ),
)
def test_an_answer_that_is_wrong_signs_nobody_in(
    provider: Provider, fault: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.spoil(fault)
    client = Client()
    status, said = sign_in(client, provider)
    assert (status, "could not be verified" in said) == (403, True)
    assert client.get("/runs/").status_code == 302
    assert not User.objects.exists()
    (line,) = [
        message
        for message in caplog.messages
        if message.startswith("rejected a response from 127.0.0.1")
    ]
    assert reason in line
    assert CLIENT_SECRET not in line


def test_a_code_is_worth_nothing_but_in_the_browser_that_began(provider: Provider) -> None:
    mine, others = Client(), Client()
    stolen = provider.sign_in(begin(others), "u-1")
    for client in (mine, Client()):
        begin(mine)
        answer = client.get(stolen)
        assert answer.status_code == 400
        assert "started in another browser" in text_of(answer.content.decode())
    # Even with a valid state, the code is bound to the verifier of the other browser.
    state = parse_qs(urlsplit(begin(mine)).query)["state"][0]
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    answer = mine.get("/accounts/oidc/callback/", {"code": code, "state": state})
    assert answer.status_code == 403
    assert not User.objects.exists()


def test_a_provider_that_is_away_is_named_and_passwords_still_work(
    provider: Provider, settings: Settings
) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    provider.spoil("500")
    client = Client()
    failing = client.get(provider.sign_in(begin(client), "u-1"))
    settings.CIPHERMARK_OIDC_ISSUER = "http://127.0.0.1:1"
    for answer in (failing, client.get("/accounts/oidc/")):
        assert (answer.status_code, answer["Retry-After"]) == (503, "60")
        said = text_of(answer.content.decode())
        assert "The sign-in provider, 127.0.0.1, is not reachable" in said
    fields = {"username": "root", "password": PASSWORD}
    assert client.post("/accounts/login/", fields).status_code == 302
    assert client.get("/audit/").status_code == 200


def test_nobody_is_led_to_another_site(provider: Provider) -> None:
    client = Client()
    address = begin(client, next="https://evil.example/")
    assert back(client, provider, address) == (302, "/")
