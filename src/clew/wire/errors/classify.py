"""Which failure is this, by whatever words a provider, a gateway or an SDK says it?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clew.facts.exchange import Failure, RateLimited
from clew.wire.errors.blanking import shown
from clew.wire.errors.case import Case
from clew.wire.errors.envelope import unfold
from clew.wire.errors.table import ROWS, Row
from clew.wire.errors.waiting import seconds_to_wait


def classify_error(
    status: int | None,
    body: Any,
    *,
    headers: Any = None,
    provider: str | None = None,
    prompt_tokens: int | None = None,
    context_length: int | None = None,
) -> Failure:
    """The failure that an answer stands for. Never raises: what nothing explains is `Refused`, or `Unavailable`.

    `body` is what came: text, bytes, parsed JSON, an SDK's message, None. `status` may be missing or wrong. `headers`
    are a mapping or pairs. What we know of the prompt, and of the provider, is asked only when the answer has no words.

    >>> failure = classify_error(400, '{"error": {"message": "prompt is too long: 202744 tokens > 200000 maximum"}}')
    >>> failure.kind, failure.limit, failure.used
    ('prompt_too_long', 200000, 202744)
    >>> classify_error(413, "Request too large … on tokens per minute (TPM): Limit 6000, Requested 12328").kind
    'rate_limited'
    """
    told = unfold(body)
    case = Case(_status(status), told, str(provider or "").lower(), _amount(prompt_tokens), _amount(context_length))
    _, failure = decide(case)
    return replace(
        failure,
        status=case.status,
        why=shown(told),
        retry_after=seconds_to_wait(headers, told.text, paced=isinstance(failure, RateLimited)),
    )


def decide(case: Case) -> tuple[Row, Failure]:
    """The first row that knows, and what it says; the last one always does."""
    for row in ROWS:
        failure = row(case)
        if failure is not None:
            return row, failure
    raise AssertionError("the last row always knows")


def _status(status: Any) -> int | None:
    return int(status) if _is_number(status) and 100 <= status <= 599 else None


def _amount(tokens: Any) -> int | None:
    return int(tokens) if _is_number(tokens) and tokens > 0 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
