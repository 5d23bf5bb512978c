"""The URL table."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.http import require_safe

from plural_site.api import api

handler400 = "plural_site.errors.bad_request"
handler403 = "plural_site.errors.forbidden"
handler404 = "plural_site.errors.not_found"
handler500 = "plural_site.errors.server_error"


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "database": "unavailable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    path("", include("plural_site.accounts.urls")),
    path("", include("benchmarks.urls")),
    path("", include("jobs.urls")),
    path("", include("hub.urls")),
]
