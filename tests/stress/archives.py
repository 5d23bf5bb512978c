"""Archives that nobody should send, made from a sound Job by chance: one function a kind."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builders import BenchmarkSpec, make_job, track

Files = dict[str, bytes]
BLOCK = 512


@dataclass(frozen=True, slots=True)
class Bad:
    """`may_land`: what was changed may be something that nobody reads."""

    kind: str
    name: str
    data: bytes
    may_land: bool = False


def bad_archives(folder: Path, count: int, chance: random.Random, only: str = "") -> list[Bad]:
    """`count` of them, every kind about as often. The same chance gives the same archives."""
    job = make_job(folder, benchmark=BenchmarkSpec(tracks=(track(),)), track_id="open", attempts=3)
    root = job.parent
    files = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in job.rglob("*") if path.is_file()
    }
    found: list[Bad] = []
    while len(found) < count:
        for kind, make in KINDS.items():
            if only not in ("", kind):
                continue
            name, data = make(files, chance)
            found.append(Bad(kind, f"{len(found)}-{kind}{name}", data, kind in MAY_LAND))
    return found[:count]


# Packing ------------------------------------------------------------------------------------------------


def tar(files: Files) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            archive.addfile(_info(name, len(data)), io.BytesIO(data))
    return out.getvalue()


def _info(name: str, size: int, **fields: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def packed_zip(files: Files, **fields: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo("x")
            info.filename, info.compress_type = name, zipfile.ZIP_DEFLATED
            for key, value in fields.items():
                setattr(info, key, value)
            archive.writestr(info, data)
    return out.getvalue()


def raw_header(name: bytes, size: int, kind: bytes = b"0") -> bytes:
    """A tar header of which every byte is ours."""
    block = bytearray(BLOCK)
    block[: len(name[:100])] = name[:100]
    block[100:108] = block[108:116] = block[116:124] = b"0000644\0"
    block[124:136] = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    block[136:148] = b"%011o\0" % 0
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


# Kinds --------------------------------------------------------------------------------------------------


def cut_gzip(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = gzip.compress(tar(files), 6)
    return ".tar.gz", whole[: chance.randrange(1, len(whole) - 8)]


def cut_tar(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = tar(files)
    return ".tar", whole[: chance.randrange(1, len(whole.rstrip(b"\0")))]


def cut_zip(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = packed_zip(files)
    return ".zip", whole[: chance.randrange(4, len(whole) - 22)]


def flipped_gzip(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = bytearray(gzip.compress(tar(files), 6))
    for _ in range(chance.randrange(1, 20)):
        whole[chance.randrange(20, len(whole) - 8)] ^= 1 << chance.randrange(8)
    whole[-8] ^= 1
    return ".tgz", bytes(whole)


def flipped_header(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = bytearray(tar(files))
    whole[chance.choice([*range(100), *range(124, 136)])] ^= 1 << chance.randrange(7)
    return ".tar", bytes(whole)


def flipped_zip(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = bytearray(packed_zip(files))
    start = 30 + whole[26] + 256 * whole[27]
    for _ in range(chance.randrange(1, 20)):
        whole[start + chance.randrange(20)] ^= 0xFF
    return ".zip", bytes(whole)


def noise(files: Files, chance: random.Random) -> tuple[str, bytes]:
    start, name = chance.choice(
        [(b"\x1f\x8b", ".tgz"), (b"PK\x03\x04", ".zip"), (b"", ".tar"), (b"\x1f\x8b\x08\0", ".tar.gz")]
    )
    return name, start + chance.randbytes(chance.randrange(1, 5000))


def leading_out(files: Files, chance: random.Random) -> tuple[str, bytes]:
    job = next(iter(files)).partition("/")[0]
    bad = chance.choice(
        [
            "../x",
            "/etc/cron.d/x",
            f"{job}/../../x",
            "C:/x",
            "a\\..\\x",
            f"{job}//x",
            "..",
            "./../x",
            "\\\\host\\x",
        ]
        + ["../" * chance.randrange(2, 40) + "x", f"{job}/trials/../../../x"]
    )
    both = files | {bad: b"x"}
    return chance.choice(
        [(".tar", tar(both)), (".tgz", gzip.compress(tar(both))), (".zip", packed_zip(both))]
    )


def links(files: Files, chance: random.Random) -> tuple[str, bytes]:
    job = next(iter(files)).partition("/")[0]
    out = io.BytesIO()
    kind = chance.choice(
        [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"Z"]
    )
    target = chance.choice(["/etc/passwd", "../../../../etc/shadow", f"{job}/lock.json", "."])
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(_info(f"{job}/artifacts", 0, type=kind, linkname=target))
        for name, data in files.items():
            archive.addfile(_info(name, len(data)), io.BytesIO(data))
    return ".tar", out.getvalue()


def zip_links(files: Files, chance: random.Random) -> tuple[str, bytes]:
    mode = chance.choice([0o120777, 0o010644, 0o060644, 0o140644])
    return ".zip", packed_zip({"a/link": b"/etc/passwd", **files}, external_attr=mode << 16)


def bomb(files: Files, chance: random.Random) -> tuple[str, bytes]:
    job = next(iter(files)).partition("/")[0]
    size = chance.randrange(40, 90) << 20
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9) as target:
        target.write(raw_header(f"{job}/zeroes".encode(), size))
        for _ in range(size >> 20):
            target.write(bytes(1 << 20))
        target.write(bytes(1024))
    return ".tar.gz", out.getvalue()


def zip_bomb(files: Files, chance: random.Random) -> tuple[str, bytes]:
    """A member that grows a thousandfold, or many names for one, as in bombs whose members overlap."""
    if chance.random() < 0.5:
        return ".zip", packed_zip({**files, "a": bytes(chance.randrange(40, 90) << 20)})
    inner = packed_zip({"a": bytes(chance.randrange(2, 6) << 20)})
    entries = inner.index(b"PK\x01\x02")
    local, central, end = inner[:entries], inner[entries:-22], inner[-22:]
    count = 200
    directory = central * count
    end = end[:8] + struct.pack("<HHII", count, count, len(directory), len(local)) + end[20:]
    return ".zip", local + directory + end


def claimed_size(files: Files, chance: random.Random) -> tuple[str, bytes]:
    """A member that says it is larger than all there is."""
    size = chance.choice([2**40, 2**63, 2**80, 8**11 - 1, 10**6])
    return ".tar", raw_header(b"x", size) + tar(files)[: chance.randrange(1024, 20_000)]


def deep_folders(files: Files, chance: random.Random) -> tuple[str, bytes]:
    deep = "/".join("d" for _ in range(chance.randrange(100, 900))) + "/x"
    both = files | {deep: b"x"}
    return chance.choice([(".tar", tar(both)), (".zip", packed_zip(both))])


def huge_names(files: Files, chance: random.Random) -> tuple[str, bytes]:
    size = chance.choice([300, 5000, 60_000, 70_000, 1_000_000])
    name = chance.choice(["n", "\u00e9", "\U0001f600"]) * size
    return ".tar", tar({name: b"x", **files})


def huge_gnu_name(files: Files, chance: random.Random) -> tuple[str, bytes]:
    size = chance.choice([66_000, 5_000_000, 10**9])
    name = b"n" * min(size, 5_000_000)
    return ".tar", raw_header(b"././@LongLink", size, b"L") + padded(name) + tar(files)


def bad_utf8(files: Files, chance: random.Random) -> tuple[str, bytes]:
    job = next(iter(files)).partition("/")[0].encode()
    name = job + b"/" + chance.choice([b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"a\xf5b", b"\x80"])
    return ".tar", raw_header(name, 1) + padded(b"x") + tar(files)


def control_names(files: Files, chance: random.Random) -> tuple[str, bytes]:
    job = next(iter(files)).partition("/")[0]
    bad = chance.choice(["\n", "\x1b[31m", "\x7f", "\x01", "\r", "\u0085"])
    both = {f"{job}/a{bad}b": b"x", **files}
    return chance.choice([(".tar", tar(both)), (".zip", packed_zip(both))])


def sparse(files: Files, chance: random.Random) -> tuple[str, bytes]:
    if chance.random() < 0.5:
        return ".tar", raw_header(b"x", 0, b"S") + tar(files)
    record = b"GNU.sparse.major=1\n"
    record = b"%d %s" % (len(record) + 3, record)
    return ".tar", raw_header(b"pax", len(record), b"x") + padded(record) + raw_header(b"x", 0) + tar(files)


def bad_pax(files: Files, chance: random.Random) -> tuple[str, bytes]:
    record = chance.choice(
        [
            b"9999999 path=x\n",
            b"x",
            b"0 \n",
            b"12 size=-5\n\n",
            b"13 size=1e9\n\n",
            b"18 size=99999999999999999999999\n",
        ]
        + [b"7 path\n", b"10 path=x", bytes(60), b"5 a=b\n" * 3, b"-1 path=x\n"]
    )
    return ".tar", raw_header(b"pax", len(record), b"x") + padded(record) + tar(files)


def twice(files: Files, chance: random.Random) -> tuple[str, bytes]:
    """A name that is there twice, or a file that is a folder elsewhere."""
    name = chance.choice([name for name in files if len(name) < 90])
    if chance.random() < 0.5:
        return ".tar", raw_header(name.encode(), 1) + padded(b"x") + tar(files)
    return ".tar", raw_header(name.encode() + b"/inside", 1) + padded(b"x") + tar(files)


def unsupported_zip(files: Files, chance: random.Random) -> tuple[str, bytes]:
    whole = bytearray(packed_zip(files))
    field, value = chance.choice([(8, 12), (8, 14), (8, 99), (6, 1)])
    entry = whole.index(b"PK\x01\x02")
    whole[field : field + 2] = whole[entry + field + 2 : entry + field + 4] = struct.pack("<H", value)
    return ".zip", bytes(whole)


def zip_directory(files: Files, chance: random.Random) -> tuple[str, bytes]:
    """A directory that isn't where, or as large as, the end of the archive says."""
    whole = bytearray(packed_zip(files))
    at = len(whole) - 22 + chance.choice([8, 10, 12, 13, 14, 16, 17, 18])
    whole[at] ^= chance.randrange(0x20, 0x100)
    entry = whole.index(b"PK\x01\x02")
    whole[entry] ^= 1
    return ".zip", bytes(whole)


def no_job(files: Files, chance: random.Random) -> tuple[str, bytes]:
    few: Files = {f"{chance.randrange(1000)}/readme.txt": b"hello" for _ in range(chance.randrange(1, 300))}
    return chance.choice(
        [(".tar", tar(few)), (".zip", packed_zip(few)), (".tar", bytes(10240)), (".zip", packed_zip({}))]
    )


def file_gone(files: Files, chance: random.Random) -> tuple[str, bytes]:
    gone = chance.choice([name for name in files if name.endswith(("config.json", "lock.json"))])
    return ".tgz", gzip.compress(tar({name: data for name, data in files.items() if name != gone}))


def bad_json(files: Files, chance: random.Random) -> tuple[str, bytes]:
    name = chance.choice(
        [name for name in files if name.endswith(("lock.json", "config.json", "result.json"))]
    )
    data = chance.choice(
        [b"", b"{", b"[]", b"null", b"\xff\xfe{}", b'{"a": NaN}', b'{"a": 1e999}', b'{"a": 1} x', b'"x"']
        + [b"[" * 100_000, b'{"a":' * 5000, b'{"a": "\\ud800"}', b'{"a": ' + b"9" * 5000 + b"}", b"\0" * 100]
        + [files[name][:-3], b"\xef\xbb\xbf" + files[name], files[name] + files[name]]
    )
    return ".tgz", gzip.compress(tar(files | {name: data}), 1)


STRANGE: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, 1e-320),
    *(
        "",
        "x" * 5000,
        "x" * 200_000,
        "\0",
        "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    ),
    *("../../etc", "<script>", "9999-99-99T99:99:99Z", "0001-01-01T00:00:00Z", "2026-01-01T00:00:00+99:00"),
    *([], {}, [[]], {"a": {"b": {}}}, [None] * 2000, "sha256:" + "0" * 64, "sha256:" + "G" * 64),
)


def strange_value(files: Files, chance: random.Random) -> tuple[str, bytes]:
    """Some field of some file is what nobody would think of."""
    name = chance.choice([name for name in files if name.endswith(".json")])
    document = json.loads(files[name])
    places = list(_places(document))
    for _ in range(chance.randrange(1, 3)):
        at = copy.copy(chance.choice(places))
        inside: Any = document
        try:
            for step in at[:-1]:
                inside = inside[step]
            inside[at[-1]] = chance.choice(STRANGE)
        except (KeyError, IndexError, TypeError):  # the last change took it away
            continue
    return ".tgz", gzip.compress(tar(files | {name: json.dumps(document).encode()}), 1)


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*before, key)
        yield from _places(inner, (*before, key))


Make = Callable[[Files, random.Random], tuple[str, bytes]]
KINDS: dict[str, Make] = {
    make.__name__.replace("_", "-"): make
    for make in (
        *(cut_gzip, cut_tar, cut_zip, flipped_gzip, flipped_header, flipped_zip, noise, leading_out, links),
        *(zip_links, bomb, zip_bomb, claimed_size, deep_folders, huge_names, huge_gnu_name, bad_utf8),
        *(control_names, sparse, bad_pax, twice, unsupported_zip, zip_directory, no_job, file_gone, bad_json),
        *(strange_value, strange_value),
    )
}
MAY_LAND = {"strange-value"}
