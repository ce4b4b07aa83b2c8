"""search_files and list_files: what they find, what they leave out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.agent.tools import matching_lines
from clew.agent.tools.ignoring import matching
from clew.agent.tools.searching import search_files
from clew.agent.workspace import Workspace
from tests.agent import did, refused


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


@pytest.fixture
def project(at: Workspace) -> Workspace:
    files = {
        "src/app.py": "import os\n\nTOKEN = 1\ntoken = 2\n",
        "src/deep/er/x.ts": "const token = 3\n",
        "README.md": "a token\n",
        "build/out.py": "token\n",
        "debug.log": "token\n",
        "keep.log": "token\n",
        ".git/config": "token\n",
        "src/.gitignore": "local.py\n/deep/er/gen.*\n",
        "src/local.py": "token\n",
        "src/deep/er/gen.py": "token\n",
        ".gitignore": "# made\nbuild/\n*.log\n!keep.log\n",
    }
    for name, text in files.items():
        (at.root / name).parent.mkdir(parents=True, exist_ok=True)
        (at.root / name).write_text(text)
    (at.root / "data.bin").write_bytes(b"token\0\1")
    (at.root.parent / "secret.txt").write_text("token\n")
    (at.root / "leak.txt").symlink_to(at.root.parent / "secret.txt")
    (at.root / "up").symlink_to(at.root.parent)
    (at.root / "src" / "again").symlink_to(at.root)
    os.mkfifo(at.root / "pipe")
    return at


def test_matches_are_file_line_and_text_without_what_is_ignored_binary_or_outside(project: Workspace) -> None:
    assert did(project, "search_files", pattern=r"\btoken\b").split("\n") == [
        "README.md:1:a token",
        "keep.log:1:token",
        "src/app.py:4:token = 2",
        "src/deep/er/x.ts:1:const token = 3",
    ]


def test_a_folder_a_file_and_a_glob_narrow_the_search(project: Workspace) -> None:
    assert did(project, "search_files", pattern="(?i)token", path="src", glob="*.py").split("\n") == [
        "src/app.py:3:TOKEN = 1",
        "src/app.py:4:token = 2",
    ]
    assert did(project, "search_files", pattern="token", path="build/out.py") == "build/out.py:1:token"
    assert did(project, "search_files", pattern="token", glob="src/**/*.ts") == "src/deep/er/x.ts:1:const token = 3"
    assert "no files" in did(project, "search_files", pattern="token", glob="*.rs")
    assert "outside" in refused(project, "search_files", pattern="token", path="/etc")


def test_more_matches_are_pointed_to_and_can_be_read(project: Workspace) -> None:
    first = did(project, "search_files", pattern="token", limit=3).split("\n")
    assert first[3:] == ["[more matches follow; see them with offset=3]"]
    assert did(project, "search_files", pattern="token", limit=3, offset=3) == "src/deep/er/x.ts:1:const token = 3"
    assert "only 4 matches" in did(project, "search_files", pattern="token", offset=9)
    assert did(project, "search_files", pattern="nowhere to be found").startswith("[no line matches in ")


def test_a_pattern_that_is_none_is_told(project: Workspace) -> None:
    assert "unterminated" in refused(project, "search_files", pattern="foo(")
    assert "empty" in refused(project, "search_files", pattern="")


def test_a_pattern_that_never_ends_is_stopped_and_what_was_found_counts(at: Workspace) -> None:
    (at.root / "a.txt").write_text("aab\n")
    (at.root / "b.txt").write_text("a" * 60 + "c\n")
    asked = {"pattern": "^(a+)+b", "path": ".", "limit": 50, "offset": 0}
    found, note = search_files(asked, at, patience=1.0).split("\n")
    assert found == "a.txt:1:aab"
    assert "stopped after 1 s with 1 found" in note


def test_of_a_long_line_the_part_around_the_match_is_shown(at: Workspace) -> None:
    (at.root / "min.js").write_text("x" * 50_000 + "needle" + "y" * 50_000)
    found = did(at, "search_files", pattern="needle")
    assert "xneedley" in found
    assert len(found) < 500


def test_a_folder_is_listed_with_sizes_to_its_depth(project: Workspace) -> None:
    assert did(project, "list_files").split("\n") == [
        ".gitignore (30 bytes)",
        "README.md (8 bytes)",
        "data.bin (7 bytes)",
        "keep.log (6 bytes)",
        "src/",
        "src/.gitignore (24 bytes)",
        "src/app.py (31 bytes)",
        "src/deep/",
    ]
    assert did(project, "list_files", path="src/deep", depth=3).split("\n") == [
        "src/deep/er/",
        "src/deep/er/x.ts (16 bytes)",
    ]


def test_a_long_list_says_that_it_is_one(project: Workspace) -> None:
    listed = did(project, "list_files", limit=2).split("\n")
    assert len(listed) == 3
    assert "more than 2" in listed[2]
    assert "more than" not in did(project, "list_files", limit=8)


def test_what_is_no_folder_is_told(project: Workspace) -> None:
    assert "read_file" in refused(project, "list_files", path="README.md")
    assert "not there" in refused(project, "list_files", path="nowhere")
    (project.root / "hollow").mkdir()
    assert "empty" in did(project, "list_files", path="hollow")


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "a.py/b"]),
        ("/a", ["a"], ["x/a"]),
        ("a/b", ["a/b"], ["x/a/b"]),
        ("**/b", ["b", "x/y/b"], ["xb"]),
        ("a/**", ["a/x", "a/x/y"], ["a", "b/x"]),
        ("a/**/z", ["a/z", "a/b/c/z"], ["az"]),
        ("[!a]?.c", ["bc.c"], ["ab.c", "b.c"]),
        ("a+b(1)", ["a+b(1)"], ["aab1"]),
        ("[z-a]", ["[z-a]"], ["z"]),
    ],
)
def test_a_glob_is_read_as_git_reads_it(glob: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in yes + no if matching(glob).fullmatch(path)] == yes


def test_a_rule_for_folders_leaves_files_of_that_name_alone(at: Workspace) -> None:
    (at.root / ".gitignore").write_text("build/\n")
    (at.root / "build").write_text("a script\n")
    assert did(at, "search_files", pattern="script") == "build:1:a script"


def test_the_program_that_searches_stops_at_the_last_match_wanted(at: Workspace) -> None:
    (at.root / "a").write_text("x\n" * 1_000)
    asked = b"\0".join([b"x", b"2", os.fsencode(at.root / "a")])
    done = subprocess.run([sys.executable, matching_lines.__file__], input=asked, capture_output=True, check=True)
    assert done.stdout.split(b"\0")[1::3] == [b"1", b"2"]
