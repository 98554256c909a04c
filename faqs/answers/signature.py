"""Signs an answer in staff's own words."""

import datetime

from django.utils import translation
from django.utils.translation import gettext as _

from core.language import format_day


def sign(office: str, checked_on: datetime.date | None, language: str) -> str:
    """Return who answers and when that was checked, in the answer's language."""
    with translation.override(language):
        named = {"office": office or _("the university")}
        if checked_on is None:
            return _("Answer by %(office)s") % named
        return _("Answer by %(office)s, checked on %(day)s") % (named | {"day": format_day(checked_on, language)})
