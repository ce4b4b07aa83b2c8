"""What counting tokens costs and how far off it is: `python bench/tokens.py`.

On the recorded conversations in ../shared/corpus when they are there, on the samples of the tests otherwise. Half of
the conversations are among the texts the weights were fitted on; the samples are not, but guided the choice of kinds.
Speeds are of one run; the ratio to exact counting is what carries over to another machine.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from pathlib import Path

from clew.tokens import Scale, count_exact, estimate, exact

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
CHUNK = 3000  # characters in one text whose error is looked at
ENOUGH = 400_000  # characters of each class


def main() -> None:
    classes = dict(corpus() if CORPUS.is_dir() else samples())
    print(f"estimate against exact, texts of up to {CHUNK:,} characters\n")
    print(f"{'class':<22}{'texts':>7}{'tokens':>12}{'median':>9}{'p95':>8}{'sum':>8}")
    for name, texts in classes.items():
        print(row(name, [estimate(text) for text in texts], [count_exact(text) for text in texts]))

    whole = long_texts(classes)
    print(f"\nlong texts, sampled ({len(whole)} of {min(map(len, whole)):,} to {max(map(len, whole)):,} characters)\n")
    truth = [count_exact(text) for text in whole]
    print(row("Scale.count", [Scale().count(text) for text in whole], truth))
    print(row("Scale.count_all", [Scale().count_all(pieces(text)) for text in whole], truth))

    speeds(classes, whole)


def row(name: str, counted: list[int], truth: list[int]) -> str:
    errors = sorted(abs(mine - true) / true for mine, true in zip(counted, truth, strict=True))
    median, p95 = statistics.median(errors), errors[ceil(0.95 * (len(errors) - 1))]
    bias = sum(counted) / sum(truth) - 1
    return f"{name:<22}{len(truth):>7}{sum(truth):>12,}{median:>9.1%}{p95:>8.1%}{bias:>+8.1%}"


def speeds(classes: dict[str, list[str]], whole: list[str]) -> None:
    texts = [text for texts in classes.values() for text in texts]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    long = sum(len(text.encode("utf-8", "replace")) for text in whole)
    scale = Scale()
    exact._tokenizer = None  # a new tokenizer has no words cached: the speed of text never seen
    exact.available()
    cold = size / clock(lambda: each(count_exact, texts), times=1)
    ways: list[tuple[str, float]] = [
        ("exact, first time", cold),
        ("exact, words cached", size / clock(lambda: each(count_exact, texts))),
        ("estimate", size / clock(lambda: each(estimate, texts))),
        ("Scale.count, long", long / clock(lambda: each(Scale().count, whole))),
        ("Scale.count_all", long / clock(lambda: [Scale().count_all(pieces(text)) for text in whole])),
        ("Scale.count, known", size / clock(lambda: each(scale.count, texts))),
    ]
    print(f"\n{'speed':<22}{'MB/s':>10}{'x exact':>10}")
    for name, speed in ways:
        print(f"{name:<22}{speed / 1e6:>10,.0f}{speed / cold:>10.1f}")


def clock(work: Callable[[], object], *, times: int = 3) -> float:
    """Seconds of processor time, the best of a few."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return max(min(taken), 1e-9)


def each(count: Callable[[str], int], texts: list[str]) -> None:
    for text in texts:
        count(text)


def long_texts(classes: dict[str, list[str]]) -> list[str]:
    """Whole conversations, or the samples over and over where there are none."""
    if CORPUS.is_dir():
        every = ("".join(texts) for texts in conversations())
        return [text for text in every if len(text) > 100_000]
    every = [text for texts in classes.values() for text in texts]
    return ["\n".join(every[start:] + every[:start]) * 8 for start in range(len(every))]


def pieces(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


# --- what is measured on ---


def corpus() -> Iterator[tuple[str, list[str]]]:
    said: dict[str, list[str]] = {"assistant": [], "user": [], "tool": [], "arguments": [], "json": []}
    for messages in recorded():
        for message in messages:
            content = message.get("content")
            if isinstance(content, str) and message.get("role") in said:
                said["json" if is_json(content) else str(message["role"])].append(content)
            said["arguments"] += [str(call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
    for name, texts in said.items():
        yield name, chunks(texts)
    for name in ("locomo", "madial-en", "madial-zh"):
        files = sorted((CORPUS / "qa" / name / "conv").glob("*.jsonl"))
        lines = [json.loads(line)["content"] for file in files for line in file.read_text().splitlines()]
        yield name, chunks(["\n".join(lines)])
    yield from samples()


def samples() -> Iterator[tuple[str, list[str]]]:
    sys.path.insert(0, str(ROOT / "tests" / "tokens"))
    from token_samples import SAMPLES

    for name, texts in SAMPLES.items():
        yield f"sample: {name}", list(texts)


def conversations() -> Iterator[list[str]]:
    for messages in recorded():
        yield [text for message in messages if isinstance(text := message.get("content"), str)]


def recorded() -> Iterator[list[dict[str, object]]]:
    for file in sorted((CORPUS / "sessions").glob("*.jsonl")):
        yield [json.loads(line) for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]


def chunks(texts: Iterable[str]) -> list[str]:
    """Pieces of a size, taken from all over the texts, up to what is enough."""
    every = [piece for text in texts for piece in pieces(text) if len(piece) > 100]
    return every[:: max(1, sum(map(len, every)) // ENOUGH)]


def is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    main()
