"""Derive the addresses of the site from the hosts that it serves."""

from collections.abc import Sequence


def default_site(hosts: Sequence[str], is_production: bool, is_https: bool) -> str:
    """Return the address of the site for mails, from the first host that is not a pattern; empty if none is named."""
    if not is_production:
        return "http://127.0.0.1:8000"
    host = next((host for host in hosts if host and host[0] not in ".*"), "")
    return f"http{'s' if is_https else ''}://{host}" if host else ""


def trusted_origins(hosts: Sequence[str], site: str) -> list[str]:
    """Return the origins from which forms may be sent although the request seems to have another address.

    That happens where a proxy ends TLS and doesn't say so, or listens on another port and passes the host without it.
    """
    origins = [f"https://*{host}" if host.startswith(".") else f"https://{host}" for host in hosts if host != "*"]
    return [*origins, *([site] if site and site not in origins else [])]


def read_names(text: str) -> list[str]:
    """Return the hosts that a setting lists, comma-separated, in small letters."""
    return [name.strip().lower() for name in text.split(",") if name.strip()]
