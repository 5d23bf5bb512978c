"""A `benchmarks/<slug>/` folder and what its Tasks name: read, and checked as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.domain.definitions import task_definition
from benchmarks.domain.manifests import BenchmarkManifest, parse_benchmark
from benchmarks.domain.package_files import FileError, read_text
from benchmarks.domain.project_files import (
    EnvironmentFolder,
    ManifestFile,
    Problem,
    ProjectFolders,
    TaskFolder,
    check_name,
    did_you_mean,
    template_marks,
)
from benchmarks.domain.tracks import check_limits, check_release_rules
from benchmarks.domain.types import JsonObject, Scoring

SLUG = re.compile(r"(?=.{1,63}$)[a-z0-9]+(-[a-z0-9]+)*")
COLLECTION = "benchmarks"
MANIFEST = "benchmark.yaml"
README = "README.md"
BEFORE_PUSH = "needed before pushing, releasing or recording"


@dataclass(frozen=True, slots=True)
class BenchmarkFolder:
    """What a Benchmark's folder declares. `declared` is what `benchmark_definition` takes.

    `task_folders` are the Tasks by slug, as far as a project stands around the folder and they could be
    read; `readme` is '' where there is none.
    """

    slug: str
    title: str
    version: str
    readme: str
    declared: JsonObject
    tasks: tuple[str, ...]
    task_folders: Mapping[str, TaskFolder]


@dataclass(frozen=True, slots=True)
class FolderReport:
    """Every problem at once. `folder` is None when benchmark.yaml itself can't be used."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    folder: BenchmarkFolder | None


def check_folder(path: Path) -> FolderReport:
    """Read and check a Benchmark's folder. Never raises for what stands in it."""
    if path.is_symlink() or not path.is_dir():
        what = "is a link: give the folder itself" if path.is_symlink() else "isn't a folder"
        return FolderReport((Problem(str(path), "", what),), (), None)
    return _Check(path.resolve()).report()


class _Check:
    """The check of one folder. `shown` is what messages call it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.slug = root.name
        above = root.parent.parent
        inside = root.parent.name == COLLECTION and (
            (above / "project.yaml").is_file() or (above / "tasks").is_dir()
        )
        self.project = ProjectFolders(above) if inside else None
        self.shown = f"{COLLECTION}/{self.slug}/" if inside else ""
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.file = ManifestFile(f"{self.shown}{MANIFEST}", self.problems)

    def report(self) -> FolderReport:
        folder = self._folder() if self.file.read(self.root, MANIFEST) else None
        if folder is None and not (self.root / MANIFEST).exists():
            self.problems[-1] = self.file.made("", f"doesn't exist{self._where_else()}")
        if self.project is not None:
            self.problems.extend(self.project.problems)
            for shown in self.project.folders:
                self.warnings.extend(template_marks(self.project.root / shown, shown))
        return FolderReport(tuple(dict.fromkeys(self.problems)), tuple(self.warnings), folder)

    def _folder(self) -> BenchmarkFolder | None:
        if not SLUG.fullmatch(self.slug):
            rule = "1 to 63 lower-case letters and digits, in parts joined by '-'"
            self.file.problem("name", f"the folder's name {self.slug!r} must be {rule}")
        manifest, problems = self.file.parse(parse_benchmark)
        broken = frozenset(problem.field.partition(".")[0] for problem in problems)
        if "" in broken:
            return None
        check_name(self.file, manifest.name, self.slug, broken)
        tasks = self._tasks(manifest)
        self.problems.extend(self._release_problems(manifest, tasks, broken))
        usable = not self.problems
        readme = self._readme_and_texts(manifest, broken)
        self._check_tasks(manifest, tasks, broken)
        if not usable:
            return None
        return BenchmarkFolder(
            slug=self.slug,
            title=manifest.title,
            version=manifest.version,
            readme=readme,
            declared=manifest.declared(),
            tasks=manifest.tasks,
            task_folders=tasks,
        )

    def _tasks(self, manifest: BenchmarkManifest) -> dict[str, TaskFolder]:
        """The Tasks that can be read. Those that aren't there are problems of benchmark.yaml."""
        found: dict[str, TaskFolder] = {}
        if self.project is None:
            if manifest.tasks:
                message = "no project stands around this folder, so its Tasks were not looked at"
                self.warnings.append(self.file.made("tasks", message))
            return found
        for position, slug in enumerate(manifest.tasks):
            wrong = self.project.missing("tasks", slug)
            if wrong is not None:
                self.file.problem(f"tasks.{position}", wrong)
            elif (task := self.project.task(slug)) is not None:
                found[slug] = task
        return found

    def _release_problems(
        self, manifest: BenchmarkManifest, tasks: Mapping[str, TaskFolder], broken: frozenset[str]
    ) -> Iterator[Problem]:
        """Rules between the parts of a release, as far as the parts themselves are right."""
        rules = manifest.rules
        titles = {slug: tasks[slug].manifest.title if slug in tasks else slug for slug in manifest.tasks}
        names = list(titles.values())
        for name in (name for name, count in Counter(names).items() if count > 1):
            yield self.file.made("tasks", f"two Tasks have the title {name!r}: give each its own")
        if "tasks" not in broken:
            for category in rules.categories:
                at = self._at("categories", category.id)
                for message in check_release_rules(names, [category], Scoring(), (), "agents"):
                    yield self.file.made(f"{at}.tasks", message + self._hints(category.tasks, titles))
            for message in check_release_rules(names, (), rules.scoring, (), "agents"):
                hints = self._hints(sorted(rules.scoring.task_weights), titles)
                yield self.file.made("scoring.task_weights", message + hints)
        bare = [replace(category, tasks=()) for category in rules.categories]
        for message in check_release_rules(names, bare, Scoring(), (), "agents"):
            yield self.file.made("categories", message)
        kinds = {track.kind for track in rules.tracks}
        for message in check_release_rules(names, (), Scoring(), rules.tracks, min(kinds, default="agents")):
            yield self.file.made("tracks", message)
        if not broken & {"tracks", "default_view"}:
            tracks = [replace(track, id=str(number)) for number, track in enumerate(rules.tracks)]
            for message in check_release_rules(names, (), Scoring(), tracks, rules.default_view):
                advice = f" Write default_view: {min(kinds)}, or add such a track."
                yield self.file.made("default_view", message + advice)

    def _check_tasks(
        self, manifest: BenchmarkManifest, tasks: Mapping[str, TaskFolder], broken: frozenset[str]
    ) -> None:
        alike: dict[str, str] = {}
        for slug, task in tasks.items():
            if task.environment is not None:
                self._check_limits(manifest, task, task.environment)
            if "scoring" not in broken:
                self._check_criteria(manifest, task)
            named = (task.manifest.environment, task.manifest.verifiers)
            content = task_definition(task.declared(), *named).content_hash
            if content in alike:
                message = f"{slug!r} and {alike[content]!r} are the same Task: the release can't be published"
                self.warnings.append(self.file.made("tasks", message))
            alike.setdefault(content, slug)

    def _check_limits(
        self, manifest: BenchmarkManifest, task: TaskFolder, environment: EnvironmentFolder
    ) -> None:
        if "limits" in environment.broken:
            return
        path = f"environments/{environment.slug}/environment.yaml"
        limits = asdict(environment.manifest.limits)
        for track in manifest.rules.tracks:
            for message in check_limits(track, task.manifest.title, **limits):
                advice = f" Lower the limit in {path}, or raise the track's cap."
                self.file.problem(self._at("tracks", track.id), message + advice)

    def _check_criteria(self, manifest: BenchmarkManifest, task: TaskFolder) -> None:
        low, high = manifest.rules.scoring.score_range
        for verifier in task.verifiers:
            if verifier.manifest.kind == "deterministic":
                continue  # code scores as it likes; its criteria are words
            for number, (name, lowest, highest) in enumerate(verifier.manifest.criteria):
                if lowest < low or highest > high:
                    message = (
                        f"criterion {name!r} scores {lowest:g} to {highest:g}, but the Benchmark's "
                        f"score_range is {low:g} to {high:g} (Task {task.manifest.title!r})"
                    )
                    path = f"verifiers/{verifier.slug}/verifier.yaml"
                    self.problems.append(Problem(path, f"criteria.{number}", message))

    def _readme_and_texts(self, manifest: BenchmarkManifest, broken: frozenset[str]) -> str:
        """The README; what pushing needs and isn't there is a problem, or a warning in a template."""
        marks = template_marks(self.root, self.shown.rstrip("/") or ".")
        needed = self.warnings if marks else self.problems
        readme = ""
        try:
            readme = read_text(self.root, README)
        except FileError as error:
            message = f"{error}: explain what the Benchmark measures ({BEFORE_PUSH})"
            needed.append(Problem(f"{self.shown}{README}", "", message))
        if "purpose" not in broken and not manifest.rules.purpose.strip():
            message = f"is missing: say what the Benchmark measures and why ({BEFORE_PUSH})"
            needed.append(self.file.made("purpose", message))
        if "scoring" not in broken and not manifest.rules.scoring.description.strip():
            message = f"is missing: say what a score means ({BEFORE_PUSH})"
            needed.append(self.file.made("scoring.description", message))
        self.warnings.extend(marks)
        return readme

    def _hints(self, used: Sequence[str], titles: Mapping[str, str]) -> str:
        """For names that aren't a Task's: its title where the folder was named, or one that is close."""
        hints = []
        for name in used:
            if name in titles.values():
                continue
            if name in titles:
                hints.append(f" Task {name!r} is called by its title here, {titles[name]!r}.")
            elif hint := did_you_mean(name, [*titles.values()]):
                hints.append(hint)
        return "".join(hints)

    def _at(self, key: str, identifier: str) -> str:
        """The path of the entry with this id, as it stands in the file."""
        value = self.file.document.value
        for position, item in enumerate(value[key]):
            if isinstance(item, Mapping) and item.get("id") == identifier:
                return f"{key}.{position}"
        return key

    def _where_else(self) -> str:
        below = sorted(self.root.glob(f"{COLLECTION}/*/{MANIFEST}"))[:3]
        names = ", ".join(f"{COLLECTION}/{path.parent.name}" for path in below)
        return f": did you mean {names}?" if names else ": give the folder of a Benchmark"
