"""Return errors in the common format of the API (drf-standardized-errors)."""

from collections import defaultdict
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from drf_standardized_errors.handler import ExceptionHandler
from rest_framework import status
from rest_framework.exceptions import (
    APIException,
    ErrorDetail,
    PermissionDenied,
    ValidationError,
)

from accounts.sign_in.accounts import SignInRefused
from accounts.tokens import OtherHost
from cipherspeed.validation import InvalidDocument
from core.outage import RETRY_AFTER, outage_message
from runs.editing import EditConflict, EditRefused


class Conflict(APIException):
    """Return 409 because the request conflicts with stored data."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class Unanswerable(LookupError):
    """Report a query that cannot be answered, with a message and the parameter."""

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter, self.sentence = parameter, sentence


class Unavailable(APIException):
    """Return 503 with Retry-After (`wait`)."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "unavailable"
    wait = RETRY_AFTER


class Handler(ExceptionHandler):
    """Extend the library's handler with the exceptions of this project."""

    def convert_known_exceptions(self, exc: Exception) -> Exception:
        """Convert database outages to 503, and a token of another host to 403."""
        words = outage_message(exc)
        if words is not None:
            return Unavailable(f"{words}. Try again in a minute.")
        if isinstance(exc, SignInRefused | OtherHost):
            return PermissionDenied(str(exc))
        if isinstance(exc, EditConflict):
            return Conflict(exc.sentence)
        if isinstance(exc, EditRefused):
            return ValidationError({exc.attr: exc.sentence} if exc.attr else exc.sentence)
        if isinstance(exc, InvalidDocument):
            details = defaultdict[Any, list[ErrorDetail]](list)
            for fault in exc.faults:
                details[fault.path or None].append(ErrorDetail(fault.detail, fault.code))
            return ValidationError(dict(details))
        if isinstance(exc, Unanswerable):
            return ValidationError({exc.parameter: exc.sentence})
        if isinstance(exc, TooManyFieldsSent):
            most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
            return ValidationError(f"Send at most {most} parameters.")
        converted: Exception = super().convert_known_exceptions(exc)
        return converted
