"""What does this person want? The file in clew's home, overridden by the environment, read once and checked whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from clew.runtime.files import replace_file
from clew.runtime.home import home
from clew.runtime.settings import KEYS, SETTINGS, BadSettings, Settings, Value, checked, from_text, known

FILE = "config.yaml"


def path() -> Path:
    return home() / FILE


def read(file: Path | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """What holds. BadSettings names the first thing that cannot be, and what would do."""
    file = file or path()
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    for key, value in _flat(_document(file), str(file)):
        values[key] = checked(known(key, str(file)), value, str(file))
        sources[key] = str(file)
    for setting in SETTINGS:
        if setting.variable in environment:
            values[setting.key] = from_text(setting, environment[setting.variable], setting.variable)
            sources[setting.key] = setting.variable
    return Settings({key: value for key, value in values.items() if value is not None}, sources)


def write(key: str, value: Value, file: Path | None = None) -> None:
    """Change one setting in the file and leave everything else, comments too, as it is. None takes it out."""
    file = file or path()
    document = _document(file)
    *sections, name = key.split(".")
    holder: Any = document
    for section in sections:
        if not isinstance(holder.get(section), dict):
            holder[section] = {}
        holder = holder[section]
    if value is None:
        holder.pop(name, None)
    else:
        holder[name] = value
    _save(document, file)


def _flat(document: Any, place: str, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        key = f"{before}{name}"
        inside = any(known_key.startswith(f"{key}.") for known_key in KEYS)
        if isinstance(value, dict) and inside:
            yield from _flat(value, place, f"{key}.")
        elif inside and value is not None:
            raise BadSettings(f"{place}: {key} is a section; write its settings below it, not {value!r}")
        elif not inside:
            yield key, value


def _yaml() -> Any:
    from ruamel.yaml import YAML  # late: most commands read no file

    return YAML()


def _document(file: Path) -> Any:
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return CommentedMap()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or error}. Mend or remove it."
        ) from None
    try:
        document = _yaml().load(text)
    except YAMLError as error:
        told = " ".join(str(error).split())
        raise BadSettings(f"{file} is not YAML: {told[:300]}") from None
    if document is None:
        return CommentedMap()
    if not isinstance(document, dict):
        raise BadSettings(f"{file} has to hold sections such as 'model:', not {type(document).__name__}")
    return document


def _save(document: Any, file: Path) -> None:
    text = BytesIO()
    _yaml().dump(document, text)
    try:
        replace_file(file, text.getvalue(), mode=0o600)
    except OSError as error:
        raise BadSettings(f"{file} cannot be written: {error.strerror or error}. Check its folder.") from None
