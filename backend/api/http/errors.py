"""Errors in the one format of the whole API (drf-standardized-errors)."""

from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from drf_standardized_errors.formatter import ExceptionFormatter
from drf_standardized_errors.handler import ExceptionHandler
from drf_standardized_errors.types import ErrorResponse
from rest_framework import status
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError

from access.sign_in.accounts import SignInRefused
from access.tokens import OtherHost
from documents.validation import Fault
from store.outage import RETRY_AFTER, Unanswerable, outage_message


class InvalidDocument(APIException):
    """400: every fault of an uploaded document by its path."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_code = "invalid"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("The document is not a valid run document.")
        self.faults = faults


class Conflict(APIException):
    """409: the run_id is taken by other content."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"
    default_detail = "This run_id is stored already, with other content."


class Unavailable(APIException):
    """503: not just now; `wait` becomes Retry-After."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "unavailable"
    default_detail = "The database cannot be reached just now; please try again soon."
    wait = RETRY_AFTER


class Handler(ExceptionHandler):
    """The library's handler, which knows nothing of our own exceptions."""

    def convert_known_exceptions(self, exc: Exception) -> Exception:
        """A lost database as 503, another host than the token's as 403, a bad question as 400."""
        words = outage_message(exc)
        if words is not None:
            return Unavailable(f"{words}; please try again soon.")
        if isinstance(exc, SignInRefused):
            return PermissionDenied(str(exc))
        if isinstance(exc, OtherHost):
            return PermissionDenied(exc.sentence)
        if isinstance(exc, Unanswerable):
            return ValidationError({exc.parameter: exc.sentence})
        if isinstance(exc, TooManyFieldsSent):
            most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
            return ValidationError(f"A request has at most {most} parameters.")
        converted: Exception = super().convert_known_exceptions(exc)
        return converted


class Formatter(ExceptionFormatter):
    """The library's format, with each fault of a document as an error of its own."""

    def format_error_response(self, error_response: ErrorResponse) -> object:
        """Faults keep their rule as code and their path as attr."""
        if not isinstance(self.exc, InvalidDocument):
            return super().format_error_response(error_response)
        return {
            "type": "validation_error",
            "errors": [
                {"code": fault.code, "detail": fault.detail, "attr": fault.path or None}
                for fault in self.exc.faults
            ],
        }
