"""A text travelling through a form: its exact bytes, compressed, as letters in a hidden field.

A text area would change line ends and lose the encoding. Compressed, a text of the largest size
that is read (4 MiB) stays below Django's limit for the fields of a form (2.5 MB), unless it is
noise; scripts send it as a file part, which that limit does not touch.
"""

import binascii
import zlib
from base64 import b64decode, b64encode

from parsers.received_text import MAX_BYTES

LEVEL = 6
FIELD_LIMIT = 2_000_000
"""Characters of a packed text that surely pass as a field, beside the other fields."""


class DamagedPacking(ValueError):
    """The field holds nothing that `pack` has made."""


def pack(body: bytes) -> str:
    """The bytes as letters."""
    return b64encode(zlib.compress(body, LEVEL)).decode("ascii")


def unpack(packed: str | bytes) -> bytes:
    """The bytes that were packed; never more than MAX_BYTES of them come into being.

    Raises `DamagedPacking` for anything that `pack` does not make of a text that is read.
    """
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(b64decode(packed, validate=True), MAX_BYTES + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise DamagedPacking(str(error)) from None
    if len(body) > MAX_BYTES or not unpacker.eof or unpacker.unused_data:
        raise DamagedPacking("cut, too long, or with something behind its end")
    return body
