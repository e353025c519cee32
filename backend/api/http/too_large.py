"""413, apart from the other errors: DRF needs it for its parsers before it can make its views."""

from rest_framework import status
from rest_framework.exceptions import APIException


class TooLarge(APIException):
    """413: the document or text is larger than we take."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
