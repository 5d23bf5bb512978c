"""One-time sign-in links."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from plural_site.accounts.models import User


class SignInTokenGenerator(PasswordResetTokenGenerator):
    """Spent by signing in, by a new password or address, and after PASSWORD_RESET_TIMEOUT."""

    key_salt = "plural_site.accounts.tokens.SignInTokenGenerator"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        # Django leaves out the microseconds of last_login, so that a second link made within the same
        # second would outlive its use.
        last_login = user.last_login.isoformat() if user.last_login else ""
        return "|".join([str(user.pk), user.password, last_login, user.get_username(), str(timestamp)])


sign_in_tokens = SignInTokenGenerator()


def sign_in_path(user: User) -> str:
    """Path of a link that signs `user` in once; prefix it with the site's address."""
    uid = urlsafe_base64_encode(str(user.pk).encode())
    return reverse("accounts:sign-in-link", args=[uid, sign_in_tokens.make_token(user)])


def user_of_link(uid: str, token: str, users: QuerySet[User]) -> User | None:
    """The active person among `users` whom a link still signs in."""
    try:
        pk = int(urlsafe_base64_decode(uid))
    except ValueError:
        return None
    user = users.filter(pk=pk, is_active=True).first()
    return user if user is not None and sign_in_tokens.check_token(user, token) else None
