"""The settings under test: the real ones, on a data folder and a database of their own."""

import os
from pathlib import Path

DATA_DIR = Path(os.environ.get("CIPHERMARK_DATA_DIR", Path(__file__).parent.parent / ".data/test"))
os.environ["CIPHERMARK_DATA_DIR"] = str(DATA_DIR)
for name in ("PUBLIC", "ENV", "DEBUG", "ALLOWED_HOSTS"):
    os.environ.pop(f"CIPHERMARK_{name}", None)
os.environ.pop("DATABASE_REPLICA_URL", None)
# WhiteNoise warns of a missing folder, and warnings are errors here.
(DATA_DIR / "static").mkdir(parents=True, exist_ok=True)

from config.settings import *  # noqa: E402, F403

# Pages are rendered from the sources, without a `collectstatic` before every test run.
STATIC_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STORAGES = {**STORAGES, "staticfiles": STATIC_FILES}  # noqa: F405
# A busy machine's Redis is not taken for one that is away.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 1, "socket_timeout": 30}
CACHES = {"default": {**CACHES["default"], "OPTIONS": CELERY_BROKER_TRANSPORT_OPTIONS}}  # noqa: F405
# People's passwords are hashed slowly on purpose; tests sign in often.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# Tests ask faster than people; those of the limits set their own.
CIPHERMARK_TOKEN_RATE = CIPHERMARK_ADDRESS_RATE = CIPHERMARK_SIGN_IN_RATE = 0
