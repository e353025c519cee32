from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import AccessMixin, PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.generic.base import TemplateResponseMixin

from core.parameters import MAX_LENGTH
from runs.models import Host
from runs.models.host import is_number

HOSTS = ("host", "client", "server")
"""URL parameters whose values are keys of hosts."""


class ReaderMixin(AccessMixin, TemplateResponseMixin, View):
    """Redirect users who may not read the site to the sign-in page.

    Also redirect a URL that contains the old key of a merged host to the URL with the current key.
    Return status 400 if the template context contains `faults` (errors in the URL parameters).
    """

    http_method_names = ("get", "head")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not (settings.CIPHERMARK_PUBLIC or request.user.is_authenticated):
            return self.handle_no_permission()
        present = _present_address(request)
        return redirect(present) if present else super().dispatch(request, *args, **kwargs)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        kwargs.setdefault("status", 400 if context.get("faults") else 200)
        return super().render_to_response(context, **kwargs)


@method_decorator(never_cache, name="dispatch")
class EditorMixin(PermissionRequiredMixin):
    request: HttpRequest
    http_method_names: Sequence[str] = ("get", "head", "post")


def _present_address(request: HttpRequest) -> str | None:
    """Return the URL with the current keys of hosts, or None if all keys in the URL are current."""
    named = {
        key
        for name in HOSTS
        for key in request.GET.getlist(name)
        # Digits are ambiguous, because the number of one host can be the name of another.
        if key and len(key) <= MAX_LENGTH and "\x00" not in key and not is_number(key)
    }
    if not named or request.method not in ("GET", "HEAD"):
        return None
    hosts = Host.objects.by_reference(named, exact=True)
    if all(host.slug == key for key, host in hosts.items()):
        return None
    params = request.GET.copy()
    for name in HOSTS:
        keys = (hosts[key].slug if key in hosts else key for key in params.getlist(name))
        if name in params:
            params.setlist(name, list(dict.fromkeys(keys)))
    return f"{request.path}?{params.urlencode()}"
