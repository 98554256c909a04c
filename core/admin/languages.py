"""The language of a text by its name, where staff choose it, filter by it and read it in lists."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object

NAMES: Mapping[str, Promise] = {"de": _("German"), "en": _("English")}


def name_language(tag: str) -> str:
    """Return the name of a language; the tag itself of one that staff cannot choose."""
    return str(NAMES.get(tag, tag))


class LanguageSelect(forms.Select):
    """Offers the languages of answers, and whatever other one the text has."""

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        others = {tag: tag for tag in value if tag and tag not in NAMES}
        self.choices = list({**NAMES, **others}.items())
        return super().optgroups(name, value, attrs)

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Leave out the length that a field of text allows."""
        attrs: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        return {name: value for name, value in attrs.items() if name != "maxlength"}


class LanguageFilter(admin.AllValuesFieldListFilter):
    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": name_language(str(choice["display"]))}


class NamesLanguage(AnyModelAdmin):
    """To be named before ModelAdmin; lists then show `in_language`."""

    @admin.display(description=_("language"), ordering="language")
    def in_language(self, row: Any) -> str:
        return name_language(row.language)
