"""Requests as Anthropic's clients really lay them out, for laws that hold in all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.wire.exchanges import PNG, names, values, words

cached = st.sampled_from([{}, {}, {"cache_control": {"type": "ephemeral"}}])
said = words.filter(lambda text: text == text.strip())


def block(kind: str, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A block of this kind, now and then with a cache point."""
    return st.builds(lambda made, marks: {"type": kind, **made, **marks}, st.fixed_dictionaries(fields), cached)


texts = block("text", text=said)
images = block(
    "image",
    source=st.sampled_from(
        [
            {"type": "base64", "media_type": "image/png", "data": PNG},
            {"type": "url", "url": "https://example.org/cat.png"},
            {"type": "url", "url": f"data:image/png;base64,{PNG}"},
            {"type": "file", "file_id": "file_1"},
        ]
    ),
)
documents = block("document", source=st.just({"type": "text", "media_type": "text/plain", "data": "deck log"}))
searched = block("search_result", source=st.just("https://example.org"), title=words, content=st.just([]))
uploads = st.just({"type": "container_upload", "file_id": "file_2"})
asked = st.lists(texts | images | documents | searched | uploads, min_size=1, max_size=3)

thoughts = st.sampled_from(
    [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZW5j"},
    ]
)
cited = block("text", text=said, citations=st.just([{"type": "char_location", "cited_text": "log"}]))
ran_there = st.sampled_from(
    [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "lamp"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "server_name": "deck", "input": {}},
        {"type": "compaction", "content": "Earlier: the lamp was lit."},
        {"type": "kind_of_tomorrow", "data": {"n": 1.5}},
    ]
)


@st.composite
def answers(draw: st.DrawFn, calls: list[str]) -> Any:
    """What an assistant's message holds: a text, or blocks among which these calls stand."""
    if not calls and draw(st.booleans()):
        return draw(said)
    least = 0 if calls else 1
    spoken = draw(st.lists(texts | cited | ran_there, min_size=least, max_size=3))
    uses = [
        draw(
            block(
                "tool_use",
                id=st.just(call),
                name=names,
                input=st.dictionaries(words, values, max_size=2),
                **draw(st.sampled_from([{}, {"caller": st.just({"type": "direct"})}])),
            )
        )
        for call in calls
    ]
    after = draw(st.lists(texts, max_size=1)) if calls else []
    return [*draw(st.lists(thoughts, max_size=1)), *spoken, *uses, *after]


results_content = st.one_of(said, st.just(""), st.lists(texts | images | documents, min_size=1, max_size=2))


@st.composite
def answered(draw: st.DrawFn, calls: list[str]) -> list[dict[str, Any]]:
    """The user's messages that answer these calls: in one or in several, with more said behind them or not."""
    results = []
    for call in calls:
        result = draw(block("tool_result", tool_use_id=st.just(call)))
        if draw(st.booleans()):
            result["content"] = draw(results_content)
        if draw(st.booleans()):
            result["is_error"] = bool(result.get("content")) and draw(st.booleans())
        results.append(result)
    apart = draw(st.integers(0, len(results)))
    groups = [group for group in (results[:apart], results[apart:]) if group]
    if draw(st.booleans()):
        groups[-1] = groups[-1] + draw(asked)
    made = [{"role": "user", "content": group} for group in groups]
    return [*made, {"role": "user", "content": draw(said | asked)}] if draw(st.booleans()) else made


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Legal messages in Anthropic's own form."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        made.append({"role": "user", "content": draw(said | asked)})
        for step in range(draw(st.integers(0, 2))):
            calls = [f"toolu_{number}_{step}_{n}" for n in range(draw(st.integers(1, 3)))]
            made.append({"role": "assistant", "content": draw(answers(calls))})
            made += draw(answered(calls))
        made.append({"role": "assistant", "content": draw(answers([]))})
    made.append({"role": "user", "content": draw(said | asked)})
    return made


tools = st.lists(
    st.sampled_from(
        [
            {"name": "look", "input_schema": {"type": "object"}},
            {"name": "ask", "description": "Asks.", "input_schema": {"type": "object"}, "strict": True},
            {"name": "late", "input_schema": {"type": "object"}, "defer_loading": True, "type": "custom"},
            {"name": "last", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
            {"type": "bash_20250124", "name": "bash", "cache_control": {"type": "ephemeral"}},
            {"type": "mcp_toolset", "mcp_server_name": "deck"},
        ]
    ),
    min_size=1,
    max_size=4,
)
choices = st.sampled_from(
    [
        {"type": "auto"},
        {"type": "any", "disable_parallel_tool_use": True},
        {"type": "tool", "name": "look", "disable_parallel_tool_use": False},
        {"type": "none"},
        {"type": "choice_of_tomorrow", "name": "look"},
    ]
)
systems = st.one_of(words, st.just(""), st.lists(texts, max_size=3))
knobs = st.fixed_dictionaries(
    {},
    optional={
        "system": systems,
        "stream": st.booleans(),
        "temperature": st.sampled_from([0, 0.3, 1, 1.0]),
        "top_p": st.just(0.9),
        "top_k": st.just(40),
        "stop_sequences": st.lists(st.sampled_from(["\n\nHuman:", "END"]), max_size=2),
        "metadata": st.sampled_from([{"user_id": "u-1"}, {"user_id": "u-1", "more": 1}, {"more": 1}, {}]),
        "output_config": st.sampled_from(
            [
                {"effort": "medium"},
                {"effort": "max"},
                {"effort": "low", "task_budget": {"total": 1}},
                {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            ]
        ),
        "thinking": st.just({"type": "enabled", "budget_tokens": 1024}),
        "service_tier": st.just("auto"),
        "context_management": st.just({"edits": [{"type": "clear_tool_uses_20250919"}]}),
        "cache_control": st.just({"type": "ephemeral"}),
        "tools": st.just([]),
    },
)
tooled = st.fixed_dictionaries({"tools": tools}, optional={"tool_choice": choices})


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A whole request."""
    fixed = {"model": "claude-opus-5", "max_tokens": draw(st.integers(1, 64_000)), "messages": draw(conversations())}
    return {**draw(knobs), **(draw(tooled) if draw(st.booleans()) else {}), **fixed}
