"""Django settings. Everything that differs between installations comes from the environment (see env.py)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from plural_site import csp, env
from plural_site import logging as logs

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = env.read(os.environ, BASE_DIR)

DATA_DIR = ENVIRONMENT.data_dir
PLURAL_SITE_URL = ENVIRONMENT.site_url
DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key
ALLOWED_HOSTS = ENVIRONMENT.allowed_hosts
DATABASES = {"default": ENVIRONMENT.database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "plural_site.db",
    "plural_site.accounts",
    "benchmarks",
    "jobs",
    "hub",
]

MIDDLEWARE = [
    "plural_site.middleware.forwarded",
    "plural_site.middleware.observed",
    "plural_site.middleware.response_headers",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",  # before static files are answered: they carry the policy too
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "plural_site.middleware.rate_limit",
    "plural_site.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "plural_site.urls"
WSGI_APPLICATION = "plural_site.wsgi.application"
APPEND_SLASH = False

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
                "plural_site.accounts.context.theme",
            ],
        },
    },
]

# Static files: the hashed and compressed copies once `collectstatic` has been run, else straight from
# the sources, so that a fresh checkout needs no further step.
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_IS_COLLECTED = "collectstatic" in sys.argv[1:2] or (STATIC_ROOT / "staticfiles.json").exists()
WHITENOISE_USE_FINDERS = not STATIC_IS_COLLECTED
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns about a missing folder


def _files(name: str) -> dict[str, Any]:
    """A storage for files that only this site's own code reads."""
    bucket = ENVIRONMENT.bucket
    if bucket is None:
        on_disk = {"location": DATA_DIR / name, "base_url": None, "file_permissions_mode": 0o600}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": on_disk}
    options: dict[str, Any] = {
        "bucket_name": bucket.name,
        "location": f"{bucket.prefix}/{name}".lstrip("/"),
        "endpoint_url": bucket.endpoint,
        "region_name": bucket.region,
        "addressing": bucket.addressing,
    }
    if bucket.access_key:
        options |= {"access_key": bucket.access_key, "secret_key": bucket.secret_key}
    return {"BACKEND": "plural_site.db.object_store.ObjectStorage", "OPTIONS": options}


STORAGES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "files", "file_permissions_mode": 0o600},
    },
    "blobs": _files("blobs"),
    "uploads": _files("uploads"),
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_IS_COLLECTED
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}

UPLOAD_LIMIT = ENVIRONMENT.upload_limit  # bytes
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads" / "forms"
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
FILE_UPLOAD_HANDLERS = ["jobs.upload_form.UploadHandler"]

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "accounts:home"
LOGOUT_REDIRECT_URL = "accounts:sign-in"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60  # seconds; how long a sign-in link lasts

KEY_RATE_LIMIT = ENVIRONMENT.key_rate_limit  # requests a minute; 0 is none
IP_RATE_LIMIT = ENVIRONMENT.ip_rate_limit
PROXIES = ENVIRONMENT.proxies
TRUSTED_PROXIES = ENVIRONMENT.trusted_proxies
METRICS_TOKEN = ENVIRONMENT.metrics_token
METRICS_DIR = DATA_DIR / "metrics"

MAIL = ENVIRONMENT.mail
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL.host else 'dummy'}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.security == "starttls", MAIL.security == "tls"
EMAIL_TIMEOUT = 20  # seconds
DEFAULT_FROM_EMAIL = MAIL.sender or "nobody@localhost"

OPENID = ENVIRONMENT.openid

SESSION_ENGINE = "plural_site.accounts.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "plural_site.errors.csrf_failure"
CONTENT_SECURITY_POLICY = csp.POLICY
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

if ENVIRONMENT.https:
    if PROXIES:  # else the server of this process ends TLS itself, and nobody is believed who says so
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked for from inside
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    CSRF_TRUSTED_ORIGINS = [PLURAL_SITE_URL]

SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # whether subdomains are https only is up to the owner of the domain
    "security.W021",  # and so is the browsers' preload list
]

LANGUAGE_CODE = "en-gb"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING = logs.config(ENVIRONMENT.log_format)
