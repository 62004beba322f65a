"""Sessions in Django's own table, read by a query whose SQL is written once: every request reads one."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.fixed import Fixed

_SESSION = Fixed(lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now))


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        """Refuse a NUL, which a cookie can hold as `"\\000"`: PostgreSQL takes none in a text."""
        return super()._validate_session_key(key) and "\0" not in (key or "")  # type: ignore[misc]  # not in the stubs

    def _get_session_from_db(self) -> Session | None:
        found = _SESSION.first(key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found
