"""How is a simulated provider started, scripted, asked and stopped?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from clew.testing.simulator.accounts import Bill, Prices
from clew.testing.simulator.answers import Answer
from clew.testing.simulator.clock import Clock
from clew.testing.simulator.endpoint import Asked, Endpoint
from clew.testing.simulator.faults import Fault
from clew.testing.simulator.limits import Limits
from clew.testing.simulator.providers import provider_named
from clew.testing.simulator.rules import Rules
from clew.testing.simulator.script import Line, Lines, Script
from clew.testing.simulator.server import Request, Server
from clew.testing.simulator.weighing import Weigher


class ProviderSimulator:
    """A provider on this machine: its wire formats, limits, errors, cache and prices, with a model that is scripted.

    It speaks Anthropic Messages, OpenAI Chat Completions and OpenAI Responses, streamed or whole, at
    `url` + /v1/messages, /v1/chat/completions, /v1/responses; the SDKs' `base_url` is `url` for Anthropic's and
    `url` + "/v1" for OpenAI's.

    >>> import json, urllib.request
    >>> with ProviderSimulator(replies=["Hello!"]) as sim:
    ...     asks = json.dumps({"model": "any", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    ...     with urllib.request.urlopen(sim.url + "/v1/chat/completions", asks) as response:
    ...         body = json.load(response)
    >>> body["choices"][0]["message"]["content"], body["usage"]["prompt_tokens"], sim.requests[0].dialect
    ('Hello!', 5, 'chat')
    """

    def __init__(
        self,
        *,
        window: int = 200_000,
        max_output: int = 32_000,
        replies: Script | None = None,
        provider: str | None = None,
        models: Sequence[str] = (),
        key: str | None = None,
        tokens_per_minute: int | None = None,
        body_bytes: int = 32_000_000,
        factor: float = 1.0,
        clamps: bool = False,
        strict: bool = True,
        faults: Mapping[int, Fault | Sequence[Fault]] | None = None,
        prices: Prices | None = None,
    ) -> None:
        """A model of `window` tokens that says at most `max_output` of them.

        replies: what is said, line by line (see `Line`), or a function from the prompt to a line. None: an echo.
        provider: whose errors it answers with ("anthropic", "openai", "vllm" …). None: those of the dialect spoken.
        models: the names it knows. None given: it takes any.
        key: the key it wants. None: it asks for none.
        tokens_per_minute: what each key may use. None: as much as it likes.
        factor: how many of this provider's tokens one token of OpenAI's vocabulary o200k is.
        clamps: output that does not fit into the window is cut to what does, also where the provider would refuse.
        strict: refuse what the provider would: messages in an illegal order, a request without max_tokens.
        faults: what goes wrong, by the number of the request, counted from 0.
        prices: for the bill in USD.
        """
        self.clock = Clock()
        if provider is not None:
            provider_named(provider)  # an unknown name is told now, not in the first answer
        self._rules = Rules(
            Limits(window, max_output, body_bytes, clamps),
            provider,
            tuple(models),
            key,
            tokens_per_minute,
            strict,
            dict(faults or {}),
            prices,
        )
        self._replies = replies if replies is None or callable(replies) else tuple(replies)
        self._weigher = Weigher(factor)
        self._server: Server | None = None
        self.reset()

    @property
    def url(self) -> str:
        """Where it listens, without the /v1."""
        if self._server is None:
            raise RuntimeError("the simulator is not running; use it in a with statement")
        return self._server.url

    @property
    def requests(self) -> list[Asked]:
        """Every request for a reply, in the order they came."""
        return list(self._endpoint.requests)

    @property
    def bill(self) -> Bill:
        """What all replies so far have cost."""
        return self._endpoint.meter.bill

    def say(self, *lines: Line) -> None:
        """Add to what is said, behind what is already written down."""
        self._endpoint.lines.add(lines)

    def pass_time(self, seconds: float) -> None:
        """Let so much time go by for caches and quotas."""
        self.clock.advance(seconds)

    def reset(self) -> None:
        """Forget all requests, caches, quotas and costs, and begin the script again."""
        self._endpoint = Endpoint(self._rules, Lines(self._replies), self._weigher, self.clock)

    def start(self) -> ProviderSimulator:
        """Begin to listen; `close` ends it. A with statement does both."""
        self._server = Server(self._answer)
        return self

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _answer(self, request: Request) -> Answer:
        return self._endpoint.answer(request)

    def __enter__(self) -> ProviderSimulator:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> ProviderSimulator:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
