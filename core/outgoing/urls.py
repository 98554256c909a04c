"""Addresses that staff type, to which this server sends something; pure."""

from urllib.parse import urlsplit


def read_host(url: str) -> str:
    """Return the host of an https address; empty if it is none, or has a password, a fragment or odd characters."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return ""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme == "https" and parts.port != 0
    except ValueError:
        return ""
    return parts.hostname or "" if is_one and "@" not in parts.netloc and "#" not in url else ""
