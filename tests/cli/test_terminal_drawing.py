"""The window over time, in characters."""

from clew.cli.chart import HEIGHT, draw
from clew.runtime.replay import Event, Point, Replayed


def replayed(prompts, calls=(), window=1_000, trigger=500):
    points = tuple(Point(number, prompt, prompt) for number, prompt in enumerate(prompts))
    events = tuple(Event(call, call, 600, 100, 1, 1, 0, "") for call in calls)
    return Replayed(window, trigger, len(points), sum(prompts), points, events, (), 0, ())


def columns(drawing):
    margin = len("1,000 ")
    return ["".join(cells) for cells in zip(*(row[margin:].ljust(80) for row in drawing), strict=True)]


def test_a_column_is_as_high_as_its_prompt():
    full, half, empty = columns(draw(replayed([1_000, 500, 0]), width=80))[:3]
    assert full == "█" * HEIGHT + "─"
    assert half == "┄" + " " * (HEIGHT // 2 - 1) + "█" * (HEIGHT // 2) + "─"
    assert empty.count("█") == 0


def test_trigger_and_window_have_a_line_with_their_number():
    drawing = draw(replayed([0, 0, 0]), width=80)
    assert drawing[0] == "1,000 ┄┄┄"
    assert drawing[HEIGHT // 2] == "  500 ┄┄┄"
    assert drawing[-1] == "    0 ───"


def test_each_compaction_is_marked_under_the_call_it_made_room_for():
    prompts = [400, 450, 100] * 100
    drawing = draw(replayed(prompts, calls=range(2, 300, 3)), width=1_000)
    assert [place for place, mark in enumerate(drawing[-1][6:]) if mark == "▲"] == list(range(2, 300, 3))


def test_many_calls_share_a_column_that_shows_the_heaviest_and_every_mark():
    drawing = draw(replayed([0] * 999 + [1_000], calls=[0, 999]), width=50)
    assert max(map(len, drawing)) < 50
    assert columns(drawing)[42] == "█" * HEIGHT + "▲"
    assert drawing[-1][6] == "▲"


def test_a_prompt_above_the_window_stays_in_the_drawing_and_the_line_keeps_its_place():
    drawing = draw(replayed([2_000, 0]), width=80)
    assert len(drawing) == HEIGHT + 1
    assert drawing[HEIGHT // 2].startswith("1,000 █┄")


def test_nothing_sent_is_nothing_drawn():
    assert draw(replayed([]), width=80) == []
