"""Which parts of a text are credentials? They become [REDACTED]; everything else stays byte for byte.

Every kind of credential is a row: what stands *before* a hook, the *hook*, what comes *after*. The hook is a literal,
mostly one rare character: `re` jumps from hook to hook at over 1 GB/s, where a pattern that may start anywhere reads
15 MB/s, and every text that leaves the window passes here. Rows with the same hook share one scan.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

PLACEHOLDER = "[REDACTED]"


def redact(text: str) -> str:
    """The text without its credentials; the very same object when there are none."""
    while (cleaner := _redact_once(text)) is not text:  # until nothing is found: redacting twice changes nothing
        text = cleaner
    return text


def _redact_once(text: str) -> str:
    kept, end = [], 0
    for start, stop in sorted(_credentials(text)):
        if start >= end:
            kept += [text[end:start], PLACEHOLDER]
        end = max(end, stop)  # two rows may see the same credential: their union goes
    return "".join([*kept, text[end:]]) if kept else text


def _credentials(text: str) -> Iterator[tuple[int, int]]:
    for hook, pattern in _SCANS:
        if hook not in text:
            continue
        at = 0
        while found := pattern.search(text, at):
            at = found.start() + 1  # a refused match may hide another one
            number = found.lastgroup.removeprefix("secret") if found.lastgroup else ""
            row = _ROWS[int(number)]
            value = found["secret" + number].rstrip(".:")  # the end of a sentence is not part of a password
            gap = found["gap" + number] if row.named else ""
            if not row.believe(Sighting(text, found.start(), gap, value)):
                continue
            start = found.start(("secret" if row.kept else "head") + number)
            stop = found.start("secret" + number) + len(value)
            if len(value) >= _BOUND:
                stop = _REST.match(text, stop).end()  # type: ignore[union-attr]  # `*` always matches
            yield start, stop
            at = max(at, stop)


class Sighting(NamedTuple):
    """A place that has the form of a credential. Whether it is one, a row's `believe` decides."""

    text: str
    hook: int
    """Where the hook stands in the text."""
    gap: str
    """What stands between a name and its value: `=`, `": "`, ` is `."""
    value: str

    @property
    def name(self) -> str:
        """The whole name around the hook, with one sign before it: `?access_token` around the `k`."""
        return _NAME_START.search(self.text, max(0, self.hook - 40), self.hook)[0] + _NAME_END.match(self.text, self.hook)[0]

    @property
    def literal(self) -> bool:
        """Can only be a value, not an expression: quoted, or NAME=value, or --name=value, or ?name=value."""
        if self.gap.endswith(('"', "'", "`", ">")):
            return True
        name = self.name
        return self.gap == "=" and (name.isupper() or name.startswith(("--", "?", "&", ";")))


# --- Is this value a secret? ------------------------------------------------------------------------------------------

_MASKED = re.compile(r"\*{3}|x{4}|\.{3}|…|•|\[redacted|redacted\b", re.IGNORECASE)
_REFERENCE = re.compile(
    r"#|\$[\w{(]|%[\w(]+[%s)]|[{<\[(]|\w+://|arn:|(?:~|\.{1,2})?/(?:[a-z]{2,}|\.)[a-z]*(?:[/._-]|$)|[A-Za-z]:\\"
    r"|(?:os|process|env|environ|secrets?|vars|vault|self|this|config|settings|args|opts|options|import|data|file)[.:\[]",
    re.IGNORECASE,
)
_WORD = (
    r"(?:your\w*|my|the|a|an|some|test|testing|fake|dummy|mock|example|sample|demo|placeholder|change|changeme|me|replace"
    r"|insert|enter|put|here|todo|tbd|foo|bar|baz|password|passwd|passphrase|pass|pwd|pw|secrets?|tokens?|keys?|api|access"
    r"|auth|user|username|login|email|value|string|str|bytes|text|none|null|nil|true|false|undefined|required|optional"
    r"|missing|invalid|wrong|incorrect|hidden|default|empty|unset|not|set|int|integer|number|bool|boolean|any|object|basic"
    r"|bearer|client|db|database|new|old|current|confirm|reset|forgot|expired|id|name|field|input|type|is|of|for|in|and"
    r"|or|private|public|session|cookie|signing|x{3,})"
)
_NAME_START = re.compile(r"(?<!\\)[?&;]?[\w.-]*\Z")  # the n of an escaped newline is no part of a name
_NAME_END = re.compile(r"[\w-]{0,20}")
_PLACEHOLDER_WORDS = re.compile(rf"{_WORD}(?:[-_. /]{_WORD})*[?!]?", re.IGNORECASE)
_TECHNICAL = re.compile(
    r"(?:base|sha|md|hs|rs|es|aes|ed|utf|ipv|u?int|float|oauth|x|pkcs|argon|http|v)-?\d{1,5}[a-z]{0,4}", re.IGNORECASE
)
_NUMBERED_WORDS = re.compile(r"(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[-_.:/][A-Za-z]+\d{0,3}|[-_.:/]\d{1,4})*")
_MENTIONS = re.compile(
    r"(?i:token|secret|passw|cred)|(?<![a-z])(?:key|auth|user|pwd)|Key|Auth|User|Pwd|KEY|AUTH|USER|PWD"
)
_CHANGE = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[0-9])[A-Za-z]")
_ALNUM = re.compile(r"[A-Za-z0-9]")
_HAS_DIGIT = re.compile(r"\d")
_HAS_LETTER = re.compile(r"[A-Za-z]")


def _looks_random(value: str) -> bool:
    """Letters and digits change places too often for a word, a number or a camelCase name."""
    value = value[:128]
    size, changes = len(_ALNUM.findall(value)), len(_CHANGE.findall(value))
    if _HAS_DIGIT.search(value):
        return size >= 8 and changes >= 3 and changes * 6 >= size
    return size >= 20 and changes * 5 >= size


def _no_secret(value: str) -> bool:
    return bool(_MASKED.search(value) or _REFERENCE.match(value) or _PLACEHOLDER_WORDS.fullmatch(value))


def _anything(_: Sighting) -> bool:
    return True


def _unmasked(seen: Sighting) -> bool:
    return not _MASKED.search(seen.value)


def _random(seen: Sighting) -> bool:
    return not _MASKED.search(seen.value) and _looks_random(seen.value)


def _unbroken_or_random(seen: Sighting) -> bool:
    """`sk-` also opens names of CSS classes: sk-folding-cube-animation."""
    return not _MASKED.search(seen.value) and (seen.value[:20].isalnum() or _looks_random(seen.value))


def _chosen(seen: Sighting) -> bool:
    """In a place where only a password can stand: whatever is no placeholder."""
    return not _no_secret(seen.value)


def _password(seen: Sighting) -> bool:
    value = seen.value
    if _no_secret(value) or _TECHNICAL.fullmatch(value) or len(value) < 6:
        return False
    if value.isdigit():
        return seen.literal and len(value) >= 6
    if "," in seen.gap:  # a list of words as often as a name and its value
        return _looks_random(value)
    if seen.literal:
        return True
    if seen.gap.isspace() and not (seen.name.startswith("--") or _NETRC.search(seen.text, seen.hook - 80, seen.hook)):
        return False
    return bool(_HAS_DIGIT.search(value) and _HAS_LETTER.search(value)) and not _MENTIONS.search(value)


def _token(seen: Sighting) -> bool:
    value = seen.value
    if len(value) < 6 or _no_secret(value) or _NO_CREDENTIAL_NAME.search(seen.name):
        return False
    flag = seen.name.startswith("--")
    if seen.gap.isspace() and not flag:
        return False
    if _looks_random(value):
        return seen.literal or not _MENTIONS.search(value)
    if _NUMBERED_WORDS.fullmatch(value) and not (flag and value.isalnum()):
        return False
    return (seen.literal or flag) and bool(_HAS_DIGIT.search(value) and _HAS_LETTER.search(value))


def _secret(seen: Sighting) -> bool:
    if _token(seen):
        return True
    chosen = seen.literal and "," not in seen.gap and len(seen.value) >= 8 and seen.value.isalpha()
    return chosen and not _no_secret(seen.value)


def _key(seen: Sighting) -> bool:
    """Most keys open nothing: cache_key, primary_key. `api key` does; so may STRIPE_KEY=… and ?key=…, if it is random."""
    if _CREDENTIAL_KEY.search(seen.text, max(0, seen.hook - 20), seen.hook + 3):
        return _token(seen)
    name = seen.name
    return (name.isupper() or name in ("?key", "&key")) and seen.gap == "=" and len(seen.value) >= 16 and _token(seen) and _looks_random(seen.value)


def _scheme_value(seen: Sighting) -> bool:
    value = seen.value
    return not _no_secret(value) and (
        _looks_random(value) or (len(value) >= 16 and value.isalnum()) or bool(_HAS_DIGIT.search(value))
    )


def _cookie(seen: Sighting) -> bool:
    return not _MASKED.search(seen.value) and any(
        _looks_random(pair) or (len(pair) >= 16 and pair.isalnum()) for pair in _COOKIE_VALUE.findall(seen.value)
    )


def _private_key(seen: Sighting) -> bool:
    return bool(_KEY_LINE.search(seen.value))


_NO_CREDENTIAL_NAME = re.compile(
    r"(?:page|next|continuation|cursor|sync|resume|eos|bos|pad|unk|sep|cls|mask|stop|special|cancell?ation|syntax|start"
    r"|end|design|current|prev|previous|last|image|audio)[_-]?token\d*$",
    re.IGNORECASE,
)
_CREDENTIAL_KEY = re.compile(
    r"(?:api|access|secret|private|auth|authorization|authentication|encryption|crypt|signing|signature|account|master"
    r"|service|role|admin|app|application|client|consumer|shared|storage|deploy|webhook|hmac|jwt|subscription|functions?"
    r"|host|anon|openai|anthropic)[_\-. ]?key\Z",
    re.IGNORECASE,
)
_NETRC = re.compile(r"login[ \t]+\S{1,40}\s+[Pp]ass\Z")
_COOKIE_VALUE = re.compile(r"=([^;\s]*)")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{24}")

# --- The rows ---------------------------------------------------------------------------------------------------------

_BOUND = 255  # no value is read further before it is believed, so that a text of nothing but hooks stays linear
_REST = re.compile(r"[A-Za-z0-9_\-+/=]*")

_BASE62 = r"[A-Za-z0-9]"
_BASE64URL = r"[A-Za-z0-9_\-]"
_HEX = r"[0-9a-f]"


class Row(NamedTuple):
    kind: str
    before: str
    """Pattern of fixed width for what stands left of the hook."""
    hook: str
    after: str
    """Pattern for what follows the hook. Its group `secret` goes; without one all goes, from `before` on."""
    believe: Callable[[Sighting], bool] = _unmasked

    @property
    def kept(self) -> bool:
        return "(?P<secret>" in self.after

    @property
    def named(self) -> bool:
        return "(?P<gap>" in self.after


# The text between a name and its value, then the value. Quotes also as in JSON in JSON: \" and \\\".
_ASSIGNED = (
    r"(?i:[_-]?(?:\d{1,2}|prod|production|dev|staging|test|live|main|old|new|value|string|raw|plain|base|base64|b64))?"
    r"(?P<gap>(?:\\*[\"'`])?\]?"
    r"(?:[ \t]?:[ \t]?[&\w'|\[\]<>.]{2,24}[ \t]?=[ \t]?(?=[\"'])"  # name: str = "
    r"|[ \t]{0,8}(?:=>|:=|=(?![=~>])|:(?![:=]))[ \t]{0,8}"  # NAME=, "name": , name := , name =>
    r"|[ \t]?,[ \t]?(?=\\*[\"'`])"  # ("name", "
    r"|[ \t]{1,4}(?:(?:is|was)[ \t:]{1,3})?(?=[\"']?\S{0,40}\d)"  # --name 1a2b, name is 1a2b
    r"|>(?=[^<>\s]{4,200}</))"  # <name>1a2b</name>
    r"(?:[bru]{1,2}(?=[\"']))?(?:\\*(?P<quote>[\"'`]))?)"
    rf"(?P<secret>(?(quote)(?:(?!(?P=quote))[^\s\\]){{1,{_BOUND}}}+(?=\\*(?P=quote)|\Z)"
    rf"|[^\s\"'`,;&<>(){{}}|\\]{{1,{_BOUND}}}+(?!\()))"
)
_PEM_BODY = (
    r"(?:(?:[^-]|-(?!----)){1,16384}+(?=-----END)"  # an 8192-bit RSA key is 6.4 kB
    r"|(?:(?:\\[nr]|\s|\d+[\t→|:]|[+>|-])*+[A-Za-z0-9+/=]{24,}+)+(?:\\n|\s)*[A-Za-z0-9+/=]*)"  # its END was cut off
)
_HEADER = (
    r"(?i:ation)(?:\\*[\"'])?\]?[ \t]*[:=,][ \t]*(?:\\*[\"'])?"
    rf"(?i:(?:bearer|basic|token|digest|apikey|api-key|bot)[ \t]+)?(?P<secret>[^\s\"'`\\,;(){{}}]{{6,{_BOUND}}}+(?!\())"
)
_COOKIES = (
    r"ie(?:\\*[\"'])?\]?[ \t]*[:=,]?[ \t]*(?:\\*[\"'])?"
    r"(?P<secret>[\w.\-]{1,64}=[^\"'`\\\n]{6,4096})"
)
_LINE = r"(?:[^\n|]|(?<=\\)\n){0,300}?"  # the rest of a command, up to the option
_ARGUMENT = rf"(?P<secret>[^\s\"'`]{{3,{_BOUND}}})"

_TABLE = (
    # Keys that say by their first letters whose they are. Nothing is kept.
    Row("GitHub", r"gh[pousr]", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("GitHub fine-grained", r"github_pat", "_", rf"{_BASE62}{{16,40}}_?{_BASE62}{{16,{_BOUND}}}"),
    Row("Stripe", r"[sr]k_live|[sr]k_test", "_", rf"{_BASE62}{{16,{_BOUND}}}"),
    Row("Stripe webhook", r"whsec", "_", rf"[A-Za-z0-9+/=]{{24,{_BOUND}}}"),
    Row("npm", r"npm", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Hugging Face", r"hf", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Hugging Face org", r"api_org", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Groq", r"gsk", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Replicate", r"r8", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Linear", r"lin_api|lin_oauth", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("DigitalOcean", r"do[opr]_v1", "_", rf"{_HEX}{{40,{_BOUND}}}"),
    Row("Shopify", r"shpat|shpca|shppa|shpss", "_", r"[0-9a-fA-F]{32}"),
    Row("Together", r"tgp_v1", "_", rf"{_BASE64URL}{{30,{_BOUND}}}"),
    Row("Fireworks", r"fw", "_", rf"{_BASE62}{{20,{_BOUND}}}", _random),
    Row("Jina", r"jina", "_", rf"{_BASE64URL}{{40,{_BOUND}}}"),
    Row("E2B", r"e2b", "_", rf"{_HEX}{{40}}"),
    Row("Pinecone", r"pcsk", "_", rf"{_BASE62}{{4,}}_{_BASE62}{{40,{_BOUND}}}"),
    Row("LangSmith", r"lsv2_pt|lsv2_sk", "_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    Row("Notion", r"secret", "_", rf"{_BASE62}{{43}}"),
    Row("Notion", r"ntn", "_", rf"{_BASE62}{{40,{_BOUND}}}"),
    Row("Figma", r"fig[du]", "_", rf"{_BASE64URL}{{40,{_BOUND}}}"),
    Row("Docker Hub", r"dckr_[po]at", "_", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Supabase", r"sbp", "_", rf"{_HEX}{{40}}"),
    Row("Supabase secret", r"sb_secret", "_", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Grafana", r"glsa|glc", "_", rf"[A-Za-z0-9+/=_]{{30,{_BOUND}}}"),
    Row("Sentry", r"sntry[su]", "_", rf"[A-Za-z0-9+/=_]{{40,{_BOUND}}}"),
    Row("PostHog", r"phx", "_", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("RubyGems", r"rubygems", "_", rf"{_HEX}{{48}}"),
    Row("OpenAI, Anthropic, OpenRouter", r"sk", "-", rf"{_BASE64URL}{{20,{_BOUND}}}", _unbroken_or_random),
    Row("Cerebras", r"csk", "-", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("GitLab", r"glpat|glptt|gldt|glrt|glcbt|glsoat|glft|glimt|glagent", "-", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Slack", r"xox[abeoprs]", "-", rf"{_BASE64URL}{{10,{_BOUND}}}"),
    Row("Slack app", r"xapp", "-", rf"\d-{_BASE64URL}{{20,{_BOUND}}}"),
    Row("PyPI", r"pypi", "-", rf"{_BASE64URL}{{50,{_BOUND}}}"),
    Row("xAI", r"xai", "-", rf"{_BASE62}{{40,{_BOUND}}}"),
    Row("Tavily", r"tvly", "-", rf"{_BASE64URL}{{20,{_BOUND}}}", _unbroken_or_random),
    Row("NVIDIA", r"nvapi", "-", rf"{_BASE64URL}{{40,{_BOUND}}}"),
    Row("Perplexity", r"pplx", "-", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Firecrawl", r"fc", "-", rf"{_HEX}{{32}}"),
    Row("Mailgun", r"key", "-", rf"{_HEX}{{32}}"),
    Row("Google OAuth client", r"GOCSPX", "-", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Square", r"sq0atp|sq0csp", "-", rf"{_BASE64URL}{{22,{_BOUND}}}"),
    Row("Postman", r"PMAK", "-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    Row("New Relic", r"NRAK", "-", r"[A-Z0-9]{27}"),
    Row("Pulumi", r"pul", "-", rf"{_HEX}{{40}}"),
    Row("age", r"AGE-SECRET-KEY", "-", r"1[A-Z0-9]{58}"),
    Row("SendGrid", r"", "S", rf"G\.{_BASE64URL}{{16,32}}\.{_BASE64URL}{{30,{_BOUND}}}"),
    Row("Vault", r"hv[bsr]\.CAE", "S", rf"{_BASE64URL}{{24,{_BOUND}}}"),
    Row("AWS key id", r"A", "K", r"IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Row("AWS key id", r"A", "S", r"IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Row("AWS Bedrock", r"ABS", "K", r"[A-Za-z0-9+/=]{60,255}"),
    Row("Twilio", r"S", "K", rf"{_HEX}{{32}}(?![A-Za-z0-9])"),
    Row("Google", r"AI", "z", rf"a{_BASE64URL}{{30,{_BOUND}}}"),
    Row("JWT", r"(?<![_\-])ey", "J", r"[\w-]{8,4096}+\.eyJ[\w-]{8,8192}+(?:\.[\w-]*)?"),
    Row("Azure AI", rf"{_BASE62}{{52}}", "J", rf"QQJ99{_BASE62}{{26}}"),
    Row("Azure app", r"[A-Za-z0-9_.\-]{3}\dQ", "~", r"[A-Za-z0-9_.~\-]{31,34}"),
    Row("Databricks", r"", "dapi", rf"{_HEX}{{32}}(?:-\d)?(?![A-Za-z0-9])"),
    Row("Firebase messaging", rf"AAAA{_BASE64URL}{{7}}", ":", rf"APA91b{_BASE64URL}{{60,{_BOUND}}}"),
    # Keys known by where they stand. Only the group `secret` goes.
    Row("Telegram bot", r"\d{8}", ":", rf"(?P<secret>AA{_BASE64URL}{{30,40}})"),
    Row("Slack webhook", r"hoo", "k", rf"s\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9_/]{{20,{_BOUND}}})"),
    Row("Discord webhook", r"webhoo", "k", rf"s/\d{{15,21}}/(?P<secret>{_BASE64URL}{{40,{_BOUND}}})"),
    Row("private key", r"PRIVATE ", "K", rf"EY(?: BLOCK)?-----(?P<secret>{_PEM_BODY})", _private_key),
    Row("password in a URL", r"", ":", r"//[^\s/:@\"'`<>]{0,64}:(?P<secret>[^\s/\"'`<>]{1,200})@", _chosen),
    Row("token in a URL", r"", ":", rf"//(?P<secret>{_BASE64URL}{{20,200}})@", _random),
    Row("signed URL", r"[?&;6]sig|[?&;6-][Ss]ignature", "=", rf"(?P<secret>[A-Za-z0-9%+/_\-]{{16,{_BOUND}}}=*)", _random),
    Row("signed URL", r"Amz-Credential|oog-Credential", "=", rf"(?P<secret>[A-Za-z0-9%+/_\-]{{16,{_BOUND}}})", _random),
    Row("npmrc", r"_auth", "=", rf"(?P<secret>[A-Za-z0-9+/=]{{8,{_BOUND}}})", _random),
    Row("Authorization", r"[Aa]uthori", "z", _HEADER, _scheme_value),
    Row("bearer", r"", "B", rf"earer[ \t]+(?P<secret>[A-Za-z0-9_\-.~+/=]{{8,{_BOUND}}})", _scheme_value),
    Row("basic", r"", "B", rf"asic[ \t]+(?P<secret>[A-Za-z0-9+/]{{8,{_BOUND}}}={{0,2}})", _random),
    Row("cookie", r"[Cc]oo", "k", _COOKIES, _cookie),
    Row("curl -u", r"", "curl", rf"{_LINE} (?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]{{1,64}}:{_ARGUMENT}", _chosen),
    Row("mysql -p", r"mys", "q", rf"l{_LINE} -p[\"']?{_ARGUMENT}", _chosen),
    Row("sshpass -p", r"", "sshpass", rf" -p ?[\"']?{_ARGUMENT}", _chosen),
    # Values whose name says that they are secret.
    Row("password", r"[Pp]ass", "w", rf"(?:or)?d{_ASSIGNED}", _password),
    Row("PASSWORD", r"PASS", "W", rf"(?:OR)?D{_ASSIGNED}", _password),
    Row("pwd", r"[Pp]", "w", rf"d{_ASSIGNED}", _password),
    Row("PWD", r"P", "W", rf"D{_ASSIGNED}", _password),
    Row("passphrase", r"", "assphrase", _ASSIGNED, _password),
    Row("PASS", r"_PASS|DBPASS", "=", rf"[\"']?(?P<secret>[^\s\"'`,;&<>(){{}}|\\]{{6,{_BOUND}}}+(?!\())", _chosen),
    Row("secret", r"[Ss]", "ecret", _ASSIGNED, _secret),
    Row("SECRET", r"", "S", rf"ECRET{_ASSIGNED}", _secret),
    Row("token", r"[Tt]o", "k", rf"en{_ASSIGNED}", _token),
    Row("TOKEN", r"TO", "K", rf"EN{_ASSIGNED}", _token),
    Row("key", r"", "k", rf"ey{_ASSIGNED}", _key),
    Row("KEY", r"", "K", rf"[eE][yY]{_ASSIGNED}", _key),
)

# --- How the rows become scans ----------------------------------------------------------------------------------------

_FREE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\\u00[0-9a-f]{2}))"  # no letter of a word before it
_GLANCE = {  # what a hook's neighbours must look like for any of its rows: refuses most hooks before a row is tried
    "_": rf"(?={_BASE62}{{4}}{_BASE64URL}{{12}})",
    "-": rf"(?<=[A-Za-z]-)(?={_BASE64URL}{{16}})",
    ":": r"(?=/|A)",
    "=": r"(?<=[gelhsS]=)",
    "k": r"(?=e[ny]|ie|s[./])",
    "w": r"(?=[od])",
    "S": r"(?=[GIE]|(?<=AES))",
}


def _pattern(number: int, row: Row) -> str:
    head = row.before + re.escape(row.hook)
    stands = rf"(?<={head})" if row.before else ""
    if row.kept:
        return stands + re.sub(r"(\(\?P[<=]|\(\?\()(\w+)", rf"\g<1>\g<2>{number}", row.after)
    return rf"{stands}(?<={_FREE}(?P<head{number}>{head}))(?P<secret{number}>{row.after})"


def _scan(hook: str) -> re.Pattern[str]:
    rows = "|".join(_pattern(number, row) for number, row in enumerate(_ROWS) if row.hook == hook)
    return re.compile(rf"{re.escape(hook)}{_GLANCE.get(hook, '')}(?:{rows})")


_ROWS = [row._replace(before=before) for row in _TABLE for before in row.before.split("|")]  # `(?<=…)` has one width
_SCANS = [(hook, _scan(hook)) for hook in dict.fromkeys(row.hook for row in _ROWS)]
