"""The person's own facts are kept safe, and servers tell the windows they really serve."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from decimal import Decimal

import pytest

from clew.runtime.asking import ask, ask_server, plain_get, plain_post
from clew.runtime.models import FILE, bundled, catalog, path, set_override, unset_override
from clew.wire.prices import Prices
from clew.wire.rows import BadFacts
from clew.wire.servers import Served
from tests.local_server import serving

# As servers answer, shortened to what is read and what stands beside it.
LLAMA_PROPS = {
    "default_generation_settings": {"params": {"seed": 4294967295, "max_tokens": -1}, "n_ctx": 2048},
    "total_slots": 2,
    "model_alias": "smollm2.gguf",
    "model_path": "/models/smollm2.gguf",
}
LLAMA_MODELS = {
    "models": [{"name": "smollm2.gguf", "model": "smollm2.gguf", "type": "model"}],
    "object": "list",
    "data": [
        {
            "id": "smollm2.gguf", "object": "model", "owned_by": "llamacpp",
            "meta": {"vocab_type": 2, "n_vocab": 49152, "n_ctx": 2048, "n_ctx_train": 8192, "n_params": 134515008},
        }
    ],
}  # fmt: skip
LLAMA_MODELS_OLD = {"object": "list", "data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}]}
VLLM = {
    "object": "list",
    "data": [
        {"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "root": "Qwen/Qwen3-8B", "parent": None,
         "max_model_len": 40960},
        {"id": "my-lora", "object": "model", "owned_by": "vllm", "root": "/l", "parent": "Qwen/Qwen3-8B",
         "max_model_len": None},
    ],
}  # fmt: skip
OPENROUTER = {
    "data": [
        {"id": "anthropic/claude-sonnet-4.5", "context_length": 1000000,
         "pricing": {"prompt": "0.000003", "completion": "0.000015", "image": "0.0048",
                     "input_cache_read": "0.0000003", "input_cache_write": "0.00000375"},
         "top_provider": {"context_length": 1000000, "max_completion_tokens": 64000, "is_moderated": True}},
        {"id": "openrouter/auto", "context_length": 2000000, "pricing": {"prompt": "-1", "completion": "-1"},
         "top_provider": {"context_length": None, "max_completion_tokens": None, "is_moderated": False}},
        {"id": "z-ai/glm-4.5-air:free", "context_length": 131072, "pricing": {"prompt": "0", "completion": "0"},
         "top_provider": {"context_length": 131072, "max_completion_tokens": 96000, "is_moderated": False}},
    ]
}  # fmt: skip
LM_STUDIO = {
    "object": "list",
    "data": [
        {"id": "qwen2.5-coder-7b-instruct", "object": "model", "type": "llm", "publisher": "lmstudio-community",
         "arch": "qwen2", "quantization": "Q4_K_M", "state": "loaded", "max_context_length": 32768,
         "loaded_context_length": 16384},
        {"id": "text-embedding-nomic", "object": "model", "type": "embeddings", "state": "not-loaded",
         "max_context_length": 2048},
        {"id": "llama-3.2-1b-instruct", "object": "model", "type": "llm", "state": "not-loaded",
         "max_context_length": 131072},
    ],
}  # fmt: skip
UNEXPECTED = {"error": "Unexpected endpoint or method. (GET /props)"}
OLLAMA_LIST = {"object": "list", "data": [{"id": "gemma3:latest", "object": "model", "owned_by": "library"}]}
OLLAMA_PS = {
    "models": [
        {"name": "gemma3:latest", "model": "gemma3:latest", "size": 6591830464, "digest": "a2af6cc3eb7f",
         "details": {"family": "gemma3"}, "size_vram": 5333539264, "context_length": 4096}
    ]
}  # fmt: skip


def _shown(asked):
    known = {
        "gemma3": ("stop \"<end>\"\nnum_ctx                        16384\ntemperature 1", 131072),
        "greedy": ("num_ctx 999999", 8192),
        "plain": ("", 32768),
    }  # fmt: skip
    if asked["model"] not in known:
        return None
    parameters, trained = known[asked["model"]]
    info = {"general.architecture": "gemma3", "gemma3.context_length": trained, "gemma3.block_count": 26}
    return {"parameters": parameters, "details": {"family": "gemma3"}, "model_info": info}


def asked(answers, model="", path=""):
    with serving(answers) as url:
        return asyncio.run(ask_server(url + path, model, plain_get, plain_post))


def served(answers, path=""):
    with serving(answers) as url:
        return asyncio.run(ask(url + path, plain_get, plain_post))


def test_llama_cpp_tells_the_window_of_one_slot_not_what_the_model_was_trained_for():
    found = asked({"/props": LLAMA_PROPS, "/v1/models": LLAMA_MODELS}, "whatever the request says")
    assert found == Served("smollm2.gguf", "llama.cpp", window=2048, trained=8192, any_name=True)
    old = asked({"/props": LLAMA_PROPS, "/v1/models": LLAMA_MODELS_OLD}, "m")
    assert (old.window, old.model) == (2048, "smollm2.gguf")
    router = {"default_generation_settings": {"params": {}, "n_ctx": 0}, "role": "router"}
    assert asked({"/props": router}, "m") is None


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models"])
def test_the_address_may_be_that_of_the_server_or_of_its_api(path):
    assert asked({"/v1/models": VLLM}, "qwen/qwen3-8b", path).window == 40960


def test_vllm_and_sglang_tell_the_longest_sequence_and_an_adapter_has_that_of_its_model():
    assert asked({"/v1/models": VLLM}, "my-lora").window == 40960
    assert asked({"/v1/models": VLLM}, "another") is None
    assert [one.server for one in served({"/v1/models": VLLM})] == ["vllm", "vllm"]
    info = {"model_path": "/m/llama", "served_model_name": "llama", "context_length": 8192, "max_req_input_len": 8186}
    for place in ("/server_info", "/get_server_info"):
        assert asked({place: info}, "llama") == Served("llama", "SGLang", window=8192, max_input=8186)


def test_text_generation_inference_tells_what_both_sides_may_take():
    info = {"model_id": "HuggingFaceH4/zephyr", "max_input_tokens": 4095, "max_total_tokens": 4096, "version": "3.3.6"}
    found = asked({"/info": info}, "tgi")
    assert found == Served("HuggingFaceH4/zephyr", "TGI", window=4096, max_input=4095, any_name=True)


def test_lm_studio_tells_the_window_of_what_is_loaded():
    answers = {"/v1/models": {"data": [{"id": "qwen2.5-coder-7b-instruct"}]}, "/props": UNEXPECTED, "/info": UNEXPECTED}
    answers["/api/v0/models"] = LM_STUDIO
    assert asked(answers, "qwen2.5-coder-7b-instruct").window == 16384
    sleeping = asked(answers, "llama-3.2-1b-instruct")
    assert (sleeping.window, sleeping.trained) == (None, 131072)
    twice = {
        "data": [{"id": "m", "state": "not-loaded", "max_context_length": 9_000}, {**LM_STUDIO["data"][0], "id": "m"}]
    }
    assert asked({"/api/v0/models": twice}, "m").window == 16384
    assert [one.model for one in served(answers)] == ["qwen2.5-coder-7b-instruct", "llama-3.2-1b-instruct"]


def test_ollama_tells_what_it_loaded_or_would_load():
    answers = {"/v1/models": OLLAMA_LIST, "/api/ps": OLLAMA_PS, "POST /api/show": _shown}
    assert asked(answers, "gemma3").window == 4096
    answers["/api/ps"] = {"models": []}
    assert asked(answers, "gemma3") == Served("gemma3", "Ollama", window=16384, trained=131072)
    assert asked(answers, "greedy").window == 8192
    assert asked(answers, "plain") == Served("plain", "Ollama", window=None, trained=32768)
    assert asked(answers, "absent") is None
    answers["/api/tags"] = {"models": [{"name": "plain"}, {"name": "gemma3"}, {"name": "gone"}]}
    assert [(one.model, one.window) for one in served(answers)] == [("plain", None), ("gemma3", 16384)]


def test_openrouter_tells_prices_and_free_is_only_what_it_calls_free():
    def of(model):
        return asked({"/api/v1/models": OPENROUTER}, model, "/api/v1")

    sonnet = of("anthropic/claude-sonnet-4.5")
    assert (sonnet.window, sonnet.max_output) == (1_000_000, 64_000)
    assert sonnet.prices == Prices(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
    assert (of("openrouter/auto").window, of("openrouter/auto").prices) == (2_000_000, Prices())
    assert of("z-ai/glm-4.5-air:free").prices == Prices(Decimal(0), Decimal(0))


def test_other_lists_of_models_are_read_too():
    rows = [
        {"id": "groq", "context_window": 131072, "max_completion_tokens": 32768},
        {"id": "mistral", "max_context_length": 262144},
        {"id": "anthropic", "max_input_tokens": 1000000, "max_tokens": 128000},
    ]
    found = served({"/v1/models": {"data": rows}})
    assert [(one.window, one.max_output) for one in found] == [(131072, 32768), (262144, None), (1000000, 128000)]


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"[]", b"null", b"7", b'{"data": 3}', b'{"data": [null, {"id": null}]}', b"\xff",
     b'{"data": [{"id": "m", "max_model_len": true, "context_length": "x", "meta": 1, "pricing": {"prompt": {}}}]}'],
)  # fmt: skip
def test_an_odd_answer_is_no_answer(answer):
    places = ("/v1/models", "/props", "/api/v0/models", "/api/ps", "/api/tags", "/server_info", "/info")
    found = asked({**dict.fromkeys(places, answer), "POST /api/show": answer}, "m")
    assert found is None or (found.window, found.prices) in ((None, None), (None, Prices()))


def test_where_nobody_answers_nothing_is_known():
    with serving({}) as url:
        pass
    assert asyncio.run(ask_server(url, "m", plain_get, plain_post)) is None
    with pytest.raises(OSError, match="refused"):
        asyncio.run(ask(url, plain_get, plain_post))


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert asked({"/v1/models": VLLM}, "my-lora").window == 40960


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The file of a person's own facts, not there yet."""
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    return path()


def test_without_a_file_of_ones_own_the_bundled_facts_hold(own):
    assert catalog() is bundled()


def test_what_is_set_is_kept_with_its_date_for_ones_own_eyes_and_forgotten_again(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "deep" / "home"))
    own = path()
    set_override("mine", {"window": "32768", "input": "0.5"})
    facts = set_override("Claude-Opus-4.5", {"input": "4"})
    assert (facts.name, facts.prices.input, facts.own) == ("claude-opus-4-5", 4, ("input",))
    set_override("mine", {"output": "1.25"})
    mine = catalog().find("mine")
    assert (mine.window, mine.prices.input, mine.prices.output) == (32_768, Decimal("0.5"), Decimal("1.25"))
    assert mine.own_dated == time.strftime("%Y-%m-%d")
    assert catalog().find("anthropic/claude-opus-4.5-20251101").prices.input == 4
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert os.listdir(own.parent) == [FILE]
    assert unset_override("CLAUDE-opus-4-5")
    assert not unset_override("claude-opus-4-5")
    assert list(json.loads(own.read_text())["models"]) == ["mine"]


def test_a_row_written_by_hand_is_dated_by_the_file_and_found_by_its_alias(own):
    own.write_text('{"models": {"claude-4-5-opus": {"output": 20.5}}}')
    os.utime(own, (1_790_000_000, 1_790_000_000))
    facts = catalog().find("claude-opus-4-5")
    assert (facts.prices.output, facts.priced) == (Decimal("20.5"), time.strftime("%Y-%m-%d", time.localtime(1.79e9)))
    set_override("claude-opus-4-5", {"input": 4})
    assert list(json.loads(own.read_text())["models"]) == ["claude-4-5-opus"]
    assert catalog().find("claude-opus-4-5").prices.output == Decimal("20.5")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"models": {"m": {"window": 5}}}', "models.json: m: window is 5; it has to lie between 1024 and"),
        ('{"models": {"m": {"widow": 5000}}}', "models.json: m: widow is no field clew knows; did you mean window?"),
        ('{"models": {"m": 5}}', "has to look like"),
        ('{"m": {"window": 5000}}', "has to look like"),
        ('{"models": {}, "more": 1}', "has to look like"),
        ("[]", "has to look like"),
        ('{"models": ', "is no JSON: Expecting value: line 1 column 12"),
        ("\xff", "is no JSON"),
    ],
)
def test_a_file_that_cannot_be_believed_is_named_and_left_alone(own, text, told):
    own.write_bytes(text.encode("latin-1"))
    for attempt in (lambda: catalog(), lambda: set_override("gpt-5", {"window": 9_000})):
        with pytest.raises(BadFacts) as wrong:
            attempt()
        assert str(own) in str(wrong.value)
        assert told in str(wrong.value)
    assert own.read_bytes() == text.encode("latin-1")


def test_a_row_that_cannot_be_believed_can_be_forgotten(own):
    own.write_text('{"models": {"m": {"window": 5}, "n": {"window": 5000}}}')
    assert unset_override("m")
    assert catalog().find("n").window == 5_000


def test_nothing_is_written_that_could_not_be_read_back(own):
    set_override("gpt-5", {"window": 100_000})
    before = own.read_bytes()
    for values in ({"window": 1}, {"max_output": 200_000}, {"nothing": 1}, {"dated": "2020-01-01"}):
        with pytest.raises(BadFacts):
            set_override("gpt-5", values)
    assert own.read_bytes() == before
    assert os.listdir(own.parent) == [FILE]


def test_a_link_to_the_file_stays_a_link(own, tmp_path):
    (tmp_path / "kept").mkdir()
    own.symlink_to(tmp_path / "kept" / "mine.json")
    set_override("mine", {"window": 9_000})
    assert own.is_symlink()
    assert catalog().find("mine").window == 9_000


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_crash_while_writing_loses_nothing(own):
    set_override("first", {"window": 9_000})
    code = (
        "from clew.runtime.models import set_override\nn = 9_000\nprint('on', flush=True)\n"
        "while True:\n    n += 1\n    set_override('second', {'window': n})\n"
    )
    for wait in (0.0, 0.011, 0.023):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(wait)
            writer.send_signal(signal.SIGKILL)
        assert catalog().find("first").window == 9_000
