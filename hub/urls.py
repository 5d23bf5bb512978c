from __future__ import annotations

from hub.urls_publish import urlpatterns as publish

app_name = "hub"

urlpatterns = [*publish]
