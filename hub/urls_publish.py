"""Addresses of publishing, in a project."""

from __future__ import annotations

from django.urls import path

from hub import views_publish

urlpatterns = [
    path("projects/<slug:project>/publish", views_publish.overview, name="publish"),
    path("projects/<slug:project>/benchmarks/<slug:slug>/publish", views_publish.start, name="publish-start"),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/publish/discard",
        views_publish.discard,
        name="publish-discard",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/publish/done/<str:digest>",
        views_publish.done,
        name="publish-done",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/publish/check/reader",
        views_publish.reader,
        name="publish-reader",
    ),
    path(
        "projects/<slug:project>/benchmarks/<slug:slug>/publish/<slug:name>",
        views_publish.step,
        name="publish-step",
    ),
]
