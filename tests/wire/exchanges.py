"""Prompts and replies as any dialect can spell them, for laws that hold in all of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from clew.facts.exchange import Prompt, Reply
from clew.facts.messages import read_message
from clew.facts.usage import Usage

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="

words = st.sampled_from(
    ["Port the parser.", "必须先检查配置", "done", "a\nb", '{"not": "ours"}', "naïve café", "🧵", "x" * 300, "ends "]
)
names = st.sampled_from(["read_file", "terminal", "search_web"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(["path", "command", "命令", "n"]), values, max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
images = st.sampled_from([f"data:image/png;base64,{PNG}", "https://example.org/cat.png"]).map(
    lambda url: {"type": "image_url", "image_url": {"url": url}}
)
texts = words.map(lambda text: {"type": "text", "text": text})

tools = st.lists(
    st.builds(
        lambda name, told, keys: {
            "type": "function",
            "function": {
                "name": name,
                "description": told,
                "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in keys}},
            },
        },
        names,
        words,
        st.lists(st.sampled_from(["path", "command"]), max_size=2),
    ),
    max_size=3,
    unique_by=lambda tool: tool["function"]["name"],
).map(tuple)


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A legal conversation in chat's form: text, pictures, calls in parallel with their results."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 4))):
        parts = draw(st.lists(texts | images, min_size=2, max_size=3))
        made.append({"role": "user", "content": draw(words | st.just(parts))})
        for step in range(draw(st.integers(0, 2))):
            calls = [
                {
                    "id": f"call_{number}_{step}_{place}",
                    "type": "function",
                    "function": {"name": draw(names), "arguments": draw(arguments)},
                }
                for place in range(draw(st.integers(1, 3)))
            ]
            made.append({"role": "assistant", "content": draw(st.none() | words), "tool_calls": calls})
            made += [{"role": "tool", "tool_call_id": call["id"], "content": draw(words)} for call in calls]
        made.append({"role": "assistant", "content": draw(words)})
    made.append({"role": "user", "content": draw(words)})
    return made


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    """A prompt of a kind that every dialect can spell in full."""
    tooled = draw(tools)
    settings: dict[str, Any] = {}
    if draw(st.booleans()):
        settings["temperature"] = draw(st.sampled_from([0, 0.5, 1]))
    if draw(st.booleans()):
        settings["top_p"] = 0.9
    if tooled and draw(st.booleans()):
        named = {"type": "function", "function": {"name": tooled[0]["function"]["name"]}}
        settings["tool_choice"] = draw(st.sampled_from(["auto", "none", "required", named]))
        if settings["tool_choice"] != "none" and draw(st.booleans()):
            settings["parallel_tool_calls"] = draw(st.booleans())
    return Prompt(
        system=draw(st.just("") | words),
        messages=tuple(read_message(raw) for raw in draw(histories())),
        tools=tooled,
        max_output=draw(st.integers(1, 64_000)),
        model=draw(st.sampled_from(["gpt-5.2", "claude-opus-5", "local"])),
        stream=draw(st.booleans()),
        settings=settings,
    )


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """A reply of a kind that every dialect can spell in full."""
    raw: dict[str, Any] = {"role": "assistant", "content": draw(st.none() | words)}
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": draw(names), "arguments": draw(arguments)}}
        for n in range(draw(st.integers(0 if raw["content"] else 1, 3)))
    ]
    if calls:
        raw["tool_calls"] = calls
    read, wrote = draw(st.integers(0, 5_000)), draw(st.integers(0, 5_000))
    output = draw(st.integers(1, 5_000))
    usage = Usage(draw(st.integers(0, 5_000)), output, read, wrote, draw(st.integers(0, output)))
    stop = "tool_calls" if calls else draw(st.sampled_from(["stop", "length"]))
    return Reply(read_message(raw), usage, stop, id="reply_1", model="some-model")
