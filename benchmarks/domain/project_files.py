"""Task, Environment and Verifier folders of a project: what they declare and what is wrong with them."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from benchmarks.domain.fields import FieldProblem
from benchmarks.domain.manifest_fields import Parsed
from benchmarks.domain.manifests import (
    EnvironmentManifest,
    TaskManifest,
    parse_environment,
    parse_task,
)
from benchmarks.domain.package_files import (
    LEFT_OUT,
    FileError,
    list_files,
    locate,
    read_file,
    read_text,
    source_digest,
)
from benchmarks.domain.types import JsonObject
from benchmarks.domain.verifier_manifest import VerifierManifest, parse_verifier
from benchmarks.domain.yaml_files import MAX_BYTES, YamlDocument, YamlError, parse_yaml

T = TypeVar("T")
M = TypeVar("M", TaskManifest, EnvironmentManifest, VerifierManifest)

MAX_BLOB_BYTES = 16 << 20
MAX_TASK_FILE_BYTES = 256 << 20
MAX_INLINE_CHARACTERS = 1 << 20
NO_PACKAGE = LEFT_OUT | {".venv", "node_modules"}
DEFAULT_RESOURCES = "resources"
TEMPLATE_MARK = "PLURAL-TODO"
TEXT_SUFFIXES = frozenset({".py", ".md", ".yaml", ".yml", ".txt", ".json", ".toml"})
BLOB_TYPES = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".doc": "application/msword",
    ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".dwg": "image/vnd.dwg",
    ".dxf": "image/vnd.dxf",
    ".ifc": "application/x-step",
    ".webp": "image/webp",
    ".heic": "image/heic",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/jsonl",
}
"""Media types of files that travel apart from their Task, before what the system knows: they are hashed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """`file` is relative to the project (or the folder, where there is no project), `field` a dotted path."""

    file: str
    field: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentFolder:
    """`broken` are the top-level fields that are wrong; `sound`: nothing is wrong with the folder."""

    slug: str
    root: Path
    manifest: EnvironmentManifest
    readme: str
    source_digest: str
    broken: frozenset[str]
    sound: bool


@dataclass(frozen=True, slots=True)
class VerifierFolder:
    slug: str
    manifest: VerifierManifest
    source_digest: str
    sound: bool


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A Task with what it names; `complete` when none of it has a problem."""

    slug: str
    manifest: TaskManifest
    instructions: str
    resources: tuple[JsonObject, ...]
    environment: EnvironmentFolder | None
    verifiers: tuple[VerifierFolder, ...]
    complete: bool

    def declared(self) -> dict[str, Any]:
        """The mapping that `task_definition` takes."""
        return {
            "task_id": self.manifest.title,
            "revision": self.manifest.version,
            "instructions": self.instructions,
            "goals": list(self.manifest.goals),
            "info": self.manifest.info,
            "metadata": self.manifest.metadata,
            "resources": list(self.resources),
            "state": self.manifest.initial_state,
            "expected": self.manifest.expected,
            "seat_instructions": self.manifest.seat_instructions,
        }


@dataclass(slots=True)
class ManifestFile:
    """One YAML file while it is being checked. Problems found in it are added to `problems`."""

    path: str
    problems: list[Problem]
    document: YamlDocument = field(default_factory=lambda: YamlDocument(None, {}))

    def problem(self, at: str, message: str) -> None:
        self.problems.append(self.made(at, message))

    def made(self, at: str, message: str) -> Problem:
        return Problem(self.path, at, message, self.document.line(at))

    def read(self, root: Path, relative: str) -> bool:
        """Read the file; False, with the problem noted, if there is nothing to check in it."""
        try:
            self.document = parse_yaml(read_file(root, relative, MAX_BYTES), self.path)
        except YamlError as error:
            self.problems.append(Problem(self.path, error.field, error.message, error.line))
            return False
        except FileError as error:
            self.problem("", str(error))
            return False
        if self.document.value is None:
            self.problem("", "is empty: write at least its name")
            return False
        return True

    def parse(self, parse: Callable[[object], Parsed[T]]) -> tuple[T, tuple[FieldProblem, ...]]:
        manifest, problems = parse(self.document.value)
        for problem in problems:
            self.problem(problem.field, problem.message)
        return manifest, problems


@dataclass(slots=True)
class ProjectFolders:
    """Reads each folder of a project once. `root` is the project's folder."""

    root: Path
    problems: list[Problem] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    """Those whose manifest was read, relative to the root."""
    _environments: dict[str, EnvironmentFolder | None] = field(default_factory=dict)
    _verifiers: dict[str, VerifierFolder | None] = field(default_factory=dict)

    def missing(self, collection: str, slug: str) -> str | None:
        """What is wrong with naming this folder, if it can't be one or isn't there."""
        if PurePosixPath(slug).parts != (slug,) or slug in ("..", "/") or "\\" in slug or "\0" in slug:
            return f"{slug!r} is not the name of a folder in {collection}/"
        manifest = f"{collection}/{slug}/{collection[:-1]}.yaml"
        try:
            locate(self.root, manifest)
        except FileError as error:
            if not error.missing:
                return f"{manifest} {error}"
            return f"{manifest} doesn't exist: create it, or correct the name.{self._hint(collection, slug)}"
        return None

    def task(self, slug: str) -> TaskFolder | None:
        """The Task in tasks/<slug>/, or None if its manifest can't be used."""
        before = len(self.problems)
        read = self._manifest("tasks", slug, parse_task)
        if read is None:
            return None
        file, manifest, root, broken = read
        environment = None
        if "environment" not in broken and self._named(file, "environment", manifest.environment):
            environment = self.environment(manifest.environment)
        named = (
            []
            if "verifiers" in broken
            else [name for name in manifest.verifiers if self._named(file, "verifiers", name)]
        )
        verifiers = [verifier for name in named if (verifier := self.verifier(name)) is not None]
        instructions = _text(file, root, "instructions", manifest.instructions)
        if instructions is not None and not instructions.strip():
            file.problem("instructions", f"{manifest.instructions} is empty: write what the Agent must do")
        resources = tuple(_task_resources(file, root, manifest.resources))
        if verifiers and not any(verifier.manifest.scores for verifier in verifiers):
            file.problem("verifiers", "needs at least one Verifier with a check, to score the episode")
        if manifest.seat_instructions:
            file.problem("seat_instructions", "are for several Agents at once, which a Benchmark can't rank")
        if environment is not None and not broken and not environment.broken:
            _check_state(file, manifest, environment.manifest)
        parts = (environment, *verifiers)
        return TaskFolder(
            slug=slug,
            manifest=manifest,
            instructions=instructions or "",
            resources=resources,
            environment=environment,
            verifiers=tuple(verifiers),
            complete=len(self.problems) == before
            and len(verifiers) == len(manifest.verifiers)
            and all(part is not None and part.sound for part in parts),
        )

    def environment(self, slug: str) -> EnvironmentFolder | None:
        if slug not in self._environments:
            self._environments[slug] = self._read_environment(slug)
        return self._environments[slug]

    def verifier(self, slug: str) -> VerifierFolder | None:
        if slug not in self._verifiers:
            self._verifiers[slug] = self._read_verifier(slug)
        return self._verifiers[slug]

    def _read_environment(self, slug: str) -> EnvironmentFolder | None:
        before = len(self.problems)
        read = self._manifest("environments", slug, parse_environment)
        if read is None:
            return None
        file, manifest, root, broken = read
        if manifest.party is not None:
            file.problem("party", "lets several Agents share an episode, which a Benchmark can't rank")
        readme = _text(file, root, "readme", manifest.readme) if manifest.readme else ""
        code = {"python": manifest.python}
        code |= {f"apps.{n}.python": app.python for n, app in enumerate(manifest.apps)}
        for at, reference in code.items():
            if reference:
                _check_there(file, root, at, reference.rpartition(":")[0])
        for position, resource in enumerate(manifest.resources):
            if resource["delivery"] == "source":
                _check_there(file, root, f"resources.{position}", resource["path"])
        digest = _digest(file, root)
        return EnvironmentFolder(
            slug=slug,
            root=root,
            manifest=manifest,
            readme=readme or "",
            source_digest=digest,
            broken=broken,
            sound=len(self.problems) == before,
        )

    def _read_verifier(self, slug: str) -> VerifierFolder | None:
        before = len(self.problems)
        read = self._manifest("verifiers", slug, parse_verifier)
        if read is None:
            return None
        file, manifest, root, _ = read
        for at, reference in manifest.code.items():
            _check_there(file, root, at, reference.rpartition(":")[0])
        digest = _digest(file, root)
        return VerifierFolder(slug, manifest, digest, sound=len(self.problems) == before)

    def _manifest(
        self, collection: str, slug: str, parse: Callable[[object], Parsed[M]]
    ) -> tuple[ManifestFile, M, Path, frozenset[str]] | None:
        """(file, manifest, folder, top-level fields with a problem) of a folder that is there."""
        file = ManifestFile(f"{collection}/{slug}/{collection[:-1]}.yaml", self.problems)
        if not file.read(self.root, file.path):
            return None
        manifest, problems = file.parse(parse)
        broken = frozenset(problem.field.partition(".")[0] for problem in problems)
        if "" in broken:
            return None
        check_name(file, manifest.name, slug, broken)
        self.folders.append(f"{collection}/{slug}")
        return file, manifest, self.root / collection / slug, broken

    def _named(self, file: ManifestFile, at: str, slug: str) -> bool:
        wrong = self.missing("environments" if at == "environment" else at, slug)
        if wrong is not None:
            file.problem(at, wrong)
        return wrong is None

    def _hint(self, collection: str, slug: str) -> str:
        manifests = (self.root / collection).glob(f"*/{collection[:-1]}.yaml")
        return did_you_mean(slug, [path.parent.name for path in manifests])


def did_you_mean(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def check_name(file: ManifestFile, name: str, slug: str, broken: frozenset[str]) -> None:
    if "name" not in broken and name != slug:
        file.problem("name", f"is {name!r}, but the folder is called {slug!r}: they must be the same")


def template_marks(root: Path, shown: str) -> list[Problem]:
    """Each place that a template left to be written, in the text files of a folder."""
    found: list[Problem] = []
    try:
        for file in list_files(root, left_out=NO_PACKAGE):
            path = PurePosixPath(file.path)
            if path.suffix not in TEXT_SUFFIXES or path.name.startswith("."):
                continue
            for number, line in enumerate(read_text(root, file.path).splitlines(), start=1):
                if TEMPLATE_MARK in line:
                    note = line.split(TEMPLATE_MARK, 1)[1].strip(" \t:#->") or "replace this"
                    found.append(Problem(f"{shown}/{file.path}", "", f"still to be written: {note}", number))
    except FileError:
        pass  # the files that matter are read, and reported, where they are used
    return found


def _text(file: ManifestFile, root: Path, at: str, relative: str) -> str | None:
    try:
        return read_text(root, relative)
    except FileError as error:
        file.problem(at, f"{relative} {error}")
        return None


def _check_there(file: ManifestFile, root: Path, at: str, relative: str) -> None:
    try:
        locate(root, relative)
    except FileError as error:
        file.problem(at, f"{relative} {error}")


def _check_state(file: ManifestFile, task: TaskManifest, environment: EnvironmentManifest) -> None:
    names = environment.app_names()
    if names is None or len(names) == 1:
        return  # a single App may be given its State without its name
    for key in task.initial_state:
        if key not in names:
            apps = ", ".join(names) or "none"
            file.problem(f"initial_state.{key}", f"is no App of its Environment, whose Apps are: {apps}")


def _digest(file: ManifestFile, root: Path) -> str:
    try:
        return source_digest(root)
    except FileError as error:
        file.problem("", f"its folder {error}")
        return ""


def _task_resources(file: ManifestFile, root: Path, entries: tuple[str, ...]) -> Iterator[JsonObject]:
    left = MAX_TASK_FILE_BYTES
    for position, entry in enumerate(entries):
        at = f"resources.{position}"
        try:
            place = locate(root, entry)
            relative = PurePosixPath(entry).as_posix()
            paths = [relative] if not place.is_dir() else _visible_files(root, relative)
            for path in paths:
                data = read_file(root, path, MAX_BLOB_BYTES)
                left -= len(data)
                if left < 0:
                    file.problem(at, f"a Task's files may be {MAX_TASK_FILE_BYTES:,} bytes together")
                    return
                yield _file_resource(path, data)
        except FileError as error:
            if not (error.missing and entry == DEFAULT_RESOURCES):
                file.problem(at, f"{entry} {error}")


def _visible_files(root: Path, below: str) -> list[str]:
    return [
        item.path
        for item in list_files(root, below, NO_PACKAGE)
        if not PurePosixPath(item.path).name.startswith(".")
    ]


def _file_resource(path: str, data: bytes) -> JsonObject:
    """A Task's file as it is hashed: text inline, anything else by its digest."""
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    guessed = mimetypes.guess_type(PurePosixPath(path).name)[0]
    try:
        text: str | None = data.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    inline = text is not None and len(text) <= MAX_INLINE_CHARACTERS
    fallback = "application/octet-stream" if text is None else "text/plain"
    blob_type = BLOB_TYPES.get(PurePosixPath(path).suffix.lower()) or guessed
    return {
        "kind": "file",
        "name": path,
        "path": path,
        "uri": None,
        "digest": digest,
        "content_type": (guessed if inline else blob_type) or fallback,
        "config": {},
        "description": "",
        "delivery": "inline" if inline else "blob",
        "content": text if inline else None,
        "resolver": None,
    }
