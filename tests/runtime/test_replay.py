"""A recording runs through the real gate, stays inside its window, and comes out the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from clew import validate_messages
from clew.core.pairs import legal_cuts
from clew.engines.compressor import Compressor
from clew.facts.messages import read_messages
from clew.facts.model import Policy
from clew.runtime.replay import Replayed, replay
from clew.runtime.scales import Scale
from tests.recordings import sample


def run(history, window=64_000) -> Replayed:
    scale, policy = Scale(), Policy()
    return replay(read_messages(history), window=window, engine=Compressor(policy, scale), policy=policy, scale=scale)


@pytest.mark.parametrize("window", [8_000, 16_000, 64_000])
def test_a_real_conversation_never_outgrows_its_trigger(window):
    done = run(sample(), window)
    assert done.tokens > 150_000
    assert done.peak <= done.trigger
    assert len(done.points) == sum(said["role"] == "assistant" for said in sample())
    assert done.sent < done.sent_whole / 3
    assert len(done.events) >= 3
    assert validate_messages([said.to_dict() for said in done.final]) == []


def test_every_compaction_makes_real_room():
    for event in run(sample()).events:
        assert event.after < event.before * 0.7


def test_a_short_conversation_is_left_alone():
    start = sample()[: legal_cuts(read_messages(sample()))[5]]
    done = run(start)
    assert done.events == ()
    assert [said.to_dict() for said in done.final] == start
    assert done.sent == done.sent_whole


def test_places_count_the_system_message():
    history = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "yo"},
    ]
    assert [point.message for point in run(history).points] == [2]


def test_progress_reaches_the_end():
    heard = []
    scale, policy = Scale(), Policy()
    replay(
        read_messages(sample()[:40]), window=64_000, engine=Compressor(policy, scale), policy=policy, scale=scale,
        progress=heard.append,
    )  # fmt: skip
    assert heard == sorted(heard)
    assert heard[-1] == 40


def test_another_process_with_another_hash_seed_writes_the_same_digest():
    code = (
        "import clew, json; from tests.recordings import sample; "
        "print(json.dumps(clew.compact(sample(), context_length=64_000).messages))"
    )
    seen = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout)
    assert len(seen) == 1
    assert json.loads(seen.pop())
