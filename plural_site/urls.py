"""The URL table."""

from __future__ import annotations

from django.urls import include, path

from plural_site import monitoring
from plural_site.api import api

handler400 = "plural_site.errors.bad_request"
handler403 = "plural_site.errors.forbidden"
handler404 = "plural_site.errors.not_found"
handler500 = "plural_site.errors.server_error"

urlpatterns = [
    path("healthz", monitoring.healthz, name="healthz"),
    path("readyz", monitoring.readyz, name="readyz"),
    path("metrics", monitoring.metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("", include("plural_site.accounts.urls")),
    path("", include("benchmarks.urls")),
    path("", include("jobs.urls")),
    path("", include("hub.urls")),
]
