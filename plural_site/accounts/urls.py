from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from plural_site.accounts import views, views_accounts, views_links, views_openid, views_own, views_projects

app_name = "accounts"

ACCOUNT = "accounts/<slug:account>"
SETTINGS = "projects/<slug:project>/settings"

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-in/oidc", views_openid.start, name="openid"),
    path("sign-in/oidc/callback", views_openid.callback, name="openid-callback"),
    path("sign-in/<str:uid>/<str:token>", views.sign_in_link, name="sign-in-link"),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("theme", views.theme, name="theme"),
    path("forgot-password", views_links.forgot, name="forgot"),
    path("password/<str:uid>/<str:token>", views_links.password_link, name="password-link"),
    path("invitations/<str:secret>", views_links.invitation, name="invitation"),
    path("account", views_own.profile, name="profile"),
    path("account/password", views_own.password, name="password"),
    path("account/sessions", views_own.sessions, name="sessions"),
    path("account/sessions/end", views_own.sessions_end, name="sessions-end"),
    path("account/keys", views_own.keys, name="keys"),
    path("account/keys/<int:pk>/revoke", views_own.key_revoke, name="key-revoke"),
    path("account/projects/new", views_accounts.project_new_own, name="project-new-own"),
    path("accounts", views_own.accounts, name="accounts"),
    path("accounts/new", views_own.account_new, name="account-new"),
    path(ACCOUNT, views_accounts.account, name="account"),
    path(f"{ACCOUNT}/projects/new", views_accounts.project_new, name="project-new"),
    path(f"{ACCOUNT}/settings", views_accounts.settings, name="account-settings"),
    path(f"{ACCOUNT}/members", views_accounts.members, name="account-members"),
    path(f"{ACCOUNT}/members/<int:user>/role", views_accounts.member_role, name="account-member-role"),
    path(f"{ACCOUNT}/members/<int:user>/remove", views_accounts.member_remove, name="account-member-remove"),
    path(f"{ACCOUNT}/members/<int:user>/link", views_accounts.member_link, name="account-member-link"),
    path(
        f"{ACCOUNT}/invitations/<int:pk>/revoke",
        views_accounts.invitation_revoke,
        name="account-invitation-revoke",
    ),
    path(f"{ACCOUNT}/keys", views_accounts.keys, name="account-keys"),
    path(f"{ACCOUNT}/keys/<int:pk>/revoke", views_accounts.key_revoke, name="account-key-revoke"),
    path(f"{ACCOUNT}/audit", views_accounts.audit, name="account-audit"),
    re_path(
        r"^accounts/(?P<account>[-a-z0-9]+)/audit\.(?P<kind>csv|json)$",
        views_accounts.audit_file,
        name="account-audit-file",
    ),
    path(SETTINGS, views_projects.settings, name="project-settings"),
    path(f"{SETTINGS}/archive", views_projects.archive, name="project-archive"),
    path(f"{SETTINGS}/delete", views_projects.delete, name="project-delete"),
    path(f"{SETTINGS}/members", views_projects.members, name="project-members"),
    path(f"{SETTINGS}/members/<int:user>/role", views_projects.member_role, name="project-member-role"),
    path(f"{SETTINGS}/members/<int:user>/remove", views_projects.member_remove, name="project-member-remove"),
    path(
        f"{SETTINGS}/invitations/<int:pk>/revoke",
        views_projects.invitation_revoke,
        name="project-invitation-revoke",
    ),
    path(f"{SETTINGS}/keys", views_projects.keys, name="project-keys"),
    path(f"{SETTINGS}/keys/<int:pk>/revoke", views_projects.key_revoke, name="project-key-revoke"),
    path(f"{SETTINGS}/audit", views_projects.audit, name="project-audit"),
    re_path(
        r"^projects/(?P<project>[-a-z0-9]+)/settings/audit\.(?P<kind>csv|json)$",
        views_projects.audit_file,
        name="project-audit-file",
    ),
    path("projects/<slug:project>/leave", views_projects.leave, name="project-leave"),
]
