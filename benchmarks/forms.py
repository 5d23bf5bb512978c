from __future__ import annotations

from django import forms

from benchmarks.domain.releasing import FIRST_VERSION
from plural_site.accounts.forms import PlainForm


class ReleaseForm(PlainForm):
    version = forms.CharField(
        label="Version",
        max_length=64,
        help_text="MAJOR.MINOR.PATCH is what the plural client asks for.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        error_messages={
            "required": f"Give a version, such as {FIRST_VERSION}.",
            "max_length": "A version has at most 64 characters.",
        },
    )
    confirmed = forms.BooleanField(
        label="I know that a version can’t be changed or taken back",
        error_messages={"required": "Confirm that you know that a version can’t be taken back."},
    )
