"""The index takes no more than 1.2 times the text it is made of, in small stores and as they grow."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

import pytest

from tests.recall.log import Log, Opened


def language(seed: int = 4) -> tuple[list[str], list[float]]:
    """Words as unevenly used as in any language: most of them hardly ever."""
    rnd = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    words = list({"".join(rnd.choices(letters, k=rnd.choice((2, 4, 5, 6, 7, 8, 9)))) for _ in range(30_000)})
    return sorted(words), list(accumulate(1 / (rank + 3) for rank in range(len(words))))


def fill(log: Log, messages: int, chinese: float) -> int:
    """Messages of about 300 characters; how many bytes of text they are."""
    rnd = random.Random(messages)
    words, weights = language()
    signs = [chr(0x4E00 + n) for n in range(3_000)]
    written = 0
    for _ in range(messages):
        if rnd.random() < chinese:
            text = "".join(rnd.choices(signs, cum_weights=weights[: len(signs)], k=100))
        else:
            text = " ".join(rnd.choices(words, cum_weights=weights, k=48))
        log.say(text)
        written += len(text.encode())
    return written


@pytest.mark.parametrize(("messages", "chinese"), [(1_000, 0.0), (1_000, 0.1), (2_500, 0.1)])
@pytest.mark.parametrize("step", [None, 25])
def test_the_index_is_not_much_larger_than_the_text(
    tmp_path: Path, messages: int, chinese: float, step: int | None
) -> None:
    log = Log()
    written = fill(log, messages, chinese)
    with Opened(tmp_path, log) as index:
        while index.catch_up(step):
            pass
        index.database.settle()
        assert index.size() <= 1.2 * written


def test_a_store_that_has_outgrown_its_blocks_is_no_larger(tmp_path: Path) -> None:
    log = Log()
    written = fill(log, 18_000, 0.05)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        assert not index.state().young
        index.database.settle()
        assert index.size() <= 1.2 * written
