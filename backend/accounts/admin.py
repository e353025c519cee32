from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from accounts.admin_audit import AuditedAdmin, ModelAdmin
from accounts.audit import actor_of
from accounts.models import ApiToken, AuditEntry
from accounts.tokens import end_read_tokens
from compare.models import Share
from runs.models import Host, HostAlias, Run

admin.site.unregister(User)
admin.site.unregister(Group)


class LookOnlyAdmin(ModelAdmin):
    """Show rows without permission to add, change or delete them.

    The admin site would bypass the validation and the audit entries of the site's other pages.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class PeopleAdmin(AuditedAdmin, UserAdmin):
    """Hide superusers from administrators. Only a superuser can create or change a superuser."""

    list_display = ("username", "email", "signs_in", "is_active", "is_superuser", "last_login")
    list_select_related = ("external_identity",)
    list_filter = ("is_active", "groups")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Role", {"fields": ("signs_in", "is_active", "groups", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    filter_horizontal = ("groups",)
    readonly_fields = ("signs_in", "last_login", "date_joined")

    @admin.display(description="Signs in")
    def signs_in(self, person: User) -> str:
        identity = getattr(person, "external_identity", None)
        return (
            f"through {identity.issuer}, with the role of their groups"
            if identity
            else "by password"
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if request.user.is_superuser else (*fields, "is_superuser")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._reaches(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._reaches(request, obj) and super().has_delete_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> Any:
        people = super().get_queryset(request)
        # Bulk actions apply to all listed users, so superusers must not be listed.
        return people if request.user.is_superuser else people.filter(is_superuser=False)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            end_read_tokens(obj, actor_of(request))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        end_read_tokens(obj, actor_of(request))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for person in queryset:
            end_read_tokens(person, actor_of(request))
        super().delete_queryset(request, queryset)

    @staticmethod
    def _reaches(request: HttpRequest, obj: Any) -> bool:
        return bool(request.user.is_superuser or obj is None or not obj.is_superuser)


@admin.register(Group)
class RoleAdmin(LookOnlyAdmin, GroupAdmin):
    pass


@admin.register(Host)
class HostAdmin(LookOnlyAdmin):
    list_display = ("name", "slug", "published", "created_at")
    search_fields = ("name", "slug")


@admin.register(HostAlias)
class HostAliasAdmin(LookOnlyAdmin):
    list_display = ("name", "machine_id", "host", "created_at")
    list_select_related = ("host",)


@admin.register(Run)
class RunAdmin(LookOnlyAdmin):
    list_display = ("host_name", "run_id", "status", "source", "hidden", "received_at")
    list_filter = ("status", "source", "hidden")
    search_fields = ("host_name", "run_id")
    fields = ("hidden", "host_name", "run_id", "status", "rejection", "source", "received_at")


@admin.register(ApiToken)
class ApiTokenAdmin(LookOnlyAdmin):
    list_display = ("name", "scope", "host_name", "created_at", "expires_at", "revoked_at")


@admin.register(Share)
class ShareAdmin(LookOnlyAdmin):
    list_display = ("name", "created_at", "expires_at", "revoked_at")


@admin.register(AuditEntry)
class AuditEntryAdmin(LookOnlyAdmin):
    list_display = ("at", "actor", "action", "object_name")
