"""Addresses of the public Hub: anybody may read them and nobody change anything by them.

They are of the publication that `tests.domain.hub.made` makes; `{digest}` stands for that of a manifest.
"""

from __future__ import annotations

from collections.abc import Mapping

PLACE, AT = "hub/<slug:account>/<slug:slug>", "/hub/ada/desk"
MANIFEST, AT_MANIFEST = f"{PLACE}/manifests/<digest:digest>", f"{AT}/manifests/{{digest}}"
API = "api/v1/public"

ADDRESSES: Mapping[str, str] = {
    "hub": "/hub?q=desk",
    "hub/feed.atom": "/hub/feed.atom",
    "hub/resolve": "/hub/resolve",
    PLACE: AT,
    f"{PLACE}/badge.svg": f"{AT}/badge.svg",
    f"{PLACE}/feed.atom": f"{AT}/feed.atom",
    f"{PLACE}/history": f"{AT}/history",
    f"{PLACE}/diff": f"{AT}/diff?to={{digest}}",
    f"{PLACE}/results/<str:result>": f"{AT}/results/res_1",
    f"{PLACE}/results/<str:result>/badge.svg": f"{AT}/results/res_1/badge.svg",
    f"{PLACE}/releases/<str:version>": f"{AT}/releases/1.0.0",
    f"{PLACE}/releases/<str:version>/badge.svg": f"{AT}/releases/1.0.0/badge.svg",
    MANIFEST: AT_MANIFEST,
    f"{MANIFEST}/verify": f"{AT_MANIFEST}/verify",
    f"{MANIFEST}/results/<str:result>": f"{AT_MANIFEST}/results/res_1",
    f"{MANIFEST}/chart.json": f"{AT_MANIFEST}/chart.json",
    f"{MANIFEST}/leaderboard.csv": f"{AT_MANIFEST}/leaderboard.csv",
    f"{MANIFEST}/bundle.zip": f"{AT_MANIFEST}/bundle.zip",
    f"{MANIFEST}/badge.svg": f"{AT_MANIFEST}/badge.svg",
    r"^hub/(?P<account>[-a-z0-9_]+)/(?P<slug>[-a-z0-9_]+)/manifests/(?P<digest>sha256:[0-9a-f]{64})"
    r"/citation\.(?P<kind>bib|cff)$": f"{AT_MANIFEST}/citation.bib",
    f"{API}/resolve": f"/{API}/resolve?ref=plural:benchmark/desk%401.0.0%23{{digest}}",
    f"{API}/benchmark-manifests/<digest>": f"/{API}/benchmark-manifests/{{digest}}",
    f"{API}/benchmark-manifests/<digest>/records": f"/{API}/benchmark-manifests/{{digest}}/records",
}
