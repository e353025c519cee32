import re
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

_HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


@register
def known_settings(**_: Any) -> list[CheckMessage]:
    return [Warning(sentence, id="ciphermark.W001") for sentence in settings.UNKNOWN_SETTINGS]


@register
def allowed_hosts(**_: Any) -> list[CheckMessage]:
    messages: list[CheckMessage] = [
        Error(
            f"CIPHERMARK_ALLOWED_HOSTS: {host!r} is not a host name.",
            hint="Use only names, without https://, port or path.",
            id="ciphermark.E001",
        )
        for host in settings.ALLOWED_HOSTS
        if not _HOST.fullmatch(host)
    ]
    if settings.PRODUCTION and set(settings.ALLOWED_HOSTS) <= _LOCAL:
        messages.append(
            Warning(
                f"CIPHERMARK_ALLOWED_HOSTS contains only {', '.join(settings.ALLOWED_HOSTS)}.",
                hint="Add the site's host name. Requests with other host names get 400.",
                id="ciphermark.W002",
            )
        )
    return messages
