from __future__ import annotations

from django.urls import path

from benchmarks import views

app_name = "benchmarks"
urlpatterns = [
    path("projects/<slug:project>/benchmarks/<slug:slug>", views.benchmark, name="benchmark"),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/revisions/<int:number>/release",
        views.release,
        name="release",
    ),
]
