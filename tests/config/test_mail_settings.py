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
print(json.dumps([s.EMAIL_IS_SET, s.EMAIL_HOST, s.EMAIL_PORT, s.EMAIL_USE_TLS, s.DEFAULT_FROM_EMAIL]))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [False, "", 25, False, "triplepool@localhost"]),
        ({"EMAIL_PORT": "587", "EMAIL_USE_TLS": "1"}, [False, "", 587, True, "triplepool@localhost"]),
        (
            {"EMAIL_HOST": "mail.example.org", "DEFAULT_FROM_EMAIL": "pool@example.org"},
            [True, "mail.example.org", 25, False, "pool@example.org"],
        ),
    ],
)
def test_mail_server_from_the_environment(given, expected, tmp_path):
    rest = {
        name: value for name, value in os.environ.items() if not name.startswith(("EMAIL_", "DEFAULT_FROM"))
    }
    env = {**rest, **given, "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env=env,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == expected
