"""The WSGI application: `gunicorn config.wsgi:application`."""

import logging
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.sub_path import below

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = below(settings.CIPHERMARK_PATH, get_wsgi_application())

# gunicorn's access log has addresses in it, and the address of a share is its secret.
from telemetry.redaction import RedactSecrets  # noqa: E402 - Django's settings come first

logging.getLogger("gunicorn.access").addFilter(RedactSecrets())
