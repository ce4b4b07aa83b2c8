"""How moments are told and read."""

from datetime import datetime

import pytest

from clew.screen.moments import age, exact, midnight, moment, read_when

NOW = datetime(2026, 11, 16, 14, 3, 20).timestamp()
HOUR, DAY = 3_600.0, 86_400.0


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-5, "now"),
        (0.5, "now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (HOUR - 1, "59 min ago"),
        (HOUR, "1 h ago"),
        (DAY - 1, "23 h ago"),
        (DAY, "1 d ago"),
        (59 * DAY, "59 d ago"),
        (91 * DAY, "2 mo ago"),
        (3 * 366 * DAY, "3 y ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds, told):
    assert age(NOW - seconds, NOW) == told


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("3d", NOW - 3 * DAY),
        ("12h", NOW - 12 * HOUR),
        ("1.5 h", NOW - 1.5 * HOUR),
        ("30m", NOW - 1_800),
        ("2W", NOW - 14 * DAY),
        ("2026-11-01", datetime(2026, 11, 1).timestamp()),
        (" 2026-11-01 14:00 ", datetime(2026, 11, 1, 14).timestamp()),
        ("2026-11-01T14:00:00+00:00", 1_793_541_600.0),
    ],
)
def test_a_moment_is_read_as_people_write_it(written, meant):
    assert read_when(written, NOW) == meant


@pytest.mark.parametrize("written", ["", "soon", "3x", "d", "-3d", "2026-13-01", "99999999999d"])
def test_what_is_no_moment_is_refused_with_how_to_write_one(written):
    with pytest.raises(ValueError, match="2026-11-01"):
        read_when(written, NOW)


def test_a_clock_that_was_wrong_by_millennia_breaks_nothing():
    assert (moment(1e18), exact(1e18), exact(None)) == ("?", None, None)
    assert moment(NOW) == "2026-11-16 14:03"
    assert datetime.fromisoformat(exact(NOW)).timestamp() == NOW


def test_a_day_begins_at_midnight_where_the_person_is():
    assert midnight(0, NOW) == datetime(2026, 11, 16).timestamp()
    assert midnight(2, NOW) == datetime(2026, 11, 14).timestamp()
