"""Settings, all from environment variables; without any of them the program runs on SQLite and a local worker.

DATABASE_URL, CELERY_BROKER_URL, SECRET_KEY, ALLOWED_HOSTS, ARTIFACT_ROOT are described in docs/settings.md.
"""

import contextlib
import os
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.addresses import default_site, read_names, trusted_origins
from config.folders import DATABASE, SECRET, data_folder, is_collected, make_database, make_private
from config.proxies import read_proxies
from config.single_sign_on import ACCOUNT_MIDDLEWARE, read_single_sign_on
from core.zones import read_zone

# Arrow gives memory back when it is done with it, unlike its usual pool; read when pyarrow is first imported.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# How often threads of torch look whether others are done before they sleep. With its own 300,000 they keep cores busy
# for milliseconds, and on cores that other work uses too, training and ranking take several times as long; with 10,000
# they are as fast as with those on cores of their own. Read when torch is first imported.
os.environ["GOMP_SPINCOUNT"] = os.environ.get("GOMP_SPINCOUNT", "10000")
BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("TRIPLEPOOL_VAR") or data_folder(BASE_DIR)).resolve()
make_private(VAR)


def _local_secret_key() -> str:
    """Return the secret key of a local installation, made once and readable by its owner only."""
    path = VAR / SECRET
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text().strip()


DEBUG = os.environ.get("DEBUG", "") == "1"
# An installation that names its hosts is in production: its key must come from outside.
PRODUCTION = bool(os.environ.get("ALLOWED_HOSTS"))
_hosts = os.environ.get("ALLOWED_HOSTS", "").split(",")
ALLOWED_HOSTS = [host.strip() for host in _hosts if host.strip()] or ["127.0.0.1", "localhost", "[::1]"]
SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY:
    if PRODUCTION:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set, but ALLOWED_HOSTS is: set SECRET_KEY to a long random string "
            "(python -c 'import secrets; print(secrets.token_urlsafe(50))')."
        )
    SECRET_KEY = _local_secret_key()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "core",
    "pooling",
    "annotation",
    "evaluation",
]

# What whoever asks for /metrics has to send (config/metrics.py). Empty: there is no such address.
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
MIDDLEWARE = [
    "config.stack.roomy_stack",
    "config.request_ids.RequestIds",
    *(["config.metrics.Metrics"] if METRICS_TOKEN else []),
    "config.health.Health",
    "config.proxies.TrustProxies",  # first: all others may ask who sent the request, and how
    "django.middleware.security.SecurityMiddleware",
    "config.compression.CompressPages",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.caching.KeepPrivate",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.languages.SpeakLanguage",
    "config.time_zones.TellTime",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.problems.ShowUserErrors",
    "axes.middleware.AxesMiddleware",
]

# Single sign-on by allauth; without its settings allauth is not imported.
try:
    SINGLE_SIGN_ON = read_single_sign_on(os.environ, production=PRODUCTION)
    if SINGLE_SIGN_ON.providers:
        import allauth  # noqa: F401
except ModuleNotFoundError as error:
    raise ImproperlyConfigured(
        f"OIDC_ISSUER or SAML_METADATA is set, but there is no {error.name}: pip install 'triplepool[sso]'."
    ) from error
INSTALLED_APPS += SINGLE_SIGN_ON.apps
MIDDLEWARE += [ACCOUNT_MIDDLEWARE] if SINGLE_SIGN_ON.providers else []
globals().update(SINGLE_SIGN_ON.settings)
PASSWORD_SIGN_IN = SINGLE_SIGN_ON.passwords
if not PASSWORD_SIGN_IN:
    MIDDLEWARE.append("config.sign_in.WithoutPasswords")
# The last one is that of every session.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "config.sign_in.Accounts" if PASSWORD_SIGN_IN else "config.sign_in.NoPassword",
]
AXES_FAILURE_LIMIT = "config.sign_in.tries"
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # then "wait fifteen minutes" is true
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "config.sign_in.address_of"
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.navigation.navigation",
            ],
            # one way to write a system and the parts of a page, in every template
            "builtins": ["pooling.templatetags.system_names", "core.templatetags.components"],
        },
    }
]

_database_url = os.environ.get("DATABASE_URL", "")
try:
    _database = dj_database_url.parse(
        _database_url or f"sqlite:///{VAR / DATABASE}", conn_max_age=60, conn_health_checks=True
    )
except ValueError:
    _database = {}
if _database.get("ENGINE") not in ("django.db.backends.sqlite3", "django.db.backends.postgresql"):
    raise ImproperlyConfigured(  # without the value, which has a password
        "DATABASE_URL is no address of a database: write postgresql://USER:PASSWORD@HOST:5432/NAME, or leave it out "
        "for SQLite. In the password, write each of : / ? # @ % as in a web address: @ is %40."
    )
DATABASES = {"default": _database}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    if not _database_url:
        make_database(VAR / DATABASE)
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64000;",
    }
else:
    # from their first use on, for statements of core/fixed.py; others are never prepared
    _prepare = None if os.environ.get("DATABASE_PREPARE") == "0" else 0
    DATABASES["default"].setdefault("OPTIONS", {})["prepare_threshold"] = _prepare
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
] + [{"NAME": "core.people.tokens.EndsTokens"}]

# E-mail is sent only if a mail server is named; otherwise pages say so and show links to hand over.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_IS_SET = bool(EMAIL_HOST)
EMAIL_PORT = int(os.environ.get("EMAIL_PORT", "25"))
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = os.environ.get("EMAIL_USE_TLS", "") == "1"
EMAIL_TIMEOUT = 10  # seconds that a page waits for one answer of a mail server; for a whole mail: core/mail.py
EMAIL_BACKEND = "core.mail.Backend"
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL", "triplepool@localhost")

# Hosts that webhooks may go to (annotation/webhooks/addresses.py); none: the site sends none.
WEBHOOK_HOSTS = read_names(os.environ.get("WEBHOOK_HOSTS", ""))
WEBHOOK_PRIVATE_HOSTS = read_names(os.environ.get("WEBHOOK_PRIVATE_HOSTS", ""))

LANGUAGE_CODE = "en"  # of the pages of managers and researchers; config/languages.py says which those are
LANGUAGES = [("en", "English"), ("de", "Deutsch")]  # of the pages of people who label, each by its own name
LOCALE_PATHS = [BASE_DIR / "annotation" / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = "UTC"  # of all that is no page
SITE_TIME_ZONE = read_zone(os.environ)  # of pages, unless a person chose another (config/time_zones.py)
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT", VAR / "static")).resolve()
with contextlib.suppress(OSError):  # it may be read-only
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)
_PLOTLY = find_spec("plotly")  # found, not imported: that takes a tenth of a command's start
assert _PLOTLY is not None and _PLOTLY.origin is not None  # requirements.txt
STATICFILES_DIRS = [BASE_DIR / "static", ("vendor", Path(_PLOTLY.origin).parent / "package_data")]
# Files with hashes in their names once `collectstatic` made them; before, and after a change, those of the checkout.
HASHED = "collectstatic" in sys.argv[1:2] or is_collected(STATIC_ROOT, BASE_DIR / "static")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "config.static_files.HashedFiles"
        if HASHED
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not HASHED
WHITENOISE_AUTOREFRESH = DEBUG

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; config/proxies.py removes those headers of others.
TRUSTED_PROXIES = read_proxies(os.environ.get("TRUSTED_PROXIES", ""))
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
HTTPS = PRODUCTION and os.environ.get("INSECURE_COOKIES") != "1"
SESSION_ENGINE = "core.people.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Without a trusted proxy nobody tells the site that a request came by https: a redirect would never end.
SECURE_SSL_REDIRECT = HTTPS and os.environ.get("HTTPS_REDIRECT", "1" if TRUSTED_PROXIES else "0") == "1"
SECURE_HSTS_SECONDS = int(os.environ.get("HSTS_SECONDS", 365 * 24 * 3600)) if HTTPS else 0
# The address of the site in mails. It never comes from a request, whose Host header anybody can write.
SITE_URL = os.environ.get("SITE_URL", "").rstrip("/") or default_site(ALLOWED_HOSTS, PRODUCTION, HTTPS)
CSRF_TRUSTED_ORIGINS = trusted_origins(ALLOWED_HOSTS, SITE_URL) if PRODUCTION else []
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["core.api.auth.SignedIn", "core.api.auth.Token"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "core.api.schema.Operation",
    "NUM_PROXIES": 0,  # REMOTE_ADDR is the client's: config/proxies.py
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
KNOX_TOKEN_MODEL = "core.ApiToken"
REST_KNOX = {"TOKEN_MODEL": KNOX_TOKEN_MODEL, "AUTH_HEADER_PREFIX": "Token", "TOKEN_PREFIX": "tp_"}
# Where requests are counted: in each web process, or in one place for all.
_IN_MEMORY = "django.core.cache.backends.locmem.LocMemCache"
CACHES = {"default": {"BACKEND": _IN_MEMORY, "OPTIONS": {"MAX_ENTRIES": 10_000}}}  # beyond it, counts are forgotten
if _cache_url := os.environ.get("CACHE_URL"):
    CACHES = {
        "default": {
            "BACKEND": "core.cache.CacheThatMayFail",
            "LOCATION": _cache_url,
            "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},  # seconds
        }
    }
# Requests a minute of one person or token, by role; roles that are not named have the annotator's rate.
API_RATES = {"manager": "600/min", "researcher": "600/min", "annotator": "1200/min"}
SPECTACULAR_SETTINGS = {
    "TITLE": "TriplePool",
    "VERSION": "1",
    "DESCRIPTION": "Pools, labels, figures and test sets, by the same rules as the pages. [Examples](/help/api).",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "SystemState": "pooling.enums.SystemState",
        "PoolState": "pooling.enums.PoolState",
        "JobState": "core.enums.JobState",
        "CampaignState": "annotation.enums.CampaignState",
        "ItemState": "annotation.enums.ItemState",
    },
}

ARTIFACT_ROOT = Path(os.environ.get("ARTIFACT_ROOT", VAR / "artifacts")).resolve()
# Where all machines find artifacts (core/files/storage.py); the folder above is then a cache. Empty: there is no other.
ARTIFACT_STORE = os.environ.get("ARTIFACT_STORE", "").rstrip("/")
ARTIFACT_CACHE_GB = float(os.environ.get("ARTIFACT_CACHE_GB", "0"))  # 0: no limit
ARTIFACT_PRESIGN = os.environ.get("ARTIFACT_PRESIGN", "1") == "1"
DATA_ROOT = Path(os.environ.get("TRIPLEPOOL_DATA", BASE_DIR.parent / "shared" / "data"))

# Signs backups (evaluation/keeping/signing.py). Not SECRET_KEY: it must be the same at the place of the restore.
BACKUP_KEY = os.environ.get("BACKUP_KEY", "")

# A job without a heartbeat for JOB_SILENT_SECONDS is queued again.
JOB_HEARTBEAT_SECONDS = float(os.environ.get("JOB_HEARTBEAT_SECONDS", "5"))
JOB_SILENT_SECONDS = float(os.environ.get("JOB_SILENT_SECONDS", "30"))
JOB_MAX_DEATHS = 5  # of its workers, without getting further
WORKER_PROCESSES = int(os.environ.get("WORKER_PROCESSES", min(os.cpu_count() or 1, 4)))
WORKER_THREADS = max((os.cpu_count() or 1) // WORKER_PROCESSES, 1)

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "filesystem://localhost")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# A message that cannot be sent is sent by a later sweep: neither a request nor a worker's heartbeat waits for long.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0}
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, str | int] = {}
if CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
    # seconds; by default a server that hangs is waited for without end. A worker's longest question takes one
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 3}
if CELERY_BROKER_URL.startswith("filesystem:"):
    _broker = VAR / "broker"
    for _name in ("messages", "control", "processed"):
        (_broker / _name).mkdir(parents=True, exist_ok=True)
    # One folder is both ends of the queue: a web process writes to it, a worker reads from it.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_broker / "messages"),
        "data_folder_out": str(_broker / "messages"),
        "control_folder": str(_broker / "control"),
    }

LOG_FORMAT = os.environ.get("LOG_FORMAT", "") or "text"
if LOG_FORMAT not in ("text", "json"):
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}: set it to json, or leave it out for plain text.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"text": {"format": "%(message)s"}, "json": {"()": "core.logs.JsonLines"}},
    "filters": {"refused": {"()": "core.logs.OneLineForRefused"}, "secrets": {"()": "core.logs.WithoutSecretLinks"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "level": "WARNING",
            "formatter": LOG_FORMAT,
            "filters": ["refused", "secrets"],
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
}
SILENCED_SYSTEM_CHECKS = [
    "axes.W006",
    # HSTS for subdomains, and a place in browsers' own lists: this site does not speak for other sites of its domain
    "security.W005",
    "security.W021",
]

# Where errors are reported, without personal data (config/sentry.py). Empty: nowhere, and sentry-sdk is not imported.
if SENTRY_DSN := os.environ.get("SENTRY_DSN", ""):
    try:
        from config.sentry import start
    except ModuleNotFoundError as error:
        raise ImproperlyConfigured(
            f"SENTRY_DSN is set, but there is no {error.name}: install sentry-sdk, or unset SENTRY_DSN."
        ) from error
    start(SENTRY_DSN)
