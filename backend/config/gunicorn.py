"""Configure gunicorn: `gunicorn -c python:config.gunicorn config.wsgi:application`."""

import os
from pathlib import Path
from typing import Any

PROJECT_DIR = Path(__file__).resolve().parent.parent.parent

workers = 2
threads = 4
limit_request_line = 8190
# By default, all gunicorns of the account share one in the home folder.
control_socket_disable = True

# prometheus_client reads it from the environment of each worker process.
_DATA_DIR = os.environ.get("CIPHERMARK_DATA_DIR") or PROJECT_DIR / ".data"
_METRICS = os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", f"{_DATA_DIR}/metrics")


def on_starting(server: Any) -> None:
    folder = Path(_METRICS)
    folder.mkdir(parents=True, exist_ok=True)
    # Delete the metrics of earlier processes.
    for file in folder.glob("*.db"):
        file.unlink()
