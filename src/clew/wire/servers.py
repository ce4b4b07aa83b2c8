"""What do servers of models say about the windows they serve?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from clew.wire.prices import MILLION, Prices


@dataclass(frozen=True, slots=True)
class Served:
    """One model as a server serves it; None is what it did not say."""

    model: str
    server: str
    window: int | None = None
    """What it really takes now, for one conversation: not what the model was trained for."""
    trained: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    any_name: bool = False
    """It answers with this model whichever name a request bears."""


def read_models(body: Any) -> list[Served]:
    """`/v1/models` of vLLM, SGLang, llama.cpp, OpenRouter and those who took after them."""
    rows = {str(row.get("id")): row for row in _objects(body, "data")}
    return [_read_model(row, rows.get(str(row.get("parent")), {})) for row in rows.values()]


def _read_model(row: Mapping[str, Any], parent: Mapping[str, Any]) -> Served:
    meta, top = _object(row, "meta"), _object(row, "top_provider")
    is_llama = row.get("owned_by") == "llamacpp"
    return Served(
        str(row.get("id") or ""),
        "llama.cpp" if is_llama else str(row.get("owned_by") or "OpenAI-compatible"),
        window=_first(
            meta.get("n_ctx"),  # llama.cpp
            row.get("max_model_len") or parent.get("max_model_len"),  # vLLM, SGLang; an adapter has its parent's
            top.get("context_length") or row.get("context_length"),  # OpenRouter, Together
            row.get("context_window"),  # Groq
            row.get("max_context_length"),  # Mistral
            row.get("max_input_tokens"),  # Anthropic
        ),
        trained=_count(meta.get("n_ctx_train")),
        max_output=_first(top.get("max_completion_tokens"), row.get("max_completion_tokens"), row.get("max_tokens")),
        prices=_read_prices(row.get("pricing")),
        any_name=is_llama,
    )


def _read_prices(raw: Any) -> Prices | None:
    """Dollars for one token, as text; a negative price is OpenRouter's word for `it depends`."""
    if not isinstance(raw, Mapping):
        return None
    names = {"input": "prompt", "output": "completion", "cache_read": "input_cache_read"}
    return Prices(
        **{name: _dollars(raw.get(theirs)) for name, theirs in names.items()},
        cache_write_5m=_dollars(raw.get("input_cache_write")),
    )


def _dollars(value: Any) -> Decimal | None:
    try:
        price = Decimal(str(value)) * MILLION
    except InvalidOperation:
        return None
    return price.normalize() + 0 if price.is_finite() and price >= 0 else None


def read_llama(body: Any) -> list[Served]:
    """`/props` of llama.cpp. Its `n_ctx` is that of one slot in old and new builds: `--ctx-size` shared out already."""
    settings = _object(body, "default_generation_settings")
    window = _count(settings.get("n_ctx"))  # 0: a router that has no model loaded yet
    if window is None:
        return []
    name = body.get("model_alias") or body.get("model_path") or ""
    return [Served(str(name), "llama.cpp", window=window, any_name=True)]


def read_lm_studio(body: Any) -> list[Served]:
    """`/api/v0/models` of LM Studio: every model on disk, and the window of those that are loaded."""
    return [
        Served(
            str(row.get("id") or ""),
            "LM Studio",
            window=_count(row.get("loaded_context_length")),
            trained=_count(row.get("max_context_length")),
        )
        for row in _objects(body, "data")
        if row.get("type") != "embeddings" and ("max_context_length" in row or "state" in row)
    ]


def read_ollama_running(body: Any) -> list[Served]:
    """`/api/ps` of Ollama: the models in memory, with the window each was loaded with."""
    return [
        Served(str(row.get("name") or row.get("model") or ""), "Ollama", window=_count(row.get("context_length")))
        for row in _objects(body, "models")
    ]


def read_ollama_names(body: Any) -> list[str]:
    """`/api/tags` of Ollama: the models on disk."""
    return [str(row["name"]) for row in _objects(body, "models") if row.get("name")]


def read_ollama_shown(body: Any, model: str) -> Served | None:
    """`/api/show` of Ollama. Without a `num_ctx` it decides on a window when it loads the model, often a small one."""
    if not isinstance(body, Mapping) or "model_info" not in body:
        return None
    info = _object(body, "model_info")
    trained = _first(*(value for key, value in info.items() if key.endswith(".context_length")))
    told = re.search(r"(?m)^num_ctx\s+(\d+)", str(body.get("parameters") or ""))
    asked = _count(int(told[1])) if told else None
    return Served(model, "Ollama", window=min(asked, trained or asked) if asked else None, trained=trained)


def read_sglang(body: Any) -> list[Served]:
    """`/server_info` of SGLang; `/get_server_info` in older ones."""
    if not isinstance(body, Mapping) or "model_path" not in body:
        return []
    name = body.get("served_model_name") or body["model_path"]
    longest = _count(body.get("max_req_input_len"))
    return [Served(str(name), "SGLang", window=_count(body.get("context_length")), max_input=longest)]


def read_tgi(body: Any) -> list[Served]:
    """`/info` of Text Generation Inference."""
    if not isinstance(body, Mapping) or "max_total_tokens" not in body:
        return []
    longest = _first(body.get("max_input_tokens"), body.get("max_input_length"))
    window = _count(body["max_total_tokens"])
    return [Served(str(body.get("model_id") or ""), "TGI", window=window, max_input=longest, any_name=True)]


def pick(served: Iterable[Served], model: str) -> Served | None:
    """The one that a request for `model` would reach."""
    known = sorted(served, key=lambda one: not one.window)  # LM Studio may list a model twice, loaded and not
    asked = model.casefold()
    for wanted in (asked, f"{asked}:latest"):  # Ollama's name for a model without a tag
        for one in known:
            if one.model.casefold() == wanted:
                return one
    return known[0] if len(known) == 1 and (known[0].any_name or not model) else None


def _objects(body: Any, name: str) -> list[Mapping[str, Any]]:
    rows = body.get(name) if isinstance(body, Mapping) else None
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _object(body: Any, name: str) -> Mapping[str, Any]:
    value = body.get(name) if isinstance(body, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _first(*values: Any) -> int | None:
    return next((count for value in values if (count := _count(value))), None)


def _count(value: Any) -> int | None:
    """A number of tokens; 0 and anything odd is none."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value > 0 else None
