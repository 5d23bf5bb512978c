"""What a project stores: by kind, by Job, and what a retention rule takes from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Sum
from django.db.models.functions import Length
from django.urls import reverse
from django.utils import timezone

from benchmarks.board.parts import Fact
from benchmarks.domain.types import DomainError
from benchmarks.models import Configuration, Revision
from benchmarks.pages import Figure
from jobs.domain.file_kinds import REMOVABLE, FileKind
from jobs.domain.retention import Rule, parse_rule
from jobs.models import Job, RetentionRule, UploadPart
from jobs.retention import KeptJob, as_rule, in_words, kept_jobs, plan, rule_of
from jobs.rows import job_href, source_of, with_query
from jobs.sizes import sizes_from
from jobs.storage_pages import (
    GoingRow,
    JobSizeRow,
    KeptRow,
    KindChoice,
    KindRow,
    PreviewPart,
    RulePart,
    StoragePage,
)
from plural_site.accounts.access import Need, can
from plural_site.accounts.frame import Crumb, Frame, project_frame
from plural_site.accounts.models import Project
from plural_site.formats import DASH, bytes_text, clean_text, count, datetime_text, percent
from plural_site.http import paginate

KINDS = {
    FileKind.RECORDS: (
        "Records",
        "Results, receipts, reviews, what a Job says of itself: these stay",
    ),
    FileKind.TRAJECTORIES: ("Trajectories", "What Agents did, step by step"),
    FileKind.ARTIFACTS: ("Other artifacts", "States, pictures and everything else that a run handed in"),
    FileKind.LOGS: ("Logs", "Output of harness and Verifiers"),
}
MOST_LISTED = 20
UNMANAGED = "Storage"


@dataclass(frozen=True, slots=True)
class RuleQuery:
    """What the form holds: of an address to preview, of a form that was refused, or of the rule in force."""

    days: str = ""
    newest: str = ""
    kinds: tuple[str, ...] = ()
    is_asked: bool = False
    """Whether somebody asks for the rule that it describes."""
    error: str = ""

    @classmethod
    def asked(cls, days: str, newest: str, kinds: Iterable[str], error: str = "") -> RuleQuery:
        chosen = set(kinds)
        known = tuple(kind.value for kind in REMOVABLE if kind.value in chosen)
        return cls(days[:20], newest[:20], known, is_asked=True, error=error)

    def rule(self) -> Rule:
        """Raises DomainError."""
        return parse_rule(self.days, self.newest, self.kinds)


def storage_page(project: Project, query: RuleQuery, cursor: str | None) -> StoragePage:
    """A fixed number of queries, besides those that other apps' holds take."""
    jobs = kept_jobs(project)
    kinds = _kinds(project, jobs)
    total = sum(row.size for row in kinds)
    found = Job.objects.visible(project).select_related(
        "revision__resource", "revision__release", "task_revision__resource"
    )
    page = paginate(
        found.defer("files", "aggregates", "notes", "revision__definition", "task_revision__definition"),
        order=["-size"],
        cursor=cursor,
    )
    path = reverse("jobs:storage", args=[project.slug])
    return StoragePage(
        frame=_frame(project),
        facts=tuple(_facts(jobs, kinds, total)),
        kinds=tuple(row.view(total) for row in kinds),
        columns=tuple(label for label, _ in KINDS.values()),
        jobs=tuple(_job_row(project, job) for job in page.items),
        first_href=f"{path}#jobs" if cursor else "",
        next_href=f"{with_query(path, {'cursor': page.next_cursor})}#jobs" if page.next_cursor else "",
        rule=_rule_part(project, jobs, query, path),
    )


def _frame(project: Project) -> Frame:
    if can(project, Need.ADMINISTER):
        return project_frame(project, "jobs:storage")
    crumbs = (Crumb(clean_text(project.name), project.get_absolute_url()), Crumb(UNMANAGED))
    return Frame(UNMANAGED, crumbs)


# By kind ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    label: str
    about: str
    files: int | None
    size: int
    removed: tuple[int, int] = (0, 0)

    def view(self, total: int) -> KindRow:
        files, size = self.removed
        share = self.size / total if total else None
        return KindRow(
            label=self.label,
            about=self.about,
            files=DASH if self.files is None else count(self.files),
            size=bytes_text(self.size),
            share=percent(share),
            width=round((share or 0) * 100, 1),
            note=f"{_files(files)}, {bytes_text(size)}, removed by the retention rule" if files else "",
        )


def _files(number: int) -> str:
    return f"{count(number)} file{'' if number == 1 else 's'}"


def _kinds(project: Project, jobs: Sequence[KeptJob]) -> list[_Kind]:
    """Bytes that two Jobs of the project share are taken from the last row, where there are any."""
    rows = []
    for kind, (label, about) in KINDS.items():
        files, size = _summed(jobs, kind, removed=False)
        rows.append(_Kind(label, about, files, size, _summed(jobs, kind, removed=True)))
    packs = {digest: size for job in jobs for digest, size in job.sizes.packs.items()}
    earlier = sum(packs.values()) - sum(row.size for row in rows)
    if earlier > 0:
        about = "Left by executions that were replaced when their Job grew; nothing counts them"
        rows.append(_Kind("Earlier states", about, None, earlier))
    rows += [_uploads(project), _definitions(project)]
    return rows


def _summed(jobs: Sequence[KeptJob], kind: FileKind, *, removed: bool) -> tuple[int, int]:
    pairs = [(job.sizes.removed if removed else job.sizes.kinds).get(kind.value, (0, 0)) for job in jobs]
    return sum(files for files, _ in pairs), sum(size for _, size in pairs)


def _uploads(project: Project) -> _Kind:
    parts = UploadPart.objects.filter(run__project=project).aggregate(number=Count("pk"), size=Sum("size"))
    about = "Parts of uploads that are unfinished, waiting, or failed within the last 7 days"
    return _Kind("Uploads", about, parts["number"], parts["size"] or 0)


def _definitions(project: Project) -> _Kind:
    """Characters, which are bytes but for what isn't ASCII."""
    figures = {"number": Count("pk"), "size": Sum(Length("definition"))}
    rows = [
        Revision.objects.filter(resource__project=project).aggregate(**figures),
        Configuration.objects.filter(project=project).aggregate(**figures),
    ]
    about = "Benchmarks, Tasks, Environments, Verifiers and Agents, in the database"
    return _Kind("Packages", about, sum(row["number"] for row in rows), sum(row["size"] or 0 for row in rows))


def _facts(jobs: Sequence[KeptJob], kinds: Sequence[_Kind], total: int) -> Iterator[Fact]:
    yield Fact("In all", Figure(bytes_text(total)))
    yield Fact("Jobs", Figure(count(len(jobs))))
    yield Fact("Files of Jobs", Figure(count(sum(job.sizes.files for job in jobs))))
    removed = Counter({"files": 0, "size": 0})
    for row in kinds:
        removed.update({"files": row.removed[0], "size": row.removed[1]})
    if removed["files"]:
        note = bytes_text(removed["size"])
        yield Fact("Removed so far", Figure(_files(removed["files"]), note=note))


# By Job -----------------------------------------------------------------------------------------------


def _job_row(project: Project, job: Job) -> JobSizeRow:
    sizes = sizes_from(job.sizes)
    source, source_href = source_of(project, job)
    removed = sum(files for files, _ in sizes.removed.values())
    return JobSizeRow(
        href=job_href(project, job.client_job_id),
        job_id=job.client_job_id,
        source=source,
        source_href=source_href,
        started=datetime_text(job.started_at),
        sizes=tuple(bytes_text(sizes.of([kind.value])[1]) for kind in KINDS),
        total=bytes_text(sizes.total),
        note=f"{_files(removed)} removed" if removed else "",
    )


# The rule ---------------------------------------------------------------------------------------------


def _rule_part(project: Project, jobs: Sequence[KeptJob], query: RuleQuery, path: str) -> RulePart:
    row = rule_of(project)
    error, rule = query.error, as_rule(row) if row else None
    form = query if query.is_asked or row is None else _in_force(row)
    shown = rule
    if query.is_asked:
        try:
            shown = query.rule()
        except DomainError as problem:
            error, shown = error or str(problem), None
    may_change = can(project, Need.MANAGE)
    return RulePart(
        sentence=sentence(rule) if rule else "",
        since=_since(row) if row else "",
        action=path,
        days=clean_text(form.days),
        newest=clean_text(form.newest),
        kinds=tuple(
            KindChoice(kind.value, KINDS[kind][0], KINDS[kind][1], kind.value in form.kinds)
            for kind in REMOVABLE
        ),
        error=error,
        end_action=reverse("jobs:retention", args=[project.slug]) if row and may_change else "",
        may_change=may_change,
        preview=_preview(project, jobs, shown, is_new=shown != rule and may_change)
        if shown and not error
        else None,
    )


def _in_force(row: RetentionRule) -> RuleQuery:
    days, newest = (str(value or "") for value in (row.keep_days, row.keep_newest))
    return RuleQuery(days, newest, tuple(row.kinds))


def sentence(rule: Rule) -> str:
    words = in_words(rule)
    return f"A Job keeps its {words['kinds']} {words['kept']}."


def _since(row: RetentionRule) -> str:
    by = f" by {clean_text(str(row.set_by))}" if row.set_by else ""
    applied = f"Last applied {_at(row.applied_at)}." if row.applied_at else "Not applied yet."
    return f"Turned on{by} {_at(row.set_at)}. {applied}"


def _at(moment: datetime) -> str:
    return f"on {datetime_text(moment)}"


def _preview(project: Project, jobs: Sequence[KeptJob], rule: Rule, *, is_new: bool) -> PreviewPart:
    found = plan(rule, jobs, timezone.now())
    largest = sorted(found.going, key=lambda job: -job.freed)
    stored = sum({digest: size for job in jobs for digest, size in job.sizes.packs.items()}.values())
    fields = [("days", str(rule.keep_days or "")), ("newest", str(rule.keep_newest or ""))]
    held = sorted(found.held.items())
    return PreviewPart(
        sentence=sentence(rule),
        facts=(
            Fact("Jobs that lose files", Figure(f"{count(len(found.going))} of {count(found.jobs)}")),
            Fact("Files that go", Figure(count(found.files))),
            Fact("Freed", Figure(bytes_text(found.freed), note=f"of {bytes_text(stored)} in files of Jobs")),
        ),
        going=tuple(
            GoingRow(job_href(project, job.job_id), job.job_id, count(job.files), bytes_text(job.freed))
            for job in largest[:MOST_LISTED]
        ),
        more=_more(len(largest)),
        held=tuple(
            KeptRow(job_href(project, job), job, clean_text(reason)) for job, reason in held[:MOST_LISTED]
        ),
        held_more=_more(len(held)),
        fields=(*fields, *(("kind", kind) for kind in rule.kinds)),
        set_action=reverse("jobs:retention", args=[project.slug]) if is_new else "",
        button="Turn this rule on",
    )


def _more(number: int) -> str:
    return f"And {count(number - MOST_LISTED)} more." if number > MOST_LISTED else ""
