import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from django.conf import settings

from changes.messages import Message, as_text
from changes.models import NotificationChannel

# Apprise needs 40 MB of memory, so only the functions that use Apprise import it.
if TYPE_CHECKING:
    from apprise import Apprise

LONGEST_ERROR = 300
NOT_SENT = "The message was not sent."


class AddressRefused(ValueError):
    pass


def check_address(address: str) -> None:
    """Raise `AddressRefused` if Apprise does not accept the URL of a notification channel."""
    from apprise import Apprise
    from apprise.exception import AppriseException

    try:
        service = Apprise.instantiate(address, suppress_exceptions=False)
    except (AppriseException, TypeError, ValueError) as error:
        raise AddressRefused(f"{error}".rstrip(".") + ".") from None
    if service is None:
        raise AddressRefused("Not a valid Apprise URL; see https://appriseit.com/services/.")
    if service.port is not None and not 0 < service.port < 2**16:
        raise AddressRefused(f"{service.port} is not a valid port; use 1 to 65535.")


def deliver(address: str, message: Message) -> str:
    """Send a message to an Apprise URL.

    Return an empty string after success, otherwise an error message without secrets.
    """
    from apprise import NotifyFormat

    service = _service(address)
    if not len(service):
        return "The URL is no longer valid."
    result = service.notify(
        title=message.subject,
        body=as_text(message, service[0].body_maxlen),
        body_format=NotifyFormat.TEXT,
        notify_type=_TYPES[message.severity],
    )
    if result:
        return ""
    reasons = " ".join(log.message for log in result.logs()) or NOT_SENT
    return _without_secrets(reasons, address)[:LONGEST_ERROR]


Severity = NotificationChannel.Severity
_TYPES = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.CRITICAL: "failure"}


def _service(address: str) -> "Apprise":
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(app_id="Ciphermark", app_url=settings.CIPHERMARK_SITE_URL)
    service = Apprise(asset=asset)
    service.add(address)
    return service


def _without_secrets(text: str, address: str) -> str:
    # Which parts of a URL are secret depends on the service, so all parts are replaced.
    parts = {*re.split(r"[/:@?&=,]+", address), *re.split(r"[/:@?&=,]+", unquote(address))}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) > 3:
            text = text.replace(part, "…")
    return text
