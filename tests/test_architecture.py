"""The plan of the house as a test: who may import whom, and which rooms are pure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "clew"

MAY_IMPORT = {
    "facts": set(),
    "core": {"facts"},
    "engines": {"facts", "core"},
    "wire": {"facts"},
    "tokens": {"facts"},
    "store": {"facts"},
    "recall": {"facts", "store"},
    "runtime": {"facts", "core", "engines", "wire", "tokens", "store", "recall"},
    "screen": {"facts", "core", "store", "recall"},
    "agent": {"facts", "core", "engines", "wire", "tokens", "store", "recall", "runtime", "screen"},
    "gateway": {"facts", "core", "engines", "wire", "tokens", "store", "recall", "runtime"},
    "cli": {
        "facts", "core", "engines", "wire", "tokens", "store", "recall", "runtime", "screen", "agent", "gateway", "",
    },
    "testing": {"facts", "core", "engines", "wire", "tokens", "store", "runtime", ""},
    "": {"facts", "core", "engines", "wire", "tokens", "store", "runtime"},
}  # fmt: skip
"""Room → the rooms it may import; the empty name is the front door `clew` itself."""

PURE = {"facts", "core", "engines", "wire"}
PURE_FILES = {"store/lineage.py", "recall/words.py", "recall/query.py", "recall/forms.py"}
IMPURE_MODULES = {
    "asyncio", "datetime", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil",
    "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}

FILES = sorted(SOURCE.rglob("*.py"))


def is_pure(path: Path) -> bool:
    return room_of(path) in PURE or path.relative_to(SOURCE).as_posix() in PURE_FILES


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The full names of all modules a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{name.name}" for name in node.names if node.module == "clew"}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_what_the_plan_allows(path: Path) -> None:
    room = room_of(path)
    for name in imports(path):
        if name == "clew" or name.startswith("clew."):
            other = name.split(".")[1] if "." in name else ""
            if other not in MAY_IMPORT:
                other = ""  # a name from the front door, such as clew.compact
            assert other == room or other in MAY_IMPORT[room], (
                f"{room or 'clew'} may not import {other or 'clew'} ({name})"
            )


@pytest.mark.parametrize("path", [p for p in FILES if is_pure(p)], ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_pure_room_touches_no_clock_no_file_no_socket_no_log_no_chance(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path)}
    assert not roots & IMPURE_MODULES, f"{path.name} imports {roots & IMPURE_MODULES}"
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & IMPURE_CALLS, f"{path.name} calls {called & IMPURE_CALLS}"


@pytest.mark.parametrize("path", [p for p in FILES if is_pure(p)], ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_pure_room_needs_nothing_but_python(path: Path) -> None:
    import sys

    roots = {name.split(".")[0] for name in imports(path)} - {"clew"}
    assert roots <= set(sys.stdlib_module_names), f"{path.name} needs {roots - set(sys.stdlib_module_names)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_in_one_line_what_question_it_answers(path: Path) -> None:
    told = ast.get_docstring(ast.parse(path.read_text()))
    assert told, f"{path.name} has no docstring"
    assert len(told.splitlines()[0]) <= 120
