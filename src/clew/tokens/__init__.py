"""How heavy text is: exact where a tokenizer is at hand, a calibrated estimate elsewhere."""

from clew.tokens.estimate import estimate
from clew.tokens.exact import available, count_exact
from clew.tokens.factors import factor
from clew.tokens.images import image_tokens, part_tokens, size_of
from clew.tokens.messages import count_message, count_tools, estimate_tokens
from clew.tokens.scale import Scale, default

__all__ = [
    "Scale",
    "available",
    "count_exact",
    "count_message",
    "count_tools",
    "default",
    "estimate",
    "estimate_tokens",
    "factor",
    "image_tokens",
    "part_tokens",
    "size_of",
]
