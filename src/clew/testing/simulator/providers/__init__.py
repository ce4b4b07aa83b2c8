"""In which words does each provider refuse a request, and what does it refuse at all?

A body has holes for the numbers of the request at hand. What is said of a prompt or an output that is too long was seen
in reports and tests (November 2026), but for the ends of SGLang's and Groq's sentences on output and what Moonshot says
of a prompt and its output together. Of quotas that holds for Anthropic's, Groq's and OpenAI's on one large request. The
words for keys, models and other quotas, and some envelopes, are from memory; where a row has none, OpenAI's stand in.
"""

from __future__ import annotations

from clew.testing.simulator.providers.first import ANTHROPIC, OPENAI
from clew.testing.simulator.providers.hosted import HOSTED
from clew.testing.simulator.providers.local import LOCAL
from clew.testing.simulator.providers.shapes import Provider, Refusal

__all__ = ["PROVIDERS", "Provider", "Refusal", "provider_named"]

PROVIDERS = {provider.name: provider for provider in (ANTHROPIC, OPENAI, *HOSTED, *LOCAL)}


def provider_named(name: str) -> Provider:
    """The row of the table."""
    found = PROVIDERS.get(name)
    if found is None:
        raise ValueError(f"unknown provider {name!r}; choose one of {', '.join(sorted(PROVIDERS))}")
    return found
