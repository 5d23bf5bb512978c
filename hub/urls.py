from __future__ import annotations

from django.urls import path, re_path, register_converter

from hub import views_public, views_public_files
from hub.urls_publish import urlpatterns as publish


class DigestConverter:
    """sha256: and 64 hex digits."""

    regex = "sha256:[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(DigestConverter, "digest")

PLACE = "hub/<slug:account>/<slug:slug>"
RELEASE = f"{PLACE}/releases/<str:version>"
MANIFEST = f"{PLACE}/manifests/<digest:digest>"

app_name = "hub"
urlpatterns = [
    *publish,
    path("hub", views_public.home, name="home"),
    path("hub/feed.atom", views_public_files.feed, name="feed"),
    path("hub/resolve", views_public.resolve_reference, name="resolve"),
    path(PLACE, views_public.publication, name="publication"),
    path(f"{PLACE}/badge.svg", views_public_files.badge, name="badge"),
    path(f"{PLACE}/feed.atom", views_public_files.feed_of_publication, name="publication-feed"),
    path(f"{PLACE}/history", views_public.history, name="history"),
    path(f"{PLACE}/diff", views_public.diff, name="diff"),
    path(f"{PLACE}/results/<str:result>", views_public.result, name="result"),
    path(f"{PLACE}/results/<str:result>/badge.svg", views_public_files.badge_of_result, name="result-badge"),
    path(RELEASE, views_public.release, name="release"),
    path(f"{RELEASE}/badge.svg", views_public_files.badge, name="release-badge"),
    path(MANIFEST, views_public.manifest, name="manifest"),
    path(f"{MANIFEST}/verify", views_public.verify, name="verify"),
    path(f"{MANIFEST}/results/<str:result>", views_public.result, name="manifest-result"),
    path(f"{MANIFEST}/chart.json", views_public_files.chart, name="chart"),
    path(f"{MANIFEST}/leaderboard.csv", views_public_files.leaderboard_csv, name="leaderboard"),
    path(f"{MANIFEST}/bundle.zip", views_public_files.bundle, name="bundle"),
    path(f"{MANIFEST}/badge.svg", views_public_files.badge, name="manifest-badge"),
    re_path(
        r"^hub/(?P<account>[-a-z0-9_]+)/(?P<slug>[-a-z0-9_]+)/manifests/(?P<digest>sha256:[0-9a-f]{64})"
        r"/citation\.(?P<kind>bib|cff)$",
        views_public_files.citation,
        name="citation",
    ),
]
