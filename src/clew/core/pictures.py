"""How a prompt gets lighter for a provider that counts bytes: pictures leave the request, the oldest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.facts.messages import Message, other_parts, read_message

KINDS = frozenset("image_url image input_image video_url input_audio audio file input_file document".split())
"""Parts whose bytes travel in the body."""
LEFT = "[a picture or file stood here; it was left out because the provider takes no larger request]"


def pictures_in(messages: Sequence[Message]) -> int:
    """How many parts of these messages could leave."""
    return sum(_is_picture(part) for said in messages for part in other_parts(said))


def without_pictures(messages: tuple[Message, ...], *, keep: int) -> tuple[Message, ...]:
    """The same messages with the pictures of the newest `keep` of those that have any. Nothing is changed in place."""
    shown = [place for place, said in enumerate(messages) if pictures_in([said])]
    leaving = set(shown[: max(len(shown) - keep, 0)])
    return tuple(_without(said) if place in leaving else said for place, said in enumerate(messages))


def next_keep(messages: Sequence[Message], keep: int | None) -> int:
    """How many messages may keep their pictures at the next, lighter try: the newest, then none."""
    shown = sum(1 for said in messages if pictures_in([said]))
    return 1 if shown > 1 and (keep is None or keep > 1) else 0


def _without(said: Message) -> Message:
    parts = [{"type": "text", "text": LEFT} if _is_picture(part) else part for part in said.raw["content"]]
    return read_message({**said.raw, "content": parts})


def _is_picture(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in KINDS
