"""In which words do servers that people run themselves refuse?"""

from __future__ import annotations

from dataclasses import replace

from clew.testing.simulator.providers.first import COMPATIBLE
from clew.testing.simulator.providers.shapes import Refusal, flat_shape, openai_shape, plain_shape

LOCAL = (
    replace(
        COMPATIBLE,
        name="vllm",
        prompt=openai_shape(
            400,
            "This model's maximum context length is {limit} tokens. However, your request has {used} input tokens. "
            "Please reduce the length of the input messages. (parameter=input_tokens, value={used})",
            kind="BadRequestError",
            param="input_tokens",
            code=400,
        ),
        window=openai_shape(
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's maximum context length is "
            "{limit} tokens and your request has {used} input tokens ({output} > {limit} - {used}).",
            kind="BadRequestError",
            param="max_tokens",
            code=400,
        ),
        key=Refusal(401, {"error": "Unauthorized"}),
        model=openai_shape(404, "The model `{model}` does not exist.", kind="NotFoundError", param="model", code=404),
        window_field="max_model_len",
    ),
    replace(
        COMPATIBLE,
        name="sglang",
        prompt=flat_shape(
            400,
            "The input ({used} tokens) is longer than the model's context length ({limit} tokens).",
            "BadRequestError",
            400,
        ),
        window=flat_shape(
            400,
            "Requested token count exceeds the model's maximum context length of {limit} tokens. You requested a total "
            "of {total} tokens: {used} tokens from the input messages and {output} tokens for the completion. Please "
            "reduce the number of tokens in the input messages or the completion to fit within the limit.",
            "BadRequestError",
            400,
        ),
        window_field="max_model_len",
    ),
    replace(
        COMPATIBLE,
        name="llama.cpp",
        prompt=plain_shape(
            400,
            400,
            "request ({used} tokens) exceeds the available context size ({limit} tokens), try increasing it",
            type="exceed_context_size_error",
            n_prompt_tokens="{used}",
            n_ctx="{limit}",
        ),
        key=plain_shape(401, 401, "Invalid API Key", type="authentication_error"),
        illegal=plain_shape(400, 400, "{problem}", type="invalid_request_error"),
    ),
    replace(
        COMPATIBLE,
        name="lmstudio",
        prompt=Refusal(
            400,
            {
                "error": "Trying to keep the first {used} tokens when context the overflows. However, the model is "
                "loaded with context length of only {limit} tokens, which is not enough. Try to load the model with a "
                "larger context length, or provide a shorter input."
            },
        ),
    ),
    replace(COMPATIBLE, name="ollama", prompt=None),
    replace(
        COMPATIBLE,
        name="ollama-cloud",
        prompt=Refusal(
            400, {"error": "prompt too long; exceeded max context length by {over} tokens (ref: {request})"}
        ),
    ),
)
