#!/usr/bin/env python3
import os
import signal
import sys
from pathlib import Path
from types import FrameType


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent / "backend"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import OperationalError
    except ModuleNotFoundError:
        sys.exit(
            "Django is not installed. Use .venv/bin/python manage.py (`make run` creates .venv)."
        )
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except ImproperlyConfigured as fault:
        if "--traceback" in sys.argv:
            raise
        sys.exit(str(fault))
    except OperationalError as fault:
        if "--traceback" in sys.argv:
            raise
        reason = str(fault).partition("\n")[0]
        sys.exit(f"Cannot connect to PostgreSQL ({reason}). Start it, or correct DATABASE_URL.")


def interrupt(number: int, frame: FrameType | None) -> None:
    # Commands stop their child processes in order, as after Ctrl-C.
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
