"""What was said around the work: decisions, questions and their answers, what the model was about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.core.pairs import Exchange
from clew.core.redact import redact
from clew.core.speaker import Speaker, speaker
from clew.engines.actions import Action, Verb, one_line
from clew.engines.phrases import Phrases

RECENT = 60
"""Decisions and answers remembered; older ones have been acted on."""

_DECIDED = Phrases(
    "decide", "decided", "decision", "going with", "chose", "choose", "chosen", "let's use", "i'll use", "we'll use",
    "instead of", "rather than", "root cause", "the issue is", "the issue was", "the problem is", "the problem was",
    "the bug is", "the bug was", "the fix is", "the reason is", "turns out", "because",
    "let’s use", "i’ll use", "we’ll use", "决定", "改用", "采用", "原因是", "因为", "根本原因", "ことにし", "решил",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Talk:
    """The course of a conversation beside its actions."""

    decisions: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    """`question → answer`."""
    pending: tuple[str, ...] = ()
    """Questions of a person that nobody has answered yet."""
    doing: str = ""
    """What the model last said."""


def read_talk(history: Iterable[tuple[Exchange, tuple[Action, ...]]], since: Talk | None = None) -> Talk:
    """What was said up to the end of these exchanges; `since` is what had been said before them."""
    since = since or Talk()
    decisions = dict.fromkeys(since.decisions)
    answered, pending, doing = list(since.answered), list(since.pending), since.doing
    for exchange, actions in history:
        text = exchange.said.text
        match speaker(exchange.said):
            case Speaker.PERSON:
                pending += questions_in(text)
            case Speaker.MODEL if text:
                doing = text
                answered += [f"{asked} → {one_line(text, 240)}" for asked in pending]
                pending = []
                decisions |= {one_line(said, 260): None for said in _DECIDED.sentences(text) if len(said) < 600}
        for action, result in zip(actions, exchange.results, strict=True):
            if action.verb is Verb.ASK and result is not None:
                answered.append(f"{action.target} → {one_line(redact(result.text), 300)}")
    return Talk(tuple(decisions)[-RECENT:], tuple(answered[-RECENT:]), tuple(pending[-RECENT:]), doing)


def questions_in(text: str) -> list[str]:
    """The last few sentences of a text that end in a question mark."""
    if "?" not in text and "？" not in text:
        return []
    pieces = text.replace("？", "?").replace("\n", ". ").split("?")[:-1]
    asked = [one_line(piece.rpartition(". ")[2].rpartition("。")[2], 300) for piece in pieces]
    return [f"{question}?" for question in asked if len(question) > 8][-3:]
