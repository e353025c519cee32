import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from accounts.sign_in.accounts import SignInRefused, record_refusal
from accounts.sign_in.oidc_backend import AnswerRefused
from accounts.sign_in.provider import ProviderUnavailable, library_setting, provider_name
from accounts.views.failed import sign_in_failed

logger = logging.getLogger(__name__)

# Maximum age of a session. A role that the provider changes takes effect at the next sign-in.
SESSION = timedelta(hours=12)

LONGEST_REASON = 100

UNVERIFIED = (
    "The provider's response could not be verified. Sign in again. If the problem"
    " persists, see the log of this site."
)
AWAY = (
    "The sign-in provider, {}, is not reachable. Try again in a minute, or sign in with a local"
    " account and its password."
)
EXPIRED = "This sign-in has expired or was started in another browser. Sign in again."


# Signed cookie that stores the state of a sign-in until the user has a session.
COOKIE = "ciphermark-oidc"

COOKIE_SECONDS = 600


@method_decorator([never_cache, require_GET], name="dispatch")
class _SignInView(View):
    get_settings = staticmethod(library_setting)

    def dispatch(self, request: HttpRequest) -> HttpResponseBase:
        if not settings.CIPHERMARK_OIDC_ISSUER:
            raise Http404
        try:
            return super().dispatch(request)
        except SignInRefused as refused:
            record_refusal(refused)
            return sign_in_failed(request, str(refused), status=403)
        except ProviderUnavailable as error:
            logger.error("cannot reach the OpenID Connect provider: %s", error)
            answer = sign_in_failed(request, AWAY.format(provider_name()), status=503)
            answer["Retry-After"] = "60"
            return answer
        except AnswerRefused as error:
            logger.warning("rejected a response from %s: %s", provider_name(), error)
            return sign_in_failed(request, UNVERIFIED, status=403)
        except SuspiciousOperation:
            return sign_in_failed(request, EXPIRED, status=400)


class Start(_SignInView, OIDCAuthenticationRequestView):  # type: ignore[misc]  # it has no types
    def __init__(self, **options: Any) -> None:
        # The library's __init__ requests the provider's URLs. It runs in get() instead, so that
        # dispatch() can explain an error.
        View.__init__(self, **options)

    def get(self, request: HttpRequest) -> HttpResponse:
        super().__init__()
        own_session, request.session = request.session, _begun(request)
        answer: HttpResponse = super().get(request)
        request.session.save()
        answer.set_cookie(
            COOKIE,
            request.session.session_key or "",
            max_age=COOKIE_SECONDS,
            path=reverse("oidc-start"),
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        request.session = own_session
        return answer


class Callback(_SignInView, OIDCAuthenticationCallbackView):  # type: ignore[misc]  # it has no types
    def get(self, request: HttpRequest) -> HttpResponse:
        reason = request.GET.get("error", "")[:LONGEST_REASON]
        if reason:  # the library would sign the user out, even if the link is forged
            logger.warning("sign-in with %s failed: %r", provider_name(), reason)
            words = f"{provider_name()} rejected the sign-in ({reason}). Sign in again."
            return sign_in_failed(request, words, status=403)
        self.own_session, request.session = request.session, _begun(request)
        try:
            answer: HttpResponse = super().get(request)
        finally:
            request.session = self.own_session
        answer.delete_cookie(COOKIE, reverse("oidc-start"))
        return answer

    @property
    def success_url(self) -> str:
        return self.wanted or resolve_url(settings.LOGIN_REDIRECT_URL)

    def login_success(self) -> HttpResponse:
        self.wanted = self.request.session.get("oidc_login_next")
        self.request.session = self.own_session
        answer: HttpResponse = super().login_success()
        self.request.session.set_expiry(timezone.now() + SESSION)
        return answer

    def login_failure(self) -> HttpResponse:
        # The response has no code, or its state is unknown.
        raise SuspiciousOperation("the sign-in was not started in this browser")


def _begun(request: HttpRequest) -> SessionStore:
    return SessionStore(request.COOKIES.get(COOKIE))
