"""How does it go? Counters and histograms in the text format that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
KIND = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that grows, for each set of labels."""

    def __init__(self, name: str, told: str) -> None:
        self.name, self.told = name, told
        self.values: dict[Labels, float] = {}

    def add(self, amount: float = 1, **labels: str) -> None:
        key = tuple(labels.items())
        self.values[key] = self.values.get(key, 0) + amount

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, self.told, "counter")
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_spelled(labels)} {value:g}"


class Histogram:
    """How long things took, for each set of labels."""

    def __init__(self, name: str, told: str) -> None:
        self.name, self.told = name, told
        self.values: dict[Labels, tuple[list[int], list[float]]] = {}

    def observe(self, seconds: float, **labels: str) -> None:
        counts, total = self.values.setdefault(tuple(labels.items()), ([0] * (len(SECONDS) + 1), [0.0]))
        counts[bisect_left(SECONDS, seconds)] += 1
        total[0] += seconds

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, self.told, "histogram")
        for labels, (counts, total) in sorted(self.values.items()):
            below = 0
            for bound, count in zip((*map(str, SECONDS), "+Inf"), counts, strict=True):
                below += count
                yield f"{self.name}_bucket{_spelled((*labels, ('le', bound)))} {below}"
            yield f"{self.name}_sum{_spelled(labels)} {total[0]:g}"
            yield f"{self.name}_count{_spelled(labels)} {below}"


class Metrics:
    """All that the gateway counts. `gauges` are asked when someone looks."""

    def __init__(self) -> None:
        self.requests = Counter("clew_requests_total", "Requests, by dialect and status.")
        self.seconds = Histogram("clew_request_seconds", "From the first byte of a request to the last of its answer.")
        self.first_byte = Histogram("clew_first_byte_seconds", "Until the provider's answer began.")
        self.known = Counter("clew_recognised_total", "Requests, by how their conversation was known.")
        self.tokens = Counter("clew_tokens_total", "Tokens that providers reported, by kind.")
        self.dollars = Counter("clew_cost_dollars_total", "Cost of calls whose price is known.")
        self.refused = Counter("clew_refused_total", "Requests that the gateway itself refused, by status.")
        self.written = Counter("clew_recorded_total", "Exchanges, by whether they were written to the store.")
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def text(self) -> str:
        lines = [line for part in vars(self).values() if isinstance(part, Counter | Histogram) for line in part.lines()]
        for name, (told, ask) in self.gauges.items():
            lines += [*_head(name, told, "gauge"), f"{name} {ask():g}"]
        return "\n".join((*lines, ""))


def _head(name: str, told: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"


def _spelled(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = ((name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"
