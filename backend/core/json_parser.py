from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from cipherspeed.json_text import JsonError, parse_json


# Defined here because DRF loads parsers before views.
class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


MOST_BYTES = 1024 * 1024


class StrictJsonParser(BaseParser):
    """Parse JSON. Reject a body that is too large or too deeply nested, unlike DRF's parser."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise TooLarge(f"The body exceeds {MOST_BYTES:,} bytes.")
        try:
            return parse_json(body)
        except JsonError as error:
            raise ParseError(f"{error}.") from None
