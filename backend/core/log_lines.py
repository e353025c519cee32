import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

_context: ContextVar[Mapping[str, str]] = ContextVar("_context", default={})  # noqa: B039


def start_context(**fields: str) -> None:
    _context.set(fields)


def add_to_context(**fields: str) -> None:
    _context.set({**_context.get(), **fields})


SECRETS = re.compile(
    r"cmk_[\w-]{8,}|(?P<kept>shares(?:/|%2F)+)[\w-]{20,}|(?<=[?&]code=)[^\s&\"]+"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)",
    re.IGNORECASE,
)
"""Pattern of secrets in log lines: API tokens, secrets of shared links, OpenID Connect codes, and
credentials in URLs.
"""

REMOVED = "[secret]"


def without_secrets(text: str) -> str:
    return SECRETS.sub(lambda found: f"{found['kept'] or ''}{REMOVED}", text)


class RedactSecrets(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        clean = without_secrets(message)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[0] and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = without_secrets(record.exc_text)
        return True


FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        line = super().formatMessage(record)
        context = " ".join(f"{name}={value}" for name, value in _context.get().items())
        return f"{line} [{without_secrets(context)}]" if context else line


class JsonFormatter(logging.Formatter):
    """Format a log record as a JSON object on one line.

    The members are `time` (UTC), `level`, `logger`, `message`, the context (such as `request_id`),
    `exception`, `stack`, and the fields of `extra={"fields": {...}}`.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_context.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_text:
            line["exception"] = record.exc_text  # without secrets (`RedactSecrets`)
        elif record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        return json.dumps({name: _clean(value) for name, value in line.items()}, default=str)


def _clean(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value


def formatter(name: str) -> logging.Formatter:
    return JsonFormatter() if name == "json" else TextFormatter()


def logging_config(format_name: str, level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "core.log_lines.formatter", "name": format_name}},
        "filters": {
            "redact": {"()": "core.log_lines.RedactSecrets"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["redact"],
            },
            "nowhere": {"class": "logging.NullHandler"},
        },
        "loggers": {
            # The log has each request with its status, so Django's warnings are redundant.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # Silence the four lines per sign-in, but not warnings of wrong passwords.
            "axes": {"level": "WARNING"},
            # Silence lines with complete URLs, which contain secrets.
            "apprise": {"level": "WARNING", "handlers": ["nowhere"], "propagate": False},
            "urllib3": {"level": "INFO"},
            # Silence warnings that the response body of HEAD is not sent, which is correct.
            "gunicorn.http.wsgi": {"level": "ERROR"},
            # Silence the two lines per task, because tasks are frequent.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
        "root": {"handlers": ["console"], "level": level.upper()},
    }
