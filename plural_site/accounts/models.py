"""People, accounts, projects, who may do what, and the log of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Lower
from django.urls import reverse

from plural_site.db.frozen import frozen

if TYPE_CHECKING:
    from django.contrib.sessions.backends.base import SessionBase

# \Z, not $, which lets a final line break through in Python (and so on SQLite).
SLUG_PATTERN = r"\A[a-z0-9][a-z0-9-]{0,79}\Z"
SHA256_PATTERN = r"\A[0-9a-f]{64}\Z"


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser):
    """A person. E-mail addresses are kept in lower case."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("email"), name="user_email_any_case"),
        ]

    def __str__(self) -> str:
        return self.name or self.email


class AccountKind(models.TextChoices):
    PERSONAL = "personal"
    ORGANIZATION = "organization"


class Account(models.Model):
    """Owns projects: a person's own, or an organisation's."""

    slug = models.CharField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=AccountKind)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="account_slug"),
            models.CheckConstraint(condition=Q(kind__in=AccountKind.values), name="account_kind"),
        ]

    def __str__(self) -> str:
        return self.slug


class AccountRole(models.TextChoices):
    OWNER = "owner"
    MEMBER = "member"


class AccountMembership(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="accounts")
    role = models.CharField(max_length=16, choices=AccountRole)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "user"], name="account_membership_once"),
            models.CheckConstraint(condition=Q(role__in=AccountRole.values), name="account_membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.account_id}"


class ProjectRole(models.TextChoices):
    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    MANAGER = "manager"


class ProjectQuerySet(QuerySet["Project"]):
    def visible_to(self, user: User) -> ProjectQuerySet:
        """Projects in which `user` has a role, which each carries as `role`. Account owners are managers."""
        membership = ProjectMembership.objects.filter(project=OuterRef("pk"), user=user)
        ownership = Exists(
            AccountMembership.objects.filter(account=OuterRef("account"), user=user, role=AccountRole.OWNER)
        )
        role = models.Case(
            models.When(ownership, then=Value(ProjectRole.MANAGER)),
            default=Subquery(membership.values("role")),
        )
        return self.annotate(
            reader_role=role,
            reader_owns=ownership,
            reader_publishes=Exists(membership.filter(may_publish=True)),
        ).filter(reader_role__isnull=False)


class Project(models.Model):
    """Holds Benchmarks and Jobs. Its slug is unique on the whole site, since addresses carry it alone."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="projects")
    slug = models.CharField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    notice = models.TextField(blank=True)
    """A line shown on every page of the project."""
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="project_slug"),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("jobs:project", args=[self.slug])

    @property
    def role(self) -> str | None:
        """The reader's role, where `visible_to` found this project."""
        return getattr(self, "reader_role", None)

    @property
    def owned(self) -> bool:
        """Whether the reader owns its account, where `visible_to` found this project."""
        return bool(getattr(self, "reader_owns", False))

    @property
    def publishable(self) -> bool:
        """Whether the reader has been given the right to publish; owners of the account always have it."""
        return self.owned or bool(getattr(self, "reader_publishes", False))


class ProjectMembership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="projects")
    role = models.CharField(max_length=16, choices=ProjectRole)
    may_publish = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="project_membership_once"),
            models.CheckConstraint(condition=Q(role__in=ProjectRole.values), name="project_membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.project_id}"


class KeyAbility(models.TextChoices):
    READ = "read"
    WRITE = "write"


class ApiKey(models.Model):
    """Lets a program act for `user` in `project`, or in every project of `account` where that is null.

    Only the SHA-256 of the secret is kept; `prefix` is the start of the secret, by which it is found and
    recognised by people.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="api_keys")
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="api_keys")
    label = models.CharField(max_length=200, blank=True)
    prefix = models.CharField(max_length=12)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    ability = models.CharField(max_length=16, choices=KeyAbility)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    """Written at most once an hour."""
    deleted_project = models.CharField(max_length=80, blank=True, default="")
    """Slug of the project that the key was limited to and that is no more. Such a key is revoked."""

    class Meta:
        indexes: ClassVar = [models.Index(fields=["prefix"], name="api_key_prefix")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(deleted_project="") | Q(revoked_at__isnull=False, project__isnull=True),
                name="api_key_of_deleted_project",
            ),
            models.CheckConstraint(condition=Q(ability__in=KeyAbility.values), name="api_key_ability"),
            models.CheckConstraint(condition=Q(secret_sha256__regex=SHA256_PATTERN), name="api_key_sha256"),
        ]

    def __str__(self) -> str:
        return self.prefix


class Machine(models.TextChoices):
    """What acts where no person and no key does: somebody at the server, or what runs there by itself."""

    COMMAND = "command", "command line"
    WORKER = "worker", "worker"


@frozen
class AuditEvent(models.Model):
    """Who did what to what, when. Exactly one of `actor`, `actor_key` and `machine` is set."""

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="audit_events"
    )
    actor_key = models.ForeignKey(ApiKey, null=True, on_delete=models.PROTECT, related_name="audit_events")
    machine = models.CharField(max_length=16, choices=Machine, blank=True, default="")
    verb = models.CharField(max_length=64)
    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="audit_events", db_index=False
    )
    """Null where there is none, or none any more: the log outlives the project (see db.frozen.thawed)."""
    project_slug = models.CharField(max_length=80, null=True)
    account = models.ForeignKey(
        Account, null=True, on_delete=models.PROTECT, related_name="audit_events", db_index=False
    )
    """Whose log it is in: that of the project, or of the account itself."""
    object_type = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64)
    object_digest = models.CharField(max_length=80, blank=True)
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at"], name="audit_event_project_latest"),
            models.Index(fields=["account", "-created_at"], name="audit_event_account_latest"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(actor__isnull=False, actor_key__isnull=True, machine="")
                | Q(actor__isnull=True, actor_key__isnull=False, machine="")
                | Q(actor__isnull=True, actor_key__isnull=True, machine__in=Machine.values),
                name="audit_event_one_actor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_type} {self.object_id}"


class Invitation(models.Model):
    """A link that gives whoever opens it a role, once: in `account`, or in `project`.

    Only the SHA-256 of its secret is kept. `email` is '' where anybody may use it.
    """

    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="invitations")
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16)
    may_publish = models.BooleanField(default=False)
    email = models.EmailField(max_length=254, blank=True)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(account__isnull=False, project__isnull=True, role__in=AccountRole.values)
                | Q(account__isnull=True, project__isnull=False, role__in=ProjectRole.values),
                name="invitation_to_one_place",
            ),
            models.CheckConstraint(
                condition=Q(used_at__isnull=True) ^ Q(used_by__isnull=False), name="invitation_used_by"
            ),
            models.CheckConstraint(
                condition=Q(secret_sha256__regex=SHA256_PATTERN), name="invitation_sha256"
            ),
        ]


class BrowserSession(AbstractBaseSession):
    """A session, findable by person. Written by plural_site.accounts.sessions alone."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="browser_sessions"
    )
    browser = models.CharField(max_length=80, blank=True)
    """In words, e.g. "Firefox on Linux"."""
    signed_in_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField()
    """To within some minutes."""

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        from plural_site.accounts.sessions import SessionStore  # noqa: PLC0415 - it imports this module

        return SessionStore


class Throttle(models.Model):
    """Failed tries to sign in, under the hash of an address or of an IP address."""

    subject = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(subject__regex=SHA256_PATTERN), name="throttle_sha256")
        ]


class RequestCount(models.Model):
    """Requests of one key or IP address in a minute (since 1970) and in the one before."""

    subject = models.CharField(max_length=80, unique=True)
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField()
    before = models.PositiveIntegerField()


class ExternalIdentity(models.Model):
    """Who a person is to a provider of OpenID Connect, by `subject` ever after, whatever the address."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="external_identity_once")
        ]
