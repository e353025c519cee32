"""The administrator's view of the tables: looking, hiding, revoking; documents stay as sent."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from runs.derived import delete_runs, set_hidden
from runs.models import ApiToken, Environment, Host, ReferenceProfile, Run

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # subscriptable for the type checker only


class ReadOnlyAdmin(ModelAdmin):
    """Rows that only uploads make."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds these by hand."""
        return False


@admin.register(Host)
class HostAdmin(ReadOnlyAdmin):
    """Hosts; a name may be corrected, the slug stays so that links hold."""

    list_display = ("name", "slug", "published", "created_at")
    search_fields = ("name", "slug")
    readonly_fields = ("slug", "machine_id", "published", "created_at")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A host goes with its runs only, never alone."""
        return False


@admin.register(Environment)
class EnvironmentAdmin(ReadOnlyAdmin):
    """Environments as the first run document in each described them."""

    list_display = ("fingerprint", "cpu", "os_version", "openssl", "openssh")
    list_select_related = ("cpu", "os_version", "openssl", "openssh")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Facts are not edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Runs refer to them."""
        return False


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs; hiding one takes it out of every list and statistic and can be undone."""

    list_display = ("host_name", "run_id", "status", "source", "hidden", "received_at")
    list_filter = ("status", "source", "hidden")
    search_fields = ("host_name", "run_id")
    fields = ("hidden", "host_name", "run_id", "status", "rejection", "source", "received_at")
    readonly_fields = fields[1:]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Hiding changes the latest results of the host."""
        set_hidden(obj, obj.hidden)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """So does removing."""
        delete_runs([obj])

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """The same for several."""
        delete_runs(queryset)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens; setting `revoked_at` ends one at once. `manage.py create_token` makes them."""

    list_display = ("name", "scope", "created_at", "expires_at", "revoked_at", "last_used_at")
    readonly_fields = ("scope", "created_at", "last_used_at")


@admin.register(ReferenceProfile)
class ReferenceProfileAdmin(ReadOnlyAdmin):
    """Reference profiles are frozen; they are made, activated and retired at /method/profiles/."""

    list_display = ("name", "state", "origin", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Figures in a report must not move."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Stored speed indices rest on them."""
        return False
