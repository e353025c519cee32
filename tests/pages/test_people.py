import pytest
from django.contrib.auth.models import Group, User

from accounts.models import ApiToken, AuditEntry
from accounts.tokens import create_token
from tests.conftest import ApiClient, signed_in
from tests.pages.conftest import page, text_of


def form_of(person: User, **fields: object) -> dict[str, object]:
    dates = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    return {"username": person.username, "is_active": "on", **dates, **fields}


@pytest.mark.django_db
def test_an_administrator_gives_roles_and_no_more() -> None:
    administrator = signed_in("administrator", "administrator")
    bob = User.objects.create_user("bob")
    address = f"/admin/auth/user/{bob.pk}/change/"
    editor = Group.objects.get(name="editor")
    fields = form_of(bob, groups=[editor.pk], is_superuser="on", user_permissions=[1])
    assert administrator.post(address, fields).status_code == 302
    bob.refresh_from_db()
    assert [group.name for group in bob.groups.all()] == ["editor"]
    assert (bob.is_superuser, bob.user_permissions.exists()) == (False, False)


@pytest.mark.django_db
def test_a_superuser_is_out_of_an_administrators_reach() -> None:
    administrator = signed_in("administrator", "administrator")
    root = User.objects.create_superuser("root", password="correct-horse-battery")
    for path in ("change", "password", "delete"):
        response = administrator.get(f"/admin/auth/user/{root.pk}/{path}/")
        assert response.status_code in (302, 403, 404), path
        assert response.headers.get("Location", "/admin/") == "/admin/"
    assert "root" not in text_of(page(administrator, "/admin/auth/user/"))
    chosen = {"action": "delete_selected", "_selected_action": [root.pk], "post": "yes"}
    administrator.post("/admin/auth/user/", chosen)
    root.refresh_from_db()
    assert root.check_password("correct-horse-battery")


@pytest.mark.django_db
def test_an_editor_sees_and_revokes_his_own_tokens_alone() -> None:
    editor = signed_in("editor", "editor")
    create_token("somebody else's", "read")
    editor.post("/tokens/", {"name": "mine", "scope": "upload", "host_name": "nas"})
    said = text_of(page(editor, "/tokens/"))
    assert "mine" in said
    assert "host nas" in said
    assert "somebody else's" not in said
    other, mine = ApiToken.objects.order_by("id")
    assert editor.post(f"/tokens/{other.pk}/revoke/").status_code == 404
    assert editor.post(f"/tokens/{mine.pk}/revoke/").status_code == 302
    assert [token.is_valid for token in ApiToken.objects.order_by("id")] == [True, False]
    assert "somebody else's" in text_of(
        page(signed_in("administrator", "administrator"), "/tokens/")
    )


@pytest.mark.django_db
@pytest.mark.parametrize("ending", ("deactivated", "deleted", "deleted with others"))
def test_who_leaves_reads_by_no_token_but_machines_go_on_uploading(ending: str) -> None:
    administrator, bob = (
        signed_in("administrator", "administrator"),
        User.objects.create_user("bob"),
    )
    reading, uploading = (
        create_token(scope, scope, made_by=bob, host_name="") for scope in ("read", "upload")
    )
    path = f"/admin/auth/user/{bob.pk}"
    if ending == "deactivated":
        administrator.post(f"{path}/change/", form_of(bob, is_active=""))
    elif ending == "deleted":
        administrator.post(f"{path}/delete/", {"post": "yes"})
    else:
        chosen = {"action": "delete_selected", "_selected_action": [bob.pk], "post": "yes"}
        administrator.post("/admin/auth/user/", chosen)
    assert ApiClient(reading).get("/api/v1/runs/").status_code == 401
    assert ApiClient(uploading).upload({}).status_code == 400
    entry = AuditEntry.objects.get(action="token.revoke")
    assert (entry.actor, entry.object_name) == ("administrator", "read")


@pytest.mark.django_db
def test_each_role_finds_its_own_pages_in_the_header() -> None:
    names = ("Upload", "Tokens", "Shared links", "Audit log", "Administration")
    links = {
        role: [name for name in names if f">{name}<" in html]
        for role in ("viewer", "editor", "administrator")
        for html in [page(signed_in(role, role), "/runs/")]
    }
    assert links == {
        "viewer": [],
        "editor": ["Upload", "Tokens", "Shared links"],
        "administrator": ["Upload", "Tokens", "Shared links", "Audit log", "Administration"],
    }
