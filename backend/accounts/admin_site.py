from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.roles import ADMIN_SITE


class CiphermarkAdminSite(AdminSite):
    """Grant access to users with the permission `ADMIN_SITE` instead of users with `is_staff`."""

    site_header = site_title = "Ciphermark"

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.has_perm(ADMIN_SITE))

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied
        wanted = request.GET.get("next") or reverse("admin:index")
        answer: HttpResponse = redirect_to_login(wanted)
        return answer
