from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest, FieldError, ValidationError
from django.db import DataError, ProgrammingError, transaction
from django.db.models import Model
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from accounts.audit import Subject, actor_of, record

NOT_UNDERSTOOD = (
    *(ValueError, TypeError, LookupError, OverflowError),
    *(ValidationError, FieldError, DataError, ProgrammingError),
)

SECRET_FIELDS = frozenset({"password", "digest"})


def snapshot(row: Model) -> dict[str, Any]:
    facts = model_to_dict(row, exclude=[*SECRET_FIELDS, "body"])
    return {
        name: sorted(str(entry) for entry in value) if isinstance(value, list) else value
        for name, value in facts.items()
    }


def difference(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    changed = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in changed}, {name: after[name] for name in changed}


class ModelAdmin(admin.ModelAdmin):
    """Return status 400 if the URL of a list contains a filter that the database rejects."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        try:
            with transaction.atomic():
                answer = super().changelist_view(request, extra_context)
                # Some filters are evaluated only when the template is rendered.
                return answer.render() if isinstance(answer, TemplateResponse) else answer
        except NOT_UNDERSTOOD as error:
            raise BadRequest(f"{request.path} does not support this filter") from error


class AuditedAdmin(ModelAdmin):
    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row = super().get_object(request, *args, **kwargs)
        if row is not None:
            request.audit_before = snapshot(row)  # type: ignore[attr-defined]  # ours, read by log_change
        return row

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        record(actor_of(request), "admin.add", Subject.of(obj), after=snapshot(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        now = type(obj)._default_manager.get(pk=obj.pk)
        before, after = difference(getattr(request, "audit_before", {}), snapshot(now))
        if "password" in str(message).lower():
            after["password"] = "changed"  # noqa: S105 - that it was, not what it is
        record(actor_of(request), "admin.change", Subject.of(obj), before, after)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Iterable[Any]) -> Any:
        for row in queryset:
            record(actor_of(request), "admin.delete", Subject.of(row), before=snapshot(row))
        return super().log_deletions(request, queryset)  # type: ignore[arg-type]  # Django gives lists too
