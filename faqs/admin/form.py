"""The form of an FAQ."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext_lazy as _

from core.access import sees_everything
from core.admin.edit_conflicts import GuardedForm
from core.admin.languages import LanguageSelect
from core.admin.markdown_widget import MarkdownTextarea
from faqs.answers.changes import redate, unsigned_message
from faqs.models import ANSWER_FIELDS, ANSWER_LANGUAGES, FAQ
from faqs.permissions import may_make
from faqs.versions.snapshots import read_present_answer
from knowledge.admin.collections import only_collection

if TYPE_CHECKING:
    from core.access import Staff


class FAQForm(GuardedForm):
    """Made anew for each request, with who fills it in."""

    user: ClassVar["Staff"]
    is_redated = False

    class Meta:
        widgets = {
            "language": LanguageSelect(),
            **{
                f"answer_{language}": MarkdownTextarea({"rows": 8, "lang": language}, breaks=True)
                for language in ANSWER_LANGUAGES
            },
        }
        help_texts = {"language": _("The language of the question.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        for name in ANSWER_FIELDS:
            if name in fields:  # a browser would cut off what is pasted, without a word
                fields[name].widget.attrs.pop("maxlength", None)
        if status := fields.get("status"):
            status.choices = [(value, label) for value, label in FAQ.Status.choices if may_make(self.user, value)]
        if (collection := fields.get("collection")) and not sees_everything(self.user):
            collection.required = True
            collection.help_text = _("Gives the responsible team.")
            if only_collection(collection.queryset):
                collection.empty_label = None

    def clean(self) -> dict[str, Any] | None:
        """Require a signature below an answer, since students must see who gives it, and date the answer."""
        cleaned = super().clean() or {}
        for language in ANSWER_LANGUAGES:
            text, office = cleaned.get(f"answer_{language}", ""), cleaned.get(f"office_{language}", "")
            if text.strip() and not office.strip() and f"office_{language}" in self.fields:
                self.add_error(f"office_{language}", unsigned_message())
        if "answer_checked_on" in cleaned:
            self._date_answer(cleaned)
        return cleaned

    def _date_answer(self, cleaned: dict[str, Any]) -> None:
        """Date a reworded answer today, unless another day was entered too."""
        before = read_present_answer(self.instance)
        sent = {name: cleaned.get(name, getattr(self.instance, name)) for name in ANSWER_FIELDS}
        self.is_redated = redate(dated := FAQ(**sent), before)
        cleaned["answer_checked_on"] = dated.answer_checked_on
