"""What fills the window, by kind?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.ports import Setup
from clew.core.speaker import is_clews_own
from clew.core.weigh import weigh
from clew.facts.session import Session
from clew.runtime.conversation import Conversation

BAR = 40
"""Characters of a full bar."""
KINDS = ("system", "tools", "summary", "you", "model", "results")


@dataclass(frozen=True, slots=True)
class Filling:
    """Tokens of the next prompt, and how we know them."""

    window: int
    tokens: int
    observed: bool
    """True: rests on the provider's own count. False: an estimate alone."""
    parts: Sequence[tuple[str, int]]
    """By kind, as clew counts them."""


def filling(session: Session, setup: Setup, factor: float = 1.0) -> Filling:
    counted = dict.fromkeys(KINDS, 0) | {"system": setup.system_tokens, "tools": setup.tools_tokens}
    for entry in session.entries:
        said = entry.message
        kind = "results" if said.is_result else "model" if said.role == "assistant" else "you"
        counted["summary" if is_clews_own(said) else kind] += entry.tokens
    weight = weigh(session, setup, factor)
    return Filling(setup.model.window.size, weight.tokens, weight.observed, [(k, n) for k, n in counted.items() if n])


def drawn(found: Filling) -> str:
    """As lines with bars, the sum first."""
    known = "observed" if found.observed else "estimated"
    share = found.tokens / found.window
    lines = [f"{found.tokens:,} of {found.window:,} tokens ({share:.0%}, {known})"]
    most = max((tokens for _, tokens in found.parts), default=1)
    lines += [f"  {kind:<8} {tokens:>9,}  {'█' * max(1, round(BAR * tokens / most))}" for kind, tokens in found.parts]
    return "\n".join(lines)


def status(conversation: Conversation) -> str:
    """The line below what a person types: the model, how full its window is, and how that is known."""
    found = filling(conversation.session, conversation.setup, conversation.factor)
    known = "observed" if found.observed else "estimated"
    share = f"{found.tokens:,} of {found.window:,} ({found.tokens / found.window:.0%}, {known})"
    spent = conversation.works.store.spent(session=conversation.session.id)
    cost = f" · ${spent[0].cost:.4f}" if spent and spent[0].cost else ""
    return f"{conversation.setup.model.name} · {share}{cost}"
