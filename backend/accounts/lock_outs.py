from typing import Any

from axes.signals import user_locked_out
from django.conf import settings
from django.http import HttpRequest

from accounts.audit import ANONYMOUS, Subject, record


def note_lock_outs() -> None:
    user_locked_out.connect(_record, dispatch_uid="accounts.lock_outs")


def _record(
    sender: object, request: HttpRequest, username: str | None, ip_address: str | None, **_: Any
) -> None:
    # The library repeats the signal for every attempt during a lock-out.
    if getattr(request, "axes_failures_since_start", None) != settings.AXES_FAILURE_LIMIT:
        return
    who = username or "unknown"
    subject = Subject("account", who, who)
    record(ANONYMOUS, "sign-in.lock-out", subject, after={"address": ip_address})
