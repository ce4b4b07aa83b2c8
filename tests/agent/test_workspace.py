"""Which places may a tool touch?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.workspace import ToolError, Workspace


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "main.py").write_text("print()\n")
    (tmp_path / "secret.txt").write_text("not yours\n")
    (tmp_path / "project-two").mkdir()
    return Workspace(root)


def test_a_path_inside_is_found_however_it_is_spelled(at: Workspace) -> None:
    expected = at.base / "src" / "main.py"
    for path in ("src/main.py", "./src/../src/main.py", str(expected), "new/../src//main.py"):
        assert at.resolve(path) == expected
    assert at.resolve(".") == at.base
    assert at.shown(expected) == "src/main.py"


@pytest.mark.parametrize(
    "path", ["..", "../secret.txt", "src/../../secret.txt", "/etc/passwd", "~", "../project-two/x"]
)
def test_a_path_outside_is_refused(at: Workspace, path: str) -> None:
    with pytest.raises(ToolError, match="only inside"):
        at.resolve(path)


def test_a_link_that_leads_out_is_refused_also_in_the_middle_of_a_path(at: Workspace) -> None:
    (at.root / "out").symlink_to(at.root.parent)
    (at.root / "leak.txt").symlink_to(at.root.parent / "secret.txt")
    for path in ("out/secret.txt", "leak.txt", "out/new.txt", "out"):
        with pytest.raises(ToolError, match="symbolic link"):
            at.resolve(path)


def test_a_link_that_stays_inside_leads_where_it_points(at: Workspace) -> None:
    (at.root / "alias").symlink_to("src")
    assert at.resolve("alias/main.py") == at.base / "src" / "main.py"


def test_links_in_a_circle_never_lead_out(at: Workspace) -> None:
    (at.root / "a").symlink_to("b")
    (at.root / "b").symlink_to("a")
    with pytest.raises(ToolError):
        at.resolve("a/../../secret.txt")
    assert at.holds(at.resolve("a"))


def test_a_root_that_is_a_link_itself_holds_what_is_in_it(at: Workspace, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(at.root)
    through = Workspace(tmp_path / "shortcut")
    assert through.resolve("src/main.py") == at.base / "src" / "main.py"
    assert through.shown(through.resolve("src/main.py")) == "src/main.py"


def test_an_extra_folder_is_open_and_its_neighbours_are_not(at: Workspace, tmp_path: Path) -> None:
    wider = Workspace(at.root, extra=(tmp_path / "project-two",))
    assert wider.resolve("../project-two/x") == Path(os.path.realpath(tmp_path)) / "project-two" / "x"
    with pytest.raises(ToolError):
        wider.resolve("../secret.txt")


@pytest.mark.parametrize(
    ("path", "word"),
    [("", "empty"), ("  ", "empty"), ("a\0b", "null"), ("x" * 256, "too long"), ("ab/" * 1_400, "too long")],
)
def test_a_path_no_file_can_have_is_told_as_such(at: Workspace, path: str, word: str) -> None:
    with pytest.raises(ToolError, match=word):
        at.resolve(path)


@given(st.text(max_size=60) | st.lists(st.sampled_from(["..", ".", "src", "/", "~", "a"])).map("/".join))
def test_whatever_is_resolved_lies_inside(path: str) -> None:
    at = Workspace(Path("/nowhere/project"))
    try:
        place = at.resolve(path)
    except ToolError:
        return
    assert place == at.base or at.base in place.parents
