import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import AuditEntry
from core.access import permission_page
from core.paging import page_of


@require_safe
@permission_page("accounts.view_auditentry")
def audit_page(request: HttpRequest) -> HttpResponse:
    """Show the audit log, optionally filtered by `action` and `actor`."""
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
    return render(request, "accounts/audit.html", context)


def _text(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=1) if facts else ""
