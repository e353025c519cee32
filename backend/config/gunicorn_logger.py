"""gunicorn's own lines (starts, timeouts, failures) in the form of all others."""

from typing import Any

from gunicorn.glogging import Logger

from config.env import Env
from telemetry.log_lines import FORMATS, LEVELS, formatter
from telemetry.redaction import RedactSecrets


class SiteLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """`--logger-class config.gunicorn_logger.SiteLogger`.

    It writes before Django's settings are read, and in the process that reads none.
    """

    def setup(self, cfg: Any) -> None:
        """Called at the start, and again when gunicorn is told to reload."""
        super().setup(cfg)
        env = Env()
        self.error_log.setLevel(env.choice("CIPHERMARK_LOG_LEVEL", LEVELS).upper())
        for handler in (*self.error_log.handlers, *self.access_log.handlers):
            handler.setFormatter(formatter(env.choice("CIPHERMARK_LOG_FORMAT", FORMATS)))
            handler.addFilter(RedactSecrets())
