"""Versions of the libraries that figures were computed with."""

from importlib.metadata import PackageNotFoundError, version


def versions_of(*names: str) -> dict[str, str]:
    """Return the version of each library that is installed: without the extra `train` there is no torch."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
