"""Parts of a file read as one file."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

Load = Callable[[int], bytes]


class JoinedParts(io.RawIOBase):
    """Seekable; holds one part in memory at a time. `load` gives a part by its number, whole."""

    def __init__(self, sizes: Sequence[int], load: Load) -> None:
        super().__init__()
        self._starts = [0, *accumulate(sizes)]
        self._load, self._held, self._data, self._at = load, -1, b"", 0
        self.size = self._starts[-1]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        if start + offset < 0:
            raise OSError(22, "Invalid argument")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # of Buffer
        if self._at >= self.size:
            return 0
        number = bisect_right(self._starts, self._at) - 1
        if number != self._held:
            self._data, self._held = self._load(number), number
        start = self._at - self._starts[number]
        data = self._data[start : start + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
