"""Where do cache points go, so that a provider reads what it has read before at a tenth of the price?

Anthropic writes an entry only where a marker stands, and finds one only within 20 blocks back from a marker of the next
request (platform.claude.com/docs, prompt caching, read 2026-11). So the markers that pay are those at the end of this
prompt, which the next request will find, and those at the ends of earlier ones, which are found wherever they lie.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from clew.core.cache_marks import SYSTEM, TOOLS, Style, can_carry, is_marked, markable_tool, marker_of, with_marks
from clew.facts.exchange import Prompt
from clew.facts.messages import other_parts

MOST = 4
"""Markers in one prompt, at every provider that takes any."""
LEAST = 1_024
"""Tokens below which most models cache nothing, without a word; from 512 to 4,096 for some (wire facts, 2026-11)."""


def place_cache_points(
    prompt: Prompt,
    provider: str = "anthropic",
    *,
    ttl: str = "5m",
    minimum: int = LEAST,
    count: Callable[[str], int] | None = None,
) -> Prompt:
    """The prompt with its cache points, where the provider wants to be told.

    A prompt that carries markers comes back as it is: whoever placed them has a plan, and so placing twice is placing
    once. A prefix lighter than `minimum` gets none; without `count` only what is surely lighter counts as such.
    """
    marker = marker_of(ttl)
    style = style_of(provider, prompt.model)
    if style is None or is_marked(prompt):
        return prompt
    start = _first_heavy(prompt, minimum, count)
    places = islice((place for place in _by_worth(prompt, style) if place >= start), MOST)
    return with_marks(prompt, places, style, marker)


def _by_worth(prompt: Prompt, style: Style) -> Iterable[int]:
    """Places worth a marker, the most valuable first.

    What the provider was last asked is the step before or, when the steps in between ran elsewhere (on another model,
    at the provider's), the turn before. However many blocks came since, a marker at that very place is found.
    The system prompt outlives a compaction, and conversations share it; so do tools, where there is a marker to spare.
    """
    earlier = _asked(prompt, style)
    newest = next(_carriers(prompt, style, len(prompt.messages)), None)
    step = next(earlier, None)
    turn = next((place for place in earlier if prompt.messages[place].role == "user"), None)
    system = SYSTEM if prompt.system.strip() else None
    tools = TOOLS if style is Style.BLOCKS and markable_tool(prompt.tools) is not None else None
    if style is Style.BREAKPOINTS:
        newest = None  # the provider marks it itself, which takes one of the four
    found = (newest, step, turn, system, tools)
    return dict.fromkeys(place for place in found if place is not None)


def _asked(prompt: Prompt, style: Style) -> Iterator[int]:
    """Where earlier requests ended, the newest first: each reply answered the messages that stand before it."""
    roles = [message.role for message in prompt.messages]
    for place in range(len(roles) - 1, 0, -1):
        if roles[place] == "assistant" != roles[place - 1]:
            yield from islice(_carriers(prompt, style, place), 1)


def _carriers(prompt: Prompt, style: Style, end: int) -> Iterator[int]:
    """Messages before `end` that can carry a marker, the newest first."""
    return (place for place in range(end - 1, -1, -1) if can_carry(prompt.messages[place], style))


def _first_heavy(prompt: Prompt, minimum: int, count: Callable[[str], int] | None) -> int:
    """The first place up to which the prompt may weigh `minimum` tokens."""
    weight = 0
    for place, texts in _weighty(prompt):
        weight += sum(count(text) if count else len(text[:minimum].encode(errors="replace")) for text in texts)
        if weight >= minimum:
            return place
    return len(prompt.messages)


def _weighty(prompt: Prompt) -> Iterator[tuple[int, list[str]]]:
    yield TOOLS, [json.dumps(tool, ensure_ascii=False, default=str) for tool in prompt.tools]
    yield SYSTEM, [prompt.system]
    for place, message in enumerate(prompt.messages):
        calls = [text for call in message.calls for text in (call.name, call.arguments)]
        others = [json.dumps(part, ensure_ascii=False, default=str) for part in other_parts(message)]
        yield place, [message.text, *calls, *others]


# --- who caches how ---


@dataclass(frozen=True, slots=True)
class Caching:
    """How a provider wants to be told; one that is not listed caches by itself, or not at all."""

    style: Style
    models: str = ""
    """What a model's name must match; one that is not known is taken to."""
    source: str = ""


FROM_GPT_5_6 = r"gpt-(5\.([6-9]|\d\d)|[6-9])"

PROVIDERS: Mapping[str, Caching] = {
    "anthropic": Caching(Style.BLOCKS, source="platform.claude.com/docs, prompt caching, 2026-11"),
    "minimax": Caching(Style.BLOCKS, source="Anthropic-compatible endpoint, 20 blocks back, 2026-11"),
    # Its Converse spelling puts a cachePoint object behind the block; that is for its encoder to write.
    "bedrock": Caching(Style.BLOCKS, "claude|nova", "docs.aws.amazon.com/bedrock, prompt caching, 2026-09"),
    "vertex": Caching(Style.BLOCKS, "claude", "platform.claude.com/docs, Claude on Vertex AI, 2026-11"),
    "openrouter": Caching(Style.PARTS, "claude|qwen", "openrouter.ai/docs, prompt caching, 2026-11"),
    "openai": Caching(Style.BREAKPOINTS, FROM_GPT_5_6, "developers.openai.com, 2026-09"),
    "azure": Caching(Style.BREAKPOINTS, FROM_GPT_5_6, "as OpenAI, 2026-11"),
}
"""Not here, because they cache prefixes unasked: OpenAI before GPT-5.6, DeepSeek, Gemini, xAI, Groq, Moonshot, z.ai,
Mistral, Fireworks, llama.cpp, vLLM (2026-11)."""

NAMES = {"anthropic": "Anthropic", "openrouter": "OpenRouter"}


def style_of(provider: str, model: str = "") -> Style | None:
    """How the provider wants to be told where to cache; None where it needs no telling."""
    caching = PROVIDERS.get(provider.lower())
    if caching is None or (not model and caching.style is Style.BREAKPOINTS):  # older models refuse the field
        return None
    return caching.style if not model or re.search(caching.models, model.lower()) else None


def is_cached(model: str, provider: str) -> bool:
    """Whether prompt caching is on by itself: for Claude, at Anthropic and at OpenRouter."""
    return "claude" in model.lower() and provider.lower() in NAMES


def caching_line(model: str, provider: str, ttl: str = "5m") -> str | None:
    """The line at the start of a session that says so.

    >>> caching_line("anthropic/claude-opus-5", "openrouter")
    '💾 Prompt caching: ENABLED (Claude via OpenRouter, 5m TTL)'
    """
    if not is_cached(model, provider):
        return None
    return f"💾 Prompt caching: ENABLED (Claude via {NAMES[provider.lower()]}, {ttl} TTL)"


# --- the layout that agents know ---


def apply_anthropic_cache_control(
    messages: Sequence[Mapping[str, Any]], cache_ttl: str = "5m", native_anthropic: bool = True
) -> list[dict[str, Any]]:
    """The layout `system_and_3`: OpenAI-format messages with markers on the system prompt and the last 3 others.

    The messages handed in stay as they are. `place_cache_points` costs no more anywhere, and less where a step adds
    more than 20 blocks or a message cannot carry its marker.

    >>> apply_anthropic_cache_control([{"role": "user", "content": "Hi"}], cache_ttl="1h")[0]["content"]
    [{'type': 'text', 'text': 'Hi', 'cache_control': {'type': 'ephemeral', 'ttl': '1h'}}]
    """
    marker = marker_of(cache_ttl)
    copied = [dict(message) for message in messages]
    first = [message for message in copied[:1] if message.get("role") == "system"]
    others = [message for message in copied if message.get("role") != "system"]
    for message in [*first, *others[-3:]]:
        _mark_as_known(message, marker, native_anthropic)
    return copied


def _mark_as_known(message: dict[str, Any], marker: dict[str, str], native: bool) -> None:
    content = message.get("content")
    if message.get("role") == "tool":
        if native:
            message["cache_control"] = dict(marker)
    elif not content:
        message["cache_control"] = dict(marker)
    elif isinstance(content, str):
        message["content"] = [{"type": "text", "text": content, "cache_control": dict(marker)}]
    elif isinstance(content, list) and isinstance(content[-1], dict):
        message["content"] = [*content[:-1], {**content[-1], "cache_control": dict(marker)}]
