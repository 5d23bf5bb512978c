from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm


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
