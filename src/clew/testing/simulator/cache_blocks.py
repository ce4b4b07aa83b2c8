"""What is a request made of, in the order in which a provider caches it?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""Fields that say where to cache, and are no part of what is cached."""


class Block(NamedTuple):
    """One block of a request."""

    path: tuple[str | int, ...]
    role: str
    """tools, system, or whose message it is part of."""
    value: Mapping[str, Any]
    marker: Mapping[str, Any] | None = None
    ends: bool = False
    """Whether its message ends with it."""

    @property
    def kind(self) -> Any:
        return self.value.get("type")

    @property
    def where(self) -> str:
        """Its place as providers name it in errors: messages.3.content.0."""
        return ".".join(map(str, self.path))


class Prefixes:
    """Numbers for prefixes: two requests share a number exactly where they are the same up to there.

    What was seen before is looked up, not read again, so a conversation that grows costs what is new in it.
    """

    def __init__(self, tokens_of: Callable[[Mapping[str, Any]], int]) -> None:
        self._tokens_of = tokens_of
        self._blocks: dict[Hashable, tuple[int, int]] = {}
        self._prefixes: dict[tuple[int, Hashable], int] = {}
        self._tokens: list[int] = []

    def of(self, start: Hashable, blocks: Iterable[Block], before_messages: Hashable = None) -> list[int]:
        """The prefix that ends with each block. `before_messages` is a setting that only messages depend on."""
        found: list[int] = []
        prefix, fixed = self._next(-1, start, 0), True
        for block in blocks:
            if fixed and block.role not in ("tools", "system"):
                prefix, fixed = self._next(prefix, ("settings", before_messages), 0), False
            number, tokens = self._block(block)
            prefix = self._next(prefix, number, tokens)
            found.append(prefix)
        return found

    def tokens(self, prefix: int) -> int:
        return self._tokens[prefix]

    def _block(self, block: Block) -> tuple[int, int]:
        """The block's number, and what it weighs."""
        said = (
            block.value if block.marker is None else {key: block.value[key] for key in block.value if key not in MARKS}
        )
        if type(said.get("content")) is str:  # a result's, where a text is a block of text too
            said = {**said, "content": _parts(said["content"])}
        key = (block.role, *[(key, frozen(said[key])) for key in sorted(said)])
        known = self._blocks.get(key)
        if known is None:
            known = self._blocks[key] = (len(self._blocks), self._tokens_of(said))
        return known

    def _next(self, prefix: int, step: Hashable, tokens: int) -> int:
        known = self._prefixes.get((prefix, step))
        if known is None:
            known = self._prefixes[prefix, step] = len(self._tokens)
            self._tokens.append(tokens + (self._tokens[prefix] if prefix >= 0 else 0))
        return known


def frozen(value: Any) -> Hashable:
    """A value that equals another's exactly if both are sent as the same JSON; the order of keys is part of that."""
    if type(value) is str:  # as most are
        return value
    if isinstance(value, Mapping):
        return tuple([(key, frozen(inner)) for key, inner in value.items() if key not in MARKS])
    if isinstance(value, list | tuple):
        return ("list", *[frozen(inner) for inner in value])
    return repr(value) if isinstance(value, bool | float) else value  # True, 1 and 1.0 are sent differently


def anthropic_blocks(body: Mapping[str, Any]) -> list[Block]:
    """Tools, then the system prompt, then messages."""
    blocks = [_block(("tools", n), "tools", tool) for n, tool in enumerate(body.get("tools") or ())]
    blocks += [_block(("system", n), "system", part) for n, part in enumerate(_parts(body.get("system")))]
    for n, message in enumerate(body.get("messages") or ()):
        role = str(message.get("role"))
        parts = _parts(message.get("content"))
        blocks += [_block(("messages", n, "content", place), role, part) for place, part in enumerate(parts)]
    return blocks


def openai_blocks(body: Mapping[str, Any]) -> list[Block]:
    """Tools, then instructions, then the messages of Chat Completions or the items of Responses."""
    blocks = [_block(("tools", n), "tools", tool) for n, tool in enumerate(body.get("tools") or ())]
    if body.get("instructions"):
        blocks.append(_block(("instructions",), "developer", _text(body["instructions"]), ends=True))
    said = body.get("messages", body.get("input")) or ()
    items: Sequence[Any] = [{"role": "user", "content": said}] if isinstance(said, str) else said
    for n, item in enumerate(items):
        parts = list(_item_parts(item))
        last = len(parts) - 1
        role = _role(item)
        blocks += [_block((n, place), role, part, ends=place == last) for place, part in enumerate(parts)]
    return blocks


def _item_parts(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "role" not in item:  # a call, a result or a thought among the items of Responses
        outer = {key: value for key, value in item.items() if key != "output"}
        yield outer
        yield from _parts(item.get("output"))
        return
    yield from _parts(item.get("content"))
    yield from item.get("tool_calls") or ()


def _role(item: Mapping[str, Any]) -> str:
    kind = str(item.get("type", ""))
    role = str(item.get("role") or ("tool" if kind.endswith("_output") else "assistant"))
    return "developer" if role == "system" else role


def _block(path: tuple[str | int, ...], role: str, value: Mapping[str, Any], *, ends: bool = False) -> Block:
    return Block(path, role, value, value.get("cache_control") or value.get("prompt_cache_breakpoint"), ends)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """A text is a block of text: which of both a client sends makes no difference to what is cached."""
    if isinstance(content, str):
        return [_text(content)] if content else []
    return [part if isinstance(part, Mapping) else _text(str(part)) for part in content or ()]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
