"""What `import clew` promises: every public name, its docstring, and the examples that run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import clew
import clew.testing

PUBLIC = {
    "BadMessages", "CompactionResult", "ContextCompressor", "ContextEngine", "LosslessEngine", "Session", "Store",
    "Unsatisfiable", "Usage", "apply_anthropic_cache_control", "classify_error", "compact", "estimate_tokens",
    "normalize_usage", "open_store", "place_cache_points", "plan", "redact", "search", "validate_messages",
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]


def test_the_public_names_are_these():
    assert set(clew.__all__) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_says_what_it_is(name):
    assert getattr(clew, name).__doc__


@pytest.mark.parametrize(
    "module",
    ["clew.core.redact", "clew.engines.plugin", "clew.runtime.compressor", "clew.testing.engine",
     "clew.testing.script", "clew.testing.store", "clew.tokens.messages",
     "clew.wire.legal", "clew.facts.usage", "clew.facts.session", "clew.store.address", "clew.store.store",
     "clew.runtime.lossless", "clew.runtime.recall", "clew.core.cache", "clew.runtime.caching",
     "clew.runtime.endpoints",
     "clew.testing.simulator.simulator", "clew.wire.catalog",
     "clew.wire.errors.classify", "clew.wire.gather", "clew.wire.scatter", "clew.wire.usage"],
)  # fmt: skip
def test_examples_in_docstrings_run(module):
    ran = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert ran.attempted > 0, f"{module} has no example"
    assert ran.failed == 0


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
)
def test_examples_in_the_docs_run(page):
    names = {"__name__": "__docs__"}  # a page is read from top to bottom
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        exec(compile(block, page, "exec"), names)
