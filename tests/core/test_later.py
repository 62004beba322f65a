"""What is named by its path is imported when it is called, and every path that the apps name is one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from annotation.signals import batch_wanted
from core.jobs.registry import BEATS, ENDINGS
from core.later import Later
from pooling.signals import is_judged, labelling_asked, pace_asked, pool_grew, run_uses


def test_a_function_is_called_with_what_is_given():
    assert Later("operator.add")(2, 3) == 5
    with pytest.raises(ImportError):
        Later("operator.nothing")()


def test_every_path_that_the_apps_name_leads_to_a_function():
    signals = (is_judged, labelling_asked, pace_asked, pool_grew, run_uses, batch_wanted)
    receivers = [receiver for signal in signals for _, receiver, *_ in signal.receivers]
    named = [one for one in (*BEATS, *ENDINGS, *receivers) if isinstance(one, Later)]
    assert len(named) >= 11 and {"annotation", "evaluation"} <= {one.path.partition(".")[0] for one in named}
    assert all(callable(import_string(one.path)) for one in named)


def test_a_command_starts_without_what_it_does_not_need(tmp_path):
    code = (
        "import django, sys; django.setup(); import core.management.commands.serve; "
        "heavy = {'numpy', 'scipy', 'pandas', 'pyarrow', 'torch', 'celery', 'plotly'}; "
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
