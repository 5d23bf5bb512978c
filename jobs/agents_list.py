"""The list of a project's Agents: every configuration that a landed Job ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from benchmarks.board.words import short_hash
from benchmarks.models import Configuration
from benchmarks.pages import Crumb, Figure
from jobs.agent_pages import AgentRow, AgentsPage
from jobs.links import agent_href
from jobs.models import Job, JobAgent, Tally
from jobs.rows import with_query
from plural_site import formats
from plural_site.accounts.models import Project
from plural_site.http import paginate

SORTS = {"latest": "-latest", "model": "model", "jobs": "-jobs"}
"""The first direction of each sort."""


@dataclass(frozen=True, slots=True)
class AgentsQuery:
    text: str = ""
    model: str = ""
    sort: str = "-latest"

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> AgentsQuery:
        """Rubbish means the default."""
        text, model = (query.get(name, "").replace("\0", "").strip()[:500] for name in ("q", "model"))
        sort = query.get("sort", "")
        return cls(text, model, sort if sort.removeprefix("-") in SORTS else "-latest")

    @property
    def query(self) -> dict[str, str]:
        found = {"q": self.text, "model": self.model, "sort": "" if self.sort == "-latest" else self.sort}
        return {name: value for name, value in found.items() if value}


def landed(project: Project) -> QuerySet[Configuration, Any]:
    """Configurations that landed Jobs ran, with `latest`, the start of the latest, and `jobs`, how many."""
    own = _appearances()
    counted = own.order_by().values("configuration").annotate(n=Count("job", distinct=True)).values("n")
    return Configuration.objects.filter(Exists(own), project=project).annotate(
        latest=Subquery(own.values("job__started_at")[:1]), jobs=Subquery(counted)
    )


def named(configurations: QuerySet[Configuration, Any]) -> QuerySet[Configuration, Any]:
    """With what each called itself last: `name`, `harness` and `harness_version`."""
    own = _appearances()
    return configurations.annotate(
        **{field: Subquery(own.values(field)[:1]) for field in ("name", "harness", "harness_version")}
    )


def _appearances() -> QuerySet[JobAgent, Any]:
    found = JobAgent.objects.filter(configuration=OuterRef("pk"), job__state=Job.State.READY)
    return found.order_by("-job__started_at", "-job_id", "position")


def harness_words(row: Any) -> str:
    """Of anything with `harness` and `harness_version`; '' for the built-in loop."""
    return formats.clean_text(f"{row.harness} {row.harness_version}".strip())


def agents_page(project: Project, query: Mapping[str, str]) -> AgentsPage:
    chosen = AgentsQuery.parse(query)
    found = landed(project)
    if chosen.text:
        names = JobAgent.objects.filter(configuration=OuterRef("pk"), name__icontains=chosen.text)
        names = names.filter(job__state=Job.State.READY)
        found = found.filter(Exists(names) | Q(model__icontains=chosen.text))
    if chosen.model:
        found = found.filter(model=chosen.model)
    page = paginate(found.defer("definition"), order=[chosen.sort], cursor=query.get("cursor"))
    path = reverse("jobs:agents", args=[project.slug])
    words = []
    if chosen.text:
        words.append(f"names and models with “{formats.clean_text(chosen.text)}”")
    if chosen.model:
        words.append(f"the model {formats.clean_text(chosen.model)}")
    next_query = {**chosen.query, "cursor": page.next_cursor or ""}
    total = found.count()
    return AgentsPage(
        crumbs=(Crumb(project.name, reverse("jobs:project", args=[project.slug])), Crumb("Agents")),
        total=f"{formats.count(total)} Agent{'' if total == 1 else 's'}",
        text=formats.clean_text(chosen.text),
        model=chosen.model,
        carried=tuple((name, value) for name, value in chosen.query.items() if name != "q"),
        columns=tuple(_columns(path, chosen)),
        rows=tuple(_rows(project, page.items)),
        filters=tuple(words),
        clear_href=path,
        next_href=with_query(path, next_query) if page.next_cursor else "",
    )


def _columns(path: str, chosen: AgentsQuery) -> list[tuple[str, str, str]]:
    columns = []
    for label, key in (("Model", "model"), ("Jobs", "jobs"), ("Latest use", "latest")):
        current = chosen.sort.removeprefix("-") == key
        descending = chosen.sort.startswith("-")
        sort = (key if descending else f"-{key}") if current else SORTS[key]
        href = with_query(path, AgentsQuery(chosen.text, chosen.model, sort).query)
        columns.append((label, href, ("descending" if descending else "ascending") if current else ""))
    return columns


def _rows(project: Project, items: list[Any]) -> list[AgentRow]:
    """Two queries, whatever the number of Jobs."""
    keys = [item.pk for item in items]
    names: dict[int, Any] = {
        row.pk: row for row in named(Configuration.objects.filter(pk__in=keys).defer("definition"))
    }
    entries = Tally.objects.filter(configuration__in=keys, scope=Tally.Scope.OVERALL).order_by()
    counts = dict(entries.values_list("configuration").annotate(n=Count("pk")))
    rows = []
    for item in items:
        query = f"agent={short_hash(item.content_hash)}"
        jobs_href = f"{reverse('jobs:jobs', args=[project.slug])}?{query}"
        href = agent_href(project, item)
        rows.append(
            AgentRow(
                href=href,
                name=formats.clean_text(names[item.pk].name),
                model=formats.clean_text(item.model),
                harness=harness_words(names[item.pk]) or "built-in loop",
                short_hash=short_hash(item.content_hash),
                jobs=Figure(formats.count(item.jobs), href=jobs_href),
                entries=Figure(formats.count(counts.get(item.pk, 0)), href=f"{href}#results"),
                latest=formats.datetime_text(item.latest),
            )
        )
    return rows
