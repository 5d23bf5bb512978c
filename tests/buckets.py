"""An S3-compatible object store of the tests' own: moto's server in a process beside them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
from django.conf import settings
from django.core.files.storage import storages
from django.test import override_settings

from tests.ports import free_port, is_open

KEYS = {"access_key": "nobody", "secret_key": "nothing"}  # moto takes any


@dataclass(frozen=True, slots=True)
class Server:
    url: str

    def client(self) -> Any:
        names = ("aws_access_key_id", "aws_secret_access_key")
        options = dict(zip(names, KEYS.values(), strict=True))
        return boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **options)


@dataclass(frozen=True, slots=True)
class Bucket:
    server: Server
    name: str
    asked: list[str]
    """Method of every request that this process's storages sent."""

    def all_keys(self) -> list[str]:
        pages = self.server.client().get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return sorted(found["Key"] for page in pages for found in page.get("Contents", ()))

    def options(self, location: str) -> dict[str, Any]:
        """Of `object_store.ObjectStorage`."""
        return {
            "bucket_name": self.name,
            "endpoint_url": self.server.url,
            "region_name": "us-east-1",
            "addressing": "path",
            "location": location,
            **KEYS,
        }


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server that ends with the block. Its log lies in `folder`."""
    port, log = free_port(), folder / "moto.log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            give_up = time.monotonic() + 60
            while not is_open(port):
                assert process.poll() is None and time.monotonic() < give_up, log.read_text()
                time.sleep(0.05)
            yield Server(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


@contextmanager
def stored_in(server: Server) -> Iterator[Bucket]:
    """Blobs and uploads lie in a new bucket, as with BLOB_STORAGE=s3://NAME/site."""
    bucket = Bucket(server, f"test-{uuid4().hex}", [])
    server.client().create_bucket(Bucket=bucket.name)
    backend = "plural_site.db.object_store.ObjectStorage"
    chosen = {
        name: {"BACKEND": backend, "OPTIONS": bucket.options(f"site/{name}")} for name in ("blobs", "uploads")
    }
    with override_settings(STORAGES=settings.STORAGES | chosen):
        for name in chosen:
            watch(storages[name], bucket.asked)
        yield bucket


def watch(storage: Any, asked: list[str]) -> None:
    """Notes the method of every request that a storage sends from now on."""
    events = storage.connection.meta.client.meta.events
    events.register("before-send.s3", lambda request, **_: asked.append(request.method))
