from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")

application = get_wsgi_application()

from django.urls import get_resolver  # noqa: E402 - after the settings are read

# Every view with all that it needs, now: else the first visitor of each process waits for it.
get_resolver().url_patterns  # noqa: B018
