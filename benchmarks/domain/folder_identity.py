"""The content hashes of a Benchmark folder, from what the project already holds.

An Environment's content holds the actions that its Apps offer. They come from code, which is never run
here. So a folder's Environments and Verifiers are looked up among revisions of the project, by the digest
of their files and by all that their manifests declare. Anything that can't be shown to be unchanged is an
answer of its own, with what to do.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.domain.definitions import (
    RUNTIME_NAMES,
    benchmark_definition,
    task_definition,
    verifier_definition,
)
from benchmarks.domain.folder import BenchmarkFolder
from benchmarks.domain.identity import canonical_jcs, hashed_content
from benchmarks.domain.manifests import AppManifest
from benchmarks.domain.package_files import FileError, read_text
from benchmarks.domain.project_files import EnvironmentFolder, VerifierFolder
from benchmarks.domain.types import Definition, JsonObject

Known = Callable[[str], Sequence[Definition]]
"""Environments and Verifiers of a project whose content hash or source digest is the one given."""

DEFAULT_IMAGE = "python:3.12-slim"
RUNTIME: JsonObject = {
    "placement": {},
    "variables": [],
    "image": None,
    "snapshot": None,
    "declarative_image": None,
    "build_context": None,
    "dockerfile": None,
    "network": "public",
    "allowed_hosts": [],
    "compute": {"cpu": None, "memory_mb": None, "pids": None, "disk_mb": None, "storage_mb": None},
    "read_only_root": False,
    "persistent": False,
    "compose": False,
    "extra_capabilities": [],
    "timeout_seconds": 300,
    "build_timeout_seconds": 600,
    "allow_unsafe_local": False,
}
PROVIDERS: Mapping[str, JsonObject] = {
    "local": {"targets": ["local"], "allow_unsafe_local": True},
    "docker": {"targets": ["docker", "remote"], "image": DEFAULT_IMAGE},
    "daytona": {"targets": ["remote"], "image": DEFAULT_IMAGE},
}
PLAIN_SETTINGS = frozenset({"ref", "image", "network", "allowed_hosts", "read_only_root", "timeout_seconds"})
COMPUTE_SETTINGS = {"cpus": "cpu", "memory_mb": "memory_mb", "storage_mb": "storage_mb"}
NETWORKS = frozenset({"public", "no-network", "allowlist"})


@dataclass(frozen=True, slots=True)
class Resolution:
    """A Benchmark and its Tasks in order, or None and the reason why they can't be told from the folder."""

    benchmark: Definition | None
    tasks: tuple[Definition, ...] = ()
    reason: str = ""


class _UnknownError(Exception):
    """Something that the project can't have seen in this form."""


def known_among(definitions: Iterable[Definition]) -> Known:
    """Look-up over the given definitions."""
    found: dict[str, dict[str, Definition]] = defaultdict(dict)
    for definition in definitions:
        for digest in (definition.content_hash, definition.content.get("source_digest")):
            if isinstance(digest, str):
                found[digest][definition.content_hash] = definition
    return lambda digest: tuple(found.get(digest, {}).values())


def resolve(folder: BenchmarkFolder, known: Known) -> Resolution:
    """Content hashes of a folder that was found to have no problems."""
    try:
        tasks = tuple(_task(folder, slug, known) for slug in folder.tasks)
    except _UnknownError as unknown:
        advice = f"Run the Benchmark and import the Job (`plural run -b {folder.slug}`), or push it."
        return Resolution(None, reason=f"{unknown} {advice}")
    benchmark = benchmark_definition(folder.declared, [task.content_hash for task in tasks])
    return Resolution(replace(benchmark, slug=folder.slug), tasks)


def _task(folder: BenchmarkFolder, slug: str, known: Known) -> Definition:
    task = folder.task_folders.get(slug)
    if task is None or task.environment is None or not task.complete:
        raise _UnknownError(f"tasks/{slug} can't be read completely.")
    environment = _environment_hash(task.environment, known)
    verifiers = [_verifier_hash(verifier, known) for verifier in task.verifiers]
    return replace(task_definition(task.declared(), environment, verifiers), slug=slug)


def _verifier_hash(folder: VerifierFolder, known: Known) -> str:
    declared = dict(folder.manifest.declared)
    for hook in folder.manifest.code:
        declared[hook] = {**declared[hook], "digest": folder.source_digest}
    content_hash = verifier_definition(declared).content_hash
    if not any(item.kind == "verifier" for item in known(content_hash)):
        raise _UnknownError(f"verifiers/{folder.slug} is new or was changed since a Job used it.")
    return content_hash


def _environment_hash(folder: EnvironmentFolder, known: Known) -> str:
    where = f"environments/{folder.slug}"
    held = [item for item in known(folder.source_digest) if item.kind == "environment"]
    if not held:
        raise _UnknownError(f"{where} is new, or its files were changed since a Job used it.")
    expected = _declared_content(folder)
    differences = {item.content_hash: _differences(expected, folder, item.content) for item in held}
    same = [content_hash for content_hash, differing in differences.items() if not differing]
    if len(same) == 1:
        return same[0]
    if same:
        raise _UnknownError(f"{where} fits {len(same)} revisions, which only its code tells apart.")
    nearest: list[str] = min(differences.values(), key=len)
    fields = ", ".join(nearest)
    raise _UnknownError(f"{where}/environment.yaml may have changed since a Job used it ({fields}).")


def _declared_content(folder: EnvironmentFolder) -> dict[str, Any]:
    """The part of an Environment's content that its folder tells without running code."""
    manifest = folder.manifest
    return {
        "description": manifest.description,
        "overview": manifest.overview,
        "readme": folder.readme,
        "guardrails": list(manifest.guardrails),
        "resources": list(manifest.resources),
        "runtime": declared_runtime(manifest.runtime),
        "harness_policy": manifest.harness_policy,
        "limits": asdict(manifest.limits),
        "metadata": manifest.metadata,
        "source_digest": folder.source_digest,
    }


def _differences(expected: JsonObject, folder: EnvironmentFolder, content: JsonObject) -> list[str]:
    """Fields in which the folder isn't, or can't be shown to be, what a held revision says."""
    named = [
        *(key for key in expected if _canonical(expected[key]) != _canonical(content.get(key))),
        *sorted(content.keys() - expected.keys() - {"apps", "python"}),
    ]
    return named if _same_apps(folder, content) else [*named, "apps"]


def _canonical(value: Any) -> bytes:
    return canonical_jcs(hashed_content({"value": value}))


def declared_runtime(settings: JsonObject) -> JsonObject | None:
    """The Runtime that an environment.yaml asks for, as it is hashed; None for settings not known here."""
    rest = dict(settings)
    provider = rest.pop("provider", None)
    if provider not in PROVIDERS:
        return None
    runtime = {**RUNTIME, **PROVIDERS[provider], "provider": provider}
    compute = {name: rest.pop(key) for key, name in COMPUTE_SETTINGS.items() if key in rest}
    packages = rest.pop("python_packages", None)
    if "dockerfile" in rest and "image" not in rest and provider == "docker":
        runtime |= {
            "image": None,
            "dockerfile": rest.pop("dockerfile"),
            "build_context": rest.pop("build_context", None) or ".",
        }
    if not rest.keys() <= PLAIN_SETTINGS or None in (*rest.values(), *compute.values()):
        return None
    runtime |= rest
    runtime["compute"] = {**RUNTIME["compute"], **compute}
    if packages:
        runtime["packages"] = {"python": packages}
    if runtime["network"] not in NETWORKS:
        return None
    return {RUNTIME_NAMES.get(key, key): value for key, value in runtime.items()}


def _same_apps(folder: EnvironmentFolder, content: JsonObject) -> bool:
    """Whether the Apps of a revision are those that environment.yaml names, in name, code and settings.

    `python` there is an App, which then comes first, or an Environment's own class.
    """
    declared = list(folder.manifest.apps)
    held = content.get("apps")
    python = folder.manifest.python
    if content.get("python") != python:
        if python is None or content.get("python") is not None:
            return False
        declared.insert(0, AppManifest(name=None, kind="python", python=python, config={}))
    if not isinstance(held, list) or len(held) != len(declared):
        return False
    return all(_same_app(folder, app, item) for app, item in zip(declared, held, strict=True))


def _same_app(folder: EnvironmentFolder, app: AppManifest, held: JsonObject) -> bool:
    if app.kind != "python" or app.python is None:
        return False  # its actions may come from a server that we can't ask
    name = app.name or _class_name(folder, app.python)
    return (
        name is not None
        and (held.get("kind"), held.get("name"), held.get("python")) == ("python", name, app.python)
        and _canonical(held.get("config")) == _canonical(app.config)
    )


def _class_name(folder: EnvironmentFolder, reference: str) -> str | None:
    """The name that an App has by itself: its class's `name`, else the class's own in snake case."""
    path, _, class_name = reference.rpartition(":")
    try:
        module = ast.parse(read_text(folder.root, path))
    except (FileError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for statement in node.body:
                match statement:
                    case (
                        ast.Assign(targets=[ast.Name(id="name")], value=ast.Constant(value=str() as name))
                        | ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=str() as name))
                    ) if name:
                        return name
            return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()
    return None
