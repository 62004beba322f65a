"""Project settings, URLs, the Celery application and the order of the stages."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
