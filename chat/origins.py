"""Web origins (RFC 6454) as browsers send them: scheme, host and port, nothing else; pure."""

import re
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
#: Nothing in it can end a header's value or begin another source of a policy.
HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*|\[[0-9a-f:.]{2,45}\]")


def origin_of(text: str) -> str:
    """The origin of an address in the form that browsers send: small letters, no default port, no path.

    Raises ValueError where it is no http or https address of a host that can be reached.
    """
    parts = urlsplit(text.strip())
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host.encode("idna").decode("ascii")
    if parts.scheme not in DEFAULT_PORTS or not HOST.fullmatch(host) or parts.username is not None:
        raise ValueError(text)
    port = parts.port
    is_usual = port is None or port == DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if is_usual else f":{port}")


def is_secure(origin: str) -> bool:
    """Whether what a page there shows is what its server sent: https, or this machine itself."""
    scheme, _, host = origin.partition("://")
    return scheme == "https" or re.sub(r":\d+$", "", host) in LOOPBACK
