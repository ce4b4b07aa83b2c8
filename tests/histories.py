"""Histories as agents really leave them, for property tests: any order, broken pairs, odd content, planted secrets."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

SECRET = "sk-" + "proj-" + "Zq7Xw2Lm9Kp4Vt8Rb3Nc6Yd1"
"""Assembled here so that no scanner takes the repository for a leak."""

WORDS = """
    the parser fails in src/app/parse.py when the token stream is empty so never call reset() twice 必须 先 检查 配置
    please only touch tests/test_parse.py and run pytest -q again because exit code 1 remains ValueError: bad rune
""".split()

text = st.builds(
    lambda seed, n: " ".join(random.Random(seed).choices(WORDS, k=n)), st.integers(0, 999), st.integers(1, 400)
)
short = st.builds(lambda seed: " ".join(random.Random(seed).choices(WORDS, k=8)), st.integers(0, 999))
spoken = st.one_of(short, short, text, st.just(f"my key is {SECRET} keep it"), st.just("继续，不要改动 API"))


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[dict[str, Any]]:
    """One turn: a person, then calls with results, then an answer. Legal."""
    made: list[dict[str, Any]] = [{"role": "user", "content": draw(spoken)}]
    for step in range(draw(st.integers(0, 3))):
        calls, results = [], []
        for n in range(draw(st.integers(1, 3))):
            call_id = f"call_{number}_{step}_{n}"
            name, arguments = draw(st.sampled_from(TOOLS))
            filled = json.dumps({**arguments, "note": draw(short)})
            calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": filled}})
            results.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": draw(outputs)})
        made.append({"role": "assistant", "content": draw(st.one_of(st.none(), short)), "tool_calls": calls})
        made += results
    made.append({"role": "assistant", "content": draw(spoken)})
    return made


TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("terminal", {"command": "pytest tests/"}),
    ("read_file", {"path": "src/app/parse.py"}),
    ("write_file", {"path": "src/app/new.py", "content": "x = 1\n" * 300}),
    ("patch", {"path": "src/app/parse.py"}),
    ("lookup", {"ids": list(range(200))}),
]
outputs = st.one_of(
    text,
    st.just(""),
    st.just("Exit code 1\nValueError: bad rune in parse.py\n"),
    st.just("line\n" * 3_000),
    st.just(f"OPENAI_API_KEY={SECRET}\n" * 3),
)


@st.composite
def legal_histories(draw: st.DrawFn, *, least: int = 1, most: int = 12) -> list[dict[str, Any]]:
    """A history every provider accepts; it may end with calls in flight."""
    made: list[dict[str, Any]] = []
    if draw(st.booleans()):
        made.append({"role": "system", "content": "You are a careful engineer."})
    for number in range(draw(st.integers(least, most))):
        made += draw(turns(number))
    ending = draw(st.sampled_from(["answer", "question", "in flight"]))
    if ending != "answer":
        made.append({"role": "user", "content": f"newest request: {draw(short)}"})
    if ending == "in flight":
        call = {
            "id": "flying",
            "type": "function",
            "function": {"name": "terminal", "arguments": '{"command": "make"}'},
        }
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
    return made


odd_content = st.one_of(
    st.none(),
    st.integers(),
    st.just([]),
    st.just(
        [
            {"type": "text", "text": "part one"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]
    ),
    st.just([{"type": "unknown_part", "data": 7}, "bare string", None]),
    st.just("\ud800 lone surrogate"),
    short,
)


@st.composite
def odd_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Anything with a role."""
    role = draw(st.sampled_from(["user", "assistant", "tool", "system", "developer", "function", "narrator"]))
    made: dict[str, Any] = {"role": role, "content": draw(odd_content)}
    if role == "assistant" and draw(st.booleans()):
        arguments = draw(st.sampled_from(['{"a": 1}', "not json", "[1, 2]", "", None, 5, {"a": [1]}, "x" * 5_000]))
        call_id = draw(st.sampled_from(["a", "b", "a", None]))
        made["tool_calls"] = [{"id": call_id, "type": "function", "function": {"name": "run", "arguments": arguments}}]
    if role in ("tool", "function"):
        made["tool_call_id"] = draw(st.sampled_from(["a", "b", "zzz"]))
    return made


odd_histories = st.lists(odd_messages(), max_size=60)
