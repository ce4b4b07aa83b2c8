"""clew keeps an LLM agent's long conversation inside its model's window and never loses the thread."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.core.cache import apply_anthropic_cache_control
    from clew.core.redact import redact
    from clew.engines.plugin import ContextEngine
    from clew.facts.messages import BadMessages
    from clew.facts.model import Unsatisfiable
    from clew.facts.session import Session
    from clew.facts.usage import Usage
    from clew.runtime.caching import place_cache_points
    from clew.runtime.compressor import CompactionResult, ContextCompressor, compact, plan
    from clew.runtime.lossless import LosslessEngine
    from clew.runtime.recall import search
    from clew.store.address import open_store
    from clew.store.store import Store
    from clew.tokens.messages import estimate_tokens
    from clew.wire.errors import classify_error
    from clew.wire.legal import validate_messages
    from clew.wire.usage import normalize_usage

__all__ = [
    "BadMessages",
    "CompactionResult",
    "ContextCompressor",
    "ContextEngine",
    "LosslessEngine",
    "Session",
    "Store",
    "Unsatisfiable",
    "Usage",
    "apply_anthropic_cache_control",
    "classify_error",
    "compact",
    "estimate_tokens",
    "normalize_usage",
    "open_store",
    "place_cache_points",
    "plan",
    "redact",
    "search",
    "validate_messages",
]

_HOMES = {
    "clew.core.cache": ("apply_anthropic_cache_control",),
    "clew.core.redact": ("redact",),
    "clew.engines.plugin": ("ContextEngine",),
    "clew.facts.messages": ("BadMessages",),
    "clew.facts.model": ("Unsatisfiable",),
    "clew.facts.session": ("Session",),
    "clew.facts.usage": ("Usage",),
    "clew.runtime.caching": ("place_cache_points",),
    "clew.runtime.compressor": ("CompactionResult", "ContextCompressor", "compact", "plan"),
    "clew.runtime.lossless": ("LosslessEngine",),
    "clew.runtime.recall": ("search",),
    "clew.store.address": ("open_store",),
    "clew.store.store": ("Store",),
    "clew.tokens.messages": ("estimate_tokens",),
    "clew.wire.errors": ("classify_error",),
    "clew.wire.legal": ("validate_messages",),
    "clew.wire.usage": ("normalize_usage",),
}


def __getattr__(name: str) -> Any:
    """A public name, brought from its home when it is first asked for: `clew --help` needs none of them."""
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    raise AttributeError(f"module 'clew' has no attribute {name!r}; public names: {', '.join(__all__)}")
