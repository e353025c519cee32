"""When a request has arrived, by its bytes alone."""

from config.request_arrival import MOST_BUFFERED, arrival
from tests.cases import each

POST = b"POST / HTTP/1.1\r\nHost: x\r\n"


@each(
    ("received", "expected"),
    (
        (b"", "incomplete"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", "incomplete"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "complete"),
        (b"GET / HTTP/1.1\r\n\r\nGET / HT", "complete"),
        (b"x" * MOST_BUFFERED, "large"),
        (POST + b"Content-Length: 3\r\n\r\nab", "incomplete"),
        (POST + b"Content-Length: 3\r\n\r\nabc", "complete"),
        (POST + b"content-length :3\r\nX: 1\r\n\r\nab", "incomplete"),
        (POST + b"Content-Length: 0\r\n\r\n", "complete"),
        (POST + b"Content-Length: 100000\r\n\r\nab", "large"),
        (POST + b"Content-Length: 9" + b"9" * 99 + b"\r\n\r\n", "complete"),
        (POST + b"Content-Length: -1\r\n\r\n", "complete"),
        (POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n", "large"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n", "large"),
        (POST + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n", "large"),
        (POST + b"X-Content-Length: 3\r\n\r\n", "complete"),
        (b"GET / HTTP/1.1\r\n\r\nContent-Length: 3\r\n\r\n", "complete"),
    ),
)
def test_how_much_of_a_request_has_arrived(received: bytes, expected: str) -> None:
    assert arrival(received) == expected
