"""How does the window fill and empty over time, drawn for a page?

The shapes are SVG, stretched to whatever width the page has; words and markers are HTML placed over them in percent,
so that they keep their size on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.cli.markup import Markup, joined, tag
from clew.cli.outcome import Outcome
from clew.runtime.replay import Event, Replayed

HEADROOM = 1.12
"""How far the drawing goes above the window's line. What would have been sent without compaction leaves through it."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a call and a weight lie, in thousandths of the drawing."""

    calls: int
    top: float

    def x(self, call: int) -> float:
        return 1_000 * call / max(self.calls - 1, 1)

    def y(self, tokens: float) -> float:
        return 1_000 * (1 - tokens / self.top)


def window_drawing(outcome: Outcome, number: int) -> Markup:
    """The prompts against trigger and window; what they would have been without compaction is cut at the top."""
    done = outcome.replayed
    frame = _Frame(len(done.points), max(done.window, done.peak) * HEADROOM)
    shapes = [
        tag("path", class_="area", d=_area(done, frame)),
        tag("path", class_="prompt", d=_sawtooth(done, frame, fall=" M")),
        tag("path", class_="whole", d=_line([point.whole for point in done.points], frame)),
        *(_level(frame, tokens, name) for tokens, name in ((done.trigger, "trigger"), (done.window, "window"))),
        *(_spike(event, done, frame) for event in done.events),
        tag("line", class_="crosshair", x1=0, x2=0, y1=0, y2="1000", vector_effect="non-scaling-stroke"),
    ]
    words = [
        _level_label("window", done.window, frame),
        _level_label("trigger", done.trigger, frame),
        _label_of_whole(outcome, frame),
        *(_marker(place, event, frame) for place, event in enumerate(done.events, 1)),
    ]
    return tag(
        "div",
        tag("div", _svg(number, "window", "The prompt over time", _told(outcome), shapes), *words, class_="plot"),
        tag("div", tag("span", "call 1"), tag("span", f"call {len(done.points):,}"), class_="axis"),
        tag("div", class_="tip", role="status", hidden=True),
        class_="chart",
        data_chart=str(number),
    )


def scale_drawing(outcome: Outcome, number: int) -> Markup:
    """The same calls to scale: the areas are the tokens sent, with compaction and without."""
    done = outcome.replayed
    heaviest = max((point.whole for point in done.points), default=1)
    frame = _Frame(len(done.points), max(heaviest, done.window) * 1.02)
    whole = _line([point.whole for point in done.points], frame)
    shapes = [
        tag("path", class_="whole-area", d=f"{whole} L1000,1000 L0,1000 Z"),
        tag("path", class_="area", d=_area(done, frame)),
        _level(frame, done.window, "window"),
    ]
    told = f"{done.sent:,} tokens sent; {done.sent_whole:,} without compaction."
    words = [_level_label("window", done.window, frame), _level_label("without", heaviest, frame)]
    plot = tag("div", _svg(number, "scale", "Tokens sent, to scale", told, shapes), *words, class_="plot small")
    return tag("div", plot, class_="chart")


def kinds_drawing(outcome: Outcome) -> Markup:
    """The window at the end: what it holds, what is free."""
    done = outcome.replayed
    held = [(change.name, change.after.tokens) for change in outcome.kinds if change.after.tokens]
    parts = [
        tag(
            "span",
            class_=f"part {_class(name)}",
            style=_share("width", tokens, done.window),
            title=f"{name}: {tokens:,}",
        )
        for name, tokens in held
    ]
    total = sum(tokens for _, tokens in held)
    told = f"{total:,} of {done.window:,} tokens: " + ", ".join(f"{name} {tokens:,}" for name, tokens in held)
    tick = tag(
        "span", class_="tick", style=_share("left", done.trigger, done.window), title=f"trigger {done.trigger:,}"
    )
    return tag("div", *parts, tick, class_="bar", role="img", aria_label=told)


def swatch(name: str) -> Markup:
    """The colour a kind has in `kinds_drawing`."""
    return tag("span", class_=f"swatch {_class(name)}", aria_hidden="true")


def _svg(number: int, name: str, title: str, told: str, shapes: Sequence[Markup]) -> Markup:
    ids = f"{name}-title-{number}", f"{name}-told-{number}"
    return tag(
        "svg",
        tag("title", title, id=ids[0]),
        tag("desc", told, id=ids[1]),
        *shapes,
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        role="img",
        aria_labelledby=" ".join(ids),
    )


def _told(outcome: Outcome) -> str:
    done = outcome.replayed
    return (
        f"{len(done.points):,} model calls and {len(done.events):,} compactions. The heaviest prompt has {done.peak:,} "
        f"of {done.window:,} tokens. Without compaction the last would have {done.points[-1].whole:,}."
    )


def _sawtooth(done: Replayed, frame: _Frame, *, fall: str = " L") -> str:
    """The prompts; at a compaction the line stays level and then falls, because nothing heavier was ever sent."""
    fallen = {event.call for event in done.events}
    path = f"M0,{frame.y(done.points[0].prompt):.1f}"
    for call, point in enumerate(done.points[1:], 1):
        at = f"{frame.x(call):.1f},"
        level = f" L{at}{frame.y(done.points[call - 1].prompt):.1f}{fall}" if call in fallen else " L"
        path += f"{level}{at}{frame.y(point.prompt):.1f}"
    return path if len(done.points) > 1 else f"{path} L1000,{frame.y(done.points[0].prompt):.1f}"


def _area(done: Replayed, frame: _Frame) -> str:
    return f"{_sawtooth(done, frame)} L1000,1000 L0,1000 Z"


def _line(values: Sequence[int], frame: _Frame) -> str:
    return "M" + " L".join(f"{frame.x(call):.1f},{frame.y(value):.1f}" for call, value in enumerate(values))


def _level(frame: _Frame, tokens: int, name: str) -> Markup:
    y = f"{frame.y(tokens):.1f}"
    return tag("line", class_=name, x1=0, x2="1000", y1=y, y2=y, vector_effect="non-scaling-stroke")


def _spike(event: Event, done: Replayed, frame: _Frame) -> Markup:
    """From what was about to be sent down to what was."""
    x, ends = f"{frame.x(event.call):.1f}", (event.before, done.points[event.call].prompt)
    y1, y2 = (f"{frame.y(tokens):.1f}" for tokens in ends)
    return tag("line", class_="spike", x1=x, x2=x, y1=y1, y2=y2, vector_effect="non-scaling-stroke")


def _level_label(name: str, tokens: int, frame: _Frame) -> Markup:
    """In the margin, beside its line."""
    style = f"top:{frame.y(tokens) / 10:.2f}%"
    return tag("span", name, tag("b", tokens), class_=f"level {name}", style=style, aria_hidden="true")


def _label_of_whole(outcome: Outcome, frame: _Frame) -> Markup:
    """Beside the place where the line leaves the drawing, on the side with more room."""
    last = outcome.replayed.points[-1].whole
    leaves = next((call for call, point in enumerate(outcome.replayed.points) if point.whole > frame.top), None)
    if leaves is None:
        return joined()
    left = frame.x(leaves) / 10
    side = f"left:{left:.2f}%" if left < 50 else f"right:{100 - left:.2f}%"
    return tag("span", f"without compaction ↗ {last:,}", class_="label", style=side, aria_hidden="true")


def _marker(place: int, event: Event, frame: _Frame) -> Markup:
    told = (
        f"Compaction {place}, at message {event.message:,}: {event.before:,} → {event.after:,} tokens; "
        f"{event.kept:,} kept, {event.dropped:,} summed up"
    )
    style = f"left:{frame.x(event.call) / 10:.2f}%;top:{max(frame.y(event.before), 0) / 10:.2f}%"
    return tag("button", class_="marker", type="button", style=style, title=told, aria_label=told, data_told=told)


def _share(edge: str, tokens: int, window: int) -> str:
    return f"{edge}:{min(100 * tokens / window, 100):.3f}%"


def _class(kind: str) -> str:
    return f"kind-{kind.replace(' ', '-')}"
