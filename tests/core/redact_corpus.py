"""What must go and what must stay: credentials made up at random, and lines that only look like some.

No credential stands here in one piece, so that scanners of the repository find none.
"""

import json
import random
import string
from collections.abc import Iterator

LETTERS = string.ascii_letters
BASE62 = string.ascii_letters + string.digits
BASE36 = string.ascii_lowercase + string.digits
UPPER36 = string.ascii_uppercase + string.digits
BASE64URL = BASE62 + "-_"
BASE64 = BASE62 + "+/"
HEX = "0123456789abcdef"


class Forge:
    """Makes credentials of the right form that open nothing."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, size: int, alphabet: str = BASE62) -> str:
        return "".join(self.random.choices(alphabet, k=size))

    def between(self, low: int, high: int, alphabet: str = BASE62) -> str:
        return self.some(self.random.randint(low, high), alphabet)

    def uuid(self) -> str:
        return "-".join(self.some(n, HEX) for n in (8, 4, 4, 4, 12))

    def password(self) -> str:
        """As people choose them: a word, some digits, perhaps a sign."""
        words = (
            "hunter",
            "letmein",
            "sommer",
            "Blue",
            "dragon",
            "Tr0ub",
            "qwerty",
            "monkey",
            "s3cr",
            "Winter",
            "Gi4nt",
        )
        return self.random.choice(words) + self.some(4, string.digits) + self.random.choice(("", "!", "#", "rX", "_z"))

    def jwt(self) -> str:
        return ".".join(("ey" + "J" + self.some(33), "ey" + "J" + self.some(90, BASE64URL), self.some(43, BASE64URL)))

    def pem_body(self, lines: int) -> str:
        return "\n".join(self.some(64, BASE64) for _ in range(lines))


def keys(forge: Forge) -> dict[str, str]:
    """One key of every provider whose keys can be told by their form."""
    some = forge.some
    return {
        "OpenAI": "sk" + "-" + some(48),
        "OpenAI project": "sk" + "-proj-" + some(120, BASE64URL),
        "OpenAI service account": "sk" + "-svcacct-" + some(80, BASE64URL),
        "Anthropic": "sk" + "-ant-api03-" + some(93, BASE64URL) + "AA",
        "Anthropic OAuth": "sk" + "-ant-oat01-" + some(93, BASE64URL) + "AA",
        "OpenRouter": "sk" + "-or-v1-" + some(64, HEX),
        "DeepSeek": "sk" + "-" + some(32, HEX),
        "Langfuse": "sk" + "-lf-" + forge.uuid(),
        "GitHub personal": "gh" + "p_" + some(36),
        "GitHub OAuth": "gh" + "o_" + some(36),
        "GitHub user": "gh" + "u_" + some(36),
        "GitHub server": "gh" + "s_" + some(36),
        "GitHub refresh": "gh" + "r_" + some(76),
        "GitHub fine-grained": "github" + "_pat_" + some(22) + "_" + some(59),
        "GitLab": "gl" + "pat-" + some(20),
        "GitLab runner": "gl" + "rt-" + some(20),
        "Slack bot": "xo" + "xb-" + some(12, string.digits) + "-" + some(12, string.digits) + "-" + some(24),
        "Slack user": "xo" + "xp-" + some(12, string.digits) + "-" + some(24),
        "Slack app": "xa" + "pp-1-A" + some(10, UPPER36) + "-" + some(13, string.digits) + "-" + some(64, HEX),
        "AWS key id": "AK" + "IA" + some(16, UPPER36),
        "AWS session key id": "AS" + "IA" + some(16, UPPER36),
        "Google": "AI" + "za" + some(35, BASE64URL),
        "Google OAuth client": "GO" + "CSPX-" + some(28, BASE64URL),
        "Stripe": "sk" + "_live_" + some(24),
        "Stripe restricted": "rk" + "_live_" + some(24),
        "Stripe test": "sk" + "_test_" + some(24),
        "Stripe webhook": "wh" + "sec_" + some(32),
        "npm": "np" + "m_" + some(36),
        "PyPI": "py" + "pi-AgEIcHlwaS5vcmc" + some(150, BASE64URL),
        "Hugging Face": "h" + "f_" + some(34, LETTERS),
        "Groq": "gs" + "k_" + some(52),
        "xAI": "xa" + "i-" + some(80),
        "SendGrid": "S" + "G." + some(22, BASE64URL) + "." + some(43, BASE64URL),
        "Twilio": "S" + "K" + some(32, HEX),
        "Databricks": "da" + "pi" + some(32, HEX),
        "DigitalOcean": "do" + "p_v1_" + some(64, HEX),
        "Replicate": "r" + "8_" + some(37),
        "Linear": "li" + "n_api_" + some(40),
        "Tavily": "tv" + "ly-" + some(32),
        "Firebase messaging": "AAAA" + some(7, BASE64URL) + ":APA" + "91b" + some(134, BASE64URL),
        "Shopify": "sh" + "pat_" + some(32, HEX),
        "NVIDIA": "nv" + "api-" + some(64, BASE64URL),
        "Perplexity": "pp" + "lx-" + some(48),
        "Cerebras": "cs" + "k-" + some(48, BASE36),
        "Fireworks": "f" + "w_" + some(24),
        "Pinecone": "pc" + "sk_" + some(6) + "_" + some(63),
        "LangSmith": "ls" + "v2_pt_" + some(32, HEX) + "_" + some(10, HEX),
        "Notion": "nt" + "n_" + some(46),
        "Figma": "fi" + "gd_" + some(40),
        "Docker Hub": "dc" + "kr_pat_" + some(27),
        "Supabase": "sb" + "p_" + some(40, HEX),
        "Grafana": "gl" + "sa_" + some(32) + "_" + some(8, HEX),
        "Sentry": "snt" + "rys_" + some(60),
        "Mailgun": "ke" + "y-" + some(32, HEX),
        "Firecrawl": "f" + "c-" + some(32, HEX),
        "Postman": "PM" + "AK-" + some(24, HEX) + "-" + some(34, HEX),
        "New Relic": "NR" + "AK-" + some(27, UPPER36),
        "Pulumi": "pu" + "l-" + some(40, HEX),
        "Vault": "hv" + "s.CAES" + some(90, BASE64URL),
        "Azure app": some(3) + "8Q" + "~" + some(34),
        "Azure AI": some(52) + "JQQJ" + "99" + some(26),
        "age": "AGE-SEC" + "RET-KEY-1" + some(58, UPPER36),
        "JWT": forge.jwt(),
        "Hugging Face org": "ap" + "i_org_" + some(34, LETTERS),
        "Linear OAuth": "li" + "n_oauth_" + some(40),
        "Together": "tg" + "p_v1_" + some(43),
        "Jina": "ji" + "na_" + some(60),
        "E2B": "e2" + "b_" + some(40, HEX),
        "Notion old": "sec" + "ret_" + some(43),
        "Supabase secret": "sb" + "_secret_" + some(31),
        "Grafana cloud": "gl" + "c_" + some(80),
        "PostHog": "ph" + "x_" + some(43),
        "RubyGems": "ruby" + "gems_" + some(48, HEX),
        "Square": "sq" + "0atp-" + some(22),
        "AWS Bedrock": "AB" + "SK" + some(120),
    }


# Where a key can stand without a name: `%s` is the key.
KEY_PLACES = (
    "%s",
    "I put %s into the dashboard yesterday.",
    'client = Client("%s")',
    "+    const k = '%s'; // FIXME",
    "   12→  value = %s",
    json.dumps({"arguments": json.dumps({"cmd": "echo '%s'\n%s"})}),
    "https://example.org/v1/models?k=%s&limit=3",
    "[%s](see above), (%s).",
)

# Named values: `%s` is a random token.
TOKEN_PLACES = (
    "OPENAI_API_KEY=%s",
    "export GITHUB_TOKEN=%s",
    "export API_TOKEN='%s'",
    'set MY_SECRET_TOKEN="%s"',
    "AWS_SECRET_ACCESS_KEY=%s",
    "aws_secret_access_key = %s",
    "aws_session_token = %s",
    "api_key: %s",
    'api_key: "%s"',
    "apiKey: '%s',",
    '"api_key": "%s"',
    '{"apiKey":"%s","user":"jo"}',
    '{\\"api_key\\": \\"%s\\"}',
    '{\\\\\\"client_secret\\\\\\": \\\\\\"%s\\\\\\"}',
    'client_secret = "%s"',
    "client_secret=%s",
    "clientSecret: `%s`",
    "-e SLACK_TOKEN=%s -p 80:80",
    "docker login --token %s",
    "gh auth login --with-token=%s",
    "deploy --api-key %s --verbose",
    "deploy --api-key='%s'",
    'self.access_token = "%s"',
    'token: str = "%s"',
    'const API_KEY: &str = "%s";',
    'apiToken := "%s"',
    '"token" => "%s"',
    "os.environ['OPENAI_API_KEY'] = '%s'",
    "X-Api-Key: %s",
    "x-goog-api-key: %s",
    "X-Auth-Token: %s",
    "PRIVATE-TOKEN: %s",
    "curl -H 'X-Api-Key: %s' https://example.org",
    'curl -H "Authorization: Bearer %s" https://example.org',
    "Authorization: Bearer %s",
    "authorization: bearer %s",
    "Authorization: token %s",
    "Authorization: Basic %s",
    '"Authorization": "Bearer %s"',
    '{\\"Authorization\\": \\"Bearer %s\\"}',
    'headers.set("Authorization", "Bearer %s")',
    'headers = [("x-api-key", "%s")]',
    "Proxy-Authorization: Basic %s",
    "it sends Bearer %s to the server",
    "GET /cb?access_token=%s&state=1",
    "https://example.org/x?api_key=%s",
    "https://example.org/x?a=1&token=%s#top",
    "https://acct.blob.core.windows.net/c/f?sv=2022&sig=%s",
    "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=%s",
    "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=%s&X-Amz-Date=1",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s;EndpointSuffix=x",
    "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=%s",
    "//registry.npmjs.org/:_authToken=%s",
    "Cookie: session=%s; theme=dark",
    "Set-Cookie: sid=%s; Path=/; HttpOnly",
    "curl --cookie 'session=%s' https://example.org",
    "curl -b x -H 'Cookie: sid=%s'",
    "https://oauth2:%s@gitlab.example.org/a/b.git",
    "https://%s@github.com/a/b.git",
    "git clone https://x-access-token:%s@github.com/a/b",
    "the token is %s, please keep it",
    "my api key: %s.",
    "<apiKey>%s</apiKey>",
    "ENCRYPTION_KEY=%s",
    "STRIPE_KEY=%s",
    "JWT_SECRET: %s",
    "NEXTAUTH_SECRET=%s",
    "SECRET_KEY_BASE=%s",
    "API_KEY_PROD=%s",
    "API_TOKEN_2=%s",
    "[default]\nsecret_key = %s\nregion = x",
    "   18\tJWT_SECRET=%s",
    "{'X-Vault-Token': '%s'}",
    "refresh_token=%s",
    "https://hooks.slack.com/services/T00000000/B00000000/%s",
    "https://discord.com/api/webhooks/123456789012345678/%s%s",
    "//registry.example.org/:_auth=%s",
)

# Named values: `%s` is a password a person chose.
PASSWORD_PLACES = (
    "password: %s",
    "password=%s",
    "password = '%s'",
    'password = "%s"',
    "Password: %s",
    "DB_PASSWORD='%s'",
    "DB_PASSWORD=%s",
    "PGPASSWORD=%s psql -h db",
    "MYSQL_PWD=%s mysql",
    "SMTP_PASS=%s",
    "POSTGRES_PASSWORD: %s",
    '"password": "%s"',
    '{\\"password\\":\\"%s\\"}',
    "login(user='jo', password='%s')",
    "mysqldump --password=%s app",
    "tool --password %s --yes",
    "mysql -u root -p%s app",
    "sshpass -p %s ssh jo@host",
    "sshpass -p '%s' ssh jo@host",
    "curl -u jo:%s https://example.org",
    "curl -s --user 'jo:%s' https://example.org",
    "curl \\\n  -u jo:%s \\\n  https://example.org",
    "postgres://jo:%s@db.example.org:5432/app",
    "DATABASE_URL=postgresql+asyncpg://jo:%s@db/app?sslmode=require",
    "redis://:%s@cache:6379/0",
    "mongodb+srv://jo:%s@c0.example.net/?retryWrites=true",
    "amqp://jo:%s@mq:5672//",
    "Server=db;Database=app;User Id=jo;Password=%s;Encrypt=true",
    "Server=db;Uid=jo;Pwd=%s;",
    "host=db user=jo password=%s dbname=app",
    "jdbc:postgresql://db/app?user=jo&password=%s",
    "machine example.org login jo password %s",
    "the password is %s",
    "<password>%s</password>",
    'passphrase: "%s"',
    "spring.datasource.password=%s",
    "ENV['DB_PASSWORD'] = '%s'",
    "export ADMIN_PASSWORD=%s",
)


def planted(seed: int) -> Iterator[tuple[str, str]]:
    """Pairs of a text and the credential in it that must not survive."""
    forge = Forge(seed)
    for key in keys(forge).values():
        for place in KEY_PLACES:
            yield place.replace("%s", key), key
    for place in TOKEN_PLACES:
        for secret in (forge.some(40), forge.some(32, HEX), forge.some(24), forge.some(64, HEX), forge.uuid()):
            if "slack" in place or "sig" in place.lower() or secret.count("-") == 0 or "Basic" not in place:
                yield place.replace("%s", secret), secret
    for place in PASSWORD_PLACES:
        for _ in range(4):
            secret = forge.password()
            yield place.replace("%s", secret), secret
    digits = forge.some(10, "123456789")
    secret = "AA" + forge.some(33, BASE64URL)
    for place in ("TELEGRAM=%s", "https://api.telegram.org/bot%s/getMe", "bot %s runs"):
        yield place.replace("%s", f"{digits}:{secret}"), secret


# Nothing in these is a credential: every line stays as it is.
HARMLESS = r"""
MAX_TOKENS=65536
max_tokens: 4096
max_tokens=4096,
tokens: 1234
prompt_tokens=123
completion_tokens: 88
"token_count": 5
"total_tokens": 123456
next_page_token
nextPageToken: "CAUQAA"
next_page_token="eyJsYXN0X2lkIjoxMjM0NTY3ODl9"
"pageToken": "a1b2c3d4e5f6a7b8"
AUTH_LOG=/var/log/auth.log
token=$(gh auth token)
TOKEN=$GITHUB_TOKEN
TOKEN="${GITHUB_TOKEN}"
export API_KEY=${API_KEY:-}
token=`cat /run/secrets/token`
sk_bulk_insert_rows(x)
token = get_token()
token = await self.get_token(user_id=42)
password: str
password: string;
password?: string
password: Optional[str] = None
def check_password(password: str) -> bool:
self.api_key = api_key
self.password = password
this.token = token;
token = tokens[0]
token = response.json()["access_token"]
const token = localStorage.getItem('token')
api_key=os.environ["OPENAI_API_KEY"]
api_key = os.getenv("OPENAI_API_KEY", "")
api_key=settings.OPENAI_API_KEY
apiKey: process.env.API_KEY
apiKey: process.env.API_KEY_V2!,
${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
process.env.API_KEY
password: {{ vault_db_password }}
password: !vault |
password: "{{ lookup('env', 'DB_PASSWORD') }}"
api_key: <your-api-key>
API_KEY=<your-api-key>
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
ANTHROPIC_API_KEY=your_api_key_here
API_KEY=your-api-key
api_key="YOUR_API_KEY"
api_key = "xxx"
password = "***"
password=********
password: changeme
DB_PASSWORD=changeme
secret: example
token: "test-token"
token="fake-token-123"
apiKey: 'test-key'
"api_key": "dummy"
"api_key": "OPENAI_API_KEY"
the password must be at least 8 characters
Your password is required to continue.
The token is invalid or expired.
the secret is to keep functions small
A token is 4 characters on average; 1000 tokens are 750 words.
Passwords are hashed with bcrypt, tokens with sha256.
Reset your password: click the link below
password: required
Password: must contain a digit
"password": "Password"
"password": "Please enter your password"
<input type="password" name="password" placeholder="Password">
<input type="password" autocomplete="current-password" id="pw1">
<label for="password">Password</label>
--color-token: #ff00aa;
--token-primary: var(--blue-500);
.token.keyword { color: #07a; }
.sk-folding-cube-animation-wrapper { display: none }
<div class="sk-circle-fade-dot sk-center-content-block"></div>
git checkout 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b
commit 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b
550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"integrity": "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08=="
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
/home/jo/.ssh/id_rsa
GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json
SSL_KEY=/etc/ssl/private/server.key
private_key: /etc/ssl/private/server.key
API_KEY_FILE=/run/secrets/api_key
PWD=/home/jo/work/project1
OLDPWD=/home/jo/work/project2
cache_key = "user:42:profile"
cache_key = f"{user_id}:{page}"
"key": "value"
"key": "a1b2c3d4e5f6a7b8c9d0"
primary_key=True
key=lambda x: x[1]
sorted(items, key=itemgetter(1))
public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk"
foreign_key: user_id2
for key, value in items.items():
keyboard: qwerty12345
tokenizer = AutoTokenizer.from_pretrained("gpt2")
token_type: bearer
"token_type": "Bearer"
eos_token: "<|im_end|>"
pad_token_id=50256
token_ids = [101, 2023, 102]
secretName: db-credentials-v2
secretKeyRef: {name: db, key: password}
- name: DB_PASSWORD
password_hash = hash_password(password)
if token == "":
if password != confirm_password:
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${ACCESS_TOKEN}
-H "Authorization: Bearer $(gcloud auth print-access-token)"
headers = {"Authorization": f"Bearer {token}"}
"Authorization": "Bearer " + token
Authorization: Bearer token
uses Bearer authentication
Basic authentication is not enough; Basic understanding helps.
Authorization: required
authorization = build_authorization(request)
Cookie: theme=dark
cookie = parse_cookie(header)
document.cookie = name + "=" + value
Set-Cookie: lang=en; Path=/
https://example.org/login?next=/home
http://localhost:8080/path@v1.2
https://user:password@example.org/
postgres://user:pass@localhost/db
postgres://${DB_USER}:${DB_PASSWORD}@db:5432/app
postgres://USER:PASSWORD@HOST:PORT/DB
git@github.com:org/repo.git
npm install @scope/pkg@1.2.3
docker run -u 1000:1000 -p 8080:80 app
docker run --user root:root image
mkdir -p build/output1
curl -u "$USER:$PASS" https://example.org
curl -sS -o out1 https://example.org:8443/x
mysql -u root -p app
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
if "-----BEGIN PRIVATE KEY-----" in text and "-----END PRIVATE KEY-----" in text:
grep -rn "PRIVATE KEY-----" src/createPrivateKeyFromPem.ts
"-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----"
--token TOKEN    the token to use
--password PASSWORD
--api-key KEY (or set API_KEY)
the --token flag is new in v2
password [y/N]
npm_config_registry=https://registry.npmjs.org
hf_hub_download(repo_id="x", filename="y")
test_sk_live_mode_is_rejected_without_a_webhook
ghp_ is the prefix of a GitHub token
AKIA is how AWS key ids begin
eyJ is base64 for {"
xoxb-your-bot-token
import { tokenize } from './tokenize-input-stream'
password = password2
password: dbPassword1
token = v2AuthorizationToken3x
api_key = "sk-abc1••••••••••••••••••••"
fields = ["password", "firstname", "lastname"]
form.add("secret", "validators")
"Pwd": "C:\\Users\\jo1\\src"
cache-key-d41d8cd98f00b204e9800998ecf8427e
[REDACTED]
OPENAI_API_KEY=[REDACTED]
Authorization: Bearer [REDACTED]
postgres://jo:[REDACTED]@host/db
{"password": "[REDACTED]"}
""".strip().splitlines()
