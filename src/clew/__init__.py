"""clew keeps an LLM agent's long conversation inside its model's window and never loses the thread."""

from clew.core.redact import redact
from clew.engines.plugin import ContextEngine
from clew.facts.messages import BadMessages
from clew.facts.model import Unsatisfiable
from clew.facts.usage import Usage
from clew.runtime.compressor import CompactionResult, ContextCompressor, compact, plan
from clew.tokens import estimate_tokens
from clew.wire.legal import validate_messages

__all__ = [
    "BadMessages",
    "CompactionResult",
    "ContextCompressor",
    "ContextEngine",
    "Unsatisfiable",
    "Usage",
    "compact",
    "estimate_tokens",
    "plan",
    "redact",
    "validate_messages",
]
