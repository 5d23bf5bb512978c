"""Pages of one account: its projects, members, keys, log and name."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from plural_site.accounts import mail
from plural_site.accounts.access import AccountNeed, SignedInRequest, account_for
from plural_site.accounts.actions import create_project, free_slug, personal_account
from plural_site.accounts.actions_people import (
    invite,
    may_make_password_link,
    note_password_link,
    remove_account_member,
    rename_account,
    revoke_invitation,
    set_account_role,
)
from plural_site.accounts.audit_pages import account_events, audit_csv, audit_json, audit_page
from plural_site.accounts.forms import AccountInvitationForm, AccountRoleForm, ProjectForm, RenameForm
from plural_site.accounts.frame import FormPage, QuestionPage, account_frame
from plural_site.accounts.handling import (
    link_context,
    once,
    place_name,
    refuse,
    render_form,
    say,
    try_act,
    whole,
)
from plural_site.accounts.key_pages import account_keys_page
from plural_site.accounts.member_pages import account_members_page
from plural_site.accounts.models import (
    SLUG_PATTERN,
    Account,
    AccountMembership,
    AccountRole,
    ApiKey,
    Invitation,
    Project,
    User,
)
from plural_site.accounts.own_pages import account_page
from plural_site.accounts.tokens import password_path
from plural_site.accounts.views_own import answer_revoke, read_or_send, revoke_question
from plural_site.formats import clean_text


@require_safe
def account(request: SignedInRequest, account: str) -> HttpResponse:
    found, role = account_for(request.user, account, AccountNeed.READ)
    return render(request, "accounts/account.html", {"page": account_page(request.user, found, role)})


@read_or_send
def settings(request: SignedInRequest, account: str) -> HttpResponse:
    found, role = account_for(request.user, account, AccountNeed.OWN)
    form = RenameForm(request.POST or None, initial={"name": found.name})
    if request.method == "POST" and try_act(
        form, lambda: rename_account(actor=request.user, account=found, name=form.cleaned_data["name"])
    ):
        say(request, "Saved.")
        return redirect("accounts:account-settings", account)
    text = (f"The slug, {found.slug}, stays.",)
    return render_form(
        request, form, FormPage(account_frame(found, role, "account-settings"), "Settings", "Save", text)
    )


@read_or_send
def project_new_own(request: SignedInRequest) -> HttpResponse:
    return redirect("accounts:project-new", personal_account(request.user).slug)


@read_or_send
def project_new(request: SignedInRequest, account: str) -> HttpResponse:
    """Makes up the slug from the name where none is given; a taken one is answered with a free one."""
    found, role = account_for(request.user, account, AccountNeed.OWN)
    form = ProjectForm(request.POST or None)
    made: list[Project] = []

    def act() -> None:
        slug = form.cleaned_data["slug"] or free_slug(Project, form.cleaned_data["name"], "project")
        made.append(
            create_project(actor=request.user, account=found, slug=slug, name=form.cleaned_data["name"])
        )

    if request.method == "POST" and try_act(form, act, "slug"):
        return redirect(made[0])
    taken = str(form.data.get("slug", ""))
    if re.fullmatch(SLUG_PATTERN, taken) and Project.objects.filter(slug=taken).exists():
        form.data = {"name": form.data.get("name", ""), "slug": free_slug(Project, taken)}
    page = FormPage(
        account_frame(found, role, "account"),
        "New project",
        "Create project",
        ("A project holds Benchmarks and Jobs. Only its members can see it.",),
        reverse("accounts:account", args=[account]),
    )
    return render_form(request, form, page)


# Members


@read_or_send
def members(request: SignedInRequest, account: str) -> HttpResponse:
    """Who is in it; owners invite by the form below. The answer alone shows the link."""
    need = AccountNeed.OWN if request.method == "POST" else AccountNeed.READ
    found, role = account_for(request.user, account, need)
    form = AccountInvitationForm(request.POST or None)
    made: list[str] = []

    def act() -> None:
        _, secret = invite(
            actor=request.user,
            place=found,
            role=form.cleaned_data["role"],
            email=form.cleaned_data["email"],
        )
        made.append(reverse("accounts:invitation", args=[secret]))

    if request.method == "POST" and try_act(form, act):
        email = form.cleaned_data["email"]
        link = link_context(made[0], email, sent=send_invitation(request.user, found, made[0], email))
        page = account_members_page(request.user, found, role, **link)
        context = {"page": page, "form": AccountInvitationForm()}
        return once(render(request, "accounts/members.html", context))
    page = account_members_page(request.user, found, role)
    return render(request, "accounts/members.html", {"page": page, "form": form})


def send_invitation(author: User, place: Account | Project, path: str, email: str) -> bool:
    """Sends the link where it names somebody and e-mail is configured; whether it did."""
    if not email or not mail.is_configured():
        return False
    name = " ".join(place_name(place).split())
    text = (
        f"{author} invites you to {name}.\n\nOpen this link within 7 days; it works once:\n\n"
        f"{whole(path)}\n\nIf you don't know why you got this, ignore it."
    )
    mail.send_later(to=email, subject=f"Invitation to {name}", text=text)
    return True


@require_POST
def member_role(request: SignedInRequest, account: str, user: int) -> HttpResponse:
    found, _ = account_for(request.user, account, AccountNeed.OWN)
    member = _member(found, user)
    form = AccountRoleForm(request.POST)
    if form.is_valid():
        role = AccountRole(form.cleaned_data["role"])
        try:
            set_account_role(actor=request.user, account=found, user=member, role=role)
            say(request, f"{clean_text(str(member))} is {role} now.")
        except ValidationError as error:
            refuse(request, error)
    return redirect("accounts:account-members", account)


@read_or_send
def member_remove(request: SignedInRequest, account: str, user: int) -> HttpResponse:
    """Owners remove anybody; everybody may leave."""
    leaves = user == request.user.pk
    found, role = account_for(request.user, account, AccountNeed.READ if leaves else AccountNeed.OWN)
    member = _member(found, user)
    back = reverse("accounts:account-members", args=[account])
    if request.method == "POST":
        try:
            remove_account_member(actor=request.user, account=found, user=member)
        except ValidationError as error:
            refuse(request, error)
            return redirect(back)
        say(request, "You have left the account." if leaves else f"{clean_text(str(member))} is out.")
        return redirect("accounts:accounts" if leaves else back)
    who = "You lose" if leaves else f"{clean_text(str(member))} loses"
    page = QuestionPage(
        account_frame(found, role, "account-members"),
        f"Leave {clean_text(found.name)}?" if leaves else f"Remove {clean_text(str(member))}?",
        (f"{who} the account and every role in its projects. Keys that reach them stop working.",),
        "Leave the account" if leaves else "Remove from the account",
        back,
    )
    return render(request, "accounts/question.html", {"page": page})


@require_POST
def member_link(request: SignedInRequest, account: str, user: int) -> HttpResponse:
    """A link to a new password, which the owner hands over."""
    found, role = account_for(request.user, account, AccountNeed.OWN)
    member = _member(found, user)
    if not may_make_password_link(owner=request.user, account=found, user=member):
        refuse(
            request,
            ValidationError(
                f"{clean_text(str(member))} has a place outside what you own, which a new password would "
                "open too. Whoever runs this site can make the link."
            ),
        )
        return redirect("accounts:account-members", account)
    note_password_link(actor=request.user, account=found, user=member)
    page = account_members_page(
        request.user,
        found,
        role,
        link=whole(password_path(member)),
        link_title="Link to a new password",
        link_note=f"For {clean_text(member.email)}. It is shown now only, and works once, for a day.",
    )
    return once(render(request, "accounts/members.html", {"page": page, "form": AccountInvitationForm()}))


@require_POST
def invitation_revoke(request: SignedInRequest, account: str, pk: int) -> HttpResponse:
    found, _ = account_for(request.user, account, AccountNeed.OWN)
    revoke_invitation(actor=request.user, invitation=get_object_or_404(Invitation, pk=pk, account=found))
    say(request, "The invitation is taken back.")
    return redirect("accounts:account-members", account)


def _member(account: Account, pk: int) -> User:
    return get_object_or_404(
        AccountMembership.objects.select_related("user"), account=account, user_id=pk
    ).user


# Keys and log


@require_safe
def keys(request: SignedInRequest, account: str) -> HttpResponse:
    found, role = account_for(request.user, account, AccountNeed.OWN)
    return render(request, "accounts/keys.html", {"page": account_keys_page(found, role)})


@read_or_send
def key_revoke(request: SignedInRequest, account: str, pk: int) -> HttpResponse:
    found, role = account_for(request.user, account, AccountNeed.OWN)
    key = get_object_or_404(ApiKey.objects.select_related("project", "account"), pk=pk, account=found)
    back = reverse("accounts:account-keys", args=[account])
    frame = account_frame(found, role, "account-keys")
    return answer_revoke(request, key, QuestionPage(frame, *revoke_question(key), back))


@require_safe
def audit(request: SignedInRequest, account: str) -> HttpResponse:
    found, role = account_for(request.user, account, AccountNeed.OWN)
    frame = account_frame(found, role, "account-audit")
    page = audit_page(frame, account_events(found), request.GET, request.path, shows_project=True)
    return render(request, "accounts/audit.html", {"page": page})


@require_safe
def audit_file(request: SignedInRequest, account: str, kind: str) -> HttpResponseBase:
    found, _ = account_for(request.user, account, AccountNeed.OWN)
    make = audit_csv if kind == "csv" else audit_json
    response = StreamingHttpResponse(
        make(account_events(found), request.GET),
        content_type="text/csv; charset=utf-8" if kind == "csv" else "application/json",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{found.slug}-audit-log.{kind}"'
    return response
