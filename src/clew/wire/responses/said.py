"""Which message do the model's items come to, and which items a message?

A message keeps in its `responses` key one entry for each message item it was made of, unless that is the plainest form:
the item's fields without its texts, so that the same items come back as long as the message says as many texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from clew.facts.messages import Message, ToolCall
from clew.wire.content import Item, composed, items_of, plain
from clew.wire.responses.calls import read_call, spell_call
from clew.wire.responses.kinds import RESPONSES, THOUGHTS, is_asked, is_item, is_message, item_in, kind_of, part_of
from clew.wire.responses.parts import text_in, told

Entry: TypeAlias = Mapping[str, Any]
"""A message item without what it says; its `content` is a list with the rest of each part, None for a bare text."""
SAYS = {"output_text": "text", "refusal": "refusal"}
"""The field of a part that says something, the rest being about it."""


def read_said(items: Iterable[Mapping[str, Any]]) -> Message:
    """The one message that the model's items come to, in their order."""
    said: list[Item] = []
    entries: list[dict[str, Any]] = []
    is_shortest = True
    for item in items:
        if not is_message(item) or not is_spoken(item.get("content")):
            said.append(read_call(item) if is_asked(item) else part_of(item))
            continue
        parts, entry = _read_message(item)
        is_shortest = is_shortest and not entries and item == plainest(parts)
        said += parts
        entries.append(entry)
    return composed(said) if is_shortest else composed(said, **{RESPONSES: entries})


def spell_said(message: Message) -> list[dict[str, Any]]:
    """The items of an assistant's message."""
    entries = message.raw.get(RESPONSES)
    said = [each for each in items_of(message) if isinstance(each, ToolCall) or kind_of(each) not in THOUGHTS]
    laid_out = _laid_out(said, entries) if isinstance(entries, list) else None
    return _in_runs(said) if laid_out is None else laid_out


def is_spoken(content: Any) -> bool:
    """Whether chat's texts and refusals can say it all."""
    if not isinstance(content, list):
        return isinstance(content, str)
    said = [part.get(SAYS.get(kind_of(part), "")) if isinstance(part, Mapping) else None for part in content]
    return bool(said) and all(isinstance(text, str) for text in said)


def _read_message(item: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    content = item["content"]
    if isinstance(content, str):
        return [plain(content)], {**item, "content": None}
    parts: list[dict[str, Any]] = []
    rests: list[dict[str, Any]] = []
    for part in content:
        says = SAYS[kind_of(part)]
        parts.append({"type": "text" if says == "text" else "refusal", says: part[says]})
        rests.append({name: value for name, value in part.items() if name not in ("type", says)})
    return parts, {**item, "content": rests}


def _laid_out(said: Sequence[Item], entries: Sequence[Entry]) -> list[dict[str, Any]] | None:
    """The items as the entries have them. None: the message has since been rewritten, and they fit no more."""
    spelled: list[dict[str, Any]] = []
    waiting = list(entries)
    parts: list[Mapping[str, Any]] = []
    for each in said:
        if isinstance(each, ToolCall) or is_item(each):
            if parts:
                return None
            spelled.append(_spell_other(each))
            continue
        if not waiting:
            return None
        parts.append(each)
        if len(parts) == len(waiting[0].get("content") or (None,)):
            spelled.append(_filled(waiting.pop(0), parts))
            parts = []
    return None if parts or waiting else spelled


def _filled(entry: Entry, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rests = entry.get("content")
    if not isinstance(rests, list):
        return {**entry, "content": text_in(parts[0])}
    content = [{**_spell_part(part), **rest} for part, rest in zip(parts, rests, strict=True)]
    return {**entry, "content": content}


def _in_runs(said: Sequence[Item]) -> list[dict[str, Any]]:
    """The items in their plainest form: what is said in one go is one message."""
    spelled: list[dict[str, Any]] = []
    run: list[Mapping[str, Any]] = []
    for each in said:
        if not isinstance(each, ToolCall) and not is_item(each):
            run.append(each)
            continue
        if run:
            spelled.append(plainest(run))
            run = []
        spelled.append(_spell_other(each))
    return [*spelled, plainest(run)] if run else spelled


def _spell_other(each: Item) -> dict[str, Any]:
    return spell_call(each) if isinstance(each, ToolCall) else item_in(each)


def plainest(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The shortest message item that says these parts."""
    if len(parts) == 1 and kind_of(parts[0]) == "text":
        return {"role": "assistant", "content": text_in(parts[0])}
    return {"role": "assistant", "content": [_spell_part(part) for part in parts]}


def _spell_part(part: Mapping[str, Any]) -> dict[str, Any]:
    match kind_of(part):
        case "text" | "":
            return {"type": "output_text", "text": text_in(part)}
        case kind if kind in SAYS:
            return dict(part)
    return {"type": "output_text", "text": told(part)}
