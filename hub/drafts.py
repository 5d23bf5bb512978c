"""Every write about drafts. Nothing here changes what is public. The caller has checked Need.PUBLISH."""

from __future__ import annotations

import itertools

from django.db import transaction

from benchmarks.domain.types import DomainError
from benchmarks.models import Release, Resource
from hub.choices import Choices
from hub.models import Draft, Publication
from plural_site.accounts.models import Project, User

LAST_STEP = 5


class DraftChanged(DomainError):
    """Somebody, perhaps the same person in another window, has changed the draft meanwhile."""


def start(*, actor: User, project: Project, resource: Resource) -> Draft:
    """The person's draft for this Benchmark, a new one where there is none."""
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        publication = Publication.objects.filter(resource=resource).first()
        if publication is None:
            account = project.account.slug
            publication = Publication.objects.create(
                project=project,
                resource=resource,
                account_slug=account,
                slug=_free_slug(account, resource.slug),
                title=resource.name,
            )
        return Draft.objects.get_or_create(publication=publication, person=actor)[0]


def keep(draft: Draft, *, seen: int, step: int, choices: Choices, release: Release | None = None) -> Draft:
    """Keeps the answers of `step` and opens the next one. What was shown for publication is forgotten.

    Another release forgets the answers that belong to the one before. Raises DraftChanged where `seen`
    is not the draft's version any more.
    """
    with transaction.atomic():
        locked = lock(draft, seen)
        if release is not None and release != locked.release:
            choices = Choices()
            locked.release, locked.reached = release, step + 1
        locked.choices = choices.dump()
        locked.reached = min(max(locked.reached, step + 1), LAST_STEP)
        forget_candidate(locked)
        locked.version += 1
        locked.save()
        return locked


def settle(draft: Draft, *, seen: int, choices: Choices) -> Draft:
    """Keeps how findings of the check were settled. Raises DraftChanged."""
    return keep(draft, seen=seen, step=LAST_STEP, choices=choices)


def discard(draft: Draft) -> None:
    """Removes the draft, and its publication where nothing was ever published."""
    with transaction.atomic():
        publication = Publication.objects.select_for_update().get(pk=draft.publication_id)
        draft.delete()
        if not publication.records.exists() and not publication.drafts.exists():
            publication.delete()


def lock(draft: Draft, seen: int) -> Draft:
    """The draft's row, locked until the transaction ends. Raises DraftChanged."""
    locked = Draft.objects.select_for_update(of=("self",)).filter(pk=draft.pk).first()
    if locked is None or locked.version != seen:
        raise DraftChanged(
            "This draft was changed meanwhile, in another window perhaps. What it holds now is shown; "
            "make your change again."
        )
    return locked


def forget_candidate(draft: Draft) -> None:
    draft.candidate = draft.candidate_at = None
    draft.candidate_digest = draft.candidate_base = ""


def _free_slug(account: str, slug: str) -> str:
    """The Benchmark's slug, numbered where another project of the account has taken it."""
    taken = set(
        Publication.objects.filter(account_slug=account, slug__startswith=slug[:70]).values_list(
            "slug", flat=True
        )
    )
    names = itertools.chain([slug], (f"{slug[:70]}-{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)
