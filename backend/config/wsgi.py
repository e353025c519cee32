"""The WSGI application: `gunicorn config.wsgi:application`."""

import logging
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()

# gunicorn's access log has addresses in it, and the address of a share is its secret.
from telemetry.redaction import RedactSecrets  # noqa: E402 - Django's settings come first

logging.getLogger("gunicorn.access").addFilter(RedactSecrets())
