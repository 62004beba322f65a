"""Read and write objects in the store that ARTIFACT_STORE names: S3, Google Cloud Storage, Azure, or a shared folder.

The library obstore does the work. Its threads do not survive a fork: a process that forks others must not use the
store before, so the parent of Celery's processes checks it in a child and sweeps in another process.
"""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from django.conf import settings

from core.errors import UserError

logger = logging.getLogger(__name__)
SCHEMES = ("s3", "gs", "az", "file")
SIGNED_FOR = timedelta(hours=1)
_PIECE = 16 << 20  # bytes of one request
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the role of the machine), AWS_REGION, AWS_ENDPOINT_URL",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS (or the role of the machine)",
    "az": "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY (or the identity of the machine)",
    "file": "the rights to the folder",
}
NOTHING: Mapping[str, str] = MappingProxyType({})
_first_pid = 0  # of the process that used the store first


class StoreError(UserError):
    """The store cannot be used: it does not answer, or refuses."""


class StoredObject(NamedTuple):
    """Describe an object of the store."""

    key: str
    bytes: int
    changed_at: datetime


def is_set() -> bool:
    """Tell whether artifacts are in a store, and not only in the artifact folder."""
    return bool(settings.ARTIFACT_STORE)


def where() -> str:
    """Return the address of the store without a name, password or query that somebody may have put into it."""
    parts = urlsplit(settings.ARTIFACT_STORE)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def put(key: str, content: bytes | IO[bytes], *, new: bool = False, attributes: Mapping[str, str] = NOTHING) -> bool:
    """Write an object as a whole; with `new`, return False and change nothing where there is one of this key."""
    import obstore
    from obstore.exceptions import AlreadyExistsError

    kept = dict(attributes) if attributes and _scheme() != "file" else None  # a folder keeps none
    with _told(writes=True):
        try:
            obstore.put(_store(), key, content, attributes=kept, mode="create" if new else None, chunk_size=_PIECE)
        except AlreadyExistsError:
            return False
    return True


def read(key: str) -> bytes | None:
    """Return the content of a small object; None if there is none."""
    import obstore

    try:
        with _told():
            return bytes(obstore.get(_store(), key).bytes())
    except FileNotFoundError:
        return None


def pieces(key: str, size: int) -> Iterator[bytes]:
    """Yield an object of `size` bytes piece by piece; FileNotFoundError if there is none, or it has another size."""
    import obstore

    with _told():
        if obstore.head(_store(), key)["size"] != size:
            raise FileNotFoundError(key)
    for start in range(0, size, _PIECE):
        with _told():
            piece = bytes(obstore.get_range(_store(), key, start=start, length=min(_PIECE, size - start)))
        yield piece


def objects(folder: str) -> Iterator[StoredObject]:
    """Yield the objects of a folder and of those below it."""
    import obstore

    with _told():
        for found in obstore.list(_store(), prefix=folder or None):
            for one in found:
                yield StoredObject(one["path"], one["size"], one["last_modified"])


def delete(keys: Sequence[str]) -> None:
    """Delete objects; those that are gone already do no harm."""
    import obstore

    for key in keys if _scheme() == "file" else [list(keys)] if keys else []:
        with _told(writes=True, gone_is_fine=True):
            obstore.delete(_store(), key)


def signed(key: str) -> str | None:
    """Return an address that gives the object to whoever has it, for an hour; None if the store cannot sign one."""
    import obstore
    from obstore.exceptions import BaseError

    if _scheme() == "file" or not settings.ARTIFACT_PRESIGN:
        return None
    try:
        return obstore.sign(_store(), "GET", key, SIGNED_FOR)
    except (BaseError, ValueError):  # credentials that cannot sign, as of some roles: the site sends the file itself
        return None


def check() -> None:
    """Write an object, read it, and delete it; StoreError names the setting if that cannot be done."""
    if not is_set():
        return
    key = f"check/{os.urandom(8).hex()}"
    put(key, b"TriplePool", new=True)
    whole = read(key) == b"TriplePool"
    delete([key])
    if not whole:
        raise StoreError(f"The store of ARTIFACT_STORE ({where()}) does not give back what is written to it.")


def check_in_child() -> None:
    """Check the store in a process of its own, so that this one can still fork; what is wrong goes to the log."""
    if not is_set():
        return
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        check()
    except Exception as error:  # a child must end here, whatever happens
        logger.error("%s", error if isinstance(error, UserError) else type(error).__name__)
    finally:
        os._exit(0)


def _scheme() -> str:
    return urlsplit(settings.ARTIFACT_STORE).scheme


def _store() -> Any:
    global _first_pid
    _first_pid = _first_pid or os.getpid()
    if _first_pid != os.getpid():
        raise StoreError("The store was used before this process was forked, so it would hang: restart the program.")
    return _opened(settings.ARTIFACT_STORE)


@lru_cache(maxsize=4)
def _opened(address: str) -> Any:
    from obstore.store import LocalStore, from_url

    parts = urlsplit(address)
    is_address = bool(parts.netloc) != (parts.scheme == "file") and "@" not in parts.netloc and not parts.query
    if parts.scheme not in SCHEMES or not is_address:
        raise StoreError(
            f"ARTIFACT_STORE is {where()}: give s3://bucket/prefix, gs://bucket/prefix, az://container/prefix "
            "or file:///shared/folder. Credentials have variables of their own."
        )
    if parts.scheme == "file":
        folder = Path(unquote(parts.path))
        if not folder.is_dir():
            raise StoreError(f"The folder of ARTIFACT_STORE ({where()}) does not exist: mount or make it.")
        return LocalStore(folder)
    return from_url(
        address,
        # an endpoint with http was named by whoever runs the site, as within a closed network
        client_options={"connect_timeout": "5s", "timeout": "60s", "allow_http": True},
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
    )


@contextmanager
def _told(*, writes: bool = False, gone_is_fine: bool = False) -> Iterator[None]:
    """Turn an error of the store into a StoreError without the words of the library, which may hold credentials."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError as error:
        if gone_is_fine and "NoSuchBucket" not in str(error):
            return
        if not writes and "NoSuchBucket" not in str(error):
            raise FileNotFoundError from None
        raise _store_error(error) from None
    except (BaseError, ValueError) as error:
        raise _store_error(error) from None


def _store_error(error: Exception) -> StoreError:
    kind, text = type(error).__name__, str(error)
    if kind in ("PermissionDeniedError", "UnauthenticatedError") or "AccessDenied" in text:
        what = "refuses what was asked: check the rights of its credentials"
    elif isinstance(error, FileNotFoundError) or "NoSuchBucket" in text:
        what = "has no such bucket, container or folder: make it, or correct the setting"
    elif "169.254.169.254" in text or "redential" in text or "must be specified" in text:
        what = "cannot be opened without credentials"
    else:
        what = "does not answer as it should: try again later, or check its address"
    return StoreError(
        f"The store of ARTIFACT_STORE ({where()}) {what}. It is opened with {_CREDENTIALS.get(_scheme(), '')}."
    )
