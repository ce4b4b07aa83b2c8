"""Which parts of a text are credentials? They become [REDACTED]; everything else stays byte for byte.

Every kind of credential is a row: what stands *before* a hook, the *hook*, what comes *after*. The hook is a literal,
mostly one rare character: `re` jumps from hook to hook at over 1 GB/s, where a pattern that may start anywhere reads
15 MB/s, and every text that leaves the window passes here. Rows with the same hook share one scan.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from string import ascii_letters, digits
from typing import NamedTuple

PLACEHOLDER = "[REDACTED]"


def redact(text: str) -> str:
    """The text without its credentials; the very same object when there are none.

    >>> redact("export DB_PASSWORD='correct-horse-7' MAX_TOKENS=65536")
    "export DB_PASSWORD='[REDACTED]' MAX_TOKENS=65536"
    """
    while (cleaner := _redact_once(text)) != text:  # until nothing is found: redacting twice changes nothing
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
    for hook, pattern in _scans():
        if hook not in text:
            continue
        at = 0
        while found := pattern.search(text, at):
            at = found.start() + 1  # a refused match may hide another one
            number = str(found.lastgroup).removeprefix("secret")  # a secret is the last group of every row
            head, start = found.start("head" + number), found.start("secret" + number)
            value = found["secret" + number].rstrip(".:")  # the end of a sentence is not the end of a password
            if not _ROWS[int(number)].believe(Sighting(text, found.start(), found["gap" + number], value)):
                continue
            rest = _REST.match(text, start + len(value)) if len(value) >= _BOUND else None
            at = rest.end() if rest else start + len(value)
            yield head, at


class Sighting(NamedTuple):
    """A place that has the form of a credential. Whether it is one, its row's `believe` decides."""

    text: str
    hook: int
    """Where the hook stands in the text."""
    gap: str
    """What stands between a name and its value: `=`, `": "`, ` is `. Empty where no name is needed."""
    value: str

    @property
    def name(self) -> str:
        """The whole name around the hook, with one sign before it: `?access_token` around the `k`."""
        start = _NAME_START.search(self.text, max(0, self.hook - 40), self.hook)
        end = _NAME_END.match(self.text, self.hook)
        return (start[0] if start else "") + (end[0] if end else "")

    @property
    def literal(self) -> bool:
        """Can only be a value, never an expression: quoted, NAME=value, NAME: value, --name=value, ?name=value."""
        if self.gap.endswith(('"', "'", "`", ">")):
            return True
        if self.gap == ": ":
            return self.name.isupper() and self.value.islower()
        return self.gap == "=" and (self.name.isupper() or self.name.startswith(("--", "?", "&", ";")))

    @property
    def named(self) -> bool:
        """`--token abc` names its value; `the token abc` does not."""
        return (
            not self.gap.isspace()
            or self.name.startswith("--")
            or bool(_NETRC.search(self.text, max(0, self.hook - 80), self.hook))
        )


_NAME_START = re.compile(r"(?<!\\)[?&;]?[\w.-]*\Z")  # the n of an escaped newline is no part of a name
_NAME_END = re.compile(r"[\w-]{0,20}")
_NETRC = re.compile(r"login[ \t]+\S{1,40}\s+[Pp]ass\Z")

# --- Is this value a secret? Each answer errs on its own side: a place that can hold nothing else needs less proof. ---


def _chosen(seen: Sighting) -> bool:
    """Only a credential can stand here: whatever is not masked, a variable or a word like your-key."""
    return not _stands_for_another(seen.value)


def _random(seen: Sighting) -> bool:
    return _chosen(seen) and _looks_random(seen.value)


def _unbroken(seen: Sighting) -> bool:
    """`sk-` also opens names of CSS classes, sk-folding-cube-animation; a key is one long word or random."""
    return _chosen(seen) and (seen.value[:20].isalnum() or _looks_random(seen.value))


def _bearer(seen: Sighting) -> bool:
    """`Bearer authentication` is prose."""
    value = seen.value
    return (
        _chosen(seen) and not _TECHNICAL.fullmatch(value) and (_mixed(value) or (len(value) >= 16 and value.isalnum()))
    )


def _cookie(seen: Sighting) -> bool:
    """theme=dark is no secret."""
    values = [value for _, _, value in (pair.partition("=") for pair in seen.value.split(";"))]
    return _chosen(seen) and any(_looks_random(v) or (len(v) >= 16 and v.isalnum()) for v in values)


def _private_key(seen: Sighting) -> bool:
    """Source code that looks for the marks has no such line between them."""
    return bool(_KEY_LINE.search(seen.value))


def _option(seen: Sighting) -> bool:
    """`-u name:word` is a password for curl, an owner for docker; `-p` is one for mysql, a folder for mkdir."""
    command, option = seen.text[max(0, seen.hook - 300) : seen.hook], seen.text[seen.hook + 1 : seen.hook + 3]
    if option[0] != "p":
        return "curl" in command and _chosen(seen)
    asks = option == "p " and "mysql" in command  # mysql -p app: asks for the password, app is the database
    return ("mysql" in command or "sshpass" in command) and not asks and _chosen(seen)


def _password(seen: Sighting) -> bool:
    """People choose words; where code could stand as well, only a word with a digit is believed."""
    value = seen.value
    if len(value) < 6 or not _chosen(seen) or not seen.named or _TECHNICAL.fullmatch(value):
        return False
    if "," in seen.gap:  # ["password", "username"] as often as a name and its value
        return _looks_random(value)
    return seen.literal or (_mixed(value) and not _MENTIONS.search(value))


def _token(seen: Sighting) -> bool:
    """Machines choose tokens: they look random, or at least mix letters and digits."""
    value = seen.value
    if len(value) < 6 or not _chosen(seen):
        return False
    if _looks_random(value):
        believable = seen.literal or not _MENTIONS.search(value) or _looks_random(value, often=4)
    elif seen.gap.isspace():
        believable = _mixed(value)
    else:
        believable = _mixed(value) and seen.literal and not _NUMBERED_WORDS.fullmatch(value)
    return believable and seen.named and not _NO_CREDENTIAL.search(seen.name)


def _secret(seen: Sighting) -> bool:
    """A machine's token or a person's word; but secret: db-credentials is the name of one."""
    word = seen.literal and seen.value.isalpha() and len(seen.value) >= 8 and "," not in seen.gap
    return _token(seen) or (word and _chosen(seen))


def _key(seen: Sighting) -> bool:
    """Most keys open nothing: cache_key, primary_key. api_key does; STRIPE_KEY=… and ?key=… may, if it is random."""
    if _CREDENTIAL_KEY.search(seen.text, max(0, seen.hook - 20), seen.hook + 3):
        return _token(seen)
    may = seen.gap == "=" and (seen.name.isupper() or seen.name in ("?key", "&key"))
    return may and len(seen.value) >= 16 and _random(seen)


def _stands_for_another(value: str) -> bool:
    value = value[:_ENOUGH]
    masked = any(mask in value for mask in _MASKS)
    return masked or bool(_REFERENCE.match(value) or _PLACEHOLDER_WORDS.fullmatch(value))


def _looks_random(value: str, often: int = 6) -> bool:
    """Letters and digits change places more often than in words, numbers and camelCase: every six characters."""
    if _UUID.match(value):
        return True
    classes = value[:_ENOUGH].translate(_CLASSES)
    small, capital, digit = (classes.count(c) for c in "aA0")
    size = small + capital + digit
    if not digit:
        return size >= 20 and 4 * min(small, capital) >= size
    changes = sum(classes.count(change) for change in ("aA", "a0", "A0", "0a", "0A"))  # not Aa: a Capital costs one
    return size >= 8 and changes >= 3 and changes * often >= size


def _mixed(value: str) -> bool:
    classes = value.translate(_CLASSES)
    return "0" in classes and ("a" in classes or "A" in classes)


_ENOUGH = 80  # characters of a value tell what it is
_CLASSES = str.maketrans(ascii_letters + digits, "a" * 26 + "A" * 26 + "0" * 10)
_MASKS = ("***", "xxxx", "XXXX", "...", "…", "•", r"\u2026", r"\u2022", "redacted", "Redacted", "REDACTED")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{24}")
_REFERENCE = re.compile(
    r"[#\\]|\$[\w{(]|%[\w(]+[%s)]|[{<\[(]|\w+://|arn:|(?:~|\.{1,2})?/(?:[a-z]{2,}|\.)[a-z]*(?:[/._-]|$)|[A-Za-z]:\\"
    r"|(?:os|process|env|environ|secrets?|vars|vault|self|this|config|settings|args|opts|options|import|data|file)[.:\[]",
    re.IGNORECASE,
)
_WORD = (
    r"(?:your\w*|my|the|a|an|some|test|testing|fake|dummy|mock|example|sample|demo|placeholder|change|changeme|me|replace"
    r"|insert|enter|put|here|todo|tbd|foo|bar|baz|password|passwd|passphrase|pass|pwd|pw|secrets?|tokens?|keys?|api|access"
    r"|auth|user|username|login|email|value|string|str|bytes|text|none|null|nil|true|false|undefined|required|optional"
    r"|missing|invalid|wrong|incorrect|hidden|default|empty|unset|not|set|int|integer|number|bool|boolean|any|object|basic"
    r"|bearer|bot|client|db|database|new|old|current|confirm|reset|forgot|expired|id|name|field|input|type|is|of|for|in"
    r"|and|or|private|public|session|cookie|signing|x{3,})"
)
_PLACEHOLDER_WORDS = re.compile(rf"{_WORD}(?:[-_. /]{_WORD})*[?!]?", re.IGNORECASE)
_NUMBERED_WORDS = re.compile(r"(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[-_.:/][A-Za-z]+\d{0,3}|[-_.:/]\d{1,4})*")
_TECHNICAL = re.compile(
    r"(?:base|sha|md|hs|rs|es|aes|ed|utf|ipv|u?int|float|oauth|x|pkcs|argon|http|v)-?\d{1,5}[a-z]{0,4}", re.IGNORECASE
)
_MENTIONS = re.compile(  # the name of a variable that holds one; but not monkey
    r"(?i:token|secret|passw|cred)|(?<![a-z])(?:key|auth|user|pwd)|Key|Auth|User|Pwd|KEY|AUTH|USER|PWD"
)
_NO_CREDENTIAL = re.compile(
    r"(?:page|next|continuation|cursor|sync|resume|eos|bos|pad|unk|sep|cls|mask|stop|special|cancell?ation|syntax|start"
    r"|end|design|current|prev|previous|last|image|audio)[_-]?token\d*\Z",
    re.IGNORECASE,
)
_CREDENTIAL_KEY = re.compile(
    r"(?:api|access|secret|private|auth|authorization|authentication|encryption|crypt|signing|signature|account|master"
    r"|service|role|admin|app|application|client|consumer|shared|storage|deploy|webhook|hmac|jwt|subscription|functions?"
    r"|host|anon|openai|anthropic)[_\-. ]?key\Z",
    re.IGNORECASE,
)

# --- The rows ---------------------------------------------------------------------------------------------------------

_BOUND = 255  # no value is read further before it is believed, so that a text of nothing but hooks stays linear
_REST = re.compile(r"(?:[A-Za-z0-9_+/=]|-(?!-))*")

_BASE62 = r"[A-Za-z0-9]"
_BASE64URL = r"[A-Za-z0-9_\-]"
_HEX = r"[0-9a-f]"


class Row(NamedTuple):
    kind: str
    before: str
    """Pattern for what stands left of the hook; every alternative has one width."""
    hook: str
    after: str
    """Pattern for what follows the hook. Its group `secret` goes; without one everything goes, from `before` on."""
    believe: Callable[[Sighting], bool] = _chosen


# The text between a name and its value, then the value. Quotes also as in JSON in JSON: \" and \\\".
_ASSIGNED = (
    r"(?i:[_-]?(?:\d{1,2}|prod|production|dev|staging|test|live|main|old|new|value|string|raw|plain|base|base64|b64))?"
    r"(?P<gap>(?:\\*[\"'`])?\]?"
    r"(?:[ \t]?:[ \t]?[&\w'|\[\]<>.]{2,24}[ \t]?=[ \t]?(?=[\"'])"  # name: str = "
    r"|[ \t]{0,8}(?:=>|:=|=(?![=~>])|:(?![:=]))[ \t]{0,8}"  # NAME=, "name": , name := , name =>
    r"|[ \t]?,[ \t]?(?=\\*[\"'`])"  # ("name", "
    r"|[ \t]{1,4}(?:(?:is|was)[ \t:]{1,3})?(?=[\"']?(?:\S{0,40}\d|\S{20}))"  # --name 1a2b, name is 1a2b
    r"|>(?=[^<>\s]{4,200}</))"  # <name>1a2b</name>
    r"(?:[bru]{1,2}(?=[\"']))?(?P<quote>\\*[\"'`])?)"
    rf"(?P<secret>(?(quote)(?:(?!(?P=quote))\S){{1,{_BOUND}}}+(?!\s)|[^\s\"'`,;&<>(){{}}|\\]{{1,{_BOUND}}}+(?!\()))"
)
_PEM_BODY = (
    r"(?:(?:[^-]|-(?!----)){1,16384}+(?=-----END)"  # an 8192-bit RSA key is 6.4 kB
    r"|(?:\s*[A-Z][\w-]+: [^\n]{1,80}){0,4}"  # or END was cut off: as many lines as look like one
    r"(?:(?:\\[nr]|\s|\d+[\t→|:]|[+>|-])*+[A-Za-z0-9+/=]{24,}+)+)"
)
_HEADER = r"(?i:ation)(?:\\*[\"'])?\]?[ \t]*[:=,][ \t]*(?:\\*[\"'])?"
_SCHEME = r"(?i:bearer|basic|token|digest|apikey|api-key|bot)[ \t]+"
_CREDENTIALS = rf"(?P<secret>[^\s\"'`\\,;(){{}}]{{6,{_BOUND}}}+(?!\())"
_COOKIES = r"ie(?:\\*[\"'])?\]?[ \t]*[:=,]?[ \t]*(?:\\*[\"'])?(?P<secret>[\w.\-]{1,64}=[^\"'`\\\n]{6,2048})"
_OPTION = (
    r"(?:(?:u|-user|-proxy-user)[ =]?[\"']?[^\s:\"'$]{1,64}:|p ?[\"']?)"
    rf"(?P<secret>[^\s\"'`]{{3,{_BOUND}}})"
)

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
    Row("Anthropic, OpenAI, OpenRouter", r"sk", "-", rf"(?:ant|proj|svcacct|or|lf)-{_BASE64URL}{{20,{_BOUND}}}"),
    Row("OpenAI, DeepSeek", r"sk", "-", rf"{_BASE64URL}{{20,{_BOUND}}}", _unbroken),
    Row("Cerebras", r"csk", "-", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("GitLab", r"glpat|glptt|gldt|glrt|glcbt|glsoat|glft|glimt|glagent", "-", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Slack", r"xox[abeoprs]", "-", rf"(?=[\w-]*\d){_BASE64URL}{{10,{_BOUND}}}"),
    Row("Slack app", r"xapp", "-", rf"\d-{_BASE64URL}{{20,{_BOUND}}}"),
    Row("PyPI", r"pypi", "-", rf"{_BASE64URL}{{50,{_BOUND}}}"),
    Row("xAI", r"xai", "-", rf"{_BASE62}{{40,{_BOUND}}}"),
    Row("Tavily", r"tvly", "-", rf"{_BASE64URL}{{20,{_BOUND}}}", _unbroken),
    Row("NVIDIA", r"nvapi", "-", rf"{_BASE64URL}{{40,{_BOUND}}}"),
    Row("Perplexity", r"pplx", "-", rf"{_BASE62}{{30,{_BOUND}}}"),
    Row("Firecrawl", r"(?<![_-])fc", "-", rf"{_HEX}{{32}}"),
    Row("Mailgun", r"(?<![_-])key", "-", rf"{_HEX}{{32}}"),
    Row("Google OAuth client", r"GOCSPX", "-", rf"{_BASE64URL}{{20,{_BOUND}}}"),
    Row("Square", r"sq0atp|sq0csp", "-", rf"{_BASE64URL}{{22,{_BOUND}}}"),
    Row("Postman", r"PMAK", "-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    Row("New Relic", r"NRAK", "-", r"[A-Z0-9]{27}"),
    Row("Pulumi", r"(?<![_-])pul", "-", rf"{_HEX}{{40}}"),
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
    Row(
        "Slack webhook", r"hoo", "k", rf"s\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9_/]{{20,{_BOUND}}})"
    ),
    Row("Discord webhook", r"webhoo", "k", rf"s/\d{{15,21}}/(?P<secret>{_BASE64URL}{{40,{_BOUND}}})"),
    Row("private key", r"PRIVATE ", "K", rf"EY(?: BLOCK)?-----(?P<secret>{_PEM_BODY})", _private_key),
    Row("password in a URL", r"", ":", r"//[^\s/:@\"'`<>]{0,64}:(?P<secret>[^\s/\"'`<>]{1,200})@", _chosen),
    Row("token in a URL", r"", ":", rf"//(?P<secret>{_BASE64URL}{{20,200}})@", _random),
    Row(
        "signed URL",
        r"[?&;6]sig|[?&;6 ,-][Ss]ignature",
        "=",
        rf"(?P<secret>[A-Za-z0-9%+/_\-]{{16,{_BOUND}}}=*)",
        _random,
    ),
    Row("npmrc", r"_auth", "=", rf"(?P<secret>[A-Za-z0-9+/=_-]{{8,{_BOUND}}})", _random),
    Row("Authorization: scheme", r"[Aa]uthori", "z", _HEADER + _SCHEME + _CREDENTIALS, _bearer),
    Row("Authorization", r"[Aa]uthori", "z", _HEADER + _CREDENTIALS, _random),
    Row("bearer", r"", "B", rf"earer[ \t]+(?P<secret>[A-Za-z0-9_\-.~+/=]{{8,{_BOUND}}})", _bearer),
    Row("basic", r"", "B", rf"asic[ \t]+(?P<secret>[A-Za-z0-9+/]{{8,{_BOUND}}}={{0,2}})", _random),
    Row("cookie", r"[Cc]oo", "k", _COOKIES, _cookie),
    Row("curl -u, mysql -p", r" ", "-", _OPTION, _option),
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
_GLANCE = {  # at the neighbours of a hook, which refuses most hooks before any row is tried
    ":": r"(?=[/A])",
    "=": r"(?<=[gelhsS]=)",
    "k": r"(?=e[ny]|ie|s[./])",
    "w": r"(?=[od])",
    "S": r"(?=[GIE]|(?<=AES))",
}
_GLANCE_AT_KEY = {"_": rf"(?={_BASE62}{{4}}{_BASE64URL}{{12}})", "-": rf"(?<=[A-Za-z]-)(?={_BASE64URL}{{16}})"}


def _pattern(number: int, row: Row) -> str:
    """The row as one alternative of its scan, with three groups: what goes starts at head; gap; secret."""
    left = row.before + re.escape(row.hook)
    pattern = rf"(?<={left})" if row.before else ""
    if "(?P<secret>" in row.after:
        pattern += row.after.replace("(?P<secret>", "(?P<head>)(?P<secret>")
    else:
        pattern += rf"(?<={_FREE}(?P<head>{left}))(?P<secret>{row.after})"
    if "(?P<gap>" not in pattern:
        pattern = "(?P<gap>)" + pattern
    return re.sub(r"(?<=\(\?P[<=])\w+|(?<=\(\?\()\w+", rf"\g<0>{number}", pattern)


@cache  # on the first text, not on import: to compile them takes 70 ms
def _scans() -> list[tuple[str, re.Pattern[str]]]:
    return [(hook, _scan(hook)) for hook in dict.fromkeys(row.hook for row in _ROWS)]


def _scan(hook: str) -> re.Pattern[str]:
    rows = [(number, row) for number, row in enumerate(_ROWS) if row.hook == hook]
    placed = [_pattern(number, row) for number, row in rows if "(?P<secret>" in row.after]
    keys = [_pattern(number, row) for number, row in rows if "(?P<secret>" not in row.after]
    if keys:
        placed.append(_GLANCE_AT_KEY.get(hook, "") + f"(?:{'|'.join(keys)})")
    return re.compile(f"{re.escape(hook)}{_GLANCE.get(hook, '')}(?:{'|'.join(placed)})")


_ROWS = [row._replace(before=before) for row in _TABLE for before in row.before.split("|")]  # `(?<=…)` has one width
