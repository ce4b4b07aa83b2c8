"""Files are written whole or not at all."""

import os
import stat

import pytest

from clew.cli.errors import Failed
from clew.cli.writing import write_whole


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_stood_there_survives_a_write_that_fails_half_way(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    path.write_text("old")

    def disk_is_full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_is_full)
    with pytest.raises(Failed, match="no space left on device"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_goes_on_pointing_to_the_file(tmp_path):
    path, link = tmp_path / "out.json", tmp_path / "link.json"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_device_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
