import logging
import re
from datetime import timedelta
from hmac import compare_digest

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from accounts.sign_in.accounts import ExternalPerson, account_of

logger = logging.getLogger(__name__)

ISSUER = "proxy"

SECRET_HEADER = "X-Ciphermark-Proxy-Secret"  # noqa: S105 - the name of a header

# Every request is a sign-in, so `last_login` is updated only after this interval.
SEEN_RESOLUTION = timedelta(hours=1)


def person_of_proxy(request: HttpRequest) -> User | None:
    name = _value(request, settings.CIPHERMARK_PROXY_USER_HEADER)
    if not name:
        return None
    given = request.headers.get(SECRET_HEADER, "")
    # Without the secret, a client that bypasses the proxy could forge the header of the user.
    if not compare_digest(given.encode(), settings.CIPHERMARK_PROXY_SECRET.encode()):
        logger.warning(
            "ignored %s: the request has no valid %s header",
            settings.CIPHERMARK_PROXY_USER_HEADER,
            SECRET_HEADER,
        )
        return None
    groups = re.split(r"[,|]", _value(request, settings.CIPHERMARK_PROXY_GROUPS_HEADER))
    named = frozenset(group.strip() for group in groups)
    person = account_of(ExternalPerson(ISSUER, name, name, named - {""}))
    _note_use(person)
    return person


def _value(request: HttpRequest, header: str) -> str:
    value = request.headers.get(header, "") if header else ""
    # Proxies send UTF-8, but WSGI decodes headers as Latin-1.
    return value.encode("latin-1", "replace").decode("utf-8", "replace").strip()


def _note_use(person: User) -> None:
    now = timezone.now()
    if person.last_login is None or now - person.last_login > SEEN_RESOLUTION:
        User.objects.filter(pk=person.pk).update(last_login=now)
