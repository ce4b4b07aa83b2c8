"""How many tokens did a call consume, by the count of any provider?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

from clew.facts.usage import Usage

PROMPT = (
    "prompt_tokens",  # OpenAI Chat and whoever speaks it: DeepSeek, Groq, Mistral, Moonshot, xAI, OpenRouter, vLLM …
    "input_tokens",  # OpenAI Responses (cache inside), Anthropic and Bedrock (cache beside)
    "prompt_token_count",  # Gemini, Vertex
    "prompt_eval_count",  # Ollama
    "tokens.input_tokens",  # Cohere: all that stood in the window
    "billed_units.input_tokens",  # Cohere, where it tells only what it bills
    "prompt_n",  # llama.cpp's timings: what was evaluated, cache beside
    "prompt_cache_miss_tokens",  # DeepSeek, where the sum is missing
)
OUTPUT = (
    "completion_tokens",
    "output_tokens",
    "candidates_token_count",
    "eval_count",
    "tokens.output_tokens",
    "billed_units.output_tokens",
    "predicted_n",
)
CACHE_READ = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "cached_content_token_count",
    "cache_read_input_tokens",  # Anthropic, Bedrock; OpenRouter when it has no details
    "cache_read_input_token_count",  # Bedrock says it twice
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together, Cohere, Anthropic's OpenAI-compatible endpoint
    "num_cached_tokens",  # Mistral
    "cached_prompt_text_tokens",  # xAI
    "cache_n",
)
CACHE_WRITE = (
    "prompt_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "input_tokens_details.cache_creation_tokens",
    "cache_creation_input_tokens",
    "cache_write_input_tokens",
    "cache_write_input_token_count",
)
REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_tokens_details.thinking_tokens",
    "thoughts_token_count",
    "reasoning_tokens",
)
TOTAL = ("total_tokens", "total_token_count")

WITHOUT_CACHE = frozenset({"prompt_n", "prompt_cache_miss_tokens"})
"""Prompts that never count what was read from the cache."""
FLAT_CACHE = frozenset(name for name in (*CACHE_READ, *CACHE_WRITE) if "_input_token" in name)
"""Anthropic's and Bedrock's names: beside `input_tokens`, inside `prompt_tokens` where OpenRouter passes them on."""
CACHE_INSIDE = frozenset({"chat", "responses", "gemini"})
XAI = frozenset({"xai", "x-ai", "grok"})


def normalize_usage(usage: Any, provider: str | None = None, api: str | None = None) -> Usage:
    """The disjoint buckets of a provider's usage object: a dict, an SDK's object, or a body that holds one.

    The fields tell whose it is. Providers disagree on whether the prompt holds the cached tokens and the output the
    thinking; where a total is given it decides. `api` ("anthropic", "chat", "responses", "gemini", "bedrock") and
    `provider` settle only what the fields leave open. Nothing usable gives an empty Usage, never an error.

    Passes that Anthropic's top level leaves out (its own compaction, an advisor) did not stand in the window, but were
    billed: they are `Usage.aside`.

    >>> normalize_usage({"prompt_tokens": 900, "prompt_cache_hit_tokens": 800, "completion_tokens": 50})
    Usage(input=100, output=50, cache_read=800, cache_write=0, reasoning=0)
    >>> normalize_usage({"input_tokens": 100, "cache_read_input_tokens": 800, "output_tokens": 50})
    Usage(input=100, output=50, cache_read=800, cache_write=0, reasoning=0)
    """
    found = _unwrapped(usage)
    besides = [_one_pass(each, provider, api) for each in _passes_left_out(found)]
    said = [each for each in _iterations(found) if _field(each, "type") == "message"]
    return replace(
        _one_pass(found, provider, api),
        raw=usage,
        aside=sum(besides, Usage()) if besides else None,
        last_pass=_one_pass(said[-1], provider, api).prompt if len(said) > 1 else None,
    )


class _Stated(NamedTuple):
    """The numbers as they stand in the object."""

    prompt: int
    output: int
    read: int
    write: int
    reasoning: int
    total: int
    cache_inside: bool
    """Whether such a provider usually counts cached tokens in its prompt tokens."""
    thinking_inside: bool
    """Whether it usually counts thinking in its output tokens."""


def _one_pass(usage: Any, provider: str | None, api: str | None) -> Usage:
    stated = _stated(usage, provider, api)
    prompt, output = _settled(stated)
    read = min(stated.read, prompt)
    write = min(stated.write, prompt - read)
    reasoning = max(stated.reasoning, output - stated.output)
    return Usage(prompt - read - write, output, read, write, min(reasoning, output))


def _stated(usage: Any, provider: str | None, api: str | None) -> _Stated:
    prompt_name, prompt = _first(usage, PROMPT)
    read_name, read = _first(usage, CACHE_READ)
    write_name, write = _first(usage, CACHE_WRITE)
    if not write:  # seen in the field: the flat count is 0 while its split by lifetime is filled
        split = _field(usage, "cache_creation")
        write = sum(_count(_field(split, f"ephemeral_{ttl}_input_tokens")) for ttl in ("5m", "1h"))
        write_name = "cache_creation_input_tokens" if write else ""
    reasoning_name, reasoning = _first(usage, REASONING)
    beside_input = prompt_name == "input_tokens" and bool({read_name, write_name} & FLAT_CACHE)
    return _Stated(
        prompt=prompt + _count(_field(usage, "tool_use_prompt_token_count")),
        output=_first(usage, OUTPUT)[1],
        read=read,
        write=write,
        reasoning=reasoning,
        total=_first(usage, TOTAL)[1],
        cache_inside=prompt_name not in WITHOUT_CACHE and (not beside_input or api in CACHE_INSIDE),
        thinking_inside=reasoning_name != "thoughts_token_count"
        and not (reasoning_name == "reasoning_tokens" and provider in XAI),
    )


def _settled(stated: _Stated) -> tuple[int, int]:
    """All of the prompt and all of the output: the reading that adds up to the total, else the provider's usual one."""
    cached = stated.read + stated.write
    usually = (stated.cache_inside and (bool(stated.total) or cached <= stated.prompt), stated.thinking_inside)
    readings = [
        (stated.prompt + (0 if cache_inside else cached), stated.output + (0 if thinking_inside else stated.reasoning))
        for cache_inside, thinking_inside in product((usually[0], not usually[0]), (usually[1], not usually[1]))
    ]
    fitting = (reading for reading in readings if sum(reading) == stated.total)
    prompt, output = next(fitting, readings[0])
    # Gemini's OpenAI-compatible endpoint counts its thinking in the total and nowhere else.
    return prompt, max(output, stated.total - prompt)


def _passes_left_out(usage: Any) -> list[Any]:
    """Those that the top level does not count: it is the sum of the passes of type "message" alone."""
    return [each for each in _iterations(usage) if _field(each, "type") not in (None, "message")]


def _iterations(usage: Any) -> Sequence[Any]:
    found = _field(usage, "iterations")
    return found if isinstance(found, (list, tuple)) else ()


def _unwrapped(usage: Any) -> Any:
    """What holds the counts: the object itself, or a field of the body that was given."""
    for name in ("usage_metadata", "timings", "usage"):
        inner = _field(usage, name)
        if inner is not None and (_first(inner, PROMPT)[1] or _first(inner, OUTPUT)[1]):
            return inner
    return usage


def _first(usage: Any, names: Sequence[str]) -> tuple[str, int]:
    """The first of these fields that counts anything."""
    for name in names:
        holder, _, inner = name.rpartition(".")
        count = _count(_field(_field(usage, holder) if holder else usage, inner))
        if count:
            return name, count
    return "", 0


def _field(holder: Any, name: str) -> Any:
    """A field of a dict or of an object, in snake case or in camel case."""
    if holder is None:
        return None
    try:
        if isinstance(holder, Mapping):
            return holder[name] if name in holder else holder.get(_camel(name))
        found = getattr(holder, name, None)
        return getattr(holder, _camel(name), None) if found is None else found
    except Exception:  # an SDK's object may compute its fields, and fail in any way
        return None


@cache
def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _count(value: Any) -> int:
    """A number of tokens; whatever is none counts nothing."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return 0
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or (isinstance(value, float) and not isfinite(value))
    ):
        return 0
    return max(int(value), 0)
