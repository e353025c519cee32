"""The settings under test with a public site, and bare views beside its own as floors."""

from tests.settings import *  # noqa: F403

CIPHERMARK_PUBLIC = True
ROOT_URLCONF = "tests.bench.urls"
