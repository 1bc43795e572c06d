"""The secret scan: what it must find, and what it must leave alone.

No line of this file holds one of the forms whole, so that other scanners pass over it.
"""

from __future__ import annotations

import html
import itertools
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import yaml

from learnkit.runtime.secret_scan import SecretError, refuse_secrets

MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 6
HEX = "0123456789abcdef" * 4

FOUND = {
    "npm": "npm_" + MIXED[:36],
    "npm in .npmrc": "//registry/:_authToken" + "=" + MIXED[:32],
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED[:80],
    "SendGrid": "SG." + MIXED[:22] + "." + MIXED[:43],
    "Google access": "ya29." + MIXED[:60],
    "Google client": "GOCSPX-" + MIXED[:28],
    "Google refresh": "1//0" + MIXED[:60],
    "AWS id, temporary": "ASIA" + "ABCDEFGHIJKLMNOP",
    "AWS secret, ini": "aws_secret_access_key = " + MIXED[:38] + "/+",
    "AWS secret, shell": "export AWS_SECRET_ACCESS_KEY=" + MIXED[:40],
    "AWS secret, JSON": '"SecretAccessKey": "' + MIXED[:40] + '"',
    "AWS secret, JSON in a string": r"{\"SecretAccessKey\": \"" + MIXED[:40] + r"\"}",
    "AWS secret, on a page": "&quot;SecretAccessKey&quot;: &quot;" + MIXED[:40] + "&quot;",
    "AWS session": '"SessionToken": "' + MIXED[:120] + '"',
    "Azure": "AccountName=a;AccountKey=" + MIXED[:86] + "==;Suffix=b",
    "password in a URL": "postgres://app:" + "k7Rt-2wQ9" + "@db.internal:5432/app",
    "password that begins like an example": "postgres://app:x" + "K8rQ2vLp9" + "@db.example/prod",
    "password without a user": "redis://:" + "k7Rt2wQ9" + "@cache:6379",
    "token in a remote": "https://x-access-token:" + MIXED[:30] + "@github.com/a/b",
    "password like an escape": "https://ada:" + "p%40ssw0rd%21" + "@example.org/",
    "GitLab runner": "glrt-" + MIXED[:20],
    "Docker": "dckr_pat_" + MIXED[:27],
    "Mailgun": "key-" + HEX[:32],
    "Databricks": "dapi" + HEX[:32],
    "DigitalOcean": "dop_v1_" + HEX,
    "Vault": "hvs." + MIXED[:90],
    "Stripe webhook": "whsec_" + MIXED[:32],
    "Slack app": "xapp-" + "1-A012345-" + MIXED[:30],
    "Slack hook": "https://hooks.slack.com/" + "services/T0123/B0123/" + MIXED[:24],
    "Telegram": "1234567890" + ":AA" + MIXED[:33],
    "PGP": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "age": "AGE-SECRET-" + "KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "password in the second URL": "redis://:secret@a and redis://:" + "k7Rt2wQ9" + "@cache:6379",
    "Groq": "gsk_" + MIXED[:52],
    "Anthropic": "sk-" + "ant-api03-abcdefghijklmnop",
    "GitHub": "ghp_" + "a" * 36,
    "AWS id": "AKIA" + "ABCDEFGHIJKLMNOP",
    "Slack": "xoxb-" + "123456789012",
    "RSA": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "GitLab": "glpat-" + "abcdefghij0123456789",
    "Hugging Face": "hf_" + "a" * 34,
    "Google": "AIza" + "b" * 35,
    "Stripe": "sk_live_" + "c" * 24,
    "JWT": "eyJhbGciOiJIUzI1" + ".eyJzdWIiOiIxMjM0" + ".abc",
    "header": "Authorization: " + "Bearer abcdefghijkl",
}

LEFT_ALONE = [
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256:" + HEX,
    "sha512-" + MIXED[:86] + "==",  # in a package-lock.json
    "id 123e4567-e89b-12d3-a456-426614174000, key-value, api_key",
    "iVBORw0KGgoAAAANSUhEUgAA" + MIXED * 3,  # an image in base64
    "AWS_SECRET_ACCESS_KEY=$AWS_SECRET_ACCESS_KEY",
    "aws_secret_access_key = <your secret>, SecretAccessKey: str",
    "secret_access_key=" + HEX,  # of 64 characters
    "postgres://user:password@localhost/app and mysql://root:root@db/app",
    "https://user:$TOKEN@host, https://user:${TOKEN}@host, https://user:{token}@host",
    "http://proxy_user:****@proxy:3128, https://user:<password>@host, https://user:xxxx@host",
    "https://user:&lt;password&gt;@host",
    "http://localhost:8888/lab?token=, git@github.com:learnkit/learnkit.git",
    "ssh://git@example.org:22/repo, http://[::1]:8080/@scope/package, a://b:c",
    "http://example.org:80/people/@ada, https://example.org/a:b@c",
    "npm_config_registry, npm_lifecycle_event, pypi-publish, pypi-AgEI",
    "SG.1 and SG.name.other, ya29 buses, _authToken=${NPM_TOKEN}",
    "at 12:30:45, ratio 1234567890:AA, sk_living, key-0123",
    "eyJhbGciOiJIUzI1NiJ9 alone, a task-dependency-graph-of-ours, risk-assessment-template",
    "session_token = request.cookies['session']",
]


@pytest.mark.parametrize("name", FOUND)
def test_a_secret_is_found(name: str) -> None:
    for text in (FOUND[name], f"the output was:\n{FOUND[name]}\n", f'{{"a": "{FOUND[name]}"}}'):
        with pytest.raises(
            SecretError, match=r"output\[0\] looks like it holds a secret"
        ) as caught:
            refuse_secrets({"output": [text]})
        assert FOUND[name] not in str(caught.value)


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    refuse_secrets(text)


FORMS: dict[str, Callable[[str], str]] = {
    "itself": str,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in a script": lambda text: (
        json.dumps(text).replace("<", r"\u003c").replace("&", r"\u0026")
    ),
    "Python": ascii,
    "HTML": html.escape,
    "an address": lambda text: quote(text, safe=""),
    "a form": quote_plus,
    "a shell": shlex.quote,
    "YAML": yaml.safe_dump,
    "one line": lambda text: " ".join(text.split()),
}


@pytest.mark.parametrize(
    "secret",
    [
        *("correct horse battery", 'say "friend" & enter', "it's <b>50%</b> \\ 'done'"),
        *("first line\nsecond line", "größe-über-alles-🔑", "%41%42\t+plus/&amp;"),
    ],
)
def test_the_value_of_a_variable_is_found_in_every_form(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        (inner, outer): FORMS[outer](f"x{FORMS[inner](secret)}x")
        for inner, outer in itertools.product(FORMS, repeat=2)
    }
    assert [forms for forms, text in texts.items() if _refused(text)] == []
    monkeypatch.setenv("DB_PASSWORD", secret)
    assert [forms for forms, text in texts.items() if not _refused(text)] == []


def _refused(text: str) -> bool:
    try:
        refuse_secrets({"output": [text]})
    except SecretError:
        return True
    return False


@pytest.mark.parametrize(
    "name", ["DB_PASSWD", "SSH_PASSPHRASE", "GOOGLE_CREDENTIALS", "npm_token", "PGPASSWORD"]
)
def test_the_name_of_a_variable_tells_that_it_is_secret(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "correct horse battery")
    with pytest.raises(SecretError):
        refuse_secrets("correct horse battery staple")


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": {"b": ["x", {"c": FOUND["npm"]}]}}, "a.b[1].c"),
        ([1, None, [FOUND["npm"]]], "[2][0]"),
        ({FOUND["npm"]: 1}, "a key of the file"),
        ({"a": {"b": {FOUND["npm"]: 1}}}, "a key of a.b"),
    ],
)
def test_the_place_of_a_secret_is_named_and_what_to_do(value: object, where: str) -> None:
    with pytest.raises(SecretError) as caught:
        refuse_secrets(value)
    assert str(caught.value) == (
        f"nothing was written: {where} looks like it holds a secret. "
        "Take it out of the prompt, the files or the command's output, and try again."
    )


@pytest.mark.slow
def test_nothing_in_the_project_raises_a_false_alarm() -> None:
    """Its own text and code, apart from the tests that hold such forms on purpose."""
    root = Path(__file__).resolve().parents[2]
    files = [
        *(root / "learnkit").rglob("*.py"),
        *(root / "docs").rglob("*.md"),
        *(root / "notebooks").glob("*.ipynb"),
    ]
    assert len(files) > 100
    for path in files:
        refuse_secrets(path.read_text("utf-8"))
