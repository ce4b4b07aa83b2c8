"""What is found again: `python bench/recall.py`. clew by words and by both words and meaning, against plain BM25.

Questions whose evidence is known, from public sets, are asked of the dialogue they are about: how much of the evidence
is among the first 5 and 10 messages? Then strings that left the window of a recorded session (as bench/retention.py
picks them) and that the assistant uses again later: are they found by a search that names them, and by one that has
only the other words of that later turn? Everything that was fitted was fitted on every other question and on the
sessions of three repositories; required is what holds for the rest. Fails when a required line is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import clew
from clew.recall.meant import Mode
from clew.recall.search import Found
from clew.runtime.recall import build, catch_up, nearness_of, search
from clew.store.store import Store
from retention import CORPUS, LEAST, TUNED, WINDOW, places, strings, text_of

SETS = ("locomo", "madial-en", "madial-zh")
NAMED, BLIND = 0.995, 1.3
CHUNK = 1_200
"""Characters of a piece that plain BM25 ranks, where it is asked blindly."""
FACTS = 6
"""Strings of one cut that are looked for blindly; all are looked for by name."""

Words = Callable[[str], list[str]]


def english(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def chinese(text: str) -> list[str]:
    """Words of Latin letters, and each two Chinese characters that touch."""
    runs = re.findall(r"[\u3400-\u9fff]+", text)
    pairs = [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]
    return re.findall(r"[a-z0-9]+", text.lower()) + pairs


class Bm25:
    """The plain thing: k1 1.2, b 0.75, every word of the question as often as it is said."""

    def __init__(self, texts: Sequence[str], words: Words) -> None:
        self.words = words
        counted = [Counter(words(text)) for text in texts]
        lengths = [sum(counts.values()) for counts in counted]
        usual = sum(lengths) / len(lengths) or 1.0
        self.texts = len(texts)
        self.norms = [1.2 * (0.25 + 0.75 * length / usual) for length in lengths]
        self.having: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, counts in enumerate(counted):
            for word, often in counts.items():
                self.having[word].append((place, often))

    def best(self, question: str, most: int) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word, asked in Counter(self.words(question)).items():
            having = self.having.get(word, [])
            rarity = asked * math.log(1 + (self.texts - len(having) + 0.5) / (len(having) + 0.5))
            for place, often in having:
                scores[place] += rarity * often * 2.2 / (often + self.norms[place])
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]


class Line(NamedTuple):
    """One line of the table."""

    name: str
    figures: str
    met: bool | None = None
    """None where nothing is required of it."""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["questions", "sessions"], help="only this part")
    options.add_argument("--fitted", action="store_true", help="show what was fitted on, instead of the rest")
    chosen = options.parse_args()
    if not (CORPUS / "index.json").exists():
        print(f"no recorded conversations at {CORPUS.name}/: nothing to measure")
        return 0
    started, lines = time.perf_counter(), []
    with (
        tempfile.TemporaryDirectory(prefix="clew-bench-") as folder,
        clew.open_store(Path(folder) / "recall.db") as store,
    ):
        if nearness_of(store) is None:
            print("clew[semantic] is not installed: only words are searched")
        for part, measure in (("questions", questions), ("sessions", sessions)):
            if chosen.part in (None, part):
                lines += measure(store, chosen.fitted)
    told("")
    width = max(len(line.name) for line in lines)
    for line in lines:
        print(f"{line.name:{width}}  {line.figures}{'' if line.met is not False else '  MISSED'}")
    print(f"{'fitted on' if chosen.fitted else 'held out'}, {time.perf_counter() - started:.0f} s")
    return 0 if all(line.met is not False for line in lines) else 1


def questions(store: Store, fitted: bool) -> Iterator[Line]:
    for name in SETS:
        folder = CORPUS / "qa" / name
        words = chinese if name.endswith("zh") else english
        sessions, plain = {}, {}
        for path in sorted((folder / "conv").glob("*.jsonl")):
            turns = [json.loads(line) for line in path.open()]
            sessions[path.stem] = store.open_session(title=path.stem)
            store.append(sessions[path.stem], [said(turn) for turn in turns])
            plain[path.stem] = Bm25([f"{turn.get('speaker', '')} {turn['content']}" for turn in turns], words)
        catch_up(store)
        build(store)
        asked = [json.loads(line) for line in (folder / "questions.jsonl").open()]
        asked = [one for one in asked if one["evidence_idx"]][0 if fitted else 1 :: 2]
        recall: dict[str, list[tuple[float, float]]] = defaultdict(list)
        used: Counter[str] = Counter()
        for number, one in enumerate(asked, 1):
            told(f"{name}: {number} of {len(asked)} questions")
            recall["plain"].append(share(plain[one["conv"]].best(one["question"], 10), one["evidence_idx"]))
            for mode in ("words", "hybrid"):
                found = search(store, one["question"], mode=mode, conversation=sessions[one["conv"]])
                recall[mode].append(share([hit.place for hit in found.hits], one["evidence_idx"]))
                used[found.mode] += mode == "hybrid"
        yield from compared(name, recall, used, len(asked))


def said(turn: dict[str, Any]) -> dict[str, Any]:
    speaker = {"name": turn["speaker"]} if turn.get("speaker") else {}
    return {"role": turn["role"], "content": turn["content"], **speaker}


def share(found: Sequence[int], evidence: Sequence[int]) -> tuple[float, float]:
    """How much of the evidence is among the first 5, and 10."""
    wanted = set(evidence)
    return len(wanted & set(found[:5])) / len(wanted), len(wanted & set(found[:10])) / len(wanted)


def compared(name: str, recall: dict[str, list[tuple[float, float]]], used: Counter[str], asked: int) -> Iterator[Line]:
    means = {way: [sum(some) / asked for some in zip(*shares, strict=True)] for way, shares in recall.items()}
    how = ", ".join(f"{mode} {often}" for mode, often in used.items() if often)
    for way, (five, ten) in means.items():
        ahead = five > means["plain"][0] and ten > means["plain"][1] if way == "hybrid" else None
        yield Line(f"{name}, {asked} questions, {way}", f"@5 {five:6.1%}  @10 {ten:6.1%}", ahead)
    yield Line("", f"hybrid was: {how}")


class Wanted(NamedTuple):
    """A string that left the window and is used again."""

    string: str
    kind: str
    turn: str
    """What the assistant says and calls where it uses it again, without the string."""


def sessions(store: Store, fitted: bool) -> Iterator[Line]:
    index = [row for row in json.loads((CORPUS / "index.json").read_text()) if row["tokens"] >= LEAST]
    index = [row for row in index if (row["source_repo"] in TUNED) == fitted]
    tally, missed = Counter[str](), Counter[str]()
    chooser = random.Random(1)
    for number, row in enumerate(index, 1):
        history = [json.loads(line) for line in (CORPUS / row["file"]).open()]
        texts = [text_of(message) for message in history]
        session, written = store.open_session(title=row["id"]), 0
        for cut in places(history):
            told(f"{number} of {len(index)} sessions, {row['id']}, {cut} messages; {tally['named']} strings")
            store.append(session, history[written:cut])
            written = cut
            catch_up(store)
            build(store)
            wanted = wanted_after(history, texts, cut)
            for one in wanted:
                by_name(store, session, one, texts, tally, missed)
            blindly(store, session, chooser.sample(wanted, min(FACTS, len(wanted))), texts[:cut], tally)
    yield from facts_told(tally, missed)


def wanted_after(history: list[dict[str, Any]], texts: list[str], cut: int) -> list[Wanted]:
    done = clew.compact(history[:cut], context_length=WINDOW)
    protected = "\n".join(texts[place] for place in done.kept)
    again: dict[str, int] = {}
    for place in range(cut, len(history)):
        for string in strings(texts[place]):
            again.setdefault(string, place)
    left = strings("\n".join(texts[place] for place in done.dropped))
    return [
        Wanted(string, kind, texts[again[string]].replace(string, " "))
        for string, kind in left.items()
        if string not in protected and string in again and history[again[string]]["role"] == "assistant"
    ]


def by_name(
    store: Store, session: str, one: Wanted, texts: list[str], tally: Counter[str], missed: Counter[str]
) -> None:
    tally["named"] += 1
    found = search(store, one.string, conversation=session)
    if any(one.string in texts[hit.place] for hit in found.hits):
        tally["named, found"] += 1
    else:
        missed[f"{one.kind} {one.string!r}"] += 1


def blindly(store: Store, session: str, some: list[Wanted], texts: list[str], tally: Counter[str]) -> None:
    chunks = [text[at : at + CHUNK] for text in texts for at in range(0, max(1, len(text)), CHUNK)]
    plain, whole = Bm25(chunks, english), Bm25(texts, english)
    modes: tuple[Mode, ...] = ("words", "hybrid")
    for one in some:
        tally["blind"] += 1
        tally["plain"] += any(one.string in chunks[place] for place in plain.best(one.turn, 5))
        tally["plain, whole messages"] += any(one.string in texts[place] for place in whole.best(one.turn, 5))
        for mode in modes:
            found = search(store, one.turn, mode=mode, limit=5, conversation=session)
            tally[mode] += has(found, one.string, texts)


def has(found: Found, string: str, texts: list[str]) -> bool:
    return any(string in texts[hit.place] for hit in found.hits)


def facts_told(tally: Counter[str], missed: Counter[str]) -> Iterator[Line]:
    share = tally["named, found"] / tally["named"]
    yield Line(f"named, {tally['named']} strings", f"{share:.2%}", share >= NAMED)
    for what, often in missed.most_common(20):
        yield Line("", f"missed {often} x {what}")
    for way in ("plain", "plain, whole messages", "words", "hybrid"):
        ratio = tally[way] / tally["plain"]
        figures = f"@5 {tally[way] / tally['blind']:6.1%}  {ratio:.2f} x plain"
        yield Line(f"blind, {tally['blind']} strings, {way}", figures, ratio >= BLIND if way == "hybrid" else None)


def told(text: str) -> None:
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
