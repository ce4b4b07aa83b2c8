"""How fast it is found again: `python bench/search.py`. clew's index and a bare FTS5 table over the same messages.

Builds a store of 100,000 messages and one of 1,000,000 (about 280 characters each: words as unevenly spread as in a
language, some Chinese, tool calls with paths, conversations of 5 to 20,000 messages), asks both the same questions in
turn, and fails when a question costs more than three times as much in the larger store, more than in the bare table,
more than 50 ms, or when the index is larger than 1.2 times its text. Every question goes through `clew.search()` on a
real store: it catches up, counts, ranks, reads the messages and cuts the snippets. The bare table ranks and returns
ten texts, no more.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from clew.recall.query import STOP
from clew.recall.texts import sections_of
from clew.runtime.recall import catch_up, search
from clew.store.address import open_store
from clew.store.store import Store
from clew.store.values import Stored

GROWTH, SIZE, WAIT = 3.0, 1.2, 0.050
BARE_SECONDS = 30.0
"""Seconds of one class given to the bare table, after its first 30 questions; it would need an hour for all."""
NOT_COMPARED = "two Chinese characters"
"""The bare tokenizer takes a whole Chinese sentence for one word: it is quick because it finds next to nothing."""


BARE = "SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10"


class Corpus:
    """Messages without end, the same ones for the same seed."""

    def __init__(self, seed: int = 11) -> None:
        self.random = random.Random(seed)
        syllables = [
            a + b for a in "b c d f g h k l m n p r s t v w z st tr pl".split() for b in "a e i o u ai ou".split()
        ]
        words = dict.fromkeys(sorted(word for word in STOP if word.isascii()))
        while len(words) < 50_000:
            words["".join(self.random.choices(syllables, k=self.random.choice((1, 2, 2, 3, 3, 4))))] = None
        self.words = list(words)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))
        signs = [chr(0x4E00 + n) for n in range(0, 6_000, 2)]
        self.chinese = ["".join(self.random.choices(signs, k=2)) for _ in range(5_000)]
        self.chinese_weights = self.weights[: len(self.chinese)]

    def path(self, seq: int) -> str:
        """One of the files of that time: work moves on, and a file is read some eight times before it does."""
        chosen = random.Random(seq // 50 + self.random.randrange(2_000))
        parts = self.words[200:500]
        return f"src/{chosen.choice(parts[:12])}/{chosen.choice(parts[:80])}/{chosen.choice(parts)}.py"

    def messages(self, count: int) -> Iterator[Stored]:
        rnd, open_conversations = self.random, [f"conversation-{n:06}" for n in range(8)]
        places = dict.fromkeys(open_conversations, 0)
        made = len(open_conversations)
        for start in range(0, count, 5_000):
            words = iter(rnd.choices(self.words, cum_weights=self.weights, k=5_000 * 45))
            for seq in range(start + 1, min(start + 5_000, count) + 1):
                which = 0 if places.get("conversation-000000", 20_000) < 20_000 and seq % 2 else rnd.randrange(8)
                name = open_conversations[which]
                yield self.message(seq, name, places[name], words)
                places[name] += 1
                if rnd.random() < (0.001 if which else float(places[name] >= 20_000)):
                    del places[name]
                    open_conversations[which] = f"conversation-{made:06}"
                    places[open_conversations[which]] = 0
                    made += 1

    def message(self, seq: int, conversation: str, place: int, words: Iterator[str]) -> Stored:
        rnd = self.random
        kind = rnd.random()
        said = list(itertools.islice(words, 45))
        if rnd.random() < 0.2:
            said[rnd.randrange(45)] = unique_word(seq)
        role, tool = rnd.choice(("user", "assistant")), ""
        calls: dict[str, Any] = {}
        if kind < 0.08:
            text = (
                " ".join(said[:5]) + "。" + "".join(rnd.choices(self.chinese, cum_weights=self.chinese_weights, k=38))
            )
        elif kind < 0.25:
            role, text = "assistant", " ".join(said[:30])
            arguments = json.dumps({"path": self.path(seq), "limit": seq % 500})
            call = {"id": f"call_{seq}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
            calls = {"tool_calls": [call]}
        else:
            text = " ".join(said[:20]) + ". " + " ".join(said[20:]) + "."
            if kind < 0.42:
                role, tool = "tool", "read_file"
        message = {"role": role, "content": text, **calls}
        return Stored(seq, conversation, place, 1.7e9 + seq * 7.0, role, tool, False, True, message)


def unique_word(seq: int) -> str:
    return f"q{seq * 2_654_435_761 % 2**40:010x}"


@dataclass(frozen=True, slots=True)
class Built:
    """One store with both indexes, and what to ask it."""

    store: Store
    bare: sqlite3.Connection
    text_bytes: int
    index_bytes: int
    bare_bytes: int
    questions: dict[str, list[tuple[str, str]]]
    """Class → what is asked of clew, and the same words for FTS5."""


def build(folder: Path, count: int, asked: int) -> Built:
    corpus = Corpus()
    folder.mkdir()
    store = open_store(folder / "store.db")
    sessions: dict[str, str] = {}
    bare = sqlite3.connect(folder / "bare.db")
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA mmap_size=1073741824")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='unicode61')")
    text_bytes, started = 0, time.perf_counter()
    samples: list[Stored] = []
    chooser = random.Random(5)
    messages = corpus.messages(count)
    while some := list(itertools.islice(messages, 10_000)):
        texts = ["\n".join(section.text for section in sections_of(stored)) for stored in some]
        text_bytes += sum(len(text.encode()) for text in texts)
        write(store, sessions, some)
        bare.executemany(
            "INSERT INTO t(rowid, text) VALUES (?, ?)", zip((stored.seq for stored in some), texts, strict=True)
        )
        bare.commit()
        samples += chooser.sample(some, min(len(some), max(20, asked * 60_000 // count)))
        told(f"{some[-1].seq:,} of {count:,} messages written")
    told(f"written in {time.perf_counter() - started:.0f} s", end=True)
    started = time.perf_counter()
    catch_up(store, lambda done: told(f"{done:,} of {count:,} messages indexed"))
    told(f"indexed in {time.perf_counter() - started:.0f} s", end=True)
    store.beside.settle()
    bare.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    (pages,) = bare.execute("PRAGMA page_count").fetchone()
    return Built(store, bare, text_bytes, store.beside.size(), pages * 4096, questions(corpus, samples, asked))


def write(store: Store, sessions: dict[str, str], some: Sequence[Stored]) -> None:
    """What was said, into the store, conversation by conversation."""
    talks: dict[str, list[dict[str, Any]]] = {}
    for stored in some:
        talks.setdefault(stored.conversation, []).append(stored.message)
    for name, messages in talks.items():
        if name not in sessions:
            sessions[name] = store.open_session(title=name)
        store.append(sessions[name], messages)


def questions(corpus: Corpus, samples: list[Stored], asked: int) -> dict[str, list[tuple[str, str]]]:
    rnd = random.Random(3)
    rnd.shuffle(samples)
    prose = [stored.message["content"].split() for stored in samples if stored.message["content"].isascii()]
    plain = [[word.strip(".") for word in words if word.strip(".") not in STOP] for words in prose]
    plain = [words for words in plain if len(words) > 8]
    paths = [
        json.loads(stored.message["tool_calls"][0]["function"]["arguments"])["path"]
        for stored in samples
        if "tool_calls" in stored.message
    ]
    unique = [word for words in plain for word in words if word[0] == "q" and len(word) == 11]
    known = [word for word in corpus.words[len(STOP) : len(STOP) + 300] if word not in STOP]
    makers: dict[str, Callable[[int], tuple[str, str]]] = {
        "unique word": lambda n: same(unique[n % len(unique)]),
        "common word": lambda n: same(known[n % len(known)]),
        "two words": lambda n: any_of(rnd.sample(plain[n % len(plain)], 2)),
        "phrase": lambda n: phrase(prose[n % len(prose)], 2 + n % 2, rnd.randrange(15)),
        "two Chinese characters": lambda n: same(corpus.chinese[n * 7 % 2_000]),
        "path in a tool argument": lambda n: (paths[n % len(paths)], quoted(paths[n % len(paths)])),
        "natural question": lambda n: question(rnd.sample(plain[n % len(plain)], 4)),
        "no hit": lambda n: same(f"x{rnd.getrandbits(48):012x}"),
    }
    return {name: list(dict.fromkeys(make(n) for n in range(asked))) for name, make in makers.items()}


def same(word: str) -> tuple[str, str]:
    return word, f'"{word}"'


def any_of(words: Sequence[str]) -> tuple[str, str]:
    return " ".join(words), " OR ".join(f'"{word}"' for word in words)


def phrase(words: Sequence[str], length: int, start: int) -> tuple[str, str]:
    said = '"' + " ".join(word.strip(".") for word in words[start : start + length]) + '"'
    return said, said


def question(words: Sequence[str]) -> tuple[str, str]:
    """The bare table gets only the words that matter: with "what" and "the" it would take seconds."""
    one, two, three, four = words
    return f"what did we decide about the {one} and {two} of {three} when {four}?", any_of(words)[1]


def quoted(path: str) -> str:
    return '"' + path.replace("/", " ").replace(".", " ") + '"'


class Times(NamedTuple):
    clew: list[float]
    bare: list[float]
    hits: int
    bare_hits: int


def ask(built: Built, name: str) -> Times:
    """Both in turn, so that a slow minute hits both. CPU time: the machine may have other things to do."""
    clew: list[float] = []
    bare: list[float] = []
    hits = bare_hits = 0
    for number, (text, match) in enumerate(built.questions[name]):
        start = time.thread_time()
        found = search(built.store, text)
        clew.append(time.thread_time() - start)
        hits += bool(found.hits)
        if number < 30 or sum(bare) < BARE_SECONDS:
            start = time.thread_time()
            rows = built.bare.execute(BARE, (match,)).fetchall()
            bare.append(time.thread_time() - start)
            bare_hits += bool(rows)
    return Times(clew, bare, hits, bare_hits)


def percentile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def told(text: str, end: bool = False) -> None:
    print(f"\r\033[K{text}", end="\n" if end else "", file=sys.stderr, flush=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--messages", type=int, default=1_000_000, help="messages in the larger store")
    options.add_argument("--small", type=int, default=100_000, help="messages in the smaller store")
    options.add_argument("--queries", type=int, default=200, help="different questions of each class")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        small = build(Path(folder) / "small", chosen.small, chosen.queries)
        large = build(Path(folder) / "large", chosen.messages, chosen.queries)
        gc.collect()
        gc.freeze()  # what the bench itself holds is not a part of any search
        met = report(small, large)
        for built in (small, large):
            built.store.close()
    return 0 if met else 1


def report(small: Built, large: Built) -> bool:
    met = True
    print("p50 / p95 in ms             clew, small      clew, large      growth   bare, large        clew : bare  hits")
    for name in small.questions:
        told(name)
        for built in (small, large):  # the pages of both are read once before anything is measured
            ask(replace(built, questions={name: built.questions[name][:40]}), name)
        few, many = ask(small, name), ask(large, name)
        growth = percentile(many.clew, 0.95) / percentile(few.clew, 0.95)
        ratio = percentile(many.clew, 0.95) / percentile(many.bare, 0.95)
        compared = name != NOT_COMPARED
        good = growth <= GROWTH and (ratio <= 1 or not compared) and percentile(many.clew, 0.95) <= WAIT
        met &= good
        shown = [
            f"{percentile(t, 0.5) * 1e3:7.3f}/{percentile(t, 0.95) * 1e3:8.3f}"
            for t in (few.clew, many.clew, many.bare)
        ]
        told("")
        print(
            f"{name:25}{shown[0]} {shown[1]} {growth:7.2f}   {shown[2]} {ratio:10.3f}   "
            f"{many.hits}/{len(many.clew)} ({many.bare_hits}/{len(many.bare)})"
            f"{'' if good else '  MISSED'}{'' if compared else '  not compared: see NOT_COMPARED'}"
        )
    for built in (small, large):
        share = built.index_bytes / built.text_bytes
        met &= share <= SIZE
        print(
            f"index / text ({built.text_bytes / 1e6:.1f} MB): clew {share:.2f} (wanted: at most {SIZE}), "
            f"bare {(built.bare_bytes - built.text_bytes) / built.text_bytes:.2f} and the text itself"
        )
    return met


if __name__ == "__main__":
    sys.exit(main())
