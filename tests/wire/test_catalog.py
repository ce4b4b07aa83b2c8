"""Model facts: every row makes sense, every name finds its own model and no other, and costs are exact."""

import re
from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.facts.model import Window
from clew.facts.usage import Cost, Usage
from clew.runtime.models import bundled
from clew.wire.catalog import AmbiguousName, Caching, Catalog, ModelFacts, cost
from clew.wire.names import MAKERS, spelled
from clew.wire.overrides import overlaid
from clew.wire.prices import PRICES, Prices, Tier
from clew.wire.rows import BadFacts, read_fields, read_rows

ROWS = bundled().models
SONNET = ModelFacts(
    "sonnet",
    "anthropic",
    prices=Prices(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"), Decimal(6)),
    tiers=(Tier(200_000, Prices(Decimal(6), Decimal("22.5"), Decimal("0.6"), Decimal("7.5"), Decimal(12))),),
    dated="2026-11-16",
)


@pytest.mark.parametrize("facts", ROWS, ids=lambda facts: facts.name)
def test_every_bundled_row_is_complete_and_makes_sense(facts):
    assert facts.source
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", facts.dated)
    assert facts.dated <= "2026-11-30"
    assert facts.window is not None
    assert facts.window >= 1_024
    assert (facts.max_output or 1) <= facts.window
    assert (facts.max_input or 1_024) <= facts.window
    assert facts.provider in {*MAKERS.values(), "groq"}
    assert all(name == name.strip() and name for name in (facts.name, *facts.aliases))
    bounds = [tier.above for tier in facts.tiers]
    assert bounds == sorted(set(bounds))
    assert all(bound < facts.window or facts.window == 200_000 for bound in bounds)
    for prices in (facts.prices, *(tier.prices for tier in facts.tiers)):
        _in_order(prices)
    for name in PRICES:
        dearer = [getattr(prices, name) for prices in (facts.prices, *(tier.prices for tier in facts.tiers))]
        told = [price for price in dearer if price is not None]
        assert told == sorted(told)
    if facts.prices.cache_write_5m is not None:
        assert facts.caching in (Caching.EXPLICIT, Caching.BREAKPOINTS)
    if facts.provider == "anthropic" and facts.caching is Caching.EXPLICIT:
        assert facts.prices.cache_write_1h == 2 * facts.prices.input


def _in_order(prices):
    assert (prices.input is None) == (prices.output is None)
    known = [getattr(prices, name) for name in ("cache_read", "input", "cache_write_5m", "cache_write_1h")]
    told = [price for price in known if price is not None]
    assert told == sorted(told)
    if prices.input:
        assert prices.input <= prices.output


def test_the_families_people_use_are_there():
    providers = {facts.provider for facts in ROWS}
    assert providers == {*MAKERS.values(), "groq"} - {"amazon"}
    assert len(ROWS) > 150


def test_no_two_rows_share_a_name():
    with pytest.raises(AmbiguousName, match=r"gpt-4-1 is a name of both gpt-4\.1 and other"):
        Catalog([ModelFacts("gpt-4.1"), ModelFacts("other", aliases=("GPT-4-1",))])


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ("Claude-Opus-4.5", "claude-opus-4-5"),
        ("claude-opus-5[1m]", "claude-opus-5"),
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-8", "claude-opus-4-8"),
        ("vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-5.2-2025-12-11", "gpt-5.2"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("azure/gpt-35-turbo", "gpt-3.5-turbo"),
        ("models/gemini-2.5-pro-preview-06-05", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("x-ai/grok-4-0709", "grok-4"),
        ("Qwen/Qwen3-8B", "qwen3-8b"),
        ("llama3.1:8b", "llama-3.1-8b-instruct"),
    ],
)
def test_a_model_is_found_by_the_names_providers_give_it(asked, found):
    assert bundled().find(asked).name == found


@pytest.mark.parametrize(
    "asked",
    ["gpt-4o-audio-preview", "gpt-4-32k", "gpt-5-turbo", "gpt", "o1-preview", "ft:gpt-4o-2024-08-06:me::x",
     "claude-opus-4-9", "gemini-2.5-flash-image", "gemini-2.5-flash-preview-09-2025", "z-ai/glm-4.5-air:free",
     "mistral-large-2407", "gpt-4-8192", "gpt-4-1912", "claude", "", "/", "gpt-4o/", "llama-3.1-8b-instruct-q4_K_M",
     "gpt-5-1999-12-11"],
)  # fmt: skip
def test_what_only_looks_like_a_known_model_is_not_known(asked):
    assert bundled().find(asked) is None


@given(st.sampled_from(ROWS), st.text("abcdefghijklmnopqrstuvwxyz0123456789.:-", min_size=1, max_size=6))
def test_a_name_that_goes_on_is_another_model_unless_it_goes_on_with_a_version(facts, more):
    asked = spelled(facts.name + more)
    if bundled().find(asked) is not None:
        plain = re.sub(r"([-@](20\d{2}-?\d{2}-?\d{2}|\d{4}|00\d|\d\d-\d\d(\d\d)?|latest)|:beta)$", "", asked)
        assert bundled().named(asked) or bundled().named(plain)


@given(st.sampled_from(ROWS), st.sampled_from(["-20260115", "-2026-01-15", "@20260115", "-latest", "", "[1m]"]))
def test_every_model_is_found_dated_prefixed_and_in_capitals(facts, ending):
    for name in (facts.name, *facts.aliases):
        for asked in (name + ending, (name + ending).upper(), f"openrouter/{name}{ending}", f"someone/{name}{ending}"):
            found = bundled().find(asked)
            assert (found.name, found.window) == (facts.name, facts.window)


def test_a_host_has_prices_of_its_own_for_weights_that_anyone_may_serve():
    find = bundled().find
    assert find("openai/gpt-oss-120b", "groq").prices.input == Decimal("0.15")
    assert find("groq/openai/gpt-oss-120b") == find("gpt-oss-120b", "Groq")
    assert find("moonshotai/kimi-k2.5").prices.input == Decimal("0.6")
    elsewhere = find("moonshotai/kimi-k2.5", "openrouter")
    assert (elsewhere.prices, elsewhere.window) == (Prices(), 262_144)
    assert "openrouter" in elsewhere.note
    assert find("openrouter/moonshotai/kimi-k2.5").prices == Prices()
    assert find("claude-opus-5", "openrouter").prices == find("claude-opus-5").prices


def test_amazon_asks_more_where_it_has_to_stay_in_one_part_of_the_world():
    find = bundled().find
    assert find("eu.anthropic.claude-sonnet-4-5-20250929-v1:0").prices.input == Decimal("3.3")
    assert find("eu.anthropic.claude-sonnet-4-5-20250929-v1:0").tiers[0].prices.output == Decimal("24.75")
    assert find("global.anthropic.claude-sonnet-4-5-20250929-v1:0").prices.input == 3
    assert find("anthropic.claude-sonnet-4-5-20250929-v1:0").prices.input == 3
    assert find("us.anthropic.claude-3-5-haiku-20241022-v1:0").prices.input == Decimal("0.8")
    assert find("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0").prices == Prices()


def test_an_unknown_name_brings_up_those_near_it():
    assert bundled().near("claude-opus-4-9")[0].startswith("claude-opus-4")
    assert "gpt-5-mini" in bundled().near("openai/gpt5-mini")
    assert all("haiku" in name for name in bundled().near("haiku"))
    assert bundled().near("zzz") == []


def test_a_cost_is_the_sum_over_the_buckets_to_the_last_digit():
    usage = Usage(input=1_234, output=567, cache_read=89_012, cache_write=3_456, reasoning=500)
    dollars = Decimal("0.003702") + Decimal("0.008505") + Decimal("0.0267036") + Decimal("0.01296")
    assert cost(usage, SONNET) == Cost(dollars, "2026-11-16")


@pytest.mark.parametrize("kind", [lambda **raw: raw, lambda **raw: SimpleNamespace(**raw)])
def test_what_is_written_for_an_hour_has_its_own_price(kind):
    split = kind(ephemeral_5m_input_tokens=400, ephemeral_1h_input_tokens=600)
    assert cost(Usage(cache_write=1_000, raw=kind(cache_creation=split)), SONNET).usd == Decimal("0.0051")
    assert cost(Usage(cache_write=500, raw=kind(cache_creation=split)), SONNET).usd == Decimal("0.003")
    for odd in (None, 7, "x", kind(cache_creation=None), kind(cache_creation=kind(ephemeral_1h_input_tokens=None))):
        assert cost(Usage(cache_write=1_000, raw=odd), SONNET).usd == Decimal("0.00375")


def test_a_long_prompt_is_dearer_as_a_whole():
    at = Usage(input=1_000, cache_read=199_000, output=100)
    above = Usage(input=1_001, cache_read=199_000, output=100)
    assert cost(at, SONNET).usd == Decimal("0.003") + Decimal("0.0597") + Decimal("0.0015")
    assert cost(above, SONNET).usd == Decimal("0.006006") + Decimal("0.1194") + Decimal("0.00225")
    coder = bundled().find("qwen3-coder-plus")
    assert [coder.prices_for(n).output for n in (32_000, 32_001, 200_000, 300_000)] == [5, 9, 15, 60]


def test_a_price_that_is_needed_and_not_known_makes_the_cost_unknown():
    partly = ModelFacts("m", prices=Prices(Decimal(1), Decimal(2)))
    assert cost(Usage(input=1, output=1), partly) is not None
    for used in (Usage(cache_read=1), Usage(input=5, cache_write=1), Usage(output=1, cache_read=3)):
        assert cost(used, partly) is None
    written = Usage(cache_write=9, raw={"cache_creation": {"ephemeral_1h_input_tokens": 9}})
    assert cost(written, ModelFacts("m", prices=Prices(cache_write_5m=Decimal(1)))) is None
    assert cost(Usage(input=1), bundled().find("llama3.1:8b", "ollama")) is None
    assert cost(Usage(input=10, output=10), bundled().find("glm-4.7-flash")).usd == 0


@given(st.builds(Usage, *(st.integers(0, 10**7) for _ in range(5))), st.sampled_from(ROWS))
def test_a_cost_is_never_negative_and_thinking_is_not_charged_twice(usage, facts):
    told = cost(usage, facts)
    silent = Usage(usage.input, usage.output, usage.cache_read, usage.cache_write)
    assert told == cost(silent, facts)
    assert told is None or (told.usd >= 0 and told.priced == facts.dated)


def test_the_window_leaves_what_the_prompt_may_take():
    gpt = bundled().find("gpt-5")
    assert gpt.room(8_000) == Window(280_000, 8_000)
    assert gpt.room(128_000) == Window(400_000, 128_000)
    assert gpt.room().usable == 272_000
    assert bundled().find("claude-opus-5").room(64_000) == Window(1_000_000, 64_000)
    assert ModelFacts("mine").room() is None


def test_a_person_corrects_a_row_and_adds_another():
    corrected = overlaid(
        bundled(),
        {
            "gemini-2.5-pro": {"input": "1.5", "window": "500,000", "dated": "2026-11-01"},
            "azure/gpt-5": {"output": 8, "dated": "2026-11-02"},
            "mine": {"window": 32_768, "input": 0, "output": 0},
        },
        "models.json",
    )
    gemini = corrected.find("google/gemini-2.5-pro")
    assert (gemini.window, gemini.prices.input, gemini.prices.output) == (500_000, Decimal("1.5"), 10)
    assert [tier.prices.input for tier in gemini.tiers] == [Decimal("1.5")]
    assert (gemini.own, gemini.priced, gemini.source) == (
        ("input", "window"), "2026-11-01", bundled().find("gemini-2.5-pro").source,
    )  # fmt: skip
    azure = corrected.find("gpt-5", "azure")
    assert (azure.name, azure.prices.output, azure.window) == ("azure/gpt-5", 8, 400_000)
    assert corrected.find("gpt-5").prices.output == 10
    assert cost(Usage(input=10**9, output=10**9), corrected.find("mine")).usd == 0
    assert cost(Usage(cache_read=1), corrected.find("mine")) is None
    assert len(corrected.models) == len(ROWS) + 2


def test_a_smaller_window_of_ones_own_leaves_less_to_either_side():
    small = overlaid(bundled(), {"gpt-5": {"window": 50_000}}, "models.json").find("gpt-5")
    assert (small.max_input, small.max_output, small.priced) == (50_000, 50_000, bundled().find("gpt-5").dated)


def test_a_price_of_ones_own_holds_wherever_the_model_is_served():
    own = overlaid(bundled(), {"kimi-k2.5": {"input": 1, "output": 2}}, "models.json")
    assert own.find("kimi-k2.5", "openrouter").prices.input == 1
    window = overlaid(bundled(), {"kimi-k2.5": {"window": 100_000}}, "models.json")
    assert window.find("kimi-k2.5", "openrouter").prices == Prices()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"window": 12}, "f: m: window is 12; it has to lie between 1024 and 100000000"),
        ({"window": True}, "f: m: window is True; it has to be a whole number of tokens"),
        ({"max_output": "4k"}, "f: m: max_output is '4k'; it has to be a whole number"),
        ({"window": -5}, "f: m: window is -5"),
        ({"input": -1}, "f: m: input is -1.0; it has to lie between 0 and 10000"),
        ({"input": "cheap"}, "f: m: input is 'cheap'; it has to be US dollars"),
        ({"input": "nan"}, "f: m: input is 'nan'; it has to be US dollars"),
        ({"output": False}, "f: m: output is False; it has to be US dollars"),
        ({"caching": "some"}, "f: m: caching is 'some'; it has to be one of explicit, automatic, breakpoints, none"),
        ({"windw": 9_000}, "f: m: windw is no field clew knows; did you mean window?"),
        ({"zzz": 1}, "f: m: zzz is no field clew knows; there are window, max_input"),
        ({"window": 10_000, "max_output": 20_000}, "f: m: max_output is 20,000, more than the window of 10,000"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_the_place_and_the_range(values, told):
    with pytest.raises(BadFacts, match=re.escape(told)):
        overlaid(bundled(), {"m": values}, "f")


def test_a_bundled_row_with_a_slip_of_the_pen_is_refused():
    document = {"provider": "p", "each": {}, "sources": {"s": {"what": "w", "dated": "2026-01-01"}}}
    with pytest.raises(BadFacts, match="m: cache_reed is no field clew knows; did you mean cache_read"):
        read_rows({**document, "models": [{"name": "m", "source": "s", "cache_reed": 1}]}, "d.json")
    with pytest.raises(BadFacts, match="m: tiers: input"):
        read_rows(
            {**document, "models": [{"name": "m", "source": "s", "tiers": [{"above": 1, "input": -1}]}]}, "d.json"
        )


def test_values_come_as_numbers_or_as_text():
    assert read_fields({"window": "200_000", "input": Decimal("1.25"), "caching": "none"}, "f") == {
        "window": 200_000, "input": Decimal("1.25"), "caching": Caching.NONE,
    }  # fmt: skip
