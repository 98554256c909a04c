"""Addresses of documents: a page elsewhere, or a public page of the assistant's own."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext as _

_check_url = URLValidator(schemes=["http", "https"])


def own_address(document_id: int) -> str:
    """Return the address of a document's public page here."""
    return f"{settings.PUBLIC_URL}/pages/{document_id}/"


def is_own_address(url: str) -> bool:
    """Return whether the address is of a page that staff wrote here: of a document, or of an FAQ's answer."""
    return url.startswith((f"{settings.PUBLIC_URL}/pages/", f"{settings.PUBLIC_URL}/answers/"))


def check_address(url: str) -> None:
    """Check that it is a web address. Raise ValidationError.

    The server's own address may have a host without a dot, such as in an intranet.
    """
    if not is_own_address(url):
        _check_url(url)


def check_own_address(url: str, *, document_id: int | None, is_read: bool) -> None:
    """Check that an address here is the document's own, and that what was read elsewhere keeps where it was read.

    Raise ValidationError.
    """
    if not url and is_read:
        raise ValidationError({"url": _("This text was read from a page or file: keep its address.")})
    if is_own_address(url) and (document_id is None or url != own_address(document_id)):
        said = _("This is the page of another text written here: leave the field empty for a page of its own.")
        raise ValidationError({"url": said})
