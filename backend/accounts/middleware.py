from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from accounts.sign_in.accounts import SignInRefused
from accounts.sign_in.proxy import person_of_proxy
from accounts.views.failed import sign_in_failed


class ProxySignInMiddleware:
    """Sign in the user that an authenticating proxy names in a request header.

    The sign-in applies to a single request. The header is ignored if a user is already signed in
    through the session.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.CIPHERMARK_PROXY_USER_HEADER:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        by_session = request.user
        request.user = SimpleLazyObject(lambda: _signed_in(request, by_session))  # type: ignore[assignment]  # as Django's own
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a page with status 403 after `SignInRefused`.

        Views raise this exception, because the sign-in starts when a view first reads
        `request.user`.
        """
        if isinstance(error, SignInRefused):
            request.user = AnonymousUser()
            return sign_in_failed(request, str(error), status=403)
        return None


def _signed_in(request: HttpRequest, by_session: User | AnonymousUser) -> User | AnonymousUser:
    if by_session.is_authenticated:
        return by_session
    person = person_of_proxy(request)
    if person is None:
        return by_session
    request.signed_in_by_proxy = True  # type: ignore[attr-defined]  # ours, read by base.html
    return person
