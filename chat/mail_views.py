"""Pages that the links in e-mails to students open; they work without scripts and without cookies."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from chat.cases.mail.addresses import find_asked, find_stopped
from chat.models import CaseAddress
from chat.services.case_mails import confirm_address, stop_mails
from core.db.prepared import in_database

#: A link's address is its secret: no other site learns it, and no cache keeps the page.
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


# The token is who may press the button; another one would need a cookie.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
async def confirm_page(request: HttpRequest, token: str) -> HttpResponse:
    """Ask to confirm an address; only the button does it, because mail scanners open links."""
    is_pressed = request.method == "POST"
    address = await confirm_address(token) if is_pressed else await in_database(find_asked)(token)
    with translation.override(_language(address)):
        if address is None:
            said = _("This link is no longer valid. You can enter your e-mail address again in the chat.")
            return _page(request, _("The link is no longer valid"), said, status=404)
        if address.confirmed_at:
            said = _("Replies to your question are sent to this address too. Each e-mail has a link to end that.")
            return _page(request, _("The address is confirmed"), said)
        said = _("Replies to your question are then sent to %(email)s too.") % {"email": address.email}
        return _page(request, _("Confirm your e-mail address"), said, button=_("Confirm address"))


# Mail programs press it too, without having been here (RFC 8058).
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
async def stop_page(request: HttpRequest, token: str) -> HttpResponse:
    """Ask to end the e-mails about a question; only the button does it."""
    is_pressed = request.method == "POST"
    address = await stop_mails(token) if is_pressed else await in_database(find_stopped)(token)
    with translation.override(_language(address)):
        if address is None or is_pressed:
            said = _("Your e-mail address is deleted. Replies still appear in the chat.")
            return _page(request, _("No more e-mails about this question"), said)
        said = _("Your e-mail address is then deleted. Replies still appear in the chat.")
        return _page(request, _("End e-mails about this question?"), said, button=_("End e-mails"))


def _language(address: CaseAddress | None) -> str:
    return address.case.language if address else get_language() or "en"


def _page(request: HttpRequest, title: str, said: str, *, button: str = "", status: int = 200) -> HttpResponse:
    context = {"title": title, "said": said, "button": button}
    response = render(request, "chat/mail_page.html", context, status=status)
    for name, value in HEADERS.items():
        response[name] = value
    response["Content-Language"] = get_language() or "en"
    return response
