"""One-time links that sign in or set a new password."""

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


class PasswordTokenGenerator(SignInTokenGenerator):
    """Spent as those are: signing in shows that the person needs no new password."""

    key_salt = "plural_site.accounts.tokens.PasswordTokenGenerator"


sign_in_tokens = SignInTokenGenerator()
password_tokens = PasswordTokenGenerator()


def sign_in_path(user: User) -> str:
    """Path of a link that signs `user` in once; prefix it with the site's address."""
    return reverse("accounts:sign-in-link", args=[_uid(user), sign_in_tokens.make_token(user)])


def password_path(user: User) -> str:
    """Path of a link that lets `user` set a new password once."""
    return reverse("accounts:password-link", args=[_uid(user), password_tokens.make_token(user)])


def user_of_link(uid: str, token: str, users: QuerySet[User]) -> User | None:
    """The active person among `users` whom a link still signs in."""
    return _user_of(sign_in_tokens, uid, token, users)


def user_of_password_link(uid: str, token: str, users: QuerySet[User]) -> User | None:
    """The active person among `users` whose password a link still sets."""
    return _user_of(password_tokens, uid, token, users)


def _uid(user: User) -> str:
    return urlsafe_base64_encode(str(user.pk).encode())


def _user_of(tokens: PasswordResetTokenGenerator, uid: str, token: str, users: QuerySet[User]) -> User | None:
    try:
        pk = int(urlsafe_base64_decode(uid))
    except ValueError:
        return None
    user = users.filter(pk=pk, is_active=True).first()
    return user if user is not None and tokens.check_token(user, token) else None
