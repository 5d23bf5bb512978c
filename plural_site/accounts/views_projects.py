"""Settings of a project: name, archive, deletion, members, keys, log."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from plural_site.accounts.access import Need, SignedInRequest, can, project_for
from plural_site.accounts.actions_people import (
    change_project_member,
    invite,
    remove_project_member,
    revoke_invitation,
)
from plural_site.accounts.actions_projects import archive_project, change_project, delete_project
from plural_site.accounts.audit_pages import audit_csv, audit_json, audit_page, project_events
from plural_site.accounts.forms import DeleteForm, ProjectInvitationForm, ProjectRoleForm, ProjectSettingsForm
from plural_site.accounts.frame import Frame, QuestionPage, project_frame
from plural_site.accounts.handling import link_context, once, say, try_act
from plural_site.accounts.key_pages import project_keys_page
from plural_site.accounts.member_pages import project_members_page
from plural_site.accounts.models import ApiKey, Invitation, Project, ProjectMembership, ProjectRole, User
from plural_site.accounts.project_pages import delete_page, project_settings_page
from plural_site.accounts.views_accounts import send_invitation
from plural_site.accounts.views_own import answer_revoke, read_or_send, revoke_question
from plural_site.formats import clean_text


@read_or_send
def settings(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.MANAGE if request.method == "POST" else Need.ADMINISTER)
    form = ProjectSettingsForm(request.POST or None, initial={"name": found.name, "notice": found.notice})
    if request.method == "POST" and try_act(
        form, lambda: change_project(actor=request.user, project=found, **form.cleaned_data)
    ):
        say(request, "Saved.")
        return redirect("accounts:project-settings", project)
    context = {"project": found, "page": project_settings_page(found), "form": form}
    return render(request, "accounts/project_settings.html", context)


@require_POST
def archive(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    archived = request.POST.get("archived") == "yes"
    archive_project(actor=request.user, project=found, archived=archived)
    say(
        request,
        "The project is archived: it can be read only." if archived else "The project is active again.",
    )
    return redirect("accounts:project-settings", project)


@read_or_send
def delete(request: SignedInRequest, project: str) -> HttpResponse:
    """Lists what goes, and deletes when the slug has been typed."""
    found = project_for(request.user, project, Need.DELETE)
    form = DeleteForm(request.POST or None)
    if request.method == "POST" and try_act(
        form,
        lambda: delete_project(actor=request.user, project=found, typed_slug=form.cleaned_data["slug"]),
        "slug",
    ):
        say(request, f"The project {project} is deleted.")
        return redirect("accounts:home")
    context = {"project": found, "page": delete_page(found), "form": form}
    return render(request, "accounts/project_delete.html", context)


# Members


@read_or_send
def members(request: SignedInRequest, project: str) -> HttpResponse:
    """Who is in it, with a form to invite. The answer alone shows the link."""
    found = project_for(request.user, project, Need.MANAGE if request.method == "POST" else Need.ADMINISTER)
    form = ProjectInvitationForm(request.POST or None, can_publish=found.publishable)
    made: list[str] = []

    def act() -> None:
        _, secret = invite(
            actor=request.user,
            place=found,
            role=form.cleaned_data["role"],
            email=form.cleaned_data["email"],
            may_publish=form.cleaned_data.get("may_publish", False),
        )
        made.append(reverse("accounts:invitation", args=[secret]))

    if request.method == "POST" and try_act(form, act):
        email = form.cleaned_data["email"]
        link = link_context(made[0], email, sent=send_invitation(request.user, found, made[0], email))
        page = project_members_page(request.user, found, **link)
        form = ProjectInvitationForm(can_publish=found.publishable)
        context = {"project": found, "page": page, "form": form}
        return once(render(request, "accounts/members.html", context))
    context = {"project": found, "page": project_members_page(request.user, found), "form": form}
    return render(request, "accounts/members.html", context)


@require_POST
def member_role(request: SignedInRequest, project: str, user: int) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    member = _member(found, user)
    form = ProjectRoleForm(request.POST)
    if form.is_valid():
        change_project_member(
            actor=request.user,
            project=found,
            user=member,
            role=ProjectRole(form.cleaned_data["role"]),
            may_publish=form.cleaned_data["may_publish"],
        )
        say(request, f"{clean_text(str(member))} is {form.cleaned_data['role']} now.")
    if member == request.user and form.cleaned_data.get("role") != ProjectRole.MANAGER and not found.owned:
        return redirect(found)
    return redirect("accounts:project-members", project)


@read_or_send
def member_remove(request: SignedInRequest, project: str, user: int) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    member = _member(found, user)
    return _remove(request, found, member, reverse("accounts:project-members", args=[project]))


@read_or_send
def leave(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.READ)
    return _remove(request, found, _member(found, request.user.pk), found.get_absolute_url())


def _remove(request: SignedInRequest, project: Project, member: User, back: str) -> HttpResponse:
    leaves = member == request.user
    if request.method == "POST":
        remove_project_member(actor=request.user, project=project, user=member)
        say(request, "You have left the project." if leaves else f"{clean_text(str(member))} is out.")
        return redirect("accounts:home" if leaves and not project.owned else back)
    who = "You lose" if leaves else f"{clean_text(str(member))} loses"
    page = QuestionPage(
        project_frame(project, "project-members") if can(project, Need.ADMINISTER) else Frame(""),
        f"Leave {clean_text(project.name)}?" if leaves else f"Remove {clean_text(str(member))}?",
        (f"{who} the role in this project, and keys that act for it stop working here.",),
        "Leave the project" if leaves else "Remove from the project",
        back,
    )
    return render(request, "accounts/question.html", {"project": project, "page": page})


@require_POST
def invitation_revoke(request: SignedInRequest, project: str, pk: int) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    revoke_invitation(actor=request.user, invitation=get_object_or_404(Invitation, pk=pk, project=found))
    say(request, "The invitation is taken back.")
    return redirect("accounts:project-members", project)


def _member(project: Project, pk: int) -> User:
    memberships = ProjectMembership.objects.select_related("user")
    return get_object_or_404(memberships, project=project, user_id=pk).user


# Keys and log


@require_safe
def keys(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    return render(request, "accounts/keys.html", {"project": found, "page": project_keys_page(found)})


@read_or_send
def key_revoke(request: SignedInRequest, project: str, pk: int) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    key = get_object_or_404(ApiKey.objects.select_related("project", "account"), pk=pk, project=found)
    back = reverse("accounts:project-keys", args=[project])
    return answer_revoke(
        request, key, QuestionPage(project_frame(found, "project-keys"), *revoke_question(key), back)
    )


@require_safe
def audit(request: SignedInRequest, project: str) -> HttpResponse:
    found = project_for(request.user, project, Need.ADMINISTER)
    frame = project_frame(found, "project-audit")
    page = audit_page(frame, project_events(found), request.GET, request.path, shows_project=False)
    return render(request, "accounts/audit.html", {"project": found, "page": page})


@require_safe
def audit_file(request: SignedInRequest, project: str, kind: str) -> HttpResponseBase:
    found = project_for(request.user, project, Need.ADMINISTER)
    make = audit_csv if kind == "csv" else audit_json
    response = StreamingHttpResponse(
        make(project_events(found), request.GET),
        content_type="text/csv; charset=utf-8" if kind == "csv" else "application/json",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{found.slug}-audit-log.{kind}"'
    return response
