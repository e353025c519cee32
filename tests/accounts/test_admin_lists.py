import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

WRONG = {
    "": ("a\0b", "é'\"", "9" * 30),
    "__regex": ("(", "a\0b"),
    "__year": ("9" * 30, "x"),
    "__gte": ("2026-13-40", "99999-01-01"),
    "__range": ("2026-13-40", "1"),
    "__isnull": ("\\",),
}


def addresses(model: type[Model]) -> list[tuple[str, str]]:
    shown = admin.site._registry[model]
    kinds = {type(field): field.name for field in model._meta.fields}
    asked = [(name, value) for name in ("q", "o", "p", "all", "_to_field") for value in WRONG[""]]
    for name in kinds.values():
        asked += [(name + lookup, value) for lookup, values in WRONG.items() for value in values]
    if shown.date_hierarchy:
        asked += [(f"{shown.date_hierarchy}__{part}", "99999") for part in ("year", "month", "day")]
    return asked


@pytest.mark.parametrize(
    "model", sorted(admin.site._registry, key=str), ids=lambda model: model.__name__
)
def test_no_list_answers_500(model: type[Model], administrator: Client) -> None:
    administrator.raise_request_exception = False
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    failed = [
        address
        for address in addresses(model)
        if administrator.get(url, dict([address])).status_code >= 500
    ]
    assert failed == []
