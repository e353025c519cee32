"""Configure Django from environment variables, which `.env.example` describes."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from celery.schedules import crontab
from csp.constants import NONE, SELF
from environs import validate

from config.embedded import celery_url, start_services
from config.env import Env, address, clickhouse_address, postgres_address, redis_address, refuse
from config.production import development_secret_key, weaknesses
from config.sign_in import roles_of_groups, sign_in_faults
from core.log_lines import FORMATS, LEVELS, logging_config

env = Env()
env.add_parser("roles", roles_of_groups)

PROJECT_DIR = Path(__file__).resolve().parent.parent.parent
DATA_DIR = env.path("CIPHERMARK_DATA_DIR", PROJECT_DIR / ".data").absolute()

_ENVIRONMENT = env.str(
    "CIPHERMARK_ENV", "development", validate=validate.OneOf(("development", "production"))
)
PRODUCTION = _ENVIRONMENT == "production"
DEBUG = env.bool("CIPHERMARK_DEBUG", False)
LOG_FORMAT = env.str("CIPHERMARK_LOG_FORMAT", "text", validate=validate.OneOf(FORMATS))
LOG_LEVEL = env.str(
    "CIPHERMARK_LOG_LEVEL", "debug" if DEBUG else "info", validate=validate.OneOf(LEVELS)
)
CIPHERMARK_PUBLIC = env.bool("CIPHERMARK_PUBLIC", False)
# Token of /metrics, which returns 404 if it is empty.
CIPHERMARK_METRICS_TOKEN = env.str("CIPHERMARK_METRICS_TOKEN", "")
CIPHERMARK_KEEP_DAYS = env.int("CIPHERMARK_KEEP_DAYS", None, validate=validate.Range(1, 100_000))
# Number of trusted reverse proxies that append to X-Forwarded-For.
CIPHERMARK_PROXIES = env.int("CIPHERMARK_PROXIES", int(PRODUCTION), validate=validate.Range(0))
# Requests per minute; 0: no limit. One token may upload for a whole site (100/s).
CIPHERMARK_TOKEN_RATE = env.int("CIPHERMARK_TOKEN_RATE", 6000, validate=validate.Range(0))
CIPHERMARK_ADDRESS_RATE = env.int("CIPHERMARK_ADDRESS_RATE", 1200, validate=validate.Range(0))
# URL of ClickHouse; empty: each web process has an analytics copy.
CIPHERMARK_ANALYTICS_URL = env.str("CIPHERMARK_ANALYTICS_URL", "", validate=clickhouse_address)
# Memory limit of the copy; above it, queries are slower.
CIPHERMARK_ANALYTICS_MEMORY = env.str(
    "CIPHERMARK_ANALYTICS_MEMORY",
    "1GB",
    validate=validate.Regexp(
        r"([1-9]\d{0,4}GB|[5-9]\dMB|[1-9]\d{2,5}MB)\Z",
        error="Use a size such as 500MB or 2GB.",
    ),
)
# Used only in production.
SECURE_SSL_REDIRECT = env.bool("CIPHERMARK_SSL_REDIRECT", PRODUCTION) and PRODUCTION
SECURE_HSTS_PRELOAD = env.bool("CIPHERMARK_HSTS_PRELOAD", False) and PRODUCTION
ALLOWED_HOSTS = [host for host in env.list("CIPHERMARK_ALLOWED_HOSTS", [], subcast=str) if host]
# Path prefix of the site, for all URLs and cookies.
CIPHERMARK_PATH = env.str(
    "CIPHERMARK_PATH",
    "",
    validate=validate.Regexp(
        r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?\Z",
        error="Use a path such as /bench, with only letters, digits and . _ ~ -",
    ),
)
# Base URL of links in notifications.
_SITE_URL = env.str("CIPHERMARK_SITE_URL", "", validate=address)
SECRET_KEY = env.str("CIPHERMARK_SECRET_KEY", "")
DATABASE_URL = env.str("DATABASE_URL", "", validate=postgres_address)
# With a transaction pooler, session state does not survive a transaction.
CIPHERMARK_POOLED = env.bool("CIPHERMARK_POOLED", False)
REDIS_URL = env.str("REDIS_URL", "", validate=redis_address)
# Default folder of `manage.py backup`.
BACKUPS_DIR = env.path("CIPHERMARK_BACKUPS_DIR", DATA_DIR / "backups").absolute()

# Single sign-on, off by default, through an OpenID Connect provider (`OIDC_...` are settings of
# mozilla-django-oidc) or an authenticating reverse proxy.
CIPHERMARK_ROLES = env.roles("CIPHERMARK_ROLES", "")
CIPHERMARK_OIDC_ISSUER = env.str(
    "CIPHERMARK_OIDC_ISSUER",
    "",
    validate=validate.Regexp(
        r"https%s://[\w.-]+(:\d{1,5})?(/[^\s?#]*)?\Z" % ("" if PRODUCTION else "?"),
        error="Use the issuer URL in the provider's discovery document, such as"
        " https://id.example.org/realms/main (http:// is for development alone).",
    ),
)
CIPHERMARK_OIDC_GROUPS_CLAIM = env.str("CIPHERMARK_OIDC_GROUPS_CLAIM", "groups")
OIDC_RP_CLIENT_ID = env.str("CIPHERMARK_OIDC_CLIENT_ID", "")
OIDC_RP_CLIENT_SECRET = env.str("CIPHERMARK_OIDC_CLIENT_SECRET", "")
OIDC_RP_SCOPES = env.str("CIPHERMARK_OIDC_SCOPES", "openid profile email")
OIDC_USE_PKCE = True
# The library uses the keys that the provider publishes.
OIDC_RP_SIGN_ALGO = "RS256"
# Timeout of the provider in seconds.
OIDC_TIMEOUT = 10
# Maximum number of pending sign-ins in the cookie.
OIDC_MAX_STATES = 5
OIDC_AUTHENTICATION_CALLBACK_URL = "oidc-callback"
_HEADER = validate.Regexp(
    r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*\Z", error="Use a header such as X-Forwarded-User."
)
CIPHERMARK_PROXY_USER_HEADER = env.str("CIPHERMARK_PROXY_USER_HEADER", "", validate=_HEADER)
CIPHERMARK_PROXY_GROUPS_HEADER = env.str("CIPHERMARK_PROXY_GROUPS_HEADER", "", validate=_HEADER)
# A long minimum, because the number of guesses is not limited.
CIPHERMARK_PROXY_SECRET = env.str("CIPHERMARK_PROXY_SECRET", "", validate=validate.Length(min=20))

env.refuse_faults()
# Warnings for Django's system checks.
UNKNOWN_SETTINGS = env.unknown()
refuse(sign_in_faults(globals()))

if PRODUCTION:
    refuse(weaknesses(globals()))
else:
    ALLOWED_HOSTS = ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]
    SECRET_KEY = SECRET_KEY or development_secret_key(DATA_DIR)
    if not (DATABASE_URL and REDIS_URL):
        services = start_services(DATA_DIR, postgres=not DATABASE_URL, redis=not REDIS_URL)
        DATABASE_URL = DATABASE_URL or services.database_url
        REDIS_URL = REDIS_URL or services.redis_url

CIPHERMARK_PATH = CIPHERMARK_PATH.rstrip("/")
FORCE_SCRIPT_NAME = CIPHERMARK_PATH or None
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{CIPHERMARK_PATH}/"

INSTALLED_APPS = [
    "accounts.admin_config.SiteAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_standardized_errors",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "axes",
    "runs",
    "hosts",
    "compare",
    "changes",
    "recommend",
    "core",
    "accounts",
]

MIDDLEWARE = [
    "core.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "core.middleware.TextGZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.middleware.ProxySignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    *(["accounts.sign_in.oidc_backend.ProviderBackend"] if CIPHERMARK_OIDC_ISSUER else []),
]
# Five wrong passwords lock the pair of name and network (IPv6: /64) for 15 minutes, so that a
# stranger elsewhere cannot lock the owner out. The database counts them, so a restart of Redis
# does not end a lock-out.
AXES_HANDLER = "axes.handlers.database.AxesDatabaseHandler"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "accounts.views.failed.locked_out"
AXES_CLIENT_IP_CALLABLE = "core.middleware.client_network"
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Includes CIPHERMARK_PATH.
CIPHERMARK_SITE_URL = _SITE_URL.rstrip("/").removesuffix(CIPHERMARK_PATH) or (
    f"https://{ALLOWED_HOSTS[0].lstrip('.')}" if PRODUCTION else "http://127.0.0.1:8000"
)

DATABASES = {
    "default": dj_database_url.parse(
        DATABASE_URL,
        conn_max_age=60,
        conn_health_checks=True,
        disable_server_side_cursors=CIPHERMARK_POOLED,
    )
}
# Connection timeout in seconds.
DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
if not CIPHERMARK_POOLED:
    # JIT compilation takes longer than any statement of this site. Sorting the results of ten
    # thousand hosts requires more than the default of 4 MB.
    options = "-c jit=off -c work_mem=32MB -c random_page_cost=1.1"
    DATABASES["default"]["OPTIONS"].setdefault("options", options)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}

CELERY_BROKER_URL = celery_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
# Do not retry while the broker is unavailable, because the work is stored in PostgreSQL.
CELERY_TASK_PUBLISH_RETRY = False
# Acknowledge tasks after completion, so that tasks of a killed worker are repeated.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_SOFT_TIME_LIMIT = 90
# Receivers may be slow, so notifications have separate workers.
CELERY_TASK_ROUTES = {"changes.tasks.send_*": {"queue": "notifications"}}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Workers reconnect to the broker indefinitely.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Maximum wait of an upload for the broker in seconds; the run is already stored.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 1, "socket_timeout": 2}
# Memory limit in KiB after which a worker process is replaced.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000
CELERY_BEAT_SCHEDULER = "config.beat:MemoryScheduler"
# Interval of beat's heartbeat in seconds.
CELERY_BEAT_MAX_LOOP_INTERVAL = 60
# Age after which an accepted run is queued again, because its task was lost.
REQUEUE_AFTER = timedelta(minutes=1)
CELERY_BEAT_SCHEDULE = {
    "clear-sessions": {
        "task": "accounts.tasks.clear_sessions",
        "schedule": crontab(hour=4, minute=0),
    },
    "queue-waiting-runs": {"task": "runs.tasks.queue_waiting_runs", "schedule": REQUEUE_AFTER},
    "prune-old-runs": {"task": "runs.tasks.prune_old_runs", "schedule": 3600.0},
    "find-changes": {
        "task": "changes.tasks.find_changes",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
    "send-notifications": {"task": "changes.tasks.send_notifications", "schedule": 10.0},
    "forget-old-changes": {"task": "compare.tasks.forget_old_changes", "schedule": 3600.0},
}
if CIPHERMARK_ANALYTICS_URL:
    CELERY_BEAT_SCHEDULE["follow-in-clickhouse"] = {
        "task": "compare.tasks.follow_in_clickhouse",
        "schedule": 60.0,  # for changes that tasks have missed
    }

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "compare"
LOGOUT_REDIRECT_URL = "compare"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = f"{CIPHERMARK_PATH}/static/"
STATIC_ROOT = DATA_DIR / "static"
# Source of /docs/.
DOCS_DIR = PROJECT_DIR / "docs"
FRONTEND_DIST = PROJECT_DIR / "frontend" / "dist"
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.is_dir() else []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Maximum size of a decompressed run document in bytes; larger ones get 413.
RUN_DOCUMENT_MAX_BYTES = 2 * 1024 * 1024
# Only the upload page accepts files, with its own limits. By default Django would write files sent
# with any form to disk.
FILE_UPLOAD_HANDLERS = ["runs.views.receiving.NoFiles"]
# The preview has a checkbox for each line of results, up to 5,000 per text.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 12_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 6 * 1024 * 1024
# This file exists while `make run` measures this machine.
MEASURING_FILE = DATA_DIR / "measuring"
AGENT_PACKAGE = PROJECT_DIR / "agent" / "ciphermark_agent"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "core.permissions.BearerTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["core.permissions.MayRead"],
    "DEFAULT_THROTTLE_CLASSES": [
        "core.permissions.TokenThrottle",
        "core.permissions.AddressThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "token": f"{CIPHERMARK_TOKEN_RATE}/min" if CIPHERMARK_TOKEN_RATE else None,
        "address": f"{CIPHERMARK_ADDRESS_RATE}/min" if CIPHERMARK_ADDRESS_RATE else None,
    },
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.json_parser.StrictJsonParser"],
    "DEFAULT_SCHEMA_CLASS": "core.openapi.Schema",
    "EXCEPTION_HANDLER": "drf_standardized_errors.handler.exception_handler",
    # `format` is a parameter of this API (imports), not DRF's renderer selection.
    "URL_FORMAT_OVERRIDE": None,
}

DRF_STANDARDIZED_ERRORS = {"EXCEPTION_HANDLER_CLASS": "core.errors.Handler"}

SPECTACULAR_SETTINGS = {
    "TITLE": "Ciphermark API",
    "DESCRIPTION": "SSH and OpenSSL cipher speed across machines.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["core.permissions.MayRead"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVERS": [{"url": CIPHERMARK_PATH}] if CIPHERMARK_PATH else [],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "core.openapi.complete",
    ],
    # Runs and ciphers both have a status.
    "ENUM_NAME_OVERRIDES": {
        "RunStatusEnum": ["accepted", "ready", "rejected"],
        "CipherStatusEnum": "cipherspeed.cipher_catalogue.STATUSES",
        "ToolEnum": ["ssh", "openssl"],
        "ChangeStatusEnum": "changes.models.FleetChange.Status",
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
if PRODUCTION:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Optional, because preloading applies to whole domains and is hard to undo.
    SILENCED_SYSTEM_CHECKS = [] if SECURE_HSTS_PRELOAD else ["security.W021"]
    # The reverse proxy terminates TLS and sets this header.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in ALLOWED_HOSTS]

LOGGING = logging_config(LOG_FORMAT, LOG_LEVEL)
