"""What does the page about a replay say?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from clew.cli.drawing import kinds_drawing, scale_drawing, swatch, window_drawing
from clew.cli.markup import Markup, joined, tag
from clew.cli.outcome import Outcome
from clew.runtime.replay import Event

COUNTED = (
    "Tokens are counted by clew, without a provider's prompt cache, which changes what they cost but not how many "
    "fit. The model's replies are the recorded ones; the digests were written by rules, without a model."
)


def page(outcomes: Sequence[Outcome]) -> str:
    """One HTML file that needs nothing else."""
    assets = files("clew.cli") / "report_page"
    names = [outcome.recording.name for outcome in outcomes]
    title = names[0] if len(names) == 1 else f"{len(names)} conversations"
    sections = [_conversation(number, outcome) for number, outcome in enumerate(outcomes)]
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        title=joined(f"{title} — clew replay"),
        style=(assets / "style.css").read_text("utf-8"),
        script=(assets / "script.js").read_text("utf-8"),
        body=joined(_contents(outcomes) if len(outcomes) > 1 else None, *sections),
        counted=joined(COUNTED),
        data=_data(outcomes),
    )


def _contents(outcomes: Sequence[Outcome]) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", tag("a", outcome.recording.name, href=f"#c{number}"), scope="row"),
            *_cells(
                outcome.replayed.tokens,
                len(outcome.replayed.events),
                outcome.replayed.peak,
                outcome.replayed.sent,
                outcome.replayed.sent_whole,
            ),
        )
        for number, outcome in enumerate(outcomes)
    ]
    head = ("conversation", "tokens", "compactions", "heaviest prompt", "sent", "without")
    return tag("nav", tag("h1", f"{len(outcomes)} conversations"), _table("All of them", head, rows))


def _conversation(number: int, outcome: Outcome) -> Markup:
    done, recording = outcome.replayed, outcome.recording
    about = recording.origin or recording.transcript.title or ""
    return tag(
        "article",
        tag("header", tag("h1", recording.name), tag("p", about, class_="about") if about else None),
        _figures(outcome),
        _over_time(number, outcome) if done.points else tag("p", "No model call was recorded in it."),
        _compactions(outcome) if done.events else None,
        _final(outcome),
        _aside("Told on the way", done.told),
        _aside("Damage in the file", [str(problem) for problem in recording.transcript.problems]),
        id=f"c{number}",
    )


def _figures(outcome: Outcome) -> Markup:
    done = outcome.replayed
    saved = f"{outcome.saved:.1f}" if outcome.saved else "–"
    figures = [
        (f"{done.tokens:,}", "tokens recorded", f"{done.messages:,} messages"),
        (f"{done.window:,}", "tokens of window", f"compacted at {done.trigger:,}"),
        (f"{done.peak:,}", "heaviest prompt", f"{done.peak / done.window:.0%} of the window"),
        (f"{len(done.events):,}", "compactions", f"over {len(done.points):,} model calls"),
        (f"{saved}×", "fewer tokens sent", f"{done.sent:,} instead of {done.sent_whole:,}"),
    ]
    return tag("dl", *(_figure(*figure) for figure in figures), class_="figures")


def _figure(value: str, name: str, more: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", value), tag("dd", more, class_="more"))


def _over_time(number: int, outcome: Outcome) -> Markup:
    done = outcome.replayed
    fate = (
        f"Without compaction it would have outgrown the window at call {outcome.outgrown + 1:,}."
        if outcome.outgrown is not None
        else "Without compaction it would have fitted as well."
    )
    return tag(
        "section",
        tag("h2", "The window over time"),
        tag(
            "figure",
            window_drawing(outcome, number),
            tag("figcaption", f"Tokens of each prompt sent. A dot marks what a compaction began with. {fate}"),
        ),
        tag(
            "figure",
            scale_drawing(outcome, number),
            tag(
                "figcaption",
                f"The same to scale. The areas are the tokens sent: {done.sent:,} with compaction, "
                f"{done.sent_whole:,} without. The line is the window.",
            ),
        ),
    )


def _compactions(outcome: Outcome) -> Markup:
    rows = [
        row
        for number, (event, tokens) in enumerate(zip(outcome.replayed.events, outcome.digests, strict=True), 1)
        for row in (_event(number, event, tokens), _digest(event, tokens))
    ]
    head = ("", "at message", "before", "after", "kept", "summed up", "in part", "digest")
    return tag("section", tag("h2", "Compactions"), _table("Messages count from 0", head, rows))


def _event(number: int, event: Event, tokens: int) -> Markup:
    cells = _cells(event.message, event.before, event.after, event.kept, event.dropped, event.shortened, tokens)
    return tag("tr", tag("th", number, scope="row"), *cells, class_="event")


def _digest(event: Event, tokens: int) -> Markup:
    label = f"Digest ({tokens:,} tokens)"
    text = [tag("h3", line[3:]) if line.startswith("## ") else _line(line) for line in event.summary.splitlines()]
    return tag("tr", tag("td", tag("details", tag("summary", label), tag("div", *text, class_="digest")), colspan="8"))


def _line(text: str) -> Markup:
    return tag("p", text) if text else joined()


def _final(outcome: Outcome) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", swatch(change.name), change.name, scope="row"),
            *_cells(change.before.messages, change.after.messages, change.before.tokens, change.after.tokens),
        )
        for change in outcome.kinds
    ]
    head = ("kind", "messages recorded", "in the window", "tokens recorded", "in the window")
    note = "host: what the program around the agent said in the user's name"
    return tag("section", tag("h2", "The window at the end"), kinds_drawing(outcome), _table(note, head, rows))


def _aside(title: str, lines: Sequence[str]) -> Markup | None:
    if not lines:
        return None
    listed = tag("ul", *(tag("li", line) for line in lines))
    return tag("details", tag("summary", f"{title} ({len(lines):,})"), listed, class_="aside")


def _table(caption: str, head: Sequence[str], rows: Sequence[Markup]) -> Markup:
    titles = tag("tr", *(tag("th", title, scope="col") for title in head))
    table = tag("table", tag("caption", caption), tag("thead", titles), tag("tbody", *rows))
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cells(*numbers: int) -> list[Markup]:
    return [tag("td", number) for number in numbers]


def _data(outcomes: Sequence[Outcome]) -> str:
    """What the pointer shows over a drawing: numbers only, so nothing in it can end the script."""
    charts = [[[point.message, point.prompt, point.whole] for point in outcome.replayed.points] for outcome in outcomes]
    return json.dumps(charts, separators=(",", ":"))
