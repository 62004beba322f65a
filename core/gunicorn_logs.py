"""The lines of gunicorn itself as JSON: `gunicorn --logger-class core.gunicorn_logs.JsonLogger`."""

from typing import Any

from gunicorn.glogging import Logger

from core.logs import JsonLines


class JsonLogger(Logger):
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in (*self.error_log.handlers, *self.access_log.handlers):
            handler.setFormatter(JsonLines())
