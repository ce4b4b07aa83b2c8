"""What does the gateway say about itself?"""

from __future__ import annotations

import orjson

from clew.gateway.down import Down
from clew.gateway.health import Health
from clew.gateway.metrics import KIND, Metrics
from clew.gateway.rules import Rules


async def own_page(path: str, down: Down, metrics: Metrics, health: Health, rules: Rules) -> None:
    """/health: it runs. /ready: it can write and reach its providers. /metrics: how it goes."""
    status, kind, body = 200, "application/json", b'{"status":"ok"}'
    if path == "/metrics":
        kind, body = KIND, metrics.text().encode()
    elif path == "/ready" and (troubles := await health.troubles((rules.anthropic, rules.openai))):
        status, body = 503, orjson.dumps({"status": "not ready", "troubles": troubles})
    await down.start(status, [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())])
    await down.end(body)
