"""The settings under test: the real ones, on a data folder and a database of their own.

Each worker of pytest-xdist has a database, a folder and eight databases of Redis for itself.
"""

import os
from pathlib import Path

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SHARED_DIR = Path(
    os.environ.get("CIPHERMARK_DATA_DIR", Path(__file__).parent.parent / ".data/test")
)
os.environ["CIPHERMARK_DATA_DIR"] = str(SHARED_DIR)
# Playwright's loop runs in the thread of a worker's tests, and Django would refuse to work there.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
for name in ("PUBLIC", "ENV", "DEBUG", "ALLOWED_HOSTS"):
    os.environ.pop(f"CIPHERMARK_{name}", None)

from config import settings as real  # noqa: E402
from config.embedded import celery_url  # noqa: E402
from config.settings import *  # noqa: E402, F403


def redis_url(number: int) -> str:
    """Return the address of one of this worker's databases; its tests use the first."""
    return real.REDIS_URL.replace("db=0", f"db={WORKER * 8 + number}")


REDIS_URL = redis_url(0)
CELERY_BROKER_URL = celery_url(REDIS_URL)
DATA_DIR = SHARED_DIR / f"worker-{WORKER}"
STATIC_ROOT = DATA_DIR / "static"
BACKUPS_DIR = DATA_DIR / "backups"
MEASURING_FILE = DATA_DIR / real.MEASURING_FILE.name
# WhiteNoise warns of a missing folder, and warnings are errors here.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# Pages are rendered from the sources, without a `collectstatic` before every test run.
STATIC_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STORAGES = {**STORAGES, "staticfiles": STATIC_FILES}  # noqa: F405
# A busy machine's Redis is not taken for one that is away.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 1, "socket_timeout": 30}
CACHES = {
    "default": {
        **CACHES["default"],  # noqa: F405
        "LOCATION": REDIS_URL,
        "OPTIONS": CELERY_BROKER_TRANSPORT_OPTIONS,
    }
}
# People's passwords are hashed slowly on purpose; tests sign in often.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# Tests ask faster than people; those of the limits set their own.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,  # noqa: F405
    "DEFAULT_THROTTLE_RATES": {"token": None, "address": None},
}
