"""Finds the site that somebody is served on, and if the page that asks may stand where it stands."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from chat.models import Assistant, Site
from chat.models.assistants import default_assistant
from chat.models.validators import browser_origin


class UnknownSite(Exception):
    """There is no such site, or it is not active."""


class ForbiddenOrigin(Exception):
    """The page that asks stands where this site's widget may not."""


@dataclass(frozen=True, slots=True)
class SiteContext:
    """A site with its assistant. `public_id` is as it was asked for: empty for this server's own page, whose `site` is
    an unsaved one where nobody set one up."""

    public_id: str
    site: Site
    assistant: Assistant | None

    def allows(self, origin: str | None, *, host: str) -> bool:
        """Return whether a page of that origin may use it; what sends none is no page of another origin."""
        return origin is None or origin in self.site.allowed_origins or is_own(origin, host=host)


def load_site(public_id: str) -> SiteContext:
    """Return the site's context; raise UnknownSite."""
    sites = Site.objects.select_related("assistant__prompt", "assistant__profile")
    if "\0" in public_id:  # PostgreSQL refuses it
        raise UnknownSite
    site = (sites.filter(public_id=public_id) if public_id else sites.filter(is_default=True)).first()
    if site is None and not public_id:
        return SiteContext("", Site(), default_assistant())
    if site is None or not site.is_active:
        raise UnknownSite
    return SiteContext(public_id, site, site.assistant)


def is_own(origin: str, *, host: str) -> bool:
    """Return whether pages of that origin are this server's; `host` is the one that the request names."""
    if origin == browser_origin(settings.PUBLIC_URL):
        return True
    scheme, _, name = origin.partition("://")
    return name == host and scheme in ({"https"} if settings.HTTPS else {"http", "https"})


def is_allowed_somewhere(origin: str, *, host: str) -> bool:
    """Return whether any active site may stand there: all that can be told before a site is named."""
    if is_own(origin, host=host):
        return True
    return "\0" not in origin and Site.objects.filter(is_active=True, allowed_origins__contains=[origin]).exists()


def valid_host(host: str) -> str:
    """Return the host that a request names if this server answers to it, else nothing."""
    domain, _port = split_domain_port(host)
    return host.lower() if domain and validate_host(domain, settings.ALLOWED_HOSTS) else ""


def frame_ancestors(site: Site) -> list[str]:
    """Return the places of its frame, as sources of a policy."""
    return ["'self'", *site.allowed_origins]


def twin_origin(origin: str) -> str:
    """Another origin that reaches the same server: this machine's other name, else this server's public address."""
    parts = urlsplit(origin)
    twins = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}
    if twin := twins.get(parts.hostname or ""):
        return origin.replace(parts.hostname or "", twin, 1)
    return browser_origin(settings.PUBLIC_URL)
