"""Keeping a student's question, so that every change is tried on it before it goes live."""

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from analytics.own_words import texts_to_keep
from chat.models import Assistant, Message
from knowledge.models import Collection, Document


@transaction.atomic
def keep_as_regression(*, message: Message, by: AbstractBaseUser) -> EvaluationQuestion:
    """Keeps a question, or an answer's question, with the documents that were cited as those that answer it: as it was
    looked up, without what tells who asked. The one that is there already where it was kept before.

    Where nothing was cited, nobody has said yet what is right: staff do on the question's page. Raises ValidationError.
    """
    question = message if message.role == Message.Role.USER else message.question
    answer = Message.objects.filter(question=question).select_related("conversation__assistant").first()
    if question is None or answer is None or answer.is_help or answer.conversation.assistant is None:
        raise ValidationError(_("Only a question that an assistant replied to can be kept."))
    assistant = Assistant.objects.select_for_update(of=["self"]).get(pk=answer.conversation.assistant.pk)
    kept = _set_of(assistant)
    name = f"message-{question.pk}"
    if there := kept.questions.filter(external_id=name).first():
        return there
    answer.question = question
    question.answer = answer
    documents = list(
        Document.objects.filter(pk__in=answer.citations.exclude(document=None).values("document")).only("collection_id")
    )
    kept.collections.add(*{document.collection_id for document in documents})
    (text,) = texts_to_keep([question])
    made = kept.questions.create(external_id=name, text=text, answerable=True if documents else None)
    Judgment.objects.bulk_create(Judgment(question=made, document=document) for document in documents)
    LogEntry.objects.log_actions(by.pk, [made], ADDITION, [{"added": {}}], single_object=True)
    return made


def _set_of(assistant: Assistant) -> EvaluationSet:
    """Staff's own regression set of the assistant; a new one where there is none."""
    found = assistant.regression_sets.filter(fingerprint="").order_by("pk").first()
    if found is None:
        name = _("Regression questions: %(assistant)s") % {"assistant": assistant}
        found = EvaluationSet.objects.create(name=name, assistant=assistant)
        searched = assistant.collections.all() or Collection.objects.filter(searched_by_default=True)
        found.collections.set(searched)
    return found
