"""read_file: some lines of a file, or of stored output."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from clew.agent.tools.reading import LINE, MOST
from clew.agent.workspace import Workspace
from clew.store.blobs import lines
from clew.store.trouble import NotFound
from tests.agent import did, refused


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


NAME = "0123456789abcdef0123456789abcdef"


def test_lines_are_numbered_from_the_offset_and_the_rest_is_pointed_to(at: Workspace) -> None:
    (at.root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert did(at, "read_file", path="a.txt", offset=3, limit=2) == (
        "3\tline 3\n4\tline 4\n[a.txt goes on; read more with offset=5]"
    )
    assert did(at, "read_file", path="a.txt", offset=9, limit=2) == "9\tline 9\n10\tline 10"


def test_reading_on_from_every_pointer_gives_the_whole_file(at: Workspace) -> None:
    written = [f"{n} " + "x" * 300 for n in range(1, 1_001)]
    (at.root / "a.txt").write_text("\n".join(written))
    read: list[str] = []
    offset, pages = "1", 0
    while offset:
        page = did(at, "read_file", path="a.txt", offset=int(offset)).split("\n")
        pages += 1
        assert sum(map(len, page)) <= MOST + 100
        offset = page.pop().partition("offset=")[2].rstrip("]") if "goes on" in page[-1] else ""
        read += [line.partition("\t")[2] for line in page]
    assert read == written
    assert pages > 1


def test_a_long_line_is_cut_with_a_note_and_the_next_keeps_its_number(at: Workspace) -> None:
    (at.root / "a.txt").write_text("x" * 200_000 + "\nnext\n")
    first, second = did(at, "read_file", path="a.txt").split("\n")
    assert first == f"1\t{'x' * LINE} [line cut: {200_000 - LINE:,} more characters]"
    assert second == "2\tnext"


def test_a_line_of_just_the_length_is_whole(at: Workspace) -> None:
    for end in ("", "\n"):
        (at.root / "a.txt").write_text("x" * LINE + end)
        assert did(at, "read_file", path="a.txt") == f"1\t{'x' * LINE}"


def test_an_empty_file_and_a_line_that_is_not_there_are_told(at: Workspace) -> None:
    (at.root / "empty").touch()
    (at.root / "two").write_text("a\nb\n")
    assert did(at, "read_file", path="empty") == "[empty is empty]"
    assert "no line 5; its last line is 2" in refused(at, "read_file", path="two", offset=5)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(50), "picture (PNG)"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "picture (JPEG)"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "picture (WebP)"),
        (b"%PDF-1.7\n", "PDF"),
        (b"some\0bytes", "binary"),
    ],
)
def test_what_is_not_text_is_told_as_what_it_is(at: Workspace, data: bytes, word: str) -> None:
    (at.root / "x").write_bytes(data)
    told = refused(at, "read_file", path="x")
    assert word in told
    assert "bytes" in told


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("héllo\r\nwörld\r\n".encode(), "1\théllo\n2\twörld"),
        ("\ufeffhéllo".encode(), "1\théllo"),
        ("héllo\nyou".encode("utf-16"), "1\théllo\n2\tyou"),
        ("héllo\nyou".encode("utf-32"), "1\théllo\n2\tyou"),
        ("héllo".encode("latin-1"), "1\th\ufffdllo"),
        (b"BM is how this text begins", "1\tBM is how this text begins"),
        ("a\x0cb\u2028c\rd\ne".encode(), "1\ta\x0cb\u2028c\rd\n2\te"),
    ],
)
def test_text_is_read_in_the_encoding_it_has(at: Workspace, data: bytes, shown: str) -> None:
    (at.root / "x").write_bytes(data)
    assert did(at, "read_file", path="x") == shown


def test_a_huge_file_is_read_without_being_loaded(at: Workspace) -> None:
    with (at.root / "huge").open("wb") as file:
        file.write(b"first\n")
        for _ in range(40):
            file.write(b"x" * 1_000_000)  # one line of 40 MB
        file.write(b"\nlast\n")
    tracemalloc.start()
    try:
        assert did(at, "read_file", path="huge", offset=3) == "3\tlast"
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_file_that_is_not_there_is_told_with_its_neighbours(at: Workspace) -> None:
    (at.root / "src").mkdir()
    (at.root / "src" / "settings.py").touch()
    assert "src/settings.py" in refused(at, "read_file", path="src/setting.py")
    assert "list_files" in refused(at, "read_file", path="other/thing.py")
    assert "folder" in refused(at, "read_file", path="src")


def test_a_pipe_is_refused_instead_of_waited_for(at: Workspace) -> None:
    os.mkfifo(at.root / "pipe")
    assert "no regular file" in refused(at, "read_file", path="pipe")


def test_stored_output_is_read_by_its_pointer(at: Workspace) -> None:
    data = "".join(f"out {n}\n" for n in range(1, 101)).encode()

    def read_blob(name: str, offset: int, limit: int) -> str:
        if name != NAME:
            raise NotFound(f"there is no blob {name}")
        return lines(data, offset, limit)

    stored = replace(at, read_blob=read_blob)
    assert did(stored, "read_file", path=f"blob:{NAME}", offset=40, limit=2) == (
        f"40\tout 40\n41\tout 41\n[blob:{NAME} goes on; read more with offset=42]"
    )
    assert did(stored, "read_file", path=f"blob:{NAME}", offset=100, limit=1) == "100\tout 100"
    assert "has no line 101." in refused(stored, "read_file", path=f"blob:{NAME}", offset=101)
    assert "there is no blob" in refused(stored, "read_file", path=f"blob:{NAME[::-1]}")
    assert "no stored output" in refused(at, "read_file", path=f"blob:{NAME}")
