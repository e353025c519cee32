from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.test import Client

from accounts.audit import COMMAND, Subject, record
from accounts.models import ApiToken, AuditEntry
from accounts.tokens import create_token


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


@pytest.mark.django_db
def test_the_database_refuses_to_alter_or_delete_an_entry() -> None:
    record(COMMAND, "test", Subject("thing", 1, "a thing"))
    entry = AuditEntry.objects.get()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AuditEntry.objects.update(actor="somebody else")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        entry.delete()
    with never_emptied(), pytest.raises(IntegrityError, match="never emptied"):  # noqa: SIM117
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("TRUNCATE accounts_auditentry")
    assert AuditEntry.objects.get().actor == "manage.py"


@contextmanager
def never_emptied() -> Iterator[None]:
    # tests/conftest.py disables this trigger, which a real site has.
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_auditentry ENABLE TRIGGER audit_is_never_emptied")
        yield
        cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER audit_is_never_emptied")


def test_tokens_are_made_and_revoked_on_record_without_their_secret(administrator: Client) -> None:
    html = administrator.post("/tokens/", {"name": "nas", "scope": "upload"}).content.decode()
    administrator.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert actions() == ["token.create", "token.revoke"]
    said = administrator.get("/audit/").content.decode()
    assert "root" in said
    assert "cmk_" in html
    assert "cmk_" not in said


def test_the_administration_is_on_record_with_before_and_after(administrator: Client) -> None:
    fields = {"username": "bob", "password1": "long-enough-4u", "password2": "long-enough-4u"}
    administrator.post("/admin/auth/user/add/", {**fields, "usable_password": "true"})
    bob = User.objects.get(username="bob")
    editor = Group.objects.get(name="editor")
    changed = {
        "username": "bob",
        "is_active": "on",
        "groups": [editor.pk],
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
    }
    assert administrator.post(f"/admin/auth/user/{bob.pk}/change/", changed).status_code == 302
    passwords = {"password1": "another-one-4u", "password2": "another-one-4u"}
    administrator.post(
        f"/admin/auth/user/{bob.pk}/password/", {**passwords, "usable_password": "true"}
    )
    administrator.post(f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"})
    assert actions() == ["admin.add", "admin.change", "admin.change", "admin.delete"]
    role, password = AuditEntry.objects.filter(action="admin.change").order_by("id")
    assert (role.before, role.after) == ({"groups": []}, {"groups": ["editor"]})
    assert password.after == {"password": "changed"}
    assert "pbkdf2" not in str([(e.before, e.after) for e in AuditEntry.objects.all()])


def test_the_log_is_shown_page_by_page_and_narrowed(administrator: Client) -> None:
    for number in range(60):
        record(COMMAND, f"test.{number % 2}", Subject("thing", number, f"<b>thing {number}</b>"))
    first = administrator.get("/audit/").content.decode()
    assert "&lt;b&gt;thing 59&lt;/b&gt;" in first
    assert "thing 9&lt;" not in first
    assert "Older" in first
    narrowed = administrator.get("/audit/?action=test.1").content.decode()
    assert "thing 59" in narrowed
    assert "thing 58" not in narrowed


@pytest.mark.django_db
def test_a_namesake_of_a_valid_token_is_refused() -> None:
    create_token("nas", "upload")
    with pytest.raises(ValueError, match="active token has this name"):
        create_token("nas", "read")
    assert actions() == ["token.create"]
