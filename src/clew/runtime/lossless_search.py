"""Where it was said: hits grouped by the summary that covers them, and passages word for word, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clew.facts.messages import Message
from clew.facts.node import Node, Row
from clew.recall.search import Found, Hit
from clew.runtime.lossless_reading import (
    LARGEST,
    PAGE,
    Named,
    Reading,
    Unknown,
    find,
    find_row,
    moment,
    spans,
    told,
    whole,
)
from clew.runtime.recall import catch_up, search

LIMIT, MOST = 10, 200
MANY = 2_000
"""Hits looked through where only some of them count: of one summary, of what a branch shares, of an exact text."""
AROUND = 1_200
"""Characters of a long message that a passage shows around what was found."""
_FROM_TO = re.compile(r"\s*(.*?)\s*\.\.\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a search came to, in places of the conversation."""

    hits: list[tuple[int | None, Hit]]
    """The place in this conversation; None for one of another."""
    total: int
    searched: int
    exact: bool
    complete: bool
    notes: list[str]


def grep(reading: Reading, args: Mapping[str, Any]) -> dict[str, Any]:
    """Every hit counted, the best shown, grouped by the summary that covers them."""
    query = str(args.get("query") or "")
    limit = min(whole(args.get("limit"), LIMIT) or LIMIT, MOST)
    sought = _sought(reading, query, args, limit)
    leaves = reading.store.nodes.leaves(reading.session)
    groups: dict[str, dict[str, Any]] = {}
    for place, hit in sought.hits[:limit]:
        leaf = None if place is None else spans(leaves, place)
        key, group = _group(leaf, hit, outside=place is None)
        groups.setdefault(key, {**group, "hits": []})["hits"].append(_shown(reading, place, hit))
    answer: dict[str, Any] = {
        "query": query, "total": sought.total, "shown": sum(len(group["hits"]) for group in groups.values()),
        "searched": sought.searched, "exact_count": sought.exact, "complete": sought.complete,
        "groups": list(groups.values()),
    }  # fmt: skip
    if sought.notes:
        answer["notes"] = sought.notes
    if not sought.total:
        everything = "all" if sought.complete else "not all, see notes;"
        answer["answer"] = f"no match: {everything} {sought.searched:,} messages of this scope were searched"
    return answer


def recall(reading: Reading, args: Mapping[str, Any]) -> dict[str, Any]:
    """The best passages for a question, word for word."""
    question = str(args.get("question") or "")
    budget = min(whole(args.get("max_tokens"), PAGE) or PAGE, LARGEST)
    sought = _sought(reading, question, {}, LIMIT * 2)
    leaves = reading.store.nodes.leaves(reading.session)
    passages: list[dict[str, Any]] = []
    spent = left = 0
    for place, hit in sought.hits:
        row = None if place is None else find_row(reading, place, "")
        if place is None or row is None or is_a_search(row.message) or len(passages) == LIMIT:
            continue
        passage = _passage(row, hit, spans(leaves, place))
        weight = reading.count(passage["text"]) + 40
        if spent + weight > budget:
            left += 1
            continue
        passages.append(passage)
        spent += weight
    answer: dict[str, Any] = {
        "question": question, "found": sought.total, "passages": passages, "left_out_for_size": left,
        "searched": sought.searched, "complete": sought.complete,
    }  # fmt: skip
    if not passages:
        answer["answer"] = f"nothing found in {sought.searched:,} messages; other words may help: lcm_grep"
    return answer


def is_a_search(said: Message) -> bool:
    """Whether a message asks one of these tools, or answers for one: its words are the question's own."""
    names = [said.name] if said.is_result else [call.name for call in said.calls]
    return bool(names) and all(name.startswith("lcm_") for name in names)


def _sought(reading: Reading, query: str, args: Mapping[str, Any], limit: int) -> _Sought:
    scope = str(args.get("scope") or "conversation").strip()
    within = None if scope in ("conversation", "current", "all") else _node(find(reading, scope))
    after, before = _moments(str(args.get("time") or ""))
    is_exact = args.get("mode") == "exact"
    asked = f'"{query}"' if is_exact and '"' not in query else query
    narrow = within is not None or is_exact
    catch_up(reading.store)
    filters: dict[str, Any] = {"role": args.get("role") or None, "after": after, "before": before}
    if scope == "all":
        found = search(reading.store, asked, limit=MANY if narrow else limit, **filters)
        sought = _all(reading, found)
    else:
        sought = _here(reading, asked, MANY if narrow else limit, filters)
    if not narrow:
        return sought
    kept = [
        (place, hit)
        for place, hit in sought.hits
        if (within is None or (place is not None and within.first <= place <= within.last))
        and (not is_exact or _says(reading, hit, query))
    ]
    cut = sought.total > len(sought.hits)
    notes = [*sought.notes, *([f"only the best {MANY:,} were looked through"] if cut else [])]
    searched = within.rows if within is not None else sought.searched
    return _Sought(kept, len(kept), searched, sought.exact and not cut, sought.complete and not cut, notes)


def _here(reading: Reading, asked: str, limit: int, filters: dict[str, Any]) -> _Sought:
    """In this conversation, and in those it was branched from up to where it was."""
    nodes = reading.store.nodes
    found = search(reading.store, asked, limit=limit, conversation=reading.session, **filters)
    hits = list(_placed(reading, found))
    total, searched, exact, complete, notes = found.total, found.searched, found.exact, found.complete, [*found.notes]
    for lender, upto in nodes.lenders(reading.session).items():
        lent = search(reading.store, asked, limit=MANY, conversation=lender, **filters)
        shared = [(place, hit) for place, hit in _placed(reading, lent) if hit.place <= upto]
        hits += shared
        total, searched = total + len(shared), searched + upto + 1
        exact, complete = exact and lent.total <= MANY, complete and lent.complete
    hits.sort(key=lambda placed: -placed[1].score)
    return _Sought(hits, total, searched, exact, complete, notes)


def _all(reading: Reading, found: Found) -> _Sought:
    hits = list(_placed(reading, found))
    return _Sought(hits, found.total, found.searched, found.exact, found.complete, [*found.notes])


def _placed(reading: Reading, found: Found) -> Iterator[tuple[int | None, Hit]]:
    for hit in found.hits:
        yield reading.store.nodes.place_of(reading.session, hit.seq), hit


def _says(reading: Reading, hit: Hit, query: str) -> bool:
    """Whether a message, or the big output it points to, has this very text."""
    stored = reading.store.fetch([hit.seq]).get(hit.seq)
    if stored is None:
        return False
    texts = [str(stored.message), *(str(value) for value in stored.message.values())]
    texts += [reading.store.read_blob(name).decode("utf-8", "replace") for name in stored.blobs]
    return any(query in text for text in texts)


def _node(named: Named) -> Node:
    if not isinstance(named.what, Node):
        raise Unknown(
            "a scope is 'conversation', 'all' or the id of a summary", "leave it out to search all of this one"
        )
    return named.what


def _group(leaf: Node | None, hit: Hit, *, outside: bool) -> tuple[str, dict[str, Any]]:
    if outside:
        return hit.conversation, {"conversation": hit.conversation}
    if leaf is None:
        return "", {"summary": None, "in": "messages that no summary covers yet"}
    return leaf.id, {"summary": leaf.id, "messages": f"{leaf.first}-{leaf.last}"}


def _shown(reading: Reading, place: int | None, hit: Hit) -> dict[str, Any]:
    if place is not None:
        row: Row | None = find_row(reading, place, "") if hit.standing else None
        id_ = row.id if row is not None else f"m{place}"
    else:
        id_ = f"m{hit.place}@{hit.conversation}"
    shown: dict[str, Any] = {"id": id_, "role": hit.role, "written": moment(hit.at), "snippet": hit.snippet}
    if hit.tool:
        shown["tool"] = hit.tool
    if hit.blob:
        shown["blob"] = f"blob:{hit.blob}"
    if not hit.standing:
        shown["edited_or_taken_back_since"] = True
    return shown


def _passage(row: Row, hit: Hit, leaf: Node | None) -> dict[str, Any]:
    text, form = told(row.message)
    at = max(text.find(hit.snippet.strip("… ")[:40]), 0)
    start = max(at - AROUND // 2, 0) if len(text) > AROUND else 0
    end = min(start + AROUND, len(text))
    return {
        "id": row.id, "summary": leaf.id if leaf else None, "role": row.message.role, "written": moment(row.at),
        "form": form, "text": text[start:end], "from": start, "to": end, "of": len(text),
    }  # fmt: skip


def _moments(text: str) -> tuple[float | None, float | None]:
    if not text.strip():
        return None, None
    span = _FROM_TO.fullmatch(text)
    ends = (span[1], span[2]) if span else (text, text)
    try:
        after, before = (datetime.fromisoformat(end) if end.strip() else None for end in ends)
    except ValueError:
        raise Unknown(f"{text!r} is no time", "write 2026-11-01..2026-11-16, or leave it out") from None
    if before is not None and len(ends[1].strip()) == 10:  # a day, to its end
        before = before.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return (after.timestamp() if after else None, before.timestamp() if before else None)
