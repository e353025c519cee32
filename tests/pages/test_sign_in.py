import json
import logging
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from celery.signals import setup_logging
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string
from pytest_django.fixtures import Settings

from accounts.models import AuditEntry
from accounts.tokens import create_token
from core.log_lines import RedactSecrets, without_secrets
from tests.conftest import ApiClient
from tests.pages.conftest import text_of
from tests.sample_documents import run_document

PASSWORD = "correct-horse-battery"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def sign_in(password: str, name: str = "ada", address: str = "192.0.2.1") -> tuple[int, str]:
    fields = {"username": name, "password": password}
    response = Client(REMOTE_ADDR=address).post("/accounts/login/", fields)
    return response.status_code, response.content.decode()


@pytest.mark.usefixtures("ada")
def test_five_wrong_passwords_shut_the_door_for_that_name_and_address_alone() -> None:
    assert [sign_in("wrong")[0] for _ in range(5)] == [200, 200, 200, 200, 429]
    status, page = sign_in(PASSWORD)
    assert status == 429
    assert "15 minutes" in text_of(page)
    assert sign_in(PASSWORD, address="192.0.2.2")[0] == 302
    (entry,) = AuditEntry.objects.all()
    assert (entry.action, entry.object_name) == ("sign-in.lock-out", "ada")
    assert entry.after == {"address": "192.0.2.1"}


@pytest.mark.django_db
def test_a_file_in_the_form_is_written_nowhere(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(
        "django.core.files.uploadhandler.TemporaryUploadedFile",
        lambda name, *_: written.append(name),
    )
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    file = SimpleUploadedFile("large.bin", b"x" * 4_000_000)
    answer = Client().post("/accounts/login/", {"username": "x", "password": "y", "file": file})
    assert answer.status_code == 200
    assert (written, list(tmp_path.iterdir())) == ([], [])


@pytest.mark.usefixtures("ada")
def test_the_right_password_forgets_the_wrong_ones() -> None:
    for _ in range(2):
        for _ in range(4):
            sign_in("wrong")
        assert sign_in(PASSWORD)[0] == 302


@pytest.mark.parametrize("password", ("short", "12345678901", "password", "ada-ada-ada"))
def test_weak_passwords_are_refused(administrator: Client, password: str) -> None:
    fields = {"username": "ada-ada-ada", "password1": password, "password2": password}
    administrator.post("/admin/auth/user/add/", {**fields, "usable_password": "true"})
    assert not User.objects.filter(username="ada-ada-ada").exists()


@pytest.mark.django_db
def test_the_administration_has_the_same_door(client: Client) -> None:
    response = client.get("/admin/")
    assert response.status_code == 302
    response = client.get(response["Location"])
    assert response["Location"] == "/accounts/login/?next=/admin/"


def test_no_secret_is_in_any_log(ada: User) -> None:
    ada.groups.add(Group.objects.get(name="editor"))
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(RedactSecrets())
    root = logging.getLogger()
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    try:
        secrets = _everything_with_a_secret()
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
    log = written.getvalue()
    assert "/shares/[secret]/" in log
    assert [secret for secret in secrets if secret in log] == []


def _everything_with_a_secret() -> list[str]:
    """Send valid and invalid passwords, tokens and share links. Return all secrets."""
    token, revoked = create_token("nas", "upload"), "cmk_" + "r" * 43
    browser = Client()
    wrong = {"username": "ada", "password": "wrong-password-of-ada"}
    browser.post("/accounts/login/", wrong)
    browser.post("/accounts/login/", {**wrong, "password": PASSWORD})
    ApiClient(token).upload(run_document())
    ApiClient(token).upload({"schema": "x"})
    ApiClient(token).get(f"/api/v1/nothing/{token}/")
    ApiClient(revoked).upload(run_document())
    body = json.dumps({"name": "report", "query": ""})
    made = browser.post("/api/v1/shares/", body, content_type="application/json").json()
    secret = made["url"].rstrip("/").rsplit("/", 1)[1]
    browser.get(f"/shares/{secret}/")
    browser.post(f"/shares/{secret}/")
    browser.post(f"/shares/{made['id']}/revoke/")
    browser.get(f"/shares/{secret}/")
    cookie = browser.cookies["sessionid"].value
    return [token, revoked, PASSWORD, "wrong-password-of-ada", secret, cookie]


def test_worker_and_beat_write_no_secret_either() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        assert setup_logging.send(sender=None), "Celery would set its own logging up"
        assert root.handlers
        for handler in root.handlers:
            assert any(isinstance(log_filter, RedactSecrets) for log_filter in handler.filters)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@pytest.mark.parametrize("way", ("/shares/", "//shares//", "/tokens/?next=%2Fshares%2F"))
def test_the_secret_of_a_share_is_not_logged_however_it_is_asked_for(way: str) -> None:
    said = without_secrets(f"GET {way}abcdefghijklmnopqrstuvwxyz/ 404")
    assert said == f"GET {way}[secret]/ 404"


@pytest.mark.django_db
def test_expired_sessions_are_deleted_each_day(settings: Settings) -> None:
    for days in (-1, 1):
        expiry = timezone.now() + timedelta(days=days)
        Session.objects.create(session_key=f"key{days}", session_data="", expire_date=expiry)
    import_string(settings.CELERY_BEAT_SCHEDULE["clear-sessions"]["task"])()
    assert [session.session_key for session in Session.objects.all()] == ["key1"]
