"""Stores that the command line's tests run on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from clew import Store, Usage, open_store
from clew.facts.usage import Cost
from clew.store.ledger import Call
from tests.cli.talks import SECRET

DAY = 86_400.0
ROUNDS = 30


@dataclass(frozen=True)
class Family:
    """The ids in a store, by what they are."""

    url: str
    parser: str
    """Three sessions: .0 and .1 ended by a compaction, .2 goes on. The delegate is of .1, the branch of .2."""
    delegate: str
    deeper: str
    branch: str
    local: str
    """Its model has no known price."""
    blob: str


def kept_family(url: str) -> Family:
    """Messages with a secret in text, arguments and result; a big output outside; calls of several days."""
    now = time.time()
    with open_store(url) as store:
        live = store.open_session(
            title=f"Port the parser {SECRET}", model="opus", tags=["work"], source="proxy", cwd="/src/parser"
        )
        parser = store.conversation(live).id
        for number in range(ROUNDS):
            live = store.append(live, round_of(number))
            price = None if number == 3 else Cost(Decimal("0.0123") * (number + 1), "2026-10-01")
            tools = ("read_file", "run") if number % 10 == 0 else ("read_file",)
            usage = Usage(1_000 + number, 100, cache_read=5_000, cache_write=10, reasoning=7)
            failed = "timeout" if number == 7 else ""
            at = now - DAY * (number % 15)
            store.record(live, Call(usage, "opus", "anthropic", cost=price, tools=tools, at=at, failed=failed))
            if number in (9, 19):
                seen = [said.message for said in store.messages(live)]
                summary = {"role": "user", "content": f"[CONTEXT COMPACTION] What was done up to step {number}."}
                live = store.continue_session(live, [summary, *seen[-4:]], upto=len(seen))
            if number == 12:
                delegate, deeper = _delegates(store, live)
        branch = store.branch(live, upto=3, title="The other way")
        store.append(branch, [{"role": "user", "content": "Try it otherwise."}])
        blob = store.spill("".join(f"line {number} of the great log\n" for number in range(5_000)))
        store.append(live, [{"role": "user", "content": f"The log is in {blob}"}])
        local = store.open_session(title="", model="llama", source="cli")
        store.append(local, [{"role": "user", "content": "Is the lamp lit,\nand by whom?"}])
        store.record(local, Call(Usage(100, 20), "llama", "ollama", purpose="title"))
        ids = [store.conversation(session).id for session in (delegate, deeper, branch, local)]
    return Family(url, parser, *ids, blob.removeprefix("blob:"))


def _delegates(store: Store, session: str) -> tuple[str, str]:
    delegate = store.delegate(session, title="Look for callers")
    store.append(delegate, [{"role": "user", "content": "Find the callers."}])
    store.end(delegate, "done")
    store.record(delegate, Call(Usage(90, 10), "haiku", "anthropic", cost=Cost(Decimal("0.00042"), "2026-05-01")))
    deeper = store.delegate(delegate, title="Deeper still")
    store.append(deeper, [{"role": "user", "content": "Dig."}])
    store.record(deeper, Call(Usage(9, 1), "haiku", "anthropic", cost=Cost(Decimal("0.00002"), "2026-05-01")))
    return delegate, deeper


def round_of(number: int) -> list[dict[str, Any]]:
    """A question, a call, its result and an answer."""
    arguments = f'{{"path": "src/part{number}.py", "token": "{SECRET}"}}'
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    return [
        {"role": "user", "content": f"Do step {number} with {SECRET} \x1b[31m[bold]"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{SECRET} " + f"contents of part {number}\n" * 100},
        {"role": "assistant", "content": f"Step {number} is done."},
    ]
