"""Archives: the same Jobs as from a folder, and nothing from one that is not what it should be."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.folder import check_folder
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import folders, project_copies
from jobs.domain.readers.archives import unpack
from jobs.domain.readers.packed import PackedFolder
from jobs.domain.readers.sources import Limits, open_source
from jobs.domain.readers.tar import TarError, members, padding
from tests.builders import BenchmarkSpec, make_job
from tests.readers.conftest import Read, Refused, evidence, read_all

Pack = Callable[[Path, Path, str], None]


def pack_tar(folder: Path, archive: Path, top: str) -> None:
    with tarfile.open(archive, "w") as tar:
        tar.add(folder, top)


def pack_tar_gz(folder: Path, archive: Path, top: str) -> None:
    with tarfile.open(archive, "w:gz", format=tarfile.GNU_FORMAT) as tar:
        tar.add(folder, top)


def pack_zip(folder: Path, archive: Path, top: str) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(folder.rglob("*")):
            out.write(path, os.path.normpath(f"{top}/{path.relative_to(folder)}"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder with two Jobs and a Benchmark's own folder."""
    folder = tmp_path / "project"
    spec = BenchmarkSpec(tasks=("only",))
    make_job(folder / ".plural" / "jobs", benchmark=spec)
    make_job(folder / ".plural" / "jobs", benchmark=spec, key="again")
    (folder / "benchmarks" / "demo-bench").mkdir(parents=True)
    (folder / "benchmarks" / "demo-bench" / "benchmark.yaml").write_text(
        "name: demo-bench\n", encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("pack", [pack_tar, pack_tar_gz, pack_zip])
@pytest.mark.parametrize("top", [".", "project", "a/b/c"])
def test_archive_gives_what_the_folder_gives(
    project: Path, tmp_path: Path, scratch: Path, read: Read, pack: Pack, top: str
) -> None:
    archive = tmp_path / "handed-over"
    pack(project, archive, top)
    wanted = read(project)
    found = read(archive)
    assert [header.job_id for header, _ in found] == [header.job_id for header, _ in wanted]
    assert [evidence(t) for _, trials in found for t in trials] == [
        evidence(t) for _, trials in wanted for t in trials
    ]
    prefix = "" if top == "." else f"{top}/"
    with open_source(archive, scratch) as source:
        assert {job.label.rpartition("/")[0] for job in source.job_folders()} == {f"{prefix}.plural/jobs"}
        assert [folder.name for folder in source.benchmark_folders()] == ["demo-bench"]
        assert list(scratch.iterdir()) != []
    assert list(scratch.iterdir()) == []


def write(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"name: {file}\n", encoding="utf-8")


@pytest.mark.parametrize("pack", [pack_tar, pack_zip])
def test_benchmark_of_an_archive_is_checked_like_that_of_its_folder(
    project: Path, tmp_path: Path, scratch: Path, pack: Pack
) -> None:
    wanted = ("project.yaml", "tasks/a/task.yaml", "tasks/a/.pluralignore", "environments/e/environment.yaml",
              "verifiers/v/deep/er/code.py", "harnesses/h/x", "agents/a/agent.yaml")  # fmt: skip
    write(project, *wanted, "secrets/key", "tasks/a/.git/config", "tasks/__pycache__/x.pyc")
    (project / "tasks" / "empty").mkdir()
    pack(project, tmp_path / "archive", "up/project")
    with open_source(project, scratch) as source:
        [folder] = source.benchmark_folders()
        expected = check_folder(folder)
    with open_source(tmp_path / "archive", scratch) as source:
        assert [path for path in scratch.rglob("*") if path.is_file()] == []  # nothing before it is asked for
        [folder] = source.benchmark_folders()
        assert source.benchmark_folders() == [folder]
        assert check_folder(folder) == expected
        root = folder.parents[1]
        found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
        assert found == {*wanted, "benchmarks/demo-bench/benchmark.yaml"}
        assert (root / "tasks" / "empty").is_dir()
        assert source.notes == []


@pytest.mark.parametrize(("limit", "value"), [("MAX_COPIED", 4), ("MAX_BYTES", 50)])
def test_project_too_big_to_be_copied_out_of_an_archive_is_noted(
    project: Path, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    write(project, "../small/benchmarks/b/benchmark.yaml")
    write(project, "tasks/a/task.yaml", "tasks/b/task.yaml")
    pack_tar(tmp_path / "small", tmp_path / "small.tar", "all/small")
    with tarfile.open(tmp_path / "small.tar", "a") as tar:
        tar.add(project, "all/large")
    monkeypatch.setattr(project_copies, limit, value)
    with open_source(tmp_path / "small.tar", scratch) as source:
        assert len(source.job_folders()) == 2
        assert [folder.parents[1].name for folder in source.benchmark_folders()] == ["small"]
        assert [(note.file, "left out" in note.message) for note in source.notes] == [
            ("all/large/benchmarks", True)
        ]
        assert not list(scratch.rglob("large"))


def test_disk_that_takes_no_project(project: Path, tmp_path: Path, scratch: Path) -> None:
    pack_tar(project, tmp_path / "jobs.tar", "project")
    with open_source(tmp_path / "jobs.tar", scratch) as source:
        [target] = scratch.iterdir()
        target.rmdir()
        target.write_bytes(b"")
        with pytest.raises(ImportProblemError, match="project: can't be unpacked"):
            source.benchmark_folders()
        target.unlink()
        target.mkdir()


def test_archive_of_one_job_without_its_folder(project: Path, tmp_path: Path, read: Read) -> None:
    job = next((project / ".plural" / "jobs").iterdir())
    pack_zip(job, tmp_path / "job.zip", ".")
    [(header, trials)] = read(tmp_path / "job.zip")
    assert (header.job_id, len(trials)) == (job.name, 1)


@pytest.mark.parametrize("inside", ["", ".plural", ".plural/jobs"])
def test_folder_may_be_given_from_anywhere_above_the_jobs(project: Path, read: Read, inside: str) -> None:
    assert len(read(project / inside)) == 2


def test_benchmarks_without_jobs_are_found(project: Path, scratch: Path) -> None:
    shutil.rmtree(project / ".plural" / "jobs")
    with open_source(project, scratch) as source:
        assert source.job_folders() == []
        assert [folder.name for folder in source.benchmark_folders()] == ["demo-bench"]


def test_jobs_are_not_looked_for_too_deep(project: Path, tmp_path: Path, refused: Refused) -> None:
    top = tmp_path / "top"
    deep = top / "/".join(["d"] * 9)
    deep.mkdir(parents=True)
    shutil.copytree(project, deep / "project")
    assert "holds no Job" in refused(top).message


def test_several_projects_in_one_folder(project: Path, tmp_path: Path, read: Read) -> None:
    shutil.copytree(project, tmp_path / "both" / "one")
    shutil.copytree(project, tmp_path / "both" / "two")
    assert len(read(tmp_path / "both")) == 4


def test_input_may_itself_be_a_link(project: Path, tmp_path: Path, read: Read) -> None:
    (tmp_path / "link").symlink_to(project)
    assert len(read(tmp_path / "link")) == 2


def test_tar_of_the_tar_program(project: Path, tmp_path: Path, read: Read) -> None:
    deep = project / ".plural" / "jobs"
    name = "n" * 200
    for trial in deep.glob("*/trials/*/executions/0/artifacts"):
        (trial / name).write_bytes(b"long")
    for form in ("gnu", "posix", "ustar"):
        if form == "ustar":
            for file in deep.rglob(name):
                file.unlink()
        archive = tmp_path / f"{form}.tgz"
        subprocess.run(["tar", "czf", archive, f"--format={form}", "-C", tmp_path, "project"], check=True)
        assert len(read(archive)) == 2


def tar_of(*infos: tuple[str, bytes, dict[str, object]], gz: bool = False) -> bytes:
    """A tar with these members, beside what makes it a Job no reader would get to."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if gz else "w", format=tarfile.PAX_FORMAT) as tar:
        for name, data, fields in infos:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in fields.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(*infos: tuple[str, bytes, dict[str, object]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data, fields in infos:
            info = zipfile.ZipInfo("x")
            info.filename = name
            for key, value in fields.items():
                setattr(info, key, value)
            archive.writestr(info, data)
    return out.getvalue()


BAD_NAMES = [
    ("/etc/passwd", "absolute"),
    ("//x", "absolute"),
    ("C:/x", "absolute"),
    ("c:x", "absolute"),
    ("../x", "leads out"),
    ("a/../../x", "leads out"),
    ("a/..", "leads out"),
    ("a\\..\\x", "backslash"),
    ("..\\x", "backslash"),
    ("a//b", "empty step"),
    ("a/" + "n" * 256, "too long"),
    ("/".join(["d"] * 61), "too long"),
    ("/".join(["d" * 200] * 11), "too long"),
]


@pytest.mark.parametrize(("name", "message"), BAD_NAMES)
@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_member_name_that_is_refused(
    tmp_path: Path, refused: Refused, make: Callable[..., bytes], name: str, message: str
) -> None:
    archive = tmp_path / "bad"
    archive.write_bytes(make(("fine", b"x", {}), (name, b"evil", {})))
    problem = refused(archive)
    assert message in problem.message
    assert problem.file.startswith(name[:100])
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.GNUTYPE_SPARSE, "unknown kind"),
        (b"Z", "unknown kind"),
    ],
)
def test_tar_member_that_is_no_file(tmp_path: Path, refused: Refused, kind: bytes, message: str) -> None:
    archive = tmp_path / "bad.tar"
    archive.write_bytes(tar_of(("a/b", b"", {"type": kind, "linkname": "/etc/passwd"})))
    problem = refused(archive)
    assert problem.file == "a/b"
    assert message in problem.message


@pytest.mark.parametrize("mode", [0o120777, 0o010644, 0o060644])
def test_zip_member_that_is_no_file(tmp_path: Path, refused: Refused, mode: int) -> None:
    archive = tmp_path / "bad.zip"
    archive.write_bytes(zip_of(("a/b", b"/etc/passwd", {"external_attr": mode << 16})))
    problem = refused(archive)
    assert problem.file == "a/b"
    assert "not allowed" in problem.message


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make", [tar_of, zip_of])
@pytest.mark.parametrize(
    ("first", "second"),
    [("a/b", "a/b"), ("a/b", "./a/b"), ("a", "a/b"), ("a/b", "a"), ("a/b/", "a/b"), ("a", "a/")],
)
def test_member_that_is_there_twice(
    tmp_path: Path, refused: Refused, make: Callable[..., bytes], first: str, second: str
) -> None:
    archive = tmp_path / "bad"
    archive.write_bytes(make((first, b"", {}), (second, b"", {})))
    assert refused(archive).message


@pytest.mark.parametrize("name", [b"a\xff", b"\xed\xa0\x80"])
def test_member_name_that_is_not_utf8(tmp_path: Path, refused: Refused, name: bytes) -> None:
    good = tar_of(("bad_name", b"", {}))
    header = bytearray(good[:512])
    header[:100] = name.ljust(100, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "bad.tar").write_bytes(bytes(header) + good[512:])
    problem = refused(tmp_path / "bad.tar")
    assert "not UTF-8" in problem.message
    str(problem).encode()
    raw = zip_of(("n" * len(name), b"", {}))
    (tmp_path / "bad.zip").write_bytes(raw.replace(b"n" * len(name), name))
    assert "not UTF-8" in refused(tmp_path / "bad.zip").message


def test_zip_name_with_a_nul(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.zip").write_bytes(zip_of(("aXb", b"", {})).replace(b"aXb", b"a\0b"))
    assert "control character" in refused(tmp_path / "bad.zip").message


def test_pax_name_with_a_nul_or_none(tmp_path: Path, refused: Refused) -> None:
    raw = tar_of(("aXb", b"", {"pax_headers": {"path": "a_b"}}))
    (tmp_path / "bad.tar").write_bytes(raw.replace(b"path=a_b", b"path=a\0b"))
    assert "control character" in refused(tmp_path / "bad.tar").message
    (tmp_path / "bad.tar").write_bytes(raw.replace(b"12 path=a_b\n", b"9 path=\n".ljust(12)[:12]))
    assert refused(tmp_path / "bad.tar").message


def test_encrypted_zip(tmp_path: Path, refused: Refused) -> None:
    data = bytearray(zip_of(("secret", b"x", {})))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    (tmp_path / "bad.zip").write_bytes(data)
    problem = refused(tmp_path / "bad.zip")
    assert (problem.file, problem.message) == ("secret", "is encrypted")


def test_zip_packed_in_another_way(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.zip").write_bytes(zip_of(("a", b"x" * 99, {"compress_type": zipfile.ZIP_LZMA})))
    assert "not supported" in refused(tmp_path / "bad.zip").message


def test_zip_of_a_later_version(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.zip").write_bytes(zip_of(("a", b"x", {"extract_version": 99})))
    assert "version 9.9" in refused(tmp_path / "bad.zip").message


def test_zip_that_lies_about_a_size(tmp_path: Path, refused: Refused) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(100_000))
    data = bytearray(out.getvalue())
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 200_000)
    (tmp_path / "bad.zip").write_bytes(data)
    assert refused(tmp_path / "bad.zip").file == "bad.zip"


BOMB = Limits(total=10**9, ratio=100, ratio_floor=1_000_000)


def test_bombs_are_stopped_early(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bomb.tgz").write_bytes(tar_of(("zeros", bytes(20_000_000), {}), gz=True))
    problem = refused(tmp_path / "bomb.tgz", BOMB)
    assert problem.file == "bomb.tgz"
    assert "100 times its packed size" in problem.message
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    assert "100 times" in refused(tmp_path / "bomb.zip", BOMB).message
    (tmp_path / "endless.gz").write_bytes(gzip.compress(tar_of(("a", b"", {})) + bytes(20_000_000)))
    assert "100 times" in refused(tmp_path / "endless.gz", BOMB).message


def test_bomb_of_the_default_limits(tmp_path: Path, refused: Refused) -> None:
    with gzip.open(tmp_path / "bomb.tgz", "wb") as out:
        info = tarfile.TarInfo("zeros")
        info.size = 100 * 2**20
        out.write(info.tobuf())
        for _ in range(100):
            out.write(bytes(2**20))
        out.write(bytes(1024))
    assert "times its packed size" in refused(tmp_path / "bomb.tgz").message


@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_limits(tmp_path: Path, refused: Refused, make: Callable[..., bytes]) -> None:
    archive = tmp_path / "big"
    archive.write_bytes(make(("a", bytes(3000), {}), ("b", bytes(3000), {})))
    assert "its limit" in refused(archive, Limits(total=5000)).message
    problem = refused(archive, Limits(member=2999))
    assert (problem.file, "at most 2999" in problem.message) == ("a", True)
    assert "more than 1 members" in refused(archive, Limits(members=1)).message
    archive.write_bytes(make(("deep/er/a", b"", {})))
    assert "more than 2 members" in refused(archive, Limits(members=2)).message


def test_file_at_the_top_of_an_archive_has_no_name(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.tar").write_bytes(tar_of((".", b"x", {})))
    assert refused(tmp_path / "bad.tar").file == "."


def test_folder_in_an_archive_behaves_like_one_on_disk(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "top", "a", "b/c", "b/.d", ".e/f", "g/h/i")
    (tmp_path / "top" / "empty").mkdir()
    pack_tar(tmp_path / "top", tmp_path / "top.tar", ".")
    with (
        closing(unpack(str(tmp_path / "top.tar"), "", str(scratch), Limits())) as files,
        folders.DiskFolder.open(str(tmp_path / "top"), "") as disk,
    ):
        assert_alike(PackedFolder(files, files.top), disk)
        monkeypatch.setattr(folders, "MAX_ENTRIES", 3)
        assert_alike(PackedFolder(files, files.top), disk)


def assert_alike(packed: folders.Folder, disk: folders.Folder) -> None:
    """Both give the same for every name that is there and one that isn't, refusals with their words too."""
    names = disk.names()
    assert packed.names() == names
    for ask in (
        lambda folder, _: folder.entries(),
        lambda folder, name: folder.read(name, 1000),
        lambda folder, name: folder.read(name, 3),
        lambda folder, name: folder.folder(name).close(),
    ):
        for name in (*names.files, *names.folders, "missing"):
            assert outcome(ask, packed, name) == outcome(ask, disk, name)
    for name in names.folders:
        with packed.folder(name) as one, disk.folder(name) as other:
            assert_alike(one, other)


def outcome(ask: Callable[[folders.Folder, str], object], folder: folders.Folder, name: str) -> object:
    try:
        return ask(folder, name)
    except ImportProblemError as error:
        return str(error)


@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
@pytest.mark.parametrize("data", [b"", b"Not an archive.\n", b"{}" * 5000, bytes(range(256)) * 8])
def test_text_given_as_an_archive_is_called_none(
    data: bytes, squeeze: Callable[[bytes], bytes], tmp_path: Path, refused: Refused
) -> None:
    (tmp_path / "notes.txt").write_bytes(squeeze(data))
    assert refused(tmp_path / "notes.txt").message == "is not a tar.gz, tar or zip archive"


def test_archive_that_is_cut_short(project: Path, tmp_path: Path, refused: Refused) -> None:
    for pack in (pack_tar, pack_tar_gz, pack_zip):
        pack(project, tmp_path / "whole", "project")
        data = (tmp_path / "whole").read_bytes()
        for part in (0.0, 0.001, 0.3, 0.7):
            (tmp_path / "cut").write_bytes(data[: int(len(data) * part)])
            assert refused(tmp_path / "cut").file == "cut"


def test_tar_cut_between_two_members(project: Path, tmp_path: Path, refused: Refused) -> None:
    pack_tar(project, tmp_path / "whole.tar", "project")
    with tarfile.open(tmp_path / "whole.tar") as tar:
        last = tar.getmembers()[-1]
    (tmp_path / "cut.tar").write_bytes((tmp_path / "whole.tar").read_bytes()[: last.offset])
    assert "cut short" in refused(tmp_path / "cut.tar").message


def test_gzip_with_a_wrong_checksum(project: Path, tmp_path: Path, refused: Refused) -> None:
    pack_tar_gz(project, tmp_path / "bad.tgz", "project")
    data = bytearray((tmp_path / "bad.tgz").read_bytes())
    data[-8] ^= 1
    (tmp_path / "bad.tgz").write_bytes(data)
    assert "damaged" in refused(tmp_path / "bad.tgz").message


@pytest.mark.parametrize("data", [b"", b"hello", b"PK", b"\x1f\x8b", bytes(20), b"x" * 2000])
def test_file_that_is_no_archive(tmp_path: Path, refused: Refused, data: bytes) -> None:
    (tmp_path / "letter.txt").write_bytes(data)
    assert refused(tmp_path / "letter.txt").file == "letter.txt"


def test_error_inside_names_the_file_in_the_archive(project: Path, tmp_path: Path, refused: Refused) -> None:
    lock = next(project.rglob("lock.json"))
    lock.write_bytes(b"{")
    pack_tar_gz(project, tmp_path / "bad.tgz", "project")
    assert refused(tmp_path / "bad.tgz").file == lock.relative_to(tmp_path).as_posix()


@given(data=st.data())
def test_damaged_archives_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    make = data.draw(st.sampled_from([tar_of, zip_of]))
    raw = bytearray(make(("a/b.json", b"{}", {}), ("a/c", b"x" * 600, {}), ("d", b"", {})))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    (folder / "archive").write_bytes(raw)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    with pytest.raises(ImportProblemError):  # no Job is inside, so it is refused at the latest for that
        read_all(folder / "archive", scratch)
    assert list(scratch.iterdir()) == []


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=120),
            st.binary(max_size=1500),
        ),
        max_size=5,
    ),
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_tar_reader_agrees_with_the_standard_library(files: list[tuple[str, bytes]], form: int) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            try:
                tar.addfile(info, io.BytesIO(content))
            except ValueError:  # too long for ustar
                return
    out.seek(0)
    found = []
    for member in members(out.read):
        found.append((member.name.decode(), out.read(member.size)))
        out.read(padding(member.size))
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        wanted = [(m.name, getattr(tar.extractfile(m), "read", bytes)()) for m in tar]
    assert [(name.rstrip("/"), content) for name, content in found] == [
        (name.rstrip("/"), content) for name, content in wanted
    ]


def test_pax_size_and_long_link_names_are_read() -> None:
    long_link = tarfile.TarInfo("l")
    long_link.type, long_link.size = tarfile.GNUTYPE_LONGLINK, 3
    pax = tarfile.TarInfo("p")
    pax.type, pax.size = tarfile.XHDTYPE, 9
    stream = io.BytesIO(
        long_link.tobuf() + b"x\0\0".ljust(512, b"\0")
        + pax.tobuf() + b"9 size=3\n".ljust(512, b"\0")
        + tarfile.TarInfo("file").tobuf() + b"abc".ljust(512, b"\0") + bytes(1024)
    )  # fmt: skip
    [member] = [(m.name, m.size, stream.read(512)[:3]) for m in members(stream.read)]
    assert member == (b"file", 3, b"abc")


def test_disk_that_takes_no_more(project: Path, tmp_path: Path) -> None:
    pack_tar(project, tmp_path / "jobs.tar", "project")
    with pytest.raises(ImportProblemError, match=r"jobs\.tar: can't be unpacked"):
        unpack(str(tmp_path / "jobs.tar"), "jobs.tar", str(tmp_path / "absent"), Limits())


@pytest.mark.parametrize(
    "records",
    [b"x", b"5 a=b\n", b"99 path=x\n", b"0 path=x\n", b"11 size=-1\n", b"22 GNU.sparse.major=1\n"],
)
def test_pax_header_that_is_damaged(records: bytes) -> None:
    info = tarfile.TarInfo("header")
    info.type = tarfile.XHDTYPE
    info.size = len(records)
    stream = io.BytesIO(info.tobuf() + records.ljust(512, b"\0") + bytes(1024))
    with pytest.raises(TarError):
        list(members(stream.read))


def test_tar_header_that_would_fill_memory() -> None:
    info = tarfile.TarInfo("header")
    info.type = tarfile.XHDTYPE
    info.size = 10**10
    stream = io.BytesIO(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    with pytest.raises(TarError, match="too large"):
        list(members(stream.read))
