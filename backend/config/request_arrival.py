"""How much of an HTTP request has arrived, told from its first bytes. No sockets, no gunicorn."""

import re
from typing import Literal

Arrival = Literal["incomplete", "complete", "large"]

HEAD_END = b"\r\n\r\n"
MOST_BUFFERED = 64 * 1024
"""Bytes that are worth waiting for without a thread; a larger body is read by one."""

_HEADERS_OF_BODY = re.compile(
    rb"\r\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*)", re.I
)


def arrival(received: bytes) -> Arrival:
    """Whether the bytes hold a whole request.

    `large`: they do not, and a thread has to read the rest: the head or the body is longer than
    `MOST_BUFFERED`, has no length (chunked), or is only sent after an answer (`Expect`).
    A request that contradicts itself is `complete`: the server's parser is to refuse it.
    """
    end = received.find(HEAD_END)
    if end < 0:
        return "incomplete" if len(received) < MOST_BUFFERED else "large"
    fields = _HEADERS_OF_BODY.findall(received, 0, end + 2)
    if not fields:
        return "complete"
    if [name.lower() for name, _ in fields] != [b"content-length"]:
        return "large"
    length = fields[0][1].strip()
    if not length.isdigit() or len(length) > 18:
        return "complete"
    whole = end + len(HEAD_END) + int(length)
    if len(received) >= whole:
        return "complete"
    return "incomplete" if whole <= MOST_BUFFERED else "large"
