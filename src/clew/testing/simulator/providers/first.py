"""In which words do Anthropic and OpenAI refuse? All others are told by how they differ from these."""

from __future__ import annotations

from dataclasses import replace

from clew.testing.simulator.providers.shapes import Provider, Refusal, anthropic_shape, openai_shape

_PAGE_413 = Refusal(
    413,
    "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity "
    "Too Large</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n",
)
COMPLETION = (
    "This model's maximum context length is {limit} tokens. However, you requested {total} tokens ({used} in the "
    "messages, {output} in the completion). Please reduce the length of the messages or completion."
)
EXCEED = "input length and `max_tokens` exceed context limit: {used} + {output} > {limit}, decrease input length or "

OPENAI = Provider(
    "openai",
    prompt=openai_shape(
        400,
        "This model's maximum context length is {limit} tokens. However, your messages resulted in {used} "
        "tokens{functions}. Please reduce the length of the messages{or_functions}.",
        param="messages",
        code="context_length_exceeded",
    ),
    window=openai_shape(400, COMPLETION, param="messages", code="context_length_exceeded"),
    cap=openai_shape(
        400,
        "max_tokens is too large: {output}. This model supports at most {cap} completion tokens, whereas you provided "
        "{output}.",
        param="max_tokens",
        code="invalid_value",
    ),
    size=_PAGE_413,
    quota=openai_shape(
        429,
        "Rate limit reached for {model} in organization org-simulated on tokens per min (TPM): Limit {quota}, Used "
        "{spent}, Requested {asked}. Please try again in {wait}s. Visit "
        "https://platform.openai.com/account/rate-limits to learn more.",
        kind="tokens",
        code="rate_limit_exceeded",
    ),
    burst=openai_shape(
        429,
        "Request too large for {model} in organization org-simulated on tokens per min (TPM): Limit {quota}, Requested "
        "{asked}. The input or output tokens must be reduced in order to run successfully. Visit "
        "https://platform.openai.com/account/rate-limits to learn more.",
        kind="tokens",
        code="rate_limit_exceeded",
    ),
    key=openai_shape(
        401,
        "Incorrect API key provided: {key}. You can find your API key at https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    ),
    model=openai_shape(
        404, "The model `{model}` does not exist or you do not have access to it.", code="model_not_found"
    ),
    illegal=openai_shape(400, "{problem}", param="messages"),
    item_prompt=openai_shape(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        param="input",
        code="context_length_exceeded",
    ),
)

ANTHROPIC = Provider(
    "anthropic",
    prompt=anthropic_shape(400, "invalid_request_error", "prompt is too long: {used} tokens > {limit} maximum"),
    window=anthropic_shape(400, "invalid_request_error", EXCEED + "`max_tokens` and try again"),
    cap=anthropic_shape(
        400,
        "invalid_request_error",
        "max_tokens: {output} > {cap}, which is the maximum allowed number of output tokens for {model}",
    ),
    size=anthropic_shape(413, "request_too_large", "Request exceeds the maximum size"),
    quota=anthropic_shape(
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of {quota:,} input tokens per minute. Please reduce "
        "the prompt length or the maximum tokens requested, or try again later.",
    ),
    key=anthropic_shape(401, "authentication_error", "invalid x-api-key"),
    model=anthropic_shape(404, "not_found_error", "model: {model}"),
    illegal=anthropic_shape(400, "invalid_request_error", "{problem}"),
    quota_counts_output=False,
    quota_counts_cached=False,
    window_field="max_input_tokens",
)

COMPATIBLE = replace(OPENAI, burst=None, cap=None, window=None, item_prompt=None)
"""What most servers that speak OpenAI's dialect have in common; each row below says where it differs."""
