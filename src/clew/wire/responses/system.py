"""What is the system's text, when instructions and the first items of the input both say it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from clew.facts.messages import SYSTEM_ROLES
from clew.wire.responses.kinds import is_message, kind_of, role_of

SYSTEM = "system"
"""In foreign["responses"]: the instructions and the leading items as they came, unless the instructions are all."""
_BETWEEN = "\n\n"


def read_system(body: Mapping[str, Any], items: Sequence[Any]) -> tuple[str, dict[str, Any] | None, Sequence[Any]]:
    """The system's text, how it was spelled if not plainly, and the items behind it.

    Where the conversation goes on from somewhere on the provider's side, no item is its beginning.
    """
    is_start = not body.get("previous_response_id") and not body.get("conversation")
    leading = list(takewhile(_is_of_the_system, items)) if is_start else []
    spelling: dict[str, Any] = {"items": leading}
    if "instructions" in body:
        spelling["instructions"] = body["instructions"]
    text = _text_of(spelling)
    is_plain = not leading and text == body.get("instructions", "")
    return text, None if is_plain and (text or "instructions" not in body) else spelling, items[len(leading) :]


def spell_system(system: str, spelling: Any) -> tuple[dict[str, Any], list[Any]]:
    """The body's `instructions`, where it has them, and the leading items. What was added since goes behind."""
    said = _text_of(spelling) if isinstance(spelling, Mapping) else ""
    if not isinstance(spelling, Mapping) or not system.startswith(said):
        return {"instructions": system} if system else {}, []
    fields = {name: value for name, value in spelling.items() if name == "instructions"}
    leading, rest = list(spelling["items"]), system[len(said) :].removeprefix(_BETWEEN)
    if rest and not leading:
        return {"instructions": system}, []
    return fields, [*leading, {"role": leading[-1]["role"], "content": rest}] if rest else leading


def _is_of_the_system(item: Any) -> bool:
    if not isinstance(item, Mapping) or not is_message(item) or role_of(item) not in SYSTEM_ROLES:
        return False
    content = item.get("content")
    parts = content if isinstance(content, list) else ()
    return isinstance(content, str) or (bool(parts) and all(isinstance(_text_in(part), str) for part in parts))


def _text_of(spelling: Mapping[str, Any]) -> str:
    instructions = spelling.get("instructions")
    texts = [instructions if isinstance(instructions, str) else ""]
    for item in spelling["items"]:
        content = item["content"]
        texts.append(content if isinstance(content, str) else "\n".join(map(_text_in, content)))
    return _BETWEEN.join(filter(None, texts))


def _text_in(part: Any) -> Any:
    return part.get("text") if kind_of(part) == "input_text" else None
