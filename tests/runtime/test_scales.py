"""Many messages weigh about what each of them weighs, and a caller's own count is used for each."""

from __future__ import annotations

import pytest

from clew.facts.messages import read_messages
from clew.runtime.scales import Scale
from tests.recordings import sample


@pytest.mark.parametrize("slice_", [slice(None), slice(0, 100), slice(100, 400), slice(0, None, 3)])
def test_the_weight_of_many_is_within_four_percent_of_their_sum(slice_):
    scale, messages = Scale(), read_messages(sample()[slice_])
    assert scale.messages(messages) == pytest.approx(sum(map(scale.message, messages)), rel=0.04)


def test_the_weight_of_few_is_their_sum():
    scale, messages = Scale(), read_messages(sample()[:50])
    assert scale.messages(messages) == sum(map(scale.message, messages))


def test_pictures_weigh_in_a_crowd_too():
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    messages = read_messages([{"role": "user", "content": [{"type": "text", "text": "look"}, picture]}] * 200)
    scale = Scale()
    assert scale.messages(messages) == pytest.approx(sum(map(scale.message, messages)), rel=0.04)


def test_an_own_count_is_asked_for_every_text():
    scale, messages = Scale(len), read_messages(sample())
    assert scale.messages(messages) == sum(map(scale.message, messages))
