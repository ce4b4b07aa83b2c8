"""What compacting and weighing cost: `python bench/speed.py`. Ratios of CPU time, taken in one run.

`compress()` of 2,000 messages (user, call, result, answer; about 1.7 MB) with a stub summariser, against Python's
`json` dumping and loading the same history: once with plain sentences, once with slices of the recorded session.
Then 10,000 messages against 2,000, and the weighing of a turn after one new message from 100 to 10,000.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from importlib.resources import files
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

SAMPLE = gzip.decompress(files("clew").joinpath("samples/session-concurrency.jsonl.gz").read_bytes())
RECORDED = "\n".join(json.loads(line)["content"] or "" for line in SAMPLE.splitlines())
PLAIN = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. " * 10


def plain(n: int) -> str:
    return f"Entry {n}. {PLAIN}"


def recorded(n: int) -> str:
    return RECORDED[n * 977 % (len(RECORDED) - 1_050) :][:1_050]


def history(messages: int, text: Callable[[int], str]) -> list[dict[str, Any]]:
    """User, call, result, answer, again and again; no two alike."""
    made: list[dict[str, Any]] = []
    for n in range(messages // 4):
        arguments = json.dumps({"path": f"src/app/module_{n}.py", "limit": 200})
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
        made += [
            {"role": "user", "content": text(3 * n)},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "name": "read_file", "content": text(3 * n + 1)},
            {"role": "assistant", "content": text(3 * n + 2)},
        ]
    return made


def cpu(*works: Callable[[], object], times: int = 9) -> list[float]:
    """The least CPU time of each over several rounds, taken in turn so that a slow minute hits them all."""
    best = [float("inf")] * len(works)
    for _ in range(times):
        for number, work in enumerate(works):
            start = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - start)
    return best


def compress(messages: list[dict[str, Any]]) -> Callable[[], object]:
    def run() -> object:
        engine = ContextCompressor(200_000, summarise=lambda prompt: "## Goal\nkeep going")
        engine.scale._texts = TextScale()  # nothing remembered from the run before
        return engine.compress(messages)

    return run


def by_rules(messages: list[dict[str, Any]]) -> Callable[[], object]:
    return lambda: ContextCompressor(200_000).compress(messages)


def as_json(messages: list[dict[str, Any]]) -> Callable[[], object]:
    return lambda: json.loads(json.dumps(messages))


def weighing(messages: int) -> float:
    scale, policy = Scale(), Policy()
    setup = Setup(Model("m", Window(200_000)), Compressor(policy, scale), scale.message, policy=policy)
    session = Session("s")
    for raw in history(messages, plain):
        said = read_message(raw)
        session = session.add(said, scale.message(said))
    news = [read_message({"role": "user", "content": f"one more thing: {n}"}) for n in range(1_000)]

    def turns() -> None:
        grown = session
        for new in news:
            grown = grown.add(new, scale.message(new))
            weigh(grown, setup)

    return cpu(turns)[0] / len(news)


def main() -> int:
    met = True
    for name, text in (("plain sentences", plain), ("a recorded session", recorded)):
        small, large = history(2_000, text), history(10_000, text)
        works = (as_json(small), compress(small), compress(large), by_rules(small))
        base, one, five, rules = cpu(*works)
        print(f"{name}, {len(json.dumps(small)) / 1e6:.2f} MB in 2,000 messages")
        print(f"  json dump + load            1.00  ({base * 1e3:.1f} ms)")
        print(f"  compress, stub summariser   {one / base:.2f}  (wanted: at most 3)")
        print(f"  10,000 messages / 2,000     {five / one:.2f}  (wanted: at most 5.5)")
        print(f"  compress by rules alone     {rules / base:.2f}")
        met &= text is recorded or (one / base <= 3 and five / one <= 5.5)
    flat = {n: weighing(n) for n in (100, 1_000, 10_000)}
    print(
        "weighing after one new message: " + ", ".join(f"{n:,} messages {t / flat[100]:.2f}" for n, t in flat.items())
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
