"""E-mail is set up by naming a mail server, and by nothing else."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

ASK = """
import json
from config import settings as s
names = ("IS_SET", "HOST", "PORT", "USE_TLS", "HOST_USER", "HOST_PASSWORD")
print(json.dumps([*(getattr(s, "EMAIL_" + name) for name in names), s.DEFAULT_FROM_EMAIL]))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [False, "", 25, False, "", "", "triplepool@localhost"]),
        (
            {"EMAIL_PORT": "587", "EMAIL_USE_TLS": "1", "EMAIL_HOST_USER": "us", "EMAIL_HOST_PASSWORD": "secret"},
            [False, "", 587, True, "us", "secret", "triplepool@localhost"],
        ),
        (
            {"EMAIL_HOST": "mail.example.org", "DEFAULT_FROM_EMAIL": "pool@example.org"},
            [True, "mail.example.org", 25, False, "", "", "pool@example.org"],
        ),
    ],
)
def test_mail_server_from_the_environment(given, expected, tmp_path):
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("EMAIL_", "DEFAULT_FROM"))}
    env = {**rest, **given, "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == expected
