"""What else do the best messages say? It counts as asked for, too, where no word vectors know the language."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from clew.recall.query import Unit, Word, telling_words
from clew.recall.rank import Wanted, rarity
from clew.recall.reading import Readings
from clew.recall.words import CJK
from clew.store.values import Stored

BEST, WORDS, WORTH = 5, 10, 0.5
"""How many messages are listened to, how many of their words count, and how much: fitted in bench/recall.py."""
LENGTH = 1_000
"""Characters of each message that are compared."""

_CJK_WORD = re.compile(f"[{CJK}]+")


def is_cjk(wanted: Sequence[Wanted]) -> bool:
    """Whether most of what is asked for is Chinese, Japanese or Korean."""
    if len(wanted) < 2:
        return False
    units = [unit.forms[0] for unit in wanted]
    return 2 * sum(isinstance(unit, Word) and bool(_CJK_WORD.fullmatch(unit.text)) for unit in units) > len(units)


def echoed(messages: Sequence[Stored], scored: Mapping[int, float], readings: Readings) -> dict[int, float]:
    """The scores, and how much each message says of what the best of them say."""
    if len(messages) <= BEST:
        return dict(scored)
    said = {stored.seq: _words(stored, readings) for stored in messages}
    having = Counter(word for words in said.values() for word in words)
    best = sorted(said, key=lambda seq: (-scored[seq], -seq))[:BEST]
    worth: dict[Unit, float] = defaultdict(float)
    for seq in best:
        for word in said[seq]:
            worth[word] += scored[seq] * rarity(having[word], len(said))
    chosen = sorted(worth, key=lambda word: (-worth[word], str(word)))[:WORDS]
    values = {word: WORTH * worth[word] / worth[chosen[0]] * rarity(having[word], len(said)) for word in chosen}
    return {seq: scored[seq] + sum(values[word] for word in values if word in words) for seq, words in said.items()}


def _words(stored: Stored, readings: Readings) -> set[Unit]:
    return set(telling_words("\n".join(stretch.text[:LENGTH] for stretch in readings.near(stored))[:LENGTH]))
