import json
from typing import Any

from django.db.models import QuerySet

from accounts.models import AuditEntry
from core.access import EditorMixin
from core.views.generic import CursorListView


class AuditLog(EditorMixin, CursorListView):
    permission_required = "accounts.view_auditentry"
    template_name = "accounts/audit.html"

    def get_queryset(self) -> QuerySet[AuditEntry]:
        self.wanted = {
            name: text
            for name in ("action", "actor")
            if (text := self.request.GET.get(name, "").replace("\x00", "")[:200])
        }
        return AuditEntry.objects.filter(**self.wanted)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        context = super().get_context_data(wanted=self.wanted, **context)
        rows = context["object_list"]
        entries = [(entry, _text(entry.before), _text(entry.after)) for entry in rows]
        return context | {"entries": entries}


def _text(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=1) if facts else ""
