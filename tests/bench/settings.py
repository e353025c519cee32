"""The settings under test with a public site, and bare views beside its own as floors."""

from tests.settings import *  # noqa: F403
from tests.settings import LOGGING

CIPHERMARK_PUBLIC = True
ROOT_URLCONF = "tests.bench.urls"
# Addresses are tried that take no GET; that is no news.
LOGGING["loggers"] = {"django.request": {"level": "ERROR"}}
