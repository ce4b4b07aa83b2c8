"""Every provider's usage object comes to the same disjoint buckets, and they add up to the provider's own total."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.facts.usage import Usage
from clew.wire.usage import CACHE_READ, CACHE_WRITE, OUTPUT, PROMPT, REASONING, TOTAL, normalize_usage
from tests.recordings import CORPUS

RECORDED = Path(__file__).parents[1] / "recorded" / "usage" / "samples.jsonl"
SAMPLES = [json.loads(line) for line in RECORDED.read_text().splitlines()]


def buckets(usage: Any, **told: str) -> tuple[int, int, int, int, int]:
    """input, cache_read, cache_write, output, reasoning"""
    read = normalize_usage(usage, **told)
    return read.input, read.cache_read, read.cache_write, read.output, read.reasoning


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample['host']}-{sample['model']}")
def test_a_recorded_usage_adds_up_to_the_total_its_provider_gives(sample: Mapping[str, Any]) -> None:
    adds_up(sample["usage"])


def test_all_usages_of_the_corpus_add_up_to_the_totals_their_providers_give() -> None:
    path = CORPUS / "usage" / "usage_samples.jsonl"
    if not path.exists():
        pytest.skip("the corpus of recorded usage is not beside the project")
    with_total = [adds_up(json.loads(line)["usage"]) for line in path.read_text().splitlines()]
    assert (len(with_total), sum(with_total)) == (1157, 866)


def adds_up(usage: Mapping[str, Any]) -> bool:
    read = normalize_usage(usage)
    total = usage.get("total_tokens") or usage.get("totalTokenCount") or usage.get("totalTokens")
    assert total is None or read.total == total, usage
    assert 0 <= read.reasoning <= read.output
    assert min(read.input, read.cache_read, read.cache_write) >= 0
    return total is not None


DETAILS = {"cached_tokens": 800, "cache_write_tokens": 50}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 21, "cache_read_input_tokens": 188_086, "cache_creation_input_tokens": 700,
          "output_tokens": 393, "output_tokens_details": {"thinking_tokens": 90}}, (21, 188_086, 700, 393, 90)),
        ({"prompt_tokens": 1000, "completion_tokens": 60, "prompt_tokens_details": DETAILS,
          "completion_tokens_details": {"reasoning_tokens": 40}}, (150, 800, 50, 60, 40)),
        ({"input_tokens": 1000, "output_tokens": 60, "input_tokens_details": DETAILS,
          "output_tokens_details": {"reasoning_tokens": 40}}, (150, 800, 50, 60, 40)),
        ({"promptTokenCount": 345, "cachedContentTokenCount": 191, "candidatesTokenCount": 64,
          "thoughtsTokenCount": 40}, (154, 191, 0, 104, 40)),
        ({"inputTokens": 3, "cacheReadInputTokens": 1712, "cacheWriteInputTokens": 236, "outputTokens": 121},
         (3, 1712, 236, 121, 0)),
        ({"prompt_tokens": 900, "prompt_cache_hit_tokens": 800, "prompt_cache_miss_tokens": 100,
          "completion_tokens": 7}, (100, 800, 0, 7, 0)),
        ({"prompt_cache_hit_tokens": 800, "prompt_cache_miss_tokens": 100, "completion_tokens": 7},
         (100, 800, 0, 7, 0)),
        ({"prompt_tokens": 900, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 300,
          "completion_tokens": 7}, (100, 500, 300, 7, 0)),
        ({"prompt_tokens": 900, "completion_tokens": 7, "cached_tokens": 600}, (300, 600, 0, 7, 0)),
        ({"prompt_tokens": 273, "completion_tokens": 104, "num_cached_tokens": 32}, (241, 32, 0, 104, 0)),
        ({"tokens": {"input_tokens": 1533, "output_tokens": 36}, "cached_tokens": 1440,
          "billed_units": {"input_tokens": 51, "output_tokens": 13}}, (93, 1440, 0, 36, 0)),
        ({"billed_units": {"input_tokens": 51, "output_tokens": 13}}, (51, 0, 0, 13, 0)),
        ({"prompt_n": 12, "cache_n": 4000, "predicted_n": 30, "prompt_ms": 80.5}, (12, 4000, 0, 30, 0)),
        ({"model": "llama3", "prompt_eval_count": 26, "eval_count": 290, "eval_duration": 4_709_213_000},
         (26, 0, 0, 290, 0)),
    ],
    ids=["anthropic", "chat", "responses", "gemini", "bedrock", "deepseek", "deepseek without a sum", "openrouter",
         "moonshot", "mistral", "cohere", "cohere billed", "llama.cpp timings", "ollama"],
)  # fmt: skip
def test_each_provider_is_read_in_its_own_spelling(usage: Any, expected: tuple[int, ...]) -> None:
    assert buckets(usage) == expected


def test_a_flat_cache_write_of_zero_gives_way_to_its_filled_split() -> None:
    split = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 1200}
    usage = {"input_tokens": 4, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_creation": split}
    assert buckets(usage) == (4, 0, 1500, 9, 0)
    assert buckets({**usage, "cache_creation_input_tokens": 1500}) == (4, 0, 1500, 9, 0)


def test_the_total_decides_whether_bedrock_counts_its_cache_in_the_input() -> None:
    usage = {"inputTokens": 3000, "cacheReadInputTokens": 1000, "outputTokens": 10}
    assert buckets({**usage, "totalTokens": 4010}) == (3000, 1000, 0, 10, 0)
    assert buckets({**usage, "totalTokens": 3010}) == (2000, 1000, 0, 10, 0)


def test_the_total_decides_whether_gemini_counts_its_thoughts_in_the_candidates() -> None:
    usage = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 50,
        "candidatesTokenCount": 70,
        "thoughtsTokenCount": 60,
    }
    assert buckets({**usage, "totalTokenCount": 280}) == (150, 0, 0, 130, 60)
    assert buckets({**usage, "totalTokenCount": 220}) == (150, 0, 0, 70, 60)


def test_thinking_that_only_the_total_counts_is_output() -> None:
    assert buckets({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}) == (35, 0, 0, 74, 62)


def test_xai_counts_its_reasoning_beside_the_completion() -> None:
    usage = {"prompt_tokens": 500, "cached_prompt_text_tokens": 400, "completion_tokens": 10, "reasoning_tokens": 90}
    assert buckets({**usage, "total_tokens": 600}) == (100, 400, 0, 100, 90)
    assert buckets(usage, provider="xai") == (100, 400, 0, 100, 90)


def test_the_api_settles_what_flat_cache_fields_leave_open() -> None:
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 800, "output_tokens": 5}
    assert buckets(usage, api="anthropic") == buckets(usage) == (1000, 800, 0, 5, 0)
    assert buckets(usage, api="responses") == (200, 800, 0, 5, 0)


def test_cached_details_are_inside_the_input_even_without_a_total() -> None:
    assert buckets({"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 800}}) == (200, 800, 0, 0, 0)


def test_a_cache_larger_than_the_prompt_was_counted_beside_it() -> None:
    assert buckets({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 5000}}) == (10, 5000, 0, 0, 0)


def test_a_cache_that_the_total_puts_inside_the_prompt_is_at_most_the_prompt() -> None:
    usage = {"prompt_tokens": 100, "cached_tokens": 150, "completion_tokens": 10, "total_tokens": 110}
    assert buckets(usage) == (0, 100, 0, 10, 0)


def test_thinking_is_at_most_the_output() -> None:
    assert buckets({"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 9}}) == (0, 0, 0, 5, 5)


def test_what_llama_evaluated_never_holds_what_it_had_cached() -> None:
    assert buckets({"prompt_n": 500, "cache_n": 40}) == (500, 40, 0, 0, 0)


def test_passes_that_the_top_level_leaves_out_are_billed_but_did_not_stand_in_the_window() -> None:
    usage = {
        "input_tokens": 2417, "output_tokens": 133,
        "iterations": [
            {"type": "compaction", "input_tokens": 100, "cache_read_input_tokens": 55_096, "output_tokens": 83},
            {"type": "message", "input_tokens": 1128, "output_tokens": 121},
            {"type": "advisor_message", "input_tokens": 2529, "output_tokens": 38},
            {"type": "message", "input_tokens": 1289, "output_tokens": 12},
        ],
    }  # fmt: skip
    read = normalize_usage(usage)
    assert (read.input, read.cache_read, read.output) == (2417, 0, 133)
    assert read.aside is not None
    assert (read.aside.input, read.aside.cache_read, read.aside.output) == (100 + 2529, 55_096, 83 + 38)
    assert (read.billed.prompt, read.billed.output) == (2417 + 100 + 2529 + 55_096, 133 + 83 + 38)
    assert read.standing == 1289


def test_a_call_of_one_pass_stood_in_the_window_whole() -> None:
    read = normalize_usage({"input_tokens": 5, "cache_read_input_tokens": 900, "output_tokens": 1})
    assert read.standing == read.prompt == 905
    assert read.billed == read


def test_a_call_that_only_compacted_left_nothing_standing() -> None:
    only = {"type": "compaction", "input_tokens": 83_555, "output_tokens": 139}
    read = normalize_usage({"input_tokens": 0, "output_tokens": 0, "iterations": [only]})
    assert (read.prompt, read.output, read.standing) == (0, 0, 0)
    assert (read.billed.prompt, read.billed.output) == (83_555, 139)


def test_objects_of_sdks_are_read_like_dicts() -> None:
    openai = pytest.importorskip("openai.types")
    anthropic = pytest.importorskip("anthropic.types")
    chat = {"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1060, "prompt_tokens_details": DETAILS}
    messages = {"input_tokens": 4, "output_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 7,
                "ephemeral_1h_input_tokens": 0}}  # fmt: skip
    assert normalize_usage(openai.CompletionUsage.model_validate(chat)) == normalize_usage(chat)
    assert normalize_usage(anthropic.Usage.model_validate(messages)) == normalize_usage(messages)
    plain = SimpleNamespace(prompt_token_count=9, candidates_token_count=2, details=SimpleNamespace())
    assert buckets(plain) == (9, 0, 0, 2, 0)


def test_an_object_whose_fields_fail_counts_nothing() -> None:
    class Lazy:
        @property
        def prompt_tokens(self) -> int:
            raise RuntimeError("not loaded")

    assert normalize_usage(Lazy()) == Usage()


def test_a_body_is_read_at_the_object_it_holds() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    assert buckets({"id": "x", "usage": usage}) == (9, 0, 0, 2, 0)
    assert buckets({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2}}) == (9, 0, 0, 2, 0)
    assert buckets({"usage": usage, "timings": {"prompt_n": 4, "cache_n": 5, "predicted_n": 2}}) == (4, 5, 0, 2, 0)


@pytest.mark.parametrize("nothing", [None, {}, [], "usage", 7, {"trafficType": "ON_DEMAND"}, {"prompt_tokens": True}])
def test_what_counts_nothing_is_an_empty_usage_that_keeps_its_source(nothing: Any) -> None:
    read = normalize_usage(nothing)
    assert read == Usage()
    assert read.raw is nothing


def test_numbers_may_be_text_or_floats_but_never_nonsense() -> None:
    assert buckets({"prompt_tokens": "12", "completion_tokens": 3.0}) == (12, 0, 0, 3, 0)
    odd = {"prompt_tokens": -5, "completion_tokens": math.nan, "cached_tokens": math.inf, "total_tokens": "9" * 5000}
    assert buckets(odd) == (0, 0, 0, 0, 0)


FIELDS = (*PROMPT, *OUTPUT, *CACHE_READ, *CACHE_WRITE, *REASONING, *TOTAL)
HOLDERS = ("iterations", "type", "usage", "timings", "cache_creation")
NAMES = sorted({part for name in FIELDS for part in name.split(".")}.union(HOLDERS))
NUMBERS = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=5), st.booleans())
OBJECTS = st.recursive(
    NUMBERS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner))
)


@given(OBJECTS, st.sampled_from([None, "anthropic", "chat", "gemini"]), st.sampled_from([None, "xai"]))
def test_any_object_gives_buckets_that_are_whole_and_not_negative(usage: Any, api: str, provider: str) -> None:
    read = normalize_usage(usage, provider, api)
    counts = (read.input, read.cache_read, read.cache_write, read.output, read.reasoning)
    assert all(type(count) is int and count >= 0 for count in counts)
    assert read.reasoning <= read.output
    assert read.standing >= 0
    assert read.billed.total >= read.total


COUNTS = st.integers(0, 10**6)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.booleans(), st.booleans())
def test_the_same_call_is_read_alike_however_its_provider_counts(
    fresh: int, read: int, write: int, output: int, cache_inside: bool, camel: bool
) -> None:
    prompt = fresh + read + write if cache_inside else fresh
    usage = {"inputTokens" if camel else "input_tokens": prompt, "cache_read_input_tokens": read,
             "cacheWriteInputTokens": write, "outputTokens": output,
             "total_tokens": fresh + read + write + output}  # fmt: skip
    assert buckets(usage) == (fresh, read, write, output, 0)
