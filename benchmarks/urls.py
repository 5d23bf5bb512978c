from __future__ import annotations

from django.urls import path

from benchmarks import views, views_updates

app_name = "benchmarks"
urlpatterns = [
    path("projects/<slug:project>/benchmarks/<slug:slug>", views.benchmark, name="benchmark"),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/revisions/<int:number>/release",
        views.release,
        name="release",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/updates",
        views_updates.updates,
        name="updates",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/updates/save",
        views_updates.save,
        name="updates-save",
    ),
]
