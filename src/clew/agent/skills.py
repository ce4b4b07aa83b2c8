"""What has the model been taught, and how does it read a lesson when it needs one?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clew.agent.suspicion import suspicious
from clew.runtime.home import home

FILE = "SKILL.md"
LONGEST_SKILL = 24_000
"""Characters the model is given of one skill: about 6,000 tokens, a twentieth of a small window."""
LONGEST_DESCRIPTION = 300
_LARGEST_FILE = 1_000_000  # bytes; whatever is larger was not written to be read

SKILL_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "skill",
        "description": "Read a skill from the list of skills before doing work that it describes.",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Its name in the list."}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
}


class Skill(NamedTuple):
    name: str
    description: str
    path: Path
    """Its SKILL.md; what else it needs lies in the same folder."""


class BadSkill(ValueError):
    """A skill that cannot be used; the text says which and why."""


def skill_folders(project: Path) -> tuple[Path, ...]:
    """Where skills lie. The person's own stand first: no project can put another in the place of one of them."""
    return (home() / "skills", project / ".clew" / "skills")


class Skills:
    """The skills in some folders, read anew at each question. Of two with one name the first folder's is meant."""

    def __init__(self, folders: Sequence[Path], also: Sequence[Path] = ()) -> None:
        """`also` are single skills: folders, or files."""
        self.folders = tuple(folders)
        self._also = tuple(path / FILE if path.is_dir() else path for path in also)

    def list(self) -> tuple[Skill, ...]:
        """All that can be used, by name."""
        return self._look()[0]

    def troubles(self) -> tuple[str, ...]:
        """Those that cannot be used, a sentence for each."""
        return self._look()[1]

    def load(self, name: str) -> str:
        """The text of a skill, after a line that says where its folder is. BadSkill says what is there instead."""
        skill = next((skill for skill in self.list() if skill.name == name.strip()), None)
        if skill is None:
            names = ", ".join(skill.name for skill in self.list()) or "none"
            raise BadSkill(f"there is no skill {name.strip()[:80]!r}; there are: {names}")
        text = _body(_read(skill.path))
        if findings := suspicious(text[:LONGEST_SKILL]):
            raise BadSkill(f"skill {name} is not given out: in {skill.path}, {findings[0]}")
        more = len(text) - LONGEST_SKILL
        cut = f"\n[… {more:,} characters more in {skill.path}]" if more > 0 else ""
        return f"Skill {skill.name}, from {skill.path.parent}\n\n{text[:LONGEST_SKILL]}{cut}"

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Do what the model asked for and tell it how that went."""
        name = arguments.get("name")
        try:
            return self.load(name if isinstance(name, str) else "")
        except BadSkill as error:
            return f"Not done: {error}"

    def _look(self) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
        found: dict[str, Skill] = {}
        troubles = []
        for path in (*_files(self.folders), *self._also):
            try:
                skill = _skill(path)
            except BadSkill as error:
                troubles.append(str(error))
                continue
            if skill.name in found:
                troubles.append(f"{path}: {skill.name} is also at {found[skill.name].path}, which is used")
            else:
                found[skill.name] = skill
        return tuple(found[name] for name in sorted(found)), tuple(troubles)


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        try:
            inside = sorted(folder.iterdir())
        except OSError:  # no such folder: nobody taught anything there
            continue
        yield from (path / FILE for path in inside if (path / FILE).is_file())


def _skill(path: Path) -> Skill:
    text = _read(path)
    front = _front(text)
    name = front.get("name") or path.parent.name
    if not _NAME.fullmatch(name):
        raise BadSkill(f"{path}: {name[:80]!r} is no name for a skill; use letters, digits, '-', '_' and '.'")
    description = " ".join((front.get("description") or _first_sentence(_body(text))).split())
    if not description:
        raise BadSkill(f"{path}: it does not say what it is for; write a description between two lines ---")
    if len(description) > LONGEST_DESCRIPTION:
        description = description[: LONGEST_DESCRIPTION - 1] + "…"
    if findings := suspicious(description):
        raise BadSkill(f"{path}: its description {findings[0].removeprefix('line 1 ')}")
    return Skill(name, description, path)


_NAME = re.compile(r"\w[\w.-]{0,63}")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise BadSkill(f"{path}: larger than {_LARGEST_FILE:,} bytes")
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise BadSkill(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise BadSkill(f"{path}: {error.strerror or error}") from None


_FRONT = re.compile(r"\s*---[ \t]*\n(.{0,8000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(name|description)[ \t]*:[ \t]*(.*)$", re.MULTILINE)


def _body(text: str) -> str:
    front = _FRONT.match(text)
    return text[front.end() :].strip() if front else text.strip()


def _front(text: str) -> dict[str, str]:
    """The words before the body. What is no YAML, mostly for a colon in a sentence, is read line by line."""
    front = _FRONT.match(text)
    if front is None:
        return {}
    fields = _yaml(front[1])
    if fields is None:
        fields = {name: value.strip().strip("\"'") for name, value in _FIELD.findall(front[1])}
    return {str(name): value for name, value in fields.items() if isinstance(value, str)}


def _yaml(text: str) -> Mapping[Any, Any] | None:
    from ruamel.yaml import YAML  # late: most sessions have no skills
    from ruamel.yaml.error import YAMLError

    try:
        document = YAML(typ="base", pure=True).load(text)  # base: every value is text, so no date can be a wrong one
    except (YAMLError, ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


def _first_sentence(body: str) -> str:
    return next((line for line in body.split("\n") if line.strip() and not line.startswith(("#", "```"))), "")
