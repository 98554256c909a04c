"""The directory's button, and the end of its session, whichever protocol it speaks."""

from collections.abc import Mapping

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from marcelcms.accounts.sign_on.oidc import views as oidc
from marcelcms.accounts.sign_on.saml import views as saml


@never_cache
@require_GET
def start_view(request: HttpRequest) -> HttpResponse:
    """Send the browser to the directory."""
    if settings.OIDC_ISSUER:
        return oidc.start(request)
    if settings.SAML_IDP:
        return saml.start(request)
    raise Http404


def end_session_url(directory_session: Mapping[str, str]) -> str:
    """Return where the browser ends the directory's session, and comes back from; empty where that is nowhere."""
    if settings.OIDC_ISSUER and "id_token" in directory_session:
        return oidc.end_session_url(directory_session)
    if settings.SAML_IDP and "name_id" in directory_session:
        return saml.end_session_url(directory_session)
    return ""
