"""How a file that a form sends gets to disk: only one that the upload page takes, and within the limit."""

from __future__ import annotations

import re
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler

TAKES_FILES = re.compile(r"/projects/[-a-z0-9]+/imports/new")
ROOM_FOR_FORM = 1_000_000
"""Bytes of a form's other fields and of what stands between them."""


class UploadHandler(TemporaryFileUploadHandler):
    """Refuses files that nothing would read, before they fill the disk: forms are read before views run."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> Any:
        self._refused = (
            self.request is None
            or not TAKES_FILES.fullmatch(self.request.path_info)
            or not self.request.user.is_authenticated
            or content_length > settings.UPLOAD_LIMIT + ROOM_FOR_FORM
        )

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if self._refused:
            raise StopUpload(connection_reset=False)
        super().new_file(*args, **kwargs)
