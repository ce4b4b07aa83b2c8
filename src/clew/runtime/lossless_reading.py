"""What stands behind an id: a summary and its lineage, the exact messages under it, a message or a blob, in pages."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.core.ports import Count
from clew.engines.lossless.blocks import NODE_ID, ROW_ID
from clew.engines.lossless.shapes import shape_of
from clew.facts.messages import Message
from clew.facts.node import Node, Row
from clew.store.blobs import POINTER
from clew.store.store import Store
from clew.store.trouble import NotFound

PAGE = 4_000
"""Tokens of an answer, where the model does not say."""
LARGEST = 20_000
AROUND = 40
"""Tokens of a message that is only named."""
AT_ONCE = 40
_AT = re.compile(r"@(\d+)\b")
_OF = re.compile(r"(\bm\d+(?:-[0-9a-f]{4})?)@([^\s\]`]+)")
_BARE = re.compile(r"\s*(\d+)\s*")
NEAR = 200
"""How far a message may have moved, by what a host put in between, and still be found by its hash."""


class Unknown(Exception):
    """Nothing of that name; `do` says what to try."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what)
        self.do = do


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a call looks."""

    store: Store
    session: str
    count: Count

    def of(self, session: str) -> Reading:
        return Reading(self.store, session, self.count)


@dataclass(frozen=True, slots=True)
class Named:
    """What an id names, and the conversation it stands in."""

    reading: Reading
    what: Node | Row | str
    """A string is the name of a blob."""


def describe(reading: Reading, args: Mapping[str, Any]) -> dict[str, Any]:
    named = find(reading, args.get("id"))
    match named.what:
        case Node() as node:
            return _described(named.reading, node)
        case Row() as row:
            over = named.reading.store.nodes.over(named.reading.session, row.place)
            text, form = told(row.message)
            return {
                "id": row.id, "kind": "message", "role": row.message.role, "tool": row.message.name or None,
                "written": moment(row.at), "characters": len(text), "form": form, "shape": shape_of(text),
                "under": over.id if over else None, "expand": {"id": row.id},
            }  # fmt: skip
        case str() as name:
            text = _blob(named.reading, name)
            return {"id": f"blob:{name}", "kind": "blob", "characters": len(text), "shape": shape_of(text)}


def _described(reading: Reading, node: Node) -> dict[str, Any]:
    below = reading.store.nodes.sources(reading.session, node.id) if node.depth else []
    ends = [row for place in (node.first, node.last) for row in reading.store.nodes.rows(reading.session, place, place)]
    return {
        "id": node.id, "kind": "summary", "depth": node.depth, "messages": f"{node.first}-{node.last}",
        "count": node.rows, "written": [moment(row.at) for row in ends], "tokens": node.tokens,
        "made_by": node.made_by, "degraded": node.degraded, "stale": node.stale,
        "above": node.parent, "replaced_by": node.replaced_by,
        "made_from": [{"id": one.id, "messages": f"{one.first}-{one.last}"} for one in below] or "messages",
        "summary": node.text,
    }  # fmt: skip


def expand(reading: Reading, args: Mapping[str, Any]) -> dict[str, Any]:
    named = find(reading, args.get("id"))
    offset, page = whole(args.get("offset"), 0), min(whole(args.get("max_tokens"), PAGE), LARGEST)
    limit = whole(args.get("limit"), 0) or None
    match named.what:
        case Node() as node:
            return _messages(named.reading, node, offset, limit, page)
        case Row() as row:
            text, form = told(row.message)
            about = {"id": row.id, "role": row.message.role, "form": form, "blobs": blobs_in(text)}
            return {**about, **_part(reading, str(args["id"]), text, offset, limit, page)}
        case str() as name:
            text = _blob(named.reading, name)
            return {"id": f"blob:{name}", **_part(reading, f"blob:{name}", text, offset, limit, page)}


def _messages(reading: Reading, node: Node, offset: int, limit: int | None, page: int) -> dict[str, Any]:
    """Messages under a node, whole; one that is too long for any page is named instead, to be read by itself."""
    places = reading.store.nodes.places(reading.session, node.first, node.last)
    shown: list[dict[str, Any]] = []
    spent = 0
    for row in _one_by_one(reading, places[offset : None if limit is None else offset + limit]):
        weight = reading.count(json.dumps(row.message.raw, ensure_ascii=False, default=str))
        one: dict[str, Any] = {"id": row.id, "message": dict(row.message.raw)}
        if weight > page:
            long = f"{len(told(row.message)[0]):,} characters: lcm_expand {row.id}"
            one, weight = {"id": row.id, "role": row.message.role, "left_out": long}, AROUND
        if shown and spent + weight > page:
            break
        shown.append(one)
        spent += weight
    end = offset + len(shown)
    return {
        "id": node.id, "messages": shown, "from": offset, "of": len(places),
        "complete": not any("left_out" in one for one in shown),
        "next": {"id": node.id, "offset": end} if end < len(places) and shown else None,
    }  # fmt: skip


def _one_by_one(reading: Reading, places: Sequence[int]) -> Iterator[Row]:
    """The messages at these places, read a few at a time: most pages end soon."""
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        yield from reading.store.nodes.rows(reading.session, some[0], some[-1])


def _part(reading: Reading, id_: str, text: str, offset: int, limit: int | None, page: int) -> dict[str, Any]:
    """A stretch of a text, as long as fits a page."""
    end = len(text) if limit is None else min(offset + limit, len(text))
    while end - offset > 16 and reading.count(text[offset:end]) > page:
        end = offset + max((end - offset) * page // (reading.count(text[offset:end]) + 1), 16)
    after = {"id": id_, "offset": end} if end < len(text) else None
    return {"text": text[offset:end], "from": offset, "to": end, "of": len(text), "next": after}


def find(reading: Reading, id_: Any) -> Named:
    """What an id names, with whatever the prompt shows around it."""
    text = str(id_ or "")
    if elsewhere := _OF.search(text):
        reading, text = reading.of(elsewhere[2]), elsewhere[1]
    if blob := POINTER.search(text):
        return Named(reading, blob[1])
    if node := NODE_ID.search(text):
        return _find_node(reading, node[0])
    if row := ROW_ID.search(text):
        return Named(reading, find_row(reading, int(row[1]), row[2] or ""))
    if bare := _AT.search(text) or _BARE.fullmatch(text):
        return Named(reading, find_row(reading, int(bare[1]), ""))
    standing = reading.store.nodes.standing(reading.session)
    there = ", ".join(f"{node.id} ({node.first}-{node.last})" for node in standing) or "none yet"
    raise Unknown(f"{text[:80]!r} is no id", f"use an id as the prompt shows it; summaries: {there}")


def _find_node(reading: Reading, id_: str) -> Named:
    if node := reading.store.nodes.find(reading.session, id_):
        return Named(reading, node)
    if (other := reading.store.nodes.by_any(id_)) and (node := reading.store.nodes.find(other, id_)):
        return Named(reading.of(other), node)
    raise Unknown(f"there is no summary {id_}", "search with lcm_grep, or describe another id")


def find_row(reading: Reading, place: int, print_: str) -> Row:
    """The message at a place; one that moved is found near it by its hash."""
    rows = reading.store.nodes.rows(reading.session, place, place)
    if print_ and not any(row.hash.hex().startswith(print_) for row in rows):
        near = reading.store.nodes.rows(reading.session, max(place - NEAR, 0), place + NEAR)
        rows = tuple(sorted(near, key=lambda row: abs(row.place - place)))
    for row in rows:
        if row.hash.hex().startswith(print_):
            return row
    raise Unknown(f"there is no message {place} in this conversation", "search for it with lcm_grep")


def told(said: Message) -> tuple[str, str]:
    """A message as text: what it says where that is all there is, else the whole of it as JSON."""
    if isinstance(said.raw.get("content"), str) and not said.calls:
        return said.text, "text"
    return json.dumps(dict(said.raw), ensure_ascii=False, default=str), "json"


def blobs_in(text: str) -> list[str]:
    return [f"blob:{name}" for name in dict.fromkeys(POINTER.findall(text))]


def _blob(reading: Reading, name: str) -> str:
    try:
        return reading.store.read_blob(name).decode("utf-8", "surrogateescape")
    except NotFound as gone:
        raise Unknown(str(gone), "search for what it said with lcm_grep") from None


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))


def whole(value: Any, otherwise: int) -> int:
    """A number as a model writes one."""
    try:
        return max(int(value), 0)
    except (TypeError, ValueError):
        return otherwise


def spans(nodes: Sequence[Node], place: int) -> Node | None:
    return next((node for node in nodes if node.first <= place <= node.last), None)
