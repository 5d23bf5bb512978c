from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import validate_password

from plural_site.accounts.limits import client_ip
from plural_site.accounts.models import AccountRole, KeyAbility, ProjectRole, User
from plural_site.accounts.throttle import begin_try, wait_text

ROLE_WORDS = {
    ProjectRole.VIEWER: "Viewer: reads everything",
    ProjectRole.CONTRIBUTOR: "Contributor: also imports and sets Jobs aside",
    ProjectRole.MANAGER: "Manager: also settings, members, keys and the log",
}
ACCOUNT_ROLE_WORDS = {
    AccountRole.MEMBER: "Member: sees the account and who is in it",
    AccountRole.OWNER: "Owner: manages it and all its projects",
}
EXPIRIES = {"30": "30 days", "90": "90 days", "365": "a year", "": "never"}
SLUG_HINT = "Small letters, digits and hyphens. It stands in addresses and can't be changed later."


def _text(label: str, *, required: str = "", hint: str = "", **attributes: str) -> forms.CharField:
    """A line of text; `required` is what to say where it is missing."""
    return forms.CharField(
        label=label,
        required=bool(required),
        max_length=200,
        help_text=hint,
        widget=forms.TextInput(attrs=attributes),
        error_messages={"required": required},
    )


def _email(label: str, *, required: str = "", hint: str = "", autocomplete: str = "off") -> forms.EmailField:
    return forms.EmailField(
        label=label,
        required=bool(required),
        max_length=254,
        help_text=hint,
        widget=forms.EmailInput(attrs={"autocomplete": autocomplete}),
        error_messages={"required": required, "invalid": "Enter a whole e-mail address."},
    )


def _password(label: str, *, new: bool, hint: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        strip=False,
        max_length=4096,
        help_text=hint,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password" if new else "current-password"}),
        error_messages={"required": f"Enter the {label.lower()}."},
    )


NEW_PASSWORD_HINT = "At least 10 characters. Pasting from a password manager works."  # noqa: S105


class PlainForm(forms.Form):
    """Labels without a colon, and the outcome of an action beside the field that it is about."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)


class SignInForm(AuthenticationForm):
    """The field of the address is called `username`, as password managers and Django expect."""

    error_messages = {
        "invalid_login": "The e-mail address and the password do not belong together. Check both.",
        "inactive": "This person can't sign in any more.",
    }

    username = forms.EmailField(
        label="E-mail address",
        label_suffix="",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
        error_messages={"required": "Enter your e-mail address.", "invalid": "Enter a whole e-mail address."},
    )
    password = forms.CharField(
        label="Password",
        label_suffix="",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter your password."},
    )

    wait: timedelta | None = None
    """How long the next try has to wait, where this one was not looked at."""

    def clean(self) -> dict[str, Any]:
        address, ip = self.cleaned_data.get("username"), client_ip(self.request) if self.request else ""
        if not address or not self.cleaned_data.get("password"):
            return self.cleaned_data
        begun = begin_try(purpose="sign in", address=address, ip=ip)
        if isinstance(begun, timedelta):
            self.wait = begun
            raise forms.ValidationError(f"Too many failed tries. Wait {wait_text(begun)}, then try again.")
        cleaned: dict[str, Any] = super().clean()
        begun.succeeded()
        return cleaned


class ProfileForm(PlainForm):
    name = _text("Name", hint="How pages call you. Your e-mail address stands in where it is empty.")


class PasswordForm(PlainForm):
    current = _password("Current password", new=False)
    password = _password("New password", new=True, hint=NEW_PASSWORD_HINT)


class NewPasswordForm(PlainForm):
    password = _password("New password", new=True, hint=NEW_PASSWORD_HINT)


class ForgotForm(PlainForm):
    email = _email("E-mail address", required="Enter your e-mail address.", autocomplete="username")


class NewPersonForm(PlainForm):
    """Without `email` where the invitation names it."""

    name = _text("Your name", required="Enter your name.", autocomplete="name")
    email = _email("E-mail address", required="Enter your e-mail address.", autocomplete="username")
    password = _password("Password", new=True, hint=NEW_PASSWORD_HINT)

    def __init__(self, *args: Any, fixed_email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fixed_email = fixed_email
        if fixed_email:
            del self.fields["email"]

    def clean(self) -> dict[str, Any]:
        """Judges the password beside its own field, for the person who would get it."""
        cleaned = self.cleaned_data
        if "password" in cleaned:
            person = User(email=self.fixed_email or cleaned.get("email", ""), name=cleaned.get("name", ""))
            try:
                validate_password(cleaned["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned


class AccountForm(PlainForm):
    name = _text("Name", required="Enter a name.")
    slug = _text("Slug", hint=f"{SLUG_HINT} Made from the name where it is empty.", autocapitalize="none")


class RenameForm(PlainForm):
    name = _text("Name", required="Enter a name.")


class ProjectForm(AccountForm):
    """A new project."""


class ProjectSettingsForm(PlainForm):
    name = _text("Name", required="Enter a name.")
    notice = _text("Notice", hint="A line shown on every page of the project.")


class DeleteForm(PlainForm):
    slug = _text("Slug of the project", required="Type the slug.", autocomplete="off", autocapitalize="none")


class AccountInvitationForm(PlainForm):
    role = forms.ChoiceField(label="Role", choices=list(ACCOUNT_ROLE_WORDS.items()))
    email = _email("E-mail address", hint="Empty: anybody with the link can use it, once.")


class AccountRoleForm(forms.Form):
    role = forms.ChoiceField(choices=AccountRole.choices)


class ProjectInvitationForm(PlainForm):
    role = forms.ChoiceField(label="Role", choices=list(ROLE_WORDS.items()))
    email = _email("E-mail address", hint="Empty: anybody with the link can use it, once.")
    may_publish = forms.BooleanField(label="May publish", required=False)

    def __init__(self, *args: Any, can_publish: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not can_publish:
            del self.fields["may_publish"]


class ProjectRoleForm(forms.Form):
    role = forms.ChoiceField(choices=ProjectRole.choices)
    may_publish = forms.BooleanField(required=False)


class KeyForm(PlainForm):
    """`places` are pairs of a value, `account:SLUG` or `project:SLUG`, and words."""

    label = _text(
        "Label", required="Enter a label.", hint="Where the key is used, e.g. the name of a machine."
    )
    place = forms.ChoiceField(label="Reaches")
    ability = forms.ChoiceField(
        label="May",
        choices=[(KeyAbility.WRITE, "read and write"), (KeyAbility.READ, "read only")],
    )
    days = forms.ChoiceField(
        label="Expires after", choices=list(EXPIRIES.items()), required=False, initial="90"
    )

    def __init__(self, *args: Any, places: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["place"].choices = places  # type: ignore[attr-defined]  # a ChoiceField
