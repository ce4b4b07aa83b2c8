"""What the docs show is what there is."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in (ROOT / "README.md", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def test_the_page_of_commands_is_the_commands_own_help():
    spec = importlib.util.spec_from_file_location("write_commands", ROOT / "docs" / "write_commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run: python docs/write_commands.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_file_that_the_docs_name_exists(page):
    text = page.read_text()
    named = re.findall(r"\]\(([^)#]+)\)", text) + re.findall(r"`((?:docs|tests|bench|src)/[\w./-]+\.\w+)`", text)
    for name in named:
        if not name.startswith("http"):
            assert (page.parent / name).exists() or (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_rooms_in_the_readme_are_the_rooms():
    shown = set(re.findall(r"[├└]── (\w+)/", (ROOT / "README.md").read_text()))
    there = {path.name for path in (ROOT / "src" / "clew").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert shown == there - {"samples"}


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_the_examples_run(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
