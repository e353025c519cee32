"""Use the real settings, with a data folder and a database for tests.

Each pytest-xdist worker has a database, a data folder and eight Redis databases.
"""

import os
from pathlib import Path

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SHARED_DIR = Path(
    os.environ.get("CIPHERMARK_DATA_DIR", Path(__file__).parent.parent / ".data/test")
)
os.environ["CIPHERMARK_DATA_DIR"] = str(SHARED_DIR)
# Playwright's event loop runs in the tests' thread, where Django would otherwise refuse to work.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
for name in ("PUBLIC", "ENV", "DEBUG", "ALLOWED_HOSTS"):
    os.environ.pop(f"CIPHERMARK_{name}", None)

from config import settings as real  # noqa: E402
from config.embedded import celery_url  # noqa: E402
from config.settings import *  # noqa: E402, F403


def redis_url(number: int) -> str:
    """Return the URL of a Redis database of this worker. `number`: 0 to 7. Tests use 0."""
    return real.REDIS_URL.replace("db=0", f"db={WORKER * 8 + number}")


REDIS_URL = redis_url(0)
CELERY_BROKER_URL = celery_url(REDIS_URL)
DATA_DIR = SHARED_DIR / f"worker-{WORKER}"
STATIC_ROOT = DATA_DIR / "static"
BACKUPS_DIR = DATA_DIR / "backups"
MEASURING_FILE = DATA_DIR / real.MEASURING_FILE.name
# WhiteNoise warns about a missing folder, and warnings are errors here.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# Render pages from the sources, without `collectstatic` before every test run.
STATIC_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STORAGES = {**STORAGES, "staticfiles": STATIC_FILES}  # noqa: F405
# Do not mistake a slow Redis on a busy host for an outage.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 1, "socket_timeout": 30}
CACHES = {
    "default": {
        **CACHES["default"],  # noqa: F405
        "LOCATION": REDIS_URL,
        "OPTIONS": CELERY_BROKER_TRANSPORT_OPTIONS,
    }
}
# Passwords are hashed slowly on purpose, but tests sign in often.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# Tests send many requests per minute. Tests of the limits set their own.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,  # noqa: F405
    "DEFAULT_THROTTLE_RATES": {"token": None, "address": None},
}
