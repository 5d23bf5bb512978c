"""ATIF trajectories of any size, and executions that left the files a test wants."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from jobs.models import Blob, Execution
from plural_site.db import blobs
from tests.builders import START, Json

ATIF = "artifacts/atif-trajectory.json"


def step(number: int, *, size: int = 400, **changes: Any) -> Json:
    """A step of the Agent that calls a tool, of about `size` characters more than its frame."""
    text = f"Line {number} of the log, nothing to see here.\n"
    return {
        "step_id": number,
        "source": "agent",
        "timestamp": (START + timedelta(seconds=number)).isoformat(),
        "message": f"Step {number}: look at the log.",
        "model_name": "sim/one",
        "llm_call_count": 1,
        "tool_calls": [
            {"tool_call_id": f"c{number}", "function_name": "read_log", "arguments": {"at": number}}
        ],
        "observation": {
            "results": [{"source_call_id": f"c{number}", "content": (text * (size // len(text) + 1))[:size]}]
        },
        "metrics": {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 5, "cost_usd": 0.001},
        **changes,
    }


def atif(steps: list[Any], **changes: Any) -> Json:
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "s1",
        "agent": {"name": "solo", "version": "1.0.0", "model_name": "sim/one"},
        "steps": steps,
        **changes,
    }


def write_atif(
    target: Path, steps: int, *, size: int = 600, special: Mapping[int, Json] | None = None
) -> Path:
    """A file of `steps` steps, written piece by piece. `special` replaces fields of some of them."""
    with target.open("wb") as file:
        for piece in _pieces(steps, size, special or {}):
            file.write(piece)
    return target


def _pieces(steps: int, size: int, special: Mapping[int, Json]) -> Iterator[bytes]:
    head = json.dumps(atif([]))
    yield head[: head.index('"steps": [')].encode() + b'"steps": ['
    for number in range(1, steps + 1):
        comma = ",\n" if number > 1 else "\n"
        yield comma.encode() + json.dumps(step(number, size=size, **special.get(number, {}))).encode()
    yield b"]}"


def leave(execution: Execution, files: Mapping[str, bytes | Path | Any]) -> Execution:
    """Makes these the files of an execution: bytes, files on disk, or what becomes JSON."""
    rows, at = [], 0
    with tempfile.TemporaryFile() as pack:
        for path, content in files.items():
            hasher, size = hashlib.sha256(), 0
            with _opened(content) as stream:
                while data := stream.read(1 << 20):
                    hasher.update(data)
                    size += len(data)
                    pack.write(data)
            rows.append([path, f"sha256:{hasher.hexdigest()}", at, size, "application/json", "", ""])
            at += size
        pack.seek(0)
        digest = blobs.put(pack)
    Blob.objects.get_or_create(digest=digest, defaults={"size": at})
    execution.pack_id, execution.files = digest, rows
    execution.save()
    return execution


def _opened(content: bytes | Path | Any) -> IO[bytes]:
    if isinstance(content, Path):
        return content.open("rb")
    return io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())
