"""How are a message's parts spelled: texts, pictures, files, and what another dialect left among them?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from clew.wire.content import plain
from clew.wire.responses.kinds import kind_of

MARK = "prompt_cache_breakpoint"
"""On a part: cache up to here. Chat's parts have it under the same name."""
_INPUT = frozenset({"input_text", "input_image", "input_file", "input_audio"})
_FILE = frozenset({"filename", "file_data", "file_id"})


def read_content(content: Any) -> Any:
    """What a client said or a tool gave, in chat's parts; a text stays a text."""
    return [read_part(part) for part in content] if isinstance(content, list) else content


def read_part(part: Any) -> Any:
    """One part in chat's form, where chat's form can say all of it; else as it is."""
    fields = set(part) - {"type", MARK} if isinstance(part, Mapping) else set()
    match kind_of(part):
        case "input_text" if fields == {"text"} and isinstance(part["text"], str):
            said: dict[str, Any] = plain(part["text"])
        case "input_image" if fields in ({"image_url"}, {"image_url", "detail"}) and isinstance(part["image_url"], str):
            detail = {"detail": part["detail"]} if "detail" in part else {}
            said = {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
        case "input_file" if fields and fields <= _FILE:
            said = {"type": "file", "file": {name: part[name] for name in part if name in _FILE}}
        case _:
            return part
    return _marked(said, part)


def spell_content(parts: Iterable[Any]) -> list[dict[str, Any]]:
    """Parts of a message or of a tool's output, whatever dialect they came from."""
    return [spell_part(part) for part in parts]


def spell_part(part: Any) -> dict[str, Any]:
    """One part as this dialect knows it; what it does not know is told as its JSON."""
    if not isinstance(part, Mapping):
        return {"type": "input_text", "text": str(part)}
    held = part.get(kind_of(part))
    match kind_of(part):
        case kind if kind in _INPUT:
            return dict(part)
        case "text" | "output_text" | "":
            return _marked({"type": "input_text", "text": text_in(part)}, part)
        case "image_url" if isinstance(held, Mapping) and isinstance(held.get("url"), str):
            detail = {"detail": held["detail"]} if "detail" in held else {}
            return _marked({"type": "input_image", "image_url": held["url"], **detail}, part)
        case "file" if isinstance(held, Mapping) and set(held) & _FILE:
            named = {name: held[name] for name in held if name in _FILE}
            return _marked({"type": "input_file", **named}, part)
    return {"type": "input_text", "text": told(part)}


def text_in(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else told(part)


def words_in(value: Any) -> str:
    """The text of a value: itself, that of a part, or of a list of parts."""
    if isinstance(value, list):
        return "".join(map(words_in, value))
    return value if isinstance(value, str) else text_in(value) if isinstance(value, Mapping) else ""


def told(value: Any) -> str:
    """Something this dialect has no form for, in words."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _marked(spelled: dict[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    return {**spelled, MARK: part[MARK]} if MARK in part else spelled
