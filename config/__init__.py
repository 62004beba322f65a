"""Project settings, URLs, the Celery application and the order of the stages."""
