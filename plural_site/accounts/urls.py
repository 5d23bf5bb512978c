from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from plural_site.accounts import views

app_name = "accounts"

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-in/<str:uid>/<str:token>", views.sign_in_link, name="sign-in-link"),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("theme", views.theme, name="theme"),
]
