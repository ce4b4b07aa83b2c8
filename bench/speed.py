"""What compacting and weighing cost: `python bench/speed.py`. Ratios of CPU time, taken in one run.

`compress()` of 2,000 messages (1.6 MB: user, call, result, answer) with a stub summariser, against Python's `json` dumping
and loading the same history; 10,000 messages against 2,000; weighing a turn after one new message, from 100 to 10,000.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from clew import ContextCompressor
from clew.core.ports import Setup
from clew.core.weigh import weigh
from clew.engines.compressor import Compressor
from clew.facts.messages import read_message
from clew.facts.model import Model, Policy, Window
from clew.facts.session import Session
from clew.runtime.scales import Scale
from clew.tokens import Scale as TextScale

WORDS = (
    "the parser keeps a token stream and rewinds when the guard fails so we return early from `resolve_scope` in "
    "src/app/module_%d.py, line %d; value=%d, then call handle(request_%d) and log the outcome for the next pass. "
)


def history(messages: int) -> list[dict[str, Any]]:
    """User, call, result, answer, again and again; about 800 bytes each, no two alike."""
    made: list[dict[str, Any]] = []
    for n in range(messages // 4):
        text = (WORDS % (n, n * 7, n * 13, n * 31)) * 4
        arguments = json.dumps({"path": f"src/app/module_{n}.py", "content": text[:600]})
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "write_file", "arguments": arguments}}
        made += [
            {"role": "user", "content": f"Request {n}: {text}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "name": "write_file", "content": f"result {n}\n{text}"},
            {"role": "assistant", "content": f"Done with {n}. {text}"},
        ]
    return made


def cpu(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of several runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def compress(messages: list[dict[str, Any]], *, warm: bool = False) -> Callable[[], object]:
    def run() -> object:
        engine = ContextCompressor(200_000, summarise=lambda prompt: "## Goal\nkeep going", count=None)
        if not warm:
            engine.scale._texts = TextScale()  # nothing remembered from the run before
        return engine.compress(messages)

    return run


def weighing(messages: int) -> float:
    scale, policy = Scale(), Policy()
    setup = Setup(Model("m", Window(200_000)), Compressor(policy, scale), scale.message, policy=policy)
    session = Session("s")
    for raw in history(messages):
        said = read_message(raw)
        session = session.add(said, scale.message(said))
    news = [read_message({"role": "user", "content": f"one more thing: {n}"}) for n in range(1_000)]

    def turns() -> None:
        grown = session
        for new in news:
            grown = grown.add(new, scale.message(new))
            weigh(grown, setup)

    return cpu(turns) / len(news)


def main() -> int:
    small, large = history(2_000), history(10_000)
    print(f"2,000 messages: {len(json.dumps(small)) / 1e6:.2f} MB")
    base = cpu(lambda: json.loads(json.dumps(small)))
    of_small, of_large = cpu(compress(small)), cpu(compress(large), times=3)
    again = cpu(compress(small, warm=True))
    print(f"json dump + load                 1.00  ({base * 1e3:.0f} ms)")
    print(f"compress, stub summariser        {of_small / base:.2f}  (at most 3)")
    print(f"  the same, weights remembered   {again / base:.2f}")
    print(f"10,000 messages / 2,000          {of_large / of_small:.2f}  (at most 5.5)")
    digest = cpu(lambda: ContextCompressor(200_000).compress(small), times=3)
    print(f"compress by rules alone          {digest / base:.2f}")
    flat = {n: weighing(n) for n in (100, 1_000, 10_000)}
    print("weighing after one new message   " + ", ".join(f"{n:,}: {t / flat[100]:.2f}" for n, t in flat.items()))
    return 0 if of_small / base <= 3 and of_large / of_small <= 5.5 else 1


if __name__ == "__main__":
    sys.exit(main())
