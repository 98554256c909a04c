"""Web origins (RFC 6454) as browsers send them: scheme, host and port, nothing else; pure."""

import re
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
#: Nothing in it can end a header's value or begin another source of a policy.
HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*|\[[0-9a-f:.]{2,45}\]")


def browser_origin(text: str) -> str:
    """Return the origin of an address in the form that browsers send: small letters, no default port, no path.

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
    """Return whether what a page there shows is what its server sent: https, or this machine itself."""
    scheme, _, host = origin.partition("://")
    return scheme == "https" or re.sub(r":\d+$", "", host) in LOOPBACK


HEX = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, from 0 (black) to 1 (white)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 (none) to 21 (black on white)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
