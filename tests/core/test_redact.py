"""No credential passes, and nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.redact import PLACEHOLDER, redact
from tests.core.redact_corpus import HARMLESS, KEY_PLACES, Forge, keys, planted

PLANTED = list(planted(seed=7))
FORGE = Forge(seed=11)
KEYS = keys(FORGE)


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_that_says_whose_it_is_goes_wherever_it_stands(kind):
    for place in KEY_PLACES:
        assert redact(place.replace("%s", KEYS[kind])) == place.replace("%s", PLACEHOLDER)


def test_no_planted_credential_survives_and_each_leaves_a_trace():
    assert len(PLANTED) > 120
    assert [text for text, secret in PLANTED if secret in redact(text)] == []
    assert [text for text, _ in PLANTED if PLACEHOLDER not in redact(text)] == []


def test_what_only_looks_like_a_credential_stays_the_very_same_object():
    assert len(HARMLESS) > 120
    assert [line for line in HARMLESS if redact(line) is not line] == []


def test_harmless_lines_stay_harmless_in_one_text_and_as_json_in_json():
    text = "\n".join(HARMLESS)
    assert redact(text) == text
    escaped = json.dumps({"arguments": json.dumps({"text": text})})
    assert redact(escaped) == escaped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPENAI_API_KEY=%s", "OPENAI_API_KEY=[REDACTED]"),
        ("export TOKEN='%s'  # mine", "export TOKEN='[REDACTED]'  # mine"),
        ('{"api_key": "%s", "model": "m"}', '{"api_key": "[REDACTED]", "model": "m"}'),
        ('{\\"api_key\\": \\"%s\\"}', '{\\"api_key\\": \\"[REDACTED]\\"}'),
        ("Authorization: Bearer %s", "Authorization: Bearer [REDACTED]"),
        ("curl -H 'X-Api-Key: %s' -d x", "curl -H 'X-Api-Key: [REDACTED]' -d x"),
        ("postgres://user:%s@host/db", "postgres://user:[REDACTED]@host/db"),
        ("curl -u jo:%s https://a.org", "curl -u jo:[REDACTED] https://a.org"),
        ("https://a.org/?access_token=%s&page=2", "https://a.org/?access_token=[REDACTED]&page=2"),
        ("https://a.org/f?sig=%s&x=1", "https://a.org/f?sig=[REDACTED]&x=1"),
        ("run --token %s --fast", "run --token [REDACTED] --fast"),
        ("Set-Cookie: sid=%s; Path=/\nVary: *", "Set-Cookie: [REDACTED]\nVary: *"),
        ("The token is %s.", "The token is [REDACTED]."),
    ],
)
def test_the_name_stays_so_that_a_reader_sees_what_was_there(text, expected):
    assert redact(text.replace("%s", FORGE.some(12) + "4d" + FORGE.some(26))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=letmein",
        "POSTGRES_PASSWORD: letmein",
        'password = "letmein"',
        "password: 'correct-horse-battery-staple'",
        "https://a.org/login?password=letmein",
        "Server=db;User=jo;Password=letmein;",
        "echo A=1\\nDB_PASSWORD=letmein\\nB=2",
        "redis://default:letmein@cache:6379",
        '{"client_secret": "opensesame"}',
    ],
)
def test_a_password_without_a_digit_goes_where_no_code_can_stand(text):
    assert PLACEHOLDER in redact(text)


@pytest.mark.parametrize("filler", ["a", "abcdefghijklmnopqrstuvwxyz0123456789"])
def test_a_key_need_not_look_random_when_its_first_letters_are_sure(filler):
    for prefix in ("gh" + "p_", "sk" + "-", "sk" + "-ant-api03-", "AI" + "za", "gl" + "pat-"):
        assert redact("use " + prefix + (filler * 36)[:36]) == "use [REDACTED]"


def test_a_private_key_goes_and_its_marks_stay():
    head, tail = "-----BEGIN RSA PRI" + "VATE KEY-----", "-----END RSA PRI" + "VATE KEY-----"
    body = FORGE.pem_body(12)
    assert redact(f"a\n{head}\n{body}\n{tail}\nb") == f"a\n{head}{PLACEHOLDER}{tail}\nb"
    escaped = json.dumps({"private_key": f"{head}\n{body}\n{tail}\n"})
    assert redact(escaped) == json.dumps({"private_key": f"{head}{PLACEHOLDER}{tail}\n"})


def test_a_private_key_whose_end_was_cut_off_goes_and_the_prose_after_it_stays():
    head = "-----BEGIN OPENSSH PRI" + "VATE KEY-----"
    body = FORGE.pem_body(5)
    assert redact(f"{head}\n{body}\n[output truncated]") == f"{head}{PLACEHOLDER}\n[output truncated]"
    numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(body.splitlines(), 2))
    assert (
        redact(f"     1\t{head}\n{numbered}\nDone, it is there.") == f"     1\t{head}{PLACEHOLDER}\nDone, it is there."
    )


def test_a_credential_longer_than_any_bound_goes_to_its_last_character():
    for size in (254, 255, 256, 1000, 5000):
        secret = FORGE.some(size)
        assert redact(f"TOKEN={secret} x") == "TOKEN=[REDACTED] x"
        assert redact(f'"token": "{secret}"') == '"token": "[REDACTED]"'
        assert redact(f"sk-{secret} x") == "[REDACTED] x"


def test_two_credentials_on_one_line_both_go():
    one, two = FORGE.some(40), FORGE.some(40)
    assert redact(f"A_TOKEN={one} B_TOKEN={two}") == "A_TOKEN=[REDACTED] B_TOKEN=[REDACTED]"


def test_a_credential_inside_a_longer_one_goes_with_it():
    key, other = KEYS["GitHub personal"], FORGE.some(40)
    assert redact(f"Cookie: a={key}; session={other}\n") == "Cookie: [REDACTED]\n"


def test_a_name_that_holds_no_credential_hides_none_behind_it():
    assert redact(f'key=token:"{FORGE.some(30)}"') == 'key=token:"[REDACTED]"'


def test_a_uuid_of_hardly_any_letters_is_a_token_where_a_token_stands():
    uuid = "-".join(("10592086", "8753", "4166", "9961", "51814712a587"))
    assert redact(f"X-Auth-Token: {uuid}") == "X-Auth-Token: [REDACTED]"
    assert redact(f"request {uuid} done") == f"request {uuid} done"


def test_text_around_a_credential_may_be_of_any_script():
    key = KEYS["GitHub personal"]
    assert redact(f"密码是{key}。 Schlüssel→{key} 🗝{key}") == "密码是[REDACTED]。 Schlüssel→[REDACTED] 🗝[REDACTED]"


def test_redacting_twice_changes_nothing():
    for text in [*(text for text, _ in PLANTED), "\n".join(text for text, _ in PLANTED)]:
        once = redact(text)
        assert redact(once) is once
    # Once the long value is gone, curl stands near enough to its -u.
    assert redact("curl -d token=" + FORGE.some(400) + " -u jo:hunter2") == "curl -d token=[REDACTED] -u jo:[REDACTED]"


PIECES = [
    *(
        "token",
        "password",
        "api_key",
        "secret",
        "Authorization",
        "Cookie",
        "Bearer ",
        "--token ",
        "curl -u ",
        "https://",
    ),
    *(
        "=",
        ": ",
        '"',
        '\\"',
        "'",
        ":",
        "@",
        "&",
        "?",
        "-",
        "_",
        ".",
        " ",
        "\n",
        "\\n",
        "sk-",
        "ghp_",
        "eyJ",
        "a1B2c3D4e5F6",
    ),
    *(
        "hunter2",
        PLACEHOLDER,
        "[",
        "]",
        "-----BEGIN PRI" + "VATE KEY-----",
        "-----END",
        "A" * 40,
        "x",
        "é",
        "\ud800",
        "\x00",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_redacted_once_and_for_all(text):
    once = redact(text)
    assert redact(once) is once


@given(st.text(st.characters()))
def test_no_text_is_refused(text):
    assert isinstance(redact(text + "token=" + text), str)


def test_lone_surrogates_pass():
    assert redact("\ud800 password='hunter2!' \udfff") == "\ud800 password='[REDACTED]' \udfff"


@pytest.mark.parametrize(
    "unit",
    [
        *("token=", "eyJ", "-----BEGIN", "-----BEGIN PRI" + "VATE KEY-----", "sk-", "-sk-xxxx", "cookie a=bbbbbb", "_"),
        *("://a:b@", "curl -u a:", 'password="', "Authorization: Bearer ", "api_key: str = ", 'token=\\\\\\"'),
    ],
)
def test_half_a_megabyte_of_beginnings_is_read_to_its_end(unit):
    text = unit * (500_000 // len(unit))
    assert redact(text + " tail").endswith(" tail")


CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "sessions"
# Each was read by a person: passwords of test set-ups and made-up tokens, written down as if they were real.
KNOWN_IN_CORPUS = 37


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded conversations (../shared/corpus) are not here")
def test_recorded_conversations_lose_only_what_is_written_down_as_a_credential():
    found = 0
    for path in CORPUS.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)
            texts = [
                message.get("content"),
                *(call["function"]["arguments"] for call in message.get("tool_calls") or ()),
            ]
            for text in texts:
                if isinstance(text, str):
                    found += redact(text).count(PLACEHOLDER) - text.count(PLACEHOLDER)
    assert found <= KNOWN_IN_CORPUS
