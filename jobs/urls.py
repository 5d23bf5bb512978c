from __future__ import annotations

from django.urls import path, re_path

from jobs import (
    views,
    views_chart,
    views_compare,
    views_imports,
    views_jobs,
    views_pages,
    views_proof,
    views_search,
    views_storage,
    views_trajectory,
    views_trial,
)

app_name = "jobs"
urlpatterns = [
    path("projects/<slug:project>", views.project, name="project"),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/compare-releases",
        views_compare.releases,
        name="compare-releases",
    ),
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
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/tasks/<int:position>",
        views_pages.task,
        name="task",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>@<str:selector>/search",
        views_search.of_benchmark,
        name="benchmark-search",
    ),
    path("projects/<slug:project>/agents", views_pages.agents, name="agents"),
    path("projects/<slug:project>/agents/<slug:digits>", views_pages.agent, name="agent"),
    path("projects/<slug:project>/jobs", views_jobs.jobs, name="jobs"),
    path("projects/<slug:project>/jobs/<slug:job_id>", views_jobs.job, name="job"),
    path("projects/<slug:project>/jobs/<slug:job_id>/live", views_jobs.live, name="job-live"),
    path("projects/<slug:project>/jobs/<slug:job_id>/search", views_search.of_job, name="job-search"),
    path("projects/<slug:project>/jobs/<slug:job_id>/set-aside", views_jobs.set_aside, name="job-set-aside"),
    path("projects/<slug:project>/jobs/<slug:job_id>/close", views_jobs.close, name="job-close"),
    path("projects/<slug:project>/imports", views_imports.imports, name="imports"),
    path("projects/<slug:project>/imports/new", views_imports.new, name="import-new"),
    path("projects/<slug:project>/imports/uploads", views_imports.upload, name="upload"),
    path("projects/<slug:project>/imports/<int:number>", views_imports.one, name="import"),
    path("projects/<slug:project>/imports/<int:number>/live", views_imports.live, name="import-live"),
    path(
        "projects/<slug:project>/imports/<int:number>/parts/<int:part>",
        views_imports.part,
        name="upload-part",
    ),
    path("projects/<slug:project>/imports/<int:number>/cancel", views_imports.cancel, name="import-cancel"),
    path("projects/<slug:project>/imports/<int:number>/retry", views_imports.retry, name="import-retry"),
    path("projects/<slug:project>/imports/<int:number>/undo", views_imports.undo, name="import-undo"),
    path("projects/<slug:project>/storage", views_storage.storage, name="storage"),
    path("projects/<slug:project>/storage/retention", views_storage.retention, name="retention"),
    path("projects/<slug:project>/trials", views.trials, name="trials"),
    path("projects/<slug:project>/trials/<slug:trial_id>", views_trial.trial, name="trial"),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/receipt",
        views_trial.receipt,
        name="trial-receipt",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/trajectory",
        views_trajectory.trajectory,
        name="trajectory",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>",
        views_trajectory.step,
        name="step",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/raw",
        views_trajectory.raw,
        name="step-raw",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/blocks/<int:part>",
        views_trajectory.block,
        name="step-block",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/trajectory/steps/<int:number>/images/<int:part>",
        views_trajectory.image,
        name="step-image",
    ),
    path(
        "projects/<slug:project>/trajectories/compare",
        views_trajectory.compare,
        name="compare-trajectories",
    ),
    path(
        "projects/<slug:project>/trials/<slug:trial_id>/executions/<int:number>/files/<path:path>",
        views_trial.file,
        name="file",
    ),
]
