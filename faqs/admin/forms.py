"""The form of an FAQ: what one may choose, and what the address of an empty one may fill in."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from faqs.admin.publishing import may_make
from faqs.models import FAQ
from knowledge.guarded_admin import GuardedForm
from knowledge.models import Collection, Document
from knowledge.staff_scope import sees_everything

if TYPE_CHECKING:
    from knowledge.staff_scope import Staff


class FAQForm(GuardedForm):
    """Made anew for each request, with who fills it in."""

    user: ClassVar["Staff"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        if status := fields.get("status"):
            status.choices = [(value, label) for value, label in FAQ.Status.choices if may_make(self.user, value)]
        if (collection := fields.get("collection")) and not sees_everything(self.user):
            collection.required = True
            collection.help_text = _("Whose teams look after it.")
            own = list(collection.queryset[:2])
            if len(own) == 1:
                collection.empty_label = None


def collections_for(request: HttpRequest, faq_id: str) -> Any:
    """The university's of one's own teams; a data set's only for an FAQ that is in it."""
    present = FAQ.objects.filter(pk__in=[int(faq_id)] if faq_id.isdecimal() else [])
    of_university = Q(for_evaluation=False) | Q(pk__in=present.order_by().values("collection"))
    return Collection.objects.for_staff(request.user).filter(of_university)


def given_rows(request: HttpRequest, prefix: str) -> list[dict[str, Any]]:
    """What `?phrasing=…&document=ID` says of the rows of a new FAQ."""
    if prefix == "phrasings":
        return [{"text": text} for text in request.GET.getlist("phrasing")]
    asked = [int(value) for value in request.GET.getlist("document") if value.isdecimal() and len(value) < 19]
    own = set(Document.objects.for_staff(request.user).filter(pk__in=asked).values_list("pk", flat=True))
    return [
        {"document": pk, "position": position}
        for position, pk in enumerate(pk for pk in dict.fromkeys(asked) if pk in own)
    ]
