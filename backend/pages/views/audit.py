"""The audit log: who changed what, the latest first."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pages.paging import page_of
from pages.views.editing import editors
from store.models import AuditEntry


@require_safe
@editors("runs.view_auditentry")
def audit_page(request: HttpRequest) -> HttpResponse:
    """Entries page by page; `action` and `actor` narrow them."""
    wanted = {
        name: text
        for name in ("action", "actor")
        if (text := request.GET.get(name, "").replace("\x00", "")[:200])
    }
    page = page_of(AuditEntry.objects.filter(**wanted), request.GET)
    context = {
        "page": page,
        "entries": [(entry, _text(entry.before), _text(entry.after)) for entry in page.rows],
        "wanted": wanted,
    }
    return render(request, "pages/audit.html", context)


def _text(facts: Any) -> str:
    """Facts as readable text; empty for none."""
    return json.dumps(facts, ensure_ascii=False, indent=1) if facts else ""
