"""What the window still holds after a compaction: `python bench/retention.py` (no model, recorded conversations).

Each conversation of at least 60,000 tokens is cut at 30, 50 and 70 % and compacted for a 64,000-token window by the
digest alone. Counted are the exact strings that stood before the cut, outside the protected head and tail, and that the
assistant itself is the first to use again after the cut: which of them can still be read in the window? Beside it
stands what plain trimming to the same weight leaves of them.
The finder of strings here is the bench's own, not the engine's. Weights were tuned on TUNED; the rest is held out.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clew
from clew.core.speaker import Speaker, speaker
from clew.facts.messages import read_message
from clew.tokens import count_exact, count_message, default

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
TUNED = {"entireio/cli", "dayhaysoos/nimbus", "BillWan-zzzyyy/alpamayo"}
WINDOW, CUTS, LEAST = 64_000, (0.3, 0.5, 0.7), 60_000

KINDS = {
    "address": re.compile(r"https?://[^\s\"'<>)\]}`,\\]+"),
    "path": re.compile(r"(?<![\w/.~:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w"),
    "file": re.compile(
        r"(?<![\w/.-])[\w-]+\.(?:py|go|ts|tsx|js|json|md|sh|sql|toml|ya?ml|css|html|rs|java|txt|mod|lock)\b"
    ),
    "hash": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"),
    "error": re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b"),
    "identifier": re.compile(
        r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)\b"
    ),
    "value": re.compile(r"\bv?\d+(?:\.\d+)+\b|(?<=[=:])\s?\d{2,6}\b"),
}
DEMAND = re.compile(
    r"\b(?:must|never|only|always|don't|do not|should not|shouldn't|make sure|avoid)\b|不要|必须|只能|禁止|不能|务必",
    re.IGNORECASE,
)


def main() -> int:
    if not (CORPUS / "index.json").exists():
        print(f"no recorded conversations at {CORPUS.name}/: nothing to measure")
        return 0
    index = [row for row in json.loads((CORPUS / "index.json").read_text()) if row["tokens"] >= LEAST]
    wanted: dict[bool, Counter[str]] = defaultdict(Counter)
    held: dict[bool, Counter[str]] = defaultdict(Counter)
    trimmed: Counter[bool] = Counter()
    demands = demands_held = cuts = over = 0
    heaviest = 0
    lost: list[str] = []
    for number, row in enumerate(index, 1):
        print(f"\r{number}/{len(index)} {row['id']:<24}", end="", file=sys.stderr)
        history = [json.loads(line) for line in (CORPUS / row["file"]).open()]
        tuned = row["source_repo"] in TUNED
        for cut in places(history):
            done = clew.compact(history[:cut], context_length=WINDOW)
            window = "\n".join(map(text_of, done.messages))
            newest = "\n".join(map(text_of, trim(history[:cut], done.tokens_after)))
            protected = "\n".join(text_of(history[place]) for place in done.kept)
            cuts += 1
            over += done.tokens_after > WINDOW // 2
            heaviest = max(heaviest, count_exact(done.summary))
            first_user = first_use(history[cut:])
            for string, kind in strings("\n".join(text_of(history[place]) for place in done.dropped)).items():
                if string not in protected and first_user.get(string) == "assistant":
                    wanted[tuned][kind] += 1
                    held[tuned][kind] += string in window
                    trimmed[tuned] += string in newest
            for said in persons_demands(history[:cut]):
                demands += 1
                if said in window:
                    demands_held += 1
                else:
                    lost.append(f"{row['id']}: {said[:100]}")
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    print(f"{len(index)} conversations, {cuts} compactions for {WINDOW:,} tokens, heaviest digest {heaviest:,} tokens")
    for tuned, name in ((False, "held out"), (True, "tuned on")):
        of, kept = wanted[tuned], held[tuned]
        print(f"\n{name}: {sum(kept.values())} of {sum(of.values())} strings still in the window = "
              f"{sum(kept.values()) / max(sum(of.values()), 1):.1%}")  # fmt: skip
        share = trimmed[tuned] / max(sum(of.values()), 1)
        print(f"  (of the newest messages with the same weight, which trimming keeps: {share:.1%})")
        for kind, n in of.most_common():
            print(f"  {kind:<11} {kept[kind]:>5} of {n:>5}  {kept[kind] / n:.0%}")
    print(f"\nsentences in which a person demanded something: {demands_held} of {demands}")
    print(*lost[:10], sep="\n")
    print(f"windows over their trigger after the cut: {over} of {cuts}")
    return 0 if over == 0 and demands_held == demands else 1


def places(history: list[dict[str, Any]]) -> Iterator[int]:
    weights = [count_message(said, default()) for said in history]
    for cut in CUTS:
        goal, sofar = sum(weights) * cut, 0
        for place, weight in enumerate(weights, 1):
            sofar += weight
            if sofar >= goal:
                yield place
                break


def trim(history: list[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """What is left when a history is cut down to a weight from the front: the usual way without a model."""
    start = len(history)
    while start and tokens > 0:
        start -= 1
        tokens -= count_message(history[start], default())
    return history[start:]


def text_of(said: dict[str, Any]) -> str:
    content = said.get("content") or ""
    texts = [content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)]
    for call in said.get("tool_calls") or []:
        texts += leaves(call["function"]["arguments"])
    return "\n".join(texts)


def leaves(arguments: str) -> list[str]:
    try:
        waiting = [json.loads(arguments)]
    except ValueError:
        return [arguments]
    found = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        else:
            found.append(str(value))
    return found


def strings(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, pattern in KINDS.items():
        for string in pattern.findall(text):
            string = string.strip().rstrip(".,:;")
            if len(string) >= 3:
                found.setdefault(string, kind)
    return found


def first_use(later: list[dict[str, Any]]) -> dict[str, str]:
    users: dict[str, str] = {}
    for said in later:
        for string in strings(text_of(said)):
            users.setdefault(string, said["role"])
    return users


def persons_demands(history: list[dict[str, Any]]) -> Iterator[str]:
    for said in history:
        if speaker(read_message(said)) is Speaker.PERSON:
            for line in re.split(r"(?<=[.!?])\s+|[\n。！？]", text_of(said)):
                if DEMAND.search(line):
                    yield line.strip()


if __name__ == "__main__":
    sys.exit(main())
