"""The four tools of the lossless engine: what the model is told of them, and how any call of one is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from clew.core.ports import Count
from clew.runtime.lossless_footing import Footing
from clew.runtime.lossless_reading import Reading, Unknown, describe, expand
from clew.runtime.lossless_search import grep, recall
from clew.store.trouble import StoreError


def _tool(name: str, description: str, required: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": [required]}
    return {"name": name, "description": description, "parameters": parameters}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


_ID = _text("As shown: a summary (n3fa9c2d1), a message (m12-3fa9, m12, @12) or a blob (blob:…).")

SCHEMAS: tuple[dict[str, Any], ...] = (
    _tool(
        "lcm_grep",
        "Search every message of this conversation, also those that left the window: what was said, tool-call "
        "arguments, tool output. Hits are grouped by the summary that covers them. Says how many there are in all and "
        "whether everything was searched, so that no hit means it was never said.",
        "query",
        query=_text('Words, identifiers, paths, prefix*, "a phrase", -without'),
        mode=_text("words: any of them, best first; exact: this very text", enum=["words", "exact"]),
        scope=_text("'conversation' (default), 'all' for every conversation, or a summary's id"),
        time=_text("When it was written: 2026-11-01..2026-11-16; either end may be left out"),
        role=_text("Only messages of this role", enum=["user", "assistant", "tool", "system"]),
        limit=_number("Hits shown, 10 if not given"),
    ),
    _tool(
        "lcm_describe",
        "What an id stands for: a summary's full text, what it was made from and what stands above it; a message's or "
        "blob's size and shape.",
        "id",
        id=_ID,
    ),
    _tool(
        "lcm_expand",
        "Exact content, word for word: all messages under a summary, one message, or a blob. Comes in pages; 'next' in "
        "the answer holds the arguments of the next one and is null at the end.",
        "id",
        id=_ID,
        offset=_number("Where to begin: messages of a summary, characters of a message or blob"),
        limit=_number("Messages, or characters, at most"),
        max_tokens=_number("Size of a page, 4000 if not given"),
    ),
    _tool(
        "lcm_recall",
        "Ask what was said or done earlier: finds the best passages and returns them word for word, with their ids.",
        "question",
        question=_text("A question, or what to look for"),
        max_tokens=_number("Size of the answer, 4000 if not given"),
    ),
)

_ANSWERS: Mapping[str, Callable[[Reading, Mapping[str, Any]], dict[str, Any]]] = {
    "lcm_grep": grep,
    "lcm_describe": describe,
    "lcm_expand": expand,
    "lcm_recall": recall,
}


def answered(footing: Footing, count: Count, name: str, args: Any, messages: list[dict[str, Any]] | None = None) -> str:
    """The answer as JSON. What goes wrong is part of it, with what to do."""
    answer = _ANSWERS.get(name)
    if answer is None:
        return _json({"error": f"there is no tool {name}", "do": f"use one of {', '.join(_ANSWERS)}"})
    try:
        if messages and (footing.keeps or footing.session is None):
            footing.keep(messages)
        if footing.session is None:
            return _json({"error": "nothing was said yet in this conversation", "do": "answer from what you see"})
        return _json(answer(Reading(footing.store, footing.session, count), args if isinstance(args, Mapping) else {}))
    except Unknown as wrong:
        return _json({"error": str(wrong), "do": wrong.do})
    except StoreError as wrong:
        return _json({"error": str(wrong), "do": "try again; if it stays, go on without it and say so"})
    except Exception as wrong:  # a tool call must not end a turn
        return _json({"error": f"{type(wrong).__name__}: {wrong}", "do": "check the arguments against the schema"})


def _json(answer: Mapping[str, Any]) -> str:
    told = json.dumps(answer, ensure_ascii=False, default=str)
    try:
        told.encode()
    except UnicodeEncodeError:  # half a surrogate pair: escaped it travels safely
        return json.dumps(answer, default=str)
    return told
