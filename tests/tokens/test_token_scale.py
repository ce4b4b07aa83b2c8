"""What a scale remembers, what it samples, and how far off a sample is."""

import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tokens import Scale, available, count_exact, default, estimate, exact
from clew.tokens.scale import WHOLE
from tests.tokens.token_samples import SAMPLES

needs_splintr = pytest.mark.skipif(not available(), reason="splintr is not installed: nothing exact to compare with")


class Asked:
    """A count of one token for each character, and a record of what it was asked."""

    def __init__(self) -> None:
        self.texts: Counter[str] = Counter()

    def __call__(self, text: str) -> int:
        self.texts[text] += 1
        return len(text)


def mixture(length: int, seed: int) -> str:
    """A long text of all kinds, in pieces of different lengths, as a conversation is."""
    pick, parts, size = random.Random(seed), [], 0
    pool = [text for texts in SAMPLES.values() for text in texts]
    while size < length:
        text = pick.choice(pool)
        start = pick.randrange(len(text) // 2)
        parts.append(text[start : start + pick.randrange(200, 4000)])
        size += len(parts[-1])
    return "\n".join(parts)[:length]


def test_a_text_is_counted_once_however_often_it_is_asked_about() -> None:
    asked = Asked()
    scale = Scale(asked)
    for text in ("short", "long " * 1000, "short", "long " * 1000):
        assert scale.count(text) == len(text)
    assert asked.texts == {"short": 1, "long " * 1000: 1}


def test_a_growing_list_costs_only_what_is_new() -> None:
    asked = Asked()
    scale, texts = Scale(asked), []
    for turn in range(50):
        texts.append(f"message {turn}")
        scale.count_all(texts)
    assert set(asked.texts.values()) == {1}
    assert len(asked.texts) == 50


def test_a_custom_count_is_asked_for_every_text_and_nothing_is_sampled() -> None:
    scale, long = Scale(Asked()), "x" * (3 * WHOLE)
    assert scale.count(long) == len(long)
    assert scale.count_all([long, long + "y"]) == 2 * len(long) + 1


def test_two_scales_share_nothing() -> None:
    first, second = Asked(), Asked()
    Scale(first).count("text")
    Scale(second).count("text")
    assert first.texts == second.texts == {"text": 1}


def test_the_default_scale_is_one_and_the_same() -> None:
    assert default() is default()


def test_a_count_that_is_used_outlives_those_that_are_not() -> None:
    asked = Asked()
    scale = Scale(asked, entries=2)
    for text in ("a", "b", "c", "a", "d", "a", "e", "f", "b"):  # "a" is used in every generation, "b" is not
        scale.count(text)
    assert asked.texts["a"] == 1
    assert asked.texts["b"] == 2


def test_the_text_held_as_keys_is_bounded() -> None:
    asked = Asked()
    scale = Scale(asked, held=150)
    for text in ("a" * 100, "b" * 100, "c" * 100, "d" * 100, "e" * 100, "a" * 100):
        scale.count(text)
    assert asked.texts["a" * 100] == 2
    assert sum(map(len, (*scale._young, *scale._old))) <= 2 * (150 + 100)


def test_a_long_text_is_remembered_without_being_held() -> None:
    asked = Asked()
    scale, long = Scale(asked, held=10), "word " * 10_000
    scale.count(long)
    scale.count("word " * 10_000)  # another string of the same content
    assert asked.texts[long] == 1


@given(st.lists(st.sampled_from(["a", "bb", "c" * 300, "d" * 300]), max_size=30))
def test_forgetting_never_changes_a_count(texts: list[str]) -> None:
    scale = Scale(len, entries=2, held=3)
    assert [scale.count(text) for text in texts] == [len(text) for text in texts]


def test_threads_may_share_a_scale() -> None:
    scale, texts = Scale(len, entries=50), [str(n) * (n % 7 + 1) for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda _: scale.count_all(texts), range(32)))
    assert sums == [sum(map(len, texts))] * 32


@needs_splintr
def test_up_to_64_thousand_characters_are_exact() -> None:
    text = mixture(WHOLE, seed=1)
    assert Scale().count(text) == count_exact(text)


@needs_splintr
@pytest.mark.parametrize("seed", range(5))
def test_a_longer_text_is_sampled_within_four_percent(seed: int) -> None:
    text = mixture(300_000 + 50_000 * seed, seed)
    truth, counted = count_exact(text), Scale().count(text)
    assert counted == pytest.approx(truth, rel=0.04)
    assert counted != truth  # or it was not sampled


@needs_splintr
def test_the_sum_of_few_small_texts_is_exact() -> None:
    texts = [text for texts in SAMPLES.values() for text in texts]
    assert Scale().count_all(texts) == sum(map(count_exact, texts))


@needs_splintr
@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_many_texts_is_within_six_percent(seed: int) -> None:
    pick = random.Random(seed)
    texts = [mixture(pick.randrange(100, 8000), seed * 1000 + n) for n in range(150)]
    truth, counted = sum(map(count_exact, texts)), Scale().count_all(texts)
    assert counted == pytest.approx(truth, rel=0.06)
    assert counted != truth  # or it was not sampled


@needs_splintr
def test_what_was_counted_before_changes_no_sum() -> None:
    texts = [mixture(20_000, seed) for seed in range(10)]
    fresh, used = Scale(), Scale()
    for text in texts[:7]:
        used.count(text)
    assert used.count_all(texts) == fresh.count_all(texts)


@given(st.lists(st.text(), max_size=20))
def test_any_texts_can_be_counted(texts: list[str]) -> None:
    assert Scale().count_all(texts) >= 0


def test_without_splintr_a_scale_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)  # how Python is told that an import fails
    monkeypatch.setattr(exact, "_tokenizer", None)
    monkeypatch.setattr(exact, "_absent", False)
    text = mixture(5000, seed=3)
    assert Scale().count(text) == estimate(text)
