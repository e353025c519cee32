"""Serve the HTTP interface of ClickHouse for tests, with the PyPI package chdb.

python -m tests.clickhouse_server PORT FOLDER
"""

import sys
import threading
from collections import defaultdict
from typing import Any

import chdb
import lz4.frame  # type: ignore[import-untyped]
from werkzeug import Request, Response
from werkzeug.serving import WSGIRequestHandler, make_server

# Maximum bytes of a form field: ClickHouse has this limit (`http_max_field_value_size`), chdb
# has none.
MOST = 131_072

# URL parameters that are not settings
OWN = {
    "query",
    "database",
    "session_id",
    "query_id",
    "client_protocol_version",
    "compress",
    "default_format",
    "wait_end_of_query",
}

FORMAT = "TabSeparated"


class Quiet(WSGIRequestHandler):
    def log_request(self, *_: Any) -> None:
        pass


class Session:
    def __init__(self, folder: str) -> None:
        connect: Any = chdb.connect
        self.connection = connect(folder)
        self.lock = threading.Lock()
        self.settings: dict[str, str] = {}

    def answer(self, asked: Request) -> bytes:
        said = {**asked.args, **asked.form}
        query = said.get("query", "").encode()
        data = b"" if asked.form else asked.get_data()
        if asked.headers.get("Content-Encoding") == "lz4":
            data = lz4.frame.decompress(data)
        statement = query + b"\n" + data if query else data
        form = said.get("default_format") or asked.headers.get("X-ClickHouse-Format") or FORMAT
        if any(len(value.encode()) > MOST for value in asked.form.values()):
            raise ValueError("Field value too long")
        parameters = {
            name.removeprefix("param_"): value
            for name, value in said.items()
            if name.startswith("param_")
        }
        with self.lock:
            for name, value in said.items():
                known = name in OWN or name.startswith("param_")
                if not known and self.settings.get(name) != value:
                    self.connection.query(f"SET {name} = '{value}'")
                    self.settings[name] = value
            if said.get("database"):
                self.connection.query(f"USE {said['database']}")
            found: Any = self.connection.query(statement, form, params=parameters)
            return bytes(found.bytes()) if found is not None else b""


def serve(port: int, folder: str) -> None:
    sessions: defaultdict[str, Session] = defaultdict(lambda: Session(folder))
    making = threading.Lock()

    def application(environ: Any, start: Any) -> Any:
        asked = Request(environ)
        with making:
            session = sessions[asked.args.get("session_id") or asked.form.get("session_id", "")]
        try:
            answer = Response(session.answer(asked), content_type="application/octet-stream")
        except Exception as error:  # noqa: BLE001 - as the server says it
            answer = Response(str(error), 500, {"X-ClickHouse-Exception-Code": "1"})
        return answer(environ, start)

    make_server(
        "127.0.0.1", port, application, threaded=True, request_handler=Quiet
    ).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
