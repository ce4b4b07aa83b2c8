"""The weight of a prompt: last measured plus counted since, calibrated by reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew.core.ports import Setup
from clew.core.weigh import Weight, calibrate, was_cut, weigh
from clew.facts.messages import message
from clew.facts.model import Model, Window
from clew.facts.session import Measured, Session

SETUP = Setup(Model("m", Window(64_000)), engine=None, count=lambda said: 10, system_tokens=100, tools_tokens=50)


def session(entries: int) -> Session:
    made = Session("s")
    for _ in range(entries):
        made = made.add(message("user", "x"), 10)
    return made


def test_without_a_report_everything_is_estimated():
    assert weigh(session(5), SETUP) == Weight(200, observed=False)


def test_a_report_counts_for_all_that_stood_in_its_prompt():
    measured = replace(session(5), measured=Measured(prompt=1_000, entries=3))
    assert weigh(measured, SETUP) == Weight(1_020, observed=True)


def test_what_came_since_is_weighed_in_the_providers_tokens():
    measured = replace(session(5), measured=Measured(prompt=1_000, entries=3))
    assert weigh(measured, SETUP, factor=1.5) == Weight(1_030, observed=True)


def test_the_factor_settles_on_what_is_reported():
    factor = 1.0
    for _ in range(20):
        factor = calibrate(factor, counted=1_000, reported=1_700)
    assert factor == pytest.approx(1.7, rel=0.01)


@pytest.mark.parametrize("reported", [0, 10, 10_000])
def test_a_report_out_of_all_proportion_does_not_move_the_scale(reported):
    assert calibrate(1.2, counted=1_000, reported=reported) == 1.2


def test_a_server_that_read_half_of_it_has_cut_the_prompt():
    assert was_cut(counted=30_000, reported=4_096)
    assert not was_cut(counted=30_000, reported=28_000)
    assert not was_cut(counted=100, reported=10)
