"""The Celery application: one program, two brokers (a folder by default, CELERY_BROKER_URL in production)."""

import os
import sys
from pathlib import Path

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("triplepool")
# Celery has put the current folder first on the path, where a `core` of another project may be
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["core"])
