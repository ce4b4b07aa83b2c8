"""Ten compactions in a row of a growing real conversation, against the ledger of the uncompacted history."""

from __future__ import annotations

from typing import Any

import pytest

from clew import ContextCompressor
from clew.core.pairs import exchanges
from clew.engines.actions import Touch, read_actions
from clew.engines.ledger import Ledger, read_ledger
from clew.engines.veil import veil
from clew.facts.messages import read_messages
from clew.tokens import count_exact
from tests.recordings import recorded, sample

WINDOW = 64_000
PASSES = 10


def truth(messages: list[dict[str, Any]]) -> Ledger:
    """What the ledger of the whole history says."""
    return read_ledger((exchange, read_actions(exchange)) for exchange in veil(exchanges(read_messages(messages))))


def ten_compactions(history: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]], list[int]]:
    """The last digest, the history it leaves, everything that has left the window by then, the digests' weights."""
    engine = ContextCompressor(WINDOW)
    live: list[dict[str, Any]] = []
    gone: list[dict[str, Any]] = []
    weights = []
    digest = ""
    step = len(history) // PASSES
    for number in range(PASSES):
        live = live + history[number * step : (number + 1) * step if number < PASSES - 1 else len(history)]
        done = engine.compacted(live)
        assert done.summary, f"pass {number} had nothing to compact"
        digest = done.summary
        gone += [said for place, said in enumerate(live) if place in done.dropped]
        weights.append(count_exact(done.summary))
        live = done.messages
    return digest, live, gone, weights


@pytest.mark.parametrize("name", ["sample", "entire-f4237e82", "cipherbox-f585e6e9", "nimbus-obiYzDoC", "omp-94fab1a1"])
def test_after_ten_compactions_every_vital_fact_is_still_there(name: str) -> None:
    history = sample() if name == "sample" else recorded(name)
    digest, live, gone, weights = ten_compactions(history)
    known = truth(gone)
    window = "\n".join(str(said.get("content")) for said in live)
    changed = [path for path, touch in known.files.items() if touch is not Touch.READ]
    assert changed, "the conversation changed files, so this test has something to lose"
    assert [path for path in changed if path not in digest] == []
    assert [said for said in known.constraints if said not in window] == []
    assert [error for error in known.errors.values() if error not in digest] == []
    assert max(weights) <= ContextCompressor(WINDOW).budget.summary


def test_the_ledger_is_the_same_in_one_reading_and_in_many() -> None:
    history = sample()
    whole = truth(history)
    pieces = Ledger()
    for part in exchanges(read_messages(history)):
        pieces = read_ledger([(part, read_actions(part))], pieces)
    assert pieces == whole
