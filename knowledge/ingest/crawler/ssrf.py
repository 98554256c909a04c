"""Protection of the crawler against SSRF: private machines are reached only if the plan allows it.

The address that is connected to is checked, not the name: Scrapy's resolver asks here on every connection.
"""

from collections.abc import Sequence
from typing import Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from core.outgoing.ssrf import is_allowed

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
