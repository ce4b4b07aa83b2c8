"""What does an error mean? Each row reads one shape that many providers share; the first that knows decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from clew.facts.exchange import (
    Failure,
    OutputTooLarge,
    PayloadTooLarge,
    PromptTooLong,
    RateLimited,
    Refused,
    Unavailable,
)
from clew.wire.errors.case import Case
from clew.wire.errors.lexicon import EXCEED, INPUT, OUTPUT, REDUCE, TOKEN, WINDOW, pattern

Row: TypeAlias = Callable[[Case], Failure | None]


def unpaid(case: Case) -> Failure | None:
    """Money is missing, and waiting does not bring it, even under status 429.

    OpenAI's insufficient_quota, Anthropic's credit balance and extra usage, OpenRouter's credits, DeepSeek's balance.
    """
    if case.status == 402 or (_UNPAID.search(case.words) and not _PACE.search(case.words.replace("quota", ""))):
        return Refused()
    return None


_UNPAID = pattern(
    r"insufficient[_ ](?:quota|balance|credit|fund)|credit balance|billing|purchase credits|more credits|out of credits"
    r"|payment|arrear|prepaid|extra usage is required|spend(?:ing)? (?:limit|cap)|余额|欠费|额度不足"
)
_PACE = pattern(
    r"per[- ](?:minute|min|day|hour|second|sec|week|month)\b|/ ?(?:min|day|hour)\b|\b[tr]p[mdh]\b|rate[_ -]?limit"
    r"|too[_ ]many[_ ]requests|throttl|resource_exhausted|quota|concurren|please wait|usage[_ ]limit|requests? limit"
    r"|频率|速率|限流"
)


def paced(case: Case) -> Failure | None:
    """Too much in too short a time: its numbers are a quota's, never a window's.

    OpenAI, Azure, Anthropic, Gemini, Bedrock; Groq also with status 413. What says plainly that the prompt is too long
    stays so, even under status 429.
    """
    too_long = case.status == 429 and case.numbers.contradicts and _WINDOW.search(case.words)
    if _PACE.search(case.words) or _QUOTA.search(case.text) or (case.status == 429 and not too_long):
        stated = case.numbers
        return RateLimited(limit=stated.limit or stated.ceiling or stated.elsewhere, used=stated.used)
    return None


_QUOTA = pattern(r"(?<!context )(?<!token )limit:? \d+, (?:used:? \d+, )?requested:? \d+")
_WINDOW = pattern(WINDOW)


def below_nothing(case: Case) -> Failure | None:
    """The server took the prompt from the window, and less than nothing was left for the output.

    vLLM, and Azure where it serves with it: "max_tokens must be at least 1, got -186".
    """
    return PromptTooLong() if _NEGATIVE.search(case.text) else None


_NEGATIVE = pattern(rf"(?:{OUTPUT})[^;]{{0,80}}?(?:got|given|received|value|is|was|[:=])\s?\(?-\d")


def other_measure(case: Case) -> Failure | None:
    """A limit on something that is neither tokens nor bytes: letters of a field, tools, pictures, pixels, seconds.

    OpenAI's strings and arrays, Anthropic's images, blocks and thinking budget, Bedrock's patterns.
    """
    if case.status is not None and case.status >= 500:
        return None
    stated = case.numbers
    measured = stated.elsewhere is not None and stated.limit is None and stated.ceiling is None
    return Refused() if (measured or _OTHER.search(case.words)) and not _CONTENT.search(case.words) else None


_OTHER = pattern(
    r"(?:string|array|list|name|description|identifier|url) (?:is )?too (?:long|large)|\bbudget_?tokens"
    r"|number of (?!input|prompt|max)(?!\w* ?tokens)\w+ exceed|too many (?!\w* ?tokens)\w+"
)
_CONTENT = pattern(r"(?:content|text|input|prompt)(?:\[\d+\])?: string too long")
"""OpenAI counts the letters of one message: that is what was said, not the name of something."""


def heavy(case: Case) -> Failure | None:
    """Too many bytes, whatever their tokens.

    Anthropic's images and bodies, OpenAI's megabyte messages, Gemini's payloads, nginx and Cloudflare on the way.
    """
    stated = case.numbers
    said = _CONTENT.search(case.words) or (_HEAVY.search(case.words) and not _PROMPT.search(case.words))
    return PayloadTooLarge(limit=stated.size_limit, used=stated.size) if stated.size_limit or said else None


_HEAVY = pattern(
    r"entity too large|payload (?:size|too|is)"
    r"|(?:request|body|file|image|document|content)[_ ](?:is |was |size )?too[_ ]large"
    r"|(?:exceed\w*|over|larger than|above)[^.;]{0,40}?(?:\d ?[kmg]i?b\b|\bsize\b|bytes)"
    r"|(?:\d ?[kmg]i?b\b|\bsize\b|bytes)[^.;]{0,40}?(?:exceed|limit|max)"
)
_PROMPT = pattern(rf"{TOKEN}|{WINDOW}|prompt|conversation|history")


def output_ceiling(case: Case) -> Failure | None:
    """The asked-for output is more than the model ever writes; the limit says nothing about the window.

    OpenAI, Anthropic, Gemini, Bedrock, DashScope, DeepSeek, Groq, Ark.
    """
    if found := _BOUND.search(case.text):
        return _bounded(found["field"] or "", int(found["sent"]), int(found["most"]))
    stated = case.numbers
    if stated.ceiling and (stated.limit is None or (stated.output or 0) > stated.ceiling):
        return OutputTooLarge(limit=stated.ceiling, requested_output=stated.output, room=stated.ceiling)
    return None


def _bounded(field: str, sent: int, most: int) -> Failure:
    """A knob that has a name is the output's or not; one that has none is, when its bound is large enough."""
    is_output = bool(_OUTPUT.search(field)) if field else most >= LEAST_CEILING
    return OutputTooLarge(limit=most, requested_output=sent, room=most) if is_output else Refused()


LEAST_CEILING = 256
"""Below it, the bound of a number without a name is that of another knob: temperature, how many choices."""
_OUTPUT = pattern(OUTPUT)
_BOUND = pattern(
    r"(?:#/(?P<field>[\w/]{1,80}): )?(?<![\w.])(?P<sent>\d{1,9}) is not less (?:than )?or equal to "
    r"(?P<most>\d{1,9})(?!\w|\.\d)"
)
"""How a JSON schema speaks, at Bedrock."""


def overflow(case: Case) -> Failure | None:
    """The window is stated, or a prompt that is beyond it: by everyone who counts tokens, in prose or in fields."""
    stated = case.numbers
    if stated.limit is None and stated.used is None:
        return None
    about_prompts = _ABOUT.search(case.words)
    return _weighed(case) if about_prompts and (stated.contradicts or _SAID.search(case.words)) else None


def _weighed(case: Case) -> Failure:
    """Whether the prompt alone is too long, or only with its output."""
    stated = case.numbers
    limit, used, output = stated.limit, stated.used, stated.output
    fits = used is not None and limit is not None and used < limit and bool(output)
    only_a_sum = used is None and (output or _SUM_ASKED.search(case.text)) and not _LETTERS.search(case.text)
    if fits or only_a_sum:
        room = limit - used if limit is not None and used is not None else None
        return OutputTooLarge(limit=limit, used=used, requested_output=output, room=room)
    return PromptTooLong(limit=limit, used=used, requested_output=output)


_ABOUT = pattern(rf"{TOKEN}|{WINDOW}|{INPUT}|\brequest\b|\blength\b|请求")
_SAID = pattern(rf"{EXCEED}|{REDUCE}|(?:should|must|has to|needs to) (?:be|have)|range|取值")
_SUM_ASKED = pattern(r"requested (?:total )?(?:number of )?tokens? ")
"""SGLang's "requested token count" is prompt and output together. Asking for less loses nothing: it is tried first."""
_LETTERS = pattern(r"\d+ characters")
"""vLLM counts letters before it counts tokens, and speaks up only when no tokenizer could make it fit."""


def overflow_unnumbered(case: Case) -> Failure | None:
    """Words or a code say it without a number.

    OpenAI Responses and Codex, Bedrock, Groq, Ollama, llama.cpp in mid-reply, mlx, MiniMax, z.ai.
    """
    if _TOO_MUCH_OUTPUT.search(case.words):
        return OutputTooLarge()
    return PromptTooLong() if _TOO_LONG.search(case.words) else None


_SUBJECT = rf"{WINDOW}|{TOKEN}|prompt|\binput\b|conversation|\bchat\b|history|messages?\b|输入|入力|입력|eingabe|entrée"
_TOO_LONG = pattern(rf"(?:{_SUBJECT})[^.;]{{0,80}}?(?:{EXCEED})|(?:{EXCEED})[^.;]{{0,80}}?(?:{_SUBJECT})|{REDUCE}")
_TOO_MUCH_OUTPUT = pattern(rf"(?:max_\w*tokens|maxtokens|max\w*outputtokens)\)? (?:is |are |was )?(?:{EXCEED})")


def silent(case: Case) -> Failure | None:
    """No words, or none that mean anything.

    Cerebras answers a prompt that is too long with a bare 413 or 400. A 400 of anyone else that says no more than "bad
    request" is taken for one when the window is nearly full.
    """
    nothing = not (case.told.sentences or case.told.codes or case.told.page)
    if not nothing and not (len(case.words) < 200 and _MEANINGLESS.fullmatch(case.words)):
        return None
    bare = nothing and ("cerebras" in case.provider or (case.told.without_body and not case.provider))
    full = bare if case.nearly_full is None else case.nearly_full
    return PromptTooLong() if (case.status == 413 and nothing) or (case.status == 400 and full) else None


_MEANINGLESS = pattern(
    r"(?:\W|[\d_]|an?\b|the\b|bad|request|error|exception|invalid|unknown|failed|incorrect|param(?:eter)?s?\b|null|none"
    r"|occurred|upstream|provider|returned|something went wrong|your|please|try again)*"
)


def by_status(case: Case) -> Failure:
    """Nothing in the words decides: the status does; where it is missing or 200, a few words for passing faults."""
    status = case.status
    if status == 413:
        return PayloadTooLarge()
    if status is None or status == 200:
        passing = bool(_FAULT.search(case.words)) or not (status or case.told.sentences or case.told.codes)
    else:
        passing = status in (408, 409, 425) or (status >= 500 and status not in (501, 505))
    return Unavailable() if passing else Refused()


_FAULT = pattern(
    r"overload|time[d_]?[ -]?out|unavailable|bad gateway|connection|disconnect|reset by peer|server[_ ]error"
    r"|internal error|api_error|broken pipe|try again later|\beof\b"
)

ROWS: tuple[Row, ...] = (
    unpaid,
    paced,
    below_nothing,
    other_measure,
    heavy,
    output_ceiling,
    overflow,
    overflow_unnumbered,
    silent,
    by_status,
)
