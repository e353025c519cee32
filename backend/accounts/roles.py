from typing import Any

from django.apps import AppConfig

VIEWER, EDITOR, ADMINISTRATOR = "viewer", "editor", "administrator"

# Every active account may read results. The groups permit changes.
_VIEWS = frozenset(f"runs.view_{model}" for model in ("run", "host"))
_EDITS = frozenset(
    {
        "runs.add_run",
        "runs.change_run",
        "runs.delete_run",
        "runs.change_host",
        "changes.change_fleetchange",
        "hosts.add_note",
        "hosts.delete_note",
        "compare.add_share",
        "compare.change_share",
        "compare.view_share",
        "accounts.add_apitoken",
    }
)
_ADMINISTERS = frozenset(
    {
        "accounts.view_apitoken",
        "accounts.view_auditentry",
        "runs.view_hostalias",
        "changes.change_notificationchannel",
        "auth.view_group",
        "auth.view_user",
        "auth.add_user",
        "auth.change_user",
        "auth.delete_user",
    }
)

# Permissions (app.codename) by group, least powerful group first.
ROLES: dict[str, frozenset[str]] = {
    VIEWER: _VIEWS,
    EDITOR: _VIEWS | _EDITS,
    ADMINISTRATOR: _VIEWS | _EDITS | _ADMINISTERS,
}

EVERYBODY = "*"  # in CIPHERMARK_ROLES: every user of the provider

ADMIN_SITE = "auth.change_user"  # permission to open /admin/


def make_roles(sender: AppConfig, using: str = "default", **_: Any) -> None:
    """Create a group for each role in `ROLES`, and set the permissions of the group.

    The members of the groups, and groups with other names, do not change.
    """
    # The settings read the role names before models are loaded.
    from django.contrib.auth.models import Group, Permission

    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.using(using).select_related("content_type")
    }
    for name, permissions in ROLES.items():
        group, _created = Group.objects.using(using).get_or_create(name=name)
        group.permissions.set([known[permission] for permission in sorted(permissions)])
