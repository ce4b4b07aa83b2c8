"""Requests as clients of chat really make them, richer than what every dialect can spell."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.wire.exchanges import PNG, arguments, histories, images, names, texts, tools, values, words

systems = st.builds(
    lambda role, said, more: {"role": role, "content": said, **more},
    st.sampled_from(["system", "developer"]),
    words | st.just("") | st.lists(texts, min_size=1, max_size=2),
    st.sampled_from([{}, {}, {"name": "rules"}]),
)
sounds = st.just({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}})
papers = st.just({"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}})
marked = texts.map(lambda part: {**part, "cache_control": {"type": "ephemeral"}})
unheard = st.just({"type": "hologram", "hologram": {"n": 1}})
thoughts = texts.map(lambda part: {"type": "thinking", "thinking": [part], "closed": True})  # as Mistral spells them

spoken = st.sampled_from(
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]},
        {"annotations": [], "audio": None},
        {"prefix": True},
        {"name": "scribe", "ts": 1.5},
        {},
    ]
)


@st.composite
def talks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A legal conversation with all that chat has: names, sounds, files, refusals, custom and legacy calls."""
    made: list[dict[str, Any]] = []
    for raw in draw(histories()):
        if raw["role"] == "user" and draw(st.booleans()):
            parts = draw(st.lists(texts | images | sounds | papers | marked | unheard, min_size=1, max_size=3))
            raw = {**raw, "content": parts, "name": "Ann"}
        if raw["role"] == "assistant":
            raw = {**raw, **draw(spoken)}
            if isinstance(raw["content"], str) and draw(st.booleans()):
                raw["content"] = [*draw(st.lists(texts | thoughts, max_size=2)), {"type": "text", "text": "."}]
        made.append(raw)
    if draw(st.booleans()):
        made += [
            {"role": "assistant", "content": None, "refusal": "I can't do that."},
            {"role": "system", "content": "Be brief from now on."},
            {"role": "user", "content": "Then this."},
            {"role": "assistant", "content": None, "tool_calls": [_custom(draw)]},
            {"role": "tool", "tool_call_id": "custom_1", "content": draw(words)},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": draw(names), "arguments": draw(arguments)},
            },
            {"role": "function", "name": draw(names), "content": draw(words)},
            {"role": "user", "content": "And?"},
        ]
    return made


def _custom(draw: st.DrawFn) -> dict[str, Any]:
    return {"id": "custom_1", "type": "custom", "custom": {"name": draw(names), "input": draw(words)}}


odd_fields = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(1, 3),
        "seed": st.integers(),
        "stop": st.none() | words | st.lists(words, max_size=2),
        "temperature": st.sampled_from([None, 0, 0.7]),
        "reasoning_effort": st.sampled_from(["low", "xhigh"]),
        "response_format": st.just({"type": "json_object"}),
        "user": words,
        "logit_bias": st.just({"50256": -100}),
        "functions": st.just([{"name": "look", "parameters": {"type": "object"}}]),
        "function_call": st.just("auto"),
        "tool_choice": st.sampled_from(
            [
                None, "auto", "any", "required",
                {"type": "function", "function": {"name": "terminal"}},
                {"type": "custom", "custom": {"name": "patch"}},
                {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
            ]
        ),
        "max_tokens": st.none() | st.integers(1, 9_000),
        "max_completion_tokens": st.integers(1, 9_000),
        "metadata": st.dictionaries(words, words, max_size=2),
        "prompt_cache_key": words,
        "provider": st.just({"order": ["anthropic"]}),
        "x_unheard_of": values,
    },
)  # fmt: skip
streams = st.sampled_from(
    [
        {},
        {"stream": False},
        {"stream": None},
        {"stream": True},
        {"stream": True, "stream_options": None},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream": True, "stream_options": {"include_usage": False}},
        {"stream": True, "stream_options": {"include_obfuscation": False}},
        {"stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}},
    ]
)
custom_tools = st.just({"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}})


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A request's body."""
    tooled = [*draw(tools), *draw(st.lists(custom_tools, max_size=1))]
    return {
        "model": draw(st.sampled_from(["gpt-4o", "gpt-5.2", "o3", "openai/o4-mini", "deepseek-chat", ""])),
        "messages": draw(st.lists(systems, max_size=2)) + draw(talks()),
        **({"tools": tooled} if tooled or draw(st.booleans()) else {}),
        **draw(odd_fields),
        **draw(streams),
    }
