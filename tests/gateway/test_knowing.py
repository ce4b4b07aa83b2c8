"""Conversations are known again by what their clients send: growing, edited, forked, compacted, after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2 as httpx
import openai
import pytest

from clew.gateway.keys import Key, _hashed
from clew.testing import ProviderSimulator
from clew.testing.simulator import Status
from tests.gateway.running import Running, running

Said = list[dict[str, Any]]


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=20) as opened:
        yield opened


def ask(
    client: httpx.Client, gateway: Running, messages: Said, path: str = "chat/completions", **more: Any
) -> httpx.Response:
    headers = more.pop("headers", {})
    name = "input" if path == "responses" else "messages"
    body = {"model": "gpt-5", name: messages, "max_tokens": 99, **more}
    answer = client.post(f"{gateway.url}/v1/{path}", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def reply_of(answer: httpx.Response) -> dict[str, Any]:
    return answer.json()["choices"][0]["message"]  # type: ignore[no-any-return]


def known(answer: httpx.Response) -> tuple[str, str, int]:
    told = answer.headers
    return told["x-clew-session"], told["x-clew-conversation"], int(told["x-clew-known"])


def rows(gateway: Running) -> int:
    """Messages that were ever written, also those that were edited since."""
    gateway.settle()
    return int(gateway.store.database.glance.all("SELECT COUNT(*) FROM message")[0][0])


def test_thirty_turns_are_one_conversation_and_each_message_one_row(gateway: Running, client: httpx.Client) -> None:
    before, messages = rows(gateway), [{"role": "system", "content": "Be kind."}, user("turn 0 of thirty")]
    sessions = set()
    for turn in range(30):
        answer = ask(client, gateway, messages)
        session, how, count = known(answer)
        sessions.add(session)
        assert (how, count) == (("continues", len(messages) - 2) if turn else ("new", 0))
        messages += [reply_of(answer), user(f"turn {turn + 1} of thirty")]
    (session,) = sessions
    said = gateway.said(session)
    assert [content for _, content in said] == [message["content"] for message in messages[1:-1]]
    assert rows(gateway) - before == 60
    assert gateway.store.session(session).system == "Be kind."
    assert gateway.store.spent(conversation=session)[0].calls == 30


def test_openais_client_is_known_though_it_spells_replies_back_with_nulls(gateway: Running) -> None:
    before, messages = rows(gateway), [user("spelled back in another way")]  # type: Any, Any
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as sdk:
        for turn in range(4):
            raw = sdk.chat.completions.with_raw_response.create(model="gpt-5", messages=messages)
            messages += [raw.parse().choices[0].message.model_dump(), user(f"more {turn}")]
    assert len(gateway.said(raw.headers["x-clew-session"])) == 8
    assert rows(gateway) - before == 8
    assert raw.headers["x-clew-conversation"] == "continues"


def test_anthropics_client_that_moves_its_cache_marks_goes_on_in_one_conversation(gateway: Running) -> None:
    messages: Any = []
    sessions = set()
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0) as sdk:
        for turn in range(6):
            text = {"type": "text", "text": f"marked {turn}", "cache_control": {"type": "ephemeral"}}
            for message in messages:
                for block in message["content"]:
                    block.pop("cache_control", None)
            messages.append({"role": "user", "content": [text]})
            raw = sdk.messages.with_raw_response.create(model="claude-of-the-tests", max_tokens=64, messages=messages)
            sessions.add(raw.headers["x-clew-session"])
            said = [block.model_dump(exclude_none=True) for block in raw.parse().content]
            messages.append({"role": "assistant", "content": said})
    (session,) = sessions
    assert len(gateway.said(session)) == 12


def test_tools_of_anthropic_go_on_in_one_conversation(one: Running, client: httpx.Client) -> None:
    call = {"id": "toolu_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
    with ProviderSimulator(replies=[{"role": "assistant", "content": "Let me.", "tool_calls": [call]}, "Done."]) as sim:
        one.lead(sim.url)
        messages: Said = [user("look at it")]
        first = ask(client, one, messages, "messages")
        messages += [{"role": "assistant", "content": first.json()["content"]}]
        messages += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}]
        second = ask(client, one, messages, "messages")
    assert known(second)[:2] == (known(first)[0], "continues")
    assert [role for role, _ in one.said(known(first)[0])] == ["user", "assistant", "tool", "assistant"]


def test_the_responses_api_is_known_by_items_and_by_the_reply_it_names(gateway: Running, client: httpx.Client) -> None:
    items: Said = [user("items one")]
    first = ask(client, gateway, items, "responses", stream=False)
    items += [*first.json()["output"], user("items two")]
    second = ask(client, gateway, items, "responses", stream=False)
    assert known(second)[:2] == (known(first)[0], "continues")
    named = {"previous_response_id": second.json()["id"]}
    third = ask(client, gateway, [user("items three")], "responses", **named)
    assert known(third)[:2] == (known(first)[0], "continues")
    said = gateway.said(known(first)[0])
    assert [role for role, _ in said] == ["user", "assistant"] * 3
    assert said[4] == ("user", "items three")


def test_the_same_request_again_is_the_same_conversation_and_adds_nothing(
    gateway: Running, client: httpx.Client
) -> None:
    first = ask(client, gateway, [user("once and once more")])
    again = ask(client, gateway, [user("once and once more")])
    assert known(again)[:2] == (known(first)[0], "again")
    assert len(gateway.said(known(first)[0])) == 2


def test_another_reply_to_the_same_request_takes_the_place_of_the_first(one: Running, client: httpx.Client) -> None:
    with ProviderSimulator(replies=["first try", "second try"]) as sim:
        one.lead(sim.url)
        asked = [user("say it differently")]
        session = known(ask(client, one, asked))[0]
        ask(client, one, asked)
    assert one.said(session) == [("user", "say it differently"), ("assistant", "second try")]


def test_what_was_not_answered_may_be_said_otherwise_without_a_fork(one: Running, client: httpx.Client) -> None:
    with ProviderSimulator(faults={1: Status(500)}) as sim:
        one.lead(sim.url)
        messages: Said = [user("first of all")]
        first = ask(client, one, messages)
        messages += [reply_of(first)]
        body = {"model": "gpt-5", "messages": [*messages, user("refused")], "max_tokens": 99}
        assert client.post(f"{one.url}/v1/chat/completions", json=body).status_code == 500
        third = ask(client, one, [*messages, user("said otherwise")])
    assert known(third)[:2] == (known(first)[0], "continues")
    assert ("user", "refused") not in one.said(known(first)[0])
    assert one.store.spent(conversation=known(first)[0])[0].failed == 1


def test_an_edit_in_the_middle_stays_in_its_conversation_and_the_old_words_in_the_log(
    gateway: Running, client: httpx.Client
) -> None:
    messages = [
        user("edit me later"),
        {"role": "assistant", "content": "Yes."},
        user("a long output " * 40),
        user("go"),
    ]
    first = ask(client, gateway, messages)
    edited = [*messages[:2], user("[cleared]"), messages[3], reply_of(first), user("and on")]
    second = ask(client, gateway, edited)
    assert known(second)[:2] == (known(first)[0], "edited")
    said = [content for _, content in gateway.said(known(first)[0])]
    assert said[:4] == ["edit me later", "Yes.", "[cleared]", "go"]
    kept = [stored.message["content"] for stored in gateway.store.history(known(first)[0], aside=True)]
    assert "a long output " * 40 in kept
    third = ask(client, gateway, [*edited, reply_of(second), user("still here")])
    assert known(third)[:2] == (known(first)[0], "continues")


def test_a_fork_is_a_branch_that_begins_with_what_both_share(gateway: Running, client: httpx.Client) -> None:
    messages: Said = [user("fork me")]
    for turn in range(3):
        answer = ask(client, gateway, messages)
        messages += [reply_of(answer), user(f"main {turn}")]
    ask(client, gateway, messages)
    other = [*messages[:4], user("elsewhere instead")]
    other[3] = user("another way")
    forked = ask(client, gateway, other)
    main, (branch, how, _) = known(answer)[0], known(forked)
    assert how == "forked"
    assert branch != main
    assert [content for _, content in gateway.said(branch)][:5] == [message["content"] for message in other]
    assert gateway.store.conversation(branch).origin.value == "branch"
    assert len(gateway.said(main)) == 8
    on = ask(client, gateway, [*other, reply_of(forked), user("go on there")])
    assert known(on)[:2] == (branch, "continues")


def test_a_clients_own_compaction_goes_on_in_the_same_conversation(gateway: Running, client: httpx.Client) -> None:
    messages: Said = [user("compact me")]
    for turn in range(5):
        answer = ask(client, gateway, messages)
        messages += [reply_of(answer), user(f"step {turn}")]
    answer = ask(client, gateway, messages)
    short = [messages[0], user("[summary of five steps]"), messages[-1], reply_of(answer), user("and now")]
    after = ask(client, gateway, short)
    assert known(after)[:2] == (known(answer)[0], "compacted")
    assert [content for _, content in gateway.said(known(after)[0])][:2] == ["compact me", "[summary of five steps]"]
    assert gateway.store.sessions(known(after)[0])[0].end_reason == "compression"


def test_a_conversation_is_asked_for_by_its_name_and_no_other_name_will_do(
    gateway: Running, client: httpx.Client
) -> None:
    first = ask(client, gateway, [user("call me by my name")])
    session = known(first)[0]
    messages = [user("call me by my name"), reply_of(first), user("here")]
    named = ask(client, gateway, messages, headers={"x-clew-session": session})
    assert known(named)[:2] == (session, "continues")
    strange = ask(client, gateway, [user("all new, summarised by the client")], headers={"x-clew-session": session})
    assert known(strange)[0] == session
    for name in ("nobody", "../../etc/passwd", "' OR 1=1 --", "x" * 500, session + ".7"):
        answer = client.post(
            f"{gateway.url}/v1/chat/completions",
            json={"model": "m", "messages": [user("x")]},
            headers={"x-clew-session": name},
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), name


def test_two_sessions_of_a_client_that_say_the_same_stay_two(gateway: Running, client: httpx.Client) -> None:
    asked = [user("the same in both")]
    by_header = [ask(client, gateway, asked, headers={"x-claude-code-session-id": name}) for name in ("a", "b")]
    by_body = [ask(client, gateway, asked, "messages", metadata={"user_id": name}) for name in ("a", "b")]
    assert len({known(answer)[0] for answer in (*by_header, *by_body)}) == 4


def keyed(name: str, shown: str, **named: Any) -> Key:
    return Key(name, _hashed(shown), **named)


def test_what_one_key_began_another_cannot_find(one: Running, client: httpx.Client) -> None:
    with ProviderSimulator(key="sk-of-the-house") as sim:
        one.lead(sim.url, keyed("ann", "clew-ann"), keyed("bob", "clew-bob"))
        messages: Said = [user("what only ann knows")]
        ann = {"authorization": "Bearer clew-ann"}
        first = ask(client, one, messages, headers=ann)
        messages += [reply_of(first), user("and more")]
        bobs = ask(client, one, messages, headers={"authorization": "Bearer clew-bob"})
        anns = ask(client, one, messages, headers=ann)
        assert known(bobs)[:2] != known(anns)[:2] == (known(first)[0], "continues")
        stolen = client.post(
            f"{one.url}/v1/chat/completions",
            json={"model": "m", "messages": [user("x")]},
            headers={"authorization": "Bearer clew-bob", "x-clew-session": known(first)[0]},
        )
        nothing = client.post(
            f"{one.url}/v1/chat/completions",
            json={"model": "m", "messages": [user("x")]},
            headers={"authorization": "Bearer clew-bob", "x-clew-session": "20200101-abc"},
        )
    assert (stolen.status_code, nothing.status_code) == (404, 404)
    assert (
        stolen.json()["error"]["message"].replace(known(first)[0], "20200101-abc") == nothing.json()["error"]["message"]
    )


def test_after_a_restart_a_conversation_goes_on_where_it_stood(tmp_path: Path, client: httpx.Client) -> None:
    messages: Said = [user("before the restart")]
    with ProviderSimulator() as sim:
        for _ in range(2):
            with running(tmp_path) as gateway:
                gateway.lead(sim.url)
                for turn in range(2):
                    answer = ask(client, gateway, messages)
                    messages += [reply_of(answer), user(f"more {turn}")]
                session, how, _ = known(answer)
                assert how == "continues"
                said = gateway.said(session)
    assert [content for _, content in said] == [message["content"] for message in messages[:-1]]
