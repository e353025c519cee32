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
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class Unanswerable(LookupError):
    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter, self.sentence = parameter, sentence


class Unavailable(APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "unavailable"
    wait = RETRY_AFTER  # DRF sends it as Retry-After


class Handler(ExceptionHandler):
    def convert_known_exceptions(self, exc: Exception) -> Exception:
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
