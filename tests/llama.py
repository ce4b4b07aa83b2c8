"""A real llama.cpp server with a real, small model, for tests that want a peer nobody scripted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clew.runtime.local.server import running
from clew.runtime.local.weights import FILE, PACKAGE, SAMPLING

STEADY = SAMPLING | {"temp": 0.0}


def weights() -> Path:
    """The model's file; only that of its package is used, whose code wants more than is here."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or find_spec("xllamacpp") is None:
        pytest.skip("the small local model is not installed; 'make test' brings it")
    return Path(found.origin).with_name(FILE)


@contextmanager
def serving(context: int) -> Iterator[str]:
    """Its address, without the /v1. It wants no key, works with one thread and leaves nothing to chance."""
    with (
        TemporaryDirectory() as folder,
        running(weights(), Path(folder) / "log", context=context, threads=1, sampling=STEADY) as address,
    ):
        yield address
