"""Recorded conversations to test on: the sample in the package, and the corpus where there is one."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def sample() -> list[dict[str, Any]]:
    """The conversation shipped in the package: 509 messages, about 209,000 tokens."""
    packed = files("clew").joinpath("samples/session-concurrency.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def recorded(name: str) -> list[dict[str, Any]]:
    """One conversation of the corpus; skips where there is none."""
    path = CORPUS / "sessions" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the corpus of recorded conversations is not beside the project")
    return [json.loads(line) for line in path.read_text().splitlines()]
