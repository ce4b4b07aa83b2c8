"""Which words do providers use for a window, a prompt, an output, a limit and going beyond it, in any language?"""

from __future__ import annotations

import re

TOKEN = r"tokens?(?![a-z])|トークン|jetons?|토큰|токен"
WINDOW = (
    r"context(?! deadline| cancel)|window|n_ctx|max_model_len|max_seq_len|sequence[ _]length|seq_len"
    r"|上下文|コンテキスト|컨텍스트|контекст|kontext|contexto"
)
INPUT = (
    r"prompt|\binputs?|messages?\b|conversation|chat|history|query"
    r"|输入|提示|消息|入力|プロンプト|입력|프롬프트|ввод|eingabe|entrée|entrada|mensaje"
)
OUTPUT = (
    r"max(?:imum)?[_ ]?(?:output|completion|new|gen(?:eration)?|response)[_ ]?tokens?|max_tokens|maxtokens"
    r"|max(?:imum)? tokens? (?:you requested|value|param)|completions?\b|\boutput|generat|num_predict|n_predict"
    r"|输出|生成|出力|출력|ausgabe|sortie|salida"
)
TOTAL = r"requested|requests? for|total|altogether|合计|共"

EXCEED = (
    r"exceed|surpass|overflow|longer than|larger than|bigger than|\bover (?:the|its|our)\b|beyond"
    r"|too (?:long|large|big|many|much)|do(?:es)?(?: not|n't) fit|truncat|reached (?:the|its|your) (?:max|limit)"
    r"|超过|超出|超限|超长|过长|太长|过大|超え|超過|長すぎ|초과|너무 |превыс|превыш|слишком "
    r"|überschreit|zu (?:lang|groß|viel)|dépass|trop |exced|demasiado |muito "
)
"""Says by itself that something is more than it may be."""
COMPARE = r">|≥|greater than|more than|higher than|\bover\b|above|not less"
"""Says so between two numbers only."""
LIMIT = (
    r"max(?:imum|imal|imo|imale)?(?![a-z_])|max_(?!tokens|output|completion|new|gen)\w+|limit|at most|up to|\bonly\b"
    r"|allow|support|accept|capacity|ceiling|\bcap\b|upper bound|n_ctx|no more than|less (?:than|or equal)"
    r"|(?:lower|smaller) than|below|fewer than|<|≤|not exceed|within|context (?:length|size|window)|window of"
    r"|最大|上限|限制|最多|不能超过|不得超过|최대|제한|максим|лимит|предел|höchst|grenze|erlaubt|límite|máxim|permitid|autoris"
)
ACTUAL = (
    r"resulted in|contain|\bhas\b|\bhave\b|\bhad\b|\bgot\b|received|\bgiven\b|provided|passed|\bsent\b|\bwas\b|\bused\b"
    r"|current|request(?:ed|s|ing)?\b|actual|estimated|found|keep the first|need"
    r"|实际|当前|共|\bhat\b|enthält|contient|contiene|tiene"
)
LEAST = (
    r"(?:must|should|needs? to|has to) (?:be|have) (?:at least|greater|larger|more|higher|longer)[^.;\n]{0,40}"
    r"|(?:value|be|than) >=? ?$|minimum|\bmin(?:_\w+)?\b|too small|too short"
)
"""Asks for more, so it is no overflow, whatever the words behind it."""
REDUCE = (
    r"(?:reduce|shorten|decrease|trim|truncate) (?:the |your )?(?:length|size|number|input|prompt|messages|context)"
)
UNITS = (
    r"characters?|chars?|unicode|字符|文字|bytes?|[kmg]i?b\b|images?|pictures?|files?|documents?|pages?|pdf|messages\b"
    r"|tools?\b|functions?\b|requests\b|items?|elements?|blocks?|entries|pixels?|px\b|seconds?|secs?\b|minutes?|hours?"
    r"|days?|times\b|%|percent|ms\b|s\b"
)
"""What a number may count that is not tokens."""


def pattern(words: str) -> re.Pattern[str]:
    """Any of these words, in lower-case text."""
    return re.compile(words, re.ASCII)
