"""In which words do the other hosted providers refuse?"""

from __future__ import annotations

from dataclasses import replace

from clew.testing.simulator.providers.first import ANTHROPIC, COMPATIBLE, COMPLETION, EXCEED, OPENAI
from clew.testing.simulator.providers.shapes import (
    Refusal,
    anthropic_shape,
    flat_shape,
    listed_shape,
    openai_shape,
    plain_shape,
)

_ENDPOINT = "This endpoint's maximum context length is {limit} tokens. However, you requested about "
_EITHER = (
    ' Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.'
)
_TPM = "on tokens per minute (TPM): Limit {quota}, "
_GROQ = "model `{model}` in organization `org_simulated` service tier `on_demand` " + _TPM

HOSTED = (
    replace(
        OPENAI,
        name="azure",
        quota=openai_shape(
            429,
            "Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of "
            "your current OpenAI S0 pricing tier. Please retry after {wait} seconds.",
            kind="TooManyRequests",
            code="429",
        ),
        burst=None,
    ),
    replace(
        COMPATIBLE,
        name="openrouter",
        prompt=plain_shape(400, 400, _ENDPOINT + "{used} tokens ({messages} of text input{tool_input})." + _EITHER),
        window=plain_shape(
            400,
            400,
            _ENDPOINT + "{total} tokens ({messages} of text input{tool_input}, {output} in the output)." + _EITHER,
        ),
        quota=plain_shape(
            429,
            429,
            "Provider returned error",
            metadata={
                "raw": "{model} is temporarily rate-limited upstream. Please retry shortly.",
                "provider_name": "Simulated",
            },
        ),
        key=plain_shape(401, 401, "User not found."),
        model=plain_shape(400, 400, "{model} is not a valid model ID"),
        illegal=plain_shape(400, 400, "{problem}"),
        window_field="context_length",
    ),
    replace(
        COMPATIBLE,
        name="deepseek",
        prompt=openai_shape(400, COMPLETION, code="invalid_request_error"),
        window=openai_shape(400, COMPLETION, code="invalid_request_error"),
        cap=openai_shape(
            400,
            "Invalid max_tokens value, the valid range of max_tokens is [1, {cap}]",
            code="invalid_request_error",
        ),
        key=openai_shape(
            401,
            "Authentication Fails, Your api key: {key} is invalid",
            kind="authentication_error",
            code="invalid_request_error",
        ),
        model=openai_shape(400, "Model Not Exist", code="invalid_request_error"),
    ),
    replace(
        COMPATIBLE,
        name="gemini-openai",
        prompt=listed_shape(
            plain_shape(
                400,
                400,
                "The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
                status="INVALID_ARGUMENT",
            )
        ),
        cap=listed_shape(
            plain_shape(
                400,
                400,
                "Unable to submit request because it has a maxOutputTokens value of {output} but the supported range "
                "is from 1 (inclusive) to {above_cap} (exclusive). Update the value and try again.",
                status="INVALID_ARGUMENT",
            )
        ),
        quota=listed_shape(
            plain_shape(
                429,
                429,
                "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for "
                "metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: "
                "{quota}\nPlease retry in {wait}s.",
                status="RESOURCE_EXHAUSTED",
                details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "{wait}s"}],
            )
        ),
        key=listed_shape(
            plain_shape(400, 400, "API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT")
        ),
        model=listed_shape(
            plain_shape(404, 404, "models/{model} is not found for API version v1main.", status="NOT_FOUND")
        ),
        illegal=listed_shape(plain_shape(400, 400, "{problem}", status="INVALID_ARGUMENT")),
        quota_counts_output=False,
    ),
    replace(
        COMPATIBLE,
        name="groq",
        prompt=openai_shape(
            400,
            "Please reduce the length of the messages or completion.",
            param="messages",
            code="context_length_exceeded",
        ),
        window=openai_shape(
            400,
            "Please reduce the length of the messages or completion.",
            param="messages",
            code="context_length_exceeded",
        ),
        cap=openai_shape(
            400,
            "`max_tokens` must be less than or equal to `{cap}`, the maximum value for `max_tokens` is less than the "
            "`context_window` for this model",
        ),
        quota=openai_shape(
            429,
            "Rate limit reached for " + _GROQ + "Used {spent}, Requested {asked}. Please try again in {wait}s. Need "
            "more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
            kind="tokens",
            code="rate_limit_exceeded",
        ),
        burst=openai_shape(
            413,
            "Request too large for " + _GROQ + "Requested {asked}, please reduce your message size and try again.",
            kind="tokens",
            code="rate_limit_exceeded",
        ),
        key=openai_shape(401, "Invalid API Key", code="invalid_api_key"),
        window_field="context_window",
    ),
    replace(
        COMPATIBLE,
        name="mistral",
        prompt=flat_shape(
            400,
            "Prompt contains {used} tokens, too large for model with {limit} maximum context length",
            "invalid_request_prompt",
            "3051",
        ),
        key=Refusal(401, {"detail": "Unauthorized"}),
        model=flat_shape(400, "Invalid model: {model}", "invalid_model", "1500"),
        window_field="max_context_length",
    ),
    replace(
        COMPATIBLE,
        name="moonshot",
        prompt=openai_shape(
            400, "Invalid request: Your request exceeded model token limit: {limit} (requested: {used})"
        ),
        window=openai_shape(
            400, "Invalid request: Your request exceeded model token limit: {limit} (requested: {total})"
        ),
        window_field="context_length",
    ),
    replace(
        COMPATIBLE,
        name="xai",
        prompt=Refusal(
            400,
            {
                "code": "Client specified an invalid argument",
                "error": "This model's maximum prompt length is {limit} but the request contains {used} tokens.",
            },
        ),
    ),
    replace(
        COMPATIBLE,
        name="cerebras",
        prompt=Refusal(
            400,
            {
                "message": "Please reduce the length of the messages or completion. Current length is {used} while "
                "limit is {limit}",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            },
        ),
    ),
    replace(
        COMPATIBLE,
        name="together",
        prompt=openai_shape(
            400, "The input ({used} tokens) is longer than the model's context length ({limit} tokens)."
        ),
        window=openai_shape(
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {used} `inputs` "
            "tokens and {output} `max_new_tokens`",
        ),
        window_field="context_length",
    ),
    replace(
        COMPATIBLE,
        name="dashscope",
        prompt=openai_shape(
            400,
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {limit}]",
            code="invalid_parameter_error",
        ),
        cap=openai_shape(
            400,
            "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, {cap}]",
            code="invalid_parameter_error",
        ),
    ),
    replace(
        COMPATIBLE,
        name="copilot",
        prompt=plain_shape(
            400,
            "model_max_prompt_tokens_exceeded",
            "prompt token count of {used} exceeds the limit of {limit}",
        ),
        window=plain_shape(400, "invalid_request_body", EXCEED.replace("`", "") + "max_tokens and try again"),
    ),
    replace(
        ANTHROPIC,
        name="minimax",
        prompt=anthropic_shape(400, "invalid_request_error", "invalid params, context window exceeds limit (2013)"),
        window=None,
        cap=None,
    ),
)
