"""Protection against SSRF: which machines this server may connect to; pure.

These are public ones, and private ones only where the operator allows it. Check the address that is connected to, not
the name: a name may lead elsewhere a moment later.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

#: Addresses of clouds' metadata services, which hold secrets; no plan allows them.
NEVER = tuple(map(ip_network, ("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "192.0.0.192/32")))
NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
#: What no machine listens on.
NOWHERE = tuple(map(ip_network, ("0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8", "240.0.0.0/4")))


def is_allowed(address: str, *, allow_private: bool) -> bool:
    """Return whether to connect to this IP address; invalid ones are refused."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_allowed(one, allow_private=allow_private) for one in (ip, *_embedded(ip)))


def _is_allowed(ip: IPv4Address | IPv6Address, *, allow_private: bool) -> bool:
    if any(ip in network for network in (*NEVER, *NOWHERE) if network.version == ip.version):
        return False
    if allow_private:
        return True
    # The translators' own ranges are judged by the address within.
    is_translated = any(ip in network for network in NAT64)
    return (ip.is_global or is_translated) and not ip.is_multicast and not getattr(ip, "is_site_local", False)


def _embedded(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """List the IPv4 addresses that an IPv6 address leads to: mapped, compatible, 6to4, Teredo and NAT64."""
    if isinstance(ip, IPv4Address):
        return []
    low = IPv4Address(int(ip) & 0xFFFFFFFF)
    found = [one for one in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())) if one]
    if any(ip in network for network in NAT64) or (int(ip) >> 32 == 0 and int(ip) > 1):
        found.append(low)
    return found
