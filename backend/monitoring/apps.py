"""The app that looks at the whole site. It has no tables."""

import logging

from django.apps import AppConfig
from django.conf import settings

logger = logging.getLogger(__name__)


class MonitoringConfig(AppConfig):
    """Warns, as every process starts, of settings that nobody reads."""

    name = "monitoring"

    def ready(self) -> None:
        """Called once settings and all apps are loaded."""
        for sentence in settings.UNKNOWN_SETTINGS:
            logger.warning(sentence)
