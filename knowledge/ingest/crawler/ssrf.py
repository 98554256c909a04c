"""Protection against SSRF: which machines the crawler may connect to; pure.

These are public ones, and private ones only if the plan allows it. The address that is connected to is checked, not the
name: `resolver` asks here on every connection.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

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


#: Refused hosts with the refused address, for the crawl's error messages.
refused: dict[str, str] = {}


@implementer(IResolutionReceiver)
class _Filter:
    # Twisted's interfaces have no `self`, which mypy takes for a mistake of ours; hence `Any`.
    def __init__(self, receiver: Any, host: str, *, allow_private: bool) -> None:
        self.receiver, self.host, self.allow_private = receiver, host, allow_private

    def resolutionBegan(self, resolution: Any) -> None:
        self.receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:
        if is_allowed(address.host, allow_private=self.allow_private):
            self.receiver.addressResolved(address)
        else:
            refused[self.host] = address.host

    def resolutionComplete(self) -> None:
        self.receiver.resolutionComplete()


@implementer(IHostnameResolver)
class GuardedResolver:
    """Scrapy's setting TWISTED_DNS_RESOLVER; asks the reactor's own resolver."""

    def __init__(self, reactor: Any, *, allow_private: bool) -> None:
        self.reactor, self.allow_private = reactor, allow_private
        self.inner: Any = reactor.nameResolver

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> "GuardedResolver":
        return cls(reactor, allow_private=crawler.settings.getbool("CRAWL_ALLOW_PRIVATE"))

    def install_on_reactor(self) -> None:
        self.reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[Any]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        receiver = _Filter(resolutionReceiver, hostName, allow_private=self.allow_private)
        return self.inner.resolveHostName(receiver, hostName, portNumber, addressTypes, transportSemantics)
