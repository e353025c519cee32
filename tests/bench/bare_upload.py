"""An upload without Django, on the same web server: what Django and DRF are measured against.

Reads, validates and stores a document as the program does. No token, no limit, no run row and no
word to a worker: it shows how near to a bare INSERT any upload by HTTP can come on this machine.
"""

import os
import zlib
from collections.abc import Callable, Iterable
from threading import local
from typing import Any
from uuid import uuid4

import psycopg

from documents.json_text import canonical_json, parse_json
from documents.validation import validate_run_document
from tests.bench.clients import INSERT

Environment = dict[str, Any]
_of_thread = local()


def _connection() -> psycopg.Connection[Any]:
    if not hasattr(_of_thread, "connection"):
        _of_thread.connection = psycopg.connect(os.environ["BENCH_DSN"], autocommit=True)
    connection: psycopg.Connection[Any] = _of_thread.connection
    return connection


def application(
    environment: Environment, start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """202 for a POST that holds a valid document, 200 for everything else."""
    if environment["REQUEST_METHOD"] != "POST":
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]
    sent = environment["wsgi.input"].read(int(environment["CONTENT_LENGTH"]))
    body = zlib.decompress(sent, 16 + zlib.MAX_WBITS)
    document = parse_json(body)
    faults = validate_run_document(document)
    if faults:
        raise ValueError(faults)
    canonical_json(document)
    _connection().execute(INSERT, [uuid4().int % 2**62, body, "0" * 64])
    start_response("202 Accepted", [("Content-Length", "2"), ("Content-Type", "application/json")])
    return [b"{}"]
