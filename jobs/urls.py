from __future__ import annotations

from django.urls import path, re_path

from jobs import views, views_chart, views_compare, views_proof

app_name = "jobs"
urlpatterns = [
    path("projects/<slug:project>", views.project, name="project"),
    path("projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>", views.board, name="board"),
    re_path(
        r"^projects/(?P<project>[-a-z0-9]+)/benchmarks/(?P<slug>[-a-z0-9]+)@(?P<selector>[^/]+)"
        r"/leaderboard\.(?P<kind>csv|json)$",
        views.export,
        name="export",
    ),
    re_path(
        r"^projects/(?P<project>[-a-z0-9]+)/benchmarks/(?P<slug>[-a-z0-9]+)@(?P<selector>[^/]+)/chart\.json$",
        views_chart.chart,
        name="chart",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/compare",
        views_compare.compare,
        name="compare",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/grid", views_compare.grid, name="grid"
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/proof",
        views_proof.proof,
        name="proof",
    ),
    path("projects/<slug:project>/jobs", views.jobs, name="jobs"),
    path("projects/<slug:project>/jobs/<slug:job_id>", views.job, name="job"),
    path("projects/<slug:project>/trials", views.trials, name="trials"),
    path("projects/<slug:project>/trials/<slug:trial_id>", views.trial, name="trial"),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/executions/<int:number>/files/<path:path>",
        views.file,
        name="file",
    ),
]
