"""The Celery application: one program, two brokers (a folder by default, CELERY_BROKER_URL in production)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("triplepool")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["core"])
