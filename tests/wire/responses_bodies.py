"""Requests and responses as OpenAI's Responses API really has them, for laws about its codec."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.wire.exchanges import PNG, arguments, names, words

PICTURE = f"data:image/png;base64,{PNG}"

input_parts = st.one_of(
    words.map(lambda text: {"type": "input_text", "text": text}),
    words.map(lambda text: {"type": "input_text", "text": text, "prompt_cache_breakpoint": {"ttl": "30m"}}),
    st.just({"type": "input_text", "text": "Hi", "tone": "warm"}),
    st.just({"type": "input_image", "image_url": PICTURE}),
    st.just({"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "low"}),
    st.just({"type": "input_image", "file_id": "file-1", "detail": "auto"}),
    st.just({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}),
    st.just({"type": "input_file", "file_url": "https://example.org/a.pdf"}),
    st.just({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}),
)
citations = st.sampled_from(
    [
        {"type": "url_citation", "start_index": 0, "end_index": 4, "url": "https://example.org", "title": "Example"},
        {"type": "file_citation", "file_id": "file-1", "index": 3, "filename": "a.pdf"},
    ]
)
output_parts = st.one_of(
    st.builds(
        lambda text, cited: {"type": "output_text", "text": text, "annotations": cited, "logprobs": []},
        words,
        st.lists(citations, max_size=2),
    ),
    words.map(lambda text: {"type": "output_text", "text": text}),
    words.map(lambda text: {"type": "refusal", "refusal": text}),
)


@st.composite
def said_by_the_client(draw: st.DrawFn, role: str = "user") -> dict[str, Any]:
    content = draw(words | st.lists(input_parts, min_size=1, max_size=3))
    typed = draw(st.sampled_from([{}, {"type": "message"}, {"type": "message", "status": "completed", "id": "msg_u"}]))
    return {**typed, "role": role, "content": content}


@st.composite
def said_by_the_model(draw: st.DrawFn, name: str, *, short: bool = True) -> dict[str, Any]:
    phase = draw(st.sampled_from([{}, {"phase": "commentary"}, {"phase": "final_answer"}]))
    if short and draw(st.booleans()):
        return {"role": "assistant", "content": draw(words), **phase}
    content = draw(st.lists(output_parts, min_size=1, max_size=3))
    status = draw(st.sampled_from(["completed", "incomplete"]))
    return {"type": "message", "id": f"msg_{name}", "status": status, "role": "assistant", "content": content, **phase}


@st.composite
def thoughts(draw: st.DrawFn, name: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in draw(st.lists(words, max_size=2))]
    sealed = draw(st.sampled_from([{}, {"encrypted_content": "gAAAAABo"}, {"encrypted_content": None, "content": []}]))
    return {"type": "reasoning", "id": f"rs_{name}", "summary": summary, **sealed}


def function_call(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    own = draw(st.sampled_from([{}, {"id": f"fc_{name}"}, {"id": f"fc_{name}", "status": "completed"}]))
    space = draw(st.sampled_from([{}, {"namespace": "mail"}]))
    output = draw(words | st.lists(input_parts.filter(lambda part: part["type"] != "input_audio"), min_size=1))
    done = draw(st.sampled_from([{}, {"id": f"fco_{name}", "status": "completed"}]))
    return [
        {"type": "function_call", "call_id": name, "name": draw(names), "arguments": draw(arguments), **own, **space},
        {"type": "function_call_output", "call_id": name, "output": output, **done},
    ]


def custom_call(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    return [
        {"type": "custom_tool_call", "id": f"ctc_{name}", "call_id": name, "name": "patch", "input": draw(words)},
        {"type": "custom_tool_call_output", "call_id": name, "output": draw(words)},
    ]


def built_in_call(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    ran = {"stdout": draw(words), "stderr": "", "outcome": {"type": "exit", "exit_code": draw(st.integers(0, 2))}}
    operation = {"type": "update_file", "path": "a.py", "diff": draw(words)}
    shown = {"type": "computer_screenshot", "image_url": PICTURE}
    made = draw(
        st.sampled_from(
            [
                ("shell_call", {"action": {"commands": ["ls"]}}, {"output": [ran], "max_output_length": 4_096}),
                ("shell_call", {"action": {"commands": ["ls"]}, "environment": {"type": "local"}}, {"output": []}),
                ("local_shell_call", {"action": {"type": "exec", "command": ["ls"], "env": {}}}, {"output": "a.py"}),
                ("apply_patch_call", {"operation": operation}, {"status": "completed", "output": draw(words)}),
                ("apply_patch_call", {"operation": operation}, {"status": "failed"}),
                ("apply_patch_call", {"operation": operation}, {"status": "completed", "output": None}),
                ("computer_call", {"action": {"type": "screenshot"}, "pending_safety_checks": []}, {"output": shown}),
            ]
        )
    )
    kind, asked, answer = made
    call = {"type": kind, "id": f"item_{name}", "call_id": name, "status": "completed", **asked}
    return [call, {"type": f"{kind}_output", "call_id": name, **answer}]


def tool_search(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    found = [{"type": "function", "name": draw(names), "parameters": {"type": "object"}}]
    where = {"execution": "client", "status": "completed"}
    return [
        {"type": "tool_search_call", "id": f"tsc_{name}", "call_id": name, "arguments": {"goal": "mail"}, **where},
        {"type": "tool_search_output", "call_id": name, "tools": found, **where},
    ]


def hosted(name: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """What the provider carried out itself."""
    box = {"environment": {"type": "container_reference", "container_id": "cntr_1"}}
    return st.sampled_from(
        [
            [{"type": "web_search_call", "id": f"ws_{name}", "status": "completed", "action": {"type": "search"}}],
            [
                {
                    "type": "file_search_call",
                    "id": f"fs_{name}",
                    "status": "completed",
                    "queries": ["a"],
                    "results": None,
                }
            ],
            [{"type": "code_interpreter_call", "id": f"ci_{name}", "status": "completed", "code": "1", "outputs": []}],
            [{"type": "image_generation_call", "id": f"ig_{name}", "status": "completed", "result": PNG}],
            [{"type": "mcp_call", "id": f"mcp_{name}", "arguments": "{}", "name": "ask", "server_label": "wiki"}],
            [
                {"type": "shell_call", "id": f"sh_{name}", "call_id": name, "action": {"commands": ["ls"]}, **box},
                {"type": "shell_call_output", "id": f"sho_{name}", "call_id": name, "output": []},
            ],
            [
                {"type": "tool_search_call", "id": f"t_{name}", "call_id": None, "execution": "server"},
                {"type": "tool_search_output", "id": f"o_{name}", "call_id": None, "execution": "server", "tools": []},
            ],
            [{"type": "levitation_call", "id": f"lev_{name}", "height": 3}],
            [{"type": "tarot_card", "id": f"tar_{name}", "card": "the fool"}],
        ]
    )


put_there = st.sampled_from(
    [
        {"type": "item_reference", "id": "msg_elsewhere"},
        {"id": "msg_elsewhere"},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "web_search"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"role": "developer", "content": "Answer in French from here on."},
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "The user is away."}]},
    ]
)
"""Items that stand between turns and belong to no one."""


@st.composite
def steps(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    """What the model makes in one go, and the client's answers to it."""
    items = [draw(thoughts(name))] if draw(st.booleans()) else []
    if draw(st.booleans()):
        items += [*draw(hosted(f"h_{name}")), draw(thoughts(f"after_{name}"))]
    if draw(st.booleans()):
        items.append(draw(said_by_the_model(name)))
    kinds = [function_call, function_call, custom_call, built_in_call, tool_search]
    pairs = [draw(st.sampled_from(kinds))(draw, f"call_{name}_{n}") for n in range(draw(st.integers(1, 3)))]
    return [*items, *(call for call, _ in pairs), *(answer for _, answer in pairs)]


@st.composite
def inputs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A legal conversation."""
    items = [draw(said_by_the_client(role)) for role in draw(st.sampled_from([(), (), ("developer",), ("system",)]))]
    for turn in range(draw(st.integers(1, 3))):
        items.append(draw(said_by_the_client()))
        for number in range(draw(st.integers(0, 2))):
            items += draw(steps(f"{turn}_{number}"))
        if draw(st.booleans()):
            items.append(draw(thoughts(f"{turn}")))
        items += [draw(said_by_the_model(f"{turn}_{n}")) for n in range(draw(st.integers(1, 2)))]
        items += draw(st.lists(put_there, max_size=1))
    return [*items, draw(said_by_the_client())]


tools = st.sampled_from(
    [
        {"type": "function", "name": "read_file", "parameters": {"type": "object"}, "strict": False},
        {"type": "function", "name": "search_web", "description": "Search.", "parameters": {}, "strict": True},
        {"type": "function", "name": "terminal", "parameters": {"type": "object"}, "defer_loading": True},
        {"type": "function", "name": "old", "parameters": {"type": "object"}, "strict": None},
        {"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
        {"type": "custom", "name": "free", "format": {"type": "text"}},
        {"type": "web_search", "search_context_size": "low"},
        {"type": "mcp", "server_label": "wiki", "server_url": "https://example.org", "require_approval": "never"},
    ]
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "model": st.just("gpt-5.2"),
    "instructions": words | st.none() | st.just(""),
    "tools": st.lists(tools, max_size=3),
    "tool_choice": st.sampled_from(
        [
            "auto",
            "required",
            {"type": "function", "name": "read_file"},
            {"type": "custom", "name": "patch"},
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read_file"}]},
        ]
    ),
    "parallel_tool_calls": st.booleans() | st.none(),
    "max_output_tokens": st.integers(16, 64_000) | st.none(),
    "reasoning": st.sampled_from(
        [{"effort": "low"}, {"effort": "high", "summary": "auto"}, {"effort": None}, {}, None]
    ),
    "text": st.sampled_from(
        [
            {"format": {"type": "text"}, "verbosity": "low"},
            {"format": {"type": "json_schema", "name": "Answer", "schema": {"type": "object"}, "strict": True}},
            {"verbosity": "high"},
            {"format": {"type": "json_object"}},
        ]
    ),
    "temperature": st.sampled_from([0, 0.5, 1.0, None]),
    "top_p": st.sampled_from([0.9, None]),
    "user": st.just("someone"),
    "stream": st.booleans(),
    "store": st.booleans(),
    "include": st.just(["reasoning.encrypted_content"]),
    "previous_response_id": st.none() | st.just("resp_0"),
    "conversation": st.sampled_from(["conv_1", {"id": "conv_1"}]),
    "prompt_cache_key": st.just("session-7"),
    "metadata": st.just({"team": "a"}),
    "truncation": st.just("auto"),
    "background": st.booleans(),
}
bodies = st.fixed_dictionaries({"input": words | inputs()}, optional=FIELDS)


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    """A whole response object."""
    output: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 3))):
        output += draw(
            st.one_of(
                thoughts(f"{number}").map(lambda item: [item]),
                said_by_the_model(f"{number}", short=False).map(lambda item: [item]),
                hosted(f"{number}"),
            )
        )
    calls = [
        {**call, "id": f"fc_{n}", "status": draw(st.sampled_from(["completed", "incomplete"]))}
        for n in range(draw(st.integers(0, 2)))
        for call in [draw(st.sampled_from([function_call, custom_call, built_in_call]))(draw, f"call_{n}")[0]]
    ]
    ending = draw(
        st.sampled_from(
            [
                {"status": "completed", "incomplete_details": None},
                {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
                {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
                {"status": "incomplete", "incomplete_details": {"reason": "steered"}},
                {"status": "in_progress", "incomplete_details": None},
                {"status": "completed"},
            ]
        )
    )
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_763_000_000,
        "model": "gpt-5.2-2025-12-11",
        "output": [*output, *calls],
        **ending,
        **draw(st.fixed_dictionaries({}, optional=RESPONSE_FIELDS)),
    }


USAGE = {
    "input_tokens": 900,
    "input_tokens_details": {"cached_tokens": 800},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 950,
}
RESPONSE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "error": st.none(),
    "instructions": st.none() | words,
    "metadata": st.just({}) | st.just({"team": "a"}),
    "parallel_tool_calls": st.booleans(),
    "temperature": st.just(1.0),
    "tool_choice": st.just("auto"),
    "tools": st.lists(tools, max_size=1),
    "top_p": st.none(),
    "usage": st.none() | st.just(USAGE),
    "service_tier": st.just("default"),
    "billing": st.just({"payer": "developer"}),
}

ODD_NAMES = "type role content text call_id name arguments input output id status tools execution item summary"
odd_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "function_call", "message", "reasoning"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(ODD_NAMES.split()),
            inner | st.sampled_from("assistant user tool text output_text input_image refusal".split()),
            max_size=5,
        )
    ),
    max_leaves=12,
)
"""Anything that JSON can say, with the names that mean something here."""
