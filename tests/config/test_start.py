"""What every command and every web worker loads before it does anything."""

import subprocess
import sys

from django.conf import settings

ASK = """
import sys
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
print(sorted({"django", "torch", "pykeen"} & set(sys.modules)))
"""


def test_pages_and_commands_start_without_torch():
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "['django']\n", done.stderr
