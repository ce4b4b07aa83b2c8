"""write_file and patch: what they change, and what they leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.agent.workspace import Workspace
from clew.core.redact import PLACEHOLDER
from tests.agent import did, refused


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


def test_a_new_file_is_made_with_its_folders(at: Workspace) -> None:
    assert did(at, "write_file", path="a/b/c.txt", content="one\ntwo") == "a/b/c.txt: made, 2 lines written."
    assert (at.root / "a/b/c.txt").read_bytes() == b"one\ntwo"


def test_a_file_is_replaced_whole_and_keeps_its_mode(at: Workspace) -> None:
    place = at.root / "run.sh"
    place.write_text("old\n" * 3)
    place.chmod(0o750)
    assert did(at, "write_file", path="run.sh", content="new\n") == "run.sh: replaced (it had 3 lines), 1 line written."
    assert place.read_text() == "new\n"
    assert place.stat().st_mode & 0o777 == 0o750
    assert [entry.name for entry in at.root.iterdir()] == ["run.sh"]


def test_the_same_text_is_not_written_again(at: Workspace) -> None:
    (at.root / "a").write_text("same")
    before = (at.root / "a").stat().st_ino
    assert "already" in did(at, "write_file", path="a", content="same")
    assert (at.root / "a").stat().st_ino == before


def test_nothing_is_written_outside_or_over_a_folder(at: Workspace) -> None:
    (at.root / "folder").mkdir()
    (at.root / "out").symlink_to(at.root.parent)
    assert "outside" in refused(at, "write_file", path="/tmp/clew-no", content="x")
    assert "symbolic link" in refused(at, "write_file", path="out/x", content="x")
    assert "folder" in refused(at, "write_file", path="folder", content="x")
    assert not (at.root.parent / "x").exists()


def test_a_placeholder_never_replaces_a_credential(at: Workspace) -> None:
    place = at.root / ".env"
    place.write_text("KEY=real\nPORT=1\n")
    assert PLACEHOLDER in refused(at, "write_file", path=".env", content=f"KEY={PLACEHOLDER}\nPORT=2\n")
    assert PLACEHOLDER in refused(at, "patch", path=".env", old="KEY=real", new=f"KEY={PLACEHOLDER}")
    assert PLACEHOLDER in refused(at, "write_file", path="new.env", content=PLACEHOLDER)
    assert place.read_text() == "KEY=real\nPORT=1\n"


def test_a_file_that_has_the_placeholder_already_may_keep_it(at: Workspace) -> None:
    (at.root / "redact.py").write_text(f'PLACEHOLDER = "{PLACEHOLDER}"\nx = 1\n')
    did(at, "patch", path="redact.py", old="x = 1", new="x = 2")
    did(at, "write_file", path="redact.py", content=f'P = "{PLACEHOLDER}"\n')


def test_a_piece_is_replaced_and_everything_else_stays(at: Workspace) -> None:
    place = at.root / "a.py"
    place.write_bytes("é = 1\nb = 2\n\tc = 3".encode())
    place.chmod(0o640)
    assert did(at, "patch", path="a.py", old="b = 2", new="b = 20\nbb = 2") == "a.py: changed at line 2."
    assert place.read_bytes() == "é = 1\nb = 20\nbb = 2\n\tc = 3".encode()
    assert place.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nX\r\nY\r\nc\r\n"),
        (b"a\nb\nc\n", b"a\nX\nY\nc\n"),
        (b"z\r\na\nb\nc\n", b"z\r\na\nX\nY\nc\n"),
    ],
)
def test_line_ends_stay_as_they_are(at: Workspace, before: bytes, after: bytes) -> None:
    (at.root / "a").write_bytes(before)
    did(at, "patch", path="a", old="a\nb\n", new="a\nX\nY\n")
    assert (at.root / "a").read_bytes() == after


def test_several_matches_change_nothing_until_their_number_is_given(at: Workspace) -> None:
    (at.root / "a").write_text("x = 1\ny = 0\nx = 1\n")
    told = refused(at, "patch", path="a", old="x = 1", new="x = 2")
    assert "2 times (lines 1, 3)" in told
    assert "count=2" in told
    assert (at.root / "a").read_text() == "x = 1\ny = 0\nx = 1\n"
    assert did(at, "patch", path="a", old="x = 1", new="x = 2", count=2) == "a: changed at lines 1, 3."
    assert (at.root / "a").read_text() == "x = 2\ny = 0\nx = 2\n"


def test_no_match_shows_the_nearest_lines(at: Workspace) -> None:
    (at.root / "a.py").write_text("import os\n\ndef fetch(url, timeout):\n    return 1\n")
    told = refused(at, "patch", path="a.py", old="def fetch(url, time_out):\n", new="x")
    assert "3\tdef fetch(url, timeout):" in told
    assert "import os" not in told
    assert "read the file again" in refused(at, "patch", path="a.py", old="zzzz qqqq", new="x")


def test_a_patch_that_says_nothing_is_refused(at: Workspace) -> None:
    (at.root / "a").write_text("x")
    assert "empty" in refused(at, "patch", path="a", old="", new="x")
    assert "same" in refused(at, "patch", path="a", old="x", new="x")
    assert "no file" in refused(at, "patch", path="b", old="x", new="y")


def test_what_is_not_utf_8_is_not_patched(at: Workspace) -> None:
    (at.root / "a").write_bytes(b"caf\xe9 x")
    assert "UTF-8" in refused(at, "patch", path="a", old="x", new="y")
    assert (at.root / "a").read_bytes() == b"caf\xe9 x"
